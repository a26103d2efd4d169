"""What a question may mean in a table: a query, with the tokens of the question that it explains."""

from dataclasses import dataclass

from agent.tables.row_queries import RowQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReading:
    """A query and the tokens that it explains. `quality`: how surely its columns and its form are meant (0 to 1)."""

    query: RowQuery
    tokens: frozenset[int]
    quality: float

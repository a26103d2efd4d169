"""Which columns a query makes use of, and which words that change a question it makes no use of."""

from collections.abc import Iterator

from agent.english.table_words import OPERATOR_WORDS
from agent.tables.asked_tokens import TableQuestion
from agent.tables.readings.table_reading import TableReading
from agent.tables.row_queries import (
    CellsQuery,
    CheckQuery,
    CountQuery,
    DifferenceQuery,
    GroupQuery,
    NumberQuery,
    RowQuery,
    RowSelection,
    SideQuery,
    SpanQuery,
    TableAnswer,
    VerdictQuery,
)


def columns_of_query(query: RowQuery) -> frozenset[int]:
    """Returns the columns whose cells decide the answer or are the answer."""
    return frozenset(column for column in _list_columns(query) if column is not None)


def _list_columns(query: RowQuery) -> Iterator[int | None]:
    for selection in selections_of_query(query):
        yield from (
            condition.column if condition.column >= 0 else -1 - condition.column for condition in selection.conditions
        )
        yield selection.pick.column if selection.pick is not None else None
    match query:
        case CountQuery():
            yield query.distinct_column
        case GroupQuery():
            yield from (query.column, query.measure)
        case CheckQuery():
            yield query.condition.column
        case _:
            yield query.column


def selections_of_query(query: RowQuery) -> tuple[RowSelection, ...]:
    match query:
        case CellsQuery() | CountQuery() | NumberQuery() | GroupQuery() | SpanQuery() | CheckQuery():
            return (query.selection,)
        case DifferenceQuery() | SideQuery():
            return query.sides
        case VerdictQuery():
            return (query.first, query.second)


def count_ignored_operators(question: TableQuestion, reading: TableReading, answer: TableAnswer) -> int:
    """Returns how many words the reading ignores that make the question another one: "after", "only", "most"."""
    is_single = isinstance(reading.query, CellsQuery) and len(answer.rows) == 1
    return sum(
        token.word in OPERATOR_WORDS and not (token.word == "only" and is_single)
        for token in question.tokens
        if token.index not in reading.tokens
    )

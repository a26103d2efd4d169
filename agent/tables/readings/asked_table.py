"""A question set beside a table: what its words name there, and the columns that its phrases measure by."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.english.table_words import QUESTION_VERBS, VERBS_OF_ROWS, ScaleWord
from agent.tables.asked_tokens import TableQuestion
from agent.tables.row_conditions import NumberComparison, find_comparisons
from agent.tables.table_links import TableLinks
from agent.tables.target_columns import TargetColumn, find_targets
from agent.tables.typed_tables import ColumnKind, TableColumn, TypedTable

NEAR_TOKENS = 5  # tokens after a superlative, in which the name of its column stands
_BEFORE_COUNT = frozenset("what whats is s are was were the total a give tell me find say in for all there".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTable:
    """A question, a table, and what links them. `count_index`: the token that asks how many; None if none does."""

    question: TableQuestion
    table: TypedTable
    links: TableLinks
    targets: tuple[TargetColumn, ...]  # best first; at least one
    comparisons: tuple[NumberComparison, ...]
    count_index: int | None

    @property
    def words(self) -> tuple[str, ...]:
        return self.question.words

    @property
    def is_yes_no(self) -> bool:
        """Whether the question wants yes or no: it begins with a verb."""
        return self.words[:1] != () and self.words[0] in QUESTION_VERBS

    def columns_after(self, index: int) -> Iterator[tuple[TableColumn, frozenset[int], float]]:
        """Yields the columns of numbers or days that the words behind a superlative name, best first."""
        scores, tokens = dict[int, float](), dict[int, set[int]]()
        for offset in range(1, NEAR_TOKENS + 1):
            token = index + offset
            if token >= len(self.words):
                break
            for column, strength in self.links.columns_at(token).items():
                if self.table.columns[column].has_numbers:
                    scores[column] = scores.get(column, 0.0) + strength * (1.1 - 0.1 * offset)
                    tokens.setdefault(column, set()).add(token)
        for token in range(max(index - 3, 0), index):  # "who lost the least"
            for column, strength in self.links.columns_at(token).items():
                names_verb = strength >= 0.95 and self.words[token] in VERBS_OF_ROWS
                if self.can_sum(self.table.columns[column]) and (names_verb or index - token <= 2):
                    scores[column] = scores.get(column, 0.0) + 0.8
                    tokens.setdefault(column, set()).add(token)
        ranked = sorted(scores, key=lambda column: scores[column], reverse=True)
        for column in ranked[:2]:
            yield self.table.columns[column], frozenset(tokens[column]), min(scores[column], 1.0)

    def columns_in(self, phrase: range) -> Iterator[tuple[TableColumn, frozenset[int], float]]:
        scores, tokens = dict[int, float](), dict[int, set[int]]()
        for token in phrase:
            for column, strength in self.links.columns_at(token).items():
                if self.words[token] in ("total", "number"):
                    strength *= 0.4
                scores[column] = scores.get(column, 0.0) + strength
                tokens.setdefault(column, set()).add(token)
        for column in sorted(scores, key=lambda index: (-scores[index], len(self.table.columns[index].words))):
            yield self.table.columns[column], frozenset(tokens[column]), min(scores[column], 1.0)

    def columns_with_total(
        self, measures: Sequence[tuple[TableColumn, frozenset[int], float]]
    ) -> Iterator[tuple[TableColumn, frozenset[int], float]]:
        """Yields the columns; first the one of totals, if the words are only like the names of several columns."""
        unclear = [measured for measured in measures if self.can_sum(measured[0]) and measured[2] < 0.9]
        if len(unclear) > 1 and len(unclear) == sum(self.can_sum(column) for column, _, _ in measures):
            totals = [column for column in self.table.columns if {"total", "overall"} & {*column.words}]
            yield from ((column, unclear[0][1], 0.85) for column in totals[:1])
        yield from measures

    def can_sum(self, column: TableColumn) -> bool:
        return column.kind is ColumnKind.NUMBER and not column.is_rank and not column.is_index

    def is_in_comparison(self, index: int) -> bool:
        return any(index in comparison.tokens for comparison in self.comparisons)

    def noun_after(self, index: int) -> set[int]:
        """The noun of what is counted behind "most": it names the rows."""
        following = self.question.tokens[index + 1 : index + 2]
        return {token.index for token in following if token.is_content}

    def columns_of_scale(self, scale: ScaleWord) -> list[TableColumn]:
        kinds = {ColumnKind.NUMBER, ColumnKind.DAY} if scale.is_day else {ColumnKind.NUMBER}
        named = [column for column in self.table.columns if column.kind in kinds and scale.columns & {*column.words}]
        days = [column for column in self.table.columns if scale.is_day and column.kind is ColumnKind.DAY]
        clocks = [
            column
            for column in self.table.columns
            if "time" in scale.columns and sum(value.is_clock for value in column.values) * 2 > len(column.values)
        ]
        return list(dict.fromkeys((*days, *named, *clocks)))[:2]


def ask_table(question: TableQuestion, table: TypedTable, links: TableLinks) -> AskedTable:
    return AskedTable(
        question=question,
        table=table,
        links=links,
        targets=tuple(find_targets(question, table, links)),
        comparisons=tuple(find_comparisons(question)),
        count_index=_find_count(question),
    )


def _find_count(question: TableQuestion) -> int | None:
    """Returns the index of the first token of "how many", "how much", "how long", "number of"; None without."""
    for phrase in (("how", "many"), ("how", "much"), ("how", "long"), ("how", "often")):
        if (index := question.find_phrase(*phrase)) is not None:
            return index
    for phrase in (("number", "of"), ("amount", "of"), ("total", "of")):
        index = question.find_phrase(*phrase)
        if index is not None and all(word in _BEFORE_COUNT for word in question.words[:index]):
            return index
    return None

"""Queries over the rows of a table: which rows, and what of them is the answer. Each can be run; none guesses."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from agent.english.table_words import NO_WORD, YES_WORD
from agent.tables.cell_values import CellValue
from agent.tables.typed_tables import ColumnKind, TableColumn, TypedTable

SortKey: TypeAlias = tuple[float, ...]
_TOTAL_WORDS = frozenset({"total", "totals", "sum", "average", "overall"})


class AnswerKind(StrEnum):
    """What the values of an answer are."""

    CELLS = "cells"
    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    DIFFERENCE = "difference"
    SPAN = "span"
    GROUP = "group"
    VERDICT = "verdict"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAnswer:
    """An answer: its values as they are shown, and the rows that it stands on (from 0), in order.

    `number` is the computed number; None if the values appear in cells. `column`: of the values or of the numbers.
    """

    kind: AnswerKind
    values: tuple[str, ...]
    rows: tuple[int, ...]
    column: int | None = None
    number: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCondition:
    """The rows in which a condition on a column holds; `words` are those of the question."""

    column: int
    rows: frozenset[int]
    words: str
    tokens: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPick:
    """The rows with the largest or smallest value of a column, the first or last rows, or the nth best."""

    column: int | None  # None: the order of the rows
    largest: bool
    count: int = 1  # rows that are taken
    rank: int = 1  # of the first of them: 2 for "second highest"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSelection:
    """The rows that meet all conditions, then the picked ones, then those `shift` rows further down."""

    conditions: tuple[CellCondition, ...] = ()
    pick: RowPick | None = None
    shift: int = 0

    def select_rows(self, table: TypedTable) -> list[int]:
        rows = [row for row in data_rows_of(table) if all(row in condition.rows for condition in self.conditions)]
        if self.pick is not None:
            rows = pick_rows(table, rows, self.pick)
        if not self.shift:
            return rows
        if not rows:
            return []
        anchor = rows[0]
        while self.shift > 0 and anchor + 1 in rows:
            anchor += 1
        moved = anchor + self.shift
        return [moved] if 0 <= moved < len(table.rows) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class CellsQuery:
    """The cells of a column in the selected rows."""

    selection: RowSelection
    column: int

    def run_query(self, table: TypedTable) -> TableAnswer | None:
        rows = [row for row in self.selection.select_rows(table) if not table.columns[self.column].values[row].is_empty]
        texts = [table.columns[self.column].values[row].text for row in rows]
        if not rows:
            return None
        return TableAnswer(
            kind=AnswerKind.CELLS, values=tuple(dict.fromkeys(texts)), rows=tuple(rows), column=self.column
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CountQuery:
    """The number of the selected rows; of the different values of a column in them, if there is one."""

    selection: RowSelection
    distinct_column: int | None = None
    unit: str = ""
    is_longest_run: bool = False  # only the longest run of rows that follow one another counts

    def run_query(self, table: TypedTable) -> TableAnswer | None:
        rows = self.selection.select_rows(table)
        if self.is_longest_run:
            rows = longest_run_of(rows)
        count = len(rows)
        if self.distinct_column is not None:
            values = table.columns[self.distinct_column].values
            count = len({values[row].folded for row in rows if not values[row].is_empty})
        return _computed_answer(AnswerKind.COUNT, count, rows, self.distinct_column, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberQuery:
    """The sum or the average of a column in the selected rows."""

    selection: RowSelection
    column: int
    kind: AnswerKind

    def run_query(self, table: TypedTable) -> TableAnswer | None:
        values = table.columns[self.column].values
        rows = [row for row in self.selection.select_rows(table) if values[row].number is not None]
        if not rows:
            return None
        total = sum(values[row].number or 0.0 for row in rows)
        if len(rows) == 1:
            return TableAnswer(
                kind=AnswerKind.CELLS, values=(values[rows[0]].text,), rows=tuple(rows), column=self.column
            )
        number = total / len(rows) if self.kind is AnswerKind.AVERAGE else total
        return _computed_answer(self.kind, number, rows, self.column, table.columns[self.column].unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceQuery:
    """The difference of a column between two selections; without a column, of their numbers of rows."""

    sides: tuple[RowSelection, RowSelection]
    column: int | None

    def run_query(self, table: TypedTable) -> TableAnswer | None:
        numbers, rows = list[float](), list[int]()
        for side in self.sides:
            selected = side.select_rows(table)
            number = _measure_rows(table, selected, self.column)
            if number is None:
                return None
            numbers.append(number)
            rows += selected
        unit = "" if self.column is None else table.columns[self.column].unit
        return _computed_answer(AnswerKind.DIFFERENCE, abs(numbers[0] - numbers[1]), rows, self.column, unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideQuery:
    """The side with the larger (or smaller) value of a column, or with more (or fewer) rows without a column."""

    labels: tuple[str, ...]
    sides: tuple[RowSelection, ...]
    column: int | None
    largest: bool

    def run_query(self, table: TypedTable) -> TableAnswer | None:
        keys, rows = list[SortKey](), list[int]()
        for side in self.sides:
            selected = side.select_rows(table)
            key = _key_of_side(table, selected, self.column, largest=self.largest)
            if key is None:
                return None
            keys.append(key)
            rows += selected
        best = max(keys) if self.largest else min(keys)
        if keys.count(best) != 1:
            return None
        return TableAnswer(
            kind=AnswerKind.CELLS, values=(self.labels[keys.index(best)],), rows=tuple(rows), column=self.column
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupQuery:
    """The value of a column that most (or fewest) of the selected rows have, or with the largest sum of `measure`."""

    selection: RowSelection
    column: int
    most: bool
    measure: int | None = None

    def run_query(self, table: TypedTable) -> TableAnswer | None:
        values = table.columns[self.column].values
        rows = [row for row in self.selection.select_rows(table) if not values[row].is_empty]
        totals = defaultdict[str, float](float)
        for row in rows:
            number = 1.0 if self.measure is None else table.columns[self.measure].values[row].number or 0.0
            totals[values[row].folded] += number
        if len(totals) < 2:
            return None
        best = max(totals.values()) if self.most else min(totals.values())
        winners = [name for name, number in totals.items() if number == best]
        if len(winners) > max(1, len(totals) // 2):
            return None
        chosen = [row for row in rows if values[row].folded in winners]
        texts = tuple(dict.fromkeys(values[row].text for row in chosen))
        return TableAnswer(kind=AnswerKind.GROUP, values=texts, rows=tuple(chosen), column=self.column, number=best)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanQuery:
    """The years from the first day of the selected rows to the last."""

    selection: RowSelection
    column: int

    def run_query(self, table: TypedTable) -> TableAnswer | None:
        values = table.columns[self.column].values
        rows = [row for row in self.selection.select_rows(table) if values[row].days]
        years = [day.year for row in rows for day in values[row].days if day.year]
        if not years or max(years) == min(years):
            return None
        return _computed_answer(AnswerKind.SPAN, max(years) - min(years), rows, self.column, "years")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictQuery:
    """Whether the first side comes above, below, before or after the other; as words, or as yes or no."""

    first: RowSelection
    second: RowSelection
    column: int | None  # None: by the order of the rows
    lower_word: str  # the answer if the first side is smaller
    higher_word: str

    def run_query(self, table: TypedTable) -> TableAnswer | None:
        first, second = self.first.select_rows(table)[:1], self.second.select_rows(table)[:1]
        if not first or not second or first == second:
            return None
        key_of = sort_key_for(table, self.column)
        first_key, second_key = key_of(first[0]), key_of(second[0])
        if first_key is None or second_key is None or first_key == second_key:
            return None
        word = self.lower_word if first_key < second_key else self.higher_word
        return TableAnswer(kind=AnswerKind.VERDICT, values=(word,), rows=(*first, *second), column=self.column)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckQuery:
    """Whether the selected row meets a condition: yes or no."""

    selection: RowSelection
    condition: CellCondition

    def run_query(self, table: TypedTable) -> TableAnswer | None:
        rows = self.selection.select_rows(table)
        if len(rows) != 1 or table.columns[self.condition.column].values[rows[0]].is_empty:
            return None
        word = YES_WORD if rows[0] in self.condition.rows else NO_WORD
        return TableAnswer(kind=AnswerKind.VERDICT, values=(word,), rows=tuple(rows), column=self.condition.column)


RowQuery: TypeAlias = (
    CellsQuery
    | CountQuery
    | NumberQuery
    | DifferenceQuery
    | SideQuery
    | GroupQuery
    | SpanQuery
    | VerdictQuery
    | CheckQuery
)


def data_rows_of(table: TypedTable) -> list[int]:
    """Returns the rows without those that only sum up the others."""
    rows = [
        row
        for row in range(len(table.rows))
        if not any(
            column.values[row].words[:1] and column.values[row].words[0] in _TOTAL_WORDS for column in table.columns[:2]
        )
    ]
    return rows if len(rows) > 1 else list(range(len(table.rows)))


def sort_key_for(table: TypedTable, column: int | None) -> Callable[[int], SortKey | None]:
    """Returns the function from a row to what it is ordered by; None for a row without a value."""
    if column is None:
        return lambda row: (float(row),)
    typed = table.columns[column]
    return lambda row: sort_key_of(typed, typed.values[row])


def sort_key_of(column: TableColumn, value: CellValue) -> SortKey | None:
    if value.is_empty:
        return None
    if column.kind is ColumnKind.DAY:
        return tuple(map(float, value.day.order_key)) if value.day is not None else None
    return (value.number,) if value.number is not None else None


def pick_rows(table: TypedTable, rows: Sequence[int], pick: RowPick) -> list[int]:
    """Returns the rows of the pick: all rows with the best value, or as many rows as it takes."""
    key_of = sort_key_for(table, pick.column)
    keyed = [(key, row) for row in rows if (key := key_of(row)) is not None]
    if not keyed:
        return []
    ordered = sorted(keyed, key=lambda pair: pair[0], reverse=pick.largest)
    if pick.count > 1:
        return sorted(row for _, row in ordered[: pick.count])
    distinct = list(dict.fromkeys(key for key, _ in ordered))
    if pick.rank > len(distinct):
        return []
    return sorted(row for key, row in ordered if key == distinct[pick.rank - 1])


def longest_run_of(rows: Sequence[int]) -> list[int]:
    """Returns the first of the longest runs of rows that follow one another."""
    best, run = list[int](), list[int]()
    for row in rows:
        run = [*run, row] if run and row == run[-1] + 1 else [row]
        best = run if len(run) > len(best) else best
    return best


def format_number(number: float) -> str:
    """Returns the number without needless decimals: `12`, `60.5`, `1.67`."""
    rounded = round(number, 2) if abs(number) >= 1 else round(number, 4)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)


def _computed_answer(
    kind: AnswerKind, number: float, rows: Sequence[int], column: int | None, unit: str = ""
) -> TableAnswer:
    text = f"{format_number(number)} {unit}".strip()
    return TableAnswer(kind=kind, values=(text,), rows=tuple(rows), column=column, number=float(number))


def _measure_rows(table: TypedTable, rows: Sequence[int], column: int | None) -> float | None:
    if column is None:
        return float(len(rows))
    values = table.columns[column].values
    numbers = [number for row in rows if (number := values[row].number) is not None]
    return sum(numbers) if numbers else None


def _key_of_side(table: TypedTable, rows: Sequence[int], column: int | None, *, largest: bool) -> SortKey | None:
    if column is None:
        return (float(len(rows)),)
    key_of = sort_key_for(table, column)
    keys = [key for row in rows if (key := key_of(row)) is not None]
    if not keys:
        return None
    return max(keys) if largest else min(keys)

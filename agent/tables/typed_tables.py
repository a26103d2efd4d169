"""A table with the kind of each of its columns: numbers, days or words."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from agent.english.table_words import DAY_COLUMN_WORDS, RANK_COLUMN_WORDS
from agent.tables.cell_values import CellValue, read_cell, words_of_text
from agent.tables.text_tables import TextRow, TextTable
from storage.search.analyser import fold_text
from storage.search.index import DocumentRecord

_UNIT = re.compile(r"[-−+]?[\d.,]+\s*([^\W\d_]{1,12}\b|%|°[CF]?)(?:\s*\(.*\))?")
_MIN_KIND_SHARE = 0.7  # of the cells that are not empty, which must be of a kind
_MIN_NUMBER_SHARE = 0.3  # of a cell's characters that are not letters, for the cell to be a number with a unit
_MIN_DISTINCT_SHARE = 0.6  # of the cells, for a column to tell rows apart


class ColumnKind(StrEnum):
    """What the cells of a column are."""

    NUMBER = "number"
    DAY = "day"
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column: its folded words, its kind, and the values of all rows in order."""

    index: int
    name: str
    words: tuple[str, ...]
    kind: ColumnKind
    values: tuple[CellValue, ...]
    distinct_share: float  # of the cells that are not empty

    @property
    def is_rank(self) -> bool:
        """Whether a small number is a good one."""
        if self.kind is ColumnKind.DAY:
            return False
        ordinals = sum(value.is_ordinal for value in self.values)
        return bool(RANK_COLUMN_WORDS & {*self.words}) or 2 * ordinals > len(self.values)

    @property
    def is_index(self) -> bool:
        """Whether it only numbers the rows."""
        numbers = [value.number for value in self.values if value.number is not None]
        return len(numbers) > 2 and all(later - earlier == 1 for earlier, later in pairwise(numbers))

    @property
    def has_years(self) -> bool:
        """Whether most of its days say their year, so that they can be put in order."""
        return 2 * sum(value.day is not None and value.day.year > 0 for value in self.values) > len(self.values)

    @property
    def has_periods(self) -> bool:
        """Whether most of its cells say a first and a last day that are more than a season apart."""
        spans = [value.days[-1].year - value.days[0].year for value in self.values if len(value.days) > 1]
        return 2 * len(spans) > len(self.values) and max(spans) > 1

    @property
    def unit(self) -> str:
        """The word behind the number in most of its cells; empty without one."""
        units = Counter(match[1] for value in self.values if (match := _UNIT.fullmatch(value.text)) is not None)
        best = units.most_common(1)
        return best[0][0] if best and 2 * best[0][1] > len(self.values) else ""

    @property
    def has_numbers(self) -> bool:
        return self.kind is not ColumnKind.WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedTable:
    """A table of a document with its columns."""

    document: DocumentRecord
    table: TextTable
    columns: tuple[TableColumn, ...]
    context_words: frozenset[str]  # of the document's title and of what appears before the table, not of its columns
    is_embedded: bool = False  # other text appears in its document, too

    @property
    def rows(self) -> tuple[TextRow, ...]:
        return self.table.rows

    @property
    def subject(self) -> TableColumn:
        """The column that says what each row is about: the first one with words that tell most rows apart."""
        wordy = [column for column in self.columns if column.kind is ColumnKind.WORDS and not column.is_rank]
        telling = [column for column in wordy if column.distinct_share >= _MIN_DISTINCT_SHARE]
        days = [column for column in self.columns[:1] if column.kind is ColumnKind.DAY and column.distinct_share >= 0.9]
        return next(iter(days or telling or wordy or self.columns))


def type_table(
    table: TextTable, document: DocumentRecord, context: str = "", *, is_embedded: bool = False
) -> TypedTable:
    """Reads all cells of the table and decides what each column holds. `context`: what says what it is about."""
    columns = tuple(
        _type_column(index, name, [read_cell(row.cells[index]) for row in table.rows])
        for index, name in enumerate(table.names)
    )
    names = {word for column in columns for word in column.words}
    return TypedTable(
        document=document,
        table=table,
        columns=columns,
        context_words=frozenset(words_of_text(fold_text(context))) - names,
        is_embedded=is_embedded,
    )


def _type_column(index: int, name: str, values: Sequence[CellValue]) -> TableColumn:
    words = words_of_text(fold_text(name))
    filled = [value for value in values if not value.is_empty]
    counts = Counter(value.folded for value in filled)
    return TableColumn(
        index=index,
        name=name,
        words=words,
        kind=_kind_of(words, filled),
        values=tuple(values),
        distinct_share=len(counts) / len(filled) if filled else 0.0,
    )


def _kind_of(words: Sequence[str], filled: Sequence[CellValue]) -> ColumnKind:
    if not filled:
        return ColumnKind.WORDS
    is_day_name = bool(DAY_COLUMN_WORDS & {*words})
    days = sum(_is_day(value, is_day_name=is_day_name) for value in filled)
    if days >= _MIN_KIND_SHARE * len(filled):
        return ColumnKind.DAY
    numbers = sum(
        value.number is not None
        and (value.number_share >= _MIN_NUMBER_SHARE or value.is_ordinal)
        and value.folded[:1] not in "("
        and (value.is_ordinal or value.folded[0] in "0123456789-−+.$€£#<>~±")
        for value in filled
    )
    return ColumnKind.NUMBER if numbers >= _MIN_KIND_SHARE * len(filled) else ColumnKind.WORDS


def _is_day(value: CellValue, *, is_day_name: bool) -> bool:
    if value.day is None:
        return False
    is_bare_year = value.day.month == 0 and value.number_share == 1
    return is_day_name or value.day.month > 0 or (is_bare_year and len(value.numbers) <= 2 and value.day.year > 1000)

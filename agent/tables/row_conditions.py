"""Conditions on rows: the values that the question names, and its comparisons with numbers, days and positions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.english.table_words import (
    AT_LEAST,
    COMPARISON_PHRASES,
    COMPARISON_SUFFIXES,
    NEXT_WORDS,
    OUTCOME_CELLS,
    PREVIOUS_WORDS,
)
from agent.tables.asked_tokens import AskedToken, TableQuestion
from agent.tables.cell_values import CellDay, CellValue
from agent.tables.row_queries import CellCondition
from agent.tables.table_links import TableLinks, ValueLink
from agent.tables.typed_tables import ColumnKind, TableColumn, TypedTable
from storage.quantities.days import MONTH_NUMBERS

_MAX_DISTANCE = 8  # tokens between a comparison and the name of its column
_MIN_EMPTY_STRENGTH = 0.8  # of the name of a column that is asked to be empty
_MAX_OUTCOMES = 6  # different first words of a column of results
_DECADE_YEARS, _CENTURY_YEARS = 10, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberComparison:
    """A comparison with a number in the question. `upper` is the other end of "between"."""

    operator: str
    number: float
    upper: float | None
    tokens: frozenset[int]

    @property
    def is_year(self) -> bool:
        return self.number.is_integer() and 1000 <= self.number <= 2100


def find_comparisons(question: TableQuestion) -> Iterator[NumberComparison]:
    """Yields the comparisons, in order: "at least 3", "10 or more", "between 5 and 8", "from 1990 to 1995"."""
    tokens = question.tokens
    taken = set[int]()
    for token in tokens:
        if _number_at(token) is None or token.index in taken:
            continue
        comparison = _range_at(question, token.index) or _comparison_at(question, token.index)
        if comparison is not None:
            taken |= comparison.tokens
            yield comparison


def _number_at(token: AskedToken) -> float | None:
    return 1.0 if token.word == "one" else token.number


def _range_at(question: TableQuestion, index: int) -> NumberComparison | None:
    words, tokens = question.words, question.tokens
    if index + 2 >= len(tokens) or index == 0:
        return None
    upper = tokens[index + 2].number
    joined = (words[index - 1], words[index + 1])
    if upper is None or joined not in (("between", "and"), ("from", "to"), ("from", "through"), ("from", "until")):
        return None
    number = tokens[index].number or 0.0
    return NumberComparison(
        operator=AT_LEAST, number=number, upper=upper, tokens=frozenset(range(index - 1, index + 3))
    )


def _comparison_at(question: TableQuestion, index: int) -> NumberComparison | None:
    words, number = question.words, _number_at(question.tokens[index]) or 0.0
    for offset in (1, 2):  # a unit may appear between: "10 points or more"
        for phrase, operator in COMPARISON_SUFFIXES.items():
            end = index + offset + len(phrase)
            if words[index + offset : end] == phrase:
                return NumberComparison(
                    operator=operator,
                    number=number,
                    upper=None,
                    tokens=frozenset({index, *range(end - len(phrase), end)}),
                )
    for phrase, operator in COMPARISON_PHRASES.items():
        start = index - len(phrase)
        if start >= 0 and words[start:index] == phrase:
            return NumberComparison(
                operator=operator, number=number, upper=None, tokens=frozenset(range(start, index + 1))
            )
    return None


def conditions_of_comparison(
    comparison: NumberComparison, question: TableQuestion, table: TypedTable, links: TableLinks
) -> list[CellCondition]:
    """Returns the condition on each column that may be meant; the column named nearest to the comparison is first."""
    ranked = list[tuple[float, CellCondition]]()
    for column in table.columns:
        strength, tokens = _named_near(column, comparison, links)
        fits = column.has_numbers and comparison.is_year == (column.kind is ColumnKind.DAY)
        if not fits and not (comparison.is_year and _holds_number_near(column, comparison.number)) and strength < 0.6:
            continue
        rows = frozenset(row for row, value in enumerate(column.values) if _compares(value, column, comparison))
        condition = CellCondition(
            column=column.index,
            rows=rows,
            words=_words_of(question, comparison.tokens),
            tokens=comparison.tokens | tokens,
        )
        within = 0.0 < len(rows) < len(column.values)
        ranked.append((strength + 0.3 * within - 0.01 * column.index, condition))
    ranked.sort(key=lambda pair: pair[0], reverse=True)
    return [condition for _, condition in ranked]


def _holds_number_near(column: TableColumn, number: float) -> bool:
    numbers = [value.number for value in column.values if value.number is not None]
    return column.kind is ColumnKind.NUMBER and bool(numbers) and min(numbers) <= number <= max(numbers)


def _named_near(column: TableColumn, comparison: NumberComparison, links: TableLinks) -> tuple[float, frozenset[int]]:
    low, high = min(comparison.tokens), max(comparison.tokens)
    best, tokens = 0.0, set[int]()
    for token, columns in links.headers.items():
        distance = max(low - token, token - high, 0)
        strength = columns.get(column.index, 0.0)
        if distance > _MAX_DISTANCE or strength == 0.0 or token in comparison.tokens:
            continue
        value = strength * (1 - distance / (2 * _MAX_DISTANCE)) + (0.1 if token > high else 0.0)
        best += value if not tokens else 0.3 * value
        tokens.add(token)
    return best, frozenset(tokens)


def _compares(value: CellValue, column: TableColumn, comparison: NumberComparison) -> bool:
    number = value.number
    if column.kind is ColumnKind.DAY:
        number = float(value.day.year) if value.day is not None and value.day.year else None
    if number is None or value.is_empty:
        return False
    if comparison.upper is not None:
        return comparison.number <= number <= comparison.upper
    match comparison.operator:
        case ">":
            return number > comparison.number
        case "<":
            return number < comparison.number
        case ">=":
            return number >= comparison.number
        case _:
            return number <= comparison.number


def day_conditions(question: TableQuestion, table: TypedTable, links: TableLinks) -> Iterator[CellCondition]:
    """Yields conditions on days: "in march", "in 1994", "in the 1980s", where no whole cell is linked."""
    linked = {token for link in links.values if link.is_whole for token in link.tokens}
    for column in table.columns:
        if column.kind is not ColumnKind.DAY:
            continue
        for token in question.tokens:
            if token.index in linked:
                continue
            rows = _rows_on_day(column, token, question)
            if rows:
                yield CellCondition(
                    column=column.index, rows=frozenset(rows), words=token.word, tokens=frozenset({token.index})
                )


def _rows_on_day(column: TableColumn, token: AskedToken, question: TableQuestion) -> set[int]:
    if token.word in MONTH_NUMBERS and len(token.word) > 2 and not (token.word == "may" and not token.is_name):
        month = MONTH_NUMBERS[token.word]
        return {row for row, value in enumerate(column.values) if any(day.month == month for day in value.days)}
    span = _years_of(token, question)
    if span is None:
        return set()
    low, high = span
    return {row for row, value in enumerate(column.values) if _is_within_years(value.days, low, high)}


def _is_within_years(days: Sequence[CellDay], low: int, high: int) -> bool:
    years = [day.year for day in days if day.year]
    return bool(years) and min(years) <= high and max(years) >= low and (high > low or low in (years[0], years[-1]))


def _years_of(token: AskedToken, question: TableQuestion) -> tuple[int, int] | None:
    """Returns the first and the last year: of 1994, of the 1980s, of the 1900s."""
    if token.number is None or not token.number.is_integer() or not 1000 <= token.number <= 2100:
        return None
    year = int(token.number)
    following = question.words[token.index + 1 : token.index + 2]
    if following == ("s",) or f"{year}s" in question.text or f"{year}'s" in question.text:
        return (year, year + (_CENTURY_YEARS if year % _CENTURY_YEARS == 0 and year < 2000 else _DECADE_YEARS) - 1)
    return year, year


def condition_of_link(link: ValueLink, question: TableQuestion, *, is_wide: bool = False) -> CellCondition:
    """Returns the condition of a value: in whole cells, or with `is_wide` also in parts of cells."""
    return CellCondition(
        column=link.column,
        rows=link.wide_rows if is_wide else link.rows,
        words=_words_of(question, link.tokens),
        tokens=link.tokens,
    )


def ordinal_conditions(question: TableQuestion, table: TypedTable, links: TableLinks) -> Iterator[CellCondition]:
    """Yields conditions on ranks: "came in 2nd", "first place", for columns of ranks."""
    linked = {token for link in links.values for token in link.tokens}
    for token in question.tokens:
        if token.ordinal is None or token.index in linked:
            continue
        for column in table.columns:
            if not column.is_rank:
                continue
            rows = frozenset(row for row, value in enumerate(column.values) if value.number == token.ordinal)
            if rows:
                named = {index for index, columns in links.headers.items() if columns.get(column.index, 0) >= 0.8}
                beside = {index for index in named if 0 < index - token.index <= 2}
                yield CellCondition(
                    column=column.index, rows=rows, words=token.word, tokens=frozenset({token.index, *beside})
                )


def outcome_conditions(question: TableQuestion, table: TypedTable, links: TableLinks) -> Iterator[CellCondition]:
    """Yields conditions on results: "won" for the cells "W 48-17" or "Won", unless a cell contains the word."""
    linked = {token for link in links.values for token in link.tokens}
    for token in question.tokens:
        starts = OUTCOME_CELLS.get(token.word)
        if starts is None or token.index in linked or max(links.columns_at(token.index).values(), default=0.0) > 0.9:
            continue
        for column in table.columns:
            rows = frozenset(
                row for row, value in enumerate(column.values) if value.words[:1] and value.words[0] in starts
            )
            if rows and len({value.words[0] for value in column.values if value.words}) <= _MAX_OUTCOMES:
                yield CellCondition(column=column.index, rows=rows, words=token.word, tokens=frozenset({token.index}))
                break


def empty_conditions(question: TableQuestion, table: TypedTable, links: TableLinks) -> Iterator[CellCondition]:
    """Yields conditions on empty cells: "have no photograph", "without a venue"."""
    for token in question.tokens:
        if token.word not in ("no", "without"):
            continue
        for index in range(token.index + 1, min(token.index + 4, len(question.tokens))):
            named = links.columns_at(index)
            column = max(named, key=lambda column: named[column], default=None)
            if column is None or named[column] < _MIN_EMPTY_STRENGTH:
                continue
            rows = frozenset(row for row, value in enumerate(table.columns[column].values) if value.is_empty)
            if rows:
                tokens = frozenset((token.index, index))
                yield CellCondition(column=column, rows=rows, words=_words_of(question, tokens), tokens=tokens)
            break


def position_conditions(question: TableQuestion, table: TypedTable, links: TableLinks) -> Iterator[CellCondition]:
    """Yields conditions on the order of the rows: "finished before Webber", "ranked above Canada"."""
    for link in links.values:
        word = question.words[link.start - 1] if link.start else ""
        if not link.is_whole or table.columns[link.column].kind is not ColumnKind.WORDS:
            continue
        row = min(link.rows)
        if word in PREVIOUS_WORDS:
            rows = frozenset(range(row))
        elif word in NEXT_WORDS:
            rows = frozenset(range(row + 1, len(table.rows)))
        else:
            continue
        yield CellCondition(
            column=-1 - link.column,
            rows=rows,
            words=_words_of(question, link.tokens | {link.start - 1}),
            tokens=link.tokens | {link.start - 1},
        )


def between_conditions(question: TableQuestion, table: TypedTable, links: TableLinks) -> Iterator[CellCondition]:
    """Yields conditions on the rows between two others: "between Frank Tripucka and Dale Armstrong"."""
    start = question.find_phrase("between")
    if start is None:
        return
    for first in links.values:
        for second in links.values:
            is_pair = first.column == second.column and question.words[first.end : second.start] == ("and",)
            if first.start - start not in (1, 2) or not is_pair or len(first.rows) != 1 or len(second.rows) != 1:
                continue
            low, high = sorted((min(first.rows), min(second.rows)))
            rows = frozenset(range(low + 1, high))
            tokens = frozenset(range(start, second.end))
            if table.columns[first.column].kind is ColumnKind.WORDS and rows:
                yield CellCondition(
                    column=-1 - first.column, rows=rows, words=_words_of(question, tokens), tokens=tokens
                )


def _words_of(question: TableQuestion, tokens: frozenset[int]) -> str:
    return " ".join(question.tokens[index].word for index in sorted(tokens))

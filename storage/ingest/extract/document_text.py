"""A document's text as field readers need it: folded, with lines, sentences, table cells and amounts."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import islice

from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.work_budget import check_work
from storage.quantities.durations import DurationSpan, find_durations
from storage.quantities.money import BARE_SIGN_PATTERN, currency_code_of, find_amounts
from storage.quantities.numbers import NumberSpan, detect_decimal_comma
from storage.quantities.units import parse_unit

_CELL_PATTERN = re.compile(r"[^|\t]+?(?=\s{2,}|[|\t]|$)")
_AMOUNT_WITH_CENTS = re.compile(r"(?!0[.,]00)(?<![\d.,])\d[\d.,']*[.,]\d{2}(?![\d.,]|\s?%)")
_SENTENCE_END = re.compile(
    r"(?<!\binc)(?<!\bno)(?<!\bco)(?<!\bltd)(?<!\bcorp)(?<!\bpvt)(?<!\bpte)(?<!\bpty)(?<!\bart)(?<!\bsec)(?<!\bnr)"
    r"(?<!\babs)"
    r"(?<!\bcie)(?<!\bmr)(?<!\bdr)\.\s|;"
)
_MEASURED_NUMBER = re.compile(
    rf"(?:(?P<sign>{BARE_SIGN_PATTERN}|(?<![A-Za-z])[A-Z]{{3}})\s?)?(?<![\w.,/:-])(?P<digits>\d[\d.,']*[.,]\d+)(?![\d/:-]|[.,]\d)"
    rf"(?:\s?(?P<unit>%|{BARE_SIGN_PATTERN}|°\s?[CF]|[^\W\d_]{{1,3}}[²³23]?(?![^\W_])))?"
)
_MAX_DURATIONS = 400  # in one document
_COMMA_LANGUAGES = frozenset({"de", "fr", "es"})
_MAX_COUNTED_NUMBERS = 200  # that show the decimal mark
_MAX_COUNTED_CHARACTERS = 20_000  # characters in which amounts are counted
_MIN_AMOUNTS_WITH_CENTS = 3  # amounts with cents that show the decimal mark
_CHECK_EVERY_LINES = 100
_MAX_TABLE_ROW_CHARACTERS = 400  # a longer line is not a row of a table


@lru_cache(maxsize=4096)
def _fold_letter(character: str) -> str:
    bare = unicodedata.normalize("NFKD", character)[:1].casefold()
    return bare if len(bare) == 1 else character


_PLAIN_CHARACTERS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " "})


def fold_characters(text: str) -> str:
    """Small letters without accents, plain quotes and dashes. Each character stays at its place."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_letter, text.translate(_PLAIN_CHARACTERS)))


@dataclass(frozen=True, slots=True)
class TextSpan:
    start: int
    end: int


class DocumentText:
    """The text of one document."""

    def __init__(self, document: ExtractionInput, language: str = "") -> None:
        """`language`: of the bucket; it decides how numbers are written where the document does not show it."""
        self._language = language
        self.text, self.title, self.last_page = document.text, document.title, document.last_page
        self.folded = fold_characters(document.text)
        self.folded_title = fold_characters(document.title)

    @cached_property
    def amount_counts(self) -> Counter[Decimal]:
        """How often each number that can be an amount of money occurs in the first part of the text."""
        return Counter(amount.number for amount in self.find_amounts(0, min(len(self.text), _MAX_COUNTED_CHARACTERS)))

    @cached_property
    def durations(self) -> tuple[DurationSpan, ...]:
        """The first durations of the text, at most 400."""
        return tuple(islice(find_durations(self.folded), _MAX_DURATIONS))

    def find_amounts(self, start: int, end: int) -> Iterator[NumberSpan]:
        """Amounts in `text[start:end]`, read with the document's own decimal mark."""
        return find_amounts(self.text, start, end, self.decimal_mark)

    @cached_property
    def decimal_mark(self) -> str:
        """The mark before the decimals of the document's amounts; empty where they do not show it, or show both marks.

        Several amounts with cents show it, else amounts beside a currency that can be read in one way only.
        """
        marks = [match[0][-3] for match in _AMOUNT_WITH_CENTS.finditer(self.text, 0, _MAX_COUNTED_CHARACTERS)]
        if len(marks) >= _MIN_AMOUNTS_WITH_CENTS and len(set(marks)) == 1:
            return marks[0]
        in_money = {has_comma for has_comma, is_money in self._decimal_commas if is_money}
        return "" if len(in_money) != 1 else "," if True in in_money else "."

    @cached_property
    def decimal_comma(self) -> bool | None:
        """Whether decimals appear after a comma, as amounts and measured numbers of the text show, else its language.

        None: nothing shows it.
        """
        if self.decimal_mark:
            return self.decimal_mark == ","
        shown = {has_comma for has_comma, _ in self._decimal_commas}
        has_comma_language = True if self._language in _COMMA_LANGUAGES and not shown else None
        return shown.pop() if len(shown) == 1 else has_comma_language

    @cached_property
    def _decimal_commas(self) -> tuple[tuple[bool, bool], ...]:
        """For each number with a clear decimal mark beside a unit or currency: whether the mark is a comma, and whether
        the number is an amount of money.
        """
        found = list[tuple[bool, bool]]()
        for match in islice(_MEASURED_NUMBER.finditer(self.text, 0, _MAX_COUNTED_CHARACTERS), _MAX_COUNTED_NUMBERS):
            is_money = bool(match["sign"]) or currency_code_of(match["unit"] or "") is not None
            if is_money or parse_unit(match["unit"] or ""):
                has_comma = detect_decimal_comma(match["digits"])
                found += [(has_comma, is_money)] if has_comma is not None else []
        return tuple(found)

    @cached_property
    def has_cents(self) -> bool:
        """Whether the document writes its amounts with cents."""
        return _AMOUNT_WITH_CENTS.search(self.text, 0, _MAX_COUNTED_CHARACTERS) is not None

    @cached_property
    def line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line_at(self, index: int) -> TextSpan:
        """The line of the character, without the line break."""
        return self.line_by_number(bisect_right(self.line_starts, index) - 1)

    def line_by_number(self, number: int) -> TextSpan:
        starts = self.line_starts
        end = starts[number + 1] - 1 if number + 1 < len(starts) else len(self.text)
        return TextSpan(starts[number], end)

    def sentence_before(self, index: int, max_characters: int) -> TextSpan:
        """The part of the sentence before `index`, at most `max_characters` long."""
        start = max(0, index - max_characters)
        ends = [match.end() for match in _SENTENCE_END.finditer(self.folded, start, index)]
        return TextSpan(ends[-1] if ends else start, index)

    def sentence_after(self, index: int, max_characters: int) -> TextSpan:
        """The part of the sentence after `index`, at most `max_characters` long."""
        end = _SENTENCE_END.search(self.folded, index, index + max_characters)
        return TextSpan(index, end.start() if end else min(len(self.folded), index + max_characters))

    def line_number_at(self, index: int) -> int:
        return bisect_right(self.line_starts, index) - 1

    def lines_from(self, first_number: int = 0) -> Iterator[TextSpan]:
        for number in range(first_number, len(self.line_starts)):
            if number % _CHECK_EVERY_LINES == 0:
                check_work()
            yield self.line_by_number(number)

    def next_filled_line(self, index: int) -> TextSpan | None:
        """The next line that is not blank; None where more than two blank lines follow."""
        number = self.line_number_at(index)
        for below in range(number + 1, min(number + 4, len(self.line_starts))):
            line = self.line_by_number(below)
            if not self.text[line.start : line.end].isspace() and line.end > line.start:
                return line
        return None

    def cells_in_line(self, line: TextSpan) -> list[TextSpan]:
        """The cells between bars, tabs, or two and more blanks."""
        end = min(line.end, line.start + _MAX_TABLE_ROW_CHARACTERS)
        matches = _CELL_PATTERN.finditer(self.text, line.start, end)
        cells = [self.trim_span(match.start(), match.end()) for match in matches]
        return [cell for cell in cells if cell.end > cell.start]

    def trim_span(self, start: int, end: int) -> TextSpan:
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return TextSpan(start, end)

    def cell_below(self, index: int) -> TextSpan | None:
        """In a table, the cell below the cell of `index`: in the next line with as many cells."""
        line = self.line_at(index)
        if line.end - line.start > _MAX_TABLE_ROW_CHARACTERS:
            return None
        headings = self.cells_in_line(line)
        column = next((i for i, cell in enumerate(headings) if cell.start <= index < cell.end), None)
        if column is None or len(headings) < 2:
            return None
        number = self.line_number_at(index)
        for below in range(number + 1, min(number + 4, len(self.line_starts))):
            cells = self.cells_in_line(self.line_by_number(below))
            if len(cells) == len(headings) and not all(set(self.text[c.start : c.end]) <= set("-:= ") for c in cells):
                return cells[column]
        return None

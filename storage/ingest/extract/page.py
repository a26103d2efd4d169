"""A document's text as the readers of fields look at it: folded, in lines, with cells."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache

from storage.ingest.extract.candidates import Material
from storage.ingest.extract.figures import Figure, amounts

_CELLS = re.compile(r"[^|\t]+?(?=\s{2,}|[|\t]|$)")
_CENTS = re.compile(r"(?!0[.,]00)(?<![\d.,])\d[\d.,']*[.,]\d{2}(?![\d.,]|\s?%)")
_SENTENCE_END = re.compile(
    r"(?<!\binc)(?<!\bno)(?<!\bco)(?<!\bltd)(?<!\bcorp)(?<!\bpvt)(?<!\bpte)(?<!\bpty)(?<!\bart)(?<!\bsec)(?<!\bnr)(?<!\babs)"
    r"(?<!\bcie)(?<!\bmr)(?<!\bdr)\.\s|;"
)
_LONGEST_SLIP = 20_000  # characters in which amounts are counted
_SEVERAL = 3  # amounts with cents that tell the mark of decimals
_LONGEST_LINE = 400  # what can be a row of a table


@lru_cache(maxsize=4096)
def _letter(character: str) -> str:
    bare = unicodedata.normalize("NFKD", character)[:1].casefold()
    return bare if len(bare) == 1 else character


_ALIKE = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " "})


def lowered(text: str) -> str:
    """Small letters without marks, plain quotes and dashes: as long as `text`, character for character."""
    if text.isascii():
        return text.lower()
    return "".join(map(_letter, text.translate(_ALIKE)))


@dataclass(frozen=True, slots=True)
class Cell:
    start: int
    end: int


class Page:
    """The text of one document."""

    def __init__(self, material: Material) -> None:
        self.text, self.title, self.pages = material.text, material.title, material.pages
        self.low = lowered(material.text)
        self.title_low = lowered(material.title)

    @cached_property
    def amounts(self) -> Counter[Decimal]:
        """What can be amounts of money, and how often each stands there, in the first part of the text."""
        return Counter(one.number for one in self.figures(0, min(len(self.text), _LONGEST_SLIP)))

    def figures(self, start: int, end: int) -> Iterator[Figure]:
        """Amounts in a part of the text: a mark before three digits that others have before two groups no thousands."""
        return amounts(self.text, start, end, self.decimal_mark)

    @cached_property
    def decimal_mark(self) -> str:
        """What stands before the cents of several amounts; empty where there are none, or both marks do."""
        marks = [one[0][-3] for one in _CENTS.finditer(self.text, 0, _LONGEST_SLIP)]
        return marks[0] if len(marks) >= _SEVERAL and len(set(marks)) == 1 else ""

    @cached_property
    def has_cents(self) -> bool:
        """Whether its amounts are written with cents."""
        return _CENTS.search(self.text, 0, _LONGEST_SLIP) is not None

    @cached_property
    def line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line_at(self, at: int) -> Cell:
        """The line that holds the character, without its break."""
        return self.line(bisect_right(self.line_starts, at) - 1)

    def line(self, number: int) -> Cell:
        starts = self.line_starts
        end = starts[number + 1] - 1 if number + 1 < len(starts) else len(self.text)
        return Cell(starts[number], end)

    def sentence_before(self, at: int, most: int) -> Cell:
        """What of the sentence stands before `at`, at most so many characters."""
        start = max(0, at - most)
        ends = [match.end() for match in _SENTENCE_END.finditer(self.low, start, at)]
        return Cell(ends[-1] if ends else start, at)

    def sentence_after(self, at: int, most: int) -> Cell:
        """What of the sentence stands behind `at`, at most so many characters."""
        end = _SENTENCE_END.search(self.low, at, at + most)
        return Cell(at, end.start() if end else min(len(self.low), at + most))

    def line_number(self, at: int) -> int:
        return bisect_right(self.line_starts, at) - 1

    def lines(self, first: int = 0) -> Iterator[Cell]:
        for number in range(first, len(self.line_starts)):
            yield self.line(number)

    def next_line(self, at: int) -> Cell | None:
        """The first line below that of `at` that is not blank, at most two blank ones between."""
        number = self.line_number(at)
        for below in range(number + 1, min(number + 4, len(self.line_starts))):
            line = self.line(below)
            if not self.text[line.start : line.end].isspace() and line.end > line.start:
                return line
        return None

    def cells(self, line: Cell) -> list[Cell]:
        """What stands between bars, tabs or two and more blanks."""
        end = min(line.end, line.start + _LONGEST_LINE)
        found = (match.span() for match in _CELLS.finditer(self.text, line.start, end))
        cells = [self.trimmed(start, stop) for start, stop in found]
        return [cell for cell in cells if cell.end > cell.start]

    def trimmed(self, start: int, end: int) -> Cell:
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return Cell(start, end)

    def below(self, at: int) -> Cell | None:
        """In a table, the cell under the one that holds `at`, in the next line of as many cells."""
        line = self.line_at(at)
        if line.end - line.start > _LONGEST_LINE:
            return None
        heads = self.cells(line)
        column = next((i for i, cell in enumerate(heads) if cell.start <= at < cell.end), None)
        if column is None or len(heads) < 2:
            return None
        number = self.line_number(at)
        for below in range(number + 1, min(number + 4, len(self.line_starts))):
            cells = self.cells(self.line(below))
            if len(cells) == len(heads) and not all(set(self.text[c.start : c.end]) <= set("-:= ") for c in cells):
                return cells[column]
        return None

"""Values beside their labels: `Label: value`, `Label ..... value`, the value below its label, or in front of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from storage.ingest.extract.page import Cell, Page
from storage.ingest.extract.targets import Target

_SMALL = (
    "max|min|typ|maximum|minimum|typical|nominal|rated|rating|is|was|are|of|at|up to|about|approx|approximately|circa"
    "|ca|the|value|over|to|abs|absolute|no|nr|number|n|be|shall be|means|on|as of|rm|eur|euro|usd|rp|price"
)
_FILLER = re.compile(rf"(?:[\s:=.|*_#>()\[\]]|-(?!\d)|(?<![a-z])(?:{_SMALL})(?![a-z]))*")
_REACH = 80  # characters between a label and its value
_FIELD_END = re.compile(r"\s{3,}|[|\t\n;]|\.\s|\.$")
_INLINE = 0.4  # what running text behind a label is worth less than a line that says it
_LONGER = 30  # characters that another label may have more on one side
_MOST = 40  # labels looked at in one document


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value of a label may stand, and how likely."""

    label: Cell
    start: int
    end: int
    confidence: float


def labels_in(page: Page, pattern: re.Pattern[str] | None) -> Iterator[Cell]:
    """Where a label stands, the first forty."""
    for count, match in enumerate(pattern.finditer(page.low) if pattern else ()):
        if count == _MOST:
            return
        yield Cell(match.start(), match.end())


def labels_of(page: Page, target: Target, pattern: re.Pattern[str] | None) -> Iterator[Cell]:
    """The same for a field, without what is part of another field's longer label: the date of `Due date`."""
    for label in labels_in(page, pattern):
        if target.others is None or not _is_of_another(page, target.others, label):
            yield label


def _is_of_another(page: Page, others: re.Pattern[str], label: Cell) -> bool:
    around = others.finditer(page.low, max(0, label.start - _LONGER), label.end + _LONGER)
    return any(
        one.start() <= label.start and label.end <= one.end() and one.end() - one.start() > label.end - label.start
        for one in around
    )


def places_after(page: Page, label: Cell) -> Iterator[Place]:
    """After the label on its line, where nothing is there below it, and in a table the cell below."""
    line = page.line_at(label.start)
    end = min(line.end, label.end + _REACH)
    gap = _FILLER.match(page.low, label.end, end)
    start = gap.end() if gap else label.end
    if start < line.end and not page.text[start : line.end].isspace():
        confidence = 0.95 if _marked(page, label, start) else 0.8
        yield Place(label, start, min(line.end, start + _REACH), confidence)
    elif below := page.next_line(label.start):
        yield Place(label, below.start, min(below.end, below.start + _REACH), 0.8)
    if cell := page.below(label.start):
        yield Place(label, cell.start, cell.end, 0.85)


def _marked(page: Page, label: Cell, start: int) -> bool:
    """Whether label and value are set apart by a sign, not only by a blank."""
    between = page.text[label.end : start]
    line = page.line_at(label.start)
    leads = not page.text[line.start : label.start].strip(" |*-#>\t")
    return any(c in ":=|\t" for c in between) or ".." in between or "  " in between or leads


def written_after(page: Page, target: Target) -> Iterator[tuple[str, Place]]:
    """The text of a value after each label: to the end of its line or cell where the label leads it, else of its part
    of the sentence.
    """
    for label in labels_of(page, target, target.own):
        for start, end, confidence in _spots(page, label):
            inline = _runs_on(page, label)
            stop = (_PART_END if inline else _FIELD_END).search(page.text, start, end)
            cell = page.trimmed(start, stop.start() if stop else end)
            while cell.start < cell.end and page.text[cell.start] in _MARKS:
                cell = page.trimmed(cell.start + 1, cell.end)
            if _LETTERS.search(page.text, cell.start, cell.end):
                sure = confidence - _INLINE * (inline and ":" not in page.text[label.end : cell.start])
                yield page.text[cell.start : cell.end].rstrip(" ,:;|*"), Place(label, cell.start, cell.end, sure)


def _spots(page: Page, label: Cell) -> Iterator[tuple[int, int, float]]:
    """Where the written value of a label may begin and end at most."""
    line = page.line_at(label.start)
    rest = page.trimmed(label.end, line.end)
    if rest.end > rest.start:
        if not _STOP.match(page.text, label.end):
            yield rest.start, min(rest.end, rest.start + _REACH), 0.95
    elif below := page.next_line(label.start):
        yield below.start, min(below.end, below.start + _REACH), 0.6
    if cell := page.below(label.start):
        yield cell.start, cell.end, 0.85


def _runs_on(page: Page, label: Cell) -> bool:
    """Whether the label stands within a line and not at its, or its cell's, beginning."""
    line = page.line_at(label.start)
    before = page.text[max(line.start, label.start - 4) : label.start]
    leads = not before.strip(" *-#>\t") or before.rstrip(" *").endswith(("|", "\t")) or before.endswith("  ")
    return not leads or page.text[label.end : label.end + 2].strip()[:1] not in (":", "=", "|")


_LETTERS = re.compile(r"\w")
_MARKS = ":=|#*.-"
_STOP = re.compile(r"\s*(?:[.;,)](?!\.)|\.$)")
_PART_END = re.compile(r"[,;|)\t\n]|\s{2,}|\.\s|\.$")

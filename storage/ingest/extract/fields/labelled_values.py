"""Values beside their labels: `Label: value`, `Label ..... value`, the value below its label, or in front of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.extraction_targets import ExtractionTarget

_FILLER_WORDS = (
    "max|min|typ|maximum|minimum|typical|nominal|rated|rating|is|was|are|of|at|up to|about|approx|approximately|circa"
    "|ca|the|value|over|to|abs|absolute|no|nr|number|n|be|shall be|means|on|as of|rm|eur|euro|usd|rp|price"
)
_FILLER_PATTERN = re.compile(rf"(?:[\s:=.|*_#>()\[\]]|-(?!\d)|(?<![a-z])(?:{_FILLER_WORDS})(?![a-z]))*")
_REACH_CHARACTERS = 80  # from a label to the end of its value
_FIELD_END = re.compile(r"\s{3,}|[|\t\n;]|\.\s|\.$")
_INLINE_PENALTY = 0.4  # for running text after a label, against a labelled line
_LONGER_LABEL_CHARACTERS = 30  # that another label may be longer on one side
_MAX_LABELS = 40  # of one pattern in one document


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """Where the value of a label may be, and how confidently."""

    label: TextSpan
    start: int
    end: int
    confidence: float


def find_labels(document: DocumentText, pattern: re.Pattern[str] | None) -> Iterator[TextSpan]:
    """The first forty matches of a label."""
    for count, match in enumerate(pattern.finditer(document.folded) if pattern else ()):
        if count == _MAX_LABELS:
            return
        yield TextSpan(match.start(), match.end())


def find_field_labels(
    document: DocumentText, target: ExtractionTarget, pattern: re.Pattern[str] | None
) -> Iterator[TextSpan]:
    """The labels of a field, without those within a longer label of another field: `date` in `Due date`."""
    for label in find_labels(document, pattern):
        if target.other_label_pattern is None or not is_within_other_label(document, target.other_label_pattern, label):
            yield label


def is_within_other_label(document: DocumentText, other_label_pattern: re.Pattern[str], label: TextSpan) -> bool:
    others = other_label_pattern.finditer(
        document.folded, max(0, label.start - _LONGER_LABEL_CHARACTERS), label.end + _LONGER_LABEL_CHARACTERS
    )
    return any(
        other.start() <= label.start
        and label.end <= other.end()
        and other.end() - other.start() > label.end - label.start
        for other in others
    )


def value_spans_after(document: DocumentText, label: TextSpan) -> Iterator[ValueSpan]:
    """The rest of the label's line, else the next line, and in a table also the cell below."""
    line = document.line_at(label.start)
    end = min(line.end, label.end + _REACH_CHARACTERS)
    gap = _FILLER_PATTERN.match(document.folded, label.end, end)
    start = gap.end() if gap else label.end
    if start < line.end and not document.text[start : line.end].isspace():
        confidence = 0.95 if _is_set_apart(document, label, start) else 0.8
        yield ValueSpan(label, start, min(line.end, start + _REACH_CHARACTERS), confidence)
    elif below := document.next_filled_line(label.start):
        yield ValueSpan(label, below.start, min(below.end, below.start + _REACH_CHARACTERS), 0.8)
    if cell := document.cell_below(label.start):
        yield ValueSpan(label, cell.start, cell.end, 0.85)


def _is_set_apart(document: DocumentText, label: TextSpan, value_start: int) -> bool:
    """Whether more than a blank separates label and value, or the label begins its line."""
    between = document.text[label.end : value_start]
    line = document.line_at(label.start)
    begins_line = not document.text[line.start : label.start].strip(" |*-#>\t")
    return any(c in ":=|\t" for c in between) or ".." in between or "  " in between or begins_line


def written_values_after(document: DocumentText, target: ExtractionTarget) -> Iterator[tuple[str, ValueSpan]]:
    """The text of a value after each label: to the end of its line or cell where the label begins it, else to the end
    of its part of the sentence.
    """
    for label in find_field_labels(document, target, target.own_label_pattern):
        for start, end, confidence in _written_value_bounds(document, label):
            inline = _is_inline_label(document, label)
            stop = (_PART_END if inline else _FIELD_END).search(document.text, start, end)
            cell = document.trim_span(start, stop.start() if stop else end)
            while cell.start < cell.end and document.text[cell.start] in _LABEL_MARKS:
                cell = document.trim_span(cell.start + 1, cell.end)
            if _LETTERS.search(document.text, cell.start, cell.end):
                is_running_text = inline and ":" not in document.text[label.end : cell.start]
                span = ValueSpan(label, cell.start, cell.end, confidence - _INLINE_PENALTY * is_running_text)
                yield document.text[cell.start : cell.end].rstrip(" ,:;|*"), span


def _written_value_bounds(document: DocumentText, label: TextSpan) -> Iterator[tuple[int, int, float]]:
    """Start, latest end and confidence of each place where the value of a label may be."""
    line = document.line_at(label.start)
    rest = document.trim_span(label.end, line.end)
    if rest.end > rest.start:
        if not _SENTENCE_STOP.match(document.text, label.end):
            yield rest.start, min(rest.end, rest.start + _REACH_CHARACTERS), 0.95
    elif below := document.next_filled_line(label.start):
        yield below.start, min(below.end, below.start + _REACH_CHARACTERS), 0.6
    if cell := document.cell_below(label.start):
        yield cell.start, cell.end, 0.85


def _is_inline_label(document: DocumentText, label: TextSpan) -> bool:
    """Whether the label appears within a line, not at the beginning of the line or of a cell."""
    line = document.line_at(label.start)
    before = document.text[max(line.start, label.start - 4) : label.start]
    begins_cell = not before.strip(" *-#>\t") or before.rstrip(" *").endswith(("|", "\t")) or before.endswith("  ")
    return not begins_cell or document.text[label.end : label.end + 2].strip()[:1] not in (":", "=", "|")


_LETTERS = re.compile(r"\w")
_LABEL_MARKS = ":=|#*.-"
_SENTENCE_STOP = re.compile(r"\s*(?:[.;,)](?!\.)|\.$)")
_PART_END = re.compile(r"[,;|)\t\n]|\s{2,}|\.\s|\.$")

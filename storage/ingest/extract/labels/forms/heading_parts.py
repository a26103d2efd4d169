"""What the first heading of a document says: its kind ("Inspection report") and its reference ("IR-204")."""

import re
from collections.abc import Iterator

from storage.ingest.documents.headings import leading_heading
from storage.ingest.extract.document_text import DocumentText, TextSpan, fold_characters
from storage.ingest.extract.labels.forms.letter_parts import DATE_LABEL
from storage.ingest.extract.labels.forms.line_labels import plain_line
from storage.ingest.extract.labels.forms.references import REFERENCE_PATTERN, reference_in
from storage.ingest.extract.labels.labelled_texts import LabelForm, LabelledText
from storage.quantities.days import find_dates

KIND_LABEL, REFERENCE_LABEL = "Document type", "Reference"
_KIND_END = re.compile(
    r"\s*(?:[:,(\[|#]|\s[–—-]\s|\d|\b(?:no|nr|number|of|for|about|from|to|on|in|at|by|with|re"
    r"|regarding|dated|through|vom|von|zu|zur|zum|du|de|des|del)\b)",
    re.IGNORECASE,
)
_TITLE_LINES = 5  # filled lines among which the first heading is sought in a text without marks
_MAX_TITLE_CHARACTERS = 120
_MAX_KIND_WORDS = 6


def find_heading_parts(document: DocumentText) -> Iterator[LabelledText]:
    """Yields the kind and the reference that the heading of the document gives."""
    span = find_heading_span(document)
    heading = plain_line(document.text[span.start : span.end].strip().strip("#").strip()) if span else document.title
    if not heading or len(heading) > _MAX_TITLE_CHARACTERS:
        return
    start, end = (span.start, span.end) if span else (None, None)
    if kind := _kind_in(heading):
        yield LabelledText(label=KIND_LABEL, text=kind, start=start, end=end, form=LabelForm.HEADING)
    days = find_dates(fold_characters(heading))
    if len(days) == 1:
        day = heading[days[0].start : days[0].end]
        yield LabelledText(label=DATE_LABEL, text=day, start=start, end=end, form=LabelForm.HEADING)
        heading = heading[: days[0].start] + heading[days[0].end :]
    if reference := reference_in(heading):
        yield LabelledText(label=REFERENCE_LABEL, text=reference, start=start, end=end, form=LabelForm.HEADING)


def find_heading_span(document: DocumentText) -> TextSpan | None:
    """Returns the first line with a heading mark near the top, else a first line that reads as a heading."""
    filled = list[TextSpan]()
    for line in document.lines_from():
        text = document.text[line.start : line.end]
        if text.lstrip().startswith("#"):
            return document.trim_span(line.start, line.end)
        if text.strip():
            filled.append(document.trim_span(line.start, line.end))
        if len(filled) == _TITLE_LINES:
            break
    heading = leading_heading(document.text)
    return next((line for line in filled if document.text[line.start : line.end] == heading), None)


def _kind_in(heading: str) -> str:
    """Returns the words before a number, a name or a mark; empty if they are not a kind of document."""
    reference = REFERENCE_PATTERN.search(heading)
    words = heading[: reference.start()] if reference else heading
    end = _KIND_END.search(words, 1)
    kind = (words[: end.start()] if end else words).strip(" -–—:#")
    names = kind.split()
    if not 0 < len(names) <= _MAX_KIND_WORDS or not kind[:1].isupper() or any(c.isdigit() for c in kind):
        return ""
    return kind.capitalize() if kind.isupper() else kind

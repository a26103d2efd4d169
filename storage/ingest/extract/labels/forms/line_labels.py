"""Labels on lines of their own: `Label: value`, `Label ..... value`, `Label – value`, the value on the line below."""

import re
from collections.abc import Iterator

from storage.ingest.documents.headings import leading_heading
from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.labels.forms.references import REFERENCE_PATTERN
from storage.ingest.extract.labels.labelled_texts import (
    MAX_VALUE_CHARACTERS,
    LabelForm,
    LabelledText,
    has_label_case,
    is_label,
)
from storage.ingest.extract.labels.plain_values import is_measured_value

_LINE_MARKS = re.compile(r"\s*(?:[-*•+·]\s+(?:\[[ xX]\]\s+)?|\(?\d{1,2}(?:\.\d{1,2})*[.)]\s+)?")
_BULLET = re.compile(r"\s*(?:[-*•+·]|\d{1,2}[.)])\s+(?P<item>\S.{0,100})$")
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=[\w:.!?)])[*_](?!\w)")
_HEADING_MARKS = re.compile(r"\s{0,3}#{1,6}\s+(?P<words>\S.*?)[\s#:]*$")
_COLON = re.compile(r"(?P<label>[^:：=|\t]{1,60}?)\s*(?:[:：](?!//|:)|\s=(?=\s))\s*(?P<value>.*)$")
_LEADER = re.compile(
    r"(?P<label>[^|\t]{1,60}?)\s*(?:\.{3,}|…+|_{3,}|(?:\. ){3,}\.?|\t+|(?<![.,;!?]) {2,})\s*:?\s*(?P<value>\S.*)$"
)
_DASH = re.compile(r"(?P<label>[^|\t]{1,50}?)\s+[–—-]\s+(?P<value>\S.*)$")
_PLAIN = re.compile(r"(?P<label>[^\W\d_][^\d|\t:]{1,40}?)\s(?P<value>[^\s\w]?[A-Z]{0,6}[-/]?\s?\d\S*(?:\s\S+){0,4})")
# In a letterhead an address follows: "Acme Ltd    14 Forge Way"
_COMPANY = re.compile(r"(?<![^\W_])(?:ltd|limited|llp|llc|inc|corp|plc|gmbh|ag|kg|sarl|s\.?a|b\.?v)\.?$", re.IGNORECASE)
_CLOCK = re.compile(r".*\d$")
_NEXT_LABEL = re.compile(
    r"(?:(?P<stop>(?:(?<=[^\W_]{3})|(?<=[\d)]))\.\s+)|\s{2,}|\t|\s*[|;·•]\s+)(?=(?P<label>[^\W\d_][^:|;·•\t.]{1,40}?)\s*[:：]\s)"
)
_FRONT_MATTER_LIST = re.compile(r"\[(?P<members>[^\[\]]*)\]$")
_MAX_LINE_CHARACTERS = 400
_MAX_BLOCK_CHARACTERS = 80  # of a value on the line below its label
_MAX_ITEMS = 30
_HEAD_LINES = 40  # in which a line by itself can be a heading


def find_line_labels(document: DocumentText) -> Iterator[LabelledText]:
    """Yields the labelled lines of a text in order, each line read once."""
    title = leading_heading(document.text)
    for number, line in enumerate(document.lines_from()):
        if line.end == line.start or line.end - line.start > _MAX_LINE_CHARACTERS:
            continue
        if heading := _HEADING_MARKS.match(document.text, line.start, line.end):
            yield from _texts_below_heading(document, number, line, plain_line(heading["words"]))
            continue
        if document.text[line.start : line.end].strip() != title:
            yield from _texts_of_line(document, number, line)
    yield from _block_texts(document)


def plain_line(text: str) -> str:
    """Returns the words of a line without list marks and emphasis."""
    marks = _LINE_MARKS.match(text)
    return _EMPHASIS.sub("", text[marks.end() if marks else 0 :]).strip()


def _texts_of_line(document: DocumentText, number: int, line: TextSpan) -> Iterator[LabelledText]:
    plain = plain_line(document.text[line.start : line.end])
    if "|" in plain:
        return
    match = _COLON.match(plain)
    if match and is_label(match["label"].strip()) and not _is_clock_time(match):
        label, value = match["label"].strip(), match["value"].strip()
        if value:
            yield from _colon_texts(document, line, label, value)
        else:
            yield from _texts_below_label(document, number, line, label, LabelForm.COLON)
        return
    for pattern, form in ((_LEADER, LabelForm.LEADER), (_DASH, LabelForm.DASH)):
        match = pattern.match(plain)
        label = match["label"].strip() if match else ""
        if match and is_label(label) and has_label_case(label) and not _COMPANY.search(label):
            yield from _labelled_texts_in(document, line, label, match["value"], form)
            return
    match = _PLAIN.fullmatch(plain)
    if match and is_label(match["label"]) and has_label_case(match["label"]) and _is_clear_value(match["value"]):
        yield from _labelled_texts_in(document, line, match["label"], match["value"], LabelForm.PLAIN)


def _is_clear_value(text: str) -> bool:
    return REFERENCE_PATTERN.fullmatch(text) is not None or is_measured_value(text)


def _is_clock_time(match: re.Match[str]) -> bool:
    return bool(_CLOCK.match(match["label"])) and match["value"][:1].isdigit()


def _colon_texts(document: DocumentText, line: TextSpan, label: str, value: str) -> Iterator[LabelledText]:
    """Yields the label with its value, and further labels on the same line: `Date: 3 May   Ref: C-18`."""
    while following := next(filter(_begins_label, _NEXT_LABEL.finditer(value)), None):
        yield from _labelled_texts_in(document, line, label, value[: following.start()], LabelForm.COLON)
        label, _, value = value[following.end() :].partition(":")
        label, value = label.strip(), value.strip()
    yield from _labelled_texts_in(document, line, label, value, LabelForm.COLON)


def _begins_label(following: re.Match[str]) -> bool:
    """Whether a label follows; behind the end of a sentence it must begin with a capital letter."""
    return is_label(following["label"]) and (not following["stop"] or has_label_case(following["label"]))


def _labelled_texts_in(
    document: DocumentText, span: TextSpan, label: str, value: str, form: LabelForm, items: tuple[str, ...] = ()
) -> Iterator[LabelledText]:
    value = value.strip()
    if members := _FRONT_MATTER_LIST.match(value):
        items = tuple(filter(None, (member.strip(" \"'") for member in members["members"].split(","))))
    text = "; ".join(items) or value
    if text and (items or len(text) <= MAX_VALUE_CHARACTERS):
        trimmed = document.trim_span(span.start, span.end)
        yield LabelledText(
            label=label,
            text=text,
            start=trimmed.start,
            end=trimmed.end,
            form=form,
            items=items,
            stands_alone=_stands_alone(document, trimmed),
        )


def _stands_alone(document: DocumentText, span: TextSpan) -> bool:
    """Whether blank lines, or the ends of the text, are around a single line near the top."""
    first = document.line_number_at(span.start)
    if first > _HEAD_LINES or "\n" in document.text[span.start : span.end]:
        return False
    around = [number for number in (first - 1, first + 1) if 0 <= number < len(document.line_starts)]
    lines = map(document.line_by_number, around)
    return not any(document.text[line.start : line.end].strip() for line in lines)


def _texts_below_label(
    document: DocumentText, number: int, line: TextSpan, label: str, form: LabelForm
) -> Iterator[LabelledText]:
    """Yields the items of a list below the label, else the one line below it."""
    below = _filled_lines_below(document, number)
    if items := _items_in(document, below):
        span = TextSpan(line.start, below[len(items) - 1].end)
        yield from _labelled_texts_in(document, span, label, "", form, tuple(items))
    elif len(below) == 1 and (value := _value_on_line(document, below[0])):
        yield from _labelled_texts_in(document, TextSpan(line.start, below[0].end), label, value, form)


def _texts_below_heading(document: DocumentText, number: int, line: TextSpan, label: str) -> Iterator[LabelledText]:
    if not is_label(label) or len(label.split()) > 4:
        return
    below = _filled_lines_below(document, number)
    after = document.next_filled_line(below[-1].start) if below else None
    if after is None or _HEADING_MARKS.match(document.text, after.start, after.end):
        yield from _texts_below_label(document, number, line, label, LabelForm.BLOCK)


def _filled_lines_below(document: DocumentText, number: int) -> list[TextSpan]:
    """Returns the next paragraph, after at most one blank line."""
    lines = list[TextSpan]()
    for below in range(number + 1, min(number + 3 + _MAX_ITEMS, len(document.line_starts))):
        line = document.line_by_number(below)
        is_filled = bool(document.text[line.start : line.end].strip())
        if is_filled:
            lines.append(line)
        elif lines or below > number + 1:
            break
    return lines


def _items_in(document: DocumentText, lines: list[TextSpan]) -> list[str]:
    """Returns the items of the list that the lines begin with; empty if they begin otherwise."""
    items = list[str]()
    for line in lines:
        match = _BULLET.match(document.text, line.start, line.end)
        if match is None:
            break
        items.append(_EMPHASIS.sub("", match["item"]).strip().rstrip(".;,"))
    return items if all(len(item) <= _MAX_BLOCK_CHARACTERS and ": " not in item for item in items) else []


def _value_on_line(document: DocumentText, line: TextSpan) -> str:
    """Returns the words of a line that is the value of the label above it; empty for another label or a long line."""
    text = document.text[line.start : line.end]
    value = plain_line(text)
    colon = _COLON.match(value)
    is_other = bool(colon and is_label(colon["label"].strip())) or text.lstrip().startswith(("#", "|"))
    return "" if is_other or len(value) > _MAX_BLOCK_CHARACTERS else value


def _block_texts(document: DocumentText) -> Iterator[LabelledText]:
    """Yields the pairs of paragraphs whose lines are alternately labels and values."""
    for paragraph in _paragraphs_of(document):
        lines = [plain_line(document.text[line.start : line.end]) for line in paragraph]
        are_labels = all(is_label(label) and has_label_case(label) for label in lines[::2])
        if len(lines) % 2 or not are_labels or any(":" in label or "|" in label for label in lines[::2]):
            continue
        if any(len(value) > _MAX_BLOCK_CHARACTERS or "|" in value for value in lines):
            continue
        for first in range(0, len(lines), 2):
            span = TextSpan(paragraph[first].start, paragraph[first + 1].end)
            yield from _labelled_texts_in(document, span, lines[first], lines[first + 1], LabelForm.BLOCK)


def _paragraphs_of(document: DocumentText) -> Iterator[list[TextSpan]]:
    paragraph = list[TextSpan]()
    for line in document.lines_from():
        if document.text[line.start : line.end].strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph

"""What the parts of a letter say without labels: its day, whom it addresses, who signs it."""

import re
from collections.abc import Iterator
from itertools import pairwise

from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.labels.labelled_texts import LabelForm, LabelledText
from storage.ingest.extract.labels.person_names import PERSON_PATTERN, is_person_name
from storage.quantities.days import WEEKDAY_PATTERN, find_dates
from storage.text.noun_classes import ADDRESSEE_NOUNS

DATE_LABEL, SENDER_LABEL, RECIPIENT_LABEL = "Date", "Sender", "Recipient"
_HEAD_LINES = 25  # in which a letter gives its day and addresses somebody
_TAIL_LINES = 25  # in which it is signed
_MAX_DATE_LINE_CHARACTERS = 60
_BEFORE_DATE = re.compile(
    rf"\s*(?:dated?:?\s+|(?:[^\W\d_][\w.'’-]*\s?){{1,3}},\s*(?:den\s+|le\s+)?)?(?:{WEEKDAY_PATTERN},?\s+)?(?:the\s+)?",
    re.IGNORECASE,
)
_SALUTATION = re.compile(
    rf"\s*(?:Dear|Hello|Hi|Liebe[rs]?|Sehr geehrte[rs]?|Chère?|Cher|Estimad[oa])\s+(?P<name>{PERSON_PATTERN}"
    rf"|[A-Z][\w'’-]+)\s*[,:!]?\s*$"
)
_CLOSING = re.compile(
    r"\s*(?:yours\s+(?:sincerely|faithfully|truly)|sincerely(?:\s+yours)?|(?:(?:with\s+)?(?:kind|best|warm|many)\s+)?"
    r"(?:regards|wishes|greetings)|many thanks|thanks|thank you|cheers|mit freundlichen gr(?:ü|ue)(?:ß|ss)en|"
    r"cordialement|atentamente|saludos)\s*[,.!]?\s*$",
    re.IGNORECASE,
)


def find_letter_parts(document: DocumentText) -> Iterator[LabelledText]:
    """Yields the day, the addressee and the signatory of a letter or mail; nothing for other texts."""
    lines = [line for line in document.lines_from() if document.text[line.start : line.end].strip()]
    yield from _date_line_texts(document, lines[:_HEAD_LINES])
    for line in lines[:_HEAD_LINES]:
        match = _SALUTATION.match(document.text, line.start, line.end)
        if match and ADDRESSEE_NOUNS.isdisjoint(match["name"].casefold().split()):
            yield _letter_text(RECIPIENT_LABEL, match["name"], line)
            break
    tail = lines[-_TAIL_LINES:]
    for closing, signature in pairwise(tail):
        name = document.text[signature.start : signature.end].strip().rstrip(",")
        if _CLOSING.match(document.text, closing.start, closing.end) and _is_signature(name):
            yield _letter_text(SENDER_LABEL, name, TextSpan(closing.start, signature.end))
            return


def _is_signature(name: str) -> bool:
    return is_person_name(name) or (name.isalpha() and name[:1].isupper() and len(name) <= 20)


def _date_line_texts(document: DocumentText, lines: list[TextSpan]) -> Iterator[LabelledText]:
    """Yields the first line that holds nothing but a day, after a place or a weekday at most."""
    for line in lines:
        if line.end - line.start > _MAX_DATE_LINE_CHARACTERS:
            continue
        days = find_dates(document.folded, line.start, line.end)
        if len(days) != 1 or document.text[days[0].end : line.end].strip(" .,*_"):
            continue
        before = document.text[line.start : days[0].start].lstrip("#*_ ")
        if not before.strip() or _BEFORE_DATE.fullmatch(before):
            yield _letter_text(DATE_LABEL, document.text[days[0].start : days[0].end], line)
            return


def _letter_text(label: str, text: str, span: TextSpan) -> LabelledText:
    return LabelledText(label=label, text=" ".join(text.split()), start=span.start, end=span.end, form=LabelForm.LETTER)

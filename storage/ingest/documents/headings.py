"""Finds the headings of a text: in Markdown, as the parsers of all formats write them, and a first line that is one."""

import re
from collections.abc import Iterator
from itertools import islice

from storage.quantities.days import find_dates

_HEADING = re.compile(r"^ {0,3}(?P<marks>#{1,6})[ \t]+(?P<words>\S.*)$|^ {0,3}(?P<fence>```|~~~)", re.MULTILINE)

_FILLED_LINE = re.compile(r"[ \t]*(?P<line>[^\s][^\n]*)\n?")
_NUMBERED = re.compile(r"\b(?:no\.?|nr\.?|number|#)\s*[A-Z]{0,5}-?\d", re.IGNORECASE)
_UNDERLINE = re.compile(r"[ \t]*(?:={3,}|-{3,})[ \t]*(?:\n|$)")
_LEADING_REFERENCE = re.compile(r"^[A-Z]{1,6}[-/]?\d[\w/-]*:\s+")  # `INC-17: pump stopped`
_TOP_LINES, _TOP_CHARACTERS = 3, 1_000
_NOT_IN_HEADING = re.compile(r":\s|[|\t]|\s{3,}|\.{3}|^(?:Dear|Hi|Hello)\b")
_MAX_HEADING_CHARACTERS, _MAX_HEADING_WORDS = 80, 10
_MAX_DATELINE_WORDS_CHARACTERS = 20  # beside the day of a dateline


def heading_starts(text: str) -> Iterator[int]:
    """Yields the start offsets of the lines that are headings, ascending. Ignores `#` within a fenced code block."""
    return (match.start() for match in _find_headings(text))


def first_heading(text: str) -> str:
    """Returns the words of the first heading; empty if there is none."""
    return next((match["words"].rstrip(" \t#").strip("#").strip() for match in _find_headings(text)), "")


def leading_heading(text: str) -> str:
    """Returns the first line of a plain text that is a heading; empty if there is none at its top.

    A heading is short, begins with a capital letter and is not a sentence, label or day. The first filled line is one
    if it is in capitals, holds a number, or a blank line follows it; the next two if they are in capitals or give a
    number (`INVOICE No. 17` below the name of a company).
    """
    for rank, match in enumerate(islice(_FILLED_LINE.finditer(text, 0, _TOP_CHARACTERS), _TOP_LINES)):
        line, after = match["line"].strip(), text[match.end() :]
        is_marked = line.isupper() or bool(_NUMBERED.search(line))
        is_underlined = _UNDERLINE.match(after) is not None
        is_followed_by_blank = after[:1] == "\n" and bool(after.strip())
        is_set_apart = is_underlined or (rank == 0 and (any(c.isdigit() for c in line) or is_followed_by_blank))
        if (is_marked or is_set_apart) and reads_as_heading(line):
            return line
    return ""


def reads_as_heading(line: str) -> bool:
    """Whether a line has the shape of a heading: a few words, no sentence, no label, no day, no row of a table."""
    return (
        3 <= len(line) <= _MAX_HEADING_CHARACTERS
        and line[0].isupper()
        and line[-1] not in ".,;:!?"
        and not _NOT_IN_HEADING.search(_LEADING_REFERENCE.sub("", line))
        and len(line.split()) <= _MAX_HEADING_WORDS
        and not _is_dateline(line)
    )


def _is_dateline(line: str) -> bool:
    """Whether little but a day is on the line: `Leeds, 3 March 2031`."""
    days = find_dates(line.lower())
    return bool(days) and len(line) - (days[0].end - days[0].start) < _MAX_DATELINE_WORDS_CHARACTERS


def _find_headings(text: str) -> Iterator[re.Match[str]]:
    fence: str | None = None
    for match in _HEADING.finditer(text):
        if match["fence"]:
            fence = match["fence"] if fence is None else None if fence == match["fence"] else fence
        elif fence is None:
            yield match

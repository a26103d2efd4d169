"""Finds the headings of a text: in Markdown, as the parsers of all formats write them, and a first line that is one."""

import re
from collections.abc import Iterator

from storage.quantities.days import find_dates

_HEADING = re.compile(r"^ {0,3}(?P<marks>#{1,6})[ \t]+(?P<words>\S.*?)[ \t#]*$|^ {0,3}(?P<fence>```|~~~)", re.MULTILINE)

_FIRST_LINE = re.compile(r"\s*(?P<line>\S[^\n]*)\n?")
_NOT_IN_HEADING = re.compile(r":\s|[|\t]|\s{3,}|\.{3}|^(?:Dear|Hi|Hello)\b")
_MAX_HEADING_CHARACTERS, _MAX_HEADING_WORDS = 80, 10
_MAX_DATELINE_WORDS_CHARACTERS = 20  # beside the day of a dateline


def heading_starts(text: str) -> Iterator[int]:
    """Yields the start offsets of the lines that are headings, ascending. Ignores `#` within a fenced code block."""
    return (match.start() for match in _find_headings(text))


def first_heading(text: str) -> str:
    """Returns the words of the first heading; empty if there is none."""
    return next((match["words"].strip("#").strip() for match in _find_headings(text)), "")


def leading_heading(text: str) -> str:
    """Returns the first filled line of a plain text if it is a heading; else empty.

    A heading is short, begins with a capital letter and is no sentence, label or day. It is in capitals, or holds a
    number, or a blank line follows it.
    """
    match = _FIRST_LINE.match(text)
    if match is None:
        return ""
    line, after = match["line"].strip(), text[match.end() : match.end() + 1]
    is_set_apart = line.isupper() or any(c.isdigit() for c in line) or (after == "\n" and text[match.end() :].strip())
    return line if is_set_apart and reads_as_heading(line) else ""


def reads_as_heading(line: str) -> bool:
    """Whether a line has the shape of a heading: a few words, no sentence, no label, no day, no row of a table."""
    return (
        3 <= len(line) <= _MAX_HEADING_CHARACTERS
        and line[0].isupper()
        and line[-1] not in ".,;:!?"
        and not _NOT_IN_HEADING.search(line)
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

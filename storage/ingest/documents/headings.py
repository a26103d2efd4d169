"""Finds the Markdown headings of a text. The parsers of all formats with headings write them as Markdown."""

import re
from collections.abc import Iterator

_HEADING = re.compile(r"^ {0,3}(?P<marks>#{1,6})[ \t]+(?P<words>\S.*?)[ \t#]*$|^ {0,3}(?P<fence>```|~~~)", re.MULTILINE)


def heading_starts(text: str) -> Iterator[int]:
    """Yields the start offsets of the lines that are headings, ascending. Ignores `#` within a fenced code block."""
    return (match.start() for match in _find_headings(text))


def first_heading(text: str) -> str:
    """Returns the words of the first heading; empty if there is none."""
    return next((match["words"].strip("#").strip() for match in _find_headings(text)), "")


def _find_headings(text: str) -> Iterator[re.Match[str]]:
    fence: str | None = None
    for match in _HEADING.finditer(text):
        if match["fence"]:
            fence = match["fence"] if fence is None else None if fence == match["fence"] else fence
        elif fence is None:
            yield match

"""Headings of a text: Markdown's, which every format that has headings is rendered with."""

import re
from collections.abc import Iterator

_HEADING = re.compile(r"^ {0,3}(?P<marks>#{1,6})[ \t]+(?P<words>\S.*?)[ \t#]*$|^ {0,3}(?P<fence>```|~~~)", re.MULTILINE)


def heading_starts(text: str) -> Iterator[int]:
    """Where the lines start that are headings, ascending. A `#` within a fenced block of code is none."""
    return (match.start() for match in _headings(text))


def first_heading(text: str) -> str:
    """Its words; empty where there is none."""
    return next((match["words"].strip("#").strip() for match in _headings(text)), "")


def _headings(text: str) -> Iterator[re.Match[str]]:
    fence: str | None = None
    for match in _HEADING.finditer(text):
        if match["fence"]:
            fence = match["fence"] if fence is None else None if fence == match["fence"] else fence
        elif fence is None:
            yield match

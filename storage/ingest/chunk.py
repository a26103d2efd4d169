"""Passages: a document's text in pieces of some 1,000 to 1,200 characters, each on one page, begun by headings."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from semantic_text_splitter import TextSplitter

from storage.ingest.headings import heading_starts
from storage.search.documents import Passage

_FULL = (1000, 1200)  # characters; the splitter ends a passage at the best boundary within
_SHORTEST = 400  # of a section that is a passage of its own: shorter ones say too little to be found by
_LONGEST = 1400  # a short rest joins the passage before it up to here


def passages_of(text: str, page_starts: Sequence[int | None] = ()) -> tuple[Passage, ...]:
    """The passages of `text`, in order, none blank; every character that is not blank lies in exactly one.

    `page_starts` holds for each page where it starts, ascending, None where that is unknown; a passage's page is the
    last known one at or before its start. A heading begins a passage, of which it is the first line, unless the section
    before it on the page is a short one. `text` may not hold lone surrogates.
    """
    return tuple(
        Passage(start=start, end=end, page=page)
        for first, last, page in _segments(text, page_starts)
        for start, end in _pieces(text, first, last)
    )


def _segments(text: str, page_starts: Sequence[int | None]) -> Iterator[tuple[int, int, int | None]]:
    """Start, end and page of what no passage may reach beyond."""
    headings = list(heading_starts(text))
    known = [(start, page) for page, start in enumerate(page_starts, 1) if start is not None]
    starts: list[tuple[int, int | None]] = [(0, None), *known]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    for (start, page), end in zip(starts, ends, strict=True):
        if start < end:
            for first, last in _sections(start, end, headings):
                yield first, last, page


def _sections(first: int, last: int, headings: Sequence[int]) -> list[tuple[int, int]]:
    """From heading to heading; a short one together with the next, or, the last one, with the one before it."""
    cuts = [first, *headings[bisect_right(headings, first) : bisect_left(headings, last)], last]
    sections: list[tuple[int, int]] = []
    for start, end in pairwise(cuts):
        is_short_rest = end == last and end - start < _SHORTEST
        if sections and (is_short_rest or _length(sections[-1]) < _SHORTEST):
            sections[-1] = (sections[-1][0], end)
        else:
            sections.append((start, end))
    return sections


def _length(section: tuple[int, int]) -> int:
    return section[1] - section[0]


def _pieces(text: str, first: int, last: int) -> list[tuple[int, int]]:
    """Where the passages of `text[first:last]` start and end."""
    pieces: list[tuple[int, int]] = []
    for offset, piece in _splitter().chunk_indices(text[first:last]):
        start, end = first + offset, first + offset + len(piece)
        if not piece.strip():  # the library knows fewer blanks than Python does
            continue
        if pieces and end - pieces[-1][0] <= _LONGEST:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    return pieces


@lru_cache(maxsize=1)
def _splitter() -> TextSplitter:
    return TextSplitter(_FULL)

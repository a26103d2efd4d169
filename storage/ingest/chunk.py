"""Passages: a document's text in pieces of some 1,000 to 1,200 characters, each on one page."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from semantic_text_splitter import TextSplitter

from storage.search.documents import Passage

_FULL = (1000, 1200)  # characters; the splitter ends a passage at the best boundary within
_LONGEST = 1400  # a short rest joins the passage before it up to here


def passages_of(text: str, page_starts: Sequence[int | None] = ()) -> tuple[Passage, ...]:
    """The passages of `text`, in order, none blank; every character that is not blank lies in exactly one.

    `page_starts` holds for each page where it starts, ascending, None where that is unknown; a passage's page is the
    last known one at or before its start. `text` may not hold lone surrogates.
    """
    return tuple(
        Passage(start=start, end=end, page=page)
        for first, last, page in _segments(len(text), page_starts)
        for start, end in _pieces(text, first, last)
    )


def _segments(length: int, page_starts: Sequence[int | None]) -> Iterator[tuple[int, int, int | None]]:
    known = [(start, page) for page, start in enumerate(page_starts, 1) if start is not None]
    starts: list[tuple[int, int | None]] = [(0, None), *known]
    ends = [start for start, _ in starts[1:]] + [length]
    for (start, page), end in zip(starts, ends, strict=True):
        if start < end:
            yield start, end, page


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

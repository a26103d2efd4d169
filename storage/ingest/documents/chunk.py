"""Splits text into passages of some 1,000 to 1,200 characters. Each lies on one page; a heading begins a passage."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from semantic_text_splitter import TextSplitter

from storage.ingest.documents.headings import heading_starts
from storage.ingest.work_budget import check_work
from storage.search.documents import Passage

_PASSAGE_CHARACTERS = (1000, 1200)  # the splitter ends a passage at the best boundary in this range
_MIN_SECTION_CHARACTERS = 400  # a shorter section is not a passage of its own: it has too few words to be found by
_WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_MAX_STRETCH_CHARACTERS = 10_000  # without the end of a line or sentence, that are split in one piece
_STRETCH_END = re.compile(r"\n|[.!?]\s")
_MAX_PASSAGE_CHARACTERS = 1400  # a short last piece joins the passage before it up to this size


def passages_of(text: str, page_starts: Sequence[int | None] = ()) -> tuple[Passage, ...]:
    """Returns the passages of `text`, in order. None is blank; each character that is not blank lies in exactly one.

    `page_starts` has the start of each page, ascending; None for an unknown one. The page of a passage is the last
    known page that starts at or before it. A heading is the first line of a passage, unless the section before it on
    the page is short. `text` may not contain lone surrogates.
    """
    return tuple(
        Passage(start=start, end=end, page=page)
        for segment_start, segment_end, page in _page_segments(text, page_starts)
        for start, end in _split_segment(text, segment_start, segment_end)
    )


def _page_segments(text: str, page_starts: Sequence[int | None]) -> Iterator[tuple[int, int, int | None]]:
    """Yields start, end and page of the segments of the text. A passage never crosses the end of a segment."""
    headings = list(heading_starts(text))
    known_pages = [(start, page) for page, start in enumerate(page_starts, 1) if start is not None]
    starts: list[tuple[int, int | None]] = [(0, None), *known_pages]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    for (start, page), end in zip(starts, ends, strict=True):
        if start < end:
            for section_start, section_end in _heading_sections(start, end, headings):
                yield section_start, section_end, page


def _heading_sections(segment_start: int, segment_end: int, headings: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the sections from heading to heading.

    A short section is joined with the next one, a short last section with the one before it.
    """
    cuts = [
        segment_start,
        *headings[bisect_right(headings, segment_start) : bisect_left(headings, segment_end)],
        segment_end,
    ]
    sections: list[tuple[int, int]] = []
    for start, end in pairwise(cuts):
        is_short_end = end == segment_end and end - start < _MIN_SECTION_CHARACTERS
        if sections and (is_short_end or _section_length(sections[-1]) < _MIN_SECTION_CHARACTERS):
            sections[-1] = (sections[-1][0], end)
        else:
            sections.append((start, end))
    return sections


def _section_length(section: tuple[int, int]) -> int:
    return section[1] - section[0]


def _split_segment(text: str, segment_start: int, segment_end: int) -> list[tuple[int, int]]:
    """Returns start and end of each passage of `text[segment_start:segment_end]`."""
    pieces: list[tuple[int, int]] = []
    for start, end in _split_stretches(text, segment_start, segment_end):
        if pieces and end - pieces[-1][0] <= _MAX_PASSAGE_CHARACTERS:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    return pieces


def _split_stretches(text: str, segment_start: int, segment_end: int) -> Iterator[tuple[int, int]]:
    """Yields the pieces that the library makes, without blank ones.

    Its time grows with the square of the length of a sentence, so a long one is given to it in stretches.
    """
    cuts = [segment_start, *_long_line_cuts(text, segment_start, segment_end), segment_end]
    for stretch_start, stretch_end in pairwise(cuts):
        check_work()
        for offset, piece in _split_stretch(text[stretch_start:stretch_end]):
            if piece.strip():  # Python treats more characters as blank than the library does
                yield stretch_start + offset, stretch_start + offset + len(piece)


def _split_stretch(stretch: str) -> Sequence[tuple[int, str]]:
    """Returns the offset and the text of each piece; a short stretch is one, without the blanks around it."""
    if len(stretch) > _PASSAGE_CHARACTERS[0]:
        return _text_splitter().chunk_indices(stretch)
    piece = stretch.strip(_WHITE_SPACE)  # as the library does, for most rows of a table
    return [(len(stretch) - len(stretch.lstrip(_WHITE_SPACE)), piece)] if piece else []


def _long_line_cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Yields where stretches without the end of a line or sentence are cut: after a word, else anywhere."""
    if end - start <= _MAX_STRETCH_CHARACTERS:
        return
    ends = (match.end() for match in _STRETCH_END.finditer(text, start, end))
    for stretch_end in chain(ends, [end]):
        while stretch_end - start > _MAX_STRETCH_CHARACTERS:
            limit = start + _MAX_STRETCH_CHARACTERS
            start = 1 + text.rfind(" ", limit - _MAX_PASSAGE_CHARACTERS, limit - 1) or limit
            yield start
        start = stretch_end


@lru_cache(maxsize=1)
def _text_splitter() -> TextSplitter:
    return TextSplitter(_PASSAGE_CHARACTERS)

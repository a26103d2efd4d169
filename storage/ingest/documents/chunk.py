"""Splits text into passages of some 1,000 to 1,200 characters, or of another size. Each lies on one page; a heading
begins a passage.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from semantic_text_splitter import TextSplitter

from storage.ingest.documents.headings import heading_starts
from storage.ingest.limits import DEFAULT_PASSAGE_CHARACTERS
from storage.ingest.work_budget import check_work
from storage.search.documents import Passage
from storage.text.code_blocks import find_code_blocks

_WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_MAX_STRETCH_CHARACTERS = 10_000  # without the end of a line or sentence, that are split in one piece
_STRETCH_END = re.compile(r"\n|[.!?]\s")


@dataclass(frozen=True, slots=True)
class _PassageSize:
    """`characters` is the most that the library puts into a piece."""

    characters: int

    @property
    def split_range(self) -> tuple[int, int]:
        """The library ends a piece at the best boundary in this range."""
        return self.characters * 5 // 6, self.characters

    @property
    def joined_characters(self) -> int:
        """A short last piece joins the passage before it up to this size."""
        return self.characters * 7 // 6

    @property
    def section_characters(self) -> int:
        """A shorter section is not a passage of its own: it has too few words to be found by."""
        return self.characters // 3


def passages_of(
    text: str, page_starts: Sequence[int | None] = (), *, characters: int = DEFAULT_PASSAGE_CHARACTERS
) -> tuple[Passage, ...]:
    """Returns the passages of `text`, in order. None is blank; each character that is not blank lies in exactly one.

    `page_starts` has the start of each page, ascending; None for an unknown one. The page of a passage is the last
    known page that starts at or before it. A heading is the first line of a passage, unless the section before it on
    the page is short. A passage has some five sixths to all of `characters`, and seven sixths at most. A block of code
    that fits is not divided. `text` may not contain lone surrogates.
    """
    size = _PassageSize(characters)
    blocks = _fenced_blocks(text, size)
    return tuple(
        Passage(start=start, end=end, page=page)
        for segment_start, segment_end, page in _page_segments(text, page_starts, size)
        for start, end in _split_segment(text, segment_start, segment_end, size, blocks)
    )


def _fenced_blocks(text: str, size: _PassageSize) -> list[tuple[int, int]]:
    """Returns start and end of the blocks of code that fit into a passage, with the lines of their fences."""
    found: list[tuple[int, int]] = []
    for block in find_code_blocks(text):
        start = text.rfind("\n", 0, max(block.start - 1, 0)) + 1
        fence_start = text.find("\n", block.end) + 1
        end = text.find("\n", fence_start) if fence_start else len(text)
        found.append((start, len(text) if end < 0 else end))
    return [(start, end) for start, end in found if end - start <= size.characters]


def _page_segments(
    text: str, page_starts: Sequence[int | None], size: _PassageSize
) -> Iterator[tuple[int, int, int | None]]:
    """Yields start, end and page of the segments of the text. A passage never crosses the end of a segment."""
    headings = list(heading_starts(text))
    known_pages = [(start, page) for page, start in enumerate(page_starts, 1) if start is not None]
    starts: list[tuple[int, int | None]] = [(0, None), *known_pages]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    for (start, page), end in zip(starts, ends, strict=True):
        if start < end:
            for section_start, section_end in _heading_sections(start, end, headings, size):
                yield section_start, section_end, page


def _heading_sections(
    segment_start: int, segment_end: int, headings: Sequence[int], size: _PassageSize
) -> list[tuple[int, int]]:
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
        is_short_end = end == segment_end and end - start < size.section_characters
        if sections and (is_short_end or _section_length(sections[-1]) < size.section_characters):
            sections[-1] = (sections[-1][0], end)
        else:
            sections.append((start, end))
    return sections


def _section_length(section: tuple[int, int]) -> int:
    return section[1] - section[0]


def _split_segment(
    text: str, segment_start: int, segment_end: int, size: _PassageSize, blocks: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Returns start and end of each passage of `text[segment_start:segment_end]`."""
    pieces = _join_pieces(_split_stretches(text, segment_start, segment_end, size), size)
    cuts = [end for _, end in pieces[:-1]]
    inner = blocks[bisect_left(blocks, (segment_start, 0)) : bisect_left(blocks, (segment_end, 0))]
    divided = {
        (start, end): None
        for start, end in inner
        if end <= segment_end and bisect_right(cuts, start) < bisect_left(cuts, end)
    }
    if not divided:
        return pieces
    bounds = [segment_start, *chain.from_iterable(divided), segment_end]
    parts = chain.from_iterable(
        [(start, end)] if (start, end) in divided else _split_stretches(text, start, end, size)
        for start, end in pairwise(bounds)
    )
    return _join_pieces(parts, size)


def _join_pieces(pieces: Iterable[tuple[int, int]], size: _PassageSize) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in pieces:
        if joined and end - joined[-1][0] <= size.joined_characters:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _split_stretches(text: str, segment_start: int, segment_end: int, size: _PassageSize) -> Iterator[tuple[int, int]]:
    """Yields the pieces that the library makes, without blank ones.

    Its time grows with the square of the length of a sentence, so a long one is given to it in stretches.
    """
    cuts = [segment_start, *_long_line_cuts(text, segment_start, segment_end, size), segment_end]
    for stretch_start, stretch_end in pairwise(cuts):
        check_work()
        for offset, piece in _split_stretch(text[stretch_start:stretch_end], size):
            if piece.strip():  # Python treats more characters as blank than the library does
                yield stretch_start + offset, stretch_start + offset + len(piece)


def _split_stretch(stretch: str, size: _PassageSize) -> Sequence[tuple[int, str]]:
    """Returns the offset and the text of each piece; a short stretch is one, without the blanks around it."""
    if len(stretch) > size.split_range[0]:
        return _text_splitter(size).chunk_indices(stretch)
    piece = stretch.strip(_WHITE_SPACE)  # as the library does, for most rows of a table
    return [(len(stretch) - len(stretch.lstrip(_WHITE_SPACE)), piece)] if piece else []


def _long_line_cuts(text: str, start: int, end: int, size: _PassageSize) -> Iterator[int]:
    """Yields where stretches without the end of a line or sentence are cut: after a word, else anywhere."""
    if end - start <= _MAX_STRETCH_CHARACTERS:
        return
    ends = (match.end() for match in _STRETCH_END.finditer(text, start, end))
    for stretch_end in chain(ends, [end]):
        while stretch_end - start > _MAX_STRETCH_CHARACTERS:
            limit = start + _MAX_STRETCH_CHARACTERS
            start = 1 + text.rfind(" ", limit - size.joined_characters, limit - 1) or limit
            yield start
        start = stretch_end


@lru_cache(maxsize=4)
def _text_splitter(size: _PassageSize) -> TextSplitter:
    return TextSplitter(size.split_range)

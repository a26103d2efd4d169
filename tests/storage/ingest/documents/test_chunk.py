"""Splitting text into passages: offsets, coverage and pages."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from storage.ingest.documents.chunk import passages_of

_WORDS = st.text(st.sampled_from("abcé 日#\n\t\r\x1c\u3000😀́.,-"), max_size=40)


def _repeat_parts(parts: list[str], times: int) -> str:
    return "".join(parts) * times


@st.composite
def paged_texts(draw: st.DrawFn) -> tuple[str, list[int | None]]:
    text = _repeat_parts(draw(st.lists(_WORDS, max_size=12)), draw(st.integers(0, 60)))
    starts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    return text, [None if draw(st.booleans()) else start for start in starts]


@settings(deadline=None)
@given(paged_texts())
def test_passages_cover_each_nonblank_character_once_and_in_order(paged: tuple[str, list[int | None]]) -> None:
    text, starts = paged
    passages = passages_of(text, starts)
    covered = "".join(text[passage.start : passage.end] for passage in passages)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(text[passage.start : passage.end].strip() for passage in passages)
    assert all(passage.end <= next_passage.start for passage, next_passage in pairwise(passages))
    assert all(passage.end - passage.start <= 1400 for passage in passages)


@settings(deadline=None)
@given(paged_texts())
def test_each_passage_lies_on_the_last_known_page(paged: tuple[str, list[int | None]]) -> None:
    text, starts = paged
    known_pages = [(start, page) for page, start in enumerate(starts, 1) if start is not None]
    for passage in passages_of(text, starts):
        assert passage.page == max((page for start, page in known_pages if start <= passage.start), default=None)
        assert not any(passage.start < start < passage.end for start, _ in known_pages)


def test_a_short_rest_joins_the_passage_before_it() -> None:
    text = ("A sentence of words. " * 55) + "\n\nThe end."
    assert [(passage.start, passage.end) for passage in passages_of(text)] == [(0, len(text))]


BODY = "Some words of a section.\n" * 20


def test_a_heading_begins_a_passage() -> None:
    text = f"{BODY}\n# One\n\n{BODY}\n## Two\n\n{BODY}```\n# no heading\n```\n#nor this\n{BODY}"
    parts = [text[passage.start : passage.end] for passage in passages_of(text)]
    assert [part.split("\n")[0] for part in parts] == ["Some words of a section.", "# One", "## Two"]
    assert "#nor this" in parts[2]


def test_short_sections_are_joined_but_never_across_pages() -> None:
    text = f"# Book\n\n## Chapter\n\n{BODY}\n# Next\n\n{BODY}\n# Last\n\nWords."
    assert [text[passage.start : passage.end].split("\n")[0] for passage in passages_of(text)] == ["# Book", "# Next"]
    starts = [0, text.index("## Chapter"), text.index("# Last")]
    first_lines = [
        (text[passage.start : passage.end].split("\n")[0], passage.page) for passage in passages_of(text, starts)
    ]
    assert first_lines == [("# Book", 1), ("## Chapter", 2), ("# Next", 2), ("# Last", 3)]


def test_offsets_count_code_points() -> None:
    text = "😀 é " * 700
    passages = passages_of(text)
    assert len(passages) > 1
    assert text[passages[1].start : passages[1].end].startswith(("😀", "é"))


def test_an_empty_text_has_no_passages() -> None:
    assert passages_of("") == passages_of(" \n\u3000") == ()

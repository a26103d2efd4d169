"""Splitting text into passages: offsets, coverage and pages."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.ingest.documents.chunk import passages_of
from storage.ingest.limits import MAX_PASSAGE_CHARACTERS, MIN_PASSAGE_CHARACTERS

_WORDS = st.text(st.sampled_from("abcé 日#\n\t\r\x1c\u3000😀́.,-"), max_size=40)


SENTENCES = (
    "The pump was checked.",
    "Nobody had closed the valve behind it, so the tank ran over",
    "42 litres — lost;",
)
BREAKS = (" ", "\n", ". ", "\n\n", " ", "\n- ", "\n\n# Heading\n\n")


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
@given(paged_texts(), st.integers(MIN_PASSAGE_CHARACTERS, MAX_PASSAGE_CHARACTERS))
def test_passages_of_any_size_cover_the_text_within_their_bound(
    paged: tuple[str, list[int | None]], characters: int
) -> None:
    text, starts = paged
    passages = passages_of(text, starts, characters=characters)
    covered = "".join(text[passage.start : passage.end] for passage in passages)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(passage.end <= next_passage.start for passage, next_passage in pairwise(passages))
    assert all(passage.end - passage.start <= characters * 7 // 6 for passage in passages)


def test_the_usual_passages_are_those_that_earlier_versions_made() -> None:
    """The index of a bucket has these; others would make every document a changed one."""
    text = "".join(f"{SENTENCES[number % 3]}{BREAKS[number % 7]}" for number in range(400))
    bounds = [(passage.start, passage.end) for passage in passages_of(text)]

    assert (len(bounds), hashlib.sha256(repr(bounds).encode()).hexdigest()[:16]) == (29, "e89c153fd03d49c7")


@pytest.mark.parametrize(("characters", "most"), [(300, 350), (600, 700), (3000, 3500)])
def test_another_size_divides_at_the_same_kinds_of_boundaries(characters: int, most: int) -> None:
    text = "A sentence of some words. " * 400

    parts = [text[passage.start : passage.end] for passage in passages_of(text, characters=characters)]

    assert all(part.startswith("A sentence") and part.endswith(".") for part in parts)
    assert max(map(len, parts)) <= most
    assert min(map(len, parts[:-1])) >= characters * 5 // 6 - len("A sentence of some words. ")


@pytest.mark.parametrize("before", range(0, 1200, 150))
def test_a_block_of_code_that_fits_is_not_divided(before: int) -> None:
    lines = "\n\n".join(f"value_{number} = compute({number})" for number in range(30))
    block = f"```python\n{lines}\n```"
    text = f"{'word ' * (before // 5)}\n\n{block}\n\n{'Some more words. ' * 100}"

    parts = [text[passage.start : passage.end] for passage in passages_of(text)]

    assert len(block) < 1200
    assert sum(block in part for part in parts) == 1
    assert max(map(len, parts)) <= 1400


def test_a_block_of_code_that_does_not_fit_is_divided_and_fits_a_larger_passage() -> None:
    block = "```\n" + "\n\n".join(f"value_{number} = compute({number})" for number in range(60)) + "\n```"
    text = f"{'word ' * 100}\n\n{block}"

    assert not any(block in text[passage.start : passage.end] for passage in passages_of(text))
    assert any(block in text[passage.start : passage.end] for passage in passages_of(text, characters=2400))


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

"""Summaries of long documents; short documents have none."""

from hypothesis import given
from hypothesis import strategies as st

from storage.ingest.documents.summary import summary_of
from storage.search.documents import MAX_UNSUMMARISED_CHARS

_FILLER_SENTENCE = "It rained again on {}, and the people of {} stayed at home with {}.\n"
_SECTIONS = ["# Keeping bees", "## The hive", "## Harvest"]


def _build_handbook() -> str:
    days = "".join(_FILLER_SENTENCE.format(f"day {n}", f"village {n}", f"book {n}") for n in range(40))
    sections = [f"{heading}\n\nA hive of bees needs a dry place for the hive.\n{days}" for heading in _SECTIONS]
    return "\n".join(sections)


def test_a_long_text_is_summarized_by_its_headings_and_key_sentences() -> None:
    summary = summary_of(_build_handbook())

    assert summary.startswith("Keeping bees; The hive; Harvest\n")
    assert "A hive of bees needs a dry place for the hive." in summary.splitlines()
    assert len(summary) < 3_000


def test_a_short_text_has_no_summary() -> None:
    assert summary_of("# Bees\n\nThey need a dry place.") == ""


@given(st.text(max_size=40), st.sampled_from(["\n", ". ", " ", "\n# ", ".\n\n"]))
def test_any_long_text_has_a_summary_of_limited_length(piece: str, between: str) -> None:
    long_text = (piece + between) * (MAX_UNSUMMARISED_CHARS // (len(piece) + len(between)) + 2)

    assert 0 < len(summary_of(long_text)) < 6_000


def test_the_same_text_has_the_same_summary() -> None:
    assert summary_of(_build_handbook()) == summary_of(_build_handbook())

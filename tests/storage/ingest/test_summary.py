"""What a long document is summed up by, and that a short one needs nothing."""

from hypothesis import given
from hypothesis import strategies as st

from storage.ingest.summary import summary_of
from storage.search.documents import SPEAKS_FOR_ITSELF

_FILLING = "It rained again on {}, and the people of {} stayed at home with {}.\n"
_SECTIONS = ["# Keeping bees", "## The hive", "## Harvest"]


def _handbook() -> str:
    days = "".join(_FILLING.format(f"day {n}", f"village {n}", f"book {n}") for n in range(40))
    sections = [f"{heading}\n\nA hive of bees needs a dry place for the hive.\n{days}" for heading in _SECTIONS]
    return "\n".join(sections)


def test_a_long_text_is_summed_up_by_its_headings_and_telling_sentences() -> None:
    summary = summary_of(_handbook())

    assert summary.startswith("Keeping bees; The hive; Harvest\n")
    assert "A hive of bees needs a dry place for the hive." in summary.splitlines()
    assert len(summary) < 3_000


def test_a_short_text_speaks_for_itself() -> None:
    assert summary_of("# Bees\n\nThey need a dry place.") == ""


@given(st.text(max_size=40), st.sampled_from(["\n", ". ", " ", "\n# ", ".\n\n"]))
def test_any_long_text_has_a_summary_that_is_no_longer_than_a_few_pages(piece: str, between: str) -> None:
    text = (piece + between) * (SPEAKS_FOR_ITSELF // (len(piece) + len(between)) + 2)

    assert 0 < len(summary_of(text)) < 6_000


def test_the_same_text_has_the_same_summary() -> None:
    assert summary_of(_handbook()) == summary_of(_handbook())

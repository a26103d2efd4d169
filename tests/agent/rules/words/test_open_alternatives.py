"""Clauses that open a set. The words with a meaning are those in capitals."""

import pytest

from agent.rules.words.open_alternatives import blank_open_alternatives
from tests.agent.rules.words.test_small_talk import meaning_of_capitals


def remaining_text(text: str) -> str:
    return " ".join(blank_open_alternatives(text, meaning_of_capitals(text)).replace(",", " ").split())


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("KITES from Oslo, torn or not", "KITES from Oslo"),
        ("KITES from Oslo, whether or not they fly", "KITES from Oslo"),
        ("KITES from Oslo, the torn ones too", "KITES from Oslo"),
        ("how many KITES? Count the torn ones as well.", "how many KITES?"),
        ("KITES of 2020, small kites included", "KITES of 2020"),
        ("KITES we lent out, past and present", "KITES we lent out"),
        ("KITES insured or uninsured", "KITES"),
    ],
)
def test_clauses_that_make_no_difference_are_blanked(text: str, remaining: str) -> None:
    assert remaining_text(text) == remaining


@pytest.mark.parametrize(
    "text",
    [
        "are the KITES torn or not?",
        "torn or not torn KITES",
        "KITES from Oslo and the TORN ones",
        "KITES from Oslo, Bergen as well",
        "KITES that are OPEN or CLOSED",
        "the expired ones too",
    ],
)
def test_conditions_and_additions_stay(text: str) -> None:
    assert blank_open_alternatives(text, meaning_of_capitals(text)) == text

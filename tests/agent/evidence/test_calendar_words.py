"""Weekdays that a text names in full, shortened, in a range or as a group."""

import pytest

from agent.evidence.calendar_words import weekdays_in


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Tue to Thu 9-12", {"tuesday", "wednesday", "thursday"}),
        ("closed on Mondays", {"monday"}),
        ("Sat - Mon", {"saturday", "sunday", "monday"}),
        ("at weekends from eight", {"saturday", "sunday"}),
        ("her birthday and the sun", set[str]()),
    ],
)
def test_weekdays_in(text: str, days: set[str]) -> None:
    assert weekdays_in(text) == days

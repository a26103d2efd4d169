"""Weekdays that a text names in full, shortened, in a range or as a group, and the months that it names."""

import pytest

from agent.evidence.calendar_words import (
    first_month_in,
    holds_months_of,
    meeting_month_of,
    months_in,
    weekdays_in,
)


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


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("from April to June", {"april", "may", "june"}),
        ("November - January", {"november", "december", "january"}),
        ("goats may march in May", {"may"}),
        ("from door to door", set[str]()),
    ],
)
def test_months_in(text: str, months: set[str]) -> None:
    assert months_in(text) == months


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Regatta of 14.05.2031", True),
        ("from 7 to 25 May 2031", True),
        ("2031-05-02", True),
        ("Regatta of 22.01.2031", False),
        ("in May 2030", False),
    ],
)
def test_a_text_holds_the_month_of_a_question_however_it_is_written(text: str, holds: bool) -> None:
    assert holds_months_of("who won the regatta of May 2031?", "Regatta", text) is holds


def test_a_title_with_a_month_is_not_of_another_month_that_the_text_names() -> None:
    assert not holds_months_of("who won in May 2031?", "Regatta, 22.01.2031", "The next one is on 3 May 2031.")


def test_a_question_without_a_month_of_a_year_may_be_about_any_time() -> None:
    assert holds_months_of("who may enter in 2031?", "", "nobody")


@pytest.mark.parametrize(
    ("question", "month"),
    [
        ("what was decided about the ropes in the September bell meeting?", 9),
        ("who came to the meeting of 3 May?", 5),
        ("what was decided about the ropes in September?", None),
        ("may ringers use the meeting room?", None),
    ],
)
def test_a_meeting_is_named_by_its_month(question: str, month: int | None) -> None:
    assert meeting_month_of(question) == month


def test_minutes_are_of_the_month_that_they_begin_with() -> None:
    assert first_month_in("Minutes\nmoot_2031-06-16\nPut off to 15 September 2031.") == 6
    assert first_month_in("Ropes of the tower") is None


@pytest.mark.parametrize(
    ("text", "is_month"),
    [
        ("May ringers bring food?", False),
        ("I have a goat. May I come?", False),
        ("May is quiet.", True),
        ("in May", True),
    ],
)
def test_may_is_no_month_where_it_asks_for_leave(text: str, is_month: bool) -> None:
    assert ("may" in months_in(text)) is is_month

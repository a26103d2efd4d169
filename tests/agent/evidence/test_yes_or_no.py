"""Sentences that settle a yes-or-no question, and sentences that do not."""

import pytest

from agent.evidence.yes_or_no import is_yes_no_question, verdict_of
from storage.text.snowball_analyser import analyser_for

ENGLISH = analyser_for("en")


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Bells must not be rung after dusk.", "may I ring a bell after dusk?"),
        ("Candles have been forbidden since 2019.", "are candles allowed?"),
        ("Nobody sleeps in the archive.", "can a visitor sleep in the archive"),
        ("Borrowed atlases carry no stamp.", "do borrowed atlases have a stamp?"),
        ("Bells hung outside are not insured.", "a bell fell down in the gale. does the policy insure that?"),
        ("Goats may graze in the yard, not in the rose garden.", "may my goat graze in the rose garden?"),
    ],
)
def test_a_negated_sentence_says_no(sentence: str, question: str) -> None:
    assert verdict_of(sentence, question, ENGLISH) is False


def test_a_permission_says_yes_to_a_question_for_leave() -> None:
    assert verdict_of("Photographs are welcome in the nave.", "may I take photographs in the nave?", ENGLISH) is True


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Dogs may come in, but not upstairs.", "may dogs come in?"),
        ("Cameras are allowed only with a badge.", "are cameras allowed?"),
        ("The nave has two organs.", "is the nave heated?"),
        ("Photographs are welcome.", "are photographs not allowed?"),
        ("Goats may graze in the yard, not in the rose garden.", "may my goat graze in the yard?"),
        ("Bells cast before 1900 have no maker's mark.", "was the bell cast in 1900?"),
    ],
)
def test_a_restricted_or_plain_sentence_settles_nothing(sentence: str, question: str) -> None:
    assert verdict_of(sentence, question, ENGLISH) is None


@pytest.mark.parametrize("question", ["is it open", "I have a goat. May it graze here?", "am I allowed in"])
def test_a_message_whose_last_sentence_begins_with_a_verb_asks_for_yes_or_no(question: str) -> None:
    assert is_yes_no_question(question)

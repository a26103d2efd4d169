"""Sentences that settle a yes-or-no question, and sentences that do not."""

import pytest

from agent.evidence.yes_or_no import verdict_of


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Bells must not be rung after dusk.", "may I ring a bell after dusk?"),
        ("Candles have been forbidden since 2019.", "are candles allowed?"),
        ("Nobody sleeps in the archive.", "can a visitor sleep in the archive"),
        ("Borrowed atlases carry no stamp.", "do borrowed atlases have a stamp?"),
    ],
)
def test_a_negated_sentence_says_no(sentence: str, question: str) -> None:
    assert verdict_of(sentence, question) is False


def test_a_permission_says_yes_to_a_question_for_leave() -> None:
    assert verdict_of("Photographs are welcome in the nave.", "may I take photographs in the nave?") is True


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Dogs may come in, but not upstairs.", "may dogs come in?"),
        ("Cameras are allowed only with a badge.", "are cameras allowed?"),
        ("The nave has two organs.", "is the nave heated?"),
        ("Photographs are welcome.", "are photographs not allowed?"),
    ],
)
def test_a_restricted_or_plain_sentence_settles_nothing(sentence: str, question: str) -> None:
    assert verdict_of(sentence, question) is None

"""Amounts in a question on one side or the other of a limit that a rule states."""

import pytest

from agent.evidence.stated_limits import verdict_by_limit

_NOTE = "A letter is required only if you are away for longer than three days; hand it in at the gate."
_CARRIED = "Up to 5 unused days can be carried over."


@pytest.mark.parametrize(
    ("sentence", "claim", "expected"),
    [
        (_NOTE, "I am away for two days, do I need a letter?", False),
        (_NOTE, "I am away for three days, do I need a letter?", False),
        (_NOTE, "I am away for 4 days, do I need a letter?", True),
        (
            "Tours over £1,000 need a deposit, which may be paid when the tour begins.",
            "does a £900 tour need one?",
            False,
        ),
        (_CARRIED, "can I carry over 6 days?", False),
        (_CARRIED, "can I carry over five days?", True),
    ],
)
def test_an_amount_is_compared_with_the_limit(sentence: str, claim: str, expected: bool) -> None:
    assert verdict_by_limit(sentence, claim) is expected


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        (_NOTE, "I am away for two weeks, do I need a letter?"),
        (_NOTE, "may I be away for two days?"),
        (_NOTE, "do I need a letter?"),
        (_CARRIED, "do I have to carry over 5 days?"),
        ("Up to 5 days can be carried over; not for apprentices.", "can I carry over 4 days?"),
        ("For more than two weeks in one go please ask eight weeks ahead.", "can I take three weeks?"),
        ("You may be abroad for up to 20 working days.", "may I be abroad for 25 days?"),
        ("You need no letter if you are away for more than 2 days.", "do I need a letter for three days?"),
    ],
)
def test_other_sentences_leave_it_open(sentence: str, claim: str) -> None:
    assert verdict_by_limit(sentence, claim) is None

"""Amounts in a question on one side or the other of a limit that a rule states."""

import pytest

from agent.evidence.stated_limits import is_of_other_range, verdict_by_limit

_NOTE = "A letter is required only if you are away for longer than three days; hand it in at the gate."
_GALE = "Work on the tower stops when the wind exceeds 23 miles per hour."
_FERRY = "The ferry does not leave the quay when the wind exceeds 50 miles per hour."
_FROM_DAY = "A letter is needed from the eighth day."
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
        (_GALE, "there's a 27 mph wind, can we carry on up there?", False),
        (_GALE, "may we work up there at 15 mph?", True),
        (_FERRY, "can the ferry go out at 60 mph?", False),
        (_FERRY, "can the ferry go out in a 40mph wind?", True),
        (_FROM_DAY, "I was away for nine days, do I need a letter?", True),
        (_FROM_DAY, "do I need a letter for six days?", False),
        (_FROM_DAY, "do I need a letter for 8 days?", True),
        ("The hoist carries no more than 2.5 tonnes.", "can the hoist carry 3 tonnes?", False),
        ("The hoist carries no more than 2.5 tonnes.", "can the hoist carry two tonnes?", True),
        ("Painting stops when it falls below 12 degrees.", "it's 9°C, can we paint?", False),
        ("Above £2,000 the wardens must decide.", "do the wardens have to decide on £3k?", True),
        ("A written offer is needed from £200.", "do I need a written offer for £150?", False),
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
        (_GALE, "may we paint the tower?"),
        (_FROM_DAY, "do I need a letter for two weeks?"),
        ("The pool is not closed when it falls below 12 degrees.", "can we swim at 9 degrees?"),
        ("Apprentices under 18 do not use the hoist.", "may an apprentice of 17 use the hoist?"),
    ],
)
def test_other_sentences_leave_it_open(sentence: str, claim: str) -> None:
    assert verdict_by_limit(sentence, claim) is None


@pytest.mark.parametrize(
    ("sentence", "question", "is_other"),
    [
        ("Orders up to £1,000 are placed by the verger.", "who places an order of £5,000?", True),
        ("Orders up to £1,000 are placed by the verger.", "who places an order of £500?", False),
        ("From £1,000 to £10,000 two offers are needed.", "what is needed for a 12k order?", True),
        ("From £1,000 to £10,000 two offers are needed.", "what is needed for an order of £5,000?", False),
        ("Above £10,000 we need three.", "what is needed for an order of £5,000?", True),
        ("Above £10,000 we need three.", "what is needed for a 12k order?", False),
        ("Above £10,000 we need three.", "what is needed for twelve ringers?", False),
        ("The charge for a visit is up to £18.", "what is paid for a visit of £20?", False),
        ("Up to 5 days may be carried over.", "what is needed for £20?", False),
    ],
)
def test_an_amount_outside_of_a_range_is_of_another_case(sentence: str, question: str, is_other: bool) -> None:
    assert is_of_other_range(sentence, question) is is_other

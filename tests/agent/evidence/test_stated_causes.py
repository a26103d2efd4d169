"""Questions for a cause, and the sentences that tell one."""

import pytest

from agent.evidence.stated_causes import asks_for_cause, explains_event, tells_own_cause


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("why did the bell crack?", True),
        ("what made the verger fall?", True),
        ("What caused the flood in the crypt", True),
        ("what was the main reason for the delay", True),
        ("how come the organ is out of tune", True),
        ("what is the bell made of?", False),
        ("what made of oak is in the nave?", False),
        ("who caused the flood?", False),
    ],
)
def test_a_cause_is_asked_for_in_words(question: str, asks: bool) -> None:
    assert asks_for_cause(question) is asks


@pytest.mark.parametrize(
    ("text", "explains"),
    [
        ("A mouse had got into the bellows.", True),
        ("The reason was a worn strap.", True),
        ("Most of it is due to the frost.", True),
        ("This happened because nobody was told.", True),
        ("He was driven home, since the bus was late.", False),
        ("He had two lamps with him.", False),
        ("You asked why the fee has risen.", False),
        ("You asked what the reason was.", False),
    ],
)
def test_a_sentence_explains_what_is_told_before_it(text: str, explains: bool) -> None:
    assert explains_event(text) is explains


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("The bell cracked because the frost was hard.", True),
        ("Do not salt the steps, for it eats the stone.", True),
        ("The crypt is shut since 4 May.", False),
        ("The crypt is shut since last summer.", False),
        ("You asked why it is shut, because you are curious.", False),
        ("The bell cracked at noon.", False),
    ],
)
def test_a_sentence_tells_its_own_cause(text: str, tells: bool) -> None:
    assert tells_own_cause(text) is tells

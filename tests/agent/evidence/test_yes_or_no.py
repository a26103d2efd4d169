"""Sentences that settle a yes-or-no question, and sentences that do not."""

import pytest

from agent.evidence.yes_or_no import claim_of, forbids_all, is_yes_no_question, split_case, verdict_of
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
        ("Sunday ringing is not offered, not even for weddings.", "do you ring on Sundays?"),
        ("We ring Monday to Friday only.", "do we ring on Sundays?"),
        ("Fires only in the stone yard, from May to July.", "may I make a fire in the stone yard in November?"),
        ("Goats are excluded from the nave, the crypt and the tower.", "may a goat come into the nave?"),
        ("Water is welcome; food is not.", "may ringers take food into the nave?"),
        ("Do not tie private ropes to the bells.", "can I tie my own rope into a bell?"),
        ("A letter is needed only if you are ill for more than three days.", "I was ill two days, do I need a letter?"),
        ("Rung bells cannot be handed back.", "he rang a bell and wants to hand it back because it is dull, can he?"),
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
        ("We do not pay for ringing that is not done.", "can I leave some ringing to my son?"),
        ("Those who cannot come may take leave or ring at home.", "can I save my leave?"),
    ],
)
def test_a_restricted_or_plain_sentence_settles_nothing(sentence: str, question: str) -> None:
    assert verdict_of(sentence, question, ENGLISH) is None


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Fires only in the stone yard, from May to July.", "may I make a fire in the stone yard in June?"),
        ("Fires only in the stone yard.", "are fires allowed in the stone yard?"),
        ("We ring Monday to Friday only.", "do we ring on Tuesdays?"),
    ],
)
def test_the_only_case_that_a_rule_permits_is_a_yes(sentence: str, question: str) -> None:
    assert verdict_of(sentence, question, ENGLISH) is True


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (
            "Fires only in the stone yard of the tower, from May to July.",
            "may I make a fire in the stone yard in November?",
        ),
        ("Fires only in the stone yard.", "are fires allowed in the orchard?"),
        ("Fires only in the stone yard.", "are fires allowed?"),
        ("Small bells we ring Monday to Friday only.", "do we ring on Sundays?"),
        ("Bells are not rung on Fridays.", "do we ring bells on Sundays?"),
        ("Bells above 300 kg are not rung.", "are bells above 900 kg rung?"),
        ("Opened boxes cannot be handed back.", "can I hand back an unopened box?"),
        ("Borrowed spades are not offered.", "are there spades on Sundays?"),
    ],
)
def test_a_rule_for_another_day_number_place_or_thing_settles_nothing(sentence: str, question: str) -> None:
    assert verdict_of(sentence, question, ENGLISH) is None


def test_the_case_before_the_asking_clause_is_not_the_claim() -> None:
    assert split_case("I was ill for two days, do I need a letter?") == ("do I need a letter", "I was ill for two days")


def test_the_case_in_which_somebody_asks_is_not_the_claim() -> None:
    claim, case = split_case("may a goat come in as long as it is on a lead?")

    assert claim.split() == "may a goat come in ?".split()
    assert case == "it is on a lead"


def test_a_reason_and_a_tag_are_not_the_claim() -> None:
    assert claim_of("he wants to hand it back because it is dull, can he?") == "he wants to hand it back?"


@pytest.mark.parametrize(
    "question",
    [
        "is it open",
        "they want it back, can they?",
        "I have a goat. May it graze here?",
        "am I allowed in",
        "I was ill for two days, do I need a letter?",
    ],
)
def test_a_message_whose_last_sentence_begins_with_a_verb_asks_for_yes_or_no(question: str) -> None:
    assert is_yes_no_question(question)


@pytest.mark.parametrize(
    "question", ["who, do you think, rings the bell?", "when I am ill, who do I ring, do you know?"]
)
def test_a_question_word_asks_for_more_than_yes_or_no(question: str) -> None:
    assert not is_yes_no_question(question)


@pytest.mark.parametrize(
    ("sentence", "question", "expected"),
    [
        ("Private rides are not allowed.", "may I take the cart for a private ride?", True),
        ("Rides are not allowed in the yard.", "may I ride the cart?", False),
        ("Rides are welcome.", "may I ride the cart?", False),
    ],
)
def test_a_ban_names_nothing_that_the_question_does_not(sentence: str, question: str, expected: bool) -> None:
    assert forbids_all(sentence, question, ENGLISH) is expected


def test_what_is_said_of_somebody_is_no_ban() -> None:
    assert not forbids_all("He is suspended, not dismissed.", "is the verger dismissed?", ENGLISH)

"""Matching replies against gold answers."""

import pytest

from bot.eval.answer_matching import (
    find_days,
    is_short_answer,
    parse_yes_or_no,
    remove_titles,
    split_words,
    states_answer,
)


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        (22.25, "The total is **22.25 MYR** [1]"),
        (1042, "They are 1,042."),
        (1234.5, "1.234,5 EUR"),
        (-35.6, "melts at −35.6 °C"),
        ("2018-01-12", "It is dated January 12, 2018."),
        ("2018-01-12", "the 12th day of January, 2018"),
        ("2018-01-12", "on 12/01/2018"),
        ("31/01/2025", "It ends on 2025-01-31."),
        ("30 days", "upon thirty (30) days notice"),
        ("successive 1 year", "renews for periods of twelve (12) months"),
        ("Yes", "Yes, it does: “audit” [1]"),
        ("No", "No. Nothing says so."),
        ("TO-18", "Its package is TO-18."),
        ("MSCI Inc.", "between Morgan Stanley and MSCI"),
        (["MSCI Inc", "Morgan Stanley & Co."], "Morgan Stanley & Co. and MSCI, Inc."),
        ("19", "There are 19 of them."),
        (True, "Yes, it is."),
        ("Café Olé", "paid at CAFE OLE"),
    ],
)
def test_a_gold_answer_is_found_in_any_notation(gold: object, text: str) -> None:
    assert states_answer(gold, text)


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        (22.25, "The total is 122.25 MYR"),
        (1, "It says so. [1]"),
        (7, "The 7N2 is one."),
        ("2018-01-12", "dated January 13, 2018"),
        ("30 days", "upon sixty (60) days notice"),
        ("1 year", "1 month"),
        ("Yes", "No, it does not, though yes was expected."),
        ("Yes", "It is an agreement."),
        ("TO-18", "Its package is TO-180."),
        (["MSCI Inc", "Morgan Stanley & Co."], "MSCI Inc alone"),
        ([], "anything"),
        ("", "anything"),
        (None, "None"),
    ],
)
def test_a_text_without_the_gold_answer_does_not_match(gold: object, text: str) -> None:
    assert not states_answer(gold, text)


@pytest.mark.parametrize(("text", "is_stated"), [("0.8 W", True), ("800 mW", True), ("0.8", True), ("0.8 V", False)])
def test_a_quantity_may_have_another_unit_of_the_same_dimension(text: str, is_stated: bool) -> None:
    assert states_answer(0.8, f"It is {text}.", "W") is is_stated


def test_yes_and_no_count_as_first_word_or_in_bold() -> None:
    assert parse_yes_or_no("**No**, yes is wrong") is False
    assert parse_yes_or_no("Sealed: **yes** [1]") is True
    assert parse_yes_or_no("It lives at Pole No. 3, yes.") is None


def test_a_title_is_no_answer() -> None:
    assert (
        remove_titles(["Slip_1 2024-03-05"], "Date of Slip\\_1 2024-03-05: **2024-03-06**")
        == "Date of  : **2024-03-06**"
    )


def test_an_ambiguous_numeric_day_has_two_readings() -> None:
    assert find_days("03/04/2031") == {"2031-04-03", "2031-03-04"}


def test_prose_cannot_be_compared() -> None:
    assert is_short_answer("128 GB (FAT16 or FAT32)")
    assert not is_short_answer("The device has to be charged for two hours before it is used")


def test_letters_and_digits_are_separate_words() -> None:
    assert split_words("up to 128GB, Brisa – Concessão") == ["up", "to", "128", "gb", "brisa", "concessao"]

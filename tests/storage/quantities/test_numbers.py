"""Numbers in digits and in words."""

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.quantities.numbers import detect_decimal_comma, parse_number
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, SPELLED_NUMBER_PATTERN, parse_spelled_number


@pytest.mark.parametrize(
    ("text", "decimal_comma", "number"),
    [
        ("1,234", None, "1234"),
        ("1,234", True, "1.234"),
        ("1.234,5", None, "1234.5"),
        ("1.234", True, "1234"),
        ("1.234.567", None, "1234567"),
        ("12,5", True, "12.5"),
        ("0,125", None, "0.125"),
        ("1 234.50", None, "1234.50"),
        ("1 234,567", None, "1234.567"),
        ("1'000", None, "1000"),
        ("1’234.50", None, "1234.50"),
        ("12,34,567.5", None, "1234567.5"),
        ("−5", None, "-5"),
        ("1e-3", None, "0.001"),
        (".5", None, "0.5"),
        ("0.10", True, "0.10"),
    ],
)
def test_a_number_is_read_as_its_field_writes_numbers(text: str, decimal_comma: bool | None, number: str) -> None:
    assert parse_number(text, decimal_comma=decimal_comma) == Decimal(number)


@pytest.mark.parametrize("text", ["", "5-3", "1,23,45", "B-120", "12 V", "1.2.3", "²", "--5", "1e9999", "1,2,3"])
def test_a_string_that_is_no_number_gives_none(text: str) -> None:
    assert parse_number(text) is None


def test_a_comma_is_no_decimal_mark_where_the_field_has_points() -> None:
    assert parse_number("12,5", decimal_comma=False) is None
    assert detect_decimal_comma("12,5") is True
    assert detect_decimal_comma("12.5") is False
    assert detect_decimal_comma("1,234") is None


@settings(deadline=None)
@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2))
def test_a_number_is_read_back_however_it_is_grouped(number: Decimal) -> None:
    english = f"{number:,}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert parse_number(english, decimal_comma=False) == number
    assert parse_number(german, decimal_comma=True) == number


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("thirty", "30"),
        ("sixty-five", "65"),
        ("Twenty One", "21"),
        ("one hundred and twenty", "120"),
        ("a hundred", "100"),
        ("two million three hundred thousand and five", "2300005"),
        ("half a", "0.5"),
        ("half a million", "500000"),
        ("zero", "0"),
    ],
)
def test_a_number_in_words_is_read(words: str, number: str) -> None:
    assert parse_spelled_number(words) == Decimal(number)


@pytest.mark.parametrize(
    "words", ["", "a", "and", "hundred", "thirty sixty", "one one three", "million two", "seven V"]
)
def test_number_words_in_an_impossible_order_give_none(words: str) -> None:
    assert parse_spelled_number(words) is None


@given(st.integers(min_value=0, max_value=999_999_999))
def test_a_number_that_is_spelled_is_read_back(number: int) -> None:
    words = spell(number)
    assert parse_spelled_number(words) == number
    assert re.fullmatch(SPELLED_NUMBER_PATTERN, words)


@given(st.text(max_size=80))
def test_any_text_may_be_read_as_a_spelled_number(text: str) -> None:
    number = parse_spelled_number(text)
    assert number is None or number >= 0


def spell(number: int) -> str:
    """English words of a number below a billion."""
    for scale, word in ((10**6, "million"), (10**3, "thousand"), (100, "hundred")):
        if number >= scale:
            rest = f" {spell(number % scale)}" if number % scale else ""
            return f"{spell(number // scale)} {word}{rest}"
    words = {value: word for word, value in NUMBERS_BY_WORD.items()}
    return words[number] if number in words else f"{words[number // 10 * 10]}-{words[number % 10]}"

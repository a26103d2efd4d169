"""Amounts of money and the signs, codes and names of currencies."""

from decimal import Decimal

import pytest

from storage.quantities.money import MoneyAmount, currency_of_name, currency_of_sign, find_amounts, parse_money


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("$12", "12", "USD"),
        ("12.50 EUR", "12.50", "EUR"),
        ("-€ 1.234,50", "-1234.50", "EUR"),
        ("usd 5", "5", "USD"),
        ("US$ 1,000", "1000", "USD"),
        ("1.234 EUR", "1234", "EUR"),
        ("1.234 KWD", "1.234", "KWD"),
        ("Rp. 12.000", "12000", "IDR"),
        ("₫50000", "50000", "VND"),
        ("12 zł", "12", "PLN"),
        ("20 dollars", "20", "USD"),
        ("5 Swiss francs", "5", "CHF"),
    ],
)
def test_an_amount_is_read_with_its_currency(text: str, amount: str, currency: str) -> None:
    assert parse_money(text) == MoneyAmount(Decimal(amount), currency)


@pytest.mark.parametrize("text", ["12", "12 V", "EUR", "$12 USD", "12 apples", "5 pounds"])
def test_an_amount_without_one_clear_currency_gives_none(text: str) -> None:
    assert parse_money(text) is None


def test_a_point_before_three_digits_has_decimals_where_the_field_writes_them() -> None:
    assert parse_money("1.459 EUR", decimal_comma=False) == MoneyAmount(Decimal("1.459"), "EUR")


@pytest.mark.parametrize(
    ("sign", "currency"), [("฿", "THB"), ("₽", "RUB"), ("rm", "MYR"), ("Rp.", "IDR"), ("HK$", "HKD")]
)
def test_a_sign_stands_for_a_currency(sign: str, currency: str) -> None:
    assert currency_of_sign(sign) == currency


@pytest.mark.parametrize(
    ("name", "currency"),
    [
        ("dollars", "USD"),
        ("Canadian  dollar", "CAD"),
        ("pounds", "GBP"),
        ("ringgit", "MYR"),
        ("baht", "THB"),
        ("THB", "THB"),
    ],
)
def test_a_name_stands_for_a_currency(name: str, currency: str) -> None:
    assert currency_of_name(name) == currency


@pytest.mark.parametrize("word", ["real", "mark", "all", "top", "gold"])
def test_a_word_with_another_meaning_is_no_currency(word: str) -> None:
    assert currency_of_name(word) is None


@pytest.mark.parametrize(
    ("text", "decimal_mark", "numbers"),
    [
        ("Total 1,234.50 and 22.000", "", ["1234.50", "22000"]),
        ("Total 1.459", ".", ["1.459"]),
        ("Total 14,500,00", "", ["14500.00"]),
        ("5% of 12", "", ["12"]),
        ("Rs 1,20,000.00", "", ["120000.00"]),
    ],
)
def test_amounts_of_a_slip_are_found(text: str, decimal_mark: str, numbers: list[str]) -> None:
    assert [span.number for span in find_amounts(text, 0, len(text), decimal_mark)] == [Decimal(n) for n in numbers]

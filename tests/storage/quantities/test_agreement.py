"""Questions and documents read the same value, in whatever supported way and language it is written."""

from datetime import date
from decimal import Decimal

from babel.dates import format_date
from babel.numbers import format_currency, format_decimal
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from agent.rules.literals.recognition import find_literals
from storage.ingest.extract.document_text import fold_characters
from storage.quantities.days import find_dates, parse_date
from storage.quantities.durations import find_durations
from storage.quantities.languages import LANGUAGES
from storage.quantities.measures import find_measures, find_spelled_measures
from storage.quantities.money import CURRENCIES_BY_SIGN, find_amounts, parse_money
from storage.quantities.numbers import parse_number
from storage.quantities.periods import find_periods
from storage.quantities.units import UNITS_BY_SPELLING, convert_unit, find_quantities, parse_quantity

TODAY = date(2026, 11, 21)
DAYS = st.dates(min_value=date(1950, 1, 1), max_value=date(2099, 12, 31))
AMOUNTS = st.decimals(min_value=Decimal("0.01"), max_value=10**7, places=2)
LOCALES = st.sampled_from(LANGUAGES)
UNIT_SYMBOLS = [unit for unit in UNITS_BY_SPELLING if unit.isascii() and unit.isalpha() and unit not in ("in", "m")]


def read_question(text: str) -> QuestionLiteral:
    (literal,) = find_literals(f"Which one has {text}?", TODAY)
    return literal


@settings(deadline=None)
@given(DAYS, LOCALES, st.sampled_from(["full", "long"]))
def test_a_day_with_the_name_of_its_month_is_read_alike(day: date, locale: str, style: str) -> None:
    text = format_date(day, style, locale=locale)

    literal = read_question(text)
    assert isinstance(literal, DateLiteral)
    assert (literal.first_day, literal.last_day) == (day, day)
    assert parse_date(text) == day
    assert [span.day for span in find_dates(fold_characters(f"signed on {text}, by both"))] == [day]


@settings(deadline=None)
@given(DAYS.filter(lambda day: day.day > 12 or day.day == day.month), st.sampled_from(["-", "/", "."]), st.booleans())
def test_a_day_in_digits_is_read_alike_where_it_is_unambiguous(day: date, mark: str, is_year_first: bool) -> None:
    numbers = (f"{day.day:02}", f"{day.month:02}", str(day.year))
    text = mark.join(reversed(numbers) if is_year_first else numbers)

    assert parse_date(text) == day
    assert [span.day for span in find_dates(text)] == [day]
    if not (is_year_first and mark == "."):  # in a question, 2031.05.09 may be a number of something
        literal = read_question(text)
        assert isinstance(literal, DateLiteral)
        assert literal.first_day == day


@settings(deadline=None)
@given(AMOUNTS, LOCALES, st.sampled_from(["EUR", "USD", "GBP", "INR", "KRW", "MXN", "VND"]))
def test_an_amount_is_read_alike(amount: Decimal, locale: str, currency: str) -> None:
    text = format_currency(amount, currency, locale=locale)
    money = parse_money(text)

    assert money is not None
    assert money.currency == currency
    literal = read_question(text)
    assert isinstance(literal, QuantityLiteral)
    assert (literal.low, literal.currency) == (money.amount, currency)
    document = f"Total {text}\n"
    assert [span.number for span in find_amounts(document, 0, len(document))] == [money.amount]


@settings(deadline=None)
@given(AMOUNTS, st.sampled_from(sorted(CURRENCIES_BY_SIGN)))
def test_a_sign_before_an_amount_is_read_alike(amount: Decimal, sign: str) -> None:
    text = f"{sign}{amount}"
    money = parse_money(text)

    literal = read_question(text)
    assert money is not None
    assert isinstance(literal, QuantityLiteral)
    assert (literal.low, literal.currency) == (amount, CURRENCIES_BY_SIGN[sign]) == (money.amount, money.currency)


@settings(deadline=None)
@given(AMOUNTS, LOCALES)
def test_a_number_is_read_alike(number: Decimal, locale: str) -> None:
    text = format_decimal(number, locale=locale, format="#,##0.00")

    literal = read_question(text)
    assert isinstance(literal, QuantityLiteral)
    assert literal.low == number == parse_number(text)


@settings(deadline=None)
@given(st.decimals(min_value=0, max_value=10**6, places=1), st.sampled_from(UNIT_SYMBOLS))
def test_a_quantity_is_read_alike(number: Decimal, unit: str) -> None:
    text = f"{number} {unit}"
    quantity = parse_quantity(text)
    (span,) = find_quantities(text, 0, len(text))

    assert quantity is not None
    assert (span.number, span.unit) == (quantity.number, quantity.unit)
    literal = read_question(text)
    assert isinstance(literal, QuantityLiteral)
    assert literal.low == number
    if literal.unit:  # `5 pounds` of a question is money until a field of weights takes it
        assert convert_unit(Decimal(1), literal.unit, quantity.unit) is not None


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_may_be_read(text: str) -> None:
    for decimal_comma in (None, True, False):
        parse_number(text, decimal_comma=decimal_comma)
        parse_money(text, decimal_comma=decimal_comma)
        parse_quantity(text, decimal_comma=decimal_comma)
        parse_date(text, day_first=decimal_comma)
    folded = fold_characters(text)
    spans = [
        *find_measures(text), *find_spelled_measures(text), *find_periods(text), *find_amounts(text, 0, len(text)),
        *find_quantities(text, 0, len(text)), *find_dates(folded), *find_durations(folded),
    ]  # fmt: skip
    assert all(0 <= span.start < span.end <= len(text) for span in spans)

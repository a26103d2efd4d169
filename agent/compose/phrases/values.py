"""Formats values, numbers, amounts and periods in the language of the reply. Raw text, not escaped."""

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Final

from agent.translation.local_formats import localize_day, localize_money, localize_month, localize_number
from agent.translation.message_catalogues import translate_in_context, translate_message, translate_plural
from storage.search.documents import FieldValue
from storage.search.numbers import minor_digits_of, to_json_number
from storage.search.schema import FieldType, SchemaField

_WRITTEN_DIGITS: Final = 7  # that people may have written themselves
_READABLE_DIGITS: Final = 5
_MIN_DECIMALS: Final = 2
_LARGE_AVERAGE: Final = 1000
_SHORT_UNITS = {"degC": "°C", "degF": "°F", "percent": "%"}


def format_value(value: FieldValue, field: SchemaField | None) -> str:
    """Formats a value with its unit. Joins the members of a list; counts rows."""
    if isinstance(value, bool):
        return translate_message("yes") if value else translate_message("no")
    if isinstance(value, tuple):
        plain_items = [item for item in value if isinstance(item, str)]
        if len(plain_items) == len(value):
            return ", ".join(plain_items)
        return translate_plural("{count} rows", "{count} rows", len(value), count=len(value))
    if isinstance(value, str):
        return localize_day(value) if field is not None and field.type is FieldType.DATE else value
    unit = field.unit if field is not None else ""
    if field is not None and field.type is FieldType.MONEY:
        return format_money(value, field.currency or None)
    if not unit:
        return _format_plain_number(value)
    return f"{format_number(value)} {format_unit(unit, value)}".strip()


def format_verdict(*, holds: bool | None) -> str:
    """The answer to a question of yes or no, for the beginning of a sentence. None: the values do not tell."""
    if holds is None:
        return translate_message("Unknown")
    return translate_message("Yes") if holds else translate_message("No")


def _format_plain_number(value: float) -> str:
    """Formats the number without thousands separators, since a whole number without a unit may be a year."""
    return localize_number(f"{_digits_of(value):f}")


def _digits_of(value: float) -> Decimal:
    """Returns what is shown of the number, to be written in digits alone: people read no exponents."""
    shown = to_json_number(round_for_reading(value))
    return Decimal(shown) if isinstance(shown, int) else Decimal(f"{shown:.12g}")


def format_unit(unit: str, value: float) -> str:
    """Formats the unit as written after `value`: "m²", "days"."""
    number = 1 if value == 1 else 2
    match unit:
        case "day":
            return translate_plural("day", "days", number)
        case "hour":
            return translate_plural("hour", "hours", number)
        case "week":
            return translate_plural("week", "weeks", number)
        case "month":
            return translate_plural("month", "months", number)
        case "year":
            return translate_plural("year", "years", number)
        case "hectare":
            return translate_plural("hectare", "hectares", number)
        case "acre":
            return translate_plural("acre", "acres", number)
        case "mile":
            return translate_plural("mile", "miles", number)
        case "minute":
            return translate_plural("minute", "minutes", number)
        case "second":
            return translate_plural("second", "seconds", number)
        case _:
            return _SHORT_UNITS.get(unit, unit.replace("**2", "²").replace("**3", "³"))


def round_for_reading(value: float) -> float:
    """Rounds a number with more digits than people write: 18.15696389, which a conversion made, to 18.157.

    Numbers of at most seven digits, and whole numbers, stay as they are.
    """
    if value == int(value) or float(f"{value:.{_WRITTEN_DIGITS}g}") == value:
        return value
    whole_digits = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    if not whole_digits:
        return float(f"{value:.{_READABLE_DIGITS}g}")
    return round(value, max(_MIN_DECIMALS, _READABLE_DIGITS - whole_digits))


def round_average(value: float) -> float:
    """Rounds a number that a division gave: 1,234.6, 18.16, 0.182."""
    if abs(value) < 1:
        return float(f"{value:.3g}")
    return round(value, 1 if abs(value) >= _LARGE_AVERAGE else 2)


def format_number(value: float) -> str:
    """Formats the number with thousands separators."""
    return localize_number(f"{_digits_of(value):,f}")


def format_money(value: float, currency: str | None) -> str:
    """Formats the amount with the currency's minor digits: `USD 1,042.50`, in German `1.042,50 $`."""
    amount = _format_plain_amount(value, currency)
    return localize_money(amount, currency) if currency else localize_number(amount)


def format_amount_of_money(value: float, currency: str | None) -> str:
    """Formats the amount without the currency."""
    return localize_number(_format_plain_amount(value, currency))


def _format_plain_amount(value: float, currency: str | None) -> str:
    return f"{value:,.{minor_digits_of(currency)}f}"


class PeriodKind(StrEnum):
    """What two days span exactly."""

    YEAR = "year"
    YEARS = "years"
    QUARTER = "quarter"
    MONTH = "month"
    DAY = "day"
    DAYS = "days"


def kind_of_period(first: str, last: str) -> PeriodKind:
    """Takes two ISO days."""
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    if first[5:] == "01-01" and last[5:] == "12-31":
        return PeriodKind.YEAR if start.year == end.year else PeriodKind.YEARS
    if start.day == 1 and (end.toordinal() + 1 == _next_month_ordinal(end)):
        if (start.year, start.month) == (end.year, end.month):
            return PeriodKind.MONTH
        if start.year == end.year and start.month % 3 == 1 and end.month == start.month + 2:
            return PeriodKind.QUARTER
    return PeriodKind.DAY if first == last else PeriodKind.DAYS


def format_period(first: str, last: str) -> str:
    """Formats two ISO days as a period: as years, a quarter or a month if they span exactly that, else as two days."""
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    match kind_of_period(first, last):
        case PeriodKind.YEAR:
            return first[:4]
        case PeriodKind.YEARS:
            return translate_message("{first} to {last}", first=start.year, last=end.year)
        case PeriodKind.QUARTER:
            return translate_message("Q{number} {year}", number=(start.month + 2) // 3, year=start.year)
        case PeriodKind.MONTH:
            return localize_month(start)
        case PeriodKind.DAY:
            return localize_day(first)
        case PeriodKind.DAYS:
            return translate_message("{first} to {last}", first=localize_day(first), last=localize_day(last))


def describe_within_period(label: str, first: str, last: str) -> str:
    """Says that the field lies in the period: "date in May 2031"."""
    period = format_period(first, last)
    match kind_of_period(first, last):
        case PeriodKind.YEAR:
            return translate_in_context("year", "{label} in {period}", label=label, period=period)
        case PeriodKind.YEARS:
            return translate_in_context("years", "{label} in {period}", label=label, period=period)
        case PeriodKind.QUARTER:
            return translate_in_context("quarter", "{label} in {period}", label=label, period=period)
        case PeriodKind.MONTH:
            return translate_in_context("month", "{label} in {period}", label=label, period=period)
        case PeriodKind.DAY:
            return translate_in_context("day", "{label} in {period}", label=label, period=period)
        case PeriodKind.DAYS:
            days = {"first": localize_day(first), "last": localize_day(last)}
            return translate_message("{label} in {first} to {last}", label=label, **days)


def _next_month_ordinal(day: date) -> int:
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    return date(year, month, 1).toordinal() if year <= 9999 else 0

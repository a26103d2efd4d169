"""Names of months and weekdays in English, and days counted in months."""

import calendar
from datetime import date

from storage.quantities.days import ENGLISH_MONTHS

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = tuple(month.casefold() for month in ENGLISH_MONTHS)


def month_bounds(year: int, month: int) -> tuple[date, date]:
    """The first and the last day of a month."""
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def shift_months(day: date, months: int) -> date:
    """The same day `months` later, or the last day of a shorter month. Raises `ValueError` beyond the calendar."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))

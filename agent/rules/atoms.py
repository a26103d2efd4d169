"""What a number or a day in a question is, before it has a field."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TypeAlias

from storage.search.conditions import Op


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number (or a range) at `question[start:end]`, comparator included. `bare`: none was said."""

    start: int
    end: int
    op: Op
    low: Decimal
    high: Decimal | None = None  # of `between`
    unit: str = ""  # as written; empty for none
    currency: str = ""  # ISO 4217; empty for none
    bare: bool = False
    number_start: int = 0  # where the number itself begins
    unit_start: int = 0  # where the unit begins; a word that proves to be none is left to others
    apart: tuple[int, int] | None = None  # where the comparator stands, when the field's name stands between


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """A day or period at `question[start:end]`: the first and the last day, and how the question compares with it."""

    start: int
    end: int
    op: Op  # EQ for within the period, else before its first, after its last, …
    first: date
    last: date
    year_only: bool = False  # it was written as bare years, and may be a number as well
    yearless: bool = False  # it was written without a year; a range takes it from its end
    number_start: int = 0


Literal: TypeAlias = Quantity | Days

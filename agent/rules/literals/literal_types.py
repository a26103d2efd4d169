"""The literals of a question: a number or a date that is not yet assigned to a field."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TypeAlias

from storage.search.conditions import ComparisonOperator


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantityLiteral:
    """A number or range at `question[start:end]`, with its comparator. `is_bare`: it has no comparator."""

    start: int
    end: int
    op: ComparisonOperator
    low: Decimal
    high: Decimal | None = None  # of `between`
    unit: str = ""  # as written; empty for none
    currency: str = ""  # ISO 4217; empty for none
    weight_unit: str = ""  # of "20 pounds", which `currency` takes for money
    is_bare: bool = False
    number_start: int = 0  # where the number itself begins
    unit_start: int = 0  # where the unit begins; a word that is not a known unit may be linked otherwise
    comparator_span: tuple[int, int] | None = None  # of a comparator before the field's name
    tail_start: int | None = None  # of a comparator after the number: "30 seats *tops*"
    is_age: bool = False  # "older than 3 years": how long ago something began
    is_overdue: bool = False  # "30 days overdue": how long ago something had to be done
    is_ordinal: bool = False  # "3rd": compares a field only right before its name
    is_approximate: bool = False  # "around 50": `low` and `high` are 10 % apart from the number written
    is_rate: bool = False  # "1,500 a month": money for each period
    is_ongoing: bool = False  # "for more than 3 years": what began so long ago, unless a duration fits
    scale: int = 1  # of "60 thousand", which `low` includes
    may_be_year: bool = False  # "over 2000", "up to 2020": a number, or a year
    is_article: bool = False  # "more than one kiln" counts nothing unless a field is named
    is_spelled: bool = False  # a number in words; without a unit or comparator it is none


@dataclass(frozen=True, slots=True, kw_only=True)
class DateLiteral:
    """A day or period at `question[start:end]`: its first day, its last day and its comparator."""

    start: int
    end: int
    op: ComparisonOperator  # EQ: within the period; otherwise before its first day, after its last day, …
    first_day: date
    last_day: date
    is_year_only: bool = False  # a bare year, which may also be a number
    lacks_year: bool = False  # written without a year; a range takes the year of its end
    number_start: int = 0
    compared_day: date | None = None  # what a comparator compares with, if that is a day: "before the end of June"
    counts_back: bool = False  # "3 years ago": more is earlier
    is_approximate: bool = False


QuestionLiteral: TypeAlias = QuantityLiteral | DateLiteral
LiteralSpan: TypeAlias = tuple[QuestionLiteral, int, int]  # a literal with its tokens, first..last

"""Profiles of the values of each metadata key. Their size depends on the number of keys, not of documents."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from storage.ingest.limits import MAX_COLUMNS
from storage.ingest.schemas.literals import (
    NotationStyle,
    is_free_of_charge,
    is_missing_value,
    is_open_end,
    parse_flag,
    parse_flag_with_remark,
)
from storage.ingest.schemas.values import RawScalar, RawValue
from storage.quantities.days import detect_day_first, parse_date
from storage.quantities.durations import parse_hours_and_minutes
from storage.quantities.money import MoneyAmount, known_currency_codes, parse_money
from storage.quantities.numbers import detect_decimal_comma, parse_number, parse_rating
from storage.quantities.units import parse_quantity
from storage.search.ids import FieldName

MAX_CATEGORY_CHARACTERS = 200  # a longer value is a text
_AGREEMENT_SHARE = 0.95  # the share of the values that must have the same notation
_MAX_DISTINCT = 10_000  # distinct values that are counted
_MAX_SAMPLES = 200  # distinct strings that are counted as examples
_MAX_SAMPLE_CHARACTERS = 40
_LONG_CHARACTERS = 80  # longer values are probably texts rather than categories
_POSSIBLE_DECIMAL_COMMAS = (None, True)
_POSSIBLE_DAY_FIRST = (None, True, False)
LIST_DELIMITERS = {";": re.compile(r"\s*;\s*"), "|": re.compile(r"\s*\|\s*"), ",": re.compile(r",\s+")}


@dataclass(slots=True)
class DelimitedProfile:
    """A profile of strings that contain a list delimiter."""

    string_count: int = 0
    part_count: int = 0
    longest_part: int = 0
    part_counts: set[int] = field(default_factory=set[int])  # how many parts a string had
    distinct: set[int] = field(default_factory=set[int])

    def add_string(self, parts: Sequence[str]) -> None:
        """Adds the parts of one string to the profile."""
        self.string_count += 1
        self.part_count += len(parts)
        self.longest_part = max(self.longest_part, *map(len, parts))
        if len(self.part_counts) < _MAX_DISTINCT:
            self.part_counts.add(len(parts))
        if len(self.distinct) < _MAX_DISTINCT:
            self.distinct.update(hash(part.casefold()) for part in parts)

    def looks_like_list(self, delimiter: str, total_strings: int) -> bool:
        """Whether the parts are members of lists: they are short, repeated, and occur in many strings.

        The limits for commas are stricter, because commas have other uses: `Austin, Texas` and `Doe, Jane` always have
        two parts.
        """
        share = 0.5 if delimiter == "," else 0.3
        has_repeats = len(self.distinct) <= (0.5 if delimiter == "," else 0.8) * self.part_count
        length_varies = delimiter != "," or (len(self.part_counts) > 1 and max(self.part_counts) > 2)
        is_frequent = self.string_count >= (4 if delimiter == "," else 2) and self.string_count >= share * total_strings
        return is_frequent and has_repeats and length_varies and self.longest_part <= _MAX_SAMPLE_CHARACTERS


@dataclass(slots=True)
class ValueProfile:
    """The profile of the values of one key, or of one column of a rows field."""

    value_count: int = 0
    shapes: Counter[str] = field(default_factory=Counter[str])  # bool, number, string, money, list, rows
    readings: Counter[str] = field(default_factory=Counter[str])  # of strings, see `_interpret_string`
    units: Counter[str] = field(default_factory=Counter[str])
    decimal_commas: Counter[bool] = field(default_factory=Counter[bool])
    day_first: Counter[bool] = field(default_factory=Counter[bool])
    currencies: Counter[str] = field(default_factory=Counter[str])
    fraction_count: int = 0
    long_count: int = 0
    longest_value: int = 0
    distinct: set[int] = field(default_factory=set[int])
    samples: Counter[str] = field(default_factory=Counter[str])
    low: float | str | None = None  # the least number, or the earliest day
    high: float | str | None = None
    delimited: dict[str, "DelimitedProfile"] = field(default_factory=dict[str, "DelimitedProfile"])  # by delimiter
    columns: dict[FieldName, "ValueProfile"] = field(default_factory=dict[FieldName, "ValueProfile"])

    def add_value(self, raw: RawValue) -> None:
        """Adds the value of one document to the profile."""
        if not isinstance(raw, tuple):
            self._add_scalar(raw)
            return
        self.value_count += 1
        if isinstance(raw[0], str):
            self.shapes["list"] += 1
            for member in raw:
                self._add_distinct(str(member).casefold())
                self._add_sample(str(member))
            return
        self.shapes["rows"] += 1
        for row in raw:
            if not isinstance(row, str):
                add_to_profiles(row, self.columns)

    def _add_scalar(self, raw: RawScalar) -> None:
        self.value_count += 1
        self._add_distinct(raw.casefold() if isinstance(raw, str) else raw)
        match raw:
            case bool():
                self.shapes["bool"] += 1
            case int() | float():
                self.shapes["number"] += 1
                self.fraction_count += raw != int(raw)
                self._extend_range(raw)
            case MoneyAmount(currency=currency):
                self.shapes["money"] += 1
                self._extend_range(float(raw.amount))
                self.currencies[currency] += 1
            case str():
                self._add_string(raw)

    def _add_string(self, text: str) -> None:
        self.shapes["string"] += 1
        self.long_count += len(text) > _LONG_CHARACTERS
        self.longest_value = max(self.longest_value, len(text) if "\n" not in text else MAX_CATEGORY_CHARACTERS + 1)
        reading = _interpret_string(text)
        for name in reading.readings:  # `Counter.update` takes several times as long
            self.readings[name] += 1
        if reading.unit:
            self.units[reading.unit] += 1
        if reading.currency:
            self.currencies[reading.currency] += 1
        if reading.decimal_comma is not None:
            self.decimal_commas[reading.decimal_comma] += 1
        if reading.day_first is not None:
            self.day_first[reading.day_first] += 1
        self._extend_range(reading.measure)
        self._add_sample(text)
        self._add_delimited(text)

    def _extend_range(self, measure: float | str | None) -> None:
        if measure is None or (self.low is not None and isinstance(measure, str) != isinstance(self.low, str)):
            return  # the range keeps the type of the first value: numbers or days
        self.low = measure if self.low is None else min(self.low, measure)  # pyright: ignore[reportArgumentType]
        self.high = measure if self.high is None else max(self.high, measure)  # pyright: ignore[reportArgumentType]

    def _add_sample(self, text: str) -> None:
        if len(text) <= _MAX_SAMPLE_CHARACTERS and (text in self.samples or len(self.samples) < _MAX_SAMPLES):
            self.samples[text] += 1

    def _add_delimited(self, text: str) -> None:
        for delimiter, pattern in LIST_DELIMITERS.items():
            if delimiter in text and len(text) <= MAX_CATEGORY_CHARACTERS:
                self.delimited.setdefault(delimiter, DelimitedProfile()).add_string(pattern.split(text.strip()))

    def _add_distinct(self, value: object) -> None:
        if len(self.distinct) < _MAX_DISTINCT:
            self.distinct.add(hash(value))

    @property
    def notation_style(self) -> NotationStyle:
        """The notation of the strings; None for a property in which they do not agree."""
        return NotationStyle(
            decimal_comma=_common_answer(self.decimal_commas),
            day_first=_common_answer(self.day_first),
            comma_separates_lists=self.list_delimiter == ",",
        )

    @property
    def list_delimiter(self) -> str | None:
        """The delimiter of the lists that the strings contain; None if they are not lists."""
        string_count = self.shapes["string"]
        return next(
            (
                delimiter
                for delimiter, profile in self.delimited.items()
                if profile.looks_like_list(delimiter, string_count)
            ),
            None,
        )


def add_to_profiles(values: Mapping[FieldName, RawValue], profiles: dict[FieldName, ValueProfile]) -> None:
    """Adds the values of one document (or row) to the profiles of their names, at most `MAX_COLUMNS` of them."""
    for name, raw in values.items():
        profile = profiles.get(name)
        if profile is None:
            if len(profiles) >= MAX_COLUMNS:
                continue
            profile = profiles[name] = ValueProfile()
        profile.add_value(raw)


def _common_answer(answers: Counter[bool]) -> bool | None:
    if not answers:
        return None
    best, count = answers.most_common(1)[0]
    return best if count >= _AGREEMENT_SHARE * answers.total() else None


@dataclass(frozen=True, slots=True)
class _StringReading:
    readings: tuple[str, ...] = ()
    unit: str | None = None
    currency: str | None = None
    decimal_comma: bool | None = None
    day_first: bool | None = None
    measure: float | str | None = None  # the number, or the day in ISO format


@lru_cache(maxsize=10_000)
def _interpret_string(text: str) -> _StringReading:
    if is_missing_value(text):
        return _StringReading(("nothing",))
    if len(text) > 60:
        return _StringReading()
    if is_free_of_charge(text):
        return _StringReading(("free",))
    if is_open_end(text):
        return _StringReading(("open end",))
    if (flag := parse_flag(text)) is not None:
        return _StringReading(("flag", "yes") if flag else ("flag",))
    if parse_flag_with_remark(text) is not None:
        return _StringReading(("flag with remark",))
    if any(parse_date(text, day_first=day_first) for day_first in _POSSIBLE_DAY_FIRST):
        day, day_first = parse_date(text), detect_day_first(text)
        measure = day.isoformat() if day else None
        return _StringReading(("day",) if day else ("ambiguous day",), day_first=day_first, measure=measure)
    if any(parse_number(text, decimal_comma=comma) is not None for comma in _POSSIBLE_DECIMAL_COMMAS):
        is_identifier = re.fullmatch(r"0\d+|\+?\d{16,}", text) is not None
        comma = detect_decimal_comma(text)
        number = parse_number(text, decimal_comma=comma)
        measure = None if number is None or is_identifier else float(number)
        return _StringReading(("identifier",) if is_identifier else ("number",), decimal_comma=comma, measure=measure)
    for decimal_comma in _POSSIBLE_DECIMAL_COMMAS:
        if money := parse_money(text, decimal_comma=decimal_comma):
            comma, amount = detect_decimal_comma(text), float(money.amount)
            return _StringReading(("money",), currency=money.currency, decimal_comma=comma, measure=amount)
        if quantity := parse_quantity(text, decimal_comma=decimal_comma):
            return _StringReading(("quantity",), unit=quantity.unit, decimal_comma=detect_decimal_comma(text))
    if rating := parse_rating(text):
        return _StringReading((f"rating of {rating[1]}",), measure=float(rating[0]))
    if (minutes := parse_hours_and_minutes(text)) is not None:
        return _StringReading(("quantity",), unit="min", measure=float(minutes))
    if len(text) == 3 and text.upper() in known_currency_codes():
        return _StringReading(("currency",), currency=text.upper())
    return _StringReading()


def styles_of(profiles: Mapping[FieldName, ValueProfile]) -> dict[FieldName, NotationStyle]:
    """Returns the notation of the strings of each key, and of each column under `items.qty`."""
    styles = {name: profile.notation_style for name, profile in profiles.items()}
    for name, profile in profiles.items():
        styles |= {FieldName(f"{name}.{column}"): style for column, style in styles_of(profile.columns).items()}
    return styles

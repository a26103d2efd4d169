"""What is seen of the values of each metadata key: a profile grows with the number of keys, not of documents."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from storage.ingest.literals import (
    Money,
    Style,
    currency_codes,
    day_first_in,
    day_in,
    decimal_comma_in,
    flag_in,
    is_nothing,
    money_in,
    number_in,
    quantity_in,
)
from storage.ingest.values import Raw, RawScalar
from storage.search.ids import FieldName

LONGEST = 200  # characters of a value that is no text
_AGREED = 0.95  # of the values must be written in one way
_DISTINCT = 10_000  # values told apart
_SAMPLES = 200  # strings counted, to show some of them
_LONGEST_SAMPLE = 40
_LONG = 80  # characters: values beyond are text rather than categories
_EITHER = (Style(), Style(decimal_comma=True), Style(day_first=True), Style(day_first=False))


MARKS = {";": re.compile(r"\s*;\s*"), "|": re.compile(r"\s*\|\s*"), ",": re.compile(r",\s+")}


@dataclass(slots=True)
class Parted:
    """Strings that a mark parts."""

    strings: int = 0
    parts: int = 0
    longest: int = 0
    numbers: set[int] = field(default_factory=set[int])  # how many parts a string had
    distinct: set[int] = field(default_factory=set[int])

    def see(self, parts: Sequence[str]) -> None:
        """Take one string into account."""
        self.strings += 1
        self.parts += len(parts)
        self.longest = max(self.longest, *map(len, parts))
        if len(self.numbers) < _DISTINCT:
            self.numbers.add(len(parts))
        if len(self.distinct) < _DISTINCT:
            self.distinct.update(hash(part.casefold()) for part in parts)

    def is_list(self, mark: str, strings: int) -> bool:
        """Whether the parts are members of lists: short, in many strings, again and again. Commas have other uses, so
        that there must be more of them: `Austin, Texas` and `Doe, Jane` always have two parts.
        """
        share = 0.5 if mark == "," else 0.3
        repeats = len(self.distinct) <= (0.5 if mark == "," else 0.8) * self.parts
        varies = mark != "," or (len(self.numbers) > 1 and max(self.numbers) > 2)
        enough = self.strings >= (4 if mark == "," else 2) and self.strings >= share * strings
        return enough and repeats and varies and self.longest <= _LONGEST_SAMPLE


@dataclass(slots=True)
class Profile:
    """What has been seen of one key (or one column of a rows field)."""

    values: int = 0
    shapes: Counter[str] = field(default_factory=Counter[str])  # bool, number, string, money, list, rows
    readings: Counter[str] = field(default_factory=Counter[str])  # of strings, see `_readings_of`
    units: Counter[str] = field(default_factory=Counter[str])
    comma: Counter[bool] = field(default_factory=Counter[bool])
    day_first: Counter[bool] = field(default_factory=Counter[bool])
    currencies: Counter[str] = field(default_factory=Counter[str])
    fractions: int = 0
    characters: int = 0
    long: int = 0
    longest: int = 0
    distinct: set[int] = field(default_factory=set[int])
    samples: Counter[str] = field(default_factory=Counter[str])
    low: float | str | None = None  # of numbers, or of days
    high: float | str | None = None
    parted: dict[str, "Parted"] = field(default_factory=dict[str, "Parted"])  # by the mark between the parts
    columns: dict[FieldName, "Profile"] = field(default_factory=dict[FieldName, "Profile"])

    def see(self, raw: Raw) -> None:
        """Take one document's value into account."""
        if not isinstance(raw, tuple):
            self._see_scalar(raw)
            return
        self.values += 1
        if isinstance(raw[0], str):
            self.shapes["list"] += 1
            for member in raw:
                self._tell_apart(str(member).casefold())
                self._sample(str(member))
            return
        self.shapes["rows"] += 1
        for row in raw:
            if not isinstance(row, str):
                see_all(row, self.columns)

    def _see_scalar(self, raw: RawScalar) -> None:
        self.values += 1
        self._tell_apart(raw.casefold() if isinstance(raw, str) else raw)
        match raw:
            case bool():
                self.shapes["bool"] += 1
            case int() | float():
                self.shapes["number"] += 1
                self.fractions += raw != int(raw)
                self._reach(raw)
            case Money(currency=currency):
                self.shapes["money"] += 1
                self._reach(float(raw.amount))
                self.currencies[currency] += 1
            case str():
                self._see_string(raw)

    def _see_string(self, text: str) -> None:
        self.shapes["string"] += 1
        self.characters += len(text)
        self.long += len(text) > _LONG
        self.longest = max(self.longest, len(text) if "\n" not in text else LONGEST + 1)
        seen = _seen_in(text)
        self.readings.update(seen.readings)
        self.units.update(filter(None, [seen.unit]))
        self.currencies.update(filter(None, [seen.currency]))
        self.comma.update([seen.comma] if seen.comma is not None else [])
        self.day_first.update([seen.day_first] if seen.day_first is not None else [])
        self._reach(seen.measure)
        self._sample(text)
        self._part(text)

    def _reach(self, measure: float | str | None) -> None:
        if measure is None or (self.low is not None and isinstance(measure, str) != isinstance(self.low, str)):
            return  # the first kind met counts
        self.low = measure if self.low is None else min(self.low, measure)  # pyright: ignore[reportArgumentType]
        self.high = measure if self.high is None else max(self.high, measure)  # pyright: ignore[reportArgumentType]

    def _sample(self, text: str) -> None:
        if len(text) <= _LONGEST_SAMPLE and (text in self.samples or len(self.samples) < _SAMPLES):
            self.samples[text] += 1

    def _part(self, text: str) -> None:
        for mark, pattern in MARKS.items():
            if mark in text and len(text) <= LONGEST:
                self.parted.setdefault(mark, Parted()).see(pattern.split(text.strip()))

    def _tell_apart(self, value: object) -> None:
        if len(self.distinct) < _DISTINCT:
            self.distinct.add(hash(value))

    @property
    def style(self) -> Style:
        """How its strings are written, as far as they agree."""
        return Style(
            decimal_comma=_agreed(self.comma), day_first=_agreed(self.day_first), comma_between=self.between == ","
        )

    @property
    def between(self) -> str | None:
        """The mark that parts the members of lists that stand in strings; None where they are no lists."""
        strings = self.shapes["string"]
        return next((mark for mark, parted in self.parted.items() if parted.is_list(mark, strings)), None)


def see_all(values: Mapping[FieldName, Raw], profiles: dict[FieldName, Profile]) -> None:
    """Take the values of one document (or row) into account, each under its name."""
    for name, raw in values.items():
        profile = profiles.get(name)
        if profile is None:
            profile = profiles[name] = Profile()
        profile.see(raw)


def _agreed(seen: Counter[bool]) -> bool | None:
    if not seen:
        return None
    best, count = seen.most_common(1)[0]
    return best if count >= _AGREED * seen.total() else None


@dataclass(frozen=True, slots=True)
class _Seen:
    readings: tuple[str, ...] = ()
    unit: str | None = None
    currency: str | None = None
    comma: bool | None = None
    day_first: bool | None = None
    measure: float | str | None = None  # the number, or the day


@lru_cache(maxsize=10_000)
def _seen_in(text: str) -> _Seen:
    if is_nothing(text):
        return _Seen(("nothing",))
    if len(text) > 60:
        return _Seen()
    if (flag := flag_in(text)) is not None:
        return _Seen(("flag", "yes") if flag else ("flag",))
    if any(day_in(text, style) for style in _EITHER):
        day = day_in(text)
        return _Seen(("day",) if day else ("ambiguous day",), day_first=day_first_in(text), measure=day)
    if any(number_in(text, style) is not None for style in _EITHER[:2]):
        padded = re.fullmatch(r"0\d+|\+?\d{16,}", text) is not None
        comma = decimal_comma_in(text)
        number = number_in(text, Style(decimal_comma=comma))
        measure = None if number is None or padded else float(number)
        return _Seen(("identifier",) if padded else ("number",), comma=comma, measure=measure)
    for style in _EITHER[:2]:
        if money := money_in(text, style):
            comma, amount = decimal_comma_in(text), float(money.amount)
            return _Seen(("money",), currency=money.currency, comma=comma, measure=amount)
        if quantity := quantity_in(text, style):
            return _Seen(("quantity",), unit=quantity.unit, comma=decimal_comma_in(text))
    if len(text) == 3 and text.upper() in currency_codes():
        return _Seen(("currency",), currency=text.upper())
    return _Seen()


def styles_of(profiles: Mapping[FieldName, Profile]) -> dict[FieldName, Style]:
    """How the strings of each key, and of each column (`items.qty`), are written."""
    styles = {name: profile.style for name, profile in profiles.items()}
    for name, profile in profiles.items():
        styles |= {FieldName(f"{name}.{column}"): style for column, style in styles_of(profile.columns).items()}
    return styles

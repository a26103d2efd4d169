"""True answers by a naive filter over the generator's own records. Shares no code with `storage` or `agent`.

A condition says true, false or None (unknown: the record lacks the field); a record is in the set where all are true.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, TypeAlias, cast

from bot.demo.corpus import Corpus

Plain: TypeAlias = dict[str, Any]  # a record's metadata by the generator's own names, beside doc_id, title, text
Condition: TypeAlias = Callable[[Plain], bool | None]


# -- what a question is expected to bring


@dataclass(frozen=True, slots=True, kw_only=True)
class Overload:
    """More than 100 documents for a list: `count` of them, and a question back."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Exactly these documents; in this order if `ordered`, and then perhaps the first few only."""

    doc_ids: tuple[str, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """No document: `no_results`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """One of these documents is cited, on `page` where the document has pages.

    The passage cited holds each fragment as it stands in the text; an answer may put it otherwise (a day as ISO).
    """

    doc_ids: tuple[str, ...]
    fragments: tuple[str, ...]
    page: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    """A question about one document that fits each of these: offered by name, and their number is exact."""

    doc_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """`unit` is the currency of money, else the schema's unit, "" for none. `count`: documents that have the value.

    Money is exact to the minor unit, other numbers to 12 significant digits. A count has its number in `value` too.
    """

    function: str  # sum, count, average, minimum, maximum
    value: float
    unit: str
    count: int
    group: str | None = None  # a value, or a month as 2024-03


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """One value a unit, in any order, over `count` documents."""

    values: tuple[Value, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """One value a group; `ordered`: largest first, and then perhaps the first few only."""

    values: tuple[Value, ...]
    ordered: bool = False


Expected: TypeAlias = Overload | Listing | Empty | Lookup | Ambiguous | Values | Groups


# -- records


def plain_records(corpus: Corpus, bucket: str) -> list[Plain]:
    """The records of a bucket with the generator's own field names, whatever the corpus calls them."""
    own = {
        words.name: path.rpartition(".")[2]
        for path, words in corpus.names.words.items()
        if path.startswith(f"{bucket}.")
    }
    return [
        {own.get(name, name): _rows_back(value, own) for name, value in record["metadata"].items()}
        | {key: record[key] for key in ("doc_id", "title", "text", "page_starts")}
        for record in corpus.buckets[bucket].records
    ]


def _rows_back(value: Any, own: Mapping[str, str]) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        rows = cast(list[dict[str, Any]], value)
        return [{own.get(name, name): cell for name, cell in row.items()} for row in rows]
    return cast(Any, value)


# -- conditions


@dataclass(frozen=True, slots=True)
class On:
    """A comparison on one field: unknown where the record lacks it."""

    field: str
    holds: Callable[[Any], bool]

    def __call__(self, record: Plain) -> bool | None:
        return self.holds(record[self.field]) if self.field in record else None


def equal(field: str, *values: object) -> On:
    """One of the values."""
    return On(field, lambda value: value in values)


def other_than(field: str, *values: object) -> On:
    return On(field, lambda value: value not in values)


def at_least(field: str, low: float) -> On:
    return On(field, lambda value: value >= low)


def at_most(field: str, high: float) -> On:
    return On(field, lambda value: value <= high)


def over(field: str, low: float | str) -> On:
    return On(field, lambda value: value > low)


def under(field: str, high: float | str) -> On:
    return On(field, lambda value: value < high)


def between(field: str, low: float | str, high: float | str) -> On:
    """Both ends included."""
    return On(field, lambda value: low <= value <= high)


def during(field: str, period: str) -> On:
    """A day of the period, which is a year or a month: 2024, 2024-03."""
    return On(field, lambda value: value.startswith(f"{period}-"))


def holds(field: str, *members: str) -> Condition:
    """The list has each of the members; a record without the list has none of them."""
    return lambda record: set(members) <= set(record.get(field, ()))


def holds_none(field: str, *members: str) -> Condition:
    return lambda record: not set(members) & set(record.get(field, ()))


def flagged(field: str) -> Condition:
    return lambda record: record.get(field, False)


def not_flagged(field: str) -> Condition:
    return lambda record: not record.get(field, False)


def absent(field: str) -> Condition:
    return lambda record: field not in record


def row(field: str, meets: Callable[[Plain], bool]) -> Condition:
    """One row meets it."""
    return lambda record: any(meets(one) for one in record.get(field, ()))


def says(*phrases: str) -> Condition:
    """Title or text has each of the phrases, word for word. Questions use words that the corpus never inflects."""
    return lambda record: all(_has_phrase(record, phrase) for phrase in phrases)


def never_says(*phrases: str) -> Condition:
    return lambda record: not any(_has_phrase(record, phrase) for phrase in phrases)


def _has_phrase(record: Plain, phrase: str) -> bool:
    wanted = " ".join(re.findall(r"\w+", phrase.lower()))
    texts = (" ".join(re.findall(r"\w+", record[key].lower())) for key in ("title", "text"))
    return any(f" {wanted} " in f" {text} " for text in texts)


def matching(records: Iterable[Plain], conditions: Sequence[Condition]) -> list[Plain]:
    return [record for record in records if all(condition(record) is True for condition in conditions)]


def lacking(records: Sequence[Plain], conditions: Sequence[Condition]) -> Mapping[str, int]:
    """By field: the records that meet every other condition and lack this one's field."""
    counts: dict[str, int] = {}
    for condition in conditions:
        if isinstance(condition, On):
            others = [one for one in conditions if one is not condition]
            counts[condition.field] = len(matching(records, [*others, absent(condition.field)]))
    return {field: count for field, count in counts.items() if count}


# -- numbers


def value_of(function: str, records: Sequence[Plain], field: str, unit: str) -> Value:
    """`function` of the field over the records that have it; there is at least one."""
    numbers = [Decimal(str(record[field])) for record in records if field in record]
    total = sum(numbers, Decimal(0))
    values = {
        "sum": total,
        "average": total / len(numbers),
        "minimum": min(numbers),
        "maximum": max(numbers),
    }
    value = values[function]
    if unit in _MINOR_UNITS and function in ("sum", "average"):
        value = value.quantize(_MINOR_UNITS[unit], rounding=ROUND_HALF_EVEN)
    return Value(function=function, value=float(value), unit=unit, count=len(numbers))


_MINOR_UNITS = {**dict.fromkeys(("USD", "EUR", "GBP", "CHF", "NOK"), Decimal("0.01")), "JPY": Decimal(1)}


def per_currency(function: str, records: Sequence[Plain], field: str, currency_field: str) -> tuple[Value, ...]:
    """One value a currency that has any."""
    groups = grouped([record for record in records if field in record], lambda record: record.get(currency_field))
    return tuple(value_of(function, group, field, currency) for currency, group in sorted(groups.items()))


def grouped(records: Iterable[Plain], key: Callable[[Plain], str | None]) -> dict[str, list[Plain]]:
    """By key; records whose key is None are left out."""
    groups: dict[str, list[Plain]] = {}
    for record in records:
        if (label := key(record)) is not None:
            groups.setdefault(label, []).append(record)
    return groups


def page_of(record: Plain, offset: int) -> int | None:
    """The page, from 1, that the offset into the record's text lies on; None where it has no pages."""
    starts: list[int] | None = record["page_starts"]
    return None if starts is None else sum(start <= offset for start in starts)

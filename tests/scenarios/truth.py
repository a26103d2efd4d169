"""Expected answers, computed by a naive filter over the generator's records. Shares no code with `storage` or `agent`.

A condition returns True, False or None (unknown: the record lacks the field). A set has the records for which all
conditions are True.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, TypeAlias, cast

from bot.demo.corpus import DemoCorpus

PlainRecord: TypeAlias = dict[str, Any]  # a record's metadata in the generator's names, with doc_id, title, text
Condition: TypeAlias = Callable[[PlainRecord], bool | None]


# -- expected results


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedOverload:
    """A list question with more than 100 documents, `count`, that gets a clarification."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedListing:
    """Exactly these documents. If `ordered`, in this order, and a result may have only the first few."""

    doc_ids: tuple[str, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedNoResults:
    """No document: `no_results`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedLookup:
    """One of these documents is cited, on `page` if the document has pages.

    The cited passage has each fragment as in the text. The answer may write it differently (a day in ISO format).
    """

    doc_ids: tuple[str, ...]
    fragments: tuple[str, ...]
    page: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedAmbiguity:
    """A question about one document that fits each of these. All of them are offered by name."""

    doc_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedValue:
    """A computed value. `unit`: the currency of money, else the schema's unit, or "". `count`: documents with a value.

    Money is exact to the minor unit, other numbers to 12 significant digits. A count also has its number in `value`.
    """

    function: str  # sum, count, average, minimum, maximum
    value: float
    unit: str
    count: int
    group: str | None = None  # a value, or a month such as 2024-03


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedValues:
    """One value per unit, in any order, over `count` documents."""

    values: tuple[ExpectedValue, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedGroups:
    """One value per group. If `ordered`, largest first, and a result may have only the first few."""

    values: tuple[ExpectedValue, ...]
    ordered: bool = False


Expected: TypeAlias = (
    ExpectedOverload
    | ExpectedListing
    | ExpectedNoResults
    | ExpectedLookup
    | ExpectedAmbiguity
    | ExpectedValues
    | ExpectedGroups
)


# -- records


def plain_records(corpus: DemoCorpus, bucket: str) -> list[PlainRecord]:
    """The records of a bucket with the generator's field names, independent of the corpus's naming."""
    original_names = {
        labels.name: path.rpartition(".")[2]
        for path, labels in corpus.naming.labels_by_path.items()
        if path.startswith(f"{bucket}.")
    }
    return [
        {
            original_names.get(name, name): _restore_row_names(value, original_names)
            for name, value in record["metadata"].items()
        }
        | {key: record[key] for key in ("doc_id", "title", "text", "page_starts")}
        for record in corpus.buckets[bucket].records
    ]


def _restore_row_names(value: Any, original_names: Mapping[str, str]) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        rows = cast(list[dict[str, Any]], value)
        return [{original_names.get(name, name): cell for name, cell in row.items()} for row in rows]
    return cast(Any, value)


# -- conditions


@dataclass(frozen=True, slots=True)
class FieldComparison:
    """A comparison on one field; None if the record lacks the field."""

    field: str
    predicate: Callable[[Any], bool]

    def __call__(self, record: PlainRecord) -> bool | None:
        return self.predicate(record[self.field]) if self.field in record else None


def equal(field: str, *values: object) -> FieldComparison:
    """Whether the field has one of the values."""
    return FieldComparison(field, lambda value: value in values)


def other_than(field: str, *values: object) -> FieldComparison:
    return FieldComparison(field, lambda value: value not in values)


def at_least(field: str, low: float) -> FieldComparison:
    return FieldComparison(field, lambda value: value >= low)


def at_most(field: str, high: float) -> FieldComparison:
    return FieldComparison(field, lambda value: value <= high)


def more_than(field: str, low: float | str) -> FieldComparison:
    return FieldComparison(field, lambda value: value > low)


def less_than(field: str, high: float | str) -> FieldComparison:
    return FieldComparison(field, lambda value: value < high)


def between(field: str, low: float | str, high: float | str) -> FieldComparison:
    """Whether the field is in the range, both ends included."""
    return FieldComparison(field, lambda value: low <= value <= high)


def during(field: str, period: str) -> FieldComparison:
    """Whether the field is a day in the period, a year or a month: 2024, 2024-03."""
    return FieldComparison(field, lambda value: value.startswith(f"{period}-"))


def has_members(field: str, *members: str) -> Condition:
    """Whether the list has each of the members. A record without the list has none of them."""
    return lambda record: set(members) <= set(record.get(field, ()))


def has_no_members(field: str, *members: str) -> Condition:
    return lambda record: not set(members) & set(record.get(field, ()))


def has_flag(field: str) -> Condition:
    return lambda record: record.get(field, False)


def has_no_flag(field: str) -> Condition:
    return lambda record: not record.get(field, False)


def absent(field: str) -> Condition:
    return lambda record: field not in record


def has_row(field: str, meets: Callable[[PlainRecord], bool]) -> Condition:
    """Whether at least one row of the field meets the condition."""
    return lambda record: any(meets(item_row) for item_row in record.get(field, ()))


def mentions(*phrases: str) -> Condition:
    """Whether title or text has each phrase, word for word. Questions use words that the corpus never inflects."""
    return lambda record: all(_has_phrase(record, phrase) for phrase in phrases)


def mentions_none(*phrases: str) -> Condition:
    return lambda record: not any(_has_phrase(record, phrase) for phrase in phrases)


def _has_phrase(record: PlainRecord, phrase: str) -> bool:
    phrase_words = " ".join(re.findall(r"\w+", phrase.lower()))
    texts = (" ".join(re.findall(r"\w+", record[key].lower())) for key in ("title", "text"))
    return any(f" {phrase_words} " in f" {text} " for text in texts)


def records_meeting(records: Iterable[PlainRecord], conditions: Sequence[Condition]) -> list[PlainRecord]:
    return [record for record in records if all(condition(record) is True for condition in conditions)]


def missing_counts_of(records: Sequence[PlainRecord], conditions: Sequence[Condition]) -> Mapping[str, int]:
    """For each field in a comparison, the number of records that lack it and meet every other condition."""
    counts: dict[str, int] = {}
    for condition in conditions:
        if isinstance(condition, FieldComparison):
            other_conditions = [other for other in conditions if other is not condition]
            counts[condition.field] = len(records_meeting(records, [*other_conditions, absent(condition.field)]))
    return {field: count for field, count in counts.items() if count}


# -- numbers


def value_of(function: str, records: Sequence[PlainRecord], field: str, unit: str) -> ExpectedValue:
    """`function` of the field over the records that have it. At least one record must have it."""
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
    return ExpectedValue(function=function, value=float(value), unit=unit, count=len(numbers))


_MINOR_UNITS = {**dict.fromkeys(("USD", "EUR", "GBP", "CHF", "NOK"), Decimal("0.01")), "JPY": Decimal(1)}


def per_currency(
    function: str, records: Sequence[PlainRecord], field: str, currency_field: str
) -> tuple[ExpectedValue, ...]:
    """One value for each currency in the records."""
    groups = group_records([record for record in records if field in record], lambda record: record.get(currency_field))
    return tuple(value_of(function, group, field, currency) for currency, group in sorted(groups.items()))


def group_records(
    records: Iterable[PlainRecord], key: Callable[[PlainRecord], str | None]
) -> dict[str, list[PlainRecord]]:
    """The records by key, without records for which the key is None."""
    groups: dict[str, list[PlainRecord]] = {}
    for record in records:
        if (label := key(record)) is not None:
            groups.setdefault(label, []).append(record)
    return groups


def page_of(record: PlainRecord, offset: int) -> int | None:
    """The page, from 1, of the offset in the record's text; None if the record has no pages."""
    starts: list[int] | None = record["page_starts"]
    return None if starts is None else sum(start <= offset for start in starts)

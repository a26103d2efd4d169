"""The record of a demo document, in the JSONL format of `parley ingest`, and functions that draw random values."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from random import Random
from typing import TypeAlias, TypedDict, TypeVar

from storage.quantities.days import ENGLISH_MONTHS

T = TypeVar("T")

ScalarValue: TypeAlias = str | float | bool
MetadataValue: TypeAlias = ScalarValue | list[str] | list[dict[str, ScalarValue]]


class CorpusRecord(TypedDict):
    """A document. `page_starts` are code point offsets in `text`; None if the document has no pages."""

    doc_id: str
    title: str
    text: str
    metadata: dict[str, MetadataValue]
    page_starts: list[int] | None
    source: str


def join_pages(pages: Sequence[str]) -> tuple[str, list[int]]:
    """The pages joined to one text, and the offset of each page's start."""
    starts = [0]
    for page in pages[:-1]:
        starts.append(starts[-1] + len(page) + 1)
    return "\n".join(pages), starts


def drop_missing_values(values: Mapping[str, MetadataValue | None]) -> dict[str, MetadataValue]:
    """The values without empty ones, because an absent key means a missing value."""
    return {name: value for name, value in values.items() if value is not None and value != []}


def draw_weighted(rng: Random, weights: Mapping[T, float]) -> T:
    return rng.choices(list(weights), list(weights.values()))[0]


def draw_each(rng: Random, choices: Sequence[T], probability: float) -> list[T]:
    """A random subset of `choices` in their order. Each choice is drawn with the same probability."""
    return [choice for choice in choices if rng.random() < probability]


def draw_day_between(rng: Random, first_day: date, last_day: date) -> date:
    """A day from `first_day` to `last_day`, both included."""
    return first_day + timedelta(days=rng.randrange((last_day - first_day).days + 1))


def format_day(day: date) -> str:
    """The day as in a letter, independent of the locale: 5 March 2024."""
    return f"{day.day} {ENGLISH_MONTHS[day.month - 1]} {day.year}"

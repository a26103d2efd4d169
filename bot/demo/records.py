"""A document of the demo corpus, in the JSONL form that `parley ingest` takes, and the drawing of its parts."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from random import Random
from typing import TypeAlias, TypedDict, TypeVar

T = TypeVar("T")

Scalar: TypeAlias = str | float | bool
Value: TypeAlias = Scalar | list[str] | list[dict[str, Scalar]]

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


class Record(TypedDict):
    """`page_starts` are code point offsets into `text`, None where the document has no pages."""

    doc_id: str
    title: str
    text: str
    metadata: dict[str, Value]
    page_starts: list[int] | None
    source: str


def paged(pages: Sequence[str]) -> tuple[str, list[int]]:
    """The pages as one text, and where in it each begins."""
    starts = [0]
    for page in pages[:-1]:
        starts.append(starts[-1] + len(page) + 1)
    return "\n".join(pages), starts


def present(values: Mapping[str, Value | None]) -> dict[str, Value]:
    """Without the fields that have no value: an absent key is what *missing* means."""
    return {name: value for name, value in values.items() if value is not None and value != []}


def weighted(rng: Random, weights: Mapping[T, float]) -> T:
    return rng.choices(list(weights), list(weights.values()))[0]


def some(rng: Random, choices: Sequence[T], probability: float) -> list[T]:
    """Each of `choices` with the same probability, in their order."""
    return [one for one in choices if rng.random() < probability]


def day_between(rng: Random, first: date, last: date) -> date:
    """A day from `first` to `last`, both included."""
    return first + timedelta(days=rng.randrange((last - first).days + 1))


def written(day: date) -> str:
    """As a letter has it: 5 March 2024. No locale decides."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"

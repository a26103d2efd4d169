"""The assumptions of an answer, as values. `agent.compose.phrases.assumptions` turns them into text."""

from dataclasses import dataclass
from typing import TypeAlias

from storage.search.conditions import Condition
from storage.search.ids import BucketId
from storage.search.plan import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredWord:
    """A word was ignored, since no document holds it."""

    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredWords:
    """The words match no field, so the text must hold them."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenReading:
    """One of several readings with the same score was chosen."""

    bucket: BucketId
    conditions: tuple[Condition, ...]  # conditions that only this reading has
    other_descriptions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedSpelling:
    """A word was read as a misspelling of another word."""

    written: str
    meant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackReading:
    """The most likely reading found nothing, so this one was chosen."""

    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstOfSeveral:
    """Several documents match, and the first was chosen."""

    count: int
    search: Search


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyTextSearched:
    """The set was empty, so all text was searched."""

    search: Search


Assumption: TypeAlias = (
    IgnoredWord | RequiredWords | TakenReading | CorrectedSpelling | FallbackReading | FirstOfSeveral | AnyTextSearched
)

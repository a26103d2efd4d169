"""What labels ask for: of "Taught by" and "Instructor" the same, of "Net rent" and "Gross rent" not."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import yaml

from storage.ingest.extract.labels.labelled_texts import label_key_of

_CONCEPTS_FILE = Path(__file__).with_name("label_concepts.yaml")
_BRACKETED = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_HEAD_END = re.compile(
    r"(?<=\w)\s+(?:without|with|excluding|including|for|of|in|per|as|at|before|after|ohne|mit|für|pour|sans|sin|con|para)\s"
)
_MAX_PHRASE_WORDS = 4


class ValueDomain(StrEnum):
    """What the values of a label are, as far as labels are compared by it."""

    DATE = "date"
    MONEY = "money"
    NUMBER = "number"
    NAME = "name"
    REFERENCE = "reference"
    FLAG = "flag"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelConcepts:
    """The numbers of the concepts of a label: those that it names as a whole, and those that its noun names."""

    whole: frozenset[int]
    partial: frozenset[int]
    is_generic: bool  # whether the label may ask for something more special, as "Date" does


@lru_cache(maxsize=10_000)
def concepts_of(spelling: str, domain: ValueDomain) -> LabelConcepts:
    """Returns the concepts of a label whose values are of the domain; what appears in brackets does not count."""
    key = label_key_of(_BRACKETED.sub("", spelling)) or label_key_of(spelling)
    whole = _concepts_by_phrase().get(key, frozenset())
    head = _HEAD_END.split(key, maxsplit=1)[0].split()
    phrases = (
        " ".join(head[first : first + length])
        for length in range(min(_MAX_PHRASE_WORDS, len(head)), 0, -1)
        for first in range(len(head) - length + 1)
    )
    found = next((found for phrase in phrases if (found := _fitting_concepts(phrase, domain))), frozenset[int]())
    fitting = _fitting(whole, domain)
    is_generic = any(_load_concepts()["concepts"][number].get("generic", False) for number in fitting)
    return LabelConcepts(whole=fitting, partial=found, is_generic=is_generic)


def words_of_concept(spelling: str, domain: ValueDomain) -> tuple[str, ...]:
    """Returns all labels that can ask for the same as this one; none if it is general."""
    concepts = concepts_of(spelling, domain)
    entries = [] if concepts.is_generic else [_load_concepts()["concepts"][each] for each in sorted(concepts.whole)]
    return tuple(dict.fromkeys(label_key_of(words) for entry in entries for words in entry["words"]))


def names_concept(spelling: str) -> bool:
    """Whether the label asks for something that forms ask for, so that it is not a kind of document."""
    return label_key_of(spelling) in _concepts_by_phrase()


def are_opposite(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether each label has one of two words that exclude each other."""
    return any(
        (first in words and second in others and first not in others and second not in words)
        or (second in words and first in others and second not in others and first not in words)
        for first, second in _load_concepts()["opposites"]
    )


def _fitting_concepts(phrase: str, domain: ValueDomain) -> frozenset[int]:
    return _fitting(_concepts_by_phrase().get(phrase, frozenset()), domain)


def _fitting(concepts: frozenset[int], domain: ValueDomain) -> frozenset[int]:
    entries = _load_concepts()["concepts"]
    names = {"text", "number"} if domain is ValueDomain.REFERENCE else {domain.value}
    names |= {"text"} if domain is ValueDomain.FLAG else set()
    return frozenset(number for number in concepts if names & set(entries[number]["types"]))


@lru_cache(maxsize=1)
def _concepts_by_phrase() -> Mapping[str, frozenset[int]]:
    concepts = dict[str, set[int]]()
    for number, entry in enumerate(_load_concepts()["concepts"]):
        for words in entry["words"]:
            concepts.setdefault(label_key_of(words), set()).add(number)
    return {phrase: frozenset(numbers) for phrase, numbers in concepts.items()}


@lru_cache(maxsize=1)
def _load_concepts() -> Mapping[str, Sequence[Any]]:
    return cast(Mapping[str, Sequence[Any]], yaml.safe_load(_CONCEPTS_FILE.read_text(encoding="utf-8")))

"""Concepts that fields are commonly about, from `cues.yaml`; a field's own words choose its concept."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Required, TypedDict

import yaml

from storage.ingest.extract.field_patterns import any_phrase_pattern, label_phrases_of, words_of_phrase
from storage.search.schema import FieldType, SchemaField

_NAME_SCORE, _SYNONYM_SCORE, _DESCRIPTION_SCORE = 4, 2, 1


class _ConceptEntry(TypedDict, total=False):
    named: Required[list[str]]
    types: Required[list[str]]
    labels: list[str]
    never: list[str]
    unless: list[str]
    leads: list[str]
    follows: list[str]
    near: list[str]
    beside: list[str]
    surely: list[str]
    about: list[str]
    reckoned: list[str]
    shapes: list[str]
    place: str
    of: str
    joined: bool
    branches: bool


class _CuesFile(TypedDict):
    concepts: dict[str, _ConceptEntry]
    payment: dict[str, list[str]]
    aside: list[str]
    without_cents: list[str]
    columns: dict[str, list[str]]
    currencies: dict[str, list[str]]
    kinds: dict[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldConcept:
    """How documents write of a concept. Patterns match folded text."""

    name: str
    field_names: frozenset[str]
    types: frozenset[FieldType]
    labels: tuple[str, ...]
    exclusion_pattern: re.Pattern[str] | None
    exception_pattern: re.Pattern[str] | None  # with these, `exclusion_pattern` does not count
    lead_in_pattern: re.Pattern[str] | None  # at the end of the text before a value
    following_pattern: re.Pattern[str] | None
    sentence_pattern: re.Pattern[str] | None
    adjacent_pattern: re.Pattern[str] | None
    confirming_pattern: re.Pattern[str] | None  # a sentence without it makes the value doubtful
    topic_pattern: re.Pattern[str] | None  # of a sentence whose phrases count
    term_pattern: re.Pattern[str] | None  # names of a term that ends on the day
    value_pattern: re.Pattern[str] | None  # of the values themselves
    position: str  # of a value without a label: title, heading, head
    derived_from: str  # `date` where the value is a part of one
    joins_spellings: bool  # whether spellings of its values are joined
    has_branches: bool  # whether a name with more words after it is a branch of the name


def concept_of(field: SchemaField) -> FieldConcept | None:
    """The concept that most of the field's words name; None where no word names one."""
    best = max(load_concepts(), key=lambda concept: _match_score(concept, field))
    return best if _match_score(best, field) else None


def concept_named(name: str) -> FieldConcept:
    """The concept with that name in `cues.yaml`."""
    return next(concept for concept in load_concepts() if concept.name == name)


def _match_score(concept: FieldConcept, field: SchemaField) -> int:
    if field.type not in concept.types:
        return 0
    names = {" ".join(words_of_phrase(name)) for name in (field.title, field.name.replace("_", " "))}
    score = _NAME_SCORE * bool(names & concept.field_names)
    score += _SYNONYM_SCORE * bool((set(label_phrases_of(field)) - names) & concept.field_names)
    description = f" {' '.join(words_of_phrase(field.description))} "
    return score + _DESCRIPTION_SCORE * any(f" {name} " in description for name in concept.field_names if " " in name)


@lru_cache(maxsize=1)
def load_concepts() -> Sequence[FieldConcept]:
    return [_parse_concept(name, entry) for name, entry in _load_cues()["concepts"].items()]


@lru_cache(maxsize=1)
def column_names_by_role() -> Mapping[str, frozenset[str]]:
    """The names of the columns of rows fields, by role: name, quantity, price, total."""
    return {role: frozenset(map(_plain_words, names)) for role, names in _load_cues()["columns"].items()}


@lru_cache(maxsize=1)
def currency_word_patterns() -> Mapping[str, re.Pattern[str]]:
    """Words that show the currency of amounts without a sign, by its code."""
    patterns = {code: any_phrase_pattern(words) for code, words in _load_cues()["currencies"].items()}
    return {code: pattern for code, pattern in patterns.items() if pattern}


@lru_cache(maxsize=1)
def words_by_kind() -> Mapping[str, tuple[str, ...]]:
    """Words that show the kind of a document, by the name of the kind."""
    return {_plain_words(name): tuple(words) for name, words in _load_cues()["kinds"].items()}


@lru_cache(maxsize=1)
def payment_word_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Words of a payment, and of the change given back."""
    phrases = _load_cues()["payment"]
    paid, returned = any_phrase_pattern(phrases["paid"]), any_phrase_pattern(phrases["returned"])
    assert paid and returned  # noqa: PT018, S101 - the file has both
    return paid, returned


@lru_cache(maxsize=1)
def currencies_without_cents() -> frozenset[str]:
    """Codes of currencies whose amounts are whole thousands."""
    return frozenset(_load_cues()["without_cents"])


@lru_cache(maxsize=1)
def unpaid_amount_words() -> re.Pattern[str]:
    """Words before amounts that nobody paid: a company's capital, points, register numbers."""
    words = any_phrase_pattern(_load_cues()["aside"])
    assert words  # noqa: S101 - the file has them
    return words


@lru_cache(maxsize=1)
def _load_cues() -> _CuesFile:
    return yaml.safe_load(files("storage.ingest.extract").joinpath("cues.yaml").read_text(encoding="utf-8"))


def _parse_concept(name: str, entry: _ConceptEntry) -> FieldConcept:
    shapes = entry.get("shapes", [])
    return FieldConcept(
        name=name,
        field_names=frozenset(map(_plain_words, entry["named"])),
        types=frozenset(map(FieldType, entry["types"])),
        labels=tuple(entry.get("labels", [])),
        exclusion_pattern=any_phrase_pattern(entry.get("never", [])),
        exception_pattern=any_phrase_pattern(entry.get("unless", [])),
        lead_in_pattern=_lead_in_pattern(entry.get("leads", [])),
        following_pattern=any_phrase_pattern(entry.get("follows", [])),
        sentence_pattern=any_phrase_pattern(entry.get("near", [])),
        adjacent_pattern=any_phrase_pattern(entry.get("beside", [])),
        confirming_pattern=any_phrase_pattern(entry.get("surely", [])),
        topic_pattern=any_phrase_pattern(entry.get("about", [])),
        term_pattern=any_phrase_pattern(entry.get("reckoned", [])),
        value_pattern=re.compile(rf"(?<![\w-])(?:{'|'.join(shapes)})(?![\w])") if shapes else None,
        position=entry.get("place", ""),
        derived_from=entry.get("of", ""),
        joins_spellings=entry.get("joined", False),
        has_branches=entry.get("branches", False),
    )


def _plain_words(phrase: str) -> str:
    return " ".join(words_of_phrase(phrase))


_FILLER_WORDS = (
    "as|of|on|the|this|in|at|by|and|is|be|shall|date|dated|effective|from|to|day|midnight|including"
    "|am|der|dem|den|zum|le|el"
)
_FILLER_PATTERN = rf"(?:[\s_,:]|(?<![a-z])(?:{_FILLER_WORDS})(?![a-z])){{0,12}}"


def _lead_in_pattern(phrases: Sequence[str]) -> re.Pattern[str] | None:
    """One of the phrases, with small words after it up to the end of the searched text."""
    words = any_phrase_pattern(phrases)
    return re.compile(rf"{words.pattern}{_FILLER_PATTERN}$") if words else None

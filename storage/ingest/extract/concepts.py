"""What fields are commonly about: the concepts of `cues.yaml`, each chosen by a field's own words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Required, TypedDict

import yaml

from storage.ingest.extract.wording import any_of, labels_of, words_of
from storage.search.schema import Field, FieldType

_BY_NAME, _BY_SYNONYM, _BY_DESCRIPTION = 4, 2, 1


class _Written(TypedDict, total=False):
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


class _File(TypedDict):
    concepts: dict[str, _Written]
    payment: dict[str, list[str]]
    aside: list[str]
    without_cents: list[str]
    columns: dict[str, list[str]]
    currencies: dict[str, list[str]]
    kinds: dict[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """How documents speak of what a field is about. Patterns match lowered text."""

    name: str
    named: frozenset[str]
    types: frozenset[FieldType]
    labels: tuple[str, ...]
    never: re.Pattern[str] | None
    unless: re.Pattern[str] | None  # but not with these
    leads: re.Pattern[str] | None  # at the end of what stands before a value
    follows: re.Pattern[str] | None
    near: re.Pattern[str] | None
    beside: re.Pattern[str] | None
    surely: re.Pattern[str] | None  # in the sentence of a value, without which it is doubtful
    about: re.Pattern[str] | None  # what a sentence is about whose phrases count
    reckoned: re.Pattern[str] | None  # what a span of time that ends on the day is called
    shapes: re.Pattern[str] | None  # what its values look like
    place: str  # where its value stands by itself: title, heading, head
    of: str  # a date, whose part it is
    is_joined: bool  # whether its spellings are brought together
    has_branches: bool  # whether a name with more words behind it is the same name at another place


def concept_of(field: Field) -> Concept | None:
    """The concept that most of the field's words name; None where they name none."""
    best = max(concepts(), key=lambda one: _named(one, field))
    return best if _named(best, field) else None


def _named(concept: Concept, field: Field) -> int:
    if field.type not in concept.types:
        return 0
    names = {" ".join(words_of(one)) for one in (field.title, field.name.replace("_", " "))}
    score = _BY_NAME * bool(names & concept.named)
    score += _BY_SYNONYM * bool((set(labels_of(field)) - names) & concept.named)
    described = f" {' '.join(words_of(field.description))} "
    return score + _BY_DESCRIPTION * any(f" {one} " in described for one in concept.named if " " in one)


@lru_cache(maxsize=1)
def concepts() -> Sequence[Concept]:
    return [_concept(name, one) for name, one in _file()["concepts"].items()]


@lru_cache(maxsize=1)
def columns() -> Mapping[str, frozenset[str]]:
    """What the columns of rows are called, by what they are."""
    return {name: frozenset(map(_plain, named)) for name, named in _file()["columns"].items()}


@lru_cache(maxsize=1)
def currency_words() -> Mapping[str, re.Pattern[str]]:
    """Words that tell the currency of amounts without a sign, by its code."""
    patterns = {code: any_of(words) for code, words in _file()["currencies"].items()}
    return {code: pattern for code, pattern in patterns.items() if pattern}


@lru_cache(maxsize=1)
def kind_words() -> Mapping[str, tuple[str, ...]]:
    """Words by which papers show their kind, by what the kind is called."""
    return {_plain(name): tuple(words) for name, words in _file()["kinds"].items()}


@lru_cache(maxsize=1)
def payment_words() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Words of paying, and of what was given back."""
    written = _file()["payment"]
    paid, returned = any_of(written["paid"]), any_of(written["returned"])
    assert paid and returned  # noqa: PT018, S101 - the file has both
    return paid, returned


@lru_cache(maxsize=1)
def without_cents() -> frozenset[str]:
    """Codes of currencies whose amounts are whole thousands."""
    return frozenset(_file()["without_cents"])


@lru_cache(maxsize=1)
def aside_words() -> re.Pattern[str]:
    """Words before amounts that are nothing that was paid: a company's capital, points, numbers of registers."""
    words = any_of(_file()["aside"])
    assert words  # noqa: S101 - the file has them
    return words


@lru_cache(maxsize=1)
def _file() -> _File:
    return yaml.safe_load(files("storage.ingest.extract").joinpath("cues.yaml").read_text(encoding="utf-8"))


def _concept(name: str, written: _Written) -> Concept:
    shapes = written.get("shapes", [])
    return Concept(
        name=name,
        named=frozenset(map(_plain, written["named"])),
        types=frozenset(map(FieldType, written["types"])),
        labels=tuple(written.get("labels", [])),
        never=any_of(written.get("never", [])),
        unless=any_of(written.get("unless", [])),
        leads=_leading(written.get("leads", [])),
        follows=any_of(written.get("follows", [])),
        near=any_of(written.get("near", [])),
        beside=any_of(written.get("beside", [])),
        surely=any_of(written.get("surely", [])),
        about=any_of(written.get("about", [])),
        reckoned=any_of(written.get("reckoned", [])),
        shapes=re.compile(rf"(?<![\w-])(?:{'|'.join(shapes)})(?![\w])") if shapes else None,
        place=written.get("place", ""),
        of=written.get("of", ""),
        is_joined=written.get("joined", False),
        has_branches=written.get("branches", False),
    )


def _plain(words: str) -> str:
    return " ".join(words_of(words))


_SMALL = "as|of|on|the|this|in|at|by|and|is|be|shall|date|dated|effective|from|to|day|midnight|including"
_BETWEEN = rf"(?:[\s_,:]|(?<![a-z])(?:{_SMALL})(?![a-z])){{0,12}}"


def _leading(phrases: Sequence[str]) -> re.Pattern[str] | None:
    """One of the phrases and small words behind it, up to the end of what is searched."""
    words = any_of(phrases)
    return re.compile(rf"{words.pattern}{_BETWEEN}$") if words else None

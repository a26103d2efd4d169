"""Conditions: the typed tree that defines a set of documents, and what it means.

A comparison on a document that lacks the field is *unknown*; `Not`, `All`, `Any` follow SQL's three values; only *true*
is in the set. Lists, rows and flags are never unknown: absent means empty, none, false. `Missing` is always true or
false, and so is `InRow`.

Dates are ISO days (`2031-05-09`), which compare as strings; numbers and money amounts are doubles.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from enum import StrEnum
from typing import TypeAlias, assert_never

from storage.search.ids import FieldName

Scalar: TypeAlias = str | float | bool

TEXT = FieldName("text")  # reserved: title and text of the whole document, by the analyser
TITLE = FieldName("title")  # reserved: the title alone, by the analyser
DOC_ID = FieldName("doc_id")  # reserved: the document itself, compared exactly
RESERVED = frozenset({TEXT, TITLE, DOC_ID})


class Op(StrEnum):
    EQ = "eq"
    IN = "in"
    HAS = "has"
    CONTAINS = "contains"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    BETWEEN = "between"  # both ends included


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """`field op value`. `value` is a tuple for `in` (one or more) and `between` (low, high), else one scalar."""

    field: FieldName
    op: Op
    value: Scalar | tuple[Scalar, ...]
    words: str = attribute(default="", compare=False)  # of the question that gave it; no part of its meaning

    def __post_init__(self) -> None:
        if isinstance(self.value, tuple):
            if 0.0 in self.value:
                object.__setattr__(self, "value", tuple(map(_without_sign, self.value)))
        elif self.value == 0.0:
            object.__setattr__(self, "value", _without_sign(self.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The document has no value for the field: always true or false. Empty lists and rows are missing, flags never."""

    field: FieldName
    words: str = attribute(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InRow:
    """One row of the rows field meets all of `condition`, whose fields are the rows' columns. Never unknown."""

    row: FieldName
    condition: "Condition"
    words: str = attribute(default="", compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.condition, All) and len(self.condition.members) == 1:
            object.__setattr__(self, "condition", self.condition.members[0])  # one and the same, in JSON too


@dataclass(frozen=True, slots=True, eq=False)
class _Several:
    members: tuple["Condition", ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(dict.fromkeys(_flattened(self.members, type(self)))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and set(self.members) == set(other.members)

    def __hash__(self) -> int:
        return hash((type(self).__name__, frozenset(self.members)))


@dataclass(frozen=True, slots=True, eq=False)
class All(_Several):
    """Every member; with none, every document. Nested ones flatten, order and repeats do not matter to equality."""


@dataclass(frozen=True, slots=True, eq=False)
class Any(_Several):
    """At least one member; with none, no document. Nested ones flatten, order and repeats do not matter."""


@dataclass(frozen=True, slots=True)
class Not:
    """True where `condition` is false; unknown where it is unknown."""

    condition: "Condition"


Condition: TypeAlias = Compare | Missing | InRow | All | Any | Not


def _flattened(members: Sequence["Condition"], kind: type[_Several]) -> Iterator["Condition"]:
    for member in members:
        if isinstance(member, _Several) and type(member) is kind:
            yield from member.members
        else:
            yield member


EVERYTHING = All()


def _without_sign(value: Scalar) -> Scalar:
    """-0.0 and 0.0 are one value."""
    return 0.0 if isinstance(value, float) and value == 0.0 else value


def all_of(*conditions: Condition) -> Condition:
    """The conjunction; a single condition stays itself."""
    together = All(conditions)
    return together.members[0] if len(together.members) == 1 else together


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The members of a plain conjunction, or the condition alone."""
    return condition.members if isinstance(condition, All) else (condition,)


def contains_text(words: str) -> Compare:
    """The condition of a required term: a word, or a phrase of the analyser's terms, in title or text."""
    return Compare(field=TEXT, op=Op.CONTAINS, value=words, words=words)


def mentions(words: str) -> Condition:
    """Title or text holds the words; or they are the document's id, in whichever case, where they hold a digit."""
    return _or_id(contains_text(words), words)


def titled(words: str) -> Condition:
    """The title holds the words; or they are the document's id, as in `mentions`."""
    return _or_id(Compare(field=TITLE, op=Op.CONTAINS, value=words, words=words), words)


def _or_id(said: Compare, words: str) -> Condition:
    if not any(one.isdigit() for one in words):
        return said
    spellings = tuple(dict.fromkeys((words, words.upper(), words.lower())))
    return Any((said, Compare(field=DOC_ID, op=Op.IN, value=spellings, words=words)))


def fields_of(condition: Condition) -> frozenset[FieldName]:
    """The document fields that the condition names (a row's columns are not among them)."""
    match condition:
        case Compare(field=name) | Missing(field=name) | InRow(row=name):
            return frozenset({name})
        case All(members) | Any(members):
            return frozenset[FieldName]().union(*map(fields_of, members))
        case Not(inner):
            return fields_of(inner)
        case _:
            assert_never(condition)

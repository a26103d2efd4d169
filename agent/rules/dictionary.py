"""The values that a bucket's visible documents hold, found by their words.

There may be hundreds of thousands, most of which no question names. So what a value may mean is made when a question
names it, and until then it costs its terms and an entry for each.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from typing import TypeAlias

from agent.rules.language import LEGAL_FORMS, NEGATIONS
from storage.search.ids import FieldName
from storage.search.index import ValueCount
from storage.search.text import Analyser

LONGEST = 12  # terms of a value or name that are matched as one
_WORDIEST = 60  # terms of a value that is linked at all
_PROSE = 5  # terms a value has on average from which it is prose

Key: TypeAlias = tuple[FieldName, FieldName | None]  # a field, or a column of a rows field


class Kind(Enum):
    """How the values of a field are written, which decides how few of their words may stand for them."""

    PLAIN = "plain"  # lower case: kinds of things
    NAMES = "names"  # capitalised: people, companies, products
    ITEMS = "items"  # in rows: whatever was written
    PROSE = "prose"  # sentences and addresses: only whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """The values of one field that a phrase stands for. `by_head`: for some it is only their last words."""

    key: Key
    values: Sequence[str]  # in the order given
    documents: int  # that have one of them, one after the other
    by_head: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """The values of one field; the position of the first of them among those of all fields."""

    key: Key
    kind: Kind
    values: Sequence[ValueCount]
    start: int


class Dictionary:
    """Phrases are terms of the analyser joined by blanks; values are known by their positions."""

    def __init__(self, analyser: Analyser) -> None:
        self._analyser = analyser
        self._held: list[_Held] = []
        self._starts: list[int] = []
        self._size = 0
        self._named: list[str] = []
        self._named_at = array("I")
        self._heads: set[tuple[Key, str]] = set()
        self._with: dict[str, array[int]] = defaultdict(partial(array, "I"))

    def add(self, key: Key, values: Sequence[ValueCount], *, are_kinds: bool) -> None:
        """All the values of a field; `are_kinds`: they sort documents rather than naming each. Before any question."""
        phrases = self._analyser.each([one.value for one in values])
        column = key[1]
        kind = _kind_of(values, phrases, column, are_kinds=are_kinds)
        self._held.append(_Held(key=key, kind=kind, values=values, start=self._size))
        self._starts.append(self._size)
        if column is None:
            self._name(phrases, key, kind)
        if kind is not Kind.PROSE:
            self._index(phrases, alone=column is not None)
        self._size += len(values)

    def _name(self, phrases: Sequence[str], key: Key, kind: Kind) -> None:
        named, places = self._named.append, self._named_at.append
        for at, phrase in enumerate(phrases, self._size):
            if not phrase or phrase.count(" ") >= LONGEST:
                continue
            named(phrase)
            places(at)
            if kind is Kind.PLAIN or phrase.rpartition(" ")[2] in LEGAL_FORMS:
                for form in _shorter(phrase.split(), kind):
                    named(form)
                    places(at)
                    if kind is Kind.PLAIN:
                        self._heads.add((key, form))

    def _index(self, phrases: Sequence[str], *, alone: bool) -> None:
        """By each of their terms; `alone`: also where it is the only one."""
        containing, least = self._with, 1 if alone else 2
        for at, phrase in enumerate(phrases, self._size):
            terms = phrase.split()
            if least <= len(terms) <= _WORDIEST:
                for term in terms:
                    containing[term].append(at)

    @cached_property
    def _phrases(self) -> tuple[list[str], "array[int]"]:
        """What values are called, by code point, and the position of each one's value."""
        order = sorted(range(len(self._named)), key=self._named.__getitem__)
        return [self._named[at] for at in order], array("I", [self._named_at[at] for at in order])

    def kind(self, key: Key) -> Kind:
        return self._by_key[key].kind

    @cached_property
    def _by_key(self) -> Mapping[Key, _Held]:
        return {one.key: one for one in self._held}

    def begins(self, phrase: str) -> bool:
        """Whether what some value is called begins with these terms, or is them."""
        phrases, _ = self._phrases
        at = bisect_left(phrases, phrase)  # a blank sorts before whatever a term may go on with
        return at < len(phrases) and (phrases[at] == phrase or phrases[at].startswith(f"{phrase} "))

    def called(self, phrase: str) -> Iterator[Called]:
        """The values that the phrase stands for, a field at a time, in the order in which the fields were added."""
        phrases, places = self._phrases
        first = bisect_left(phrases, phrase)
        for held, positions in self._by_field(places[first : bisect_right(phrases, phrase, first)]):
            found = [held.values[at - held.start] for at in positions]
            yield Called(
                key=held.key,
                values=[one.value for one in found],
                documents=sum(one.count for one in found),
                by_head=(held.key, phrase) in self._heads,
            )

    def holds(self, term: str) -> bool:
        """Whether the term is one of several of some value, other than prose."""
        return term in self._with

    def places(self, term: str) -> Mapping[Key, Set[int]]:
        """Where those values are, by field."""
        found = self._with.get(term)
        return {} if found is None else {held.key: set(at) for held, at in self._by_field(found)}

    def values_at(self, key: Key, positions: Set[int]) -> Iterator[str]:
        held = self._by_key[key]
        return (held.values[at - held.start].value for at in positions)

    def texts(self) -> Iterator[Sequence[str]]:
        """The values of each field that may be misspelt: all but prose in rows."""
        for one in self._held:
            if one.key[1] is None or one.kind is not Kind.PROSE:
                yield [value.value for value in one.values]

    def kinds_called(self, key: Key) -> Iterator[tuple[str, str]]:
        """What each value of a field is called, where that stands for no other of them; with the value."""
        held = self._by_key.get(key)
        if held is None:
            return
        phrases = self._analyser.each([one.value for one in held.values])
        meant: dict[str, list[str]] = defaultdict(list)
        for one, phrase in zip(held.values, phrases, strict=True):
            terms = phrase.split()
            if 0 < len(terms) <= LONGEST:
                for form in (phrase, *_shorter(terms, held.kind)):
                    meant[form].append(one.value)
        yield from ((phrase, values[0]) for phrase, values in meant.items() if len(values) == 1)

    def _by_field(self, positions: "array[int]") -> Iterator[tuple[_Held, Sequence[int]]]:
        """Ascending positions, a field at a time."""
        first = 0
        while first < len(positions):
            held = self._held[bisect_right(self._starts, positions[first]) - 1]
            last = bisect_left(positions, held.start + len(held.values), first)
            yield held, positions[first:last]
            first = last


def _kind_of(
    values: Sequence[ValueCount], phrases: Sequence[str], column: FieldName | None, *, are_kinds: bool
) -> Kind:
    if sum(phrase.count(" ") + 1 for phrase in phrases if phrase) > _PROSE * len(values):
        return Kind.PROSE
    if column is not None:
        return Kind.ITEMS
    if not are_kinds:
        return Kind.NAMES
    capitalised = sum(any(c.isupper() or c.isdigit() for c in one.value) for one in values)
    return Kind.NAMES if 2 * capitalised > len(values) else Kind.PLAIN


def _shorter(terms: Sequence[str], kind: Kind) -> Iterator[str]:
    """What a value may be called besides as it is written: a kind by its last words, a name without its legal form.

    "Active, not recruiting" is not called by what it denies.
    """
    if kind is Kind.PLAIN:
        denied = next((at for at, term in enumerate(terms) if term in NEGATIONS), len(terms))
        yield from (" ".join(terms[start:]) for start in range(1, min(denied + 1, len(terms))))
    elif kind is Kind.NAMES and len(terms) > 1 and terms[-1] in LEGAL_FORMS:
        end = len(terms) - 1
        while end > 1 and terms[end - 1] in LEGAL_FORMS:
            end -= 1
        yield " ".join(terms[:end])

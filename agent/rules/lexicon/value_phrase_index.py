"""An inverted index of the values in a bucket's visible documents.

There may be hundreds of thousands of values, and most are in no question. So the meaning of a value is built only when
a question names the value. Until then a value costs its phrase and one posting per term.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache, partial
from typing import TypeAlias

from agent.english.function_words import LEGAL_FORMS, NEGATIONS
from storage.search.analyser import Analyser
from storage.search.ids import FieldName
from storage.search.index import ValueCount

MAX_PHRASE_TERMS = 12  # terms of a phrase that is matched as a whole
_MAX_RECENT_PREFIXES = 2048
_MAX_INDEXED_TERMS = 60  # a value with more terms is not indexed by its terms
_MIN_PROSE_TERMS = 5  # terms per value, on average, above which the values are prose

_APOSTROPHE = re.compile(r"(?<=\w)['’ʼ](?=\w)")
_LANGUAGES_OF_STATES = frozenset({"fr", "es"})  # a state begins with a preposition: "en cours" is not "cours"
_PURPOSE_PREPOSITIONS = frozenset({"at", "for", "in"})
_MIN_HEAD_TERMS = 2
_AND = re.compile(r"\s(?:&|and)\s", re.IGNORECASE)
FieldKey: TypeAlias = tuple[FieldName, FieldName | None]  # a field, or a column of a rows field


def _spell_and(value: str) -> str:
    """Returns "Bed & Breakfast" with the word, and "bed and breakfast" with the sign."""
    return _AND.sub(lambda match: " and " if "&" in match[0] else " & ", value)


class ValueStyle(Enum):
    """How the values of a field are written; it decides which parts of a value may stand for it."""

    PLAIN = "plain"  # lower case: categories
    NAMES = "names"  # capitalised: people, companies, products
    ITEMS = "items"  # columns of rows: any text
    PROSE = "prose"  # sentences and addresses: only the whole value


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseValues:
    """The values of one field that a phrase stands for. `by_head_words`: some values only end in the phrase."""

    field_key: FieldKey
    values: Sequence[str]  # in the order of `add_values`
    document_count: int  # documents with one of the values, summed over the values
    by_head_words: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _IndexedField:
    """The values of one field; `start` is the position of the first of them among the values of all fields."""

    field_key: FieldKey
    style: ValueStyle
    values: Sequence[ValueCount]
    start: int


class ValuePhraseIndex:
    """Finds values by phrases and terms. A phrase is a sequence of analyser terms joined by spaces."""

    def __init__(self, analyser: Analyser) -> None:
        self._analyser = analyser
        self._indexed_fields: list[_IndexedField] = []
        self._field_starts: list[int] = []
        self._value_count = 0
        self._phrase_list: list[str] = []
        self._phrase_positions = array("I")
        self._head_phrases: set[tuple[FieldKey, str]] = set()
        self._postings: dict[str, array[int]] = defaultdict(partial(array, "I"))

    def add_values(self, field_key: FieldKey, values: Sequence[ValueCount], *, is_categorical: bool) -> None:
        """Adds all values of a field; every field must be added before the first look-up.

        `is_categorical`: the values classify documents instead of naming each of them.
        """
        phrases = self._analyser.joined_terms_of([value.value for value in values])
        style = _classify_style(values, phrases, field_key[1], is_categorical=is_categorical)
        self._add_styled_values(field_key, values, phrases, style)

    def add_whole_values(self, field_key: FieldKey, values: Sequence[ValueCount]) -> None:
        """Adds values that only the whole of their words stands for, such as titles."""
        phrases = self._analyser.joined_terms_of([value.value for value in values])
        self._add_styled_values(field_key, values, phrases, ValueStyle.PROSE)

    def _add_styled_values(
        self, field_key: FieldKey, values: Sequence[ValueCount], phrases: Sequence[str], style: ValueStyle
    ) -> None:
        self._indexed_fields.append(
            _IndexedField(field_key=field_key, style=style, values=values, start=self._value_count)
        )
        self._field_starts.append(self._value_count)
        column = field_key[1]
        if column is None:
            self._index_phrases(phrases, field_key, style)
        if style is not ValueStyle.PROSE:
            self._index_terms(phrases, include_single_terms=column is not None)
        if any(_APOSTROPHE.search(value.value) for value in values):
            self._index_as_typed(field_key, values, phrases, style, lambda value: _APOSTROPHE.sub("", value))
        if any(_AND.search(value.value) for value in values):
            self._index_as_typed(field_key, values, phrases, style, _spell_and)
        self._value_count += len(values)

    def _index_as_typed(
        self,
        field_key: FieldKey,
        values: Sequence[ValueCount],
        phrases: Sequence[str],
        style: ValueStyle,
        spell: Callable[[str], str],
    ) -> None:
        """ "obriens bakery", "bed and breakfast": indexes "O'Brien's Bakery" and "Bed & Breakfast" as typed, too."""
        typed = self._analyser.joined_terms_of([spell(value.value) for value in values])
        others = ["" if other == phrase else other for other, phrase in zip(typed, phrases, strict=True)]
        if field_key[1] is None:
            self._index_phrases(others, field_key, ValueStyle.PROSE)  # the short forms are there already
        if style is not ValueStyle.PROSE:
            self._index_terms(others, include_single_terms=field_key[1] is not None)

    def _index_phrases(self, phrases: Sequence[str], field_key: FieldKey, style: ValueStyle) -> None:
        add_phrase, add_position = self._phrase_list.append, self._phrase_positions.append
        whole = frozenset(phrases) if style is ValueStyle.NAMES else frozenset[str]()
        for index, phrase in enumerate(phrases, self._value_count):
            if not phrase or phrase.count(" ") >= MAX_PHRASE_TERMS:
                continue
            add_phrase(phrase)
            add_position(index)
            begins_small = self._analyser.language in _LANGUAGES_OF_STATES and phrase.find(" ") in (1, 2)
            if (style is ValueStyle.PLAIN and not begins_small) or phrase.rpartition(" ")[2] in LEGAL_FORMS:
                for form in _shortened_forms(phrase.split(), style):
                    add_phrase(form)
                    add_position(index)
                    if style is ValueStyle.PLAIN:
                        self._head_phrases.add((field_key, form))
            elif style is ValueStyle.NAMES and (form := _head_before_purpose(phrase)) and form not in whole:
                add_phrase(form)
                add_position(index)
                self._head_phrases.add((field_key, form))

    def _index_terms(self, phrases: Sequence[str], *, include_single_terms: bool) -> None:
        """Adds a posting for each term; `include_single_terms`: also for values of a single term."""
        postings, min_terms = self._postings, 1 if include_single_terms else 2
        for index, phrase in enumerate(phrases, self._value_count):
            terms = phrase.split()
            if min_terms <= len(terms) <= _MAX_INDEXED_TERMS:
                for term in terms:
                    postings[term].append(index)

    @cached_property
    def _sorted_phrases(self) -> tuple[list[str], "array[int]"]:
        """The phrases sorted by code point, and the position of each phrase's value."""
        order = sorted(range(len(self._phrase_list)), key=self._phrase_list.__getitem__)
        return [self._phrase_list[index] for index in order], array(
            "I", [self._phrase_positions[index] for index in order]
        )

    def style_of(self, field_key: FieldKey) -> ValueStyle:
        return self._field_by_key[field_key].style

    @cached_property
    def _field_by_key(self) -> Mapping[FieldKey, _IndexedField]:
        return {field.field_key: field for field in self._indexed_fields}

    @cached_property
    def has_prefix(self) -> Callable[[str], bool]:
        """Whether some phrase begins with these terms or equals them. Remembered: most words are in each question."""
        return lru_cache(maxsize=_MAX_RECENT_PREFIXES)(self._begins_phrase)

    def _begins_phrase(self, phrase: str) -> bool:
        phrases, _ = self._sorted_phrases
        index = bisect_left(phrases, phrase)  # a space sorts before every character of a term
        return index < len(phrases) and (phrases[index] == phrase or phrases[index].startswith(f"{phrase} "))

    def match_phrase(self, phrase: str) -> Iterator[PhraseValues]:
        """Yields the values that the phrase stands for, grouped by field in the order of `add_values`."""
        phrases, all_positions = self._sorted_phrases
        first = bisect_left(phrases, phrase)
        for field, positions in self._group_by_field(all_positions[first : bisect_right(phrases, phrase, first)]):
            values = [field.values[position - field.start] for position in positions]
            yield PhraseValues(
                field_key=field.field_key,
                values=[value.value for value in values],
                document_count=sum(value.count for value in values),
                by_head_words=(field.field_key, phrase) in self._head_phrases,
            )

    def has_term(self, term: str) -> bool:
        """Whether the term has postings: it is one of several terms of a value that is not prose."""
        return term in self._postings

    def postings_for(self, term: str) -> Mapping[FieldKey, Set[int]]:
        """Returns the positions of the values with the term, by field."""
        postings = self._postings.get(term)
        return (
            {}
            if postings is None
            else {field.field_key: set(positions) for field, positions in self._group_by_field(postings)}
        )

    def values_at(self, field_key: FieldKey, positions: Set[int]) -> Iterator[str]:
        field = self._field_by_key[field_key]
        return (field.values[position - field.start].value for position in positions)

    def values_for_spelling(self) -> Iterator[Sequence[str]]:
        """Yields the values of each field that may be misspelt: all except prose in rows."""
        for field in self._indexed_fields:
            if field.field_key[1] is None or field.style is not ValueStyle.PROSE:
                yield [value.value for value in field.values]

    def unambiguous_phrases(self, field_key: FieldKey) -> Iterator[tuple[str, str]]:
        """Yields each phrase that stands for exactly one value of the field, with this value."""
        field = self._field_by_key.get(field_key)
        if field is None:
            return
        phrases = self._analyser.joined_terms_of([value.value for value in field.values])
        values_by_form: dict[str, list[str]] = defaultdict(list)
        for value, phrase in zip(field.values, phrases, strict=True):
            terms = phrase.split()
            if 0 < len(terms) <= MAX_PHRASE_TERMS:
                for form in (phrase, *_shortened_forms(terms, field.style)):
                    values_by_form[form].append(value.value)
        yield from ((phrase, values[0]) for phrase, values in values_by_form.items() if len(values) == 1)

    def _group_by_field(self, positions: "array[int]") -> Iterator[tuple[_IndexedField, Sequence[int]]]:
        """Groups ascending positions by field."""
        first = 0
        while first < len(positions):
            field = self._indexed_fields[bisect_right(self._field_starts, positions[first]) - 1]
            last = bisect_left(positions, field.start + len(field.values), first)
            yield field, positions[first:last]
            first = last


def _classify_style(
    values: Sequence[ValueCount], phrases: Sequence[str], column: FieldName | None, *, is_categorical: bool
) -> ValueStyle:
    if sum(phrase.count(" ") + 1 for phrase in phrases if phrase) > _MIN_PROSE_TERMS * len(values):
        return ValueStyle.PROSE
    if column is not None:
        return ValueStyle.ITEMS
    if not is_categorical:
        return ValueStyle.NAMES
    capitalised_count = sum(any(c.isupper() or c.isdigit() for c in value.value) for value in values)
    return ValueStyle.NAMES if 2 * capitalised_count > len(values) else ValueStyle.PLAIN


def _head_before_purpose(phrase: str) -> str:
    """ "*First aid* at work": returns the words before a preposition of place or purpose, if there are several."""
    terms = phrase.split()
    end = next((index for index, term in enumerate(terms) if term in _PURPOSE_PREPOSITIONS), 0)
    return " ".join(terms[:end]) if _MIN_HEAD_TERMS <= end < len(terms) - 1 else ""


def _shortened_forms(terms: Sequence[str], style: ValueStyle) -> Iterator[str]:
    """Yields the short forms of a value: the last words of a category, a name without its legal form.

    Words after a negation are not a short form: "Active, not recruiting".
    """
    if style is ValueStyle.PLAIN:
        negation_index = next((index for index, term in enumerate(terms) if term in NEGATIONS), len(terms))
        yield from (" ".join(terms[start:]) for start in range(1, min(negation_index + 1, len(terms))))
    elif style is ValueStyle.NAMES and len(terms) > 1 and terms[-1] in LEGAL_FORMS:
        end = len(terms) - 1
        while end > 1 and terms[end - 1] in LEGAL_FORMS:
            end -= 1
        yield " ".join(terms[:end])

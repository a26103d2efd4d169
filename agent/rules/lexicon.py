"""What the words of a bucket mean: its nouns, its fields, and the values its visible documents hold.

Built from schema and vocabulary alone, so that another corpus is another lexicon and no other code.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from agent.rules.dictionary import LONGEST, Called, Dictionary, Key, Kind
from agent.rules.language import (
    COMPARATORS,
    ENDED,
    FILLER,
    FUNCTION_WORDS,
    LEGAL_FORMS,
    NEGATIONS,
    ORDERING,
    PEOPLE,
    STOP,
)
from agent.rules.tokens import Token
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary, Vocabulary
from storage.search.schema import Field, FieldType, Schema
from storage.search.text import Analyser, fold

_MOST_SOFT = 400  # values a rare word may stand in and still point at them
_SPELLED_LETTERS = 5  # of a stem that may be misspelt; fewer resemble too much
_LONG = 8  # letters from which two slips are one word still
_MOST_REORDERED = 5  # content words of what is known in any order of its words
_WIDEST = 7  # tokens among which they stand
_WITHIN_NAMES = frozenset({"of", "for", "to", "on", "the", "a", "an", "s"})  # words of form that may stand between
_WITHIN_FLAGS = frozenset({"is", "are", "was", "were", "be", "not", "t"})  # in a flag's: "pets *are not* allowed"
_MEASURED = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
_DENYING = ("un", "non")  # prefixes
_PARTICIPLES = ("ed", "en", "wn", "id", "nt")  # "assigned", "given", "known", "paid", "sent"
_ENDING = frozenset({"or", "and", "but", "yet", "anywhere"})
_AS_VALUE, _AS_NOUN = 0.15, 0.3  # weight that a word written just so gains
_DENIED = 1.9  # weight a word: more than of a field's name, less than of a value
_NOT_SET = "false"  # of a flag, among the values of the schema
_JOINING = frozenset({"or", "and"})
_COORDINATED = 2.4  # weight: more than of a number
_HINT = 0.4  # weight of a word that only hints at a field: anything else it may mean is more
_SHORT = 3  # letters of a word that hints at nothing
_FORM = STOP | FILLER | FUNCTION_WORDS | COMPARATORS
_APART = 1.1  # documents a value has on average, at most, for its field to tell them apart
_FEW = 50  # values that a field of kinds may have, however few documents there are


@dataclass(frozen=True, slots=True)
class Noun:
    """The bucket's documents, by name or synonym."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A field, by name, title or synonym. `column` within a rows field. `soft`: by a word of these, or of its
    description, that belongs to no other field. `denied`: by a word that says there is none, or that a flag is not set:
    "unassigned", "open" where a flag tells what is resolved.
    """

    field: FieldName
    column: FieldName | None = None
    soft: bool = False
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Valued:
    """A value of a field, whole: as the documents have it, or by a synonym of the schema."""

    field: FieldName
    column: FieldName | None
    value: str


@dataclass(frozen=True, slots=True)
class Partly:
    """Values of a field that hold these words among others."""

    field: FieldName
    column: FieldName | None
    values: tuple[str, ...]
    by_head: bool = False  # kinds whose last words these are
    whole: bool = False  # one name, written in several ways


Meaning: TypeAlias = Noun | Mention | Valued | Partly


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """`tokens[first:last]` may mean `meaning`."""

    first: int
    last: int
    meaning: Meaning
    weight: float


class Lexicon:
    """One bucket's words. Phrases are tuples of the bucket's stems."""

    def __init__(
        self, schema: Schema, vocabulary: Iterable[FieldVocabulary], analyser: Analyser, documents: int
    ) -> None:
        self.schema, self.analyser, self.documents = schema, analyser, documents
        self.bucket: BucketId = schema.bucket
        self.fields: Mapping[FieldName, FieldVocabulary] = {one.field: one for one in vocabulary}
        self._phrases: dict[tuple[str, ...], dict[Meaning, int]] = defaultdict(dict)  # of the schema; with documents
        self._flagged: dict[tuple[str, ...], Mention] = {}  # words, not stems: "open" is not "opened"
        self._held = Dictionary(analyser)
        self._places_of: dict[FieldName, int] = {one.name: at for at, one in enumerate(schema.fields)}
        self._counted: dict[FieldName, Mapping[str, int]] = {}
        self._folded: dict[Key, Sequence[str]] = {}
        self._told: dict[Key, bool] = {}
        self._stems_of: dict[FieldName, frozenset[str]] = {}
        self._add_nouns()
        for field in schema.fields:
            self._add_field(field, None)
            for column in field.columns:
                self._add_field(column, field.name)
        self._hints = self._hinted()

    def links(self, tokens: Sequence[Token]) -> Iterator[Link]:
        """Every reading of every run of tokens; a quotation is taken whole or not at all."""
        stems = tuple(token.stem for token in tokens)
        for first in range(len(stems)):
            for last in range(first + 1, min(first + self._most(stems, first), len(tokens)) + 1):
                meanings = self._meanings(stems[first:last])
                if meanings and _keeps_quotations(tokens, first, last):
                    for meaning, documents in meanings.items():
                        if _is_form_alone(meaning, tokens[first:last]):
                            continue
                        weight = _weight(meaning, tokens[first:last], documents) + self._as_written(
                            meaning, tokens[first:last]
                        )
                        yield Link(first=first, last=last, meaning=meaning, weight=weight)
        if tokens and tokens[0].word == "who" and self._is_of_people:
            yield Link(first=0, last=1, meaning=Noun(), weight=_HINT)
        yield from self._coordinated_links(tokens, stems)
        yield from self._denied_links(tokens)
        yield from self._not_done_links(tokens)
        yield from self._flagged_links(tokens)
        yield from self._partial_links(tokens)
        yield from self._reordered_links(tokens)
        for at, token in enumerate(tokens):
            hinted = None if token.quoted else self._hints.get(token.stem)
            if hinted is not None:
                yield Link(first=at, last=at + 1, meaning=hinted, weight=_HINT)

    def _as_written(self, meaning: Meaning, tokens: Sequence[Token]) -> float:
        """More for the value, or the noun, that is written just so than for another meaning with the same stems:
        "Engineering", no engineer; a listing, and not when it was listed.
        """
        written = " ".join(one.word for one in tokens)
        if isinstance(meaning, Noun):
            return _AS_NOUN if written in self._nouns else 0.0
        return _AS_VALUE if isinstance(meaning, Valued) and fold(meaning.value) == written else 0.0

    @cached_property
    def _nouns(self) -> frozenset[str]:
        """What the documents are called, where a field is called by another form of the word."""
        fields = (one for field in self.schema.fields for one in (field.label, *field.synonyms))
        own = {fold(one) for one in fields}
        written = {fold(one) for one in (self.schema.title, *self.schema.synonyms)} - own
        return frozenset(one for one in written if len(self._meanings(self._stems(one))) > 1)

    def _coordinated_links(self, tokens: Sequence[Token], stems: tuple[str, ...]) -> Iterator[Link]:
        """ "Phase 1 or 2": what stands for another value with the words before it."""
        for at in range(2, len(tokens) - 1):
            if tokens[at].word not in _JOINING or not _is_short(tokens[at - 1]) or not _is_short(tokens[at + 1]):
                continue
            for first in range(max(at - _MOST_REORDERED, 0), at - 1):
                before = self._meanings(stems[first:at])
                for meaning in self._meanings((*stems[first : at - 1], stems[at + 1])):
                    if isinstance(meaning, Valued) and any(_is_value_of(one, meaning) for one in before):
                        yield Link(first=at + 1, last=at + 2, meaning=meaning, weight=_COORDINATED)

    def _denied_links(self, tokens: Sequence[Token]) -> Iterator[Link]:
        """ "Unassigned", "unfurnished": a field that is lacking, a flag that is not set."""
        for at, token in enumerate(tokens):
            base = next((token.word[len(one) :] for one in _DENYING if token.word.startswith(one)), "")
            if len(base) <= _SHORT or token.quoted or self._knows(token.stem):
                continue
            name = self._spoken_by.get("".join(self._stems(base)))
            if name is not None:
                yield Link(first=at, last=at + 1, meaning=Mention(name, denied=True), weight=_DENIED)

    def _not_done_links(self, tokens: Sequence[Token]) -> Iterator[Link]:
        """ "Not assigned", "not yet paid": what a field would say of is not so, where no value follows."""
        for at, token in enumerate(tokens[:-1]):
            done = at + 1 + (tokens[at + 1].word in ("yet", "been") and at + 2 < len(tokens))
            after = tokens[done + 1].word if done + 1 < len(tokens) else ""
            if token.word not in ("not", "never") or not tokens[done].word.endswith(_PARTICIPLES):
                continue
            if tokens[done].word in ENDED:
                continue  # "not expired" is told by the day
            name = self._spoken_by.get(tokens[done].stem)
            ends = after in _ENDING or not after
            if name is not None and ends and self.field(name).type in (FieldType.DATE, FieldType.CATEGORY):
                yield Link(first=at, last=done + 1, meaning=Mention(name, denied=True), weight=2 * _DENIED)

    def _flagged_links(self, tokens: Sequence[Token]) -> Iterator[Link]:
        words = tuple(token.word for token in tokens)
        for phrase, meaning in self._flagged.items():
            for first in range(len(words) - len(phrase) + 1):
                last = first + len(phrase)
                if words[first:last] == phrase and _keeps_quotations(tokens, first, last):
                    yield Link(first=first, last=last, meaning=meaning, weight=_DENIED * len(phrase))

    @cached_property
    def _spoken_by(self) -> Mapping[str, FieldName]:
        """The field of each stem that stands in what one field alone is called, words of form included."""
        owners: dict[str, set[FieldName]] = defaultdict(set)
        for field in self.schema.fields:
            for written in (field.name.replace("_", " "), field.title, *field.synonyms):
                for stem in self._stems(written):
                    owners[stem].add(field.name)
        return {stem: next(iter(names)) for stem, names in owners.items() if len(names) == 1}

    def field(self, name: FieldName, column: FieldName | None = None) -> Field:
        target = self.schema.by_name[name]
        return target if column is None else next(one for one in target.columns if one.name == column)

    @cached_property
    def measured(self) -> Sequence[tuple[Field, FieldName | None]]:
        """The fields, then the columns with their rows field, that a number, an amount or a day may belong to."""
        fields = [(one, None) for one in self.schema.fields]
        columns = [(column, one.name) for one in self.schema.fields for column in one.columns]
        return [pair for pair in (*fields, *columns) if pair[0].type in _MEASURED]

    @cached_property
    def units(self) -> frozenset[str]:
        """What its numbers are measured in."""
        return frozenset(field.unit for field, _ in self.measured if field.unit)

    def vocabulary(self, name: FieldName, column: FieldName | None = None) -> FieldVocabulary | None:
        return self.fields.get(name if column is None else FieldName(f"{name}.{column}"))

    def documents_with(self, name: FieldName, value: str) -> int:
        """How many documents have the value, as far as the vocabulary tells."""
        return self._counts(name).get(value, 0)

    def _counts(self, name: FieldName) -> Mapping[str, int]:
        if name not in self._counted:
            vocabulary = self.vocabulary(name)
            self._counted[name] = {one.value: one.count for one in vocabulary.values} if vocabulary else {}
        return self._counted[name]

    def folded(self, name: FieldName, column: FieldName | None = None) -> Sequence[str]:
        """The values of a field as they compare."""
        key = (name, column)
        if key not in self._folded:
            vocabulary = self.vocabulary(name, column)
            self._folded[key] = [fold(one.value) for one in vocabulary.values] if vocabulary else []
        return self._folded[key]

    def stems_of(self, name: FieldName) -> frozenset[str]:
        """The words that speak of a field: its name, title, synonyms and description."""
        if name not in self._stems_of:
            field = self.schema.by_name[name]
            written = " ".join((name.replace("_", " "), field.title, *field.synonyms, field.description))
            self._stems_of[name] = frozenset(self._stems(written))
        return self._stems_of[name]

    def _hinted(self) -> Mapping[str, Mention]:
        """Words that speak of one field and of no other ("dissipate" of a power dissipation); names before
        descriptions.
        """
        hints: dict[str, Mention] = {}
        nouns = frozenset[str]().union(*(phrase for phrase, said in self._phrases.items() if Noun() in said))
        for described in (False, True):
            owners: dict[str, set[FieldName]] = defaultdict(set)
            for field in self.schema.fields:
                for stem in self._telling(field, described=described) - nouns:
                    owners[stem].add(field.name)
            hints |= {
                stem: Mention(next(iter(names)), soft=True)
                for stem, names in owners.items()
                if len(names) == 1 and stem not in hints
            }
        return hints

    def _telling(self, field: Field, *, described: bool) -> set[str]:
        said = (
            field.description if described else " ".join((field.name.replace("_", " "), field.title, *field.synonyms))
        )
        words, terms = self.analyser.words(said), self.analyser.terms(said)
        return {
            term.text
            for word, term in zip(words, terms, strict=True)
            if len(word.text) > _SHORT and word.text not in _FORM and not word.text.isdigit()
        }

    def tells_kinds(self, name: FieldName, column: FieldName | None = None) -> bool:
        """Whether the field sorts documents into kinds, rather than naming each of them."""
        vocabulary = self.vocabulary(name, column)
        return vocabulary is not None and len(vocabulary.values) <= max(_FEW, vocabulary.documents / 10)

    def tells_apart(self, name: FieldName) -> bool:
        """Whether nearly every document has a value of its own, however few documents there are."""
        known = self.vocabulary(name)
        return known is not None and len(known.values) > 1 and known.documents <= _APART * len(known.values)

    def as_known(self, token: Token) -> Token:
        """The token; in the singular, where only that is known: "PNPs"."""
        stem = token.stem
        if not token.word.endswith("s") or self._knows(stem):
            return token
        singular = token.word[:-1]
        return replace(token, stem=singular) if self._knows(singular) else token

    def _knows(self, stem: str) -> bool:
        return stem in self._longest or self._held.holds(stem) or self._held.begins(stem)

    def respelled(self, token: Token) -> tuple[str, str] | None:
        """The word of a name or kind that `token` misspells, and its stem; None for a word that is known, short or
        like no other.
        """
        word = token.word
        if len(word) < _SPELLED_LETTERS or not word.isalpha() or word in _FORM or token.stem in self._known_stems:
            return None
        slips = 1 if len(word) < _LONG else 2
        alike = [one for size in range(-slips, slips + 1) for one in self._spelled.get((word[0], len(word) + size), ())]
        found = extract(word, alike, scorer=OSA.distance, score_cutoff=slips, limit=4)
        near = sorted((distance, one) for one, distance, _ in found)
        return (near[0][1], self._known[near[0][1]]) if near else None

    @cached_property
    def _longest(self) -> Mapping[str, int]:
        """By the stem a phrase of the schema begins with: the most tokens that such a phrase has."""
        longest: dict[str, int] = {}
        for phrase in self._phrases:
            longest[phrase[0]] = max(longest.get(phrase[0], 0), len(phrase))
        return longest

    def _most(self, stems: tuple[str, ...], first: int) -> int:
        """The most tokens from there that may be one phrase."""
        most = self._longest.get(stems[first], 0)
        while (
            most < LONGEST
            and first + most < len(stems)
            and self._held.begins(" ".join(stems[first : first + most + 1]))
        ):
            most += 1
        return most

    def _meanings(self, phrase: tuple[str, ...]) -> Mapping[Meaning, int]:
        """With the documents of each; the schema's fields in order, and of each its own words before its values."""
        said = self._phrases.get(phrase, {})
        held = {_meaning_of(one): one.documents for one in self._held.called(" ".join(phrase))}
        if not said or not held:
            return said or held
        return {meaning: held.get(meaning, said.get(meaning, 0)) for meaning in sorted([*said, *held], key=self._place)}

    def _place(self, meaning: Meaning) -> int:
        return -1 if isinstance(meaning, Noun) else self._places_of[meaning.field]

    @cached_property
    def _known(self) -> Mapping[str, str]:
        """Every word of names and kinds, with its stem."""
        texts = [*self._held.texts(), list(self._called())]
        words = sorted(set[str]().union(*(self.analyser.unplaced("\n".join(part)).words for part in texts)))
        return dict(zip(words, self.analyser.each(words), strict=True))

    @cached_property
    def _known_stems(self) -> frozenset[str]:
        return frozenset(self._known.values())

    @cached_property
    def _spelled(self) -> Mapping[tuple[str, int], Sequence[str]]:
        """The known words by first letter and length: a slip is rarely in the first letter."""
        spelled: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in self._known:
            spelled[word[:1], len(word)].append(word)
        return dict(spelled)

    def _called(self) -> Iterator[str]:
        """What the bucket, its fields and the schema's values are called."""
        yield from (self.schema.title, *self.schema.synonyms)
        for field in self.schema.fields:
            yield from (
                field.label,
                *field.synonyms,
                *field.values,
                *(w for said in field.values.values() for w in said),
            )

    def _stems(self, text: str) -> tuple[str, ...]:
        return tuple(self.analyser.unplaced(text).terms.split())

    def _add(self, text: str, meaning: Meaning, documents: int = 0) -> None:
        stems = self._stems(text)
        if stems and len(stems) <= LONGEST:
            self._phrases[stems][meaning] = max(documents, self._phrases[stems].get(meaning, 0))

    def _add_nouns(self) -> None:
        for noun in (self.schema.bucket.replace("_", " "), self.schema.title, *self.schema.synonyms):
            self._add(noun, Noun())

    def _add_field(self, field: Field, row: FieldName | None) -> None:
        name, column = (field.name, None) if row is None else (row, field.name)
        for written in (field.name.replace("_", " "), field.title, *field.synonyms):
            self._add(written, Mention(name, column))
        vocabulary = self.vocabulary(name, column)
        counted = {one.value: one.count for one in vocabulary.values} if vocabulary and field.values else {}
        if field.type is FieldType.FLAG:
            self._add_flag(field)
            return
        for value, synonyms in field.values.items():
            for written in (value, *synonyms):
                self._add(written, Valued(name, column, value), counted.get(value, 0))
        if field.type in (FieldType.CATEGORY, FieldType.LIST, FieldType.TEXT) and vocabulary and vocabulary.values:
            self._held.add((name, column), vocabulary.values, are_kinds=self.tells_kinds(name, column))

    def _add_flag(self, field: Field) -> None:
        """What its two values are called: by the very words, since inflected they may speak of when it was so."""
        for value, synonyms in field.values.items():
            for written in synonyms:
                words = tuple(word.text for word in self.analyser.words(written))
                self._flagged[words] = Mention(field.name, denied=value == _NOT_SET)

    def _partial_links(self, tokens: Sequence[Token]) -> Iterator[Link]:
        runs: dict[Key, tuple[int, int, Set[int]]] = {}
        for at, token in enumerate(tokens):
            places = self._places(token)
            for key in list(runs):
                if key not in places or runs[key][2].isdisjoint(places[key]):
                    yield from self._partly(key, runs.pop(key), tokens)
            for key, values in places.items():
                first, _, before = runs.get(key, (at, at, values))
                runs[key] = (first, at + 1, before & values)
        for key, run in runs.items():
            yield from self._partly(key, run, tokens)

    def _reordered_links(self, tokens: Sequence[Token]) -> Iterator[Link]:
        """ "Assign IP ownership" for an ownership assignment: the words of a field or kind in another order, with words
        of form between them.
        """
        content = [at for at, token in enumerate(tokens) if token.word not in STOP and not token.quoted]
        for start, first in enumerate(content):
            stems = {tokens[first].stem}
            for last in content[start + 1 : start + _MOST_REORDERED]:
                between = tokens[first : last + 1]
                form = [token.word for token in between if token.word in STOP]
                if last - first > _WIDEST or not set(form) <= _WITHIN_NAMES | _WITHIN_FLAGS:
                    break
                flags_only = bool(set(form) & _WITHIN_FLAGS)
                stems.add(tokens[last].stem)
                for meaning in self._bags.get(frozenset(stems), ()):
                    if flags_only and not (self.is_flag(meaning) or self._is_count(meaning)):
                        continue
                    if not self._meanings(tuple(token.stem for token in between)):
                        named = isinstance(meaning, Mention)  # as the words weigh in their order, or nearly
                        weight = (1.8 if named else 2.0) * len(stems) + 0.2 * (len(stems) - 1) - 0.1
                        yield Link(first=first, last=last + 1, meaning=meaning, weight=weight)

    @cached_property
    def _bags(self) -> Mapping[frozenset[str], Sequence[Meaning]]:
        """What fields and kinds are called, whatever the order of the words."""
        bags: dict[frozenset[str], dict[Meaning, None]] = defaultdict(dict)
        for phrase, meaning in self._called_reordered():
            bag = frozenset(phrase) - self._form_stems if len(phrase) > 1 else frozenset[str]()
            if 1 < len(bag) <= _MOST_REORDERED:
                bags[bag][meaning] = None
        return {bag: tuple(sorted(meanings, key=self._place)) for bag, meanings in bags.items()}

    def is_flag(self, meaning: Meaning) -> bool:
        """Whether it speaks of what a document is or is not."""
        spoken = isinstance(meaning, Mention)
        return spoken and self.field(meaning.field, meaning.column).type is FieldType.FLAG

    def _is_count(self, meaning: Meaning) -> bool:
        """ "How many *tickets were sold*": a number without a unit."""
        spoken = isinstance(meaning, Mention) and meaning.column is None and not meaning.soft
        field = self.field(meaning.field) if spoken and isinstance(meaning, Mention) else None
        return field is not None and field.type is FieldType.NUMBER and not field.unit

    def is_named_by(self, name: FieldName, stem: str) -> bool:
        """Whether the field's own name holds the word."""
        field = self.schema.by_name[name]
        return stem in self._stems(f"{name.replace('_', ' ')} {field.title}")

    def hinted_by(self, stems: Iterable[str]) -> tuple[FieldName, ...]:
        """The field that several of the stems hint at, and no other as many; none for none."""
        hinted = Counter(self._hints[stem].field for stem in set(stems) if stem in self._hints)
        best = hinted.most_common(2)
        told = bool(best) and best[0][1] > 1 and (len(best) == 1 or best[0][1] > best[1][1])
        return (best[0][0],) if told else ()

    def hinted_field(self, stem: str) -> FieldName | None:
        """The one field that the word speaks of, whatever else it may mean."""
        hint = self._hints.get(stem)
        return None if hint is None or hint.column is not None else hint.field

    @cached_property
    def person_field(self) -> FieldName | None:
        """The first field that says who, where it sorts documents: the assignee, the agent."""
        for field in self.schema.fields:
            called = {word for said in (field.label, *field.synonyms) for word in fold(said).split()}
            if field.type is FieldType.CATEGORY and called & PEOPLE and not self.tells_apart(field.name):
                return field.name
        return None

    @cached_property
    def _is_of_people(self) -> bool:
        return any(Noun() in self._meanings(self._stems(noun)) for noun in ("people", "person", "employee"))

    def days_called(self, phrases: Iterable[str]) -> tuple[FieldName, ...]:
        """The date field that is called by the first of the phrases that any is called by; none for none."""
        for phrase in phrases:
            spoken = [one for one in self._meanings(self._stems(phrase)) if isinstance(one, Mention)]
            for one in spoken:
                if one.column is None and self.field(one.field).type is FieldType.DATE:
                    return (one.field,)
        return ()

    def _called_reordered(self) -> Iterator[tuple[Sequence[str], Meaning]]:
        for phrase, meanings in self._phrases.items():
            yield from ((phrase, one) for one in meanings if isinstance(one, Mention) or self._is_of_kinds(one))
        for field in self.schema.fields:
            if self.tells_kinds(field.name):
                for phrase, value in self._held.kinds_called((field.name, None)):
                    yield phrase.split(), Valued(field.name, None, value)

    @cached_property
    def _form_stems(self) -> frozenset[str]:
        return frozenset(term.text for term in self.analyser.terms(" ".join(STOP)))

    def _is_of_kinds(self, meaning: Meaning) -> bool:
        if not isinstance(meaning, Valued):
            return False
        key = (meaning.field, meaning.column)
        if key not in self._told:
            self._told[key] = meaning.column is None and self.tells_kinds(meaning.field)
        return self._told[key] or meaning.value in self.field(*key).values

    def _places(self, token: Token) -> Mapping[Key, Set[int]]:
        empty = len(token.stem) < 2 or token.quoted or token.word in STOP or token.word in FILLER
        empty = empty or token.word in LEGAL_FORMS or token.word in ORDERING or token.word in NEGATIONS
        if empty or token.word in FUNCTION_WORDS or token.word in COMPARATORS:
            return {}
        return self._held.places(token.stem)

    def _partly(self, key: Key, run: tuple[int, int, Set[int]], tokens: Sequence[Token]) -> Iterator[Link]:
        (name, column), (first, last, values) = key, run
        vocabulary = self.vocabulary(name, column)
        distinct = len(vocabulary.values) if vocabulary else 0
        if len(values) > _MOST_SOFT and len(values) > distinct / 4:
            return
        words = tokens[first:last]
        if all(token.word.isdigit() for token in words):
            return  # a number alone points at no name
        if self._held.kind(key) is Kind.NAMES and not any(token.is_name for token in words):
            return
        if self._held.kind(key) is Kind.PLAIN:
            return  # kinds are named by their last words, which are phrases of their own
        meaning = Partly(name, column, tuple(sorted(self._held.values_at(key, values))))
        yield Link(first=first, last=last, meaning=meaning, weight=_weight(meaning, words, len(values)))


def _is_short(token: Token) -> bool:
    """A number or a letter, which alone stands for little."""
    return (token.word.isdigit() or len(token.word) == 1) and not token.quoted


def _is_value_of(one: Meaning, other: Valued) -> bool:
    return isinstance(one, Valued) and (one.field, one.column) == (other.field, other.column)


def _meaning_of(called: Called) -> Meaning:
    """ "Transistor" means power transistors too: a kind is named by its last words. A name is one, however written."""
    name, column = called.key
    if len(called.values) == 1:
        return Valued(name, column, called.values[0])
    return Partly(name, column, tuple(sorted(called.values)), by_head=called.by_head, whole=not called.by_head)


def _keeps_quotations(tokens: Sequence[Token], first: int, last: int) -> bool:
    """A quotation is meant as a whole: a run takes all of it or nothing."""
    quoted = [token.quoted for token in tokens[first:last]]
    if not any(quoted):
        return True
    outside = (first > 0 and tokens[first - 1].quoted) or (last < len(tokens) and tokens[last].quoted)
    return all(quoted) and not outside


def _is_form_alone(meaning: Meaning, tokens: Sequence[Token]) -> bool:
    """ "What" asks, whatever a field is called, and "or" joins, unless "OR" is written as the name of a place."""
    form = all(one.word in STOP or len(one.word) == 1 for one in tokens)
    if not form or isinstance(meaning, Noun):
        return False
    return isinstance(meaning, Mention) or not any(one.is_name or one.quoted for one in tokens)


def _weight(meaning: Meaning, tokens: Sequence[Token], documents: int) -> float:
    """Longer runs and whole values weigh more; among equals, what more documents hold."""
    content = sum(1.0 if token.word not in STOP else 0.3 for token in tokens)
    common = 0.01 * min(math.log10(1 + documents), 5)
    match meaning:
        case Noun():
            return 1.6 * content
        case Valued():
            number = all(token.word.isdigit() for token in tokens)
            return (0.8 if number else 2.0) * content + 0.2 * (len(tokens) - 1) + common
        case Mention(soft=True):
            return _HINT
        case Mention():
            return 1.8 * content
        case Partly(by_head=True) | Partly(whole=True):
            return 2.0 * content + 0.2 * (len(tokens) - 1) * meaning.whole + common
        case Partly(column=column, values=values):
            return (1.2 if column is None else 1.1) * content - 0.1 - min(len(values), 100) / 1000


def lexicons(
    schemas: Mapping[BucketId, Schema], vocabulary: Vocabulary, analyser_of: Mapping[BucketId, Analyser]
) -> Mapping[BucketId, Lexicon]:
    """One lexicon a bucket."""
    fields: dict[BucketId, list[FieldVocabulary]] = defaultdict(list)
    for one in vocabulary.fields:
        fields[one.bucket].append(one)
    return {
        bucket: Lexicon(schema, fields[bucket], analyser_of[bucket], vocabulary.documents.get(bucket, 0))
        for bucket, schema in schemas.items()
    }

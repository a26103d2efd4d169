"""What the words of a bucket mean: its nouns, its fields, and the values its visible documents hold.

Built from schema and vocabulary alone, so that another corpus is another lexicon and no other code.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent.rules.language import FILLER, STOP
from agent.rules.tokens import Token
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary, Vocabulary
from storage.search.schema import Field, FieldType, Schema
from storage.search.text import Analyser

_LONGEST = 12  # tokens of a value or name that are matched as one
_MOST_SOFT = 400  # values a rare word may stand in and still point at them


@dataclass(frozen=True, slots=True)
class Noun:
    """The bucket's documents, by name or synonym."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A field, by name, title or synonym. `column` within a rows field."""

    field: FieldName
    column: FieldName | None = None


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
        self._phrases: dict[tuple[str, ...], list[Meaning]] = defaultdict(list)
        self._words: dict[str, dict[tuple[FieldName, FieldName | None], list[str]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self._add_nouns()
        for field in schema.fields:
            self._add_field(field, None)
            for column in field.columns:
                self._add_field(column, field.name)

    def links(self, tokens: Sequence[Token]) -> Iterator[Link]:
        """Every reading of every run of tokens, those inside quotation marks included."""
        for first in range(len(tokens)):
            for last in range(first + 1, min(first + _LONGEST, len(tokens)) + 1):
                if not _keeps_quotations(tokens, first, last):
                    continue
                for meaning in self._phrases.get(tuple(token.stem for token in tokens[first:last]), ()):
                    yield Link(first=first, last=last, meaning=meaning, weight=_weight(meaning, tokens[first:last]))
        yield from self._partial_links(tokens)

    def has_noun(self, tokens: Sequence[Token]) -> bool:
        return any(isinstance(link.meaning, Noun) for link in self.links(tokens))

    def field(self, name: FieldName, column: FieldName | None = None) -> Field:
        target = self.schema.by_name[name]
        return target if column is None else next(one for one in target.columns if one.name == column)

    def vocabulary(self, name: FieldName, column: FieldName | None = None) -> FieldVocabulary | None:
        return self.fields.get(name if column is None else FieldName(f"{name}.{column}"))

    def _stems(self, text: str) -> tuple[str, ...]:
        return tuple(term.text for term in self.analyser.terms(text))

    def _add(self, text: str, meaning: Meaning) -> None:
        stems = self._stems(text)
        if stems and len(stems) <= _LONGEST and meaning not in self._phrases[stems]:
            self._phrases[stems].append(meaning)

    def _add_nouns(self) -> None:
        for noun in (self.schema.bucket.replace("_", " "), self.schema.title, *self.schema.synonyms):
            self._add(noun, Noun())

    def _add_field(self, field: Field, row: FieldName | None) -> None:
        name, column = (field.name, None) if row is None else (row, field.name)
        for written in (field.name.replace("_", " "), field.title, *field.synonyms):
            self._add(written, Mention(name, column))
        vocabulary = self.vocabulary(name, column)
        counted = [one.value for one in vocabulary.values] if vocabulary else []
        for value, synonyms in field.values.items():
            for written in (value, *synonyms):
                self._add(written, Valued(name, column, value))
        if field.type in (FieldType.CATEGORY, FieldType.LIST, FieldType.TEXT):
            for value in counted:
                self._add_value(value, name, column)

    def _add_value(self, value: str, name: FieldName, column: FieldName | None) -> None:
        stems = self._stems(value)
        if not stems or len(stems) > 60:
            return
        if len(stems) <= _LONGEST:
            meaning = Valued(name, column, value)
            if meaning not in self._phrases[stems]:
                self._phrases[stems].append(meaning)
        if len(stems) > 1 or column is not None:
            for stem in set(stems):
                self._words[stem][name, column].append(value)

    def _partial_links(self, tokens: Sequence[Token]) -> Iterator[Link]:
        runs = dict[tuple[FieldName, FieldName | None], tuple[int, int, set[str]]]()
        for at, token in enumerate(tokens):
            places: Mapping[tuple[FieldName, FieldName | None], list[str]] = {}
            if len(token.stem) > 1 and not token.quoted and token.word not in STOP and token.word not in FILLER:
                places = self._words.get(token.stem, {})
            for key in list(runs):
                if key not in places or not runs[key][2] & set(places[key]):
                    yield from self._partly(key, runs.pop(key), tokens)
            for key, values in places.items():
                first, _, before = runs.get(key, (at, at, set(values)))
                runs[key] = (first, at + 1, before & set(values))
        for key, run in runs.items():
            yield from self._partly(key, run, tokens)

    def _partly(
        self, key: tuple[FieldName, FieldName | None], run: tuple[int, int, set[str]], tokens: Sequence[Token]
    ) -> Iterator[Link]:
        (name, column), (first, last, values) = key, run
        distinct = len(self.fields[name if column is None else FieldName(f"{name}.{column}")].values)
        if len(values) > _MOST_SOFT and len(values) > distinct / 4:
            return
        meaning = Partly(name, column, tuple(sorted(values)))
        yield Link(first=first, last=last, meaning=meaning, weight=_weight(meaning, tokens[first:last]))


def _keeps_quotations(tokens: Sequence[Token], first: int, last: int) -> bool:
    """A quotation is meant as a whole: a run takes all of it or nothing."""
    quoted = [token.quoted for token in tokens[first:last]]
    if not any(quoted):
        return True
    outside = (first > 0 and tokens[first - 1].quoted) or (last < len(tokens) and tokens[last].quoted)
    return all(quoted) and not outside


def _weight(meaning: Meaning, tokens: Sequence[Token]) -> float:
    content = sum(1.0 if token.word not in STOP else 0.3 for token in tokens)
    match meaning:
        case Noun():
            return 1.6 * content
        case Valued():
            return 2.0 * content + (0.2 if len(tokens) > 1 else 0.0)
        case Mention():
            return 1.8 * content
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

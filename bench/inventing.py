"""Invented words, names, prose and buckets, the same in every run."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from storage.ingest.chunk import passages_of
from storage.search.documents import Document, Value
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.schema import Field, FieldType, Schema

_ONSETS = "b br c ch d dr f fl g gr h j k l m n p pl qu r s st sh t tr v w z".split()
_VOWELS = "a e i o u ai ea ou".split()
_CODAS = "l m n nd r rt s st t x".split()
_COMMON = "the of and to in is for that with as this by on are be or from an which it at was shall not have".split()
_ENDINGS = ("", "", "", "s", "ed", "ing", "ation", "ment")
_UNITS = ("V", "A", "W", "kg", "mm", "degC", "day", "")
_FIRST_DAY = date(2015, 1, 1)
_KINDS = (FieldType.NUMBER, FieldType.CATEGORY, FieldType.DATE, FieldType.NUMBER, FieldType.FLAG, FieldType.CATEGORY)


def words(rng: random.Random, count: int) -> list[str]:
    """So many different words."""
    found = dict[str, None]()
    while len(found) < count:
        syllables = rng.randint(2, 3)
        parts = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables)]
        found["".join(parts) + rng.choice(_CODAS)] = None
    return list(found)


def prose(rng: random.Random, vocabulary: Sequence[str], characters: int) -> str:
    """Sentences in which a few words are frequent and most are rare, as in any language."""
    pieces, length = list[str](), 0
    while length < characters:
        sentence = " ".join(_word(rng, vocabulary) for _ in range(rng.randint(8, 30))).capitalize()
        end = rng.choice((". ", ". ", "; ", ".\n\n", f" (“{rng.randint(1, 99)}.{rng.randint(1, 9)}”). "))
        pieces.append(sentence + end)
        length += len(pieces[-1])
    return "".join(pieces)


def _word(rng: random.Random, vocabulary: Sequence[str]) -> str:
    if rng.random() < 0.45:
        return rng.choice(_COMMON)
    return vocabulary[int(len(vocabulary) * rng.random() ** 4)] + rng.choice(_ENDINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wide:
    """A bucket of many fields, some of which hold a name of its own in each document."""

    fields: int
    names: int  # fields of names
    documents: int

    @property
    def values(self) -> int:
        """Different names."""
        return self.names * self.documents


class Invention:
    """The schema, documents and questions of a wide bucket."""

    def __init__(self, wide: Wide, seed: int = 7) -> None:
        self._rng, self._wide = random.Random(seed), wide
        self._words = words(self._rng, 4_000)
        taken = iter(words(self._rng, 3 * wide.fields))
        kinds = (FieldType.CATEGORY,) * wide.names + _KINDS * wide.fields
        self._fields = [self._field(f"{next(taken)}_{next(taken)}", kind) for kind in kinds[: wide.fields]]
        self._names, self._others = self._fields[: wide.names], self._fields[wide.names :]
        self._kinds = {one.name: self._rng.sample(self._words, 12) for one in self._others}

    @property
    def schema(self) -> Schema:
        return Schema(bucket=BucketId("gadgets"), fields=tuple(self._fields), synonyms=("gadget", "gadgets"))

    def documents(self) -> Iterator[Document]:
        for number in range(self._wide.documents):
            values: dict[FieldName, Value] = {one.name: self._name(number) for one in self._names}
            values |= {one.name: self._value(one) for one in self._rng.sample(self._others, min(15, len(self._others)))}
            text = prose(self._rng, self._words, 200)
            yield Document(
                doc_id=DocId(f"g{number}"),
                title=f"Gadget {number}",
                text=text,
                values=values,
                passages=passages_of(text),
                digest=str(number),
            )

    def questions(self, count: int) -> list[str]:
        """Of every kind that a wide bucket can be asked."""
        return [self._question(number) for number in range(count)]

    def _field(self, name: str, kind: FieldType) -> Field:
        unit = self._rng.choice(_UNITS) if kind is FieldType.NUMBER else ""
        synonyms = tuple(self._rng.sample(self._words, 3))
        return Field(name=FieldName(name), type=kind, unit=unit, facet=True, synonyms=synonyms)

    def _name(self, number: int) -> str:
        return f"{self._rng.choice(self._words)} {self._rng.choice(self._words)} {number}".title()

    def _value(self, one: Field) -> Value:
        match one.type:
            case FieldType.NUMBER:
                return round(self._rng.uniform(0, 500), 1)
            case FieldType.DATE:
                return (_FIRST_DAY + timedelta(days=self._rng.randrange(3_600))).isoformat()
            case FieldType.FLAG:
                return self._rng.random() < 0.5
            case _:
                return self._rng.choice(self._kinds[one.name])

    def _question(self, number: int) -> str:
        numbers = [one for one in self._others if one.type is FieldType.NUMBER]
        kinds = [one for one in self._others if one.type is FieldType.CATEGORY]
        dates = [one for one in self._others if one.type is FieldType.DATE]
        measured, kind, day = (self._rng.choice(some) for some in (numbers, kinds, dates))
        value, least = self._rng.choice(self._kinds[kind.name]), self._rng.randint(1, 400)
        match number % 5:
            case 0:
                return f"gadgets with {measured.label} of at least {least} {measured.unit}"
            case 1:
                return f"how many gadgets have {kind.label} {value} and {day.label} after 2019?"
            case 2:
                return f"average {measured.label} by {kind.label} in 2020"
            case 3:
                return (
                    f"what is the {measured.label} of {self._rng.choice(self._words)} {self._rng.choice(self._words)}"
                )
            case _:
                return f"list gadgets from {value} not in 2018 with {measured.label} between {least} and {least + 50}"

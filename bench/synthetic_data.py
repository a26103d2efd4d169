"""Generates words, names, prose and buckets that are the same in every run."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from storage.ingest.documents.chunk import passages_of
from storage.search.documents import Document, FieldValue
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

_ONSETS = "b br c ch d dr f fl g gr h j k l m n p pl qu r s st sh t tr v w z".split()
_VOWELS = "a e i o u ai ea ou".split()
_CODAS = "l m n nd r rt s st t x".split()
_COMMON_WORDS = (
    "the of and to in is for that with as this by on are be or from an which it at was shall not have".split()
)
_ENDINGS = ("", "", "", "s", "ed", "ing", "ation", "ment")
_UNITS = ("V", "A", "W", "kg", "mm", "degC", "day", "")
_FIRST_DAY = date(2015, 1, 1)
_FIELD_TYPES = (
    FieldType.NUMBER,
    FieldType.CATEGORY,
    FieldType.DATE,
    FieldType.NUMBER,
    FieldType.FLAG,
    FieldType.CATEGORY,
)


def invent_words(rng: random.Random, count: int) -> list[str]:
    """The given number of different words."""
    words = dict[str, None]()
    while len(words) < count:
        syllables = rng.randint(2, 3)
        syllable_texts = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables)]
        words["".join(syllable_texts) + rng.choice(_CODAS)] = None
    return list(words)


def invent_prose(rng: random.Random, vocabulary: Sequence[str], characters: int) -> str:
    """Sentences in which a few words are frequent and most are rare, as in natural language."""
    pieces, length = list[str](), 0
    while length < characters:
        sentence = " ".join(_pick_word(rng, vocabulary) for _ in range(rng.randint(8, 30))).capitalize()
        end = rng.choice((". ", ". ", "; ", ".\n\n", f" (“{rng.randint(1, 99)}.{rng.randint(1, 9)}”). "))
        pieces.append(sentence + end)
        length += len(pieces[-1])
    return "".join(pieces)


def _pick_word(rng: random.Random, vocabulary: Sequence[str]) -> str:
    if rng.random() < 0.45:
        return rng.choice(_COMMON_WORDS)
    return vocabulary[int(len(vocabulary) * rng.random() ** 4)] + rng.choice(_ENDINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticBucketSize:
    """The size of a bucket with many fields. A name field has a different name in each document."""

    field_count: int
    name_field_count: int
    document_count: int

    @property
    def distinct_name_count(self) -> int:
        """The number of different names."""
        return self.name_field_count * self.document_count


class SyntheticBucket:
    """The schema, documents and questions of a wide bucket."""

    def __init__(self, size: SyntheticBucketSize, seed: int = 7) -> None:
        self._rng, self._size = random.Random(seed), size
        self._words = invent_words(self._rng, 4_000)
        name_words = iter(invent_words(self._rng, 3 * size.field_count))
        kinds = (FieldType.CATEGORY,) * size.name_field_count + _FIELD_TYPES * size.field_count
        self._fields = [
            self._make_field(f"{next(name_words)}_{next(name_words)}", kind) for kind in kinds[: size.field_count]
        ]
        self._name_fields, self._value_fields = (
            self._fields[: size.name_field_count],
            self._fields[size.name_field_count :],
        )
        self._category_values = {field.name: self._rng.sample(self._words, 12) for field in self._value_fields}

    @property
    def schema(self) -> Schema:
        return Schema(bucket=BucketId("gadgets"), fields=tuple(self._fields), synonyms=("gadget", "gadgets"))

    def generate_documents(self) -> Iterator[Document]:
        for number in range(self._size.document_count):
            values: dict[FieldName, FieldValue] = {field.name: self._make_name(number) for field in self._name_fields}
            values |= {
                field.name: self._make_value(field)
                for field in self._rng.sample(self._value_fields, min(15, len(self._value_fields)))
            }
            text = invent_prose(self._rng, self._words, 200)
            yield Document(
                doc_id=DocId(f"g{number}"),
                title=f"Gadget {number}",
                text=text,
                values=values,
                passages=passages_of(text),
                digest=str(number),
            )

    def generate_questions(self, count: int) -> list[str]:
        """Questions of every kind that a wide bucket can answer."""
        return [self._make_question(number) for number in range(count)]

    def _make_field(self, name: str, kind: FieldType) -> SchemaField:
        unit = self._rng.choice(_UNITS) if kind is FieldType.NUMBER else ""
        synonyms = tuple(self._rng.sample(self._words, 3))
        return SchemaField(name=FieldName(name), type=kind, unit=unit, facet=True, synonyms=synonyms)

    def _make_name(self, number: int) -> str:
        return f"{self._rng.choice(self._words)} {self._rng.choice(self._words)} {number}".title()

    def _make_value(self, field: SchemaField) -> FieldValue:
        match field.type:
            case FieldType.NUMBER:
                return round(self._rng.uniform(0, 500), 1)
            case FieldType.DATE:
                return (_FIRST_DAY + timedelta(days=self._rng.randrange(3_600))).isoformat()
            case FieldType.FLAG:
                return self._rng.random() < 0.5
            case _:
                return self._rng.choice(self._category_values[field.name])

    def _make_question(self, number: int) -> str:
        number_fields = [field for field in self._value_fields if field.type is FieldType.NUMBER]
        category_fields = [field for field in self._value_fields if field.type is FieldType.CATEGORY]
        date_fields = [field for field in self._value_fields if field.type is FieldType.DATE]
        number_field, category_field, date_field = (
            self._rng.choice(fields) for fields in (number_fields, category_fields, date_fields)
        )
        value, minimum = self._rng.choice(self._category_values[category_field.name]), self._rng.randint(1, 400)
        match number % 5:
            case 0:
                return f"gadgets with {number_field.label} of at least {minimum} {number_field.unit}"
            case 1:
                return f"how many gadgets have {category_field.label} {value} and {date_field.label} after 2019?"
            case 2:
                return f"average {number_field.label} by {category_field.label} in 2020"
            case 3:
                return (
                    f"what is the {number_field.label} of "
                    f"{self._rng.choice(self._words)} {self._rng.choice(self._words)}"
                )
            case _:
                return (
                    f"list gadgets from {value} not in 2018 "
                    f"with {number_field.label} between {minimum} and {minimum + 50}"
                )

"""A corpus of any size, from a seed: shipments with values and ten passages each, and the suppliers they come from."""

import random
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property
from itertools import accumulate

from bench.synthetic_data import invent_words
from storage.search.analyser import AnalysedTerm, Analyser, IndexTerms
from storage.search.documents import Document, FieldValue, Passage
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

SHIPMENTS, SUPPLIERS = BucketId("shipments"), BucketId("suppliers")
PASSAGES_PER_DOCUMENT = 10
_WORDS_PER_PASSAGE = 30
_VOCABULARY_SIZE = 20_000
_SUPPLIER_COUNT = 1_000
_FIRST_DAY = date(2015, 1, 1)
_DAY_COUNT = 3_650
_STATUSES = ("delivered", "delayed", "lost", "returned", "booked")
_STATUS_WEIGHTS = (70, 15, 1, 4, 10)
_PRIORITIES = ("express", "standard", "economy")
_CURRENCIES = ("EUR", "USD")
_FIELD_TYPES = {
    "carrier": FieldType.CATEGORY,
    "supplier": FieldType.CATEGORY,
    "status": FieldType.CATEGORY,
    "country": FieldType.CATEGORY,
    "priority": FieldType.CATEGORY,
    "currency": FieldType.CATEGORY,
    "tags": FieldType.LIST,
    "price": FieldType.MONEY,
    "weight": FieldType.NUMBER,
    "distance": FieldType.NUMBER,
    "shipped": FieldType.DATE,
    "arrived": FieldType.DATE,
    "insured": FieldType.FLAG,
    "reference": FieldType.CATEGORY,
}
_UNITS = {"weight": "kg", "distance": "km"}


class WordAnalyser:
    """Divides a text of lower-case words at blanks; for words that the analyser of their language leaves as they are.

    It gives the terms of that analyser, and is many times as fast.
    """

    def __init__(self, analyser: Analyser) -> None:
        self.language, self.version = analyser.language, analyser.version

    def extract_terms(self, text: str) -> Sequence[AnalysedTerm]:
        return [AnalysedTerm(word, 0, 0) for word in text.lower().split()]

    def extract_words(self, text: str) -> Sequence[AnalysedTerm]:
        return self.extract_terms(text)

    def index_terms_of(self, text: str) -> IndexTerms:
        words = text.lower().split()
        return IndexTerms(" ".join(words), set(words))

    def joined_terms_of(self, texts: Sequence[str]) -> Sequence[str]:
        return [" ".join(text.lower().split()) for text in texts]

    def is_inside_term(self, text: str, position: int) -> bool:
        return 0 < position < len(text) and not text[position - 1].isspace() and not text[position].isspace()


class ShipmentCorpus:
    """The schemas and documents. A document depends on the seed and its number only, not on the size of the corpus."""

    def __init__(self, analyser: Analyser, seed: int = 7) -> None:
        self._seed, rng = seed, random.Random(seed)
        candidates = invent_words(rng, 2 * _VOCABULARY_SIZE)
        self.words = [word for word in candidates if _is_left_as_is(word, analyser)][:_VOCABULARY_SIZE]
        names = [word.title() for word in self.words]
        self.carriers, self.countries, self.tags = names[2_000:2_040], names[2_100:2_130], names[2_200:2_250]
        self.suppliers, self.cities = names[3_000 : 3_000 + _SUPPLIER_COUNT], names[4_100:4_120]

    @property
    def schemas(self) -> tuple[Schema, Schema]:
        fields = tuple(self._field_of(FieldName(name), kind) for name, kind in _FIELD_TYPES.items())
        shipments = Schema(bucket=SHIPMENTS, fields=fields, synonyms=("shipment",))
        supplier_fields = (
            SchemaField(name=FieldName("city"), type=FieldType.CATEGORY, facet=True),
            SchemaField(name=FieldName("rating"), type=FieldType.NUMBER, facet=True),
        )
        return shipments, Schema(bucket=SUPPLIERS, fields=supplier_fields, synonyms=("supplier",))

    def generate_shipments(self, count: int) -> Iterator[Document]:
        for number in range(count):
            rng = random.Random(f"{self._seed}:{number}")
            yield self._document_of(f"s{number:07}", f"Shipment S{number:07}", self._shipment_values(number, rng), rng)

    def generate_suppliers(self) -> Iterator[Document]:
        for number, name in enumerate(self.suppliers):
            rng = random.Random(f"{self._seed}:supplier:{number}")
            values: dict[FieldName, FieldValue] = {
                FieldName("city"): rng.choice(self.cities),
                FieldName("rating"): float(rng.randint(1, 5)),
            }
            yield self._document_of(f"p{number:04}", name, values, rng, passage_count=1)

    def words_of_rank(self, *ranks: int) -> str:
        """Returns the words of these ranks by frequency, from 0, joined by blanks."""
        return " ".join(self.words[rank] for rank in ranks)

    @cached_property
    def _cumulated_weights(self) -> list[float]:
        return list(accumulate(1 / (rank + 3) for rank in range(len(self.words))))  # after Zipf

    def _field_of(self, name: FieldName, kind: FieldType) -> SchemaField:
        return SchemaField(
            name=name,
            type=kind,
            unit=_UNITS.get(name, ""),
            currency_field=FieldName("currency") if kind is FieldType.MONEY else None,
            references=f"{SUPPLIERS}.title" if name == "supplier" else "",
            facet=True,
        )

    def _shipment_values(self, number: int, rng: random.Random) -> dict[FieldName, FieldValue]:
        shipped = _FIRST_DAY + timedelta(days=rng.randrange(_DAY_COUNT))
        values: dict[str, FieldValue] = {
            "carrier": rng.choice(self.carriers),
            "supplier": rng.choice(self.suppliers),
            "status": rng.choices(_STATUSES, _STATUS_WEIGHTS)[0],
            "country": rng.choice(self.countries),
            "priority": rng.choice(_PRIORITIES),
            "currency": rng.choice(_CURRENCIES),
            "tags": tuple(rng.sample(self.tags, rng.randint(1, 3))),
            "price": round(rng.lognormvariate(5, 1), 2),
            "weight": round(rng.uniform(0.1, 900), 1),
            "distance": float(rng.randrange(20, 9_000)),
            "shipped": shipped.isoformat(),
            "insured": rng.random() < 0.3,
            "reference": f"S{number:07}",
        }
        if values["status"] == "delivered":
            values["arrived"] = (shipped + timedelta(days=rng.randint(1, 30))).isoformat()
        return {FieldName(name): value for name, value in values.items()}

    def _document_of(
        self,
        doc_id: str,
        title: str,
        values: dict[FieldName, FieldValue],
        rng: random.Random,
        passage_count: int = PASSAGES_PER_DOCUMENT,
    ) -> Document:
        texts = [
            " ".join(rng.choices(self.words, cum_weights=self._cumulated_weights, k=_WORDS_PER_PASSAGE))
            for _ in range(passage_count)
        ]
        ends = list(accumulate(len(text) + 1 for text in texts))
        passages = [
            Passage(start=end - 1 - len(text), end=end - 1, page=page)
            for page, (text, end) in enumerate(zip(texts, ends, strict=True), 1)
        ]
        return Document(
            doc_id=DocId(doc_id), title=title, text=" ".join(texts), values=values, passages=tuple(passages), digest="1"
        )


def _is_left_as_is(word: str, analyser: Analyser) -> bool:
    return [term.text for term in analyser.extract_terms(word)] == [word]

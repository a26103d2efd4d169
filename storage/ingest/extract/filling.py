"""From what was found in a text to the values of a document: what is sure enough, each name under its one spelling."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from storage.ingest.build import digest_of
from storage.ingest.extract.candidates import Candidate, Candidates, Extractor, Material
from storage.ingest.extract.concepts import concept_of
from storage.ingest.extract.joining import Names
from storage.search.documents import Annotation, Document, Row, Value
from storage.search.fit import still_fitting
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import Fetch, ScopedIndex, SearchIndex, ValueCount
from storage.search.schema import Field, FieldType, Schema
from storage.search.scope import Scope

SURE = 0.5  # confidence from which a value is the document's
_SPELLINGS = 100_000  # canonical names of a bucket that are looked at
_VERBATIM = re.compile(r"\bas (?:printed|written|spelt|spelled|it stands|it is (?:printed|written))\b|\bverbatim\b")
_AGAIN = 200  # documents that are put again at once


def is_joined(one: Field) -> bool:
    """Whether the spellings of its values are brought together: names that the schema does not list."""
    if one.type not in (FieldType.CATEGORY, FieldType.LIST) or one.values:
        return False
    if _VERBATIM.search(f"{one.label} {one.description}".casefold()):  # it keeps every spelling
        return False
    concept = concept_of(one)
    return concept is not None and concept.is_joined


def _names(one: Field, known: Sequence[str]) -> Names:
    concept = concept_of(one)
    return Names.of(known, has_branches=concept is not None and concept.has_branches)


@dataclass(slots=True)
class _Spellings:
    """The names of one field: those of the index, and what this run has read."""

    names: Names
    read: dict[DocId, tuple[str, ...]] = field(default_factory=dict[DocId, tuple[str, ...]])
    known: Mapping[str, str] = field(default_factory=dict[str, str])  # spelling → canonical, once decided

    def canonical(self, spelling: str) -> str:
        return self.known.get(spelling) or self.names.canonical(spelling) or spelling

    def decide(self) -> None:
        self.known = self.names.take(Counter(one for several in self.read.values() for one in set(several)))


class Filling:
    """One run of one bucket."""

    def __init__(self, schema: Schema, extractor: Extractor, known: Mapping[FieldName, Sequence[str]]) -> None:
        """`known`: the names that the bucket holds already, by field, the commonest first."""
        self._schema, self._extractor = schema, extractor
        joined = [one for one in schema.fields if is_joined(one)]
        self._spellings = {one.name: _Spellings(_names(one, known.get(one.name, ()))) for one in joined}

    async def filled(self, documents: Sequence[Document]) -> list[Document]:
        """Those without any value get them from their text; the others stay as they are."""
        return [one if one.values else await self._filled(one) for one in documents]

    async def _filled(self, document: Document) -> Document:
        material = Material(title=document.title, text=document.text, passages=document.passages)
        found = await self._extractor.candidates(material, self._schema)
        annotations = tuple(_annotations(found, self._schema))
        for name, spellings in self._spellings.items():
            if said := _said(annotations, name):
                spellings.read[document.doc_id] = said
        return self._with(document, annotations)

    def _with(self, document: Document, annotations: tuple[Annotation, ...]) -> Document:
        values = dict(_values(annotations, self._schema))
        for name, spellings in self._spellings.items():
            if name in values:
                values[name] = _renamed(values[name], spellings)
        fitting = still_fitting(cast(Mapping[str, object], values), self._schema)
        made = replace(document, values=fitting, annotations=annotations)
        return replace(made, digest=digest_of(made))

    def settle(self) -> tuple[DocId, ...]:
        """Decide which spellings are one name, now that all were read; the documents whose values that changes."""
        changed = dict[DocId, None]()
        for spellings in self._spellings.values():
            before = {one: spellings.canonical(one) for several in spellings.read.values() for one in several}
            spellings.decide()
            for doc_id, several in spellings.read.items():
                if any(spellings.canonical(one) != before[one] for one in several):
                    changed[doc_id] = None
        return tuple(changed)

    def renamed(self, document: Document) -> Document:
        """With its names as they were decided."""
        return self._with(document, document.annotations)


def _annotations(found: Candidates, schema: Schema) -> Iterable[Annotation]:
    for one in schema.fields:
        candidates = found.get(one.name, ())
        kept = candidates if one.type in (FieldType.LIST, FieldType.ROWS) else candidates[:1]
        yield from (_annotation(one.name, candidate) for candidate in kept)


def _annotation(name: FieldName, one: Candidate) -> Annotation:
    confidence = round(min(max(one.confidence, 0.0), 1.0), 2)
    return Annotation(field=name, value=one.value, confidence=confidence, start=one.start, end=one.end)


def _values(annotations: Sequence[Annotation], schema: Schema) -> Iterable[tuple[FieldName, Value]]:
    sure = [one for one in annotations if one.confidence >= SURE]
    for name in dict.fromkeys(one.field for one in sure):
        mine = [one.value for one in sure if one.field == name]
        several = schema.by_name[name].type in (FieldType.LIST, FieldType.ROWS)
        yield name, _together(cast(list[tuple[Row, ...]], mine)) if several else mine[0]


def _together(members: Sequence[tuple[Row, ...]]) -> tuple[Row, ...]:
    return tuple(row for rows in members for row in rows)


def _said(annotations: Sequence[Annotation], name: FieldName) -> tuple[str, ...]:
    values = (one.value for one in annotations if one.field == name and one.confidence >= SURE)
    return tuple(str(one[0]) if isinstance(one, tuple) else str(one) for one in values)


def _renamed(value: Value, spellings: _Spellings) -> Value:
    if isinstance(value, tuple):
        return tuple(dict.fromkeys(spellings.canonical(str(one)) for one in value))
    return spellings.canonical(str(value))


# -- with an index


class Annotator:
    """Fills the documents of a run on their way into an index, bucket by bucket."""

    def __init__(self, index: SearchIndex, extractor: Extractor, *, rehearsed: bool = False) -> None:
        """`index` says which names there are. Of a run that is rehearsed nothing is put again."""
        self._index, self._extractor, self._rehearsed = index, extractor, rehearsed
        self._fillings = dict[BucketId, Filling]()

    async def filled(self, documents: Sequence[Document], schema: Schema) -> list[Document]:
        """Those without any value with what their text says; the others as they are."""
        if not schema.fields or all(one.values for one in documents):
            return list(documents)
        if schema.bucket not in self._fillings:
            known = await _names_in(self._index, schema)
            self._fillings[schema.bucket] = Filling(schema, self._extractor, known)
        return await self._fillings[schema.bucket].filled(documents)

    async def settle(self) -> None:
        """Put again the documents whose names turned out to be spellings of others."""
        for bucket, filling in () if self._rehearsed else self._fillings.items():
            changed = await asyncio.to_thread(filling.settle)
            for at in range(0, len(changed), _AGAIN):
                fetch = Fetch(changed[at : at + _AGAIN])
                documents = (await _all_of(self._index, bucket).ask(fetch))[fetch]
                await self._index.put(bucket, [filling.renamed(one) for one in documents])


def _all_of(index: SearchIndex, bucket: BucketId) -> ScopedIndex:
    return index.within(Scope(tenant=index.tenant, buckets=frozenset({bucket}), all_readers=True))


async def _names_in(index: SearchIndex, schema: Schema) -> Mapping[FieldName, Sequence[str]]:
    """The names that the bucket holds, the commonest first."""
    if not any(map(is_joined, schema.fields)) or schema.bucket not in await index.buckets():
        return {}
    vocabulary = await _all_of(index, schema.bucket).vocabulary(_SPELLINGS)
    return {one.field: _by_count(one.values) for one in vocabulary.fields}


def _by_count(values: Sequence[ValueCount]) -> list[str]:
    return [one.value for one in sorted(values, key=lambda one: (-one.count, one.value))]

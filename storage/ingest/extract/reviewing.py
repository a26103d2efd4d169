"""What there is to look through: the values that extraction was least sure of, and the names it brought together."""

import heapq
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from storage.ingest.extract.filling import SURE, is_joined
from storage.search.conditions import EVERYTHING
from storage.search.documents import Annotation, Document, Value
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import Fetch, Records, ScopedIndex, SearchIndex
from storage.search.plan import Clause, Search
from storage.search.schema import Schema
from storage.search.scope import Scope

_PAGE = 100  # documents at once, with their texts
_EVIDENCE = 160  # characters shown
_SPELLINGS = 1_000  # names with several spellings that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A value that was read, and how sure that is. `evidence` is empty where it stands in no text."""

    doc_id: DocId
    title: str
    field: FieldName
    value: Value
    confidence: float
    evidence: str
    page: int | None


@dataclass(slots=True, kw_only=True)
class FieldCounts:
    """Of one field: values read, those that became the document's, those under what was asked about."""

    read: int = 0
    taken: int = 0
    below: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedName:
    """A name and its other spellings, each with its documents, the commonest first."""

    field: FieldName
    name: str
    spellings: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    doubts: tuple[Doubt, ...]  # least confident first
    fields: Mapping[FieldName, FieldCounts]
    names: tuple[JoinedName, ...]


@dataclass(slots=True)
class _Seen:
    """What was gathered so far; of the doubts the lowest `limit`."""

    below: float
    limit: int
    fields: dict[FieldName, FieldCounts]
    joined: frozenset[FieldName]
    heap: list[tuple[float, int, Doubt]] = field(default_factory=list[tuple[float, int, Doubt]])
    names: dict[tuple[FieldName, str], Counter[str]] = field(default_factory=dict[tuple[FieldName, str], Counter[str]])

    def see(self, document: Document, order: "count[int]") -> None:
        for one in document.annotations:
            if one.field not in self.fields:
                continue
            counts = self.fields[one.field]
            counts.read += 1
            counts.taken += one.confidence >= SURE
            if one.confidence < self.below:
                counts.below += 1
                self._keep(_doubt(document, one), next(order))
        for name in self.joined:
            self._see_names(document, name)

    def _keep(self, doubt: Doubt, order: int) -> None:
        entry = (-doubt.confidence, -order, doubt)
        if len(self.heap) < self.limit:
            heapq.heappush(self.heap, entry)
        else:
            heapq.heappushpop(self.heap, entry)

    def _see_names(self, document: Document, name: FieldName) -> None:
        read = [_text(one.value) for one in document.annotations if one.field == name and one.confidence >= SURE]
        held = document.values.get(name)
        names = [str(one) for one in held] if isinstance(held, tuple) else [] if held is None else [str(held)]
        for spelling, canonical in zip(read, names, strict=False) if len(read) == len(names) else ():
            self.names.setdefault((name, canonical), Counter())[spelling] += 1


async def review(index: SearchIndex, schema: Schema, *, below: float, limit: int) -> Review:
    """Of all documents of the bucket, whoever may read them: this is for its owner."""
    joined = frozenset(one.name for one in schema.fields if is_joined(one))
    seen = _Seen(below, max(limit, 1), {one.name: FieldCounts() for one in schema.fields}, joined)
    order = count()
    async for document in _documents(index, schema.bucket):
        seen.see(document, order)
    doubts = [one for _, _, one in sorted(seen.heap, key=lambda entry: (-entry[0], -entry[1]))]
    several = {key: spellings for key, spellings in seen.names.items() if len(spellings) > 1}
    names = sorted(several.items(), key=lambda one: (-one[1].total(), one[0]))[:_SPELLINGS]
    return Review(
        doubts=tuple(doubts),
        fields={name: counts for name, counts in seen.fields.items() if counts.read},
        names=tuple(JoinedName(field=f, name=n, spellings=_ranked(one)) for (f, n), one in names),
    )


def _ranked(spellings: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(spellings.items(), key=lambda one: (-one[1], one[0])))


async def _documents(index: SearchIndex, bucket: BucketId) -> AsyncIterator[Document]:
    scoped = index.within(Scope(tenant=index.tenant, buckets=frozenset({bucket}), all_readers=True))
    everything = Search(clauses=(Clause(bucket=bucket, condition=EVERYTHING),))
    after: str | None = None
    while True:
        page = Records(everything, after=after, limit=_PAGE, fields=frozenset())
        found = (await scoped.ask(page))[page]
        for document in await _fetched(scoped, [one.doc_id for one in found.records]):
            yield document
        if found.cursor is None:
            return
        after = found.cursor


async def _fetched(scoped: ScopedIndex, doc_ids: Sequence[DocId]) -> Sequence[Document]:
    fetch = Fetch(tuple(doc_ids))
    return (await scoped.ask(fetch))[fetch]


def _doubt(document: Document, one: Annotation) -> Doubt:
    start, end = one.start or 0, one.end or 0
    holding = [passage for passage in document.passages if passage.start <= start]
    return Doubt(
        doc_id=document.doc_id,
        title=document.title,
        field=one.field,
        value=one.value,
        confidence=one.confidence,
        evidence=" ".join(document.text[start : min(end, start + _EVIDENCE)].split()),
        page=holding[-1].page if holding and one.start is not None else None,
    )


def _text(value: Value) -> str:
    return str(value[0]) if isinstance(value, tuple) else str(value)

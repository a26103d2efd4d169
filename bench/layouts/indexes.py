"""Loads the corpus into two layouts of an OpenSearch: Parley's, and one with documents beside passages.

Parley's layout is made by Parley, and its entries are encoded by Parley; they are sent in bare bulks. In the other
layout a bucket has an index of its documents, and an index of its passages, each with the values of its document. There
is not a join. For comparison, its passages also have their terms with BM25 as a scripted similarity.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, cast

import aiohttp
import numpy as np

from bench.layouts.corpus import ShipmentCorpus, WordAnalyser
from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import JsonObject, json_lines_of
from storage.opensearch.mapping import DOCUMENT, PASSAGE, IndexLayout
from storage.opensearch.writing.encode import encode_index_entries
from storage.search.documents import Document
from storage.search.ids import BucketId
from storage.text.term_weights import BM25_B, BM25_K1

if TYPE_CHECKING:
    from storage.embedder import Vectors

DIMENSIONS = 256
SCRIPTED_TERMS = "scripted_terms"
_BULK_DOCUMENTS = 50
_BULKS_AT_ONCE = 2
_BULK_PATH = "/_bulk"
_OK, _TOO_MANY_REQUESTS = 200, 429
_RETRY_PAUSE_S = 1.0
_VECTOR_COUNT = 5_003  # different vectors of passages
_OWN_OF_DOCUMENTS = frozenset({"kind", "link", "title_terms", "text_terms", "outline_terms", "words", "stored"})
_SCRIPTED_BM25 = f"""
double idf = Math.log(1 + (field.docCount - term.docFreq + 0.5) / (term.docFreq + 0.5));
double average = field.sumTotalTermFreq / (double) field.docCount;
return query.boost * idf * doc.freq / (doc.freq + {BM25_K1} * (1 - {BM25_B} + {BM25_B} * doc.length / average));
"""


class RandomEmbedder:
    """Implements `Embedder`: the vector of a text is random, the same for the same text."""

    name, is_metered = "random", False

    async def load(self) -> None:
        pass

    async def load_dimensions(self) -> int:
        return DIMENSIONS

    async def embed_texts(self, texts: Sequence[str], *, are_passages: bool = False) -> "Vectors":
        vectors = [np.random.default_rng(list(text.encode())).standard_normal(DIMENSIONS) for text in texts]
        return np.array([vector / np.linalg.norm(vector) for vector in vectors], dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitIndexes:
    """The two indexes of a bucket in the other layout. Each has as many shards as the index in Parley's."""

    documents: str
    passages: str

    @classmethod
    def beside(cls, index: str) -> "SplitIndexes":
        return cls(documents=f"{index}-documents", passages=f"{index}-passages")


@dataclass(frozen=True, kw_only=True)
class LayoutLoader:
    """Loads the corpus. What a server has already is not loaded again."""

    session: aiohttp.ClientSession
    catalogue: BucketCatalogue  # the buckets exist
    corpus: ShipmentCorpus

    @property
    def split_indexes(self) -> Mapping[str, SplitIndexes]:
        """The indexes of the other layout by the name of the index in Parley's."""
        return {layout.index: SplitIndexes.beside(layout.index) for layout in self.catalogue.layouts.values()}

    async def load_parley_layout(self, shipment_count: int) -> list[str]:
        """Returns the names of the indexes."""
        for bucket, documents in self._documents_by_bucket(shipment_count).items():
            layout = self.catalogue.layouts[bucket]
            if not await self._count_entries(layout.index):
                await self._send_bulks(layout, documents, lambda document, encoder: encoder.joined_lines_of(document))
                await self._send("POST", f"/{layout.index}/_refresh")
                await self.catalogue.publish_generations([layout])
        await self._wait_for_merges()
        return list(self.split_indexes)

    async def load_split_layout(self, shipment_count: int) -> list[str]:
        """Returns the names of the indexes."""
        for bucket, documents in self._documents_by_bucket(shipment_count).items():
            layout = self.catalogue.layouts[bucket]
            split = SplitIndexes.beside(layout.index)
            if await self._exists(split.documents):
                continue
            await self._create_split_indexes(layout, split)
            await self._send_bulks(layout, documents, lambda document, encoder: encoder.split_lines_of(document))
            for index in (split.documents, split.passages):
                await self._send("POST", f"/{index}/_refresh")
        await self._wait_for_merges()
        return [name for split in self.split_indexes.values() for name in (split.documents, split.passages)]

    async def measure_indexes(self, indexes: Sequence[str]) -> int:
        """Returns the bytes of the indexes on disk."""
        names = ",".join(indexes)
        await self._send("POST", f"/{names}/_flush")
        stats = await self._send("GET", f"/{names}/_stats/store")
        return int(stats["_all"]["total"]["store"]["size_in_bytes"])

    def _documents_by_bucket(self, shipment_count: int) -> dict[BucketId, Iterator[Document]]:
        shipments, suppliers = self.corpus.schemas
        return {
            suppliers.bucket: self.corpus.generate_suppliers(),
            shipments.bucket: self.corpus.generate_shipments(shipment_count),
        }

    async def _create_split_indexes(self, layout: IndexLayout, split: SplitIndexes) -> None:
        mapping = layout.index_mapping
        scripted = {"type": "text", "analyzer": "whitespace", "similarity": "scripted_bm25", "index_options": "freqs"}
        properties = {name: value for name, value in mapping["properties"].items() if name != "link"}
        settings = layout.index_settings | {
            "index.similarity.scripted_bm25": {"type": "scripted", "script": {"source": _SCRIPTED_BM25}}
        }
        body = {"settings": settings, "mappings": mapping | {"properties": {**properties, SCRIPTED_TERMS: scripted}}}
        for name in (split.documents, split.passages):
            await self._send("PUT", f"/{name}", json.dumps(body))

    async def _send_bulks(
        self,
        layout: IndexLayout,
        documents: Iterable[Document],
        lines_of: Callable[[Document, "_EntryEncoder"], Iterator[str]],
    ) -> None:
        encoder = _EntryEncoder(layout=replace(layout, analyser=WordAnalyser(layout.analyser)))
        batches = iter(_batches_of(documents))

        async def send_batches() -> None:
            for batch in batches:
                bulk = "".join(line for document in batch for line in lines_of(document, encoder))
                response = await self._send("POST", _BULK_PATH, bulk)
                if response["errors"]:
                    raise RuntimeError(next(item for item in response["items"] if "error" in item["index"]))

        async with asyncio.TaskGroup() as group:
            for _ in range(_BULKS_AT_ONCE):
                group.create_task(send_batches())

    async def _count_entries(self, index: str) -> int:
        return int((await self._send("GET", f"/{index}/_count"))["count"])

    async def _exists(self, index: str) -> bool:
        async with self.session.head(f"/{index}") as response:
            return response.status == _OK

    async def _wait_for_merges(self) -> None:
        while True:
            stats = await self._send("GET", "/_stats/merge")
            if not stats["_all"]["total"]["merges"]["current"]:
                return
            await asyncio.sleep(1)

    async def _send(self, method: str, path: str, body: str = "") -> JsonObject:
        headers = {"Content-Type": "application/x-ndjson" if path == _BULK_PATH else "application/json"}
        while True:
            async with self.session.request(method, path, data=body.encode() or None, headers=headers) as response:
                if response.status != _TOO_MANY_REQUESTS:
                    response.raise_for_status()
                    return await response.json()
            await asyncio.sleep(_RETRY_PAUSE_S)


def _batches_of(documents: Iterable[Document]) -> Iterator[list[Document]]:
    remaining = iter(documents)
    while batch := list(islice(remaining, _BULK_DOCUMENTS)):
        yield batch


@dataclass(kw_only=True)
class _EntryEncoder:
    layout: IndexLayout
    passage_count: int = 0  # so far
    vector_pool: "Vectors" = field(default_factory=lambda: _vector_pool())

    def joined_lines_of(self, document: Document) -> Iterator[str]:
        parent_id = self.layout.entry_id_of(document.doc_id)
        for entry_id, source in self._entries_of(document):
            target = {"_index": self.layout.index, "_id": entry_id, "routing": parent_id}
            yield f"{json_lines_of([{'index': target}])}{source}\n"

    def split_lines_of(self, document: Document) -> Iterator[str]:
        split, document_values = SplitIndexes.beside(self.layout.index), JsonObject()
        parent_id = self.layout.entry_id_of(document.doc_id)
        for entry_id, entry in self._entries_of(document):
            source = cast(JsonObject, json.loads(entry))
            unlinked = {name: value for name, value in source.items() if name != "link"}
            index = split.documents
            if source["kind"] == PASSAGE:
                unlinked |= document_values | {SCRIPTED_TERMS: source["passage_terms"]}
                index = split.passages
            elif source["kind"] == DOCUMENT:
                document_values = {name: value for name, value in source.items() if name not in _OWN_OF_DOCUMENTS}
            # By document, as in Parley's layout, so that each shard has the same passages in both.
            target = {"_index": index, "_id": entry_id, "routing": parent_id}
            yield json_lines_of([{"index": target}, unlinked])

    def _entries_of(self, document: Document) -> Iterator[tuple[str, str]]:
        rows = (np.arange(len(document.passages)) + self.passage_count) % _VECTOR_COUNT
        self.passage_count += len(document.passages)
        vectors = self.vector_pool[rows] if self.layout.embedder_name else None
        return encode_index_entries(document, "1", self.layout, vectors)


def _vector_pool() -> "Vectors":
    vectors = np.random.default_rng(7).standard_normal((_VECTOR_COUNT, DIMENSIONS))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

"""Writers that put, change and delete documents during the storm."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Final

from storage.opensearch.index import OpenSearchIndex
from storage.search.documents import Document, Passage
from storage.search.errors import SearchError
from storage.search.ids import BucketId, DocId, FieldName
from tests.faults.servers.write_ledger import WriteLedger

BUCKET: Final = BucketId("receipts")
VENDORS: Final = ("Kestrel", "Northline", "Harbor")
_MAX_BATCH, _PAUSE_S = 20, (0.1, 0.6)
_PAUSE_AFTER_FAILURE_S: Final = 2.0  # what becomes of a failed write is unknown: many of them would make checks weak


def build_receipt(doc_id: str, vendor: str, revision: int) -> Document:
    text = f"Receipt {doc_id}. Tires from {vendor}, revision {revision}."
    values = {"vendor": vendor, "date": f"202{revision % 4}-03-{revision % 27 + 1:02}", "kind": "tires"}
    return Document(
        doc_id=DocId(doc_id),
        title=f"Receipt {doc_id}",
        text=text,
        source="storm",
        values={FieldName(name): value for name, value in values.items()},
        passages=(Passage(start=0, end=len(text)),),
        digest=f"{doc_id}:{vendor}:{revision}",
    )


@dataclass
class DocumentWriting:
    """One writer, with documents of its own, whose ids begin with `name`."""

    name: str
    index: OpenSearchIndex
    ledger: WriteLedger
    rng: random.Random
    doc_ids: list[str] = field(default_factory=list[str])
    failures: list[str] = field(default_factory=list[str])
    _revision: int = 0

    async def write_until_cancelled(self) -> None:
        while True:
            failure_count = len(self.failures)
            await self._write_some()
            await asyncio.sleep(self.rng.uniform(*_PAUSE_S))
            if len(self.failures) > failure_count:
                await asyncio.sleep(_PAUSE_AFTER_FAILURE_S)

    async def _write_some(self) -> None:
        kind = self.rng.choices(("add", "change", "delete"), (5, 3, 2))[0]
        if kind == "add" or not self.doc_ids:
            count = self.rng.randint(1, _MAX_BATCH)
            new_ids = [f"{self.name}-{len(self.doc_ids) + number:05}" for number in range(count)]
            self.doc_ids += new_ids
            await self._put_documents(new_ids)
        elif kind == "change":
            await self._put_documents(self._choose_documents())
        else:
            await self._delete_documents(self._choose_documents())

    def _choose_documents(self) -> list[str]:
        return self.rng.sample(self.doc_ids, min(len(self.doc_ids), self.rng.randint(1, 6)))

    async def _put_documents(self, doc_ids: list[str]) -> None:
        self._revision += 1
        vendor = self.rng.choice(VENDORS)
        writes = self.ledger.note_start(doc_ids, vendor, self._revision)
        documents = [build_receipt(doc_id, vendor, self._revision) for doc_id in doc_ids]
        try:
            result = await self.index.put(BUCKET, documents)
        except SearchError as exc:
            self.failures.append(f"{type(exc).__name__}: {exc}")
            return
        if len(result.added) + len(result.replaced) + len(result.skipped) != len(doc_ids):
            raise AssertionError(f"put of {doc_ids} gave {result}")
        self.ledger.note_end(writes)

    async def _delete_documents(self, doc_ids: list[str]) -> None:
        writes = self.ledger.note_start(doc_ids, None, self._revision)
        try:
            await self.index.delete([DocId(doc_id) for doc_id in doc_ids])
        except SearchError as exc:
            self.failures.append(f"{type(exc).__name__}: {exc}")
            return
        self.ledger.note_end(writes)

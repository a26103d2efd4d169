"""An index that puts the values which people have decided on in the place of those that were read.

So a decision holds whoever loads the document again: an ingestion, a sync, a new schema, or a rebuilt index.
"""

from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, cast

from storage.search.documents import Document, FieldValue
from storage.search.forwarding_index import ForwardingIndex, IndexMethod
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import PutResult, ScopedIndex, SearchIndex
from storage.search.scope import Scope
from storage.sql.administration.value_correction_store import StoredCorrection, ValueCorrectionStore
from storage.sql.database import JsonMapping

if TYPE_CHECKING:
    from storage.ingest.extract.value_corrections import ValueCorrection

_MAX_ROUNDS: Final = 3  # of decisions that were made while a document was put


class CorrectedIndex(ForwardingIndex):
    """Implements `SearchIndex` by the calls of another index."""

    def __init__(self, index: SearchIndex, store: ValueCorrectionStore) -> None:
        self._index, self._store = index, store

    @property
    def tenant(self) -> TenantId:
        return self._index.tenant

    def within_scope(self, scope: Scope) -> ScopedIndex:
        return self._index.within_scope(scope)

    async def close(self) -> None:
        await self._index.close()

    @asynccontextmanager
    async def enter_call(self, method: IndexMethod) -> AsyncGenerator[SearchIndex]:
        yield self._index

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        """A decision of the same moment is not lost: what was put without it is put again."""
        doc_ids = [document.doc_id for document in documents]
        known = await self._store.list_for_documents(doc_ids)
        result = await self._index.put(bucket, await self._correct_documents(bucket, documents, known))
        for _ in range(_MAX_ROUNDS):
            latest = await self._store.list_for_documents(doc_ids)
            changed = {correction.doc_id for correction in latest if correction not in known}
            changed |= {correction.doc_id for correction in known if correction not in latest}
            if not changed:
                break
            known, again = latest, [document for document in documents if document.doc_id in changed]
            await self._index.put(bucket, await self._correct_documents(bucket, again, known))
        if returned := {correction.doc_id for correction in known if correction.deleted_at is not None}:
            await self._store.note_returned(returned)
        return result

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        deleted = await self._index.delete(doc_ids)
        await self._store.note_deleted(doc_ids)
        return deleted

    async def drop_bucket(self, bucket: BucketId) -> None:
        await self._index.drop_bucket(bucket)
        await self._store.remove_bucket(bucket)

    async def _correct_documents(
        self, bucket: BucketId, documents: Sequence[Document], stored: Sequence[StoredCorrection]
    ) -> Sequence[Document]:
        if not stored:
            return documents
        from storage.ingest.extract.value_corrections import apply_corrections

        size = (await self._index.load_bucket_sizes()).get(bucket)
        if size is None:
            return documents
        by_document = defaultdict[str, dict[FieldName, "ValueCorrection"]](dict)
        for correction in stored:
            by_document[correction.doc_id][FieldName(correction.field)] = correction_from_json(correction.content)
        return [
            apply_corrections(document, by_document[document.doc_id], size.schema)
            if document.doc_id in by_document
            else document
            for document in documents
        ]


def correction_to_json(correction: "ValueCorrection") -> JsonMapping:
    return {"value": correction.value, "wordings": list(correction.wordings)}


def correction_from_json(content: JsonMapping) -> "ValueCorrection":
    from storage.ingest.extract.value_corrections import ValueCorrection

    return ValueCorrection(
        value=field_value_from_json(content["value"]), wordings=tuple(cast(Sequence[str], content["wordings"]))
    )


def field_value_from_json(value: object) -> FieldValue | None:
    """Lists of strings and of rows become tuples."""
    if isinstance(value, list):
        return cast(FieldValue, tuple(cast(list[str | Mapping[str, object]], value)))
    return cast(FieldValue | None, value)

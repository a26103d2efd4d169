"""Brings documents of one version of a bucket's index to the state that they have in another one.

The copy of a version, writers that write during the copy, and the comparison at its end all do the same: they read
what the version in use has of a document now, and write that into the version being built. The external version of each
entry is the position of the document's last change in the order of changes of the version in use (`_seq_no`). A late
writer is therefore refused, whatever it has read. A deletion leaves no such version where there was no copy yet, so
everybody who wrote compares again after the write.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import IndexLayout, digest_of
from storage.opensearch.writing import bulk
from storage.opensearch.writing.bulk import BulkAction
from storage.opensearch.writing.encode import decode_unvalidated_document, encode_index_entries
from storage.opensearch.writing.passage_vectors import LayoutVectors, VectorPolicy
from storage.opensearch.writing.refusals import is_conflict, look_up_entries, raise_first_refusal
from storage.search.documents import Document
from storage.search.errors import IndexTimedOut
from storage.search.ids import DocId

if TYPE_CHECKING:
    from storage.embedder import Vectors

MIRRORED_BATCH_SIZE = 100
_MAX_PASSES = 20  # over documents that other writers change
_MAX_READS, _REREAD_PAUSE_S = 10, 0.05  # of a document that is being written


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document as a version has it, and the version of its entry."""

    document: Document
    revision: str
    sequence_number: int  # of its last change, in the order of changes of the index
    entry_version: int
    is_whole: bool  # its text was written with its main entry

    @property
    def content_digest(self) -> str:
        """A digest of everything that is stored."""
        return digest_of(
            repr((self.revision, sorted(self.document.readers), replace(self.document, readers=frozenset())))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _DocumentCopy:
    """What the version being built has of a document."""

    entry_version: int
    passage_count: int


def copied_version_of(sequence_number: int) -> int:
    """Returns the external version of the copy of an entry."""
    return sequence_number + 1


@dataclass(frozen=True, kw_only=True)
class VersionMirror:
    catalogue: BucketCatalogue
    vectors: LayoutVectors

    async def mirror_documents(
        self, source: IndexLayout, target: IndexLayout, doc_ids: Sequence[DocId], policy: VectorPolicy
    ) -> None:
        """Write what `source` has of the documents into `target`, and delete there what `source` does not have.

        On return, `target` has had the state of `source`, or a later one, since the call began. Raises
        `VersionSuperseded` if one of the versions is gone, or `target` is no longer being built; `IndexTimedOut` if
        other writers change the documents all the time; `EmbedderUnavailable` by the policy.
        """
        for start in range(0, len(doc_ids), MIRRORED_BATCH_SIZE):
            pending = list(doc_ids[start : start + MIRRORED_BATCH_SIZE])
            for _ in range(_MAX_PASSES):
                pending = await self._mirror_once(source, target, pending, policy)
                if not pending:
                    break
            else:
                raise IndexTimedOut(self.catalogue.connection.location)

    async def rewrite_documents(self, source: IndexLayout, target: IndexLayout, doc_ids: Sequence[DocId]) -> None:
        """Write the documents again, with the vectors that were missing. Raises what `mirror_documents` raises."""
        for start in range(0, len(doc_ids), MIRRORED_BATCH_SIZE):
            batch = doc_ids[start : start + MIRRORED_BATCH_SIZE]
            stored = await self.read_documents(source, batch)
            copies = await self._load_copies(target, batch)
            await self._write_documents(source, target, list(stored.values()), copies, VectorPolicy.REQUIRE)
        await self.mirror_documents(source, target, doc_ids, VectorPolicy.REQUIRE)

    async def _mirror_once(
        self, source: IndexLayout, target: IndexLayout, doc_ids: Sequence[DocId], policy: VectorPolicy
    ) -> list[DocId]:
        """Returns the ids of the documents that were written or deleted. They may differ again meanwhile."""
        sequence_numbers, copies = (
            await self.load_sequence_numbers(source, doc_ids),
            await self._load_copies(target, doc_ids),
        )
        outdated = [
            doc_id
            for doc_id, number in sequence_numbers.items()
            if doc_id not in copies or copies[doc_id].entry_version < copied_version_of(number)
        ]
        surplus = [doc_id for doc_id in copies if doc_id not in sequence_numbers]
        stored = await self.read_documents(source, outdated)
        await self._write_documents(source, target, list(stored.values()), copies, policy)
        await self._delete_documents(target, {doc_id: copies[doc_id] for doc_id in surplus})
        return [*outdated, *surplus]

    async def read_documents(self, layout: IndexLayout, doc_ids: Sequence[DocId]) -> dict[DocId, StoredDocument]:
        """Returns the documents that exist, including changes that no search can see yet."""
        stored, pending = dict[DocId, StoredDocument](), list(doc_ids)
        for _ in range(_MAX_READS):
            found = await self.read_documents_once(layout, pending)
            stored = {doc_id: document for doc_id, document in stored.items() if doc_id not in pending} | found
            pending = [doc_id for doc_id, document in found.items() if not document.is_whole]
            if not pending:
                break
            await self.catalogue.connection.pause_with_jitter(_REREAD_PAUSE_S)
        return stored

    async def read_documents_once(self, layout: IndexLayout, doc_ids: Sequence[DocId]) -> dict[DocId, StoredDocument]:
        """Like `read_documents`, but does not wait for documents that are being written, which may not be whole."""
        entries = await self._get_entries(
            layout, [entry_id for doc_id in doc_ids for entry_id in _document_entry_ids_of(layout, doc_id)], doc_ids
        )
        return {
            doc_id: _parse_stored_document(main, text)
            for doc_id, main, text in zip(doc_ids, entries[::2], entries[1::2], strict=True)
            if main["found"] and text["found"]
        }

    async def load_sequence_numbers(self, layout: IndexLayout, doc_ids: Sequence[DocId]) -> dict[DocId, int]:
        entry_ids = [layout.entry_id_of(doc_id) for doc_id in doc_ids]
        entries = await self._get_entries(layout, entry_ids, doc_ids, source_fields=["stored.doc_id"])
        return {doc_id: entry["_seq_no"] for doc_id, entry in zip(doc_ids, entries, strict=True) if entry["found"]}

    async def _load_copies(self, target: IndexLayout, doc_ids: Sequence[DocId]) -> dict[DocId, _DocumentCopy]:
        entry_ids = [target.entry_id_of(doc_id) for doc_id in doc_ids]
        entries = await self._get_entries(target, entry_ids, doc_ids, source_fields=["stored.passages"])
        return {
            doc_id: _DocumentCopy(
                entry_version=entry["_version"], passage_count=len(entry["_source"]["stored"]["passages"])
            )
            for doc_id, entry in zip(doc_ids, entries, strict=True)
            if entry["found"]
        }

    async def _get_entries(
        self,
        layout: IndexLayout,
        entry_ids: Sequence[str],
        doc_ids: Sequence[DocId],
        source_fields: Sequence[str] = ("stored",),
    ) -> list[JsonObject]:
        """Returns the entries, of which each document has the same number. Raises `VersionSuperseded`."""
        if not doc_ids:
            return []
        entries_per_document = len(entry_ids) // len(doc_ids)
        lookups = [
            {
                "_index": layout.index,
                "_id": entry_id,
                "routing": layout.entry_id_of(doc_ids[place // entries_per_document]),
                "_source": list(source_fields),
            }
            for place, entry_id in enumerate(entry_ids)
        ]
        return await look_up_entries(self.catalogue.connection, lookups)

    async def _write_documents(
        self,
        source: IndexLayout,
        target: IndexLayout,
        entries: Sequence[StoredDocument],
        copies: Mapping[DocId, _DocumentCopy],
        policy: VectorPolicy,
    ) -> None:
        if not entries:
            return
        documents = [entry.document for entry in entries]
        vectors = await self.vectors.load_for_copy(source, target, documents, policy)
        alias = self.catalogue.names.copy_alias_for(target.index)

        def build_bulk_actions() -> list[list[BulkAction]]:
            return [
                list(
                    _actions_for_copy(
                        alias,
                        target,
                        entry,
                        None if vectors is None else vectors[place],
                        copies.get(entry.document.doc_id),
                    )
                )
                for place, entry in enumerate(entries)
            ]

        await self._send_actions(await asyncio.to_thread(build_bulk_actions))

    async def _delete_documents(self, target: IndexLayout, copies: Mapping[DocId, _DocumentCopy]) -> None:
        """Delete documents that the version in use does not have.

        A later change of the document has a higher version than its copy by two or more, so it is not refused.
        """
        alias = self.catalogue.names.copy_alias_for(target.index)
        await self._send_actions(
            [
                [
                    bulk.delete_copied_entry_action(
                        alias, entry_id, routing=target.entry_id_of(doc_id), version=document_copy.entry_version + 1
                    )
                    for entry_id in _all_entry_ids_of(target, doc_id, document_copy.passage_count)
                ]
                for doc_id, document_copy in copies.items()
            ]
        )

    async def _send_actions(self, actions: Sequence[Sequence[BulkAction]]) -> None:
        """Send the writes of each document. A conflict means that a later change is there already."""
        refusals = [
            refusal
            for document_refusals in await bulk.write_action_groups(self.catalogue.connection, actions)
            for refusal in document_refusals
        ]
        raise_first_refusal([refusal for refusal in refusals if not is_conflict(refusal)], ignore_missing=True)


def _actions_for_copy(
    alias: str,
    target: IndexLayout,
    entry: StoredDocument,
    vectors: "Vectors | None",
    earlier_copy: _DocumentCopy | None,
) -> Iterator[BulkAction]:
    document, version = entry.document, copied_version_of(entry.sequence_number)
    routing = target.entry_id_of(document.doc_id)
    for entry_id, fields in encode_index_entries(document, entry.revision, target, vectors):
        yield bulk.index_entry_action(
            alias, entry_id, fields, routing=routing, version=version, version_type="external_gte"
        )
    earlier_count = 0 if earlier_copy is None else earlier_copy.passage_count
    for entry_id in _passage_entry_ids_of(target, document.doc_id, len(document.passages), earlier_count):
        yield bulk.delete_copied_entry_action(alias, entry_id, routing=routing, version=version)


def _document_entry_ids_of(layout: IndexLayout, doc_id: DocId) -> tuple[str, str]:
    """Returns the ids of the main entry and of the entry of the text."""
    return layout.entry_id_of(doc_id), f"{layout.entry_id_of(doc_id)}.text"


def _all_entry_ids_of(layout: IndexLayout, doc_id: DocId, passage_count: int) -> list[str]:
    return [*_document_entry_ids_of(layout, doc_id), *_passage_entry_ids_of(layout, doc_id, 0, passage_count)]


def _passage_entry_ids_of(layout: IndexLayout, doc_id: DocId, start: int, end: int) -> list[str]:
    return [f"{layout.entry_id_of(doc_id)}.{position}" for position in range(start, end)]


def _parse_stored_document(main: JsonObject, text: JsonObject) -> StoredDocument:
    stored = main["_source"]["stored"]
    return StoredDocument(
        document=decode_unvalidated_document(stored, text["_source"]["stored"]["text"]),
        revision=stored["revision"],
        sequence_number=main["_seq_no"],
        entry_version=main["_version"],
        is_whole=text["_seq_no"] > main["_seq_no"],
    )

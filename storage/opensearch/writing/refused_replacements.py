"""Gives documents their earlier version back when the cluster refuses a part of the new one.

The writes of a bulk are independent of each other, so other parts of the new version are in the index by then. No
search sees them before the next refresh. The earlier version was read before they were written.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.mapping import IndexLayout
from storage.opensearch.writing import bulk
from storage.opensearch.writing.bulk import BulkAction
from storage.opensearch.writing.document_actions import actions_for_document, actions_for_removal
from storage.opensearch.writing.indexed_documents import IndexedDocument, load_indexed_documents
from storage.opensearch.writing.passage_vectors import LayoutVectors
from storage.opensearch.writing.refusals import is_conflict, is_fault_of_document, raise_first_refusal
from storage.opensearch.writing.version_mirror import StoredDocument
from storage.search.documents import Document
from storage.search.errors import EmbedderUnavailable
from storage.search.ids import DocId

if TYPE_CHECKING:
    from storage.embedder import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedDocument:
    """A document of which the cluster refused a part, and what the index had before: `indexed`, `earlier`."""

    document: Document
    indexed: IndexedDocument | None
    earlier: StoredDocument | None

    @property
    def restorable(self) -> StoredDocument | None:
        """The earlier version, if it is whole and the one that the new version was to replace."""
        earlier = self.earlier
        if self.indexed is None or earlier is None or not earlier.is_whole:
            return None
        return earlier if earlier.sequence_number == self.indexed.sequence_number else None

    def is_current(self, current: IndexedDocument, revision: str) -> bool:
        """Whether the index has what the writer found or wrote, not the version of another writer."""
        written = (self.document.digest, revision, len(self.document.passages))
        is_as_found = self.indexed is not None and self.indexed.sequence_number == current.sequence_number
        return is_as_found or (current.digest, current.revision, current.passage_count) == written


@dataclass(frozen=True, slots=True, kw_only=True)
class _PendingRestoration:
    refused: RefusedDocument
    earlier: StoredDocument
    current: IndexedDocument


@dataclass(frozen=True, kw_only=True)
class RefusedReplacements:
    catalogue: BucketCatalogue
    vectors: LayoutVectors

    async def restore_earlier_documents(
        self, layout: IndexLayout, refused: Sequence[RefusedDocument], revision: str
    ) -> tuple[set[DocId], set[DocId]]:
        """Write the earlier versions again, and delete the documents without one.

        `revision`: of the refused version. Returns the ids of the documents that are there as before, and of those that
        another writer has changed meanwhile, which must be written again.
        """
        current = await load_indexed_documents(
            self.catalogue.connection, layout, [entry.document.doc_id for entry in refused]
        )
        overtaken, restorations = set[DocId](), list[_PendingRestoration]()
        for entry in refused:
            indexed = current.get(entry.document.doc_id)
            if indexed is not None and not entry.is_current(indexed, revision):
                overtaken.add(entry.document.doc_id)
            elif indexed is not None and (earlier := entry.restorable) is not None:
                restorations.append(_PendingRestoration(refused=entry, earlier=earlier, current=indexed))
        restored, overtaken_later = await self._write_earlier_documents(layout, restorations)
        overtaken |= overtaken_later
        await self._delete_documents(
            layout, [entry for entry in refused if entry.document.doc_id not in restored | overtaken]
        )
        return restored, overtaken

    async def _write_earlier_documents(
        self, layout: IndexLayout, restorations: Sequence[_PendingRestoration]
    ) -> tuple[set[DocId], set[DocId]]:
        restored, overtaken = set[DocId](), set[DocId]()
        documents = [restoration.earlier.document for restoration in restorations]
        try:
            vectors = await self.vectors.embed_for_layout(layout, documents) if documents else None
        except EmbedderUnavailable:
            vectors = None
        groups = await asyncio.to_thread(self._build_actions, layout, restorations, vectors)
        for document, refusals in zip(
            documents, await bulk.write_action_groups(self.catalogue.connection, groups), strict=True
        ):
            if is_conflict(refusals[0]):
                overtaken.add(document.doc_id)
            elif not any(map(is_fault_of_document, refusals)):
                restored.add(document.doc_id)
            raise_first_refusal(
                [refusal for refusal in refusals if not is_conflict(refusal) and not is_fault_of_document(refusal)],
                ignore_missing=True,
            )
        return restored, overtaken

    def _build_actions(
        self, layout: IndexLayout, restorations: Sequence[_PendingRestoration], vectors: "list[Vectors] | None"
    ) -> list[list[BulkAction]]:
        alias = self.catalogue.names.write_alias_for(layout.index)
        return [
            actions_for_document(
                alias,
                restoration.earlier.document,
                restoration.earlier.revision,
                layout,
                None if vectors is None else vectors[position],
                replace(restoration.current, passage_count=_passage_count_of(restoration.refused)),
            )
            for position, restoration in enumerate(restorations)
        ]

    async def _delete_documents(self, layout: IndexLayout, refused: Sequence[RefusedDocument]) -> None:
        alias = self.catalogue.names.write_alias_for(layout.index)
        actions = [
            action
            for entry in refused
            for action in actions_for_removal(alias, layout, entry.document.doc_id, _passage_count_of(entry))
        ]
        raise_first_refusal(await bulk.write_bulk_actions(self.catalogue.connection, actions), ignore_missing=True)


def _passage_count_of(refused: RefusedDocument) -> int:
    """Returns how many passages there may be, of the earlier and the refused version."""
    return max(len(refused.document.passages), 0 if refused.indexed is None else refused.indexed.passage_count)

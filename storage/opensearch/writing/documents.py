"""Puts and deletes documents.

A document has one main entry, one entry for its text and one entry per passage. All of them are written in one bulk,
together with the deletion of passages that no longer exist. The main entry is written only if it is unchanged since it
was read. Of two concurrent writers the later one therefore starts again, and leaves no passage of the other behind. An
entry of the registry decides which bucket a document id belongs to; only one writer can create that entry.

While a new version of the index is being built, a change is made in the version in use and then mirrored into the new
one. A writer looks for a version being built after its change: either the copy sees the change, or the writer sees the
copy. It looks again at the end. If the new version has come into use meanwhile, it makes the change there too.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from storage.embedder import Embedder
from storage.opensearch.catalogue import DOCUMENT_ID_KIND, BucketCatalogue
from storage.opensearch.connection import JsonObject, RequestRefused, json_lines_of
from storage.opensearch.mapping import IndexLayout, digest_of
from storage.opensearch.writing import bulk
from storage.opensearch.writing.bulk import BulkAction
from storage.opensearch.writing.encode import document_entry_id, encode_index_entries
from storage.opensearch.writing.passage_vectors import LayoutVectors, VectorPolicy
from storage.opensearch.writing.refusals import (
    VersionSuperseded,
    is_conflict,
    look_up_entries,
    raise_first_refusal,
)
from storage.opensearch.writing.version_mirror import VersionMirror
from storage.search.documents import Document
from storage.search.errors import EmbedderUnavailable, IndexTimedOut, IndexUnavailable
from storage.search.evaluation.value_validation import is_valid_unicode, validate_values
from storage.search.ids import BucketId, DocId
from storage.search.index import WRITTEN_STATUSES, PutStatus

if TYPE_CHECKING:
    from storage.embedder import Vectors

_BATCH_SIZE = 200
_MAX_TRIES = 8  # for documents that other writers change at the same time
_MAX_WAITS, _WAIT_S = 120, 0.25  # for a version that is just coming into use


@dataclass(kw_only=True)
class _PutOutcome:
    """What became of the documents so far. The first status of a document counts: it may be written to two versions."""

    statuses: dict[DocId, PutStatus] = field(default_factory=dict[DocId, PutStatus])
    without_vectors: set[DocId] = field(default_factory=set[DocId])


@dataclass(frozen=True, slots=True, kw_only=True)
class _IndexedDocument:
    """A document as the index has it."""

    digest: str
    revision: str
    passage_count: int
    write_conditions: Mapping[str, int]  # they hold as long as the entry is unchanged


@dataclass(frozen=True, kw_only=True)
class DocumentWriter:
    catalogue: BucketCatalogue
    embedder: Embedder | None

    @property
    def vectors(self) -> LayoutVectors:
        return LayoutVectors(catalogue=self.catalogue, embedder=self.embedder)

    @property
    def mirror(self) -> VersionMirror:
        return VersionMirror(catalogue=self.catalogue, vectors=self.vectors)

    async def put(
        self, layout: IndexLayout, documents: Sequence[Document]
    ) -> tuple[dict[DocId, PutStatus], set[DocId]]:
        """Put documents into the bucket with the current `layout`; of equal ids the last document counts.

        Returns what became of each, and those that lack the vectors of the embedder. Raises `UnknownBucket` (the bucket
        was dropped meanwhile) and `InvalidCondition`.
        """
        latest = list({document.doc_id: document for document in documents}.values())
        for document in latest:
            validate_values(document, layout.schema)
        outcome = _PutOutcome()
        for start in range(0, len(latest), _BATCH_SIZE):
            await self._put_across_versions(layout, latest[start : start + _BATCH_SIZE], outcome)
        return outcome.statuses, outcome.without_vectors

    async def _put_across_versions(
        self, layout: IndexLayout, documents: Sequence[Document], outcome: _PutOutcome
    ) -> None:
        """Put documents into the version in use; again if another version comes into use meanwhile.

        Extends `outcome`.
        """
        for _ in range(_MAX_WAITS):
            try:
                return await self._put_batch(layout, documents, outcome)
            except VersionSuperseded:
                layout = await self.catalogue.reload_bucket_layout(layout.bucket)
                await self.catalogue.connection.pause_with_jitter(_WAIT_S)
        raise IndexUnavailable(self.catalogue.connection.location, "the bucket is being indexed anew")

    async def _put_batch(self, layout: IndexLayout, documents: Sequence[Document], outcome: _PutOutcome) -> None:
        put_ids, has_written = list[DocId](), False
        pending = [replace(document, values=validate_values(document, layout.schema)) for document in documents]
        for _ in range(_MAX_TRIES):
            decisions = await self._decide_put_statuses(layout, pending)
            writable = [document for document in pending if decisions[document.doc_id][0] in WRITTEN_STATUSES]
            overtaken = await self._write_unless_overtaken(
                layout,
                writable,
                {doc_id: indexed for doc_id, (_, indexed) in decisions.items()},
                outcome.without_vectors,
            )
            for document in pending:
                if document.doc_id not in overtaken:
                    status = outcome.statuses.setdefault(document.doc_id, decisions[document.doc_id][0])
                    put_ids += [document.doc_id] if status is not PutStatus.TAKEN else []
                    has_written |= decisions[document.doc_id][0] in WRITTEN_STATUSES
            pending = [document for document in pending if document.doc_id in overtaken]
            if not pending:
                break
        else:
            raise IndexTimedOut(self.catalogue.connection.location)
        # Also documents that were skipped: their last writer may have died before it mirrored them.
        await self._mirror_changes(layout, put_ids)
        if has_written:
            await self.catalogue.refresh_indexes([layout])

    async def _mirror_changes(self, layout: IndexLayout, doc_ids: Sequence[DocId]) -> None:
        """Bring the documents of a version that is being built to the state of the version in use, visible on return.

        Raises `VersionSuperseded` if another version is in use than that of `layout`.
        """
        if not doc_ids:
            return
        mirrored_index = ""
        for _ in range(_MAX_WAITS):
            versions = await self.catalogue.load_versions(layout.bucket)
            if versions is None or versions.current.index != layout.index:
                raise VersionSuperseded
            if versions.build is None or versions.build.index == mirrored_index:
                return
            try:
                await self.mirror.mirror_documents(layout, versions.build, doc_ids, VectorPolicy.FILL)
            except (VersionSuperseded, RequestRefused) as exc:
                if isinstance(exc, RequestRefused) and not exc.is_transient:
                    raise
                # The version has just been created, or is gone; the next look tells.
                await self.catalogue.connection.pause_with_jitter(_WAIT_S)
                continue
            await self.catalogue.refresh_version(versions.build)
            mirrored_index = versions.build.index
        raise IndexTimedOut(self.catalogue.connection.location)

    # -- deciding what to write

    def revision_for(self, layout: IndexLayout) -> str:
        """Returns the revision of entries written now; equal content with another revision is written again.

        A new schema changes the values, and a new embedder changes the vectors, unless it is metered.
        """
        embedder_name = "" if self.embedder is None else self.embedder.name
        if self.embedder is not None and self.embedder.is_metered:
            embedder_name = layout.embedder_name
        return digest_of(repr((layout.layout_digest, embedder_name)))

    async def _decide_put_statuses(
        self, layout: IndexLayout, documents: Sequence[Document]
    ) -> dict[DocId, tuple[PutStatus, _IndexedDocument | None]]:
        owners = await self._load_owning_buckets([document.doc_id for document in documents])
        if unclaimed_ids := [document.doc_id for document in documents if document.doc_id not in owners]:
            owners |= await self._claim_document_ids(layout, unclaimed_ids)
        indexed_documents = await self._load_indexed_documents(layout, [document.doc_id for document in documents])
        bucket_digest, revision = digest_of(layout.bucket), self.revision_for(layout)
        decisions = dict[DocId, tuple[PutStatus, _IndexedDocument | None]]()
        for document in documents:
            indexed = indexed_documents.get(document.doc_id)
            if owners[document.doc_id] != bucket_digest:
                decisions[document.doc_id] = PutStatus.TAKEN, None
            elif indexed is None:
                decisions[document.doc_id] = PutStatus.ADDED, None
            else:
                is_unchanged = bool(document.digest) and (indexed.digest, indexed.revision) == (
                    document.digest,
                    revision,
                )
                decisions[document.doc_id] = (
                    PutStatus.SKIPPED if is_unchanged else PutStatus.REPLACED,
                    indexed,
                )
        return decisions

    async def _load_owning_buckets(self, doc_ids: Sequence[DocId]) -> dict[DocId, str]:
        """Returns the digest of the bucket that owns each id, including writes that no search can see yet."""
        lookups = [
            {"_index": self.catalogue.names.registry_index_name, "_id": _registry_entry_id(doc_id)}
            for doc_id in doc_ids
        ]
        entries = await look_up_entries(self.catalogue.connection, lookups)
        return {
            doc_id: entry["_source"]["bucket"] for doc_id, entry in zip(doc_ids, entries, strict=True) if entry["found"]
        }

    async def _claim_document_ids(self, layout: IndexLayout, doc_ids: Sequence[DocId]) -> dict[DocId, str]:
        bucket_digest = digest_of(layout.bucket)
        source = {"kind": DOCUMENT_ID_KIND, "bucket": bucket_digest}
        claims = [
            bulk.claim_registry_entry_action(
                self.catalogue.names.registry_index_name, _registry_entry_id(doc_id), source
            )
            for doc_id in doc_ids
        ]
        refusals = await bulk.write_bulk_actions(self.catalogue.connection, claims)
        lost_ids = [doc_id for doc_id, refusal in zip(doc_ids, refusals, strict=True) if is_conflict(refusal)]
        raise_first_refusal([refusal for refusal in refusals if not is_conflict(refusal)])
        return dict.fromkeys(doc_ids, bucket_digest) | (await self._load_owning_buckets(lost_ids) if lost_ids else {})

    async def _load_indexed_documents(
        self, layout: IndexLayout, doc_ids: Sequence[DocId]
    ) -> dict[DocId, _IndexedDocument]:
        source_fields = ["stored.digest", "stored.revision", "stored.passages"]
        lookups = [
            {
                "_index": layout.index,
                "_id": document_entry_id(doc_id),
                "routing": document_entry_id(doc_id),
                "_source": source_fields,
            }
            for doc_id in doc_ids
        ]
        entries = await look_up_entries(self.catalogue.connection, lookups)
        return {
            doc_id: _parse_indexed_document(entry)
            for doc_id, entry in zip(doc_ids, entries, strict=True)
            if entry["found"]
        }

    # -- writing

    async def _write_unless_overtaken(
        self,
        layout: IndexLayout,
        documents: Sequence[Document],
        indexed: Mapping[DocId, _IndexedDocument | None],
        without_vectors: set[DocId],
    ) -> set[DocId]:
        """Write documents; returns the ids that another writer changed meanwhile and that must be written again."""
        if not documents:
            return set()
        try:
            vectors = await self.vectors.embed_for_layout(layout, documents)
        except EmbedderUnavailable:
            vectors = None
        if self.embedder is not None and vectors is None:
            without_vectors.update(document.doc_id for document in documents)
        revision = self.revision_for(layout)

        def build_bulk_actions() -> list[list[BulkAction]]:
            target = self.catalogue.names.write_alias_for(layout.index)
            return [
                _actions_for_document(
                    target,
                    document,
                    revision,
                    layout,
                    None if vectors is None else vectors[position],
                    indexed.get(document.doc_id),
                )
                for position, document in enumerate(documents)
            ]

        actions_by_document = await asyncio.to_thread(build_bulk_actions)
        registry_action = BulkAction("index", json_lines_of(self.catalogue.registry_entry_lines(layout)))
        all_actions = [
            *(action for document_actions in actions_by_document for action in document_actions),
            registry_action,
        ]
        refusals = await bulk.write_bulk_actions(self.catalogue.connection, all_actions)
        return _find_conflicting_ids(documents, actions_by_document, refusals)

    # -- deleting

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        """Delete documents; returns how many of them existed."""
        valid_ids = [doc_id for doc_id in dict.fromkeys(doc_ids) if is_valid_unicode(doc_id)]
        deleted = 0
        for start in range(0, len(valid_ids), _BATCH_SIZE):
            deleted += await self._delete_across_versions(valid_ids[start : start + _BATCH_SIZE])
        return deleted

    async def _delete_across_versions(self, doc_ids: Sequence[DocId]) -> int:
        deleted_ids = set[DocId]()
        for _ in range(_MAX_WAITS):
            await self.catalogue.reload_layouts()
            try:
                await self._delete_batch(doc_ids, deleted_ids)
            except VersionSuperseded:
                await self.catalogue.connection.pause_with_jitter(_WAIT_S)
            else:
                return len(deleted_ids)
        raise IndexUnavailable(self.catalogue.connection.location, "a bucket is being indexed anew")

    async def _delete_batch(self, doc_ids: Sequence[DocId], deleted_ids: set[DocId]) -> None:
        """Extends `deleted_ids` by the documents that existed."""
        owners = await self._load_owning_buckets(doc_ids)
        touched_layouts, actions = dict[BucketId, IndexLayout](), list[BulkAction]()
        owned_ids = dict[BucketId, list[DocId]]()
        for bucket, layout in self.catalogue.layouts.items():
            owned_ids[bucket] = [doc_id for doc_id in doc_ids if owners.get(doc_id) == digest_of(bucket)]
            indexed_documents = await self._load_indexed_documents(layout, owned_ids[bucket])
            for doc_id, indexed in indexed_documents.items():
                actions += _actions_for_removal(self.catalogue.names.write_alias_for(layout.index), doc_id, indexed)
            deleted_ids.update(indexed_documents)
            if deleted_ids.intersection(owned_ids[bucket]):
                touched_layouts[bucket] = layout
        raise_first_refusal(await bulk.write_bulk_actions(self.catalogue.connection, actions), ignore_missing=True)
        for bucket, layout in self.catalogue.layouts.items():
            await self._mirror_changes(layout, owned_ids[bucket])
        releases = [
            bulk.delete_entry_action(self.catalogue.names.registry_index_name, _registry_entry_id(doc_id))
            for doc_id in owners
        ]
        raise_first_refusal(await bulk.write_bulk_actions(self.catalogue.connection, releases), ignore_missing=True)
        await self.catalogue.refresh_indexes(list(touched_layouts.values()))


def _actions_for_document(
    write_alias: str,
    document: Document,
    revision: str,
    layout: IndexLayout,
    vectors: "Vectors | None",
    indexed: _IndexedDocument | None,
) -> list[BulkAction]:
    """Returns the writes of a document, the main entry first: if that is refused, another writer was faster."""
    main_entry_id = document_entry_id(document.doc_id)
    (entry_id, source), *other_entries = encode_index_entries(document, revision, layout, vectors)
    main_action = (
        bulk.create_entry_action(write_alias, entry_id, source, routing=main_entry_id)
        if indexed is None
        else bulk.index_entry_action(write_alias, entry_id, source, routing=main_entry_id, **indexed.write_conditions)
    )
    other_actions = [
        bulk.index_entry_action(write_alias, entry_id, source, routing=main_entry_id)
        for entry_id, source in other_entries
    ]
    old_passage_count = 0 if indexed is None else indexed.passage_count
    removals = [
        bulk.delete_entry_action(write_alias, f"{main_entry_id}.{position}", routing=main_entry_id)
        for position in range(len(document.passages), old_passage_count)
    ]
    return [main_action, *other_actions, *removals]


def _actions_for_removal(write_alias: str, doc_id: DocId, indexed: _IndexedDocument) -> list[BulkAction]:
    main_entry_id = document_entry_id(doc_id)
    entry_ids = [
        main_entry_id,
        f"{main_entry_id}.text",
        *(f"{main_entry_id}.{position}" for position in range(indexed.passage_count)),
    ]
    return [bulk.delete_entry_action(write_alias, entry_id, routing=main_entry_id) for entry_id in entry_ids]


def _registry_entry_id(doc_id: DocId) -> str:
    return f"{DOCUMENT_ID_KIND}:{document_entry_id(doc_id)}"


def _parse_indexed_document(entry: JsonObject) -> _IndexedDocument:
    stored = entry["_source"]["stored"]
    return _IndexedDocument(
        digest=stored["digest"],
        revision=stored["revision"],
        passage_count=len(stored["passages"]),
        write_conditions={"if_seq_no": entry["_seq_no"], "if_primary_term": entry["_primary_term"]},
    )


def _find_conflicting_ids(
    documents: Sequence[Document], actions: Sequence[Sequence[BulkAction]], refusals: Sequence[RequestRefused | None]
) -> set[DocId]:
    overtaken, start = set[DocId](), 0
    for document, document_actions in zip(documents, actions, strict=True):
        document_refusals = refusals[start : start + len(document_actions)]
        start += len(document_actions)
        if is_conflict(document_refusals[0]):
            overtaken.add(document.doc_id)
        raise_first_refusal([refusal for refusal in document_refusals if not is_conflict(refusal)], ignore_missing=True)
    raise_first_refusal([refusal for refusal in refusals[start:] if not is_conflict(refusal)])  # of the registry
    return overtaken

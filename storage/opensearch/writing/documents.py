"""Puts and deletes documents.

A document has one main entry, one entry for its text and one entry per passage. All of them are written in one bulk,
together with the deletion of passages that no longer exist. The main entry is written only if it is unchanged since it
was read. Of two concurrent writers the later one therefore starts again, and leaves no passage of the other behind. An
entry of the registry decides which bucket a document id belongs to; only one writer can create that entry.

Several batches are written at once: one is encoded, while others are looked up, claimed and sent. An unchanged
document is skipped only if all its entries are there, since its last writer may have died between two of them; what
such a writer left invisible is made visible.

While a new version of the index is being built, a change is made in the version in use and then mirrored into the new
one. A writer looks for a version being built after its change: either the copy sees the change, or the writer sees the
copy. It looks again at the end. If the new version has come into use meanwhile, it makes the change there too.
"""

import asyncio
from collections.abc import Coroutine, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from storage.embedder import Embedder
from storage.opensearch.catalogue import DOCUMENT_ID_KIND, BucketCatalogue
from storage.opensearch.connection import JsonObject, RequestRefused, json_lines_of
from storage.opensearch.mapping import DOCUMENT, VERSION_PATH, IndexLayout, digest_of
from storage.opensearch.reading.compile import all_of, any_term_query
from storage.opensearch.reading.query_steps import build_joint_request, split_joint_indexes
from storage.opensearch.terms import keyword_term_of
from storage.opensearch.writing import bulk
from storage.opensearch.writing.bulk import BulkAction
from storage.opensearch.writing.document_actions import actions_for_document, actions_for_removal
from storage.opensearch.writing.indexed_documents import (
    IndexedDocument,
    are_documents_visible,
    document_lookups_for,
    find_incomplete_documents,
    load_indexed_documents,
    parse_indexed_documents,
)
from storage.opensearch.writing.passage_vectors import LayoutVectors, VectorPolicy
from storage.opensearch.writing.refusals import (
    INDEX_GONE,
    VersionSuperseded,
    is_conflict,
    is_fault_of_document,
    look_up_entries,
    raise_first_refusal,
)
from storage.opensearch.writing.refused_replacements import RefusedDocument, RefusedReplacements
from storage.opensearch.writing.version_mirror import VersionMirror
from storage.search.documents import Document
from storage.search.errors import EmbedderUnavailable, IndexTimedOut, IndexUnavailable
from storage.search.evaluation.value_validation import is_valid_unicode, validate_values
from storage.search.ids import BucketId, DocId
from storage.search.index import WRITTEN_STATUSES, PutResult, PutStatus

if TYPE_CHECKING:
    from storage.embedder import Vectors

_BATCH_SIZE, _BATCH_CHARACTERS = 200, 1_000_000  # of documents that are decided upon and written together
_PARALLEL_BATCHES = 4  # of one `put`
_MAX_TRIES = 8  # for documents that other writers change at the same time
_MAX_WAITS, _WAIT_S = 120, 0.25  # for a version that is just coming into use


@dataclass(kw_only=True)
class _PutOutcome:
    """What became of the documents so far. The first status of a document counts: it may be written to two versions."""

    statuses: dict[DocId, PutStatus] = field(default_factory=dict[DocId, PutStatus])
    without_vectors: set[DocId] = field(default_factory=set[DocId])
    refusals: dict[DocId, RequestRefused] = field(default_factory=dict[DocId, RequestRefused])
    kept: set[DocId] = field(default_factory=set[DocId])  # refused, and in the index as before
    # of documents whose write was not answered: when they are looked up again, they may have been written
    unanswered_statuses: dict[DocId, PutStatus] = field(default_factory=dict[DocId, PutStatus])
    changed_layouts: dict[str, IndexLayout] = field(default_factory=dict[str, IndexLayout])  # by index; not visible yet

    def set_status(self, doc_id: DocId, status: PutStatus) -> None:
        if status is PutStatus.SKIPPED:
            status = self.unanswered_statuses.get(doc_id, status)
        self.statuses.setdefault(doc_id, status)

    def set_refusals(self, refusals: Mapping[DocId, RequestRefused], kept: Set[DocId]) -> None:
        self.refusals |= refusals
        self.kept |= kept

    def to_put_result(self, documents: Sequence[Document]) -> PutResult:
        """Returns the result, in the order of the documents."""
        doc_ids = [document.doc_id for document in documents if document.doc_id not in self.refusals]
        return PutResult.from_statuses(
            {doc_id: self.statuses[doc_id] for doc_id in doc_ids},
            [doc_id for doc_id in doc_ids if doc_id in self.without_vectors],
            {doc_id: refusal.reason for doc_id, refusal in self.refusals.items()},
            [doc_id for doc_id in self.refusals if doc_id in self.kept],
        )


_PutDecisions: TypeAlias = dict[DocId, tuple[PutStatus, IndexedDocument | None]]


@dataclass(frozen=True, kw_only=True)
class DocumentWriter:
    catalogue: BucketCatalogue
    embedder: Embedder | None
    # One batch is encoded at a time. Threads would take turns and finish together, and nothing be sent until then.
    encoding: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def vectors(self) -> LayoutVectors:
        return LayoutVectors(catalogue=self.catalogue, embedder=self.embedder)

    @property
    def mirror(self) -> VersionMirror:
        return VersionMirror(catalogue=self.catalogue, vectors=self.vectors)

    async def put(self, layout: IndexLayout, documents: Sequence[Document]) -> PutResult:
        """Put documents into the bucket with the current `layout`; of equal ids the last document counts.

        Raises `UnknownBucket` (the bucket was dropped meanwhile) and `InvalidCondition`.
        """
        latest = list({document.doc_id: document for document in documents}.values())
        for document in latest:
            validate_values(document, layout.schema)
        outcome, batches = _PutOutcome(), _split_into_batches(latest)

        async def put_remaining_batches() -> None:
            for batch in batches:
                await self._put_across_versions(layout, batch, outcome)

        await _run_until_first_error([put_remaining_batches() for _ in range(_PARALLEL_BATCHES)])
        await self._make_visible(outcome)
        return outcome.to_put_result(latest)

    async def _make_visible(self, outcome: _PutOutcome) -> None:
        for layout in outcome.changed_layouts.values():
            try:
                await self.catalogue.refresh_indexes([layout])
            except RequestRefused as exc:
                if exc.error_type != INDEX_GONE:  # else another version is in use, in which the changes are visible
                    raise

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
                await self.catalogue.require_registry()
                layout = await self.catalogue.reload_bucket_layout(layout.bucket)
                await self.catalogue.connection.pause_with_jitter(_WAIT_S)
        raise IndexUnavailable(self.catalogue.connection.location, "the bucket is being re-indexed")

    async def _put_batch(self, layout: IndexLayout, documents: Sequence[Document], outcome: _PutOutcome) -> None:
        put_ids = list[DocId]()
        pending = [replace(document, values=validate_values(document, layout.schema)) for document in documents]
        for _ in range(_MAX_TRIES):
            decisions = await self._decide_put_statuses(layout, pending, outcome)
            writable = [document for document in pending if decisions[document.doc_id][0] in WRITTEN_STATUSES]
            overtaken = await self._write_unless_overtaken(layout, writable, decisions, outcome)
            for document in pending:
                status = decisions[document.doc_id][0]
                if document.doc_id not in overtaken:
                    outcome.set_status(document.doc_id, status)
                    put_ids += [document.doc_id] if status is not PutStatus.TAKEN else []
            pending = [document for document in pending if document.doc_id in overtaken]
            if not pending:
                break
        else:
            raise IndexTimedOut(self.catalogue.connection.location)
        # Also documents that were skipped: their last writer may have died before it mirrored them.
        await self._mirror_changes(layout, put_ids)
        await self._release_document_ids(
            [doc_id for doc_id in put_ids if doc_id in outcome.refusals.keys() - outcome.kept]
        )

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

        A new schema changes the values, and a new embedder changes the vectors, unless it is metered. A rebuild changes
        neither, so what it has copied is not written again.
        """
        embedder_name = "" if self.embedder is None else self.embedder.name
        if self.embedder is not None and self.embedder.is_metered:
            embedder_name = layout.embedder_name
        return digest_of(repr((layout.schema_digest, embedder_name)))

    async def _decide_put_statuses(
        self, layout: IndexLayout, documents: Sequence[Document], outcome: _PutOutcome
    ) -> _PutDecisions:
        connection, doc_ids = self.catalogue.connection, [document.doc_id for document in documents]
        owners, indexed_documents = await self._load_owners_and_documents(layout, doc_ids)
        if unclaimed_ids := [doc_id for doc_id in doc_ids if doc_id not in owners]:
            owners |= await self._claim_document_ids(layout, unclaimed_ids)
            # Somebody was just deleting these.
            unowned_ids = [doc_id for doc_id in unclaimed_ids if indexed_documents.pop(doc_id, None) is not None]
            indexed_documents |= await load_indexed_documents(connection, layout, unowned_ids)
        bucket_digest, revision = digest_of(layout.bucket), self.revision_for(layout)
        unchanged = {
            document.doc_id: indexed
            for document in documents
            if document.digest and owners[document.doc_id] == bucket_digest
            if (indexed := indexed_documents.get(document.doc_id)) is not None
            if (indexed.digest, indexed.revision) == (document.digest, revision)
        }
        for doc_id in await find_incomplete_documents(connection, layout, unchanged):
            del unchanged[doc_id]
        if not await are_documents_visible(connection, layout, unchanged):
            outcome.changed_layouts[layout.index] = layout

        def decide_status(doc_id: DocId) -> PutStatus:
            if owners[doc_id] != bucket_digest:
                return PutStatus.TAKEN
            if doc_id not in indexed_documents:
                return PutStatus.ADDED
            return PutStatus.SKIPPED if doc_id in unchanged else PutStatus.REPLACED

        return {doc_id: (decide_status(doc_id), indexed_documents.get(doc_id)) for doc_id in doc_ids}

    async def _load_owners_and_documents(
        self, layout: IndexLayout, doc_ids: Sequence[DocId]
    ) -> tuple[dict[DocId, str], dict[DocId, IndexedDocument]]:
        """Returns what `_load_owning_buckets` returns, and the documents that exist, in one round trip."""
        lookups = [*self._owner_lookups_for(doc_ids), *document_lookups_for(layout, doc_ids)]
        entries = await look_up_entries(self.catalogue.connection, lookups)
        owner_entries, document_entries = entries[: len(doc_ids)], entries[len(doc_ids) :]
        return _parse_owners(doc_ids, owner_entries), parse_indexed_documents(doc_ids, document_entries)

    async def _load_owning_buckets(self, doc_ids: Sequence[DocId]) -> dict[DocId, str]:
        """Returns the digest of the bucket that owns each id, including writes that no search can see yet."""
        return _parse_owners(
            doc_ids, await look_up_entries(self.catalogue.connection, self._owner_lookups_for(doc_ids))
        )

    def _owner_lookups_for(self, doc_ids: Sequence[DocId]) -> list[JsonObject]:
        registry_index = self.catalogue.names.registry_index_name
        return [{"_index": registry_index, "_id": _registry_entry_id(doc_id)} for doc_id in doc_ids]

    async def _claim_document_ids(self, layout: IndexLayout, doc_ids: Sequence[DocId]) -> dict[DocId, str]:
        bucket_digest = digest_of(layout.bucket)
        source = {"kind": DOCUMENT_ID_KIND, "bucket": bucket_digest}
        claims = [
            bulk.claim_registry_entry_action(
                self.catalogue.names.registry_write_alias, _registry_entry_id(doc_id), source
            )
            for doc_id in doc_ids
        ]
        refusals = await bulk.claim_registry_entries(self.catalogue.connection, claims)
        lost_ids = [doc_id for doc_id, refusal in zip(doc_ids, refusals, strict=True) if is_conflict(refusal)]
        raise_first_refusal([refusal for refusal in refusals if not is_conflict(refusal)])
        return dict.fromkeys(doc_ids, bucket_digest) | (await self._load_owning_buckets(lost_ids) if lost_ids else {})

    # -- writing

    async def _write_unless_overtaken(
        self, layout: IndexLayout, documents: Sequence[Document], decisions: _PutDecisions, outcome: _PutOutcome
    ) -> set[DocId]:
        """Write documents; returns the ids that another writer changed meanwhile and that must be written again.

        A document that the cluster refuses gets its earlier version back. Without one it is deleted, so that no part of
        it is found.
        """
        if not documents:
            return set()
        replaced_ids = [document.doc_id for document in documents if decisions[document.doc_id][1] is not None]
        earlier_documents = await self.mirror.read_documents_once(layout, replaced_ids)
        actions_by_document = await self._encode_documents(layout, documents, decisions, outcome)
        registry_action = BulkAction("index", json_lines_of(self.catalogue.registry_entry_lines(layout)))
        outcome.changed_layouts[layout.index] = layout
        *refusals_by_document, registry_refusals = await bulk.write_action_groups(
            self.catalogue.connection, [*actions_by_document, [registry_action]]
        )
        raise_first_refusal([refusal for refusal in registry_refusals if not is_conflict(refusal)])
        overtaken, faults = set[DocId](), dict[DocId, RequestRefused]()
        for document, refusals in zip(documents, refusals_by_document, strict=True):
            if fault := next(filter(is_fault_of_document, refusals), None):
                faults[document.doc_id] = fault
            elif (main_refusal := refusals[0]) is not None and is_conflict(main_refusal):
                overtaken.add(document.doc_id)
                if main_refusal.may_be_own:
                    outcome.unanswered_statuses.setdefault(document.doc_id, decisions[document.doc_id][0])
            raise_first_refusal(
                [refusal for refusal in refusals if not is_conflict(refusal) and not is_fault_of_document(refusal)],
                ignore_missing=True,
            )
        refused = [
            RefusedDocument(
                document=document, indexed=decisions[document.doc_id][1], earlier=earlier_documents.get(document.doc_id)
            )
            for document in documents
            if document.doc_id in faults
        ]
        replacements = RefusedReplacements(catalogue=self.catalogue, vectors=self.vectors)
        revision = self.revision_for(layout)
        restored, overtaken_later = await replacements.restore_earlier_documents(layout, refused, revision)
        outcome.set_refusals(
            {doc_id: fault for doc_id, fault in faults.items() if doc_id not in overtaken_later}, restored
        )
        return overtaken | overtaken_later

    async def _encode_documents(
        self, layout: IndexLayout, documents: Sequence[Document], decisions: _PutDecisions, outcome: _PutOutcome
    ) -> list[list[BulkAction]]:
        """Returns the writes of each document. Extends `outcome` by the documents that get no vectors."""
        is_metered = self.embedder is not None and self.embedder.is_metered
        metered_vectors = await self._embed_documents(layout, documents) if is_metered else None
        async with self.encoding:
            vectors = metered_vectors if is_metered else await self._embed_documents(layout, documents)
            if self.embedder is not None and vectors is None:
                outcome.without_vectors.update(document.doc_id for document in documents)
            revision, target = self.revision_for(layout), self.catalogue.names.write_alias_for(layout.index)

            def build_bulk_actions() -> list[list[BulkAction]]:
                return [
                    actions_for_document(
                        target,
                        document,
                        revision,
                        layout,
                        None if vectors is None else vectors[position],
                        decisions[document.doc_id][1],
                    )
                    for position, document in enumerate(documents)
                ]

            return await asyncio.to_thread(build_bulk_actions)

    async def _embed_documents(self, layout: IndexLayout, documents: Sequence[Document]) -> "list[Vectors] | None":
        try:
            return await self.vectors.embed_for_layout(layout, documents)
        except EmbedderUnavailable:
            return None

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
                await self.catalogue.require_registry()
                await self.catalogue.connection.pause_with_jitter(_WAIT_S)
            else:
                return len(deleted_ids)
        raise IndexUnavailable(self.catalogue.connection.location, "a bucket is being re-indexed")

    async def _delete_batch(self, doc_ids: Sequence[DocId], deleted_ids: set[DocId]) -> None:
        """Extends `deleted_ids` by the documents that existed."""
        owners = await self._load_owning_buckets(doc_ids)
        layouts = self.catalogue.layouts  # other calls replace it meanwhile, by later versions and with other buckets
        if await self.catalogue.has_missed_bucket(layouts, owners.values()):
            raise VersionSuperseded
        touched_layouts, actions = dict[BucketId, IndexLayout](), list[BulkAction]()
        owned_ids = dict[BucketId, list[DocId]]()
        for bucket, layout in layouts.items():
            owned_ids[bucket] = [doc_id for doc_id in doc_ids if owners.get(doc_id) == digest_of(bucket)]
            indexed_documents = await load_indexed_documents(self.catalogue.connection, layout, owned_ids[bucket])
            alias = self.catalogue.names.write_alias_for(layout.index)
            for doc_id, indexed in indexed_documents.items():
                actions += actions_for_removal(alias, layout, doc_id, indexed.passage_count)
            deleted_ids.update(indexed_documents)
            if deleted_ids.intersection(owned_ids[bucket]):
                touched_layouts[bucket] = layout
        raise_first_refusal(await bulk.write_bulk_actions(self.catalogue.connection, actions), ignore_missing=True)
        for bucket, layout in layouts.items():
            await self._mirror_changes(layout, owned_ids[bucket])
        await self._release_document_ids(list(owners))
        # An earlier call may have deleted them, and have ended before searches saw that.
        gone_ids = [doc_id for doc_id in doc_ids if doc_id not in deleted_ids]
        for layout in await self._find_layouts_that_show(gone_ids):
            touched_layouts[layout.bucket] = layout
        await self.catalogue.refresh_indexes(list(touched_layouts.values()))

    async def _find_layouts_that_show(self, doc_ids: Sequence[DocId]) -> list[IndexLayout]:
        """Returns the layouts in which searches see any of the documents. Raises `VersionSuperseded`."""
        layouts = {layout.index: layout for layout in self.catalogue.layouts.values()}
        if not layouts or not doc_ids:
            return []
        query = all_of({"term": {"kind": DOCUMENT}}, any_term_query("doc_id", list(map(keyword_term_of, doc_ids))))
        requests = [
            build_joint_request(indexes, query, None, size=2 * len(doc_ids), _source=[f"stored.{VERSION_PATH}"])
            for indexes in split_joint_indexes(list(layouts))
        ]
        try:
            responses = await self.catalogue.run_multi_search(requests)
        except RequestRefused as exc:
            if exc.error_type == INDEX_GONE:
                raise VersionSuperseded from exc
            raise
        return [layouts[name] for name in {hit.version_name for response in responses for hit in response.hits}]

    async def _release_document_ids(self, doc_ids: Sequence[DocId]) -> None:
        """Let any bucket have documents with these ids."""
        releases = [
            bulk.delete_entry_action(self.catalogue.names.registry_index_name, _registry_entry_id(doc_id))
            for doc_id in doc_ids
        ]
        raise_first_refusal(await bulk.write_bulk_actions(self.catalogue.connection, releases), ignore_missing=True)


def _parse_owners(doc_ids: Sequence[DocId], entries: Sequence[JsonObject]) -> dict[DocId, str]:
    return {
        doc_id: entry["_source"]["bucket"] for doc_id, entry in zip(doc_ids, entries, strict=True) if entry["found"]
    }


def _registry_entry_id(doc_id: DocId) -> str:
    return f"{DOCUMENT_ID_KIND}:{digest_of(doc_id)}"


def _split_into_batches(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """Yields batches whose requests are a few megabytes. A document is never divided."""
    batch, characters = list[Document](), 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if len(batch) >= _BATCH_SIZE or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


async def _run_until_first_error(steps: Sequence[Coroutine[object, object, None]]) -> None:
    """Run the steps side by side. At the first error stop the others, then raise it."""
    tasks = [asyncio.create_task(step) for step in steps]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

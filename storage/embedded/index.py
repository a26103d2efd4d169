"""The embedded engine: a `SearchIndex` in one SQLite file, for one machine and up to about 300,000 passages.

A small thread pool does the work, each thread with its own connection, so that the event loop never waits for the disk.
Several processes can use one folder at the same time.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from storage.embedded import vectors as stored_vectors
from storage.embedded import writing
from storage.embedded.bucket_snapshot import BucketHeader, IndexState, LruCache, OutdatedSnapshot, SnapshotCache
from storage.embedded.database import EmbeddedDatabase, has_outdated_outlines, has_outlines
from storage.embedded.file_check import IndexFileCheck
from storage.embedded.index_snapshot import KeptTransaction
from storage.embedded.reading.records import RecordOrder, read_record_batch
from storage.embedded.reading.request_evaluator import EmbeddedRequestEvaluator
from storage.embedded.vectors import EmbedderIdentity, OutdatedDocument
from storage.embedded.writing import PreparedDocument
from storage.embedder import EmbeddedQueries, Embedder, embed_passages, embed_queries
from storage.search.analyser import Analyser
from storage.search.documents import Document
from storage.search.errors import (
    DiskSpaceShort,
    EmbedderUnavailable,
    IndexTimedOut,
    IndexUnavailable,
    NotInScope,
    SnapshotGone,
    UnknownBucket,
)
from storage.search.evaluation.semi_join_resolution import answer_with_semi_joins
from storage.search.evaluation.value_validation import validate_values
from storage.search.ids import BucketId, DocId, Generation, TenantId
from storage.search.index import (
    SNAPSHOT_LIFETIME,
    WRITTEN_STATUSES,
    BucketSize,
    BucketState,
    DocumentRecord,
    EarlierIndexes,
    IndexAnswers,
    IndexRequest,
    IndexVocabulary,
    PassageVolume,
    PutResult,
    PutStatus,
    RebuildPlan,
    RebuildProgress,
    RebuildStage,
    SemanticPassageRequest,
    VectorState,
)
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.text.document_terms import analyse_document

if TYPE_CHECKING:
    from storage.embedder import Vectors

T = TypeVar("T")
_THREAD_COUNT = 4
_MAX_READ_ATTEMPTS = 50  # of a read whose snapshot is outdated by writes
_BATCH_DOCUMENTS, _BATCH_CHARACTERS = 200, 1_000_000  # of one write transaction; the characters approximately
_CONTENT_CHECK_WAIT_S = 0.5  # of a ping, for a check of the whole file
_EMBEDDED_DOCUMENTS = 50  # that one transaction gives new vectors
_TERM_BYTES_PER_CHARACTER = 4  # of new term tables, with their log: about twice their size


class EmbeddedIndex:
    """Implements `SearchIndex`. Create it with `open`."""

    def __init__(
        self,
        database: EmbeddedDatabase,
        pool: ThreadPoolExecutor,
        *,
        tenant: TenantId,
        analysers: Callable[[str], Analyser],
        embedder: Embedder | None,
        snapshot_lifetime: timedelta = SNAPSHOT_LIFETIME,
    ) -> None:
        self._snapshot_lifetime = snapshot_lifetime
        self._database, self._pool, self._tenant = database, pool, tenant
        self._analysers, self._embedder = analysers, embedder
        self._snapshots = SnapshotCache()
        self._file_check = IndexFileCheck(database)
        self._content_check: asyncio.Future[None] | None = None  # runs in the background
        self._order_cache = LruCache[RecordOrder](4)
        self._vocabulary_cache = LruCache[IndexVocabulary](16)

    @classmethod
    async def open(
        cls,
        folder: Path,
        *,
        tenant: TenantId,
        analysers: Callable[[str], Analyser],
        embedder: Embedder | None,
        lock_timeout: timedelta = timedelta(seconds=10),
        snapshot_lifetime: timedelta = SNAPSHOT_LIFETIME,
    ) -> "EmbeddedIndex":
        """Open the index in `folder`; create it if it does not exist. `analysers` returns the analyser of a language.

        Without an embedder passages have no vectors. A write waits up to `lock_timeout` for writes of other processes,
        then raises `IndexTimedOut`. Rebuilds term tables of another version of the analyser, and builds the outlines
        that documents of an earlier version of Parley lack. Raises `IndexUnavailable` (the folder cannot be written,
        the file is damaged or belongs to another tenant) and `IndexTooNew`.
        """
        pool = ThreadPoolExecutor(_THREAD_COUNT, thread_name_prefix="embedded-index")
        try:
            database = await asyncio.get_running_loop().run_in_executor(
                pool, EmbeddedDatabase, folder, tenant, lock_timeout
            )
        except BaseException:
            pool.shutdown(wait=False)
            raise
        index = cls(
            database,
            pool,
            tenant=tenant,
            analysers=analysers,
            embedder=embedder,
            snapshot_lifetime=snapshot_lifetime,
        )
        try:
            await index._run_in_pool(index._rebuild_stale_terms)
            await index._run_in_pool(index._build_missing_outlines)
        except BaseException:
            await index.close()
            raise
        return index

    @property
    def tenant(self) -> TenantId:
        return self._tenant

    @property
    def is_replaced(self) -> bool:
        """Whether another file is in the place of the one that was opened."""
        return self._file_check.is_replaced

    # -- writing

    async def set_schema(self, schema: Schema) -> None:
        def write_schema(connection: sqlite3.Connection, state: IndexState) -> None:
            writing.write_schema(connection, state.headers, schema, self._analysers)

        await self._run_in_pool(lambda: self._run_write(write_schema))

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        header = await self._run_in_pool(lambda: self._run_read(lambda _, state: _find_header(state, bucket)))
        latest = list({document.doc_id: document for document in documents}.values())
        await self._run_in_pool(lambda: [validate_values(document, header.schema) for document in latest])
        statuses, without_vectors = dict[DocId, PutStatus](), list[DocId]()
        batches = deque(_split_into_batches(latest))
        prepared: Mapping[DocId, PreparedDocument] = (
            await self._prepare_documents(bucket, batches[0], {}) if batches else {}
        )
        while batches:
            batch, next_batch = batches.popleft(), batches[0] if batches else ()
            # SQLite uses one processor only: prepare the next batch at the same time.
            (written, unembedded), prepared = await asyncio.gather(
                self._put_batch(bucket, batch, prepared), self._prepare_documents(bucket, next_batch, {})
            )
            statuses |= written
            without_vectors += unembedded
        return PutResult.from_statuses(statuses, without_vectors)

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        return await self._run_in_pool(
            lambda: self._run_write(lambda c, _: writing.delete_documents(c, doc_ids, self._analysers))
        )

    async def drop_bucket(self, bucket: BucketId) -> None:
        def drop_stored_bucket(connection: sqlite3.Connection, state: IndexState) -> None:
            writing.drop_bucket(connection, _find_header(state, bucket))

        await self._run_in_pool(lambda: self._run_write(drop_stored_bucket))

    # -- states

    async def load_bucket_states(self) -> Mapping[BucketId, BucketState]:
        def read_bucket_states(connection: sqlite3.Connection, state: IndexState) -> Mapping[BucketId, BucketState]:
            epoch = state.generation.partition("-")[0]
            return {name: self._bucket_state_of(connection, header, epoch) for name, header in state.headers.items()}

        return await self._run_in_pool(lambda: self._run_read(read_bucket_states))

    async def load_bucket_names(self) -> frozenset[BucketId]:
        return await self._read_in_pool(lambda _, state: frozenset(state.headers), None)

    async def load_bucket_sizes(self) -> Mapping[BucketId, BucketSize]:
        def read_bucket_sizes(connection: sqlite3.Connection, state: IndexState) -> Mapping[BucketId, BucketSize]:
            counts = dict(connection.execute("SELECT bucket, count(*) FROM document GROUP BY bucket").fetchall())
            epoch = state.generation.partition("-")[0]
            return {
                name: BucketSize(
                    schema=header.schema,
                    document_count=counts.get(header.id, 0),
                    generation=_bucket_generation_of(header, epoch),
                )
                for name, header in state.headers.items()
            }

        return await self._run_in_pool(lambda: self._run_read(read_bucket_sizes))

    async def load_digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        def read_digests(connection: sqlite3.Connection, state: IndexState) -> Mapping[DocId, str]:
            bucket_number = _find_header(state, bucket).id
            return dict(
                connection.execute("SELECT doc_id, digest FROM document WHERE bucket = ?", (bucket_number,)).fetchall()
            )

        return await self._run_in_pool(lambda: self._run_read(read_digests))

    async def load_ingestion_days(self, bucket: BucketId) -> Mapping[DocId, str]:
        def read_days(connection: sqlite3.Connection, state: IndexState) -> Mapping[DocId, str]:
            query = (
                "SELECT d.doc_id, coalesce(i.day, '') FROM document d LEFT JOIN ingestion i ON i.doc = d.id"
                " WHERE d.bucket = ?"
            )
            return dict(connection.execute(query, (_find_header(state, bucket).id,)).fetchall())

        return await self._run_in_pool(lambda: self._run_read(read_days))

    async def scan_records(self, bucket: BucketId) -> AsyncGenerator[Sequence[DocumentRecord]]:
        last_row = 0

        def read_batch(connection: sqlite3.Connection, state: IndexState) -> tuple[list[DocumentRecord], int]:
            return read_record_batch(connection, _find_header(state, bucket), after=last_row)

        while True:
            records, last_row = await self._run_in_pool(lambda: self._run_read(read_batch))
            if not records:
                return
            yield records

    # -- vectors

    async def load_vector_states(self) -> Mapping[BucketId, VectorState]:
        def read_vector_states(connection: sqlite3.Connection, state: IndexState) -> Mapping[BucketId, VectorState]:
            return {
                name: stored_vectors.read_vector_state(connection, header.id, self._embedder_name)
                for name, header in state.headers.items()
            }

        return await self._run_in_pool(lambda: self._run_read(read_vector_states))

    async def measure_outdated_passages(self, bucket: BucketId) -> PassageVolume:
        embedder = await self._identify_embedder()

        def measure_bucket(connection: sqlite3.Connection, state: IndexState) -> PassageVolume:
            header = _find_header(state, bucket)
            if embedder is None:
                return PassageVolume(passage_count=0, character_count=0)
            return stored_vectors.measure_outdated(connection, header.id, embedder)

        return await self._run_in_pool(lambda: self._run_read(measure_bucket))

    async def update_vectors(self, bucket: BucketId, report_progress: Callable[[int], None]) -> int:
        identity, embedder, embedded_count, last_row = await self._identify_embedder(), self._embedder, 0, 0
        header = await self._run_in_pool(lambda: self._run_read(lambda _, state: _find_header(state, bucket)))
        if identity is None or embedder is None:
            return 0

        def read_outdated(connection: sqlite3.Connection, state: IndexState) -> list[OutdatedDocument]:
            return stored_vectors.read_outdated(
                connection, header.id, identity, after=last_row, limit=_EMBEDDED_DOCUMENTS
            )

        def end_update(connection: sqlite3.Connection, state: IndexState) -> None:
            stored_vectors.raise_vector_epoch(connection, header)
            writing.raise_generation(connection, header.id)

        try:  # processes see the vectors at the end: to load them again after each batch would slow down all searches
            while batch := await self._run_in_pool(lambda: self._run_read(read_outdated)):
                rows = await embed_passages(embedder, [outdated.document for outdated in batch])
                write_batch = partial(_replace_vectors, header.id, identity.name, batch, rows)
                await self._run_in_pool(partial(self._run_write, write_batch))
                embedded_count, last_row = embedded_count + sum(map(len, rows)), batch[-1].row_id
                report_progress(embedded_count)
        finally:
            if last_row:
                await asyncio.shield(self._run_in_pool(lambda: self._run_write(end_update)))
        return embedded_count

    # -- rebuilding

    async def plan_rebuild(self, bucket: BucketId, *, shard_count: int | None = None) -> RebuildPlan:
        document_count, character_count = await self._run_in_pool(
            lambda: self._run_read(
                lambda connection, state: writing.measure_texts(connection, _find_header(state, bucket).id)
            )
        )
        free_bytes = await self._run_in_pool(self._database.measure_free_bytes)
        needed_bytes = character_count * _TERM_BYTES_PER_CHARACTER
        return RebuildPlan(document_count=document_count, needed_bytes=needed_bytes, free_bytes=free_bytes)

    async def rebuild_bucket(
        self,
        bucket: BucketId,
        report_progress: Callable[[RebuildProgress], None],
        *,
        shard_count: int | None = None,
    ) -> int:
        """Other writers wait while the term tables are rebuilt, which is one transaction. There are no shards."""
        plan, loop = await self.plan_rebuild(bucket), asyncio.get_running_loop()
        if plan.free_bytes is not None and plan.free_bytes < plan.needed_bytes:
            raise DiskSpaceShort(bucket, plan.needed_bytes, plan.free_bytes)
        outdated_count = (await self.measure_outdated_passages(bucket)).passage_count
        if outdated_count:
            await self.update_vectors(
                bucket,
                lambda done: report_progress(
                    RebuildProgress(stage=RebuildStage.EMBEDDING, done=done, total=outdated_count)
                ),
            )

        def report_copied(done: int) -> None:
            progress = RebuildProgress(stage=RebuildStage.COPYING, done=done, total=max(done, plan.document_count))
            loop.call_soon_threadsafe(report_progress, progress)

        def rebuild_terms(connection: sqlite3.Connection, state: IndexState) -> int:
            header = _find_header(state, bucket)
            writing.rebuild_terms(connection, header.id, self._analysers(header.schema.language), report_copied)
            writing.raise_generation(connection, header.id)
            return writing.measure_texts(connection, header.id)[0]

        return await self._run_in_pool(lambda: self._run_write(rebuild_terms))

    async def clean_up_bucket(self, bucket: BucketId) -> EarlierIndexes:
        await self._run_in_pool(lambda: self._run_read(lambda _, state: _find_header(state, bucket)))
        return EarlierIndexes(index_count=0, size_bytes=0)

    async def _identify_embedder(self) -> EmbedderIdentity | None:
        if self._embedder is None:
            return None
        return EmbedderIdentity(name=self._embedder.name, dimensions=await self._embedder.load_dimensions())

    def within_scope(self, scope: Scope) -> "ScopedEmbeddedIndex":
        if scope.tenant != self._tenant:
            raise ValueError("the scope is of another tenant")
        return ScopedEmbeddedIndex(self, scope)

    async def ping(self, *, thorough: bool = False) -> None:
        await self._run_in_pool(self._file_check.check_quickly)
        if self._content_check is None and (thorough or self._file_check.is_due):
            self._content_check = asyncio.ensure_future(self._run_in_pool(self._file_check.check_content))
        if (check := self._content_check) is not None:
            await asyncio.wait({check}, timeout=None if thorough else _CONTENT_CHECK_WAIT_S)
            if check.done():
                self._content_check = None
                check.result()
        await self._run_in_pool(lambda: self._run_read(lambda _, state: state))

    def _forget_content_check(self, check: asyncio.Future[None]) -> None:
        if self._content_check is check and not check.cancelled() and check.exception() is None:
            self._content_check = None

    async def close(self) -> None:
        self._file_check.interrupt()
        if self._content_check is not None:
            await asyncio.wait({self._content_check})
        await asyncio.to_thread(self._pool.shutdown)
        self._database.close()

    # -- within a scope; with a kept transaction in its state, else in the latest

    async def answer_requests(
        self, scope: Scope, requests: Sequence[IndexRequest[object]], kept: KeptTransaction | None = None
    ) -> IndexAnswers:
        if self._content_check is None and self._file_check.is_due_for_answers:
            self._content_check = asyncio.ensure_future(self._run_in_pool(self._file_check.check_content))
            self._content_check.add_done_callback(self._forget_content_check)
        distinct_requests = list(dict.fromkeys(requests))
        queries: EmbeddedQueries = await embed_queries(
            self._embedder,
            [request.text for request in distinct_requests if isinstance(request, SemanticPassageRequest)],
        )

        def answer_all(connection: sqlite3.Connection, state: IndexState) -> IndexAnswers:
            evaluator = self._evaluator_for(connection, state, scope, queries.vectors, kept)
            answers = {request: evaluator.answer(request) for request in distinct_requests}
            return IndexAnswers(state.generation, answers, embedding_failure=queries.failure)

        return await self._read_in_pool(answer_all, kept)

    async def load_vocabulary(self, scope: Scope, limit: int, kept: KeptTransaction | None = None) -> IndexVocabulary:
        def read_vocabulary(connection: sqlite3.Connection, state: IndexState) -> IndexVocabulary:
            evaluator = self._evaluator_for(connection, state, scope, {}, kept)
            return self._vocabulary_cache.get_or_compute(
                (state.generation, scope, limit), lambda: evaluator.build_vocabulary(limit)
            )

        return await self._read_in_pool(read_vocabulary, kept)

    async def load_schemas(self, scope: Scope, kept: KeptTransaction | None = None) -> Mapping[BucketId, Schema]:
        state = await self._read_in_pool(lambda _, state: state, kept)
        return {name: header.schema for name, header in state.headers.items() if name in scope.buckets}

    def analyser_for(self, scope: Scope, bucket: BucketId, kept: KeptTransaction | None = None) -> Analyser:
        state = self._snapshots.latest_state if kept is None else kept.state
        if bucket not in scope.buckets:
            raise NotInScope(bucket)
        if kept is None and (state is None or bucket not in state.headers):
            # Another process has just created the bucket. Its row is read in a few microseconds.
            state = self._run_read(lambda _, state: state)
        if state is None or bucket not in state.headers:
            raise NotInScope(bucket)
        return self._analysers(state.headers[bucket].schema.language)

    @asynccontextmanager
    async def keep_transaction(self) -> AsyncGenerator[KeptTransaction]:
        """Keep a read transaction open. It ends with the block, or when its lifetime has passed."""
        kept = await self._run_in_pool(
            lambda: KeptTransaction(self._database, self._snapshots, self._snapshot_lifetime)
        )
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._snapshot_lifetime.total_seconds(), lambda: loop.run_in_executor(None, kept.close))
        try:
            yield kept
        finally:
            timer.cancel()
            await asyncio.shield(asyncio.to_thread(kept.close))

    # -- transactions

    async def _run_in_pool(self, job: Callable[[], T]) -> T:
        try:
            future = asyncio.get_running_loop().run_in_executor(self._pool, job)
        except RuntimeError as exc:  # the pool was shut down
            raise IndexUnavailable(self._database.location, "it was closed") from exc
        return await future

    async def _read_in_pool(
        self, job: Callable[[sqlite3.Connection, IndexState], T], kept: KeptTransaction | None
    ) -> T:
        run_read = self._run_read if kept is None else kept.run_read
        return await self._run_in_pool(lambda: run_read(job))

    def _run_read(self, job: Callable[[sqlite3.Connection, IndexState], T]) -> T:
        self._file_check.raise_if_damaged()
        for _ in range(_MAX_READ_ATTEMPTS):
            with self._database.read_transaction() as connection:
                try:
                    return job(connection, self._snapshots.read_state(connection))
                except OutdatedSnapshot:
                    continue
        raise IndexTimedOut(self._database.location)

    def _run_write(self, job: Callable[[sqlite3.Connection, IndexState], T]) -> T:
        self._file_check.raise_if_damaged()
        with self._database.write_transaction() as connection:
            return job(connection, self._snapshots.read_state(connection))

    def _rebuild_stale_terms(self) -> None:
        """Rebuild the term tables that another version of the analyser built."""

        def find_stale_headers(state: IndexState) -> list[BucketHeader]:
            headers = state.headers.values()
            return [header for header in headers if self._analysers(header.schema.language).version != header.analyser]

        def rebuild_bucket_terms(connection: sqlite3.Connection, state: IndexState) -> None:
            for header in find_stale_headers(state):
                writing.rebuild_terms(connection, header.id, self._analysers(header.schema.language))
                writing.raise_generation(connection, header.id)

        if self._run_read(lambda _, state: find_stale_headers(state)):
            self._run_write(rebuild_bucket_terms)

    def _build_missing_outlines(self) -> None:
        """Build the outlines of buckets of an earlier version of Parley, which has none, also of those to which a
        process of it has written since.
        """

        def find_headers_without_outlines(connection: sqlite3.Connection, state: IndexState) -> list[BucketHeader]:
            return [
                header
                for header in state.headers.values()
                if not has_outlines(connection, header.id) or has_outdated_outlines(connection, header.id)
            ]

        def build_bucket_outlines(connection: sqlite3.Connection, state: IndexState) -> None:
            for header in find_headers_without_outlines(connection, state):
                writing.build_outline_table(connection, header.id, self._analysers(header.schema.language))
                writing.raise_generation(connection, header.id)

        if self._run_read(find_headers_without_outlines):
            self._run_write(build_bucket_outlines)

    def _evaluator_for(
        self,
        connection: sqlite3.Connection,
        state: IndexState,
        scope: Scope,
        query_vectors: "Mapping[str, Vectors]",
        kept: KeptTransaction | None,
    ) -> EmbeddedRequestEvaluator:
        return EmbeddedRequestEvaluator(
            connection=connection,
            state=state,
            snapshots=self._snapshots if kept is None else kept.snapshots,
            scope=scope,
            analysers=self._analysers,
            order_cache=self._order_cache if kept is None else kept.order_cache,
            embedder_name=self._embedder_name,
            query_vectors=query_vectors,
        )

    def _bucket_state_of(self, connection: sqlite3.Connection, header: BucketHeader, epoch: str) -> BucketState:
        snapshot = self._snapshots.snapshot_for(connection, header)
        (passage_count,) = connection.execute("SELECT count(*) FROM passage WHERE bucket = ?", (header.id,)).fetchone()
        field_counts = {
            name: int((column.present_mask & snapshot.live_mask).sum()) for name, column in snapshot.columns.items()
        }
        return BucketState(
            schema=header.schema,
            document_count=int(snapshot.live_mask.sum()),
            passage_count=passage_count,
            generation=_bucket_generation_of(header, epoch),
            field_counts={name: count for name, count in field_counts.items() if count},
        )

    # -- put

    @property
    def _embedder_name(self) -> str:
        return self._embedder.name if self._embedder else ""

    async def _put_batch(
        self, bucket: BucketId, documents: Sequence[Document], prepared: Mapping[DocId, PreparedDocument]
    ) -> tuple[Mapping[DocId, PutStatus], Sequence[DocId]]:
        """Analyse and embed outside the transaction, again if the bucket or a document has changed before the write.

        Returns the statuses, and the documents that were written without vectors because the embedder failed.
        """
        ready_documents = dict(prepared)

        def write_batch(connection: sqlite3.Connection, state: IndexState) -> Mapping[DocId, PutStatus] | None:
            return self._write_prepared(connection, state, bucket, documents, ready_documents)

        while (statuses := await self._run_in_pool(lambda: self._run_write(write_batch))) is None:
            ready_documents.update(await self._prepare_documents(bucket, documents, ready_documents))
        return statuses, [
            doc_id
            for doc_id, status in statuses.items()
            if status in WRITTEN_STATUSES and ready_documents[doc_id].embedder != self._embedder_name
        ]

    async def _prepare_documents(
        self, bucket: BucketId, documents: Sequence[Document], prepared: Mapping[DocId, PreparedDocument]
    ) -> Mapping[DocId, PreparedDocument]:
        """Prepare the documents that must be written and are not prepared yet."""

        def find_unprepared(connection: sqlite3.Connection, state: IndexState) -> tuple[BucketHeader, list[Document]]:
            header = _find_header(state, bucket)
            statuses = {document.doc_id: self._put_status_of(connection, header, document) for document in documents}
            return header, [
                document
                for document in documents
                if _needs_preparation(prepared, document.doc_id, statuses[document.doc_id], header)
            ]

        header, unprepared = await self._run_in_pool(lambda: self._run_read(find_unprepared))
        analyser = self._analysers(header.schema.language)
        terms, vectors = await asyncio.gather(
            self._run_in_pool(
                lambda: [
                    analyse_document(document.title, document.text, document.passages, analyser, document.outline_text)
                    for document in unprepared
                ]
            ),
            self._embed_passages(unprepared),
        )
        return {
            document.doc_id: PreparedDocument(
                document=document,
                values=validate_values(document, header.schema),
                terms=terms[index],
                header=header,
                vectors=None if vectors is None else vectors[index],
                embedder="" if vectors is None else self._embedder_name,
            )
            for index, document in enumerate(unprepared)
        }

    async def _embed_passages(self, documents: Sequence[Document]) -> "list[Vectors] | None":
        """Returns None without an embedder, and if it does not answer."""
        try:
            return None if self._embedder is None else await embed_passages(self._embedder, documents)
        except EmbedderUnavailable:
            return None

    def _put_status_of(self, connection: sqlite3.Connection, header: BucketHeader, document: Document) -> PutStatus:
        is_metered = self._embedder is not None and self._embedder.is_metered
        return writing.put_status_of(connection, header, document, None if is_metered else self._embedder_name)

    def _write_prepared(
        self,
        connection: sqlite3.Connection,
        state: IndexState,
        bucket: BucketId,
        documents: Sequence[Document],
        prepared: Mapping[DocId, PreparedDocument],
    ) -> Mapping[DocId, PutStatus] | None:
        """Write the documents. Writes nothing and returns None if a document that must be written is not prepared."""
        header = _find_header(state, bucket)
        statuses = {document.doc_id: self._put_status_of(connection, header, document) for document in documents}
        if any(_needs_preparation(prepared, doc_id, status, header) for doc_id, status in statuses.items()):
            return None
        written_ids = [doc_id for doc_id, status in statuses.items() if status in WRITTEN_STATUSES]
        for doc_id in written_ids:
            writing.write_document(connection, header, prepared[doc_id], self._analysers)
        if written_ids:
            writing.raise_generation(connection, header.id)
        return statuses


class ScopedEmbeddedIndex:
    """Implements `ScopedIndex`."""

    def __init__(self, index: EmbeddedIndex, scope: Scope, kept: KeptTransaction | None = None) -> None:
        self._index, self._scope, self._kept = index, scope, kept

    @property
    def scope(self) -> Scope:
        return self._scope

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        def send_requests(plain: Sequence[IndexRequest[object]]) -> Awaitable[IndexAnswers]:
            return self._index.answer_requests(self._scope, plain, self._kept)

        return await answer_with_semi_joins(requests, self._scope, send_requests, self.load_schemas)

    async def load_vocabulary(self, limit: int = 200_000) -> IndexVocabulary:
        return await self._index.load_vocabulary(self._scope, limit, self._kept)

    async def load_schemas(self) -> Mapping[BucketId, Schema]:
        return await self._index.load_schemas(self._scope, self._kept)

    def analyser_for(self, bucket: BucketId) -> Analyser:
        return self._index.analyser_for(self._scope, bucket, self._kept)

    @asynccontextmanager
    async def open_snapshot(
        self, buckets: frozenset[BucketId], token: str | None = None
    ) -> AsyncGenerator["EmbeddedIndexSnapshot"]:
        scope = replace(self._scope, buckets=self._scope.buckets & buckets)
        async with self._index.keep_transaction() as kept:
            if token not in (None, kept.state.generation):
                raise SnapshotGone
            yield EmbeddedIndexSnapshot(self._index, scope, kept)


class EmbeddedIndexSnapshot(ScopedEmbeddedIndex):
    """Implements `IndexSnapshot`."""

    def __init__(self, index: EmbeddedIndex, scope: Scope, kept: KeptTransaction) -> None:
        super().__init__(index, scope, kept)
        self._token = kept.state.generation

    @property
    def token(self) -> str:
        return self._token


def _split_into_batches(documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    """Yield all documents in order, in batches; no batch is empty."""
    batch, character_count = list[Document](), 0
    for document in documents:
        batch.append(document)
        character_count += len(document.text)
        if len(batch) >= _BATCH_DOCUMENTS or character_count >= _BATCH_CHARACTERS:
            yield batch
            batch, character_count = [], 0
    if batch:
        yield batch


def _replace_vectors(
    bucket: int,
    embedder: str,
    documents: Sequence[OutdatedDocument],
    rows: "Sequence[Vectors]",
    connection: sqlite3.Connection,
    state: IndexState,
) -> None:
    stored_vectors.replace_vectors(connection, bucket, embedder, documents, rows)


def _bucket_generation_of(header: BucketHeader, epoch: str) -> Generation:
    return Generation(f"{epoch}-{header.generation}")


def _find_header(state: IndexState, bucket: BucketId) -> BucketHeader:
    if bucket not in state.headers:
        raise UnknownBucket(bucket)
    return state.headers[bucket]


def _needs_preparation(
    prepared: Mapping[DocId, PreparedDocument], doc_id: DocId, put_status: PutStatus, header: BucketHeader
) -> bool:
    """Whether a document must be written and is not prepared for the bucket's current schema."""
    prepared_document = prepared.get(doc_id)
    return put_status in WRITTEN_STATUSES and (
        prepared_document is None or prepared_document.header.schema_json != header.schema_json
    )

"""The embedded engine: a SearchIndex in one SQLite file, for one machine and some 300,000 passages.

Work is done by a few threads, each with a connection of its own while it works; the event loop never waits for a disk.
Several processes may use one folder at once.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from storage.embedded import writing
from storage.embedded.asking import Asking
from storage.embedded.bucket import Header, Memory, Outdated, Remembered, State
from storage.embedded.database import Database, has_outlines
from storage.embedded.records import Order
from storage.embedded.terms import analysed
from storage.embedded.writing import Fate, Prepared
from storage.embedder import Embedder
from storage.search.documents import Document
from storage.search.errors import IndexTimedOut, IndexUnavailable, NotInScope, UnknownBucket
from storage.search.fit import fitted
from storage.search.ids import BucketId, DocId, Generation, TenantId
from storage.search.index import Answers, BucketState, NearPassages, Put, Request, Vocabulary
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.search.text import Analyser

if TYPE_CHECKING:
    from storage.embedder import Vectors

T = TypeVar("T")
_THREADS = 4
_TRIES = 50  # of a read that is overtaken by writes
_BATCH, _BATCH_CHARACTERS = 200, 1_000_000  # documents, and about how much text, a write transaction
_WRITTEN = (Fate.ADDED, Fate.REPLACED)


class EmbeddedIndex:
    """Implements `SearchIndex`. Made by `open`."""

    def __init__(
        self,
        database: Database,
        pool: ThreadPoolExecutor,
        *,
        tenant: TenantId,
        analysers: Callable[[str], Analyser],
        embedder: Embedder | None,
    ) -> None:
        self._database, self._pool, self._tenant = database, pool, tenant
        self._analysers, self._embedder = analysers, embedder
        self._memory = Memory()
        self._orders = Remembered[Order](4)
        self._vocabularies = Remembered[Vocabulary](16)

    @classmethod
    async def open(
        cls,
        folder: Path,
        *,
        tenant: TenantId,
        analysers: Callable[[str], Analyser],
        embedder: Embedder | None,
        patience: timedelta = timedelta(seconds=10),
    ) -> "EmbeddedIndex":
        """The index in `folder`, which is made if need be. `analysers` gives the analyser of a language.

        Without an embedder passages have no vectors. A write waits for those of other processes as long as `patience`,
        then raises `IndexTimedOut`. Term tables of another version of the analyser are made anew, and outlines made
        for documents that an earlier Parley put.
        Raises `IndexUnavailable` (the folder cannot be written, the file is damaged or another tenant's) and
        `IndexTooNew`.
        """
        pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="embedded-index")
        try:
            database = await asyncio.get_running_loop().run_in_executor(pool, Database, folder, tenant, patience)
        except BaseException:
            pool.shutdown(wait=False)
            raise
        index = cls(database, pool, tenant=tenant, analysers=analysers, embedder=embedder)
        try:
            await index._run(index._renew_terms)
            await index._run(index._outline_earlier)
        except BaseException:
            await index.close()
            raise
        return index

    @property
    def tenant(self) -> TenantId:
        return self._tenant

    # -- writing

    async def set_schema(self, schema: Schema) -> None:
        def job(connection: sqlite3.Connection, state: State) -> None:
            writing.set_schema(connection, state.headers, schema, self._analysers)

        await self._run(lambda: self._write(job))

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> Put:
        header = await self._run(lambda: self._read(lambda _, state: _header(state, bucket)))
        latest = list({document.doc_id: document for document in documents}.values())
        await self._run(lambda: [fitted(document, header.schema) for document in latest])
        fates = dict[DocId, Fate]()
        batches = deque(_batches(latest))
        ready: Mapping[DocId, Prepared] = await self._prepared(bucket, batches[0], {}) if batches else {}
        while batches:
            batch, upcoming = batches.popleft(), batches[0] if batches else ()
            written, ready = await asyncio.gather(
                self._put(bucket, batch, ready),
                self._prepared(bucket, upcoming, {}),  # SQLite leaves a processor free
            )
            fates |= written
        return Put(**{fate.value: tuple(d for d, mine in fates.items() if mine is fate) for fate in Fate})

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        return await self._run(lambda: self._write(lambda c, _: writing.delete(c, doc_ids, self._analysers)))

    async def drop_bucket(self, bucket: BucketId) -> None:
        def job(connection: sqlite3.Connection, state: State) -> None:
            writing.drop(connection, _header(state, bucket))

        await self._run(lambda: self._write(job))

    # -- knowing

    async def buckets(self) -> Mapping[BucketId, BucketState]:
        def job(connection: sqlite3.Connection, state: State) -> Mapping[BucketId, BucketState]:
            epoch = state.generation.partition("-")[0]
            return {name: self._bucket_state(connection, header, epoch) for name, header in state.headers.items()}

        return await self._run(lambda: self._read(job))

    async def digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        def job(connection: sqlite3.Connection, state: State) -> Mapping[DocId, str]:
            number = _header(state, bucket).id
            return dict(
                connection.execute("SELECT doc_id, digest FROM document WHERE bucket = ?", (number,)).fetchall()
            )

        return await self._run(lambda: self._read(job))

    def within(self, scope: Scope) -> "ScopedEmbeddedIndex":
        if scope.tenant != self._tenant:
            raise ValueError("the scope is of another tenant")
        return ScopedEmbeddedIndex(self, scope)

    async def ping(self) -> None:
        await self._run(lambda: self._read(lambda _, state: state))

    async def close(self) -> None:
        await asyncio.to_thread(self._pool.shutdown)
        self._database.close()

    # -- within a scope

    async def ask(self, scope: Scope, requests: Sequence[Request[object]]) -> Answers:
        once = list(dict.fromkeys(requests))
        vectors = await self._vectors([one.text for one in once if isinstance(one, NearPassages)])

        def job(connection: sqlite3.Connection, state: State) -> Answers:
            asking = self._asking(connection, state, scope, vectors)
            return Answers(state.generation, {request: asking.answer(request) for request in once})

        return await self._run(lambda: self._read(job))

    async def vocabulary(self, scope: Scope, limit: int) -> Vocabulary:
        def job(connection: sqlite3.Connection, state: State) -> Vocabulary:
            asking = self._asking(connection, state, scope, {})
            return self._vocabularies.get((state.generation, scope, limit), lambda: asking.vocabulary(limit))

        return await self._run(lambda: self._read(job))

    async def schemas(self, scope: Scope) -> Mapping[BucketId, Schema]:
        state = await self._run(lambda: self._read(lambda _, state: state))
        return {name: header.schema for name, header in state.headers.items() if name in scope.buckets}

    def analyser(self, scope: Scope, bucket: BucketId) -> Analyser:
        state = self._memory.latest
        if bucket not in scope.buckets:
            raise NotInScope(bucket)
        if state is None or bucket not in state.headers:
            # A row of a bucket that another process has just made: some microseconds.
            state = self._read(lambda _, state: state)
        if bucket not in state.headers:
            raise NotInScope(bucket)
        return self._analysers(state.headers[bucket].schema.language)

    # -- in a thread

    async def _run(self, job: Callable[[], T]) -> T:
        try:
            future = asyncio.get_running_loop().run_in_executor(self._pool, job)
        except RuntimeError as exc:  # the pool was shut down
            raise IndexUnavailable(self._database.where, "it was closed") from exc
        return await future

    def _read(self, job: Callable[[sqlite3.Connection, State], T]) -> T:
        for _ in range(_TRIES):
            with self._database.reading() as connection:
                try:
                    return job(connection, self._memory.state(connection))
                except Outdated:
                    continue
        raise IndexTimedOut(self._database.where)

    def _write(self, job: Callable[[sqlite3.Connection, State], T]) -> T:
        with self._database.writing() as connection:
            return job(connection, self._memory.state(connection))

    def _renew_terms(self) -> None:
        """Where the analyser is of another version than the one that made the terms."""

        def stale(state: State) -> list[Header]:
            headers = state.headers.values()
            return [one for one in headers if self._analysers(one.schema.language).version != one.analyser]

        def renew(connection: sqlite3.Connection, state: State) -> None:
            for header in stale(state):
                writing.reanalyse(connection, header.id, self._analysers(header.schema.language))
                writing.changed(connection, header.id)

        if self._read(lambda _, state: stale(state)):
            self._write(renew)

    def _outline_earlier(self) -> None:
        """The documents of buckets that a Parley made which knew of no outlines."""

        def stale(connection: sqlite3.Connection, state: State) -> list[Header]:
            return [one for one in state.headers.values() if not has_outlines(connection, one.id)]

        def outline(connection: sqlite3.Connection, state: State) -> None:
            for header in stale(connection, state):
                writing.outline(connection, header.id, self._analysers(header.schema.language))
                writing.changed(connection, header.id)

        if self._read(stale):
            self._write(outline)

    def _asking(
        self, connection: sqlite3.Connection, state: State, scope: Scope, vectors: "Mapping[str, Vectors]"
    ) -> Asking:
        return Asking(
            connection=connection,
            state=state,
            memory=self._memory,
            scope=scope,
            analysers=self._analysers,
            orders=self._orders,
            embedder=self._embedder_name,
            vectors=vectors,
        )

    def _bucket_state(self, connection: sqlite3.Connection, header: Header, epoch: str) -> BucketState:
        bucket = self._memory.bucket(connection, header)
        (passages,) = connection.execute("SELECT count(*) FROM passage WHERE bucket = ?", (header.id,)).fetchone()
        present = {name: int((column.present & bucket.live).sum()) for name, column in bucket.columns.items()}
        return BucketState(
            schema=header.schema,
            documents=int(bucket.live.sum()),
            passages=passages,
            generation=Generation(f"{epoch}-{header.generation}"),
            fields={name: count for name, count in present.items() if count},
        )

    # -- putting

    @property
    def _embedder_name(self) -> str:
        return self._embedder.name if self._embedder else ""

    async def _vectors(self, texts: Sequence[str]) -> "Mapping[str, Vectors]":
        if self._embedder is None or not texts:
            return {}
        return dict(zip(texts, await self._embedder.embed(texts), strict=True))

    async def _put(
        self, bucket: BucketId, documents: Sequence[Document], prepared: Mapping[DocId, Prepared]
    ) -> Mapping[DocId, Fate]:
        """Analysed and embedded outside the transaction; again if the bucket or a document changed in the meantime."""
        ready = dict(prepared)

        def job(connection: sqlite3.Connection, state: State) -> Mapping[DocId, Fate] | None:
            return self._put_ready(connection, state, bucket, documents, ready)

        while (fates := await self._run(lambda: self._write(job))) is None:
            ready.update(await self._prepared(bucket, documents, ready))
        return fates

    async def _prepared(
        self, bucket: BucketId, documents: Sequence[Document], ready: Mapping[DocId, Prepared]
    ) -> Mapping[DocId, Prepared]:
        """Those of the documents that are to be written and not ready."""

        def wanted(connection: sqlite3.Connection, state: State) -> tuple[Header, list[Document]]:
            header = _header(state, bucket)
            fates = {one.doc_id: self._fate(connection, header, one) for one in documents}
            return header, [one for one in documents if _lacks(ready, one.doc_id, fates[one.doc_id], header)]

        header, missing = await self._run(lambda: self._read(wanted))
        analyser = self._analysers(header.schema.language)
        terms, vectors = await asyncio.gather(
            self._run(lambda: [analysed(one.title, one.text, one.passages, analyser, one.outline) for one in missing]),
            self._passage_vectors(missing),
        )
        return {
            one.doc_id: Prepared(
                document=one,
                values=fitted(one, header.schema),
                terms=terms[at],
                header=header,
                vectors=None if vectors is None else vectors[at],
                embedder=self._embedder_name,
            )
            for at, one in enumerate(missing)
        }

    async def _passage_vectors(self, documents: "Sequence[Document]") -> "list[Vectors] | None":
        """For each document the vectors of its passages, each with the title before it."""
        if self._embedder is None:
            return None
        texts = [f"{one.title}\n{one.text[p.start : p.end]}" for one in documents for p in one.passages]
        vectors = await self._embedder.embed(texts)
        ends = list(accumulate(len(one.passages) for one in documents))
        return [vectors[end - len(one.passages) : end] for one, end in zip(documents, ends, strict=True)]

    def _fate(self, connection: sqlite3.Connection, header: Header, document: Document) -> Fate:
        return writing.fate_of(connection, header, document, self._embedder_name)

    def _put_ready(
        self,
        connection: sqlite3.Connection,
        state: State,
        bucket: BucketId,
        documents: Sequence[Document],
        ready: Mapping[DocId, Prepared],
    ) -> Mapping[DocId, Fate] | None:
        """None, and nothing written, if one that must be written is not ready."""
        header = _header(state, bucket)
        fates = {one.doc_id: self._fate(connection, header, one) for one in documents}
        if any(_lacks(ready, doc_id, fate, header) for doc_id, fate in fates.items()):
            return None
        written = [doc_id for doc_id, fate in fates.items() if fate in _WRITTEN]
        for doc_id in written:
            writing.write(connection, header, ready[doc_id], self._analysers)
        if written:
            writing.changed(connection, header.id)
        return fates


class ScopedEmbeddedIndex:
    """Implements `ScopedIndex`."""

    def __init__(self, index: EmbeddedIndex, scope: Scope) -> None:
        self._index, self._scope = index, scope

    @property
    def scope(self) -> Scope:
        return self._scope

    async def ask(self, *requests: Request[object]) -> Answers:
        return await self._index.ask(self._scope, requests)

    async def vocabulary(self, limit: int = 200_000) -> Vocabulary:
        return await self._index.vocabulary(self._scope, limit)

    async def schemas(self) -> Mapping[BucketId, Schema]:
        return await self._index.schemas(self._scope)

    def analyser(self, bucket: BucketId) -> Analyser:
        return self._index.analyser(self._scope, bucket)


def _batches(documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    """Together all of them, in order; none empty."""
    batch, characters = list[Document](), 0
    for one in documents:
        batch.append(one)
        characters += len(one.text)
        if len(batch) >= _BATCH or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _header(state: State, bucket: BucketId) -> Header:
    if bucket not in state.headers:
        raise UnknownBucket(bucket)
    return state.headers[bucket]


def _lacks(ready: Mapping[DocId, Prepared], doc_id: DocId, fate: Fate, header: Header) -> bool:
    """Whether a document must be written and was not prepared for this state of the bucket."""
    mine = ready.get(doc_id)
    return fate in _WRITTEN and (mine is None or mine.header.written != header.written)

"""A run: files into an index. Two passes, the first to see what the metadata holds, the second to put documents.

Nothing that is read is kept: memory grows with the number of keys and, by a few bytes each, of documents.
"""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Protocol, TypeVar

from storage.ingest import schema_file
from storage.ingest.ahead import read_ahead
from storage.ingest.build import Builder
from storage.ingest.evidence import seen_in
from storage.ingest.extract.filling import Annotator
from storage.ingest.extract.rules import RuleExtractor
from storage.ingest.files import SourceFile, document_id, sources
from storage.ingest.infer import inferred, merged
from storage.ingest.language import Heard
from storage.ingest.limits import Limits
from storage.ingest.load import records
from storage.ingest.profile import Profile, see_all, styles_of
from storage.ingest.records import Broken, Loaded, Origin, Record, Remark
from storage.ingest.rehearsal import Rehearsal, Target
from storage.ingest.report import Progress, Report, SchemaWritten, Tally
from storage.ingest.values import flattened
from storage.ingest.worker import Worker
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import Put, SearchIndex
from storage.search.schema import Field, Schema

_BATCH = 500  # documents
_BATCH_CHARACTERS = 4_000_000
_OVERHEARD = 3  # files read twice, to know the language of a new bucket
_OVERHEARD_BYTES = 2_000_000
_SAY_EVERY = 200  # records
_BUCKET = re.compile(r"[^\s./\\\x00-\x1f](?:[^/\\\x00-\x1f]{0,98}[^\s/\\\x00-\x1f])?")
_IGNORED = "the metadata was ignored: the fields hold what the text says; parley bucket review shows how sure that is"
T = TypeVar("T")


class Follower(Protocol):
    """Keeps books of a run, file by file. What is not awaited is called in threads, one at a time."""

    def adopted(self, file: SourceFile, record: Record) -> Record | Broken:
        """The record as it is to be put, the same in both passes, or why it cannot be."""
        ...

    def failed(self, file: str) -> None:
        """All or part of the file of this name gives no document."""
        ...

    async def storing(self, documents: Mapping[DocId, str]) -> None:
        """These are about to be put; by id the name of the file that each is from."""
        ...

    async def stored(self, put: Put) -> None:
        """What became of them."""
        ...


def is_bucket_name(name: str) -> bool:
    """Whether a bucket may have this name: it is also the name of its schema's file."""
    return _BUCKET.fullmatch(name) is not None


def schema_path(folder: Path, bucket: str) -> Path:
    """Where the schema of a bucket is written for people to edit."""
    return folder / f"{bucket}.schema.yaml"


async def ingest(
    index: SearchIndex | Rehearsal,
    paths: Sequence[str | Path | SourceFile],
    *,
    bucket: BucketId | None = None,
    schema: Schema | None = None,
    ignore_metadata: bool = False,
    schema_folder: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    limits: Limits | None = None,
    follower: Follower | None = None,
    any_name: bool = False,
) -> Report:
    """Load files, folders and globs into the index; what fails is in the report and the rest goes on.

    `bucket` wins over what a document names; where neither does, the bucket of `schema`. With `schema`, its bucket (or
    `bucket`) gets exactly it, and its documents the fields it has; other buckets keep theirs, widened by new keys.
    Documents without metadata, with `ignore_metadata` all, get the values that their text gives. `schema_folder`: where
    schemas made or widened are written as `BUCKET.schema.yaml`, unless that file is there; made where missing. Into a
    `Rehearsal` nothing changes. `any_name`: the bucket is none of people's, and may be called as theirs may not.
    Raises what the index raises.
    """
    given = None if schema is None else replace(schema, bucket=bucket or schema.bucket)
    run = _Run(
        bucket=bucket,
        given=given,
        ignore_metadata=ignore_metadata,
        say=_on_this_loop(progress),
        follower=follower,
        any_name=any_name,
    )
    worker = Worker(limits)
    try:
        await _in_thread(run, lambda: run.look(paths, worker))
        written = await _set_schemas(index, run, schema_folder, worker)
        with closing(run.batches(worker)) as batches:
            annotator = _annotator(index)
            await _put_all(index, run, batches, annotator)
            await annotator.settle()
    finally:
        await asyncio.to_thread(worker.close)
    return run.tally.report(tuple(sorted(run.profiles)), tuple(written))


def _on_this_loop(progress: Callable[[Progress], None] | None) -> Callable[[Progress], None]:
    """Progress is made in threads, and shown in the loop."""
    loop = asyncio.get_running_loop()

    def say(one: Progress) -> None:
        if progress is not None:
            loop.call_soon_threadsafe(progress, one)

    return say


async def _in_thread(run: "_Run", work: Callable[[], T]) -> T:
    """`work` beside the loop. Cancelled, it is asked to stop and waited for: what it uses is still open."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        run.is_stopped = True
        await asyncio.wait([task])
        raise


async def _set_schemas(index: Target, run: "_Run", folder: Path | None, worker: Worker) -> list[SchemaWritten]:
    existing = {name: state.schema for name, state in (await index.buckets()).items()}
    written: list[SchemaWritten] = []
    for bucket in sorted(run.profiles):
        if bucket not in existing:
            await _in_thread(run, partial(run.overhear, bucket, worker))
        before, after = existing.get(bucket), run.decide_schema(bucket, existing.get(bucket))
        if after == before:
            continue
        await index.set_schema(after)
        is_ours = folder is not None and after is not run.given
        path = await asyncio.to_thread(_write, after, folder, run) if folder is not None and is_ours else None
        known = before.by_name if before else dict[FieldName, Field]()
        added = tuple(one.name for one in after.fields if one.name not in known)
        written.append(SchemaWritten(schema=after, is_new=before is None, added=added, path=path))
    return written


def _write(schema: Schema, folder: Path, run: "_Run") -> Path | None:
    """Where the schema now stands; None where a file of that name is there already, which may hold somebody's work."""
    path = schema_path(folder, schema.bucket)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(schema_file.written(schema, run.evidence(schema)))
    except FileExistsError:
        run.tally.remark(f"{path} is there already and was left as it is")
        return None
    except OSError as exc:
        run.tally.remark(f"{path} could not be written: {exc.strerror or exc}")
        return None
    return path


def _annotator(index: SearchIndex | Rehearsal) -> Annotator:
    is_rehearsed = isinstance(index, Rehearsal)
    return Annotator(index.index if is_rehearsed else index, RuleExtractor(), rehearsed=is_rehearsed)


async def _put_all(index: Target, run: "_Run", batches: "Iterator[_Batch]", annotator: Annotator) -> None:
    """Puts each batch while the next is read."""

    def read_on() -> "asyncio.Task[_Batch | None]":
        return asyncio.create_task(_in_thread(run, lambda: next(batches, None)))

    upcoming = read_on()
    try:
        while batch := await upcoming:
            upcoming = read_on()
            batch.documents = await annotator.filled(batch.documents, run.schema_of(batch.bucket))
            await _put(index, run, batch)
    finally:
        run.is_stopped = True
        await asyncio.wait([upcoming])


async def _put(index: Target, run: "_Run", batch: "_Batch") -> None:
    if run.follower is not None:
        await run.follower.storing(batch.files)
    put = await index.put(batch.bucket, batch.documents)
    run.tally.put(batch.bucket, put, batch.origins)
    if run.follower is not None:
        await run.follower.stored(put)


@dataclass(slots=True, kw_only=True)
class _Batch:
    """Documents for one bucket, on their way."""

    bucket: BucketId
    documents: list[Document] = field(default_factory=list[Document])
    origins: dict[DocId, str] = field(default_factory=dict[DocId, str])
    files: dict[DocId, str] = field(default_factory=dict[DocId, str])
    characters: int = 0

    def add(self, document: Document, record: Record) -> None:
        self.documents.append(document)
        self.origins[document.doc_id] = str(record.origin)
        self.files[document.doc_id] = record.origin.file
        self.characters += len(document.text)

    @property
    def is_full(self) -> bool:
        return len(self.documents) >= _BATCH or self.characters >= _BATCH_CHARACTERS


class _Run:
    """What a run knows. Used by one thread at a time, except the tally's counts of what was put."""

    def __init__(
        self,
        *,
        bucket: BucketId | None,
        given: Schema | None,
        ignore_metadata: bool,
        say: Callable[[Progress], None],
        follower: Follower | None,
        any_name: bool,
    ) -> None:
        self._any_name = any_name
        self._bucket, self.given, self._ignore, self._say = bucket, given, ignore_metadata, say
        self.follower = follower
        self._files: list[SourceFile] = []
        self._copies = Counter[int]()  # hash of bucket and id -> how often it is still to come
        self._schemas: dict[BucketId, Schema] = {}
        self.profiles: dict[BucketId, dict[FieldName, Profile]] = {}
        self._heard = defaultdict[BucketId, Heard](Heard)
        self._met = Counter[BucketId]()  # documents in the first pass
        self.tally = Tally()
        self.is_stopped = False
        if ignore_metadata:
            self.tally.remark(_IGNORED)

    # -- the first pass

    def look(self, paths: Sequence[str | Path | SourceFile], worker: Worker) -> None:
        """Which files, buckets and keys there are, and which documents come more than once."""
        for one in sources(paths):
            if isinstance(one, Broken):
                self._fail(one.origin, one.reason)
            else:
                self._files.append(one)
        for source, loaded in self._read(worker, looking=True):
            if isinstance(loaded, Record):
                self._meet(loaded.bucket, loaded.doc_id, loaded.metadata, loaded.text)
            elif loaded is None and (doc_id := document_id(source)):
                self._meet(None, doc_id, {}, "")
        self._copies = Counter({key: count for key, count in self._copies.items() if count > 1})

    def _meet(self, named: str | None, doc_id: str, metadata: Mapping[str, object], text: str) -> None:
        bucket = self._bucket_of(named)
        if bucket is None:
            return
        self._copies[hash((bucket, doc_id))] += 1
        profiles = self.profiles.setdefault(bucket, {})
        self._met[bucket] += 1
        self._heard[bucket].hear(text)
        if not self._ignore:
            see_all(flattened(metadata).values, profiles)

    def _bucket_of(self, named: str | None) -> BucketId | None:
        """The bucket of a document that names this one; None where it has none, or one that cannot be."""
        name = self._bucket or named or (self.given.bucket if self.given else None)
        return BucketId(name) if name is not None and (self._any_name or is_bucket_name(name)) else None

    # -- between

    def overhear(self, bucket: BucketId, worker: Worker) -> None:
        """Read the first few files of a new bucket of which no text was heard, for its language: the first pass opens
        tables alone, and the language must be known before the first document is put.
        """
        is_given = self.given is not None and self.given.bucket == bucket
        if is_given or bucket != self._bucket_of(None) or self._heard[bucket].words:
            return
        files = [one for one in self._files if not one.is_table and one.size <= _OVERHEARD_BYTES]
        for source in files[:_OVERHEARD]:
            for loaded in records(source, worker):
                if self.is_stopped:
                    return
                if isinstance(loaded, Record):
                    self._heard[bucket].hear(loaded.text)

    def evidence(self, schema: Schema) -> Mapping[str, str]:
        """What speaks for each field."""
        return seen_in(schema, self.profiles[schema.bucket], self._met[schema.bucket])

    def decide_schema(self, bucket: BucketId, existing: Schema | None) -> Schema:
        """The schema given, or what is there with the keys that it lacks, or what the metadata suggests."""
        found = inferred(bucket, self.profiles[bucket], self._heard[bucket].language)
        schema = self.given if self.given and self.given.bucket == bucket else None
        self._schemas[bucket] = schema or (merged(existing, found) if existing else found)
        return self._schemas[bucket]

    def schema_of(self, bucket: BucketId) -> Schema:
        """As it was decided."""
        return self._schemas[bucket]

    # -- the second pass

    def batches(self, worker: Worker) -> "Generator[_Batch, None, None]":
        """The documents, in batches of one bucket each. Ends early when stopped."""
        waiting: dict[BucketId, _Batch] = {}
        builders = {bucket: self._builder(bucket) for bucket in self.profiles}
        for _, loaded in self._read(worker, looking=False):
            record = self._record_in(loaded)
            bucket = self._bucket_of(record.bucket) if record else None
            if record is None or bucket is None:
                continue
            batch = waiting.setdefault(bucket, _Batch(bucket=bucket))
            batch.add(builders[bucket].document(record), record)
            if batch.is_full or sum(one.characters for one in waiting.values()) >= 2 * _BATCH_CHARACTERS:
                largest = max(waiting.values(), key=lambda one: one.characters)
                yield waiting.pop(bucket if batch.is_full else largest.bucket)
        if not self.is_stopped:
            yield from waiting.values()

    def _builder(self, bucket: BucketId) -> Builder:
        return Builder(
            schema=self._schemas[bucket],
            styles=styles_of(self.profiles[bucket]),
            ignore_metadata=self._ignore,
            tally=self.tally,
        )

    def _record_in(self, loaded: Loaded | None) -> Record | None:
        """The record to put, if it is one; what is wrong with it is told."""
        match loaded:
            case Record():
                return loaded if self._is_due(loaded) else None
            case Broken(origin=origin, reason=reason):
                self._fail(origin, reason)
            case Remark(origin=origin, text=text):
                self.tally.remark(f"{origin}: {text}")
            case None:
                pass
        return None

    def _is_due(self, record: Record) -> bool:
        """Whether it has a bucket, and does not come again later."""
        bucket = self._bucket_of(record.bucket)
        if bucket is None:
            named = self._bucket or record.bucket
            reason = f"{named!r} is no name for a bucket" if named else "it names no bucket; give one with --bucket"
            self._fail(record.origin, reason, record.doc_id)
            return False
        key = hash((bucket, record.doc_id))
        if self._copies[key] > 1:
            self._copies[key] -= 1
            self.tally.supersede(record.origin, record.doc_id)
            return False
        return True

    # -- both

    def _fail(self, origin: Origin, reason: str, doc_id: str | None = None) -> None:
        self.tally.fail(origin, reason, doc_id, bucket=self._bucket_of(None))
        if self.follower is not None:
            self.follower.failed(origin.file)

    def _read(self, worker: Worker, *, looking: bool) -> Iterator[tuple[SourceFile, Loaded | None]]:
        """What the files hold; None for one that is not opened, in the first pass all that are no tables."""
        start, done, documents, total = monotonic(), 0, 0, sum(source.size for source in self._files)

        def say(source: SourceFile, files: int, read: int, documents: int) -> None:
            self._say(
                Progress(
                    looking=looking,
                    file=source.name,
                    files=files,
                    of_files=len(self._files),
                    bytes=read,
                    of_bytes=total,
                    documents=documents,
                    elapsed_s=monotonic() - start,
                )
            )

        with closing(self._looked_at(worker) if looking else read_ahead(self._files, worker)) as files:
            for finished, (source, held) in enumerate(files):
                read = 0
                for loaded in held:
                    if self.is_stopped:
                        return
                    if self.follower is not None and isinstance(loaded, Record):
                        loaded = self.follower.adopted(source, loaded)
                    if loaded is not None:
                        documents, read = documents + isinstance(loaded, Record), loaded.origin.read
                        if documents % _SAY_EVERY == 1:
                            say(source, finished, done + read, documents)
                    yield source, loaded
                done += source.size
                if not looking or source.is_table:
                    say(source, finished + 1, done, documents)

    def _looked_at(self, worker: Worker) -> Generator[tuple[SourceFile, Iterator[Loaded | None]], None, None]:
        for source in self._files:
            yield source, records(source, worker) if source.is_table else iter([None])

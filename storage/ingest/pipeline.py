"""An ingestion run: loads files into an index in two passes.

The first pass profiles the metadata, from which the schemas are inferred; the second pass puts the documents. Records
are not kept in memory: it grows with the number of metadata keys, and by a few bytes for each document.
"""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Protocol, TypeVar

from storage.ingest.documents.build import DocumentBuilder, digest_of
from storage.ingest.dry_run import DryRunIndex, IngestTarget
from storage.ingest.errors import UnparsableFile
from storage.ingest.extract.annotation import DocumentAnnotator
from storage.ingest.extract.candidates import Extractor
from storage.ingest.extract.kinds.kind_fields import add_kinds, kinds_of_columns
from storage.ingest.extract.kinds.kind_inference import InferredKinds
from storage.ingest.extract.kinds.kind_reader import KindReader
from storage.ingest.extract.kinds.record_origins import OriginTally
from storage.ingest.extract.kinds.usual_fields import UsualField, join_with_labels
from storage.ingest.extract.labels.label_fields import LabelledFields
from storage.ingest.files import SourceFile, find_source_files, single_document_id
from storage.ingest.label_survey import LabelSurvey, spread_sample
from storage.ingest.limits import DEFAULT_PASSAGE_CHARACTERS, MAX_COLUMNS, ParserLimits
from storage.ingest.load import load_records
from storage.ingest.parallel_reading import read_files_ahead
from storage.ingest.records import LoadedItem, LoadRemark, RecordOrigin, RejectedInput, SourceRecord, size_of_values
from storage.ingest.report import SLOW_FILE_S, IngestProgress, IngestReport, ReportBuilder, SchemaChange
from storage.ingest.schemas import schema_file
from storage.ingest.schemas.evidence import evidence_from_profiles
from storage.ingest.schemas.inference import infer_schema, merge_schemas
from storage.ingest.schemas.profile import ValueProfile, add_to_profiles, styles_of
from storage.ingest.schemas.references import link_references, uncompared_fields_remark
from storage.ingest.schemas.values import flatten_metadata
from storage.ingest.table_parts import BucketContents, TableKey, assign_tables, name_rows, table_key_of
from storage.ingest.work_budget import WorkBudget
from storage.ingest.worker import ParserWorker
from storage.search.bucket_parts import PART_SEPARATOR, is_part, whole_bucket_of, with_parts
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import BucketSize, PutResult, SearchIndex
from storage.search.schema import Schema, SchemaField
from storage.text.language_detection import LanguageDetector

_BATCH_DOCUMENTS = 1_000
_BATCH_CHARACTERS = 4_000_000
_FIRST_SHARE = 0.25  # of a full batch; each batch may be twice the one before, so that the index soon has work
_PARALLEL_PUTS = 3  # while two wait until their documents are visible, the index works at the third
_LANGUAGE_SAMPLE_FILES = 3  # files that are read twice to detect the language of a new bucket
_PROGRESS_EVERY_RECORDS = 200
_BUCKET_NAME = re.compile(r"[^\s./\\\x00-\x1f](?:[^/\\\x00-\x1f]{0,98}[^\s/\\\x00-\x1f])?")
_METADATA_IGNORED = (
    "the metadata was ignored: the fields hold what the text says; parley bucket review shows how sure that is"
)
_CHANGED_WHILE_READ = "it changed while it was read, so a part may be missing: load it again when it is complete"
T = TypeVar("T")


class PassageSituator(Protocol):
    """Says of passages what they are about in their documents."""

    async def situate_passages(self, documents: Sequence[Document]) -> list[Document]:
        """Returns the documents, in order, with a context for each passage that has one.

        A document has the same contexts every time, since ingestion skips documents that are unchanged.
        """
        ...


class IngestHooks(Protocol):
    """Follows a run file by file. The synchronous methods are called in worker threads, never two at a time."""

    def adapt_record(self, file: SourceFile, record: SourceRecord) -> SourceRecord | RejectedInput:
        """Returns the record to put, or a rejection. Both passes must get the same result."""
        ...

    def record_failure(self, file_name: str) -> None:
        """Notes that the file, or a part of it, yields no document."""
        ...

    async def before_put(self, file_by_document: Mapping[DocId, str]) -> None:
        """Is called before a batch is put. `file_by_document` has the name of the file of each document."""
        ...

    async def after_put(self, put_result: PutResult) -> None:
        """Is called with the result after the batch was put."""
        ...


def is_bucket_name(name: str) -> bool:
    """Whether a bucket may have this name, which is also part of the name of its schema file."""
    return _BUCKET_NAME.fullmatch(name) is not None


def schema_path_for(folder: Path, bucket: str) -> Path:
    """Returns the path of the editable schema file of a bucket."""
    return folder / f"{bucket}.schema.yaml"


async def ingest_files(
    index: SearchIndex | DryRunIndex,
    paths: Sequence[str | Path | SourceFile],
    *,
    extractor: Extractor,
    situator: PassageSituator | None = None,
    bucket: BucketId | None = None,
    schema: Schema | None = None,
    ignore_metadata: bool = False,
    schema_folder: Path | None = None,
    progress: Callable[[IngestProgress], None] | None = None,
    limits: ParserLimits | None = None,
    hooks: IngestHooks | None = None,
    allow_any_bucket_name: bool = False,
    passage_characters: int = DEFAULT_PASSAGE_CHARACTERS,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> IngestReport:
    """Loads files, folders and globs into the index. Failures are listed in the report; the run continues after them.

    The bucket of a document is `bucket`, else the bucket that the document names, else the bucket of `schema`.
    With `schema`, its bucket (or `bucket`) gets exactly this schema, and its documents get the fields of this schema.
    Other buckets keep their schema; a field is added for each new metadata key.
    Documents without metadata get the values that `extractor` reads in their text; with `ignore_metadata`, all
    documents do.
    With `situator`, passages get a context to be ranked with; without one, documents that had contexts lose them.
    Schemas that were made or extended are written into `schema_folder` as `BUCKET.schema.yaml`, unless that file
    exists. The folder is created if it is missing.
    A `DryRunIndex` stays unchanged. `allow_any_bucket_name` is for internal buckets, whose names may break the rules
    for the names that people choose. `passage_characters` is the size of passages, as `passages_of` takes it.
    The documents keep the day on which the run began, unless the index has the same content of an earlier day.
    At the end, fields of any bucket whose values name documents of a bucket get a reference to it.
    Raises what the index raises.
    """
    given_schema, loaded_on = None, clock().date().isoformat()
    if schema is not None:
        given_schema = replace(schema, bucket=bucket or schema.bucket)
    run = _IngestRun(
        bucket=bucket,
        given_schema=given_schema,
        ignore_metadata=ignore_metadata,
        report_progress=_report_on_loop(progress),
        hooks=hooks,
        allow_any_bucket_name=allow_any_bucket_name,
        limits=limits or ParserLimits(),
        passage_characters=passage_characters,
    )
    worker = ParserWorker(limits)
    slow_file_watch = asyncio.create_task(_watch_slow_files(run, progress))
    try:
        existing = await index.load_bucket_sizes()
        await _run_in_thread(run, lambda: run.scan_files(paths, worker, existing))
        schema_changes = await _set_schemas(index, run, schema_folder, worker)
        with closing(run.read_batches(worker)) as batches:
            annotator = _make_annotator(index, extractor)
            await _put_batches(index, run, batches, annotator, situator, loaded_on)
            await annotator.settle_names()
        if not (isinstance(index, DryRunIndex) or allow_any_bucket_name):
            links = await link_references(index)
            for name, fields in links.uncompared_fields.items():
                run.report_builder.add_remark(uncompared_fields_remark(name, fields))
            if schema_folder is not None:
                await asyncio.to_thread(_write_references, links.schemas, schema_folder)
    finally:
        slow_file_watch.cancel()
        await asyncio.wait([slow_file_watch])
        await asyncio.to_thread(worker.close)
    return run.report_builder.build_report(tuple(sorted(run.profiles)), tuple(schema_changes))


def _report_on_loop(progress: Callable[[IngestProgress], None] | None) -> Callable[[IngestProgress], None]:
    """Returns a function that any thread can call to report progress in the event loop."""
    loop = asyncio.get_running_loop()

    def report_progress(update: IngestProgress) -> None:
        if progress is not None:
            loop.call_soon_threadsafe(progress, update)

    return report_progress


async def _watch_slow_files(run: "_IngestRun", progress: Callable[[IngestProgress], None] | None) -> None:
    """Reports progress again and again while a file takes long, which makes none by itself."""
    while progress is not None:
        await asyncio.sleep(SLOW_FILE_S)
        update = run.current_progress
        if update is not None and update.is_file_slow:
            progress(update)


async def _run_in_thread(run: "_IngestRun", work: Callable[[], T]) -> T:
    """Runs `work` in a thread.

    On cancellation, stops the run and waits for the thread, because it still uses open resources.
    """
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        run.is_stopped = True
        await asyncio.wait([task])
        raise


async def _set_schemas(
    index: IngestTarget, run: "_IngestRun", folder: Path | None, worker: ParserWorker
) -> list[SchemaChange]:
    existing = {name: size.schema for name, size in (await index.load_bucket_sizes()).items()}
    changes: list[SchemaChange] = []
    for bucket in sorted(run.profiles):
        await _run_in_thread(run, partial(run.survey_bucket, bucket, existing.get(bucket), worker))
        before, after = existing.get(bucket), run.decide_schema(bucket, existing.get(bucket))
        if after == before:
            continue
        await index.set_schema(after)
        is_inferred = folder is not None and after is not run.given_schema
        path = (
            await asyncio.to_thread(_write_schema_file, after, folder, run)
            if folder is not None and is_inferred
            else None
        )
        fields_before = before.by_name if before else dict[FieldName, SchemaField]()
        added = tuple(field.name for field in after.fields if field.name not in fields_before)
        changes.append(SchemaChange(schema=after, is_new=before is None, added_fields=added, path=path))
    return changes


def _write_schema_file(schema: Schema, folder: Path, run: "_IngestRun") -> Path | None:
    """Writes the schema as YAML and returns the path; None if it cannot be written.

    An existing file is left as it is, because it may contain manual edits.
    """
    path = schema_path_for(folder, schema.bucket)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(schema_file.schema_to_yaml(schema, run.evidence_for(schema)))
    except FileExistsError:
        run.report_builder.add_remark(f"{path} is there already and was left as it is")
        return None
    except OSError as exc:
        run.report_builder.add_remark(f"{path} could not be written: {exc.strerror or exc}")
        return None
    return path


def _write_references(schemas: Sequence[Schema], folder: Path) -> None:
    """Adds the references to the schema files that are there; a file that cannot be read or written stays as it is."""
    for schema in schemas:
        path = schema_path_for(folder, schema.bucket)
        with suppress(OSError, UnicodeDecodeError):
            text = path.read_text(encoding="utf-8")
            path.write_text(schema_file.add_references(text, schema), encoding="utf-8")


def _make_annotator(index: SearchIndex | DryRunIndex, extractor: Extractor) -> DocumentAnnotator:
    is_dry_run = isinstance(index, DryRunIndex)
    return DocumentAnnotator(index.index if is_dry_run else index, extractor, is_dry_run=is_dry_run)


async def _put_batches(
    index: IngestTarget,
    run: "_IngestRun",
    batches: "Iterator[_DocumentBatch]",
    annotator: DocumentAnnotator,
    situator: PassageSituator | None,
    loaded_on: str,
) -> None:
    """Puts batches, some at a time, while a thread reads the next one."""

    def read_next_batch() -> "asyncio.Task[_DocumentBatch | None]":
        return asyncio.create_task(_run_in_thread(run, lambda: next(batches, None)))

    async def prepare_batch(batch: _DocumentBatch) -> None:
        filled = await annotator.fill_documents(batch.documents, run.schema_of(batch.bucket), batch.budget_by_document)
        run.report_left_out(batch, filled)
        batch.documents = [*filled, *batch.complete_documents]
        if situator is not None:
            situated = await situator.situate_passages(batch.documents)
            batch.documents = [replace(document, digest=digest_of(document)) for document in situated]
        batch.documents = [replace(document, loaded_on=loaded_on) for document in batch.documents]

    puts = _BatchPuts(index, run)
    upcoming = read_next_batch()
    try:
        while batch := await upcoming:
            upcoming = read_next_batch()
            await prepare_batch(batch)
            await puts.start_put(batch)
        await puts.finish_puts()
    finally:
        run.is_stopped = True
        await asyncio.wait([upcoming])
        await puts.cancel_puts()


class _BatchPuts:
    """The batches that are being put. Versions of a document are put one after the other."""

    def __init__(self, index: IngestTarget, run: "_IngestRun") -> None:
        self._index, self._run = index, run
        self._max_puts = 1 if run.hooks is not None else _PARALLEL_PUTS  # hooks follow one batch at a time
        self._tasks: dict[asyncio.Task[None], frozenset[DocId]] = {}

    async def start_put(self, batch: "_DocumentBatch") -> None:
        """Waits until there is room for the batch. Raises what an earlier put raised."""
        doc_ids = frozenset(document.doc_id for document in batch.documents)
        while len(self._tasks) >= self._max_puts or not all(map(doc_ids.isdisjoint, self._tasks.values())):
            await self._wait_for_put()
        self._tasks[asyncio.create_task(_put_batch(self._index, self._run, batch))] = doc_ids

    async def finish_puts(self) -> None:
        """Waits for all puts. Raises what the first failed put raised."""
        while self._tasks:
            await self._wait_for_put()

    async def _wait_for_put(self) -> None:
        finished, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in finished:
            del self._tasks[task]
            task.result()

    async def cancel_puts(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _put_batch(index: IngestTarget, run: "_IngestRun", batch: "_DocumentBatch") -> None:
    if run.hooks is not None:
        await run.hooks.before_put(batch.file_by_document)
    put_result = await index.put(batch.bucket, batch.documents)
    if put_result.taken:
        put_result = await _move_documents(index, run, batch, put_result)
    run.report_builder.add_put_result(batch.bucket, put_result, batch.origin_by_document)
    if run.hooks is not None:
        await run.hooks.after_put(put_result)


async def _move_documents(
    index: IngestTarget, run: "_IngestRun", batch: "_DocumentBatch", put_result: PutResult
) -> PutResult:
    """Puts the documents that were in another part of the same bucket: their table has other columns than before."""
    if batch.bucket not in run.ids_elsewhere:
        names = await index.load_bucket_names()
        others = (with_parts({whole_bucket_of(batch.bucket)}, names) & names) - {batch.bucket}
        run.ids_elsewhere[batch.bucket] = {
            doc_id for other in sorted(others) for doc_id in await index.load_digests(other)
        }
    moved = run.ids_elsewhere[batch.bucket].intersection(put_result.taken)
    if not moved:
        return put_result
    await index.delete(sorted(moved))
    second = await index.put(batch.bucket, [document for document in batch.documents if document.doc_id in moved])
    return replace(
        put_result,
        replaced=(*put_result.replaced, *second.added),
        taken=tuple(doc_id for doc_id in put_result.taken if doc_id not in moved),
        without_vectors=(*put_result.without_vectors, *second.without_vectors),
        refused={**put_result.refused, **second.refused},
    )


@dataclass(slots=True, kw_only=True)
class _DocumentBatch:
    """Documents of one bucket that are put together."""

    bucket: BucketId
    documents: list[Document] = field(default_factory=list[Document])
    complete_documents: list[Document] = field(default_factory=list[Document])  # whose texts are not read for values
    origin_by_document: dict[DocId, str] = field(default_factory=dict[DocId, str])
    file_by_document: dict[DocId, str] = field(default_factory=dict[DocId, str])
    budget_by_document: dict[DocId, WorkBudget] = field(default_factory=dict[DocId, WorkBudget])
    characters: int = 0  # of the texts, with the size of the values

    def add_document(self, document: Document, record: SourceRecord, budget: WorkBudget, *, is_complete: bool) -> None:
        if is_complete:
            self.complete_documents.append(document)
        else:
            self.documents.append(document)
            self.budget_by_document[document.doc_id] = budget
        self.origin_by_document[document.doc_id] = str(record.origin)
        self.file_by_document[document.doc_id] = record.origin.file
        self.characters += len(document.text) + size_of_values(document.values)

    def fills(self, share: float) -> bool:
        """Whether the batch has reached this share of a full one."""
        document_count = len(self.documents) + len(self.complete_documents)
        return document_count >= share * _BATCH_DOCUMENTS or self.characters >= share * _BATCH_CHARACTERS


class _IngestRun:
    """The state of a run.

    Only one thread uses it at a time, except that the event loop adds put results to the report builder meanwhile.
    """

    def __init__(
        self,
        *,
        bucket: BucketId | None,
        given_schema: Schema | None,
        ignore_metadata: bool,
        report_progress: Callable[[IngestProgress], None],
        hooks: IngestHooks | None,
        allow_any_bucket_name: bool,
        limits: ParserLimits,
        passage_characters: int,
    ) -> None:
        self._allow_any_bucket_name = allow_any_bucket_name
        self._passage_characters = passage_characters
        self._limits = limits
        self._budget = ("", WorkBudget(limits))  # of the file that is read, with its name
        self._documents_of_cut_files = dict[str, int]()  # file -> how many documents the first pass had time for
        self._bucket, self.given_schema, self._ignore_metadata, self._report_progress = (
            bucket,
            given_schema,
            ignore_metadata,
            report_progress,
        )
        self.hooks = hooks
        self._files: list[SourceFile] = []
        self._versions = list[tuple[int, int]]()  # of the files, before they were read
        self._remaining_copies = Counter[int]()  # hash of bucket and id -> how many records with this id are still due
        self._schemas: dict[BucketId, Schema] = {}
        self.profiles: dict[BucketId, dict[FieldName, ValueProfile]] = {}
        self._label_surveys = defaultdict[BucketId, LabelSurvey](LabelSurvey)
        self._labelled_fields: dict[BucketId, LabelledFields] = {}
        self._usual_fields: dict[BucketId, list[UsualField]] = {}
        self._origin_tallies = defaultdict[BucketId, OriginTally](OriginTally)
        self._kinds: dict[BucketId, InferredKinds] = {}
        self._language_detectors = defaultdict[BucketId, LanguageDetector](LanguageDetector)
        self._document_counts = Counter[BucketId]()  # documents that the first pass counted
        self._contents = defaultdict[BucketId, BucketContents](BucketContents)
        self._parts: dict[tuple[BucketId, TableKey], BucketId] = {}  # of the tables that are not in the bucket itself
        self.ids_elsewhere: dict[BucketId, set[DocId]] = {}  # of a bucket -> the documents of its other parts
        self.report_builder = ReportBuilder()
        self.is_stopped = False
        self._last_progress: IngestProgress | None = None
        self._file_start_s = monotonic()
        if ignore_metadata:
            self.report_builder.add_remark(_METADATA_IGNORED)

    # -- the first pass

    def scan_files(
        self,
        paths: Sequence[str | Path | SourceFile],
        worker: ParserWorker,
        existing: Mapping[BucketId, BucketSize],
    ) -> None:
        """Collects the files, profiles the metadata of each bucket, and counts document ids that occur repeatedly.

        Reads the tables once more where those of a bucket are to be read apart from one another.
        """
        for file in find_source_files(paths):
            if isinstance(file, RejectedInput):
                self._record_failure(file.origin, file.reason)
            else:
                self._files.append(file)
                self._versions.append(file.version)
        self._profile_files(worker)
        if not self.is_stopped and (parts := self._divide_buckets(existing)):
            self._remark_new_parts(parts, existing)
            self._forget_profiles(parts)
            self._profile_files(worker)
        self._remaining_copies = Counter({key: count for key, count in self._remaining_copies.items() if count > 1})

    def _profile_files(self, worker: ParserWorker) -> None:
        for source, loaded in self._read_files(worker, is_first_pass=True):
            if isinstance(loaded, SourceRecord):
                self._note_record(source, loaded)
            elif loaded is None and (doc_id := single_document_id(source)):
                self._note_document(None, doc_id, RecordOrigin(file=source.name), {}, "")

    def _divide_buckets(self, existing: Mapping[BucketId, BucketSize]) -> dict[tuple[BucketId, TableKey], BucketId]:
        """Returns the part of each table that does not belong to its bucket itself."""
        if self._ignore_metadata or self._allow_any_bucket_name:
            return {}
        return {
            (bucket, table): part
            for bucket, contents in self._contents.items()
            if not self._has_given_schema(bucket) and not self.report_builder.has_surplus_keys(bucket)
            for table, part in assign_tables(bucket, contents, existing).items()
        }

    def _remark_new_parts(
        self, parts: Mapping[tuple[BucketId, TableKey], BucketId], existing: Mapping[BucketId, BucketSize]
    ) -> None:
        for whole in sorted({bucket for bucket, _ in parts}):
            if new_parts := sorted({part for (bucket, _), part in parts.items() if bucket == whole} - existing.keys()):
                self.report_builder.add_remark(
                    f"{whole} has tables with different columns, so a question is read in each of its parts by itself: "
                    f"{', '.join(new_parts)}"
                )

    def _forget_profiles(self, parts: dict[tuple[BucketId, TableKey], BucketId]) -> None:
        """Makes room for the profiles of the parts."""
        self._parts = parts
        self.profiles = {bucket: {} for bucket, _ in parts}  # the bucket itself exists, even if it has no documents
        for counts in (self._remaining_copies, self._document_counts, self._documents_of_cut_files):
            counts.clear()
        for by_bucket in (self._label_surveys, self._origin_tallies, self._language_detectors):
            by_bucket.clear()
        self._budget = ("", WorkBudget(self._limits))

    def _note_record(self, source: SourceFile, record: SourceRecord) -> None:
        """Notes a record unless its file has used up its CPU time; the second pass then reports it."""
        budget = self._budget_for(source)
        if budget.is_exceeded:
            return
        budget.add_document(len(record.text))
        try:
            with budget:
                self._note_document(
                    record.bucket, record.doc_id, record.origin, record.metadata, record.text, is_row=record.is_row
                )
                self._note_labels(record)
        except UnparsableFile:
            self._documents_of_cut_files[source.name] = budget.document_count - 1

    def _budget_for(self, source: SourceFile) -> WorkBudget:
        """Returns the budget of a file for this pass. The records of a file come one after the other."""
        if self._budget[0] != source.name:
            self._budget = (source.name, WorkBudget(self._limits))
        return self._budget[1]

    def _note_document(
        self,
        bucket_name: str | None,
        doc_id: str,
        origin: RecordOrigin,
        metadata: Mapping[str, object],
        text: str,
        *,
        is_row: bool = False,
    ) -> None:
        bucket = self._bucket_of(bucket_name, origin)
        if bucket is None:
            return
        self._remaining_copies[hash((bucket, doc_id))] += 1
        profiles = self.profiles.setdefault(bucket, {})
        self._document_counts[bucket] += 1
        self._language_detectors[bucket].add_text(text)
        self._language_detectors[bucket].add_names(metadata)
        values = flatten_metadata({} if self._ignore_metadata else metadata).values
        add_to_profiles(values, profiles)
        if surplus_keys := values.keys() - profiles.keys() if len(profiles) >= MAX_COLUMNS else None:
            self.report_builder.add_surplus_keys(bucket, surplus_keys)
            values = {name: value for name, value in values.items() if name in profiles}
        self._origin_tallies[bucket].add_record(origin.file, origin.sheet, values)
        self._contents[bucket].add_record(origin, values, is_row=is_row)

    def _bucket_of(self, bucket_name: str | None, origin: RecordOrigin) -> BucketId | None:
        """Returns the bucket of a document, or the part of it that holds its table."""
        bucket = self._bucket_for(bucket_name)
        return bucket if bucket is None else self._parts.get((bucket, table_key_of(origin)), bucket)

    def _bucket_for(self, bucket_name: str | None) -> BucketId | None:
        """Returns the bucket of a document that names `bucket_name`; None if there is none or its name is invalid."""
        name = self._bucket or bucket_name or (self.given_schema.bucket if self.given_schema else None)
        return BucketId(name) if name is not None and (self._allow_any_bucket_name or is_bucket_name(name)) else None

    # -- between the passes

    def survey_bucket(self, bucket: BucketId, existing: Schema | None, worker: ParserWorker) -> None:
        """Reads files of a bucket without fields, for their language and for the labels that recur in their texts.

        The first pass opens only tables, and the schema must be known before the first document is put.
        """
        if (existing is not None and existing.fields) or self._has_given_schema(bucket):
            return
        if bucket == self._bucket_for(None):
            self._survey_files(bucket, worker, detects_language=existing is None)
        survey = self._label_surveys.pop(bucket, LabelSurvey())
        kinds = survey.decide_kinds(self._origin_tallies[bucket].columns_by_table, bucket)
        fields = survey.decide_fields(self.profiles[bucket].keys(), kinds)
        usual = survey.find_usual_fields(kinds, bucket, self._language_detectors[bucket].language)
        fields, self._usual_fields[bucket] = join_with_labels(usual, fields, self.profiles[bucket].keys())
        self._labelled_fields[bucket], self._kinds[bucket] = fields, kinds
        if kinds.synonyms_by_kind:
            self.report_builder.add_remark(
                f"{bucket} has documents of {len(kinds.synonyms_by_kind)} kinds: {', '.join(kinds.synonyms_by_kind)}; "
                "each kind has its own fields"
            )
        elif different_tables := self._origin_tallies[bucket].different_tables():
            self.report_builder.add_remark(
                f"{bucket} has tables with different columns ({', '.join(different_tables)}): a question is read in "
                "the columns of all; load tables about different things into buckets of their own"
            )
        if field_count := len(fields.fields) + len(self._usual_fields[bucket]):
            self.report_builder.add_remark(
                f"{field_count} fields of {bucket} come from the texts of {fields.document_count:,} documents; "
                "parley bucket review shows how sure their values are"
            )

    def _survey_files(self, bucket: BucketId, worker: ParserWorker, *, detects_language: bool) -> None:
        needs_language = detects_language and not self._language_detectors[bucket].word_count
        with closing(read_files_ahead(spread_sample(self._files), worker)) as files:
            for number, (source, items) in enumerate(files):
                for loaded in items:
                    if self.is_stopped:
                        return
                    if not isinstance(loaded, SourceRecord):
                        continue
                    if needs_language and number < _LANGUAGE_SAMPLE_FILES:
                        self._language_detectors[bucket].add_text(loaded.text)
                    adapted = loaded if self.hooks is None else self.hooks.adapt_record(source, loaded)
                    if isinstance(adapted, SourceRecord):
                        self._note_labels(adapted)

    def _note_labels(self, record: SourceRecord) -> None:
        """Counts the labels of a document that has no metadata."""
        bucket = self._bucket_of(record.bucket, record.origin)
        if bucket is None or self._has_given_schema(bucket) or not record.text:
            return
        if self._ignore_metadata or not record.metadata:
            self._label_surveys[bucket].add_record(record)

    def _has_given_schema(self, bucket: BucketId) -> bool:
        return self.given_schema is not None and self.given_schema.bucket == bucket

    def evidence_for(self, schema: Schema) -> Mapping[str, str]:
        """Returns a line of evidence for each field: counts, ranges and examples of its values."""
        labelled = self._labelled_fields.get(schema.bucket, LabelledFields())
        from_labels = evidence_from_profiles(schema, labelled.profiles, labelled.document_count)
        documents = self._document_counts[schema.bucket]
        return {**from_labels, **evidence_from_profiles(schema, self.profiles[schema.bucket], documents)}

    def decide_schema(self, bucket: BucketId, existing: Schema | None) -> Schema:
        """Returns the given schema, else the existing one with added fields, else the inferred one."""
        labelled = self._labelled_fields.get(bucket, LabelledFields())
        profiles = {**self.profiles[bucket], **labelled.profiles}
        language, names = self._language_detectors[bucket].language, self._origin_tallies[bucket].names_of_only_table
        is_table = is_part(bucket) and not self._allow_any_bucket_name
        own_name = bucket.rpartition(PART_SEPARATOR)[2] if is_table else bucket  # names the documents
        inferred = replace(infer_schema(BucketId(own_name), profiles, language, names), bucket=bucket)
        inferred = name_rows(inferred, own_name) if is_table else inferred
        inferred = labelled.add_details(inferred)
        usual = [each.field for each in self._usual_fields.get(bucket, ()) if each.field.name not in inferred.by_name]
        inferred = replace(inferred, fields=(*inferred.fields, *usual))
        if existing is None or not existing.fields:
            inferred = self._add_origins(inferred, labelled)
        schema = self.given_schema if self.given_schema and self.given_schema.bucket == bucket else None
        self._schemas[bucket] = schema or (merge_schemas(existing, inferred) if existing else inferred)
        return self._schemas[bucket]

    def _add_origins(self, schema: Schema, labelled: LabelledFields) -> Schema:
        """Returns the schema of a bucket that had no fields with those for kinds, folders and sheets."""
        bucket, tally = schema.bucket, self._origin_tallies[schema.bucket]
        kinds = self._kinds.get(bucket, InferredKinds())
        kinds_by_field = {
            **kinds_of_columns(tally.columns_by_table, tally.other_keys, kinds, labelled.kinds_of_taken),
            **{field.name: field.kinds for field in labelled.fields},
            **{each.field.name: each.kinds for each in self._usual_fields.get(bucket, ())},
        }
        with_kinds = add_kinds(schema, kinds, kinds_by_field)
        places = tally.decide_fields(KindReader(with_kinds), with_kinds.by_name.keys(), schema.language)
        return replace(with_kinds, fields=(*with_kinds.fields, *places))

    def schema_of(self, bucket: BucketId) -> Schema:
        """Returns the schema that `decide_schema` chose."""
        return self._schemas[bucket]

    # -- the second pass

    def read_batches(self, worker: ParserWorker) -> "Generator[_DocumentBatch, None, None]":
        """Yields the documents in batches, each of one bucket. Ends early when the run is stopped."""
        waiting: dict[BucketId, _DocumentBatch] = {}
        builders = {bucket: self._document_builder_for(bucket) for bucket in self.profiles}
        self._budget, share = ("", WorkBudget(self._limits)), _FIRST_SHARE
        for source, loaded in self._read_files(worker, is_first_pass=False):
            record = self._record_to_put(loaded)
            bucket = self._bucket_of(record.bucket, record.origin) if record else None
            if record is None or bucket is None:
                continue
            budget = self._budget_for(source)
            document = self._build_within_budget(builders[bucket], record, budget)
            if document is None:
                continue
            batch = waiting.setdefault(bucket, _DocumentBatch(bucket=bucket))
            is_complete = self._has_own_values(record, bucket)
            batch.add_document(document, record, budget, is_complete=is_complete)
            is_full = batch.fills(share)
            if is_full or sum(pending.characters for pending in waiting.values()) >= 2 * _BATCH_CHARACTERS:
                largest = max(waiting.values(), key=lambda pending: pending.characters)
                share = min(2 * share, 1.0)
                yield waiting.pop(bucket if is_full else largest.bucket)
        if not self.is_stopped:
            yield from waiting.values()

    def _build_within_budget(
        self, builder: DocumentBuilder, record: SourceRecord, budget: WorkBudget
    ) -> Document | None:
        """Returns the document; None if its file has used up its CPU time, which is reported once."""
        budget.add_document(len(record.text))
        try:
            with budget:
                if budget.document_count > self._documents_of_cut_files.get(record.origin.file, budget.document_count):
                    budget.end()
                return builder.build_document(record)
        except UnparsableFile as exc:
            if budget.report_once():
                self._record_failure(record.origin, exc.reason, record.doc_id)
            return None

    def _has_own_values(self, record: SourceRecord, bucket: BucketId) -> bool:
        """Whether a record has metadata, of which too many are not fields: its text is not read for the fields."""
        is_full = not self._has_given_schema(bucket) and self.report_builder.has_surplus_keys(bucket)
        return is_full and bool(record.metadata)

    def report_left_out(self, batch: _DocumentBatch, filled: Sequence[Document]) -> None:
        """Reports the files of the documents for which there was no CPU time left, each once."""
        for doc_id in batch.budget_by_document.keys() - {document.doc_id for document in filled}:
            budget = batch.budget_by_document[doc_id]
            if budget.report_once():
                self.report_builder.add_failure(
                    batch.origin_by_document[doc_id], budget.error.reason, doc_id, bucket=batch.bucket
                )
                if self.hooks is not None:
                    self.hooks.record_failure(batch.file_by_document[doc_id])

    def _document_builder_for(self, bucket: BucketId) -> DocumentBuilder:
        return DocumentBuilder(
            schema=self._schemas[bucket],
            styles=styles_of(self.profiles[bucket]),
            ignore_metadata=self._ignore_metadata,
            report_builder=self.report_builder,
            passage_characters=self._passage_characters,
        )

    def _record_to_put(self, loaded: LoadedItem | None) -> SourceRecord | None:
        """Returns the record to put, if the item is one; reports failures and remarks."""
        match loaded:
            case SourceRecord():
                return loaded if self._should_put(loaded) else None
            case RejectedInput(origin=origin, reason=reason):
                self._record_failure(origin, reason)
            case LoadRemark(origin=origin, text=text):
                self.report_builder.add_remark(f"{origin}: {text}")
            case None:
                pass
        return None

    def _should_put(self, record: SourceRecord) -> bool:
        """Whether the record has a bucket and its id does not occur again later; reports the reason if not."""
        bucket = self._bucket_of(record.bucket, record.origin)
        if bucket is None:
            name = self._bucket or record.bucket
            reason = f"{name!r} is not a name for a bucket" if name else "it names no bucket; give one with --bucket"
            self._record_failure(record.origin, reason, record.doc_id)
            return False
        key = hash((bucket, record.doc_id))
        if self._remaining_copies[key] > 1:
            self._remaining_copies[key] -= 1
            self.report_builder.add_superseded(record.origin, record.doc_id)
            return False
        return True

    # -- both passes

    def _record_failure(self, origin: RecordOrigin, reason: str, doc_id: str | None = None) -> None:
        self.report_builder.add_failure(origin, reason, doc_id, bucket=self._bucket_for(None))
        if self.hooks is not None:
            self.hooks.record_failure(origin.file)

    def _read_files(
        self, worker: ParserWorker, *, is_first_pass: bool
    ) -> Iterator[tuple[SourceFile, LoadedItem | None]]:
        """Yields the items of all files. The first pass opens only tables and yields None for each other file."""
        start, finished_bytes, documents, bytes_total = monotonic(), 0, 0, sum(file.size_bytes for file in self._files)

        def note_progress(source: SourceFile, files_done: int, bytes_done: int, documents: int) -> IngestProgress:
            self._last_progress = IngestProgress(
                is_first_pass=is_first_pass,
                file_name=source.name,
                files_done=files_done,
                files_total=len(self._files),
                bytes_done=bytes_done,
                bytes_total=bytes_total,
                documents=documents,
                elapsed_s=monotonic() - start,
            )
            return self._last_progress

        with closing(
            self._read_tables_only(worker) if is_first_pass else read_files_ahead(self._files, worker)
        ) as files:
            for finished_files, (source, items) in enumerate(files):
                bytes_read, self._file_start_s = 0, monotonic()
                note_progress(source, finished_files, finished_bytes, documents)
                for loaded in items:
                    if self.is_stopped:
                        return
                    if self.hooks is not None and isinstance(loaded, SourceRecord):
                        loaded = self.hooks.adapt_record(source, loaded)
                    if loaded is not None:
                        documents, bytes_read = documents + isinstance(loaded, SourceRecord), loaded.origin.bytes_read
                        if documents % _PROGRESS_EVERY_RECORDS == 1:
                            update = note_progress(source, finished_files, finished_bytes + bytes_read, documents)
                            self._report_progress(update)
                    yield source, loaded
                if not is_first_pass and source.version != self._versions[finished_files]:
                    self.report_builder.add_remark(f"{source.name}: {_CHANGED_WHILE_READ}")
                finished_bytes += source.size_bytes
                if not is_first_pass or source.is_table:
                    self._report_progress(note_progress(source, finished_files + 1, finished_bytes, documents))

    @property
    def current_progress(self) -> IngestProgress | None:
        """The progress, with the time that the current file takes so far; None before the first file."""
        update = self._last_progress
        return None if update is None else replace(update, file_elapsed_s=monotonic() - self._file_start_s)

    def _read_tables_only(
        self, worker: ParserWorker
    ) -> Generator[tuple[SourceFile, Iterator[LoadedItem | None]], None, None]:
        for source in self._files:
            yield source, load_records(source, worker) if source.is_table else iter([None])

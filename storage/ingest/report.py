"""The report of an ingestion run, and the builder that counts while the run proceeds."""

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from storage.ingest.limits import MAX_COLUMNS
from storage.ingest.records import RecordOrigin
from storage.ingest.schemas.values import MisfitValue, render_raw_value
from storage.search.errors import DocumentTaken
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import PutResult
from storage.search.schema import Schema

_MAX_FAILURES = 1000  # failures that the report lists; further ones are only counted
_MAX_EXAMPLES = 3
SLOW_FILE_S = 5.0
_MAX_KEYS = 1000  # renamed and ignored keys that the report lists
_MAX_SURPLUS_KEYS = 100_000  # that are distinguished


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProgress:
    """How far a run is. The first pass reads the tables only; the second reads all files and puts their documents."""

    is_first_pass: bool
    file_name: str
    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int
    documents: int  # read in this pass
    elapsed_s: float = 0.0  # of this pass
    file_elapsed_s: float = 0.0  # of this file

    @property
    def is_file_slow(self) -> bool:
        """Whether the file takes so long that people should know its name."""
        return self.file_elapsed_s >= SLOW_FILE_S

    @property
    def documents_per_s(self) -> float:
        return self.documents / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def remaining_s(self) -> float | None:
        """The estimated time for the remaining bytes at the speed so far; None while there is no speed yet."""
        return (
            self.elapsed_s * (self.bytes_total - self.bytes_done) / self.bytes_done
            if self.bytes_done and self.elapsed_s
            else None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestFailure:
    """A file, line or document that was not loaded, and why."""

    where: str
    reason: str
    doc_id: DocId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenamedKey:
    """A metadata key that is stored under another field name."""

    bucket: BucketId
    key: str
    field: FieldName


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfittingValues:
    """Values that did not fit their field. They are appended to the text of their documents, so none is lost."""

    bucket: BucketId
    field: FieldName  # or a column, `items.qty`
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredKey:
    """A metadata key that the given schema does not have, and the number of documents that have the key."""

    bucket: BucketId
    key: FieldName
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaChange:
    """A schema that the run made or changed. `path` is the YAML file that it was written to, if any."""

    schema: Schema
    is_new: bool
    added_fields: tuple[FieldName, ...]
    path: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCounts:
    """Numbers of documents. `failed` also counts files and lines that yield no document."""

    added: int = 0
    replaced: int = 0
    skipped: int = 0  # unchanged
    failed: int = 0

    def __str__(self) -> str:
        return f"added {self.added:,}, replaced {self.replaced:,}, skipped {self.skipped:,}, failed {self.failed:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport(DocumentCounts):
    """The complete result of a run."""

    by_bucket: Mapping[BucketId, DocumentCounts] = field(
        default_factory=dict[BucketId, DocumentCounts]
    )  # a failure counts here if its bucket is known
    failures: tuple[IngestFailure, ...] = ()  # the first thousand
    superseded: tuple[IngestFailure, ...] = ()  # documents whose id occurs again later; the first thousand
    renamed_keys: tuple[RenamedKey, ...] = ()
    unfitting_values: tuple[UnfittingValues, ...] = ()
    ignored_keys: tuple[IgnoredKey, ...] = ()
    buckets: tuple[BucketId, ...] = ()
    schema_changes: tuple[SchemaChange, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def summary_line(self) -> str:
        return DocumentCounts.__str__(self)


@dataclass(slots=True)
class ReportBuilder:
    """Collects the counts, failures and remarks of a run."""

    _counts: Counter[tuple[BucketId | None, str]] = field(default_factory=Counter[tuple[BucketId | None, str]])
    _failures: list[IngestFailure] = field(default_factory=list[IngestFailure])
    _superseded: list[IngestFailure] = field(default_factory=list[IngestFailure])
    _renamed_keys: dict[tuple[BucketId, str], FieldName] = field(default_factory=dict[tuple[BucketId, str], FieldName])
    _misfit_counts: Counter[tuple[BucketId, FieldName]] = field(default_factory=Counter[tuple[BucketId, FieldName]])
    _examples: dict[tuple[BucketId, FieldName], list[str]] = field(
        default_factory=dict[tuple[BucketId, FieldName], list[str]]
    )
    _ignored_counts: Counter[tuple[BucketId, FieldName]] = field(default_factory=Counter[tuple[BucketId, FieldName]])
    _surplus_keys: dict[BucketId, set[FieldName]] = field(default_factory=dict[BucketId, set[FieldName]])
    _without_vectors: Counter[BucketId] = field(default_factory=Counter[BucketId])
    _remarks: dict[str, None] = field(default_factory=dict[str, None])

    def add_failure(
        self, origin: RecordOrigin | str, reason: str, doc_id: str | None = None, *, bucket: BucketId | None = None
    ) -> None:
        self._counts[bucket, "failed"] += 1
        if len(self._failures) < _MAX_FAILURES:
            self._failures.append(
                IngestFailure(where=str(origin), reason=reason, doc_id=DocId(doc_id) if doc_id else None)
            )

    def add_superseded(self, origin: RecordOrigin, doc_id: str) -> None:
        if len(self._superseded) < _MAX_FAILURES:
            reason = "the same doc_id comes again later, which counts"
            self._superseded.append(IngestFailure(where=str(origin), reason=reason, doc_id=DocId(doc_id)))

    def add_remark(self, text: str) -> None:
        if len(self._remarks) < _MAX_FAILURES:
            self._remarks[text] = None

    def add_put_result(self, bucket: BucketId, result: PutResult, origin_by_document: Mapping[DocId, str]) -> None:
        """Counts the documents of a batch by what the index did with them."""
        self._counts[bucket, "added"] += len(result.added)
        self._counts[bucket, "replaced"] += len(result.replaced)
        self._counts[bucket, "skipped"] += len(result.skipped)
        self._without_vectors[bucket] += len(result.without_vectors)
        for doc_id in result.taken:
            self.add_failure(origin_by_document[doc_id], str(DocumentTaken(doc_id)), doc_id, bucket=bucket)
        for doc_id, reason in result.refused.items():
            fate = "; its earlier version stays" if doc_id in result.kept else ""
            failure = f"the index cannot store it{fate}: {reason}"
            self.add_failure(origin_by_document[doc_id], failure, doc_id, bucket=bucket)

    def add_renamed_keys(self, bucket: BucketId, renamed: Mapping[str, FieldName]) -> None:
        for key, name in renamed.items():
            if len(self._renamed_keys) < _MAX_KEYS:
                self._renamed_keys[bucket, key] = name

    def add_misfit(self, bucket: BucketId, misfit: MisfitValue) -> None:
        key = (bucket, misfit.field)
        self._misfit_counts[key] += 1
        examples = self._examples.setdefault(key, [])
        if len(examples) < _MAX_EXAMPLES:
            examples.append(render_raw_value(misfit.raw)[:100])

    def add_ignored_key(self, bucket: BucketId, name: FieldName) -> None:
        if len(self._ignored_counts) < _MAX_KEYS or (bucket, name) in self._ignored_counts:
            self._ignored_counts[bucket, name] += 1

    def add_surplus_keys(self, bucket: BucketId, names: Set[FieldName]) -> None:
        """Notes keys that get no field because the bucket has too many already."""
        surplus = self._surplus_keys.setdefault(bucket, set())
        if len(surplus) < _MAX_SURPLUS_KEYS:
            surplus |= names

    def has_surplus_keys(self, bucket: BucketId) -> bool:
        return bucket in self._surplus_keys

    def _sum_counts(self, buckets: Set[BucketId | None]) -> dict[str, int]:
        return {
            outcome: sum(self._counts[bucket, outcome] for bucket in buckets)
            for outcome in ("added", "replaced", "skipped", "failed")
        }

    def build_report(self, buckets: tuple[BucketId, ...], schema_changes: tuple[SchemaChange, ...]) -> IngestReport:
        return IngestReport(
            **self._sum_counts({bucket for bucket, _ in self._counts}),
            by_bucket={bucket: DocumentCounts(**self._sum_counts({bucket})) for bucket in buckets},
            failures=tuple(self._failures),
            superseded=tuple(self._superseded),
            renamed_keys=tuple(
                RenamedKey(bucket=bucket_id, key=key, field=name)
                for (bucket_id, key), name in self._renamed_keys.items()
            ),
            unfitting_values=tuple(
                UnfittingValues(
                    bucket=bucket_id, field=name, count=count, examples=tuple(self._examples[bucket_id, name])
                )
                for (bucket_id, name), count in self._misfit_counts.items()
            ),
            ignored_keys=tuple(
                IgnoredKey(bucket=bucket_id, key=name, count=count)
                for (bucket_id, name), count in self._ignored_counts.items()
            ),
            buckets=buckets,
            schema_changes=schema_changes,
            remarks=(
                *self._remarks,
                *map(_surplus_keys_remark, self._surplus_keys.items()),
                *map(_without_vectors_remark, (+self._without_vectors).items()),
            ),
        )


def _surplus_keys_remark(keys_of_bucket: tuple[BucketId, Set[FieldName]]) -> str:
    bucket, names = keys_of_bucket
    count = f"{_MAX_SURPLUS_KEYS:,} or more" if len(names) >= _MAX_SURPLUS_KEYS else f"{len(names):,}"
    return (
        f"{bucket}: {MAX_COLUMNS:,} keys are fields; {count} further keys, such as {min(names)!r}, are none, and their "
        "values are not stored: put repeated things into a list under one key, or give a schema with the keys you need"
    )


def _without_vectors_remark(count_of_bucket: tuple[BucketId, int]) -> str:
    bucket, count = count_of_bucket
    return (
        f"{bucket}: {count:,} document{' is' if count == 1 else 's are'} found by words alone, because the embedding"
        f" model did not answer or is new; parley bucket reindex {bucket} adds what is missing"
    )

"""What comes of a run, and the tally it is made from."""

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from storage.ingest.records import Origin
from storage.ingest.values import Misfit, rendered
from storage.search.errors import DocumentTaken
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import Put
from storage.search.schema import Schema

_NAMED = 1000  # failures that are named; more are counted
_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a run is. In the first pass it looks at tables, in the second it puts documents."""

    looking: bool
    file: str
    files: int  # finished
    of_files: int
    bytes: int
    of_bytes: int
    documents: int  # read in this pass
    elapsed_s: float = 0.0  # of this pass

    @property
    def documents_per_s(self) -> float:
        return self.documents / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def remaining_s(self) -> float | None:
        """As long as the rest takes if its bytes come as fast; None while nothing can be said."""
        return self.elapsed_s * (self.of_bytes - self.bytes) / self.bytes if self.bytes and self.elapsed_s else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A file, line or document that was not loaded, and why."""

    where: str
    reason: str
    doc_id: DocId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """A key of the metadata that stands under another name."""

    bucket: BucketId
    key: str
    field: FieldName


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfitting:
    """Values that did not fit their field. They stand in their documents' text, so that nothing is lost."""

    bucket: BucketId
    field: FieldName  # or a column, `items.qty`
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A key that the schema given does not have, and in how many documents it stood."""

    bucket: BucketId
    key: FieldName
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaWritten:
    """A schema that the run made or changed. `path`: where it stands as YAML, if it was written."""

    schema: Schema
    is_new: bool
    added: tuple[FieldName, ...]
    path: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Of documents; `failed` also counts files and lines that gave none."""

    added: int = 0
    replaced: int = 0
    skipped: int = 0  # unchanged
    failed: int = 0

    def __str__(self) -> str:
        return f"added {self.added:,}, replaced {self.replaced:,}, skipped {self.skipped:,}, failed {self.failed:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Counts):
    """All that came of a run."""

    by_bucket: Mapping[BucketId, Counts] = field(default_factory=dict[BucketId, Counts])  # failures where it is known
    failures: tuple[Failure, ...] = ()  # the first thousand
    superseded: tuple[Failure, ...] = ()  # documents whose id came again later; the first thousand
    renamed: tuple[Renamed, ...] = ()
    unfitting: tuple[Unfitting, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    buckets: tuple[BucketId, ...] = ()
    schemas: tuple[SchemaWritten, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def last_line(self) -> str:
        return Counts.__str__(self)


@dataclass(slots=True)
class Tally:
    """Counts while a run goes on."""

    _counts: Counter[tuple[BucketId | None, str]] = field(default_factory=Counter[tuple[BucketId | None, str]])
    _failures: list[Failure] = field(default_factory=list[Failure])
    _superseded: list[Failure] = field(default_factory=list[Failure])
    _renamed: dict[tuple[BucketId, str], FieldName] = field(default_factory=dict[tuple[BucketId, str], FieldName])
    _unfitting: Counter[tuple[BucketId, FieldName]] = field(default_factory=Counter[tuple[BucketId, FieldName]])
    _examples: dict[tuple[BucketId, FieldName], list[str]] = field(
        default_factory=dict[tuple[BucketId, FieldName], list[str]]
    )
    _ignored: Counter[tuple[BucketId, FieldName]] = field(default_factory=Counter[tuple[BucketId, FieldName]])
    _remarks: dict[str, None] = field(default_factory=dict[str, None])

    def fail(
        self, where: Origin | str, reason: str, doc_id: str | None = None, *, bucket: BucketId | None = None
    ) -> None:
        self._counts[bucket, "failed"] += 1
        if len(self._failures) < _NAMED:
            self._failures.append(Failure(where=str(where), reason=reason, doc_id=DocId(doc_id) if doc_id else None))

    def supersede(self, where: Origin, doc_id: str) -> None:
        if len(self._superseded) < _NAMED:
            reason = "the same doc_id comes again later, which counts"
            self._superseded.append(Failure(where=str(where), reason=reason, doc_id=DocId(doc_id)))

    def remark(self, text: str) -> None:
        if len(self._remarks) < _NAMED:
            self._remarks[text] = None

    def put(self, bucket: BucketId, result: Put, origins: Mapping[DocId, str]) -> None:
        """What the index made of a batch."""
        self._counts[bucket, "added"] += len(result.added)
        self._counts[bucket, "replaced"] += len(result.replaced)
        self._counts[bucket, "skipped"] += len(result.skipped)
        for doc_id in result.taken:
            self.fail(origins[doc_id], str(DocumentTaken(doc_id)), doc_id, bucket=bucket)

    def rename(self, bucket: BucketId, renamed: Mapping[str, FieldName]) -> None:
        for key, name in renamed.items():
            self._renamed[bucket, key] = name

    def misfit(self, bucket: BucketId, misfit: Misfit) -> None:
        key = (bucket, misfit.field)
        self._unfitting[key] += 1
        examples = self._examples.setdefault(key, [])
        if len(examples) < _EXAMPLES:
            examples.append(rendered(misfit.raw)[:100])

    def ignore(self, bucket: BucketId, name: FieldName) -> None:
        self._ignored[bucket, name] += 1

    def _sums(self, buckets: Set[BucketId | None]) -> dict[str, int]:
        return {
            fate: sum(self._counts[bucket, fate] for bucket in buckets)
            for fate in ("added", "replaced", "skipped", "failed")
        }

    def report(self, buckets: tuple[BucketId, ...], schemas: tuple[SchemaWritten, ...]) -> Report:
        return Report(
            **self._sums({bucket for bucket, _ in self._counts}),
            by_bucket={bucket: Counts(**self._sums({bucket})) for bucket in buckets},
            failures=tuple(self._failures),
            superseded=tuple(self._superseded),
            renamed=tuple(Renamed(bucket=b, key=key, field=name) for (b, key), name in self._renamed.items()),
            unfitting=tuple(
                Unfitting(bucket=b, field=name, count=count, examples=tuple(self._examples[b, name]))
                for (b, name), count in self._unfitting.items()
            ),
            ignored=tuple(Ignored(bucket=b, key=name, count=count) for (b, name), count in self._ignored.items()),
            buckets=buckets,
            schemas=schemas,
            remarks=tuple(self._remarks),
        )

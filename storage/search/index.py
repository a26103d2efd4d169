"""The protocols of a search index: `SearchIndex` writes, and `ScopedIndex` searches within a scope.

A question to a `ScopedIndex` is an `IndexRequest[T]` value. `ScopedIndex.answer_requests` sends any number of requests
in one round trip and returns `IndexAnswers`, which maps each request to its answer of type T. Conditions are checked
against the bucket's schema first: a field that does not exist raises `UnknownField` instead of giving an empty set.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Generic, Protocol, TypeAlias, TypeVar, cast

from storage.search.analyser import Analyser
from storage.search.documents import Document, FieldValues
from storage.search.ids import BucketId, ChunkId, DocId, FieldName, Generation, TenantId
from storage.search.plan import CalendarPeriod, GroupBy, Search
from storage.search.schema import Schema, SchemaOrder
from storage.search.scope import Scope

SNAPSHOT_LIFETIME = timedelta(minutes=10)  # since it was opened; a state that is kept costs disk and memory
SNAPSHOT_IDLE_LIFETIME = timedelta(minutes=2)  # since it was opened or last read

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class IndexRequest(Generic[T_co]):
    """A request to an index, with an answer of type T. Equal requests of one round trip are answered once."""


# -- answers


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageHit:
    """A ranked passage. `text` is the document's `text[start:end]`. Only scores of one answer are comparable."""

    doc_id: DocId
    bucket: BucketId
    chunk_id: ChunkId
    title: str
    source: str
    page: int | None
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineHit:
    """A document, ranked by its outline. `summary` is empty if the document is short enough without one."""

    doc_id: DocId
    bucket: BucketId
    title: str
    source: str
    summary: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """A document without its text."""

    doc_id: DocId
    bucket: BucketId
    title: str
    source: str
    values: FieldValues


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    """Records in order. `cursor` continues after the last of them; None: there are no more."""

    records: Sequence[DocumentRecord]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCount:
    value: str  # the most frequent spelling in the set (or vocabulary) of equal folds; ties: first by code point
    count: int  # documents, at least 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeCount:
    """The documents with `low <= value < high`; the last range has no upper bound: `high` is None.

    See `facet_binning`.
    """

    low: float
    high: float | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodCount:
    """The documents with a day from `first_day` to `last_day`, ISO days, both included.

    It is one period, or the merged oldest periods.
    """

    period: CalendarPeriod
    first_day: str
    last_day: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFacet:
    """Values by count, then by fold, at most the requested number.

    Each document counts for one value, unless `is_overlapping`, which is true for a list field. `other_count` is the
    exact number of documents that have a value but none of `values`. `missing_count` is the number of documents without
    a value; 0 for a flag, where absent means `false`. `distinct_count` is the number of folded values.
    """

    values: tuple[ValueCount, ...]
    other_count: int
    missing_count: int
    distinct_count: int
    is_overlapping: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeFacet:
    """Non-empty disjoint ranges from low to high that cover every value, of nearly equal counts, with round edges."""

    ranges: tuple[RangeCount, ...]
    missing_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodFacet:
    """Non-empty disjoint periods, oldest first, that cover every day: the longest periods that still split the set."""

    periods: tuple[PeriodCount, ...]
    missing_count: int


FacetAnswer: TypeAlias = ValueFacet | RangeFacet | PeriodFacet


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateLine:
    """The numbers of one group and one unit. Sum and average are rounded by the kernel's module `numbers`.

    `group` is the value, the first day of the period (without a period: the day), true or false; None if the document
    has no value for the group field or the request has no grouping. Values with the same fold are one group; its name
    is chosen like the value of a `ValueCount`. `unit` is the currency of a money field (the value of its currency
    field, folded and in capitals, else the currency in the schema), or the unit of a number field; None if it has no
    unit. Without a field the numbers are 0. `median` is None unless requested; of an even number of values it is the
    average of the middle two, rounded like an average.
    """

    group: str | float | bool | None
    unit: str | None
    count: int  # documents with a value for the field; without a field: documents
    sum: float
    average: float
    minimum: float
    maximum: float
    median: float | None = None
    unrounded_sum: int | float = field(default=0, compare=False, repr=False)  # of money in scaled integers


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestValues:
    """The nearest existing values below and above a given value; None if there is no such value."""

    below: float | str | None
    above: float | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpellingSuggestion:
    """A word of visible documents that is similar to the requested word."""

    word: str  # folded, not stemmed
    distance: int  # Damerau-Levenshtein, at least 1
    document_count: int  # visible documents with the word in the requested buckets; at least 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldVocabulary:
    """The values of the visible documents of one bucket in one field (or in one column, named `rows.column`)."""

    bucket: BucketId
    field: FieldName
    document_count: int  # visible documents with a value
    values: Sequence[ValueCount] = ()  # of category, list, text and text columns, as many as the limit allows
    low: float | str | None = None  # of number, money, date
    high: float | str | None = None


@dataclass(frozen=True, kw_only=True)
class IndexVocabulary:
    """The dictionary for linking the words of questions. It is valid as long as `generation` stays the same.

    `fields` is ordered by bucket, then as in the schema; columns follow their rows field. Fields without a value are
    left out.
    """

    generation: Generation
    fields: tuple[FieldVocabulary, ...]
    document_counts: Mapping[BucketId, int]  # visible documents
    # Titles of the visible documents, for buckets of at most `MAX_TITLED_DOCUMENTS` of them
    titles: Mapping[BucketId, tuple[ValueCount, ...]] = field(default_factory=dict[BucketId, tuple[ValueCount, ...]])
    schemas: Mapping[BucketId, Schema] = field(default_factory=dict[BucketId, Schema])  # of the existing buckets

    @property
    def total_document_count(self) -> int:
        """The visible documents of all buckets."""
        return sum(self.document_counts.values())

    def document_count_of(self, bucket: BucketId) -> int:
        """Return the number of visible documents of the bucket; 0 if there are none."""
        return self.document_counts.get(bucket, 0)

    def fields_of(self, bucket: BucketId) -> tuple[FieldVocabulary, ...]:
        """Return the fields of the bucket that have values."""
        return self._fields_by_bucket.get(bucket, ())

    def titles_of(self, bucket: BucketId) -> tuple[ValueCount, ...]:
        """Return the titles of the bucket's documents; none if there are too many."""
        return self.titles.get(bucket, ())

    def field_of(self, bucket: BucketId, name: FieldName) -> FieldVocabulary | None:
        """Return the values of the field; None if it has none."""
        return next((field for field in self.fields_of(bucket) if field.field == name), None)

    @cached_property
    def _fields_by_bucket(self) -> Mapping[BucketId, tuple[FieldVocabulary, ...]]:
        return {bucket: tuple(fields) for bucket, fields in groupby(self.fields, attrgetter("bucket"))}


# -- requests


@dataclass(frozen=True, slots=True)
class SearchRequest(IndexRequest[T_co]):
    """A request about the set of a search."""

    search: Search


@dataclass(frozen=True, slots=True)
class CountRequest(SearchRequest[int]):
    """The exact number of documents in the set."""


@dataclass(frozen=True, slots=True)
class KeywordPassageRequest(SearchRequest[tuple[PassageHit, ...]]):
    """The best passages of the set for `text` by BM25 (the title has double weight), best first; ties by chunk id.

    A passage need not contain all terms. Terms that occur in more than a fifth of a bucket's passages are ignored if
    others remain. A term that occurs n times in `text` has n times the weight, for n up to 8. A text without terms
    finds nothing.
    """

    text: str
    limit: int = 100


@dataclass(frozen=True, slots=True)
class SemanticPassageRequest(SearchRequest[tuple[PassageHit, ...]]):
    """The passages of the set nearest in meaning to `text`, best first; `score` is the cosine.

    Finds nothing in an index without vectors, and where the embedding model does not answer in time; then
    `IndexAnswers.embedding_failure` says why.
    """

    text: str
    limit: int = 100


@dataclass(frozen=True, slots=True)
class OutlineRequest(SearchRequest[tuple[OutlineHit, ...]]):
    """The best documents of the set for `text` by BM25 over their outlines (the title has double weight), best first.

    Ties are ordered by document id. An outline need not contain all terms. Text outside the outline does not count.
    """

    text: str
    limit: int = 20


@dataclass(frozen=True, slots=True)
class FacetRequest(SearchRequest[FacetAnswer]):
    """The division of the set by a field.

    The answer has values for category, list, text and flag (`true`, `false`), ranges for number and money, and periods
    for dates; see `facet_binning`. Raises `InvalidCondition` for a rows field, and for several buckets unless the field
    has the same type and is `shared` in all of them.
    """

    field: FieldName
    max_values: int = 1000
    max_bins: int = 8  # ranges or periods


@dataclass(frozen=True, slots=True)
class AggregateRequest(SearchRequest[tuple[AggregateLine, ...]]):
    """Numbers over the whole set, a line per group and unit, largest count first, then by group, then unit; None last.

    Without `field` the lines count documents per group. Money is never added across currencies. The field is number or
    money; the group field has any type but rows, and each member of a list is a group. An empty set has no line. Raises
    `InvalidCondition` if a field has different types in several buckets, as do `NearestValueRequest` and
    `RecordPageRequest`.

    With `factor`, a field of numbers, the numbers are those of a field that holds each document's product of both:
    the double nearest to the product of the decimals, in the unit of `field`. A document that lacks one of the two has
    no product, nor has one whose product is too large for a double. A product has no median.
    """

    field: FieldName | None = None
    group: GroupBy | None = None
    with_median: bool = False  # the median of `field`, which then must not be None
    factor: FieldName | None = None  # only with `field`, and without a median


@dataclass(frozen=True, slots=True)
class NearestValueRequest(SearchRequest[NearestValues]):
    """The nearest values of a number, money or date field in the set that are less and greater than `value`."""

    field: FieldName
    value: float | str


@dataclass(frozen=True, slots=True)
class SpellingRequest(IndexRequest[tuple[SpellingSuggestion, ...]]):
    """Words of the visible documents of `buckets` that are within two edits of `word`, without `word` itself.

    The nearest come first, then the most common, then by code point. There are no suggestions unless the analyser reads
    `word` as one word.
    """

    buckets: frozenset[BucketId]
    word: str
    limit: int = 5


@dataclass(frozen=True, slots=True)
class RecordPageRequest(SearchRequest[RecordPage]):
    """A page of the records of the set in order.

    The order is `order`; without it, the natural order if the search has one bucket, else document id. `order_by_id`
    means document id also for one bucket. Ties are ordered by document id, by code point. Documents without the value
    come last, in both directions. Strings are ordered by their fold; a flag has false first, and absent means false.
    The pages of a set that does not change contain each document once. `fields` selects the values; None: all values.
    `decodes_later`: an engine may decode the values when the records of the page are first read, in whatever thread.
    Raises `InvalidCondition` for an order by a list or rows, and for a cursor of another order.
    """

    order: SchemaOrder | None = None
    cursor: str | None = None
    limit: int = 1000
    fields: frozenset[FieldName] | None = None
    order_by_id: bool = False
    decodes_later: bool = False


@dataclass(frozen=True, slots=True)
class DocumentRequest(IndexRequest[tuple[Document, ...]]):
    """The visible documents among those requested, with text and passages, in the requested order."""

    doc_ids: tuple[DocId, ...]


class IndexAnswers:
    """The answer to each request of one round trip, and the state of the index at that time.

    `embedding_failure`: why requests for passages by meaning found nothing; empty: their texts were embedded.
    """

    def __init__(
        self,
        generation: Generation,
        answers: Mapping[IndexRequest[object], object],
        *,
        embedding_failure: str = "",
    ) -> None:
        self.generation, self.embedding_failure = generation, embedding_failure
        self._answers = answers

    def __getitem__(self, request: IndexRequest[T]) -> T:
        """Return the answer to the request. Raises `KeyError` for a request that was not sent."""
        return cast(T, self._answers[request])

    def __contains__(self, request: IndexRequest[object]) -> bool:
        return request in self._answers

    def join_answers(self, other: "IndexAnswers") -> "IndexAnswers":
        """Return these answers and those of another round trip in the same state of the index."""
        failure = self.embedding_failure or other.embedding_failure
        return IndexAnswers(self.generation, {**self._answers, **other._answers}, embedding_failure=failure)


class ScopedIndex(Protocol):
    """An index within a scope: every answer is only about documents that the scope can see.

    Raises `NotInScope` for a bucket outside the scope, whether or not it exists, and for a bucket that does not exist
    (any more). Raises `UnknownField`, `InvalidCondition`, and `IndexUnavailable` instead of an answer from a part of
    the index. A search without clauses is the empty set.
    """

    @property
    def scope(self) -> Scope: ...

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        """Return the answers to all requests, in one round trip.

        Each is answered from one state of the index. All are answered from the same state, unless a write happens
        meanwhile: OpenSearch needs another round trip for a snapshot over several searches.
        """
        ...

    async def load_vocabulary(self, limit: int = 200_000) -> IndexVocabulary:
        """Return the dictionary of all visible documents, at most `limit` values per field.

        Its schemas are those of `load_schemas`, in the same state of the index.
        Fast while the index does not change.
        """
        ...

    async def load_schemas(self) -> Mapping[BucketId, Schema]:
        """Return the schemas of the existing buckets in scope."""
        ...

    def analyser_for(self, bucket: BucketId) -> Analyser:
        """Return the bucket's analyser. Raises `NotInScope`."""
        ...

    def open_snapshot(
        self, buckets: frozenset[BucketId], token: str | None = None
    ) -> "AbstractAsyncContextManager[IndexSnapshot]":
        """Open the present state of those of `buckets` that are in scope, for reads that take many round trips.

        With a `token`, open the state that the snapshot with this token had, also in another process. Entering raises
        `SnapshotGone` if that state no longer exists, and what a read raises.
        """
        ...


class IndexSnapshot(ScopedIndex, Protocol):
    """One state of the buckets with which it was opened: no write shows in an answer.

    Its scope has these buckets only. It lasts for `SNAPSHOT_LIFETIME` if it is read at least once in each
    `SNAPSHOT_IDLE_LIFETIME`; an engine may keep it longer. When the index has lost the state, every read raises
    `SnapshotGone`.
    """

    @property
    def token(self) -> str:
        """Identifies the state for `open_snapshot`."""
        ...


class PutStatus(StrEnum):
    """What `put` does with a document that the index can store; the values are fields of `PutResult`."""

    ADDED = "added"
    REPLACED = "replaced"
    SKIPPED = "skipped"
    TAKEN = "taken"


WRITTEN_STATUSES = frozenset({PutStatus.ADDED, PutStatus.REPLACED})


@dataclass(frozen=True, slots=True, kw_only=True)
class PutResult:
    """The results of `put`, by document id."""

    added: tuple[DocId, ...] = ()
    replaced: tuple[DocId, ...] = ()
    skipped: tuple[DocId, ...] = ()  # same digest as before
    taken: tuple[DocId, ...] = ()  # not put, since the id belongs to another bucket
    without_vectors: tuple[DocId, ...] = ()  # put, but found by words alone until `update_vectors`
    refused: Mapping[DocId, str] = field(default_factory=dict[DocId, str])  # not stored, and why
    kept: tuple[DocId, ...] = ()  # refused, but the index still has an earlier version

    @classmethod
    def from_statuses(
        cls,
        statuses: Mapping[DocId, PutStatus],
        without_vectors: Iterable[DocId] = (),
        refused: Mapping[DocId, str] | None = None,
        kept: Iterable[DocId] = (),
    ) -> "PutResult":
        """The result of documents with these statuses, in their order."""

        def ids_with(status: PutStatus) -> tuple[DocId, ...]:
            return tuple(doc_id for doc_id, doc_status in statuses.items() if doc_status is status)

        return cls(
            added=ids_with(PutStatus.ADDED),
            replaced=ids_with(PutStatus.REPLACED),
            skipped=ids_with(PutStatus.SKIPPED),
            taken=ids_with(PutStatus.TAKEN),
            without_vectors=tuple(without_vectors),
            refused=refused or {},
            kept=tuple(kept),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketState:
    """The schema, the counts and the generation of a bucket."""

    schema: Schema
    document_count: int
    passage_count: int
    generation: Generation
    field_counts: Mapping[FieldName, int] = field(default_factory=dict[FieldName, int])  # documents with a value


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketSize:
    """How many documents a bucket has, its schema and its generation, like those of `BucketState`."""

    schema: Schema
    document_count: int
    generation: Generation


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorState:
    """Whose vectors the passages of a bucket have. `is_current`: a search by meaning can find each of them."""

    embedder: str  # the names of the models, joined by ", "; empty: there are no vectors
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageVolume:
    """An amount of passages. `character_count`: the code points that an embedder reads, with titles."""

    passage_count: int
    character_count: int


class RebuildStage(StrEnum):
    """What `rebuild_bucket` is doing, in this order. Some engines have fewer stages."""

    EMBEDDING = "embedding"  # counts passages, the others count documents
    COPYING = "copying"
    COMPARING = "comparing"
    SWITCHING = "switching"  # searches get the new index
    PUBLISHING = "publishing"


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildProgress:
    """How far a stage is. `total` is an estimate, since documents may be written meanwhile."""

    stage: RebuildStage
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildPlan:
    """What it takes to rebuild a bucket's index. `free_bytes` of disk may be used; None: unknown.

    `shard_count`: the parts that the new index has, which a cluster spreads over its machines; None: this engine has
    none.
    """

    document_count: int
    needed_bytes: int
    free_bytes: int | None
    shard_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierIndexes:
    """Indexes of a bucket that searches no longer use."""

    index_count: int
    size_bytes: int


class SearchIndex(Protocol):
    """The index of one tenant, for writing. Safe to use from several tasks and several processes."""

    @property
    def tenant(self) -> TenantId:
        """The owner of the index."""
        ...

    async def set_schema(self, schema: Schema) -> None:
        """Create the bucket, or change its schema and re-index as far as necessary. An equal schema changes nothing.

        Stored values never change. Values that do not fit the new schema count as absent (`select_fitting_values`),
        until a later schema fits them.
        """
        ...

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        """Add or replace documents, each in one step: a search finds the old or the new document. Visible on return.

        Raises `InvalidCondition` and puts no document if a value does not fit the schema (`validate_values`). Of
        documents with the same id the last is put. A document whose digest is not empty and unchanged is skipped,
        unless its vectors are of another embedder; also then if the embedder is metered. Where a metered embedder
        does not answer, documents are put without vectors. A document that the index cannot store is reported, and its
        earlier version stays; the others are put. Raises `UnknownBucket`.
        """
        ...

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        """Delete documents; return how many existed. They are no longer visible on return."""
        ...

    async def drop_bucket(self, bucket: BucketId) -> None:
        """Delete the bucket with all its documents. Raises `UnknownBucket`."""
        ...

    async def load_bucket_states(self) -> Mapping[BucketId, BucketState]:
        """Return the states of all buckets, in order of name."""
        ...

    async def load_bucket_names(self) -> frozenset[BucketId]:
        """Return the names of all buckets and of their parts. Reads and counts no documents."""
        ...

    async def load_bucket_sizes(self) -> Mapping[BucketId, BucketSize]:
        """Return the sizes of all buckets, in order of name. Fast; reads no documents."""
        ...

    async def load_digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        """Return the digests of the bucket's documents, for a sync. Raises `UnknownBucket`."""
        ...

    async def load_ingestion_days(self, bucket: BucketId) -> Mapping[DocId, str]:
        """Return the `loaded_on` of the bucket's documents; empty where it is not known. Raises `UnknownBucket`."""
        ...

    def scan_records(self, bucket: BucketId) -> AsyncGenerator[Sequence[DocumentRecord]]:
        """Yield the records of the bucket in batches that take little memory, each record that stays there once.

        Each batch is of the state of the index at its time. Raises `UnknownBucket`.
        """
        ...

    async def load_vector_states(self) -> Mapping[BucketId, VectorState]:
        """Return whose vectors the buckets have, in order of name. Fast; does not use the embedder.

        Without an embedder all buckets are current.
        """
        ...

    async def measure_outdated_passages(self, bucket: BucketId) -> PassageVolume:
        """Return what `update_vectors` would embed. Raises `UnknownBucket`, `EmbedderUnavailable`."""
        ...

    async def update_vectors(self, bucket: BucketId, report_progress: Callable[[int], None]) -> int:
        """Embed the passages that have no vector of the index's embedder; return how many.

        Searches go on meanwhile, by words, and so do writes. `report_progress` gets the number of passages embedded so
        far. After a call that failed or was killed, the next call embeds only the rest, with a metered embedder.
        Raises `UnknownBucket`, `EmbedderUnavailable`.
        """
        ...

    async def plan_rebuild(self, bucket: BucketId, *, shard_count: int | None = None) -> RebuildPlan:
        """Return what `rebuild_bucket` takes. Changes nothing. Raises `UnknownBucket`."""
        ...

    async def rebuild_bucket(
        self,
        bucket: BucketId,
        report_progress: Callable[[RebuildProgress], None],
        *,
        shard_count: int | None = None,
    ) -> int:
        """Rebuild the bucket's index from the documents that it stores; return their number.

        Passages get the vectors of the index's embedder. Searches and writes go on meanwhile; a search sees the old or
        the new index. After a call that was killed at any point, searches and writes are right as before, and the next
        call goes on with what was done. A call that fails or is cancelled leaves the old index as it was.
        `shard_count`: the parts that the new index has, in an engine with shards; None: as many as the old index. All
        answers stay the same. Raises `UnknownBucket`, `DiskSpaceShort`, `EmbedderUnavailable`.
        """
        ...

    async def clean_up_bucket(self, bucket: BucketId) -> EarlierIndexes:
        """Delete what earlier indexes of the bucket have left behind, and unfinished ones; return what was deleted.

        Waits for a rebuild that is running. Raises `UnknownBucket`.
        """
        ...

    def within_scope(self, scope: Scope) -> ScopedIndex:
        """Return the index for searches within `scope`. Raises `ValueError` for a scope of another tenant."""
        ...

    async def ping(self, *, thorough: bool = False) -> None:
        """Raises `IndexUnavailable` when the index does not answer or cannot be written, `IndexDamaged` when it cannot
        be read.

        Writes and reads back a little. `thorough`: also reads everything that is stored, where the index is a file;
        otherwise that happens in the background from time to time, and its result counts when it is there.
        """
        ...

    async def close(self) -> None: ...

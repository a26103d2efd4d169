"""What an index is: the writing side, and the handle within a scope that alone can search.

Everything that is asked of the handle is a `Request[T]` value; `ScopedIndex.ask` sends any number of them in one round
trip and gives an `Answers`, which holds for each request its answer of type T. Conditions are checked against the
bucket's schema first: a field that is not there raises `UnknownField`, never an empty set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar, cast

from storage.search.documents import Document, Values
from storage.search.ids import BucketId, ChunkId, DocId, FieldName, Generation, TenantId
from storage.search.plan import Group, Period, Search
from storage.search.schema import Schema, SchemaOrder
from storage.search.scope import Scope
from storage.search.text import Analyser

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Request(Generic[T_co]):
    """Something to ask an index, whose answer is a T. Equal requests are asked once."""


# -- what comes back


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage, ranked. `text` is the document's `text[start:end]`; scores compare within one answer only."""

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
class Outline:
    """A document, ranked by what it is about. `summary` is empty for one that is short enough to speak for itself."""

    doc_id: DocId
    bucket: BucketId
    title: str
    source: str
    summary: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A document without its text."""

    doc_id: DocId
    bucket: BucketId
    title: str
    source: str
    values: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Records in order. `cursor` continues after the last of them; None: that was all."""

    records: tuple[Record, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCount:
    value: str  # as written most often in the set (or vocabulary) among what folds alike; ties: first by code point
    count: int  # documents, at least 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeCount:
    """`low <= value < high`; `high` is None for the last, whose upper end is closed by nothing. See `cells`."""

    low: float
    high: float | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodCount:
    """The documents whose day lies in `first` to `last`, ISO days, both included: one period, or the oldest merged."""

    period: Period
    first: str
    last: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFacet:
    """Values by count, then by fold, at most the number asked for. Each document is in one cell, unless `overlapping`.

    `other` counts the documents that have a value and stand in no cell, exactly. `missing` have no value; never of a
    flag, whose absence is `false`. `overlapping`: the field is a list. `distinct` counts folded values.
    """

    values: tuple[ValueCount, ...]
    other: int
    missing: int
    distinct: int
    overlapping: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeFacet:
    """Non-empty ranges from low to high, disjoint, covering every value; near equal parts, cut at round numbers."""

    ranges: tuple[RangeCount, ...]
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodFacet:
    """Non-empty periods, oldest first, disjoint, covering every day; the longest period that still splits the set."""

    periods: tuple[PeriodCount, ...]
    missing: int


FacetAnswer: TypeAlias = ValueFacet | RangeFacet | PeriodFacet


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregated:
    """Numbers of one group and one unit. Sum and average are rounded as the kernel's `numbers` says.

    `group` is the value, the first day of the period (without a period: the day), true or false; None where the group
    field is missing, or no grouping was asked. Values that fold alike are one group, named as `ValueCount` is. `unit`
    is the currency of a money field (of its currency field, folded and in capitals, else of the schema), else the
    field's unit; None for none. Without a field the numbers are 0. `median` is None unless asked for; of an even number
    of values it is the average of the middle two, rounded as an average is.
    """

    group: str | float | bool | None
    unit: str | None
    count: int  # documents that have the value; without a field: documents
    sum: float
    average: float
    minimum: float
    maximum: float
    median: float | None = None
    unrounded: int | float = field(default=0, compare=False, repr=False)  # the sum; of money in scaled integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The nearest existing values below and above one that is not there; None where there is none."""

    below: float | str | None
    above: float | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """A word of visible documents that resembles the one asked for."""

    word: str  # folded, not stemmed
    distance: int  # Damerau-Levenshtein, at least 1
    documents: int  # visible ones of the buckets asked that hold it; at least 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldVocabulary:
    """What the visible documents of one bucket hold in one field (or in one column, named `rows.column`)."""

    bucket: BucketId
    field: FieldName
    documents: int  # that have a value
    values: tuple[ValueCount, ...] = ()  # category, list, text and text columns, as many as the limit allows
    low: float | str | None = None  # number, money, date
    high: float | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The dictionary that questions are linked to. Keep it as long as `generation` stays the same.

    By bucket, then in order of the schema; columns follow their rows field. Fields without any value are left out.
    """

    generation: Generation
    fields: tuple[FieldVocabulary, ...]
    documents: Mapping[BucketId, int]  # visible ones


# -- what can be asked


@dataclass(frozen=True, slots=True)
class Count(Request[int]):
    """Documents in the set, exact."""

    search: Search


@dataclass(frozen=True, slots=True)
class Passages(Request[tuple[Hit, ...]]):
    """The best passages of the set for `text` by BM25 (title weighs double), best first; ties by chunk id.

    Terms need not all match; those of over a fifth of a bucket's passages are trimmed when others remain. One said
    twice in `text` weighs double, up to eight times. A text without terms finds nothing.
    """

    search: Search
    text: str
    limit: int = 100


@dataclass(frozen=True, slots=True)
class NearPassages(Request[tuple[Hit, ...]]):
    """The passages of the set nearest in meaning to `text`, best first; `score` is the cosine. None without vectors."""

    search: Search
    text: str
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Outlines(Request[tuple[Outline, ...]]):
    """The best documents of the set for `text` by BM25 over their outlines (title weighs double), best first; ties by
    document id. Terms need not all match. What a document says beyond its outline does not count.
    """

    search: Search
    text: str
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Facet(Request[FacetAnswer]):
    """How a field splits the set. Values for category, list, text, flag (`true`, `false`); ranges for number and money;
    periods for dates, cut as `cells` says. Rows have no facet. Over several buckets the field must be of one type and
    `shared` in all of them (`InvalidCondition`).
    """

    search: Search
    field: FieldName
    limit: int = 1000  # values at most
    parts: int = 8  # ranges or periods at most


@dataclass(frozen=True, slots=True)
class Aggregate(Request[tuple[Aggregated, ...]]):
    """Numbers over the whole set, a line per group and unit, largest count first, then by group, then unit; None last.

    Without `field` it counts documents per group. Money is never added across currencies. The field is a number or
    money; the group anything but rows, and of a list each member is a group. An empty set has no line. Over several
    buckets a field must be of one type in all of them (`InvalidCondition`), here as in `Nearest` and `Records`.
    """

    search: Search
    field: FieldName | None = None
    group: Group | None = None
    median: bool = False  # of the field, which must be named


@dataclass(frozen=True, slots=True)
class Nearest(Request[Neighbours]):
    """The values of a number, money or date field in the set just below and above `value`, itself excluded."""

    search: Search
    field: FieldName
    value: float | str


@dataclass(frozen=True, slots=True)
class Spellings(Request[tuple[Spelling, ...]]):
    """Words of the visible documents of `buckets` within two edits of `word`, the nearest, then commonest, first; then
    by code point. `word` is one word by the analyser, else there is none; it is no suggestion for itself.
    """

    buckets: frozenset[BucketId]
    word: str
    limit: int = 5


@dataclass(frozen=True, slots=True)
class Records(Request[Page]):
    """A page of the set in order (`order`, else the natural order if the search has one bucket, else document id),
    then by document id by code point; documents without the value last, in both directions. Pages over a set that
    does not change give each document once. `fields` None: all values. Strings are in order of their fold, flags false
    first (also where absent); lists and rows have no order (`InvalidCondition`), and neither has a cursor that another
    order gave. `by_id`: without `order` by document id, also where the search has one bucket.
    """

    search: Search
    order: SchemaOrder | None = None
    after: str | None = None
    limit: int = 1000
    fields: frozenset[FieldName] | None = None
    by_id: bool = False


@dataclass(frozen=True, slots=True)
class Fetch(Request[tuple[Document, ...]]):
    """The visible ones of these documents, with text and passages, in the order asked for."""

    doc_ids: tuple[DocId, ...]


class Answers:
    """The answer to each request of one round trip, and the state of the index it was true at."""

    def __init__(self, generation: Generation, answers: Mapping[Request[object], object]) -> None:
        self.generation = generation
        self._answers = answers

    def __getitem__(self, request: Request[T]) -> T:
        """Raises `KeyError` for a request that was not asked."""
        return cast(T, self._answers[request])


class ScopedIndex(Protocol):
    """An index within a scope: sees only what the scope sees, in every answer of every kind.

    Raises `NotInScope` for a bucket outside the scope (whether or not it exists) and for one that does not exist (any
    more) whatever the scope, `UnknownField`, `InvalidCondition`, and `IndexUnavailable` rather than an answer from a
    part of the index. A search without clauses is the empty set.
    """

    @property
    def scope(self) -> Scope: ...

    async def ask(self, *requests: Request[object]) -> Answers:
        """All of them in one round trip. Each is answered from one state, and all from the same unless a
        write lands at that very moment: OpenSearch has no snapshot over several searches without another trip.
        """
        ...

    async def vocabulary(self, limit: int = 200_000) -> Vocabulary:
        """The dictionary of everything visible, at most `limit` values a field. Cheap while nothing changed."""
        ...

    async def schemas(self) -> Mapping[BucketId, Schema]:
        """Of the buckets that the scope holds and that exist."""
        ...

    def analyser(self, bucket: BucketId) -> Analyser:
        """The bucket's analyser. Raises `NotInScope`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """What became of the documents given to `put`, by id."""

    added: tuple[DocId, ...] = ()
    replaced: tuple[DocId, ...] = ()
    skipped: tuple[DocId, ...] = ()  # same digest as before
    taken: tuple[DocId, ...] = ()  # the id belongs to another bucket; the rest was put


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketState:
    """A bucket as the index has it."""

    schema: Schema
    documents: int
    passages: int
    generation: Generation
    fields: Mapping[FieldName, int] = field(default_factory=dict[FieldName, int])  # documents that have a value


class SearchIndex(Protocol):
    """The writing side of an index of one tenant. Safe to use from several tasks and several processes."""

    @property
    def tenant(self) -> TenantId:
        """Whose it is."""
        ...

    async def set_schema(self, schema: Schema) -> None:
        """Create the bucket, or change its schema and re-index what needs it. The same schema again does nothing.

        Values are kept as they were put: those that do not fit the new schema are as if absent (`still_fitting`), and
        are back when it fits again.
        """
        ...

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> Put:
        """Add or replace, each document in one step: a searcher sees the old or the new. Visible on return.

        Values must fit the schema (`fit.fitted`: `InvalidCondition`, and then none is put). Of one id given twice the
        last counts. Skipped is what has the same digest, not empty, as before. Raises `UnknownBucket`.
        """
        ...

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        """How many of them were there. Gone on return."""
        ...

    async def drop_bucket(self, bucket: BucketId) -> None:
        """With all its documents. Raises `UnknownBucket`."""
        ...

    async def buckets(self) -> Mapping[BucketId, BucketState]:
        """Every bucket, in order of name."""
        ...

    async def digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        """What a sync compares with. Raises `UnknownBucket`."""
        ...

    def within(self, scope: Scope) -> ScopedIndex:
        """The handle that can search. Raises `ValueError` for a scope of another tenant."""
        ...

    async def ping(self) -> None:
        """Raises `IndexUnavailable` when the index does not answer."""
        ...

    async def close(self) -> None: ...

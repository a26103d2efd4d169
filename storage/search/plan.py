"""The Search, which is the value of one set, and the Plan, which is what a question was turned into."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from storage.search.conditions import EVERYTHING, All, Condition, all_of, contains_text, mentions
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.schema import SchemaOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """The part of a Search that lies in one bucket. Order and repeats of `required` do not matter."""

    bucket: BucketId
    condition: Condition = EVERYTHING
    required: tuple[str, ...] = ()  # words or phrases that it must mention (`mentions`), as the person wrote them

    def __post_init__(self) -> None:
        object.__setattr__(self, "required", tuple(sorted(set(self.required))))

    @property
    def everything(self) -> Condition:
        """Condition and required terms as one condition, as people are told of it."""
        return all_of(self.condition, *map(contains_text, self.required))

    @property
    def held(self) -> Condition:
        """What a document is held against: a required term may be its id as well."""
        return all_of(self.condition, *map(mentions, self.required))


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One set of documents: the union of its clauses. `ranking` orders passages and never defines the set.

    Clauses are kept in the order of their buckets; one clause a bucket.
    """

    clauses: tuple[Clause, ...]
    ranking: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "clauses", tuple(sorted(self.clauses, key=lambda clause: clause.bucket)))
        if len({clause.bucket for clause in self.clauses}) != len(self.clauses):
            raise ValueError("a search has one clause a bucket")

    @property
    def buckets(self) -> tuple[BucketId, ...]:
        return tuple(clause.bucket for clause in self.clauses)

    def clause(self, bucket: BucketId) -> Clause | None:
        return next((clause for clause in self.clauses if clause.bucket == bucket), None)

    def narrowed(self, condition: Condition, bucket: BucketId | None = None) -> "Search":
        """With `condition` added in `bucket`, or in every clause."""
        return self.with_clauses(
            *(
                Clause(bucket=c.bucket, condition=all_of(c.condition, condition), required=c.required)
                if bucket is None or c.bucket == bucket
                else c
                for c in self.clauses
            )
        )

    def with_clauses(self, *clauses: Clause) -> "Search":
        return Search(clauses=clauses, ranking=self.ranking)


class Period(StrEnum):
    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    DAY = "day"


class Function(StrEnum):
    SUM = "sum"
    COUNT = "count"
    AVERAGE = "average"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    MEDIAN = "median"
    DISTINCT = "distinct"  # how many values of the field occur
    SHARE = "share"  # of `whole` that the set is, in percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """By the values of a field; a date field by its periods."""

    field: FieldName
    period: Period | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindPassages:
    """Answer from text: the passages that say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFields:
    """Answer from the values of one document (or of few): which fields, by bucket."""

    fields: tuple[tuple[BucketId, FieldName], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDocuments:
    """All documents of the set, in the order asked for (None: the schema's), at most `limit` of them if it asks so.

    `skip` documents go before them, which were shown already.
    """

    order: SchemaOrder | None = None
    limit: int | None = None
    skip: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute:
    """Numbers over the whole set: functions of a field (a count needs none), by group, the first `limit` groups.

    Values that are counted apart (`DISTINCT`) are of any field but rows. `whole`: the set that a share is of.
    """

    functions: tuple[Function, ...]
    field: FieldName | None = None
    group: Group | None = None
    limit: int | None = None
    descending: bool = True
    whole: Search | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarise:
    """What the documents of the set say."""


Wanted: TypeAlias = FindPassages | ReadFields | ListDocuments | Compute | Summarise


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One Search, the question it answers in the person's words, its ranked probes, and what is wanted of it."""

    id: LegId
    question: str
    search: Search
    wanted: Wanted
    probes: tuple[str, ...] = ()  # ranking texts besides `search.ranking`, from *find* sub-queries


class Combine(StrEnum):
    ONE = "one"
    SIDE_BY_SIDE = "side_by_side"  # independent answers, one after the other
    COMPARE = "compare"  # one table over all legs
    SEQUENCE = "sequence"  # a leg needs the one before it


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a question was turned into, once. At least one leg; leg ids are unique."""

    question: str
    legs: tuple[Leg, ...]
    combine: Combine = Combine.ONE
    assumptions: tuple[str, ...] = field(default=())  # said in the reply: what was ignored or taken for granted

    def leg(self, leg_id: LegId) -> Leg:
        """Raises `KeyError` for an id the plan does not have."""
        for leg in self.legs:
            if leg.id == leg_id:
                return leg
        raise KeyError(leg_id)

    def with_search(self, leg_id: LegId, search: Search) -> "Plan":
        """The plan with another Search in one leg."""
        legs = tuple(
            Leg(id=leg.id, question=leg.question, search=search, wanted=leg.wanted, probes=leg.probes)
            if leg.id == leg_id
            else leg
            for leg in self.legs
        )
        return Plan(question=self.question, legs=legs, combine=self.combine, assumptions=self.assumptions)


def everything_in(*buckets: BucketId) -> Search:
    """All documents of the buckets."""
    return Search(clauses=tuple(Clause(bucket=bucket, condition=All()) for bucket in buckets))

"""The Search, which describes a set of documents, and the Plan, which is the parsed question."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

from storage.search.conditions import (
    MATCH_ALL,
    AndCondition,
    Condition,
    buckets_of_inner_sets,
    conjunction_of,
    mention_condition_for,
    text_condition_for,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.schema import SchemaOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """The part of a Search in one bucket. Order and repeats of `required_terms` do not matter."""

    bucket: BucketId
    condition: Condition = MATCH_ALL
    required_terms: tuple[str, ...] = ()  # words or phrases a document must mention, as the user wrote them

    def __post_init__(self) -> None:
        if self.required_terms:
            object.__setattr__(self, "required_terms", tuple(sorted(set(self.required_terms))))

    @property
    def display_condition(self) -> Condition:
        """Condition and required terms as one condition, for display."""
        return conjunction_of(self.condition, *map(text_condition_for, self.required_terms))

    @property
    def match_condition(self) -> Condition:
        """The condition a document must match. A required term may also be the document's id."""
        return conjunction_of(self.condition, *map(mention_condition_for, self.required_terms))

    @property
    def read_buckets(self) -> frozenset[BucketId]:
        """The bucket, and those of the inner sets of its condition."""
        return buckets_of_inner_sets(self.condition) | {self.bucket}


class _WithRememberedHash:
    """Keeps a hash beside the fields: requests are looked up by their search many times a question."""

    __slots__ = ("_hash",)

    def _remember_hash(self, *fields: object) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash: int
            object.__setattr__(self, "_hash", hash(fields))
            return self._hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(_WithRememberedHash):
    """One set of documents: the union of its clauses. `ranking_text` orders passages and never defines the set.

    Clauses are sorted by bucket, with one clause per bucket.
    """

    clauses: tuple[Clause, ...]
    ranking_text: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "clauses", tuple(sorted(self.clauses, key=lambda clause: clause.bucket)))
        if len({clause.bucket for clause in self.clauses}) != len(self.clauses):
            raise ValueError("a search has one clause a bucket")

    def __hash__(self) -> int:
        return self._remember_hash(self.clauses, self.ranking_text)

    @property
    def buckets(self) -> tuple[BucketId, ...]:
        return tuple(clause.bucket for clause in self.clauses)

    @property
    def read_buckets(self) -> frozenset[BucketId]:
        """The buckets, and those of the inner sets of the conditions."""
        return frozenset[BucketId]().union(*(clause.read_buckets for clause in self.clauses))

    def clause_for(self, bucket: BucketId) -> Clause | None:
        return next((clause for clause in self.clauses if clause.bucket == bucket), None)

    def with_condition(self, condition: Condition, bucket: BucketId | None = None) -> "Search":
        """The Search with `condition` added in `bucket`, or in every clause."""
        return self.with_clauses(
            *(
                replace(clause, condition=conjunction_of(clause.condition, condition))
                if bucket is None or clause.bucket == bucket
                else clause
                for clause in self.clauses
            )
        )

    def with_clauses(self, *clauses: Clause) -> "Search":
        return replace(self, clauses=clauses)


class CalendarPeriod(StrEnum):
    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    DAY = "day"


class AggregateFunction(StrEnum):
    SUM = "sum"
    COUNT = "count"
    AVERAGE = "average"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    MEDIAN = "median"
    DISTINCT = "distinct"  # number of different values of the field
    SHARE = "share"  # the set as a percentage of `share_base`


class ClaimQuantifier(StrEnum):
    """Of how many documents a claim must be true."""

    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBy:
    """Groups by the values of a field, or by the periods of a date field."""

    field: FieldName
    period: CalendarPeriod | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerForm:
    """The kind of answer a leg asks for. Other rooms read these properties instead of testing for the class.

    `tag` identifies the form in stored plans and never changes; `codec` defines how its fields are stored.
    """

    tag: ClassVar[str] = ""
    reads_text: ClassVar[bool] = False  # the answer is in the text of documents; the set only narrows the search
    reads_values: ClassVar[bool] = False  # the answer is the field values of one document
    lists_documents: ClassVar[bool] = False
    shows_documents: ClassVar[bool] = False  # shows single documents, which a follow-up can refer to
    computes: ClassVar[bool] = False  # numbers over the whole set
    is_of_whole_bucket: ClassVar[bool] = False  # covers the whole bucket if the question has no condition

    @property
    def names_a_set(self) -> bool:
        """Whether the answer depends on the whole set."""
        return self.shows_documents or self.computes

    @property
    def list_order(self) -> SchemaOrder | None:
        """The order of the list."""
        return None

    @property
    def list_limit(self) -> int | None:
        """The maximum number of documents in the list."""
        return None

    @property
    def list_skip(self) -> int:
        """Number of documents of the list that were shown before."""
        return 0

    @property
    def shown_documents(self) -> "ShownDocuments | None":
        """What the person has seen of the list; None if that is not known."""
        return None

    @property
    def fields_beside(self) -> tuple[FieldName, ...]:
        """Fields whose values are asked for with the listed documents."""
        return ()

    @property
    def requested_fields(self) -> tuple[tuple[BucketId, FieldName], ...]:
        """The fields whose values the question asks for, by bucket."""
        return ()

    @property
    def computed_functions(self) -> tuple[AggregateFunction, ...]:
        return ()

    @property
    def computed_field(self) -> FieldName | None:
        return None

    @property
    def computed_factor(self) -> FieldName | None:
        """The field by whose value that of the computed field is multiplied, document by document."""
        return None

    @property
    def grouping(self) -> GroupBy | None:
        """How the numbers are grouped."""
        return None

    @property
    def second_grouping(self) -> GroupBy | None:
        """How each group is divided once more."""
        return None

    @property
    def is_document_count(self) -> bool:
        """Whether the answer is only the number of documents."""
        return self.computed_functions == (AggregateFunction.COUNT,) and self.grouping is None

    @property
    def depends_on_field(self) -> bool:
        """Whether only a bucket with a certain field can answer."""
        return self.list_order is not None or self.computed_field is not None or self.grouping is not None

    def grouped_by(self, group: GroupBy) -> "AnswerForm | None":
        """The same numbers by group; None if the form cannot be grouped."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindPassages(AnswerForm):
    """Answers from text, with the passages that contain the answer."""

    tag: ClassVar[str] = "find_passages"
    reads_text: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckClaims(AnswerForm):
    """Answers yes or no: whether what the question claims about its document is true, else from text.

    The claims are conditions of the search. They are not stored a second time, so they cannot differ from a search
    that a click or a follow-up has changed. With a `quantifier` the answer is a count: whether any document is in the
    search, or how many of those in `scope`.
    """

    tag: ClassVar[str] = "check_claims"
    reads_text: ClassVar[bool] = True
    quantifier: ClaimQuantifier | None = None
    scope: Search | None = None  # the documents that the claims are about; None: all of the bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFields(AnswerForm):
    """Answers from the field values of one document or a few. `fields` lists them by bucket.

    `of_each`: the values of all documents are asked for, "the phone numbers of the offices"; otherwise only one
    document is meant.
    """

    tag: ClassVar[str] = "read_fields"
    reads_values: ClassVar[bool] = True
    fields: tuple[tuple[BucketId, FieldName], ...]
    of_each: bool = False

    @property
    def requested_fields(self) -> tuple[tuple[BucketId, FieldName], ...]:
        return self.fields


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDocuments:
    """The first documents of a list, as a person has seen them. The digests are of the list's search and order, and of
    the ids of the documents in their order.
    """

    list_digest: str
    documents_digest: str
    count: int
    total: int  # documents of the set at that time


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDocuments(AnswerForm):
    """All documents of the set in `order` (None: the schema's order), at most `limit` of them if it is given.

    The first `skip` documents are left out, because they were shown before. `shown`: what the person has seen of the
    list by now; it says nothing about what is asked for.
    """

    tag: ClassVar[str] = "list_documents"
    lists_documents: ClassVar[bool] = True
    shows_documents: ClassVar[bool] = True
    order: SchemaOrder | None = None
    limit: int | None = None
    skip: int = 0
    shown: ShownDocuments | None = field(default=None, compare=False)
    beside: tuple[FieldName, ...] = ()

    @property
    def list_order(self) -> SchemaOrder | None:
        return self.order

    @property
    def list_limit(self) -> int | None:
        return self.limit

    @property
    def list_skip(self) -> int:
        return self.skip

    @property
    def shown_documents(self) -> ShownDocuments | None:
        return self.shown

    @property
    def fields_beside(self) -> tuple[FieldName, ...]:
        return self.beside


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeNumbers(AnswerForm):
    """Numbers over the whole set: functions of a field (a count needs none), by group, the first `limit` groups.

    With `second_group` they are a table: a row for each group, a column for each second group.

    `DISTINCT` works on any field except rows. `share_base` is the set that a share is a percentage of. With a `factor`
    the numbers are of the product of both fields of each document: prices of a unit times quantities in stock.
    """

    tag: ClassVar[str] = "compute"
    computes: ClassVar[bool] = True
    functions: tuple[AggregateFunction, ...]
    field: FieldName | None = None
    group: GroupBy | None = None
    limit: int | None = None
    descending: bool = True
    share_base: Search | None = None
    second_group: GroupBy | None = None  # groups within each group: a table of two dimensions
    factor: FieldName | None = None  # a number that multiplies `field`; only sums, averages and extremes have one

    @property
    def computed_functions(self) -> tuple[AggregateFunction, ...]:
        return self.functions

    @property
    def computed_field(self) -> FieldName | None:
        return self.field

    @property
    def grouping(self) -> GroupBy | None:
        return self.group

    @property
    def computed_factor(self) -> FieldName | None:
        return self.factor

    @property
    def second_grouping(self) -> GroupBy | None:
        return self.second_group

    def grouped_by(self, group: GroupBy) -> "ComputeNumbers | None":
        if {AggregateFunction.DISTINCT, AggregateFunction.SHARE} & set(self.functions):
            return None
        return replace(self, group=group, second_group=None, limit=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseDocuments(AnswerForm):
    """Summarises the documents of the set.

    With `is_for_question`, of a single document it shows the sentences that come closest to the question of the leg.
    """

    tag: ClassVar[str] = "summarise"
    shows_documents: ClassVar[bool] = True
    is_for_question: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FindSteps(AnswerForm):
    """All steps of a procedure. `action` is the word for what to do; empty if the question names none.

    With `allows_prose`, a section without a list is accepted too.
    """

    tag: ClassVar[str] = "find_steps"
    reads_text: ClassVar[bool] = True
    action: str = ""
    allows_prose: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOverTime(AnswerForm):
    """A number by period (None: a period that suits the span), each compared with the previous period."""

    tag: ClassVar[str] = "change_over_time"
    computes: ClassVar[bool] = True
    is_of_whole_bucket: ClassVar[bool] = True
    functions: tuple[AggregateFunction, ...]
    field: FieldName | None
    group: GroupBy

    @property
    def computed_functions(self) -> tuple[AggregateFunction, ...]:
        return self.functions

    @property
    def computed_field(self) -> FieldName | None:
        return self.field

    @property
    def grouping(self) -> GroupBy | None:
        return self.group

    def grouped_by(self, group: GroupBy) -> "AnswerForm | None":
        if group.period is not None:
            return replace(self, group=group)
        return ComputeNumbers(functions=self.functions, field=self.field, group=group)


ANSWER_FORMS: tuple[type[AnswerForm], ...] = (
    FindPassages,
    CheckClaims,
    ReadFields,
    ListDocuments,
    ComputeNumbers,
    SummariseDocuments,
    FindSteps,
    ChangeOverTime,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One Search, the question it answers in the user's words, its ranked probes, and its form of answer."""

    id: LegId
    question: str
    search: Search
    answer_form: AnswerForm
    probes: tuple[str, ...] = ()  # ranking texts besides `search.ranking_text`, from *find* sub-queries


class LegCombination(StrEnum):
    ONE = "one"
    SIDE_BY_SIDE = "side_by_side"  # independent answers, one after the other
    COMPARE = "compare"  # one table over all legs
    SEQUENCE = "sequence"  # each leg needs the leg before it


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The parsed question. It has at least one leg; leg ids are unique."""

    question: str
    legs: tuple[Leg, ...]
    combination: LegCombination = LegCombination.ONE
    assumptions: tuple[str, ...] = field(default=())  # shown in the reply: ignored words and assumptions
    language: str = "en"  # ISO 639-1, of the question; the reply is in it where it has templates

    @property
    def read_buckets(self) -> frozenset[BucketId]:
        """The buckets of all legs, and those of the inner sets of their conditions."""
        return frozenset[BucketId]().union(*(leg.search.read_buckets for leg in self.legs))

    def leg_by_id(self, leg_id: LegId) -> Leg:
        """Raises `KeyError` for an id the plan does not have."""
        for leg in self.legs:
            if leg.id == leg_id:
                return leg
        raise KeyError(leg_id)

    def with_search(self, leg_id: LegId, search: Search) -> "Plan":
        """The plan with the Search of one leg replaced."""
        return replace(self, legs=tuple(replace(leg, search=search) if leg.id == leg_id else leg for leg in self.legs))

    def with_answer_form(self, leg_id: LegId, answer_form: AnswerForm) -> "Plan":
        """The plan with the form of one leg replaced."""
        legs = (replace(leg, answer_form=answer_form) if leg.id == leg_id else leg for leg in self.legs)
        return replace(self, legs=tuple(legs))


def unfiltered_search_of(*buckets: BucketId) -> Search:
    """All documents of the buckets."""
    return Search(clauses=tuple(Clause(bucket=bucket, condition=AndCondition()) for bucket in buckets))

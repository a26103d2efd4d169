"""Refinements and actions: what a button under an answer does.

A refinement maps one Search to another; its documents are counted before it is offered. To apply a refinement twice has
the same effect as to apply it once. An action does something else.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from storage.search.conditions import Condition, MissingCondition, OrCondition, conjunction_of, conjuncts_of
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import AnswerForm, Clause, Plan, Search


@dataclass(frozen=True, slots=True, kw_only=True)
class AddFilter:
    """Keeps only documents that also match `condition`, in the clauses of `bucket`; None: in every clause."""

    condition: Condition
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTail:
    """Keeps the rest of a facet: the documents of no button that is shown. `condition` excludes those buttons."""

    condition: Condition
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyMissing:
    """Keeps only documents without a value for the field."""

    field: FieldName
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncludeMissing:
    """Adds the documents without a value for `field`, which may or may not meet `condition`."""

    condition: Condition
    field: FieldName
    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class DropFilter:
    """Removes one of the conditions."""

    condition: Condition
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DropWord:
    """Removes one of the required terms."""

    word: str
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UseNearest:
    """Replaces a value that matches no document by the nearest value that exists."""

    old: Condition
    new: Condition
    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectWord:
    """Replaces a required term by its spelling in the index."""

    old: str
    new: str
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddBucket:
    """Adds a bucket, or replaces the clause of a bucket."""

    clause: Clause


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyBucket:
    """Keeps only the documents of one bucket."""

    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseDocument:
    """Keeps a single document, for a question about one document. `condition` compares its id."""

    condition: Condition
    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class UseReading:
    """Replaces the Search by that of another reading of the question."""

    search: Search


@dataclass(frozen=True, slots=True, kw_only=True)
class UseForm:
    """Replaces the form of the answer, such as the field that a superlative orders, and the Search to match."""

    answer_form: AnswerForm
    search: Search


Refinement: TypeAlias = (
    AddFilter
    | OpenTail
    | OnlyMissing
    | IncludeMissing
    | DropFilter
    | DropWord
    | UseNearest
    | CorrectWord
    | AddBucket
    | OnlyBucket
    | ChooseDocument
    | UseReading
    | UseForm
)


@dataclass(frozen=True, slots=True)
class ExportAll:
    """Exports the whole set as CSV. The only action with a count: the number of rows."""


@dataclass(frozen=True, slots=True)
class SearchWeb:
    """Searches the web, where that is allowed."""


@dataclass(frozen=True, slots=True)
class JustAnswer:
    """Answers as well as possible without another clarification."""


@dataclass(frozen=True, slots=True)
class ContinuePrivately:
    """Continues the conversation where only the asker can read it."""


@dataclass(frozen=True, slots=True)
class SearchByMeaning:
    """Ranks by meaning instead of requiring the words."""


@dataclass(frozen=True, slots=True)
class StartOver:
    """Forgets the last plan."""


@dataclass(frozen=True, slots=True)
class SaveSearch:
    """Saves the search, to be asked again by itself. `schedule`: when, in the words that name a schedule."""

    schedule: str


Action: TypeAlias = ExportAll | SearchWeb | JustAnswer | ContinuePrivately | SearchByMeaning | StartOver | SaveSearch


def apply_refinement(refinement: Refinement, search: Search) -> Search:
    """Returns the refined Search; if the refinement has nothing to change, the search as it is."""
    match refinement:
        case (
            AddFilter(condition=condition, bucket=bucket)
            | OpenTail(condition=condition, bucket=bucket)
            | ChooseDocument(condition=condition, bucket=bucket)
        ):
            return search.with_condition(condition, bucket)
        case OnlyMissing(field=name, bucket=bucket):
            return search.with_condition(MissingCondition(field=name), bucket)
        case IncludeMissing(condition=condition, field=name, bucket=bucket):
            return _replace_condition(search, condition, OrCondition((condition, MissingCondition(field=name))), bucket)
        case DropFilter(condition=condition, bucket=bucket):
            return _replace_condition(search, condition, None, bucket)
        case UseNearest(old=old, new=new, bucket=bucket):
            return _replace_condition(search, old, new, bucket)
        case DropWord(word=word, bucket=bucket):
            return _replace_required_term(search, word, None, bucket)
        case CorrectWord(old=old, new=new, bucket=bucket):
            return _replace_required_term(search, old, new, bucket)
        case AddBucket(clause=clause):
            return search.with_clauses(*(other for other in search.clauses if other.bucket != clause.bucket), clause)
        case OnlyBucket(bucket=bucket):
            return search.with_clauses(*(clause for clause in search.clauses if clause.bucket == bucket))
        case UseReading(search=reading) | UseForm(search=reading):
            return reading
        case _:
            assert_never(refinement)


def apply_to_plan(refinement: Refinement, plan: Plan, leg_id: LegId) -> Plan:
    """Returns the plan with one leg refined. Raises `KeyError` for an id that the plan does not have."""
    refined = plan.with_search(leg_id, apply_refinement(refinement, plan.leg_by_id(leg_id).search))
    return refined.with_answer_form(leg_id, refinement.answer_form) if isinstance(refinement, UseForm) else refined


def _replace_condition(search: Search, old: Condition, new: Condition | None, bucket: BucketId | None) -> Search:
    def condition_of(clause: Clause) -> Condition:
        members = [new if member == old else member for member in conjuncts_of(clause.condition)]
        return conjunction_of(*(member for member in members if member is not None))

    return search.with_clauses(
        *(
            replace(clause, condition=condition_of(clause)) if bucket in (None, clause.bucket) else clause
            for clause in search.clauses
        )
    )


def _replace_required_term(search: Search, old: str, new: str | None, bucket: BucketId | None) -> Search:
    def required_terms_of(clause: Clause) -> tuple[str, ...]:
        return tuple(
            term
            for required_term in clause.required_terms
            if (term := new if required_term == old else required_term) is not None
        )

    return search.with_clauses(
        *(
            replace(clause, required_terms=required_terms_of(clause)) if bucket in (None, clause.bucket) else clause
            for clause in search.clauses
        )
    )

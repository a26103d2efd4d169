"""Refinements map one Search to another and are counted before they are offered; actions do something else.

Applying a refinement twice is applying it once.
"""

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from storage.search.conditions import Any, Condition, Missing, all_of, conjuncts
from storage.search.ids import BucketId, FieldName
from storage.search.plan import Clause, Search


@dataclass(frozen=True, slots=True, kw_only=True)
class AddFilter:
    """Only documents that also meet `condition`; in every clause when `bucket` is None."""

    condition: Condition
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTail:
    """The rest of a facet: what lies under none of the buttons shown. `condition` excludes those."""

    condition: Condition
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyMissing:
    """Only documents that lack the field."""

    field: FieldName
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeInMissing:
    """`condition` or no value for `field`: documents that may meet the condition but do not say."""

    condition: Condition
    field: FieldName
    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class DropFilter:
    """Without one of the conditions."""

    condition: Condition
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DropWord:
    """Without one of the required terms."""

    word: str
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UseNearest:
    """The nearest value that exists in place of one that leads to nothing."""

    old: Condition
    new: Condition
    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectWord:
    """A required term as the index spells it."""

    old: str
    new: str
    bucket: BucketId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddBucket:
    """One more bucket, or another clause for one: wider."""

    clause: Clause


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyBucket:
    """Only what lies in one bucket."""

    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseDocument:
    """Only one named document (its id, as a condition), for a question about one."""

    condition: Condition
    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeReading:
    """Another reading of the question: the Search that it gives."""

    search: Search


Refinement: TypeAlias = (
    AddFilter
    | OpenTail
    | OnlyMissing
    | TakeInMissing
    | DropFilter
    | DropWord
    | UseNearest
    | CorrectWord
    | AddBucket
    | OnlyBucket
    | ChooseDocument
    | TakeReading
)


@dataclass(frozen=True, slots=True)
class ExportAll:
    """The whole set as CSV. The one action with a number: the rows."""


@dataclass(frozen=True, slots=True)
class SearchWeb:
    """Look on the web, where that is allowed."""


@dataclass(frozen=True, slots=True)
class JustAnswer:
    """Answer as well as may be without another question back."""


@dataclass(frozen=True, slots=True)
class ContinuePrivately:
    """Go on where only the asker reads."""


@dataclass(frozen=True, slots=True)
class SearchByMeaning:
    """Rank by meaning instead of demanding the words."""


@dataclass(frozen=True, slots=True)
class StartOver:
    """Forget the last plan."""


Action: TypeAlias = ExportAll | SearchWeb | JustAnswer | ContinuePrivately | SearchByMeaning | StartOver


def apply(refinement: Refinement, search: Search) -> Search:
    """The refined Search. A refinement that finds nothing to change leaves the search as it is."""
    match refinement:
        case (
            AddFilter(condition=condition, bucket=bucket)
            | OpenTail(condition=condition, bucket=bucket)
            | ChooseDocument(condition=condition, bucket=bucket)
        ):
            return search.narrowed(condition, bucket)
        case OnlyMissing(field=name, bucket=bucket):
            return search.narrowed(Missing(field=name), bucket)
        case TakeInMissing(condition=condition, field=name, bucket=bucket):
            return _replaced(search, condition, Any((condition, Missing(field=name))), bucket)
        case DropFilter(condition=condition, bucket=bucket):
            return _replaced(search, condition, None, bucket)
        case UseNearest(old=old, new=new, bucket=bucket):
            return _replaced(search, old, new, bucket)
        case DropWord(word=word, bucket=bucket):
            return _reworded(search, word, None, bucket)
        case CorrectWord(old=old, new=new, bucket=bucket):
            return _reworded(search, old, new, bucket)
        case AddBucket(clause=clause):
            return search.with_clauses(*(c for c in search.clauses if c.bucket != clause.bucket), clause)
        case OnlyBucket(bucket=bucket):
            return search.with_clauses(*(c for c in search.clauses if c.bucket == bucket))
        case TakeReading(search=reading):
            return reading
        case _:
            assert_never(refinement)


def _replaced(search: Search, old: Condition, new: Condition | None, bucket: BucketId | None) -> Search:
    def condition_of(clause: Clause) -> Condition:
        kept = [new if member == old else member for member in conjuncts(clause.condition)]
        return all_of(*(member for member in kept if member is not None))

    return search.with_clauses(
        *(
            Clause(bucket=c.bucket, condition=condition_of(c), required=c.required) if bucket in (None, c.bucket) else c
            for c in search.clauses
        )
    )


def _reworded(search: Search, old: str, new: str | None, bucket: BucketId | None) -> Search:
    def required_of(clause: Clause) -> tuple[str, ...]:
        return tuple(word for one in clause.required if (word := new if one == old else one) is not None)

    return search.with_clauses(
        *(
            Clause(bucket=c.bucket, condition=c.condition, required=required_of(c)) if bucket in (None, c.bucket) else c
            for c in search.clauses
        )
    )

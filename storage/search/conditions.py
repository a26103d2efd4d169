"""Conditions: the typed tree that defines a set of documents, and its meaning.

A comparison is *unknown* for a document that lacks the field. `NotCondition`, `AndCondition` and `OrCondition` follow
SQL's three-valued logic; the set contains the documents for which the condition is *true*. Lists, rows and flags are
never unknown: absent means an empty list, no rows, false. `MissingCondition` and `RowCondition` are always true or
false.

Dates are ISO days (`2031-05-09`), which compare as strings; numbers and money amounts are doubles.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from enum import StrEnum
from typing import TypeAlias, assert_never

from storage.search.ids import BucketId, FieldName

Scalar: TypeAlias = str | float | bool

TEXT_FIELD = FieldName("text")  # reserved: title and text of the document, compared by the analyser's terms
TITLE_FIELD = FieldName("title")  # reserved: the title alone, compared by the analyser's terms
DOC_ID_FIELD = FieldName("doc_id")  # reserved: the document's id, compared exactly
RESERVED_FIELDS = frozenset({TEXT_FIELD, TITLE_FIELD, DOC_ID_FIELD})


class ComparisonOperator(StrEnum):
    EQ = "eq"
    IN = "in"
    HAS = "has"
    CONTAINS = "contains"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    BETWEEN = "between"  # both ends included


ORDER_OPERATORS = frozenset(
    {ComparisonOperator.GT, ComparisonOperator.GTE, ComparisonOperator.LT, ComparisonOperator.LTE}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonCondition:
    """`field op value`. `value` is a tuple for `in` (one or more values) and `between` (low, high), else a scalar."""

    field: FieldName
    op: ComparisonOperator
    value: Scalar | tuple[Scalar, ...]
    words: str = attribute(default="", compare=False)  # of the question that it was read from; not part of its meaning

    def __post_init__(self) -> None:
        if isinstance(self.value, tuple):
            if 0.0 in self.value:
                object.__setattr__(self, "value", tuple(map(_drop_zero_sign, self.value)))
        elif self.value == 0.0:
            object.__setattr__(self, "value", _drop_zero_sign(self.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldComparisonCondition:
    """`field op other_field + offset`, two fields of one document (or of one row); unknown if either is absent.

    Both are numbers in the same unit, or amounts, or days. `op` is `eq` or an order; `offset` is in days for days.
    Amounts are compared as numbers: a condition on the currencies must ensure that they are in one.
    """

    field: FieldName
    op: ComparisonOperator
    other_field: FieldName
    offset: float = 0.0
    words: str = attribute(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", float(self.offset) + 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCondition:
    """True if the document has no value for the field, else false. Empty lists and rows are missing, flags never."""

    field: FieldName
    words: str = attribute(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCondition:
    """True if a single row of the rows field meets all of `condition`, whose fields are the rows' columns.

    Never unknown.
    """

    rows_field: FieldName
    condition: "Condition"
    words: str = attribute(default="", compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.condition, AndCondition) and len(self.condition.members) == 1:
            # The two mean the same and must be equal, also as JSON.
            object.__setattr__(self, "condition", self.condition.members[0])


@dataclass(frozen=True, slots=True, eq=False)
class _CompoundCondition:
    members: tuple["Condition", ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(dict.fromkeys(_flatten_members(self.members, type(self)))))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, type(self)) or len(self.members) != len(other.members):  # they do not repeat
            return False
        return self.members == other.members or set(self.members) == set(other.members)

    def __hash__(self) -> int:
        return hash((type(self).__name__, frozenset(self.members)))


@dataclass(frozen=True, slots=True, eq=False)
class AndCondition(_CompoundCondition):
    """True if every member is true; without members, for every document.

    Nested conjunctions are flattened; the order of members and repeated members do not matter to equality.
    """


@dataclass(frozen=True, slots=True, eq=False)
class OrCondition(_CompoundCondition):
    """True if at least one member is true; without members, for no document.

    Nested disjunctions are flattened; the order of members and repeated members do not matter to equality.
    """


@dataclass(frozen=True, slots=True)
class NotCondition:
    """True if `condition` is false; unknown if `condition` is unknown."""

    condition: "Condition"


@dataclass(frozen=True, slots=True, kw_only=True)
class SemiJoinCondition:
    """True if the value of `field` is a value of `key` of some document in a set of `bucket`, the inner set.

    A semi-join of relational algebra, in SQL `field IN (SELECT key FROM bucket WHERE condition)`.

    - `field` is `title`, `doc_id`, or a field with one or several values that is neither a flag nor rows. Within a
      `RowCondition` it is a column other than a flag, in the same row that meets the other conditions. `key` is such a
      field of the inner documents.
    - Text compares by its fold, all else exactly, and so does an outer `doc_id`. A document without the field is
      unknown, as in any comparison.
    - `order_by`: the inner set has only its first `limit` documents with that value (largest first if
      `is_descending`), and all that tie with the last of them. It is a field of the documents, not a column.
    - `min_count` above 1: only the values of `key` count that so many documents of the inner set have, compared as
      above.
    - `key_rows`: `key` is a column, other than a flag, of that rows field, and the values are those of all rows. If a
      `RowCondition` on these rows restricts the inner set, only the rows that meet it count ("the beers of order lines
      of more than 10 crates"); with several alternatives, those that meet one of them. A negated one restricts the
      documents only. Several at once, or one as an alternative to another condition, do not say which rows count:
      reading the set raises `InvalidCondition`. `min_count` counts documents, not rows.
    - `op` other than equality: both sides are numbers, amounts or days. The value is compared with all values of the
      key: `gt` is more than the largest of them. Without any value, no document meets it.

    The inner condition may contain further semi-joins, at most `MAX_SEMI_JOIN_DEPTH` in all. Within a scope that does
    not contain `bucket` the inner set is empty. Raises `ValueError`.
    """

    field: FieldName
    bucket: BucketId
    key: FieldName
    condition: "Condition"
    key_rows: FieldName | None = None
    order_by: FieldName | None = None
    is_descending: bool = True
    limit: int = 1  # without `order_by`, of no meaning and 1
    min_count: int = 1
    op: ComparisonOperator = ComparisonOperator.EQ
    words: str = attribute(default="", compare=False)

    def __post_init__(self) -> None:
        if self.op is not ComparisonOperator.EQ and (self.op not in ORDER_OPERATORS or self.min_count > 1):
            raise ValueError("a semi-join compares with the extreme of the values, whose number does not matter")
        if self.limit < 1 or (self.order_by is None and (self.limit, self.is_descending) != (1, True)):
            raise ValueError("a semi-join takes the first of an ordered set, at least one document")
        if self.min_count < 1:
            raise ValueError("a semi-join asks for at least one document")
        if semi_join_depth(self) > MAX_SEMI_JOIN_DEPTH:
            raise ValueError(f"semi-joins nest at most {MAX_SEMI_JOIN_DEPTH} deep")


MAX_SEMI_JOIN_DEPTH = 3
Condition: TypeAlias = (
    ComparisonCondition
    | FieldComparisonCondition
    | MissingCondition
    | RowCondition
    | SemiJoinCondition
    | AndCondition
    | OrCondition
    | NotCondition
)


def _flatten_members(members: Sequence["Condition"], compound_type: type[_CompoundCondition]) -> Iterator["Condition"]:
    for member in members:
        if isinstance(member, _CompoundCondition) and type(member) is compound_type:
            yield from member.members
        else:
            yield member


MATCH_ALL = AndCondition()


def _drop_zero_sign(value: Scalar) -> Scalar:
    """Returns 0.0 for -0.0: the two are one value."""
    return 0.0 if isinstance(value, float) and value == 0.0 else value


def conjunction_of(*conditions: Condition) -> Condition:
    """Returns the conjunction of the conditions; a single condition is returned as it is."""
    if not conditions:
        return MATCH_ALL
    conjunction = AndCondition(conditions)
    return conjunction.members[0] if len(conjunction.members) == 1 else conjunction


def conjuncts_of(condition: Condition) -> tuple[Condition, ...]:
    """Returns the members of a conjunction; of any other condition, the condition alone."""
    return condition.members if isinstance(condition, AndCondition) else (condition,)


def text_condition_for(words: str) -> ComparisonCondition:
    """Returns the condition for a required term: a word, or a phrase of the analyser's terms, in title or text."""
    return ComparisonCondition(field=TEXT_FIELD, op=ComparisonOperator.CONTAINS, value=words, words=words)


def mention_condition_for(words: str) -> Condition:
    """Returns the condition that title or text contains the words.

    Words with a digit also match the document's id, in the given case, upper case or lower case.
    """
    return _with_doc_id_alternative(text_condition_for(words), words)


def title_condition_for(words: str) -> Condition:
    """Returns the condition that the title contains the words, or the id is the words as in `mention_condition_for`."""
    return _with_doc_id_alternative(
        ComparisonCondition(field=TITLE_FIELD, op=ComparisonOperator.CONTAINS, value=words, words=words), words
    )


def _with_doc_id_alternative(condition: ComparisonCondition, words: str) -> Condition:
    if not any(character.isdigit() for character in words):
        return condition
    spellings = tuple(dict.fromkeys((words, words.upper(), words.lower())))
    return OrCondition(
        (condition, ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=spellings, words=words))
    )


def fields_of(condition: Condition) -> frozenset[FieldName]:
    """Returns the document fields that the condition names, without columns of rows and fields of inner sets."""
    match condition:
        case (
            ComparisonCondition(field=name)
            | MissingCondition(field=name)
            | RowCondition(rows_field=name)
            | SemiJoinCondition(field=name)
        ):
            return frozenset({name})
        case FieldComparisonCondition(field=name, other_field=other_name):
            return frozenset({name, other_name})
        case AndCondition(members) | OrCondition(members):
            return frozenset[FieldName]().union(*map(fields_of, members))
        case NotCondition(inner):
            return fields_of(inner)
        case _:
            assert_never(condition)


def semi_joins_in(condition: Condition) -> Iterator[SemiJoinCondition]:
    """Yields the semi-joins of the condition, also of rows, without those inside their inner sets."""
    for _, semi_join in locate_semi_joins(condition):
        yield semi_join


def locate_semi_joins(
    condition: Condition, rows_field: FieldName | None = None
) -> Iterator[tuple[FieldName | None, SemiJoinCondition]]:
    """Yields each semi-join of `semi_joins_in` after the rows field whose column it compares; None: a document's field.

    `rows_field`: of which `condition` compares columns.
    """
    match condition:
        case SemiJoinCondition():
            yield rows_field, condition
        case AndCondition(members) | OrCondition(members):
            for member in members:
                yield from locate_semi_joins(member, rows_field)
        case NotCondition(inner):
            yield from locate_semi_joins(inner, rows_field)
        case RowCondition(rows_field=name, condition=inner):
            yield from locate_semi_joins(inner, name)
        case ComparisonCondition() | FieldComparisonCondition() | MissingCondition():
            return
        case _:
            assert_never(condition)


def buckets_of_inner_sets(condition: Condition) -> frozenset[BucketId]:
    """Returns the buckets of all inner sets of the condition, at any depth."""
    joins = list(semi_joins_in(condition))
    deeper = frozenset[BucketId]().union(*(buckets_of_inner_sets(semi_join.condition) for semi_join in joins))
    return deeper | {semi_join.bucket for semi_join in joins}


def semi_join_depth(condition: Condition) -> int:
    """Returns how deep semi-joins nest in the condition; 0 without any."""
    return max((1 + semi_join_depth(semi_join.condition) for semi_join in semi_joins_in(condition)), default=0)


def replace_semi_joins(
    condition: Condition,
    replacement_for: Callable[[SemiJoinCondition, FieldName | None], Condition],
    rows_field: FieldName | None = None,
) -> Condition:
    """Returns the condition with each semi-join replaced, also within rows, without those inside of inner sets.

    `replacement_for` gets each semi-join with the rows field whose column it compares; None: a field of the document.
    """
    match condition:
        case SemiJoinCondition():
            return replacement_for(condition, rows_field)
        case AndCondition(members):
            return AndCondition(tuple(replace_semi_joins(member, replacement_for, rows_field) for member in members))
        case OrCondition(members):
            return OrCondition(tuple(replace_semi_joins(member, replacement_for, rows_field) for member in members))
        case NotCondition(inner):
            return NotCondition(replace_semi_joins(inner, replacement_for, rows_field))
        case RowCondition(rows_field=name, condition=inner, words=words):
            replaced = replace_semi_joins(inner, replacement_for, name)
            return RowCondition(rows_field=name, condition=replaced, words=words)
        case ComparisonCondition() | FieldComparisonCondition() | MissingCondition():
            return condition
        case _:
            assert_never(condition)

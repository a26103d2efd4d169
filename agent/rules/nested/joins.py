"""The joins that the references of the schemas allow, and a value that stands for an inner set in a question."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from agent.english.function_words import PREPOSITIONS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.nested.own_names import settle_own_names
from agent.rules.reading.bucket_reading import read_question
from agent.rules.words.tokens import tokenize_question
from storage.search.conditions import (
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    conjuncts_of,
    fields_of,
)
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

_MAX_TRIED_VALUES = 12
_WORDS_BEFORE_DAYS = frozenset("since until till before after".split())  # also synonyms of a first or last day
_IDENTIFIER_STEMS = frozenset({"id", "no", "number", "code", "name", "ref"})
MIN_SHARED_VALUES = 3
_MAX_SHARED_VALUES = 200
_MIN_SHARED_PART = 0.75  # of the values of the field that has more


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketJoin:
    """Documents of `outer` belong to documents of `inner` that have the value of one of `outer_fields` in `inner_key`.

    Forward: the outer fields refer to the inner documents. Backward: the inner key refers to the outer documents.
    """

    outer: BucketId
    outer_fields: tuple[FieldName, ...]
    inner: BucketId
    inner_key: FieldName
    is_forward: bool

    @property
    def can_be_counted(self) -> bool:
        """Whether each document of the outer bucket may have several documents of the inner one."""
        return not self.is_forward and not self.is_within_bucket

    @property
    def is_within_bucket(self) -> bool:
        return self.outer == self.inner


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCount:
    """How many documents of an inner set a document of the outer bucket has: "at least 3 loans", "no loans"."""

    least: int = 1
    most: int | None = None


ANY_NUMBER = DocumentCount()  # at least one


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinTable:
    """The joins between some buckets."""

    direct: tuple[BucketJoin, ...]
    between_siblings: tuple[BucketJoin, ...]
    by_shared_values: tuple[BucketJoin, ...]

    @property
    def relative(self) -> tuple[BucketJoin, ...]:
        """The joins whose inner key holds what a noun before a relative clause names."""
        backward = (join for join in self.direct if not join.is_forward)
        return (*backward, *self.between_siblings, *self.by_shared_values)


def find_join_table(lexicons: Mapping[BucketId, BucketLexicon]) -> JoinTable:
    """Returns all joins between the buckets. Kept, since the same lexicons serve many questions."""
    return _join_table_of(tuple(lexicons.values()))


@lru_cache(maxsize=8)
def _join_table_of(lexicons: tuple[BucketLexicon, ...]) -> JoinTable:
    by_bucket = {lexicon.bucket: lexicon for lexicon in lexicons}
    return JoinTable(
        direct=find_joins(by_bucket),
        between_siblings=find_sibling_joins(by_bucket),
        by_shared_values=find_shared_joins(by_bucket),
    )


def find_joins(lexicons: Mapping[BucketId, BucketLexicon]) -> tuple[BucketJoin, ...]:
    """Returns the joins between the visible buckets, in both directions."""
    forward_fields: dict[tuple[BucketId, BucketId, FieldName], list[FieldName]] = {}
    backward_joins: list[BucketJoin] = []
    for bucket, lexicon in lexicons.items():
        for field_name, inner, key in _references_of(lexicon.schema, lexicons):
            forward_fields.setdefault((bucket, inner, key), []).append(field_name)
            backward_joins.append(
                BucketJoin(outer=inner, outer_fields=(key,), inner=bucket, inner_key=field_name, is_forward=False)
            )
    forward_joins = (
        BucketJoin(outer=outer, outer_fields=tuple(names), inner=inner, inner_key=key, is_forward=True)
        for (outer, inner, key), names in forward_fields.items()
    )
    return (*forward_joins, *backward_joins)


def _references_of(
    schema: Schema, lexicons: Mapping[BucketId, BucketLexicon]
) -> Iterator[tuple[FieldName, BucketId, FieldName]]:
    """Yields each field that refers to a field of a visible bucket, with that bucket and field."""
    for name, reference in schema.references.items():
        if reference.bucket not in lexicons:
            continue
        if reference.field == TITLE_FIELD or reference.field in lexicons[reference.bucket].schema.by_name:
            yield name, reference.bucket, reference.field


def find_sibling_joins(lexicons: Mapping[BucketId, BucketLexicon]) -> tuple[BucketJoin, ...]:
    """Returns joins between fields of two buckets that refer to the same documents of a third one."""
    references = [
        (bucket, field_name, target)
        for bucket, lexicon in lexicons.items()
        for field_name, *target in _references_of(lexicon.schema, lexicons)
    ]
    return tuple(
        BucketJoin(outer=outer, outer_fields=(outer_field,), inner=inner, inner_key=inner_key, is_forward=False)
        for outer, outer_field, target in references
        for inner, inner_key, inner_target in references
        if target == inner_target and outer != inner
    )


def find_shared_joins(lexicons: Mapping[BucketId, BucketLexicon]) -> tuple[BucketJoin, ...]:
    """Returns joins between fields of two buckets that hold the same few values under names that share a word.

    The values name things that no bucket has documents of: the `home depot` of vehicles, the `depot` of staff.
    """
    fields = [
        (bucket, field, frozenset(value.value.casefold() for value in vocabulary.values), lexicon.label_stems_of(field))
        for bucket, lexicon in lexicons.items()
        for field in (field.name for field in lexicon.schema.fields if _may_name_things(field))
        if (vocabulary := lexicon.vocabulary_of(field)) is not None
        if MIN_SHARED_VALUES <= len(vocabulary.values) <= _MAX_SHARED_VALUES
    ]
    return tuple(
        BucketJoin(outer=outer, outer_fields=(outer_field,), inner=inner, inner_key=inner_key, is_forward=False)
        for outer, outer_field, outer_values, outer_stems in fields
        for inner, inner_key, inner_values, inner_stems in fields
        if outer != inner and outer_stems & inner_stems
        if len(outer_values & inner_values) >= _MIN_SHARED_PART * max(len(outer_values), len(inner_values))
    )


def _may_name_things(field: SchemaField) -> bool:
    return field.type is FieldType.CATEGORY and field.reference is None


def find_stand_in(join: BucketJoin, lexicons: Mapping[BucketId, BucketLexicon]) -> str | None:
    """Returns a value of the first outer field that a question names without doubt; None if there is none.

    In place of the words for an inner set it makes a question that is read like any other.
    """
    name, lexicon = join.outer_fields[0], lexicons[join.outer]
    names_title = name == TITLE_FIELD and not join.is_forward
    vocabulary = lexicons[join.inner].vocabulary_of(join.inner_key) if names_title else lexicon.vocabulary_of(name)
    values = [] if vocabulary is None else [counted.value for counted in vocabulary.values]
    plain = [value for value in values if value.isalpha() and len(value) > 3 and value[0].isupper()]
    others = [value for value in values if value not in plain and value[:1].isupper()]
    for value in (*plain[:_MAX_TRIED_VALUES], *others[:_MAX_TRIED_VALUES]):
        if _names_only_value(value, join, lexicon):
            return value
    return None


def _names_only_value(value: str, join: BucketJoin, lexicon: BucketLexicon) -> bool:
    reading = read_question(lexicon, f"the {value}", (), ())
    fields = {*join.outer_fields, join.inner_key} if join.is_within_bucket else set(join.outer_fields)
    if not join.is_within_bucket:
        reading = settle_own_names(reading, {lexicon.bucket: lexicon})
    return (
        not reading.unlinked_words
        and not reading.asked_mentions
        and len(reading.conditions) == 1
        and compares_with(reading.conditions[0], value)
        and fields_of(reading.conditions[0]) <= fields  # within a bucket the words around the name decide
    )


def compares_with(condition: Condition, value: str) -> bool:
    """Whether the condition is that a field, or the title, has exactly the value."""
    if not isinstance(condition, ComparisonCondition) or condition.value != value:
        return False
    names_title = condition.field == TITLE_FIELD and condition.op is ComparisonOperator.CONTAINS
    return names_title or condition.op in (ComparisonOperator.EQ, ComparisonOperator.HAS)


def names_other_role(
    join: BucketJoin, inner_words: str, joins: Iterable[BucketJoin], lexicons: Mapping[BucketId, BucketLexicon]
) -> bool:
    """ "Orders from *customers* in Gent" are not joined by their `supplier`: whether the words name another role.

    That is the name of another field that refers to the same documents, while this field is not named.
    """
    stems = _stems_of(inner_words, lexicons[join.inner])
    if not join.is_forward or _role_stems_of(join, lexicons) & stems:
        return False
    others = (other for other in joins if other.is_forward and not other.is_within_bucket)
    return any(other.inner == join.inner and bool(_role_stems_of(other, lexicons) & stems) for other in others)


def takes_day_of_outer(
    join: BucketJoin, inner_condition: Condition, inner_words: str, lexicons: Mapping[BucketId, BucketLexicon]
) -> bool:
    """ "Orders from customers in Gent *in 2025*": whether a day that names no date of the inner set is in its words.

    The outer documents have days of their own, and a day behind the inner set is rather theirs.
    """
    inner = lexicons[join.inner]
    if not lexicons[join.outer].roles.dates:
        return False
    stems = _stems_of(inner_words, inner)
    return any(
        isinstance(part, ComparisonCondition)
        and part.field in inner.roles.dates
        and not inner.stems_of(part.field) & stems
        for part in conjuncts_of(inner_condition)
    )


def _stems_of(words: str, lexicon: BucketLexicon) -> frozenset[str]:
    return frozenset(
        token.stem
        for token in tokenize_question(words, lexicon.analyser)
        if token.word not in PREPOSITIONS | _WORDS_BEFORE_DAYS
    )


def _role_stems_of(join: BucketJoin, lexicons: Mapping[BucketId, BucketLexicon]) -> frozenset[str]:
    """The words of the names of the fields that connect the two, without those for the documents themselves."""
    lexicon = lexicons[join.outer]
    stems = frozenset[str]().union(*(lexicon.label_stems_of(name) for name in join.outer_fields))
    return stems - lexicons[join.inner].noun_stems - _IDENTIFIER_STEMS

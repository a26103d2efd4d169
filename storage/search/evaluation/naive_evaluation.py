"""Reference evaluation of conditions, one document at a time. Tests compare every engine with it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias, assert_never, cast

from storage.search.analyser import Analyser, fold_text
from storage.search.conditions import (
    DOC_ID_FIELD,
    TEXT_FIELD,
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    Scalar,
    SemiJoinCondition,
    replace_semi_joins,
)
from storage.search.documents import Document, FieldValue, FieldValues, RowValues
from storage.search.evaluation.condition_normal_form import bind_to_schema, is_iso_day
from storage.search.evaluation.row_selection import row_condition_of
from storage.search.ids import BucketId, FieldName
from storage.search.plan import Search
from storage.search.schema import FieldType, Schema
from storage.search.scope import Scope


@dataclass(frozen=True, kw_only=True)
class NaiveBucket:
    """All documents of a bucket, for the inner sets of semi-joins."""

    schema: Schema
    documents: Sequence[Document]
    analyser: Analyser


NaiveCorpus: TypeAlias = Mapping[BucketId, NaiveBucket]


def expand_semi_joins(condition: Condition, bucket: BucketId, corpus: NaiveCorpus, scope: Scope) -> Condition:
    """Returns the condition with each semi-join replaced by a comparison with the values of its inner set."""

    def expand_semi_join(semi_join: SemiJoinCondition, rows_field: FieldName | None) -> Condition:
        keys = [_fold_scalar(value) for value in _values_of_inner_set(semi_join, corpus, scope)]
        if rows_field is None and semi_join.field == TITLE_FIELD:
            field, values = (
                DOC_ID_FIELD,
                tuple(document.doc_id for document in corpus[bucket].documents if fold_text(document.title) in keys),
            )
        elif rows_field is None and semi_join.field == DOC_ID_FIELD:
            inner_values = _values_of_inner_set(semi_join, corpus, scope)
            field, values = DOC_ID_FIELD, tuple(value for value in inner_values if isinstance(value, str))
        else:
            fields = corpus[bucket].schema.by_name
            if rows_field is not None:
                fields = {column.name: column for column in fields[rows_field].columns}
            field, type_ = semi_join.field, fields[semi_join.field].type
            values = tuple(value for value in keys if _fits_type(value, type_))
            if semi_join.op is not ComparisonOperator.EQ and values:
                comparisons = (ComparisonCondition(field=field, op=semi_join.op, value=value) for value in values)
                return AndCondition(tuple(comparisons))
        return ComparisonCondition(field=field, op=ComparisonOperator.IN, value=values)

    return replace_semi_joins(condition, expand_semi_join)


def _values_of_inner_set(semi_join: SemiJoinCondition, corpus: NaiveCorpus, scope: Scope) -> list[Scalar]:
    inner = corpus.get(semi_join.bucket)
    if inner is None:
        return []
    condition = bind_to_schema(expand_semi_joins(semi_join.condition, semi_join.bucket, corpus, scope), inner.schema)
    documents = [
        document
        for document in inner.documents
        if scope.can_see(semi_join.bucket, document.readers)
        and evaluate_condition(condition, document, inner.schema, inner.analyser) is True
    ]
    if semi_join.order_by is not None:
        documents = _first_documents(documents, semi_join, inner.schema)
    if semi_join.key_rows is None:
        values_of_each = [_key_values_of(document, semi_join.key) for document in documents]
    else:
        values_of_each = _key_values_of_rows(documents, semi_join.key, semi_join.key_rows, condition, inner.schema)
    counts = Counter(folded for values in values_of_each for folded in set(map(_fold_scalar, values)))
    return [
        value for values in values_of_each for value in values if counts[_fold_scalar(value)] >= semi_join.min_count
    ]


def _first_documents(documents: Sequence[Document], semi_join: SemiJoinCondition, schema: Schema) -> list[Document]:
    """Returns the documents that fewer than `limit` others come before."""
    name = semi_join.order_by
    assert name is not None
    if schema.by_name[name].type is FieldType.FLAG:
        keys = [bool(document.values.get(name)) for document in documents]
    else:
        documents = [document for document in documents if name in document.values]
        keys = [_fold_scalar(cast(Scalar, document.values[name])) for document in documents]
    return [
        document
        for document, key in zip(documents, keys, strict=True)
        if sum(_comes_before(other, key, is_descending=semi_join.is_descending) for other in keys) < semi_join.limit
    ]


def _comes_before(other: Scalar, key: Scalar, *, is_descending: bool) -> bool:
    return _compare_order(ComparisonOperator.GT if is_descending else ComparisonOperator.LT, other, key)


def _key_values_of(document: Document, key: FieldName) -> Sequence[Scalar]:
    if key in (TITLE_FIELD, DOC_ID_FIELD):
        return (document.title if key == TITLE_FIELD else document.doc_id,)
    value = document.values.get(key, ())
    return tuple(str(member) for member in value) if isinstance(value, tuple) else (value,)


def _key_values_of_rows(
    documents: Sequence[Document], column: FieldName, rows_field: FieldName, condition: Condition, schema: Schema
) -> list[Sequence[Scalar]]:
    row_condition = row_condition_of(condition, rows_field) or AndCondition()
    columns = Schema(bucket=schema.bucket, fields=schema.by_name[rows_field].columns, is_row_schema=True)
    rows_of_each = [cast("tuple[RowValues, ...]", document.values.get(rows_field, ())) for document in documents]
    return [
        [row[column] for row in rows if column in row and _evaluate_row(row_condition, row, columns) is True]
        for rows in rows_of_each
    ]


def _fits_type(value: Scalar, field_type: FieldType) -> bool:
    if field_type is FieldType.DATE:
        return isinstance(value, str) and is_iso_day(value)
    is_number = field_type in (FieldType.NUMBER, FieldType.MONEY)
    return isinstance(value, float) if is_number else isinstance(value, str)


def matches_search(
    search: Search,
    document: Document,
    schema: Schema,
    analyser: Analyser,
    scope: Scope,
    corpus: NaiveCorpus | None = None,
) -> bool:
    """Whether `document`, which is in the schema's bucket, matches `search` and is visible within `scope`.

    `corpus` has the buckets of the index, for semi-joins.
    """
    if not scope.can_see(schema.bucket, document.readers):
        return False
    conditions = [
        expand_semi_joins(clause.match_condition, schema.bucket, corpus or {}, scope)
        for clause in search.clauses
        if clause.bucket == schema.bucket
    ]
    return any(
        evaluate_condition(bind_to_schema(condition, schema), document, schema, analyser) is True
        for condition in conditions
    )


def evaluate_condition(condition: Condition, document: Document, schema: Schema, analyser: Analyser) -> bool | None:
    """Returns True, False or None (unknown). `condition` must be bound to `schema`."""
    match condition:
        case ComparisonCondition(field=name) if name in (TEXT_FIELD, TITLE_FIELD, DOC_ID_FIELD):
            return _evaluate_reserved_field(condition, document, analyser)
        case ComparisonCondition(field=name):
            return _compare_value(condition, document.values.get(name), schema.by_name[name].type)
        case FieldComparisonCondition():
            return _compare_fields(condition, document.values)
        case MissingCondition(field=name):
            return name not in document.values and schema.by_name[name].type is not FieldType.FLAG
        case RowCondition(rows_field=rows_field, condition=inner):
            rows = document.values.get(rows_field, ())
            assert isinstance(rows, tuple)
            columns = Schema(bucket=schema.bucket, fields=schema.by_name[rows_field].columns, is_row_schema=True)
            return any(_evaluate_row(inner, row, columns) is True for row in rows if isinstance(row, Mapping))
        case NotCondition(inner):
            value = evaluate_condition(inner, document, schema, analyser)
            return None if value is None else not value
        case AndCondition(members):
            return _and_truth_values([evaluate_condition(member, document, schema, analyser) for member in members])
        case OrCondition(members):
            return _or_truth_values([evaluate_condition(member, document, schema, analyser) for member in members])
        case SemiJoinCondition():
            raise AssertionError("semi-joins were not expanded")
        case _:
            assert_never(condition)


def _evaluate_row(condition: Condition, row: RowValues, columns: Schema) -> bool | None:
    match condition:
        case ComparisonCondition(field=name):
            return _compare_value(condition, row.get(name), columns.by_name[name].type)
        case FieldComparisonCondition():
            return _compare_fields(condition, row)
        case MissingCondition(field=name):
            return name not in row and columns.by_name[name].type is not FieldType.FLAG
        case NotCondition(inner):
            value = _evaluate_row(inner, row, columns)
            return None if value is None else not value
        case AndCondition(members):
            return _and_truth_values([_evaluate_row(member, row, columns) for member in members])
        case OrCondition(members):
            return _or_truth_values([_evaluate_row(member, row, columns) for member in members])
        case RowCondition() | SemiJoinCondition():
            raise AssertionError("rows within rows were not bound, or semi-joins were not expanded")
        case _:
            assert_never(condition)


def _and_truth_values(values: list[bool | None]) -> bool | None:
    return False if False in values else None if None in values else True


def _or_truth_values(values: list[bool | None]) -> bool | None:
    return True if True in values else None if None in values else False


def _evaluate_reserved_field(condition: ComparisonCondition, document: Document, analyser: Analyser) -> bool:
    if condition.field == DOC_ID_FIELD:
        doc_ids = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        return document.doc_id in doc_ids
    texts = [document.title] if condition.field == TITLE_FIELD else [document.title, document.text]
    return any(_contains_phrase(text, str(condition.value), analyser) for text in texts)


def _contains_phrase(text: str, phrase: str, analyser: Analyser) -> bool:
    phrase_terms = [term.text for term in analyser.extract_terms(phrase)]
    terms = [term.text for term in analyser.extract_terms(text)]
    return bool(phrase_terms) and any(
        terms[start : start + len(phrase_terms)] == phrase_terms for start in range(len(terms) - len(phrase_terms) + 1)
    )


def _compare_value(condition: ComparisonCondition, value: FieldValue | None, field_type: FieldType) -> bool | None:
    if field_type is FieldType.LIST:
        members = value if isinstance(value, tuple) else ()
        return any(_compare_scalar(condition, str(member)) for member in members)
    if field_type is FieldType.FLAG:
        return bool(value) == condition.value
    if value is None or isinstance(value, tuple):
        return None
    return _compare_scalar(condition, value)


def _compare_fields(condition: FieldComparisonCondition, values: FieldValues | RowValues) -> bool | None:
    left, right = values.get(condition.field), values.get(condition.other_field)
    if left is None or right is None:
        return None
    difference = _number_of(left), _number_of(right) + condition.offset
    if condition.op is ComparisonOperator.EQ:
        return difference[0] == difference[1]
    return _compare_order(condition.op, *difference)


def _number_of(value: FieldValue) -> float:
    """Returns the number, or that of the day."""
    return float(date.fromisoformat(value).toordinal()) if isinstance(value, str) else float(cast(float, value))


def _compare_scalar(condition: ComparisonCondition, value: Scalar) -> bool:
    folded_value = _fold_scalar(value)
    match condition.op, condition.value:
        case (ComparisonOperator.IN, tuple(operands)):
            return folded_value in [_fold_scalar(operand) for operand in operands]
        case (ComparisonOperator.BETWEEN, (low, high)):
            return _compare_order(ComparisonOperator.GTE, folded_value, _fold_scalar(low)) and _compare_order(
                ComparisonOperator.LTE, folded_value, _fold_scalar(high)
            )
        case (op, tuple()):
            raise AssertionError(f"{op} with several values was not bound")
        case (ComparisonOperator.CONTAINS, operand):
            return str(_fold_scalar(operand)) in str(folded_value)
        case (ComparisonOperator.EQ | ComparisonOperator.HAS, operand):
            return folded_value == _fold_scalar(operand)
        case (op, operand):
            return _compare_order(op, folded_value, _fold_scalar(operand))


def _compare_order(op: ComparisonOperator, left: Scalar, right: Scalar) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return _sign_satisfies(op, (left > right) - (left < right))
    if not isinstance(left, str) and not isinstance(right, str):
        return _sign_satisfies(op, (left > right) - (left < right))
    raise AssertionError("values of two kinds were not bound")


def _sign_satisfies(op: ComparisonOperator, sign: int) -> bool:
    return {
        ComparisonOperator.GT: sign > 0,
        ComparisonOperator.GTE: sign >= 0,
        ComparisonOperator.LT: sign < 0,
        ComparisonOperator.LTE: sign <= 0,
    }[op]


def _fold_scalar(value: Scalar) -> Scalar:
    return fold_text(value) if isinstance(value, str) else value

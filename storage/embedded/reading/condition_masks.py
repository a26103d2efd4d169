"""Evaluation of a condition to the mask of the documents for which it is true.

FTS5 evaluates text conditions by phrase; the columns evaluate all others. The snapshot caches the masks of leaves, so
that many refinements of one search evaluate their common leaves only once.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

import numpy as np

from storage.embedded.bucket_snapshot import BucketSnapshot
from storage.embedded.columns import (
    Column,
    FlagColumn,
    ListColumn,
    Mask,
    NumberColumn,
    RowsColumn,
    StringColumn,
    day_ordinal_of,
    mask_of_owners,
)
from storage.embedded.string_dictionary import Ints, StringDictionary
from storage.search.analyser import Analyser, fold_text
from storage.search.conditions import (
    DOC_ID_FIELD,
    TEXT_FIELD,
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    FieldComparisonCondition,
    MissingCondition,
    Scalar,
)
from storage.search.evaluation.condition_normal_form import (
    AndNode,
    ConditionNormalForm,
    LeafNode,
    OrNode,
    RowNode,
    bind_to_schema,
    normal_form_of,
)
from storage.search.evaluation.value_validation import is_valid_unicode
from storage.search.ids import FieldName
from storage.search.plan import Clause

_MAX_PHRASE_TERMS = 64  # terms given to FTS5; a longer phrase is then also compared with the text


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedBucketReader:
    """A bucket within one read transaction."""

    connection: sqlite3.Connection
    bucket: BucketSnapshot
    analyser: Analyser

    def member_mask(self, clause: Clause, visible: Mask) -> Mask:
        """Returns the visible documents that match the clause. Raises `UnknownField` and `InvalidCondition`."""
        form = normal_form_of(bind_to_schema(clause.match_condition, self.bucket.schema))
        return visible & _form_mask(form, self.bucket.columns, len(self.bucket.ids), self._cached_leaf_mask)

    def _cached_leaf_mask(self, leaf: LeafNode | RowNode) -> Mask:
        return self.bucket.mask_cache.get_or_compute(leaf, lambda: self._compute_leaf_mask(leaf))

    def _compute_leaf_mask(self, leaf: LeafNode | RowNode) -> Mask:
        condition = None if isinstance(leaf, RowNode) else leaf.condition
        if isinstance(condition, ComparisonCondition) and condition.field in (TEXT_FIELD, TITLE_FIELD, DOC_ID_FIELD):
            mask = self._reserved_field_mask(condition)
            return ~mask if isinstance(leaf, LeafNode) and leaf.is_negated else mask
        return _column_leaf_mask(leaf, self.bucket.columns)

    def _reserved_field_mask(self, condition: ComparisonCondition) -> Mask:
        operands = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        if condition.field == DOC_ID_FIELD:
            row_ids = self._rows_of_documents([str(doc_id) for doc_id in operands])
            return mask_of_owners(self.bucket.positions_of(row_ids), len(self.bucket.ids))
        document_numbers = self._documents_with_phrase(
            str(condition.value), in_title_only=condition.field == TITLE_FIELD
        )
        return mask_of_owners(self.bucket.positions_of(document_numbers), len(self.bucket.ids))

    def _rows_of_documents(self, doc_ids: Sequence[str]) -> Ints:
        query, bucket_number = "SELECT id FROM document WHERE doc_id = ? AND bucket = ?", self.bucket.header.id
        valid_ids = filter(is_valid_unicode, doc_ids)
        rows = (self.connection.execute(query, (doc_id, bucket_number)).fetchone() for doc_id in valid_ids)
        return np.array([row[0] for row in rows if row is not None], dtype=np.int64)

    def _documents_with_phrase(self, phrase: str, *, in_title_only: bool) -> Ints:
        """Returns the row ids of the documents with the phrase in title or text; none for a phrase without terms."""
        terms = [term.text for term in self.analyser.extract_terms(phrase)]
        if not terms:
            return np.zeros(0, dtype=np.int64)
        table = f"terms_{self.bucket.header.id:d}"
        rows = self.connection.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ?",  # noqa: S608 - the number is ours
            (("title : " if in_title_only else "") + quote_phrase(terms[:_MAX_PHRASE_TERMS]),),
        ).fetchall()
        if len(terms) > _MAX_PHRASE_TERMS:
            rows = [row for row in rows if self._contains_phrase(row[0], terms, in_title_only=in_title_only)]
        return np.array([row[0] for row in rows], dtype=np.int64)

    def _contains_phrase(self, document: int, phrase_terms: Sequence[str], *, in_title_only: bool) -> bool:
        texts = self.connection.execute("SELECT title, text FROM document WHERE id = ?", (document,)).fetchone()
        joined_phrase = f" {' '.join(phrase_terms)} "
        return any(
            joined_phrase in f" {' '.join(term.text for term in self.analyser.extract_terms(text))} "
            for text in (texts[:1] if in_title_only else texts)
        )


def quote_phrase(terms: Sequence[str]) -> str:
    """Returns the phrase in FTS5's query syntax. Terms have only letters and digits, so nothing needs escaping."""
    return f'"{" ".join(terms)}"'


def _form_mask(
    form: ConditionNormalForm,
    columns: Mapping[FieldName, Column],
    size: int,
    leaf_mask: Callable[[LeafNode | RowNode], Mask],
) -> Mask:
    match form:
        case LeafNode() | RowNode():
            return leaf_mask(form)
        case AndNode(members):
            masks = [_form_mask(member, columns, size, leaf_mask) for member in members]
            return reduce(np.logical_and, masks, np.ones(size, dtype=np.bool_))
        case OrNode(members):
            masks = [_form_mask(member, columns, size, leaf_mask) for member in members]
            return reduce(np.logical_or, masks, np.zeros(size, dtype=np.bool_))
        case _:
            assert_never(form)


def _column_leaf_mask(leaf: LeafNode | RowNode, columns: Mapping[FieldName, Column]) -> Mask:
    """Returns the mask of a leaf on the columns of documents, or of rows."""
    if isinstance(leaf, RowNode):
        rows_column = columns[leaf.rows_field]
        assert isinstance(rows_column, RowsColumn)  # noqa: S101 - `bind_to_schema` has checked it
        matching_rows = _form_mask(
            leaf.form,
            rows_column.columns,
            len(rows_column.owners),
            lambda row_leaf: _column_leaf_mask(row_leaf, rows_column.columns),
        )
        mask = mask_of_owners(rows_column.owners[matching_rows], rows_column.size)
        return ~mask if leaf.is_negated else mask
    if isinstance(leaf.condition, FieldComparisonCondition):
        return _field_comparison_mask(leaf.condition, columns, is_negated=leaf.is_negated)
    column = columns[leaf.condition.field]
    if isinstance(leaf.condition, MissingCondition):
        # A flag is never missing: absent means false.
        missing_mask = (
            np.zeros(len(column.values), dtype=np.bool_) if isinstance(column, FlagColumn) else ~column.present_mask
        )
        return ~missing_mask if leaf.is_negated else missing_mask
    mask = _comparison_mask(leaf.condition, column)
    if not leaf.is_negated:
        return mask
    return ~mask & column.present_mask if isinstance(column, (NumberColumn, StringColumn)) else ~mask


def _field_comparison_mask(
    condition: FieldComparisonCondition, columns: Mapping[FieldName, Column], *, is_negated: bool
) -> Mask:
    left, right = columns[condition.field], columns[condition.other_field]
    if not (isinstance(left, NumberColumn) and isinstance(right, NumberColumn)):
        raise TypeError("`bind_to_schema` lets only numbers, amounts and days be compared with one another")
    shifted = right.values + condition.offset
    match condition.op:
        case ComparisonOperator.GT:
            mask = left.values > shifted
        case ComparisonOperator.GTE:
            mask = left.values >= shifted
        case ComparisonOperator.LT:
            mask = left.values < shifted
        case ComparisonOperator.LTE:
            mask = left.values <= shifted
        case _:
            mask = left.values == shifted
    return (~mask if is_negated else mask) & left.present_mask & right.present_mask


def _comparison_mask(condition: ComparisonCondition, column: Column) -> Mask:
    match column:
        case NumberColumn(values=values):
            return _number_mask(condition, values)
        case StringColumn(codes=codes, dictionary=dictionary):
            return np.isin(dictionary.fold_codes_of(codes), _matching_fold_codes(condition, dictionary))
        case ListColumn(owners=owners, codes=codes, dictionary=dictionary, size=size):
            is_matching_member = np.isin(dictionary.fold_codes_of(codes), _matching_fold_codes(condition, dictionary))
            return mask_of_owners(owners[is_matching_member], size)
        case FlagColumn(values=values):
            return (values == 1) == condition.value
        case RowsColumn():
            raise AssertionError("a comparison with rows was not bound")
        case _:
            assert_never(column)


def _number_mask(condition: ComparisonCondition, values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Mask:
    operands = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    numbers = [_number_of(operand) for operand in operands]
    match condition.op:
        case ComparisonOperator.EQ | ComparisonOperator.IN:
            return np.isin(values, numbers)
        case ComparisonOperator.BETWEEN:
            return (values >= numbers[0]) & (values <= numbers[1])
        case ComparisonOperator.GT:
            return values > numbers[0]
        case ComparisonOperator.GTE:
            return values >= numbers[0]
        case ComparisonOperator.LT:
            return values < numbers[0]
        case ComparisonOperator.LTE:
            return values <= numbers[0]
        case ComparisonOperator.HAS | ComparisonOperator.CONTAINS:
            raise AssertionError(f"{condition.op} on a number was not bound")
        case _:
            assert_never(condition.op)


def _number_of(value: Scalar) -> float:
    return float(day_ordinal_of(value)) if isinstance(value, str) else value


def _matching_fold_codes(condition: ComparisonCondition, dictionary: StringDictionary) -> Ints:
    """Returns the codes of the folds that match the condition."""
    operands = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    folds = [fold_text(str(operand)) for operand in operands]
    if condition.op is ComparisonOperator.CONTAINS:
        return dictionary.fold_codes_containing(folds[0])
    codes = [dictionary.code_of_fold(fold) for fold in folds]
    return np.array([code for code in codes if code >= 0], dtype=np.int64)

"""From a condition to the mask of the documents where it is true.

Text conditions are asked of FTS5 by phrase, all others of the columns. What a leaf gives is remembered with the state
of its bucket, so that many refinements of one search cost one evaluation of what they share.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

import numpy as np

from storage.embedded.bucket import Bucket
from storage.embedded.columns import Column, Flags, Lists, Mask, Numbers, Rows, Strings, any_of, ordinal
from storage.embedded.dictionary import Dictionary, Ints
from storage.search.conditions import DOC_ID, TEXT, TITLE, Compare, Missing, Op, Scalar
from storage.search.ids import DocId, FieldName
from storage.search.normal import AllOf, AnyOf, Leaf, RowLeaf, TrueForm, bound, true_form
from storage.search.plan import Clause
from storage.search.text import Analyser, fold

_LONGEST_PHRASE = 64  # terms given to FTS5; the rest of a longer one is looked for in the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A bucket within one read transaction."""

    connection: sqlite3.Connection
    bucket: Bucket
    analyser: Analyser

    def members(self, clause: Clause, visible: Mask) -> Mask:
        """The visible documents of a clause's set. Raises `UnknownField` and `InvalidCondition`."""
        form = true_form(bound(clause.held, self.bucket.schema))
        return visible & _mask(form, self.bucket.columns, len(self.bucket.ids), self._leaf)

    def _leaf(self, leaf: Leaf | RowLeaf) -> Mask:
        return self.bucket.masks.get(leaf, lambda: self._evaluated(leaf))

    def _evaluated(self, leaf: Leaf | RowLeaf) -> Mask:
        condition = None if isinstance(leaf, RowLeaf) else leaf.condition
        if isinstance(condition, Compare) and condition.field in (TEXT, TITLE, DOC_ID):
            mask = self._reserved(condition)
            return ~mask if isinstance(leaf, Leaf) and leaf.negated else mask
        return _of_columns(leaf, self.bucket.columns)

    def _reserved(self, condition: Compare) -> Mask:
        wanted = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        if condition.field == DOC_ID:
            positions = self.bucket.by_doc_id()
            found = [positions[DocId(str(one))] for one in wanted if str(one) in positions]
            return any_of(np.array(found, dtype=np.int64), len(self.bucket.ids))
        ids = self._with_phrase(str(condition.value), title_only=condition.field == TITLE)
        return any_of(self.bucket.at(ids), len(self.bucket.ids))

    def _with_phrase(self, phrase: str, *, title_only: bool) -> Ints:
        """Ids of the documents with the phrase in the title or in the text; none for a phrase without terms."""
        terms = [term.text for term in self.analyser.terms(phrase)]
        if not terms:
            return np.zeros(0, dtype=np.int64)
        table = f"terms_{self.bucket.header.id:d}"
        rows = self.connection.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ?",  # noqa: S608 - the number is ours
            (("title : " if title_only else "") + quoted(terms[:_LONGEST_PHRASE]),),
        ).fetchall()
        if len(terms) > _LONGEST_PHRASE:
            rows = [row for row in rows if self._holds(row[0], terms, title_only=title_only)]
        return np.array([row[0] for row in rows], dtype=np.int64)

    def _holds(self, document: int, phrase: Sequence[str], *, title_only: bool) -> bool:
        texts = self.connection.execute("SELECT title, text FROM document WHERE id = ?", (document,)).fetchone()
        wanted = f" {' '.join(phrase)} "
        return any(
            wanted in f" {' '.join(term.text for term in self.analyser.terms(text))} "
            for text in (texts[:1] if title_only else texts)
        )


def quoted(terms: Sequence[str]) -> str:
    """The phrase in FTS5's language. Terms hold letters and digits only, so nothing needs escaping."""
    return f'"{" ".join(terms)}"'


def _mask(
    form: TrueForm, columns: Mapping[FieldName, Column], size: int, leaf: Callable[[Leaf | RowLeaf], Mask]
) -> Mask:
    match form:
        case Leaf() | RowLeaf():
            return leaf(form)
        case AllOf(members):
            masks = [_mask(member, columns, size, leaf) for member in members]
            return reduce(np.logical_and, masks, np.ones(size, dtype=np.bool_))
        case AnyOf(members):
            masks = [_mask(member, columns, size, leaf) for member in members]
            return reduce(np.logical_or, masks, np.zeros(size, dtype=np.bool_))
        case _:
            assert_never(form)


def _of_columns(leaf: Leaf | RowLeaf, columns: Mapping[FieldName, Column]) -> Mask:
    """The mask of a leaf over the columns alone, a document's or a row's."""
    if isinstance(leaf, RowLeaf):
        rows = columns[leaf.row]
        assert isinstance(rows, Rows)  # noqa: S101 - `bound` saw to it
        inside = _mask(leaf.form, rows.columns, len(rows.owners), lambda inner: _of_columns(inner, rows.columns))
        mask = any_of(rows.owners[inside], rows.size)
        return ~mask if leaf.negated else mask
    column = columns[leaf.condition.field]
    if isinstance(leaf.condition, Missing):
        # A flag is never missing: absent means false.
        missing = np.zeros(len(column.values), dtype=np.bool_) if isinstance(column, Flags) else ~column.present
        return ~missing if leaf.negated else missing
    mask = _compared(leaf.condition, column)
    if not leaf.negated:
        return mask
    return ~mask & column.present if isinstance(column, (Numbers, Strings)) else ~mask


def _compared(condition: Compare, column: Column) -> Mask:
    match column:
        case Numbers(values=values):
            return _ordered(condition, values)
        case Strings(codes=codes, dictionary=dictionary):
            return np.isin(dictionary.fold_of(codes), _folds(condition, dictionary))
        case Lists(owners=owners, codes=codes, dictionary=dictionary, size=size):
            inside = np.isin(dictionary.fold_of(codes), _folds(condition, dictionary))
            return any_of(owners[inside], size)
        case Flags(values=values):
            return (values == 1) == condition.value
        case Rows():
            raise AssertionError("a comparison with rows was not bound")
        case _:
            assert_never(column)


def _ordered(condition: Compare, values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Mask:
    many = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    wanted = [_number(one) for one in many]
    match condition.op:
        case Op.EQ | Op.IN:
            return np.isin(values, wanted)
        case Op.BETWEEN:
            return (values >= wanted[0]) & (values <= wanted[1])
        case Op.GT:
            return values > wanted[0]
        case Op.GTE:
            return values >= wanted[0]
        case Op.LT:
            return values < wanted[0]
        case Op.LTE:
            return values <= wanted[0]
        case Op.HAS | Op.CONTAINS:
            raise AssertionError(f"{condition.op} on a number was not bound")
        case _:
            assert_never(condition.op)


def _number(value: Scalar) -> float:
    return float(ordinal(value)) if isinstance(value, str) else value


def _folds(condition: Compare, dictionary: Dictionary) -> Ints:
    """Codes of the folds that meet the condition; -1 stands for none and is in no dictionary."""
    many = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    folded = [fold(str(one)) for one in many]
    if condition.op is Op.CONTAINS:
        return dictionary.folds_holding(folded[0])
    found = [dictionary.code_of_fold(one) for one in folded]
    return np.array([code for code in found if code >= 0], dtype=np.int64)

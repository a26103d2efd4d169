"""What a condition means, said plainly: the reference that every engine is held against, document by document."""

from collections.abc import Mapping
from typing import assert_never

from storage.search.conditions import DOC_ID, TEXT, TITLE, All, Any, Compare, Condition, InRow, Missing, Not, Op, Scalar
from storage.search.documents import Document, Row, Value
from storage.search.normal import bound
from storage.search.plan import Search
from storage.search.schema import FieldType, Schema
from storage.search.scope import Scope
from storage.search.text import Analyser, fold


def matches(search: Search, document: Document, schema: Schema, analyser: Analyser, scope: Scope) -> bool:
    """Whether the set of `search` holds `document`, which lies in the schema's bucket and is seen under `scope`."""
    if not scope.sees(schema.bucket, document.readers):
        return False
    return any(
        evaluate(bound(clause.held, schema), document, schema, analyser) is True
        for clause in search.clauses
        if clause.bucket == schema.bucket
    )


def evaluate(condition: Condition, document: Document, schema: Schema, analyser: Analyser) -> bool | None:
    """True, false or None (unknown). `condition` is bound to `schema`."""
    match condition:
        case Compare(field=name) if name in (TEXT, TITLE, DOC_ID):
            return _reserved(condition, document, analyser)
        case Compare(field=name):
            return _compared(condition, document.values.get(name), schema.by_name[name].type)
        case Missing(field=name):
            return name not in document.values and schema.by_name[name].type is not FieldType.FLAG
        case InRow(row=row, condition=inner):
            rows = document.values.get(row, ())
            assert isinstance(rows, tuple)
            columns = Schema(bucket=schema.bucket, fields=schema.by_name[row].columns, of_rows=True)
            return any(_row(inner, one, columns) is True for one in rows if isinstance(one, Mapping))
        case Not(inner):
            value = evaluate(inner, document, schema, analyser)
            return None if value is None else not value
        case All(members):
            return _all([evaluate(member, document, schema, analyser) for member in members])
        case Any(members):
            return _any([evaluate(member, document, schema, analyser) for member in members])
        case _:
            assert_never(condition)


def _row(condition: Condition, row: Row, columns: Schema) -> bool | None:
    match condition:
        case Compare(field=name):
            return _compared(condition, row.get(name), columns.by_name[name].type)
        case Missing(field=name):
            return name not in row and columns.by_name[name].type is not FieldType.FLAG
        case Not(inner):
            value = _row(inner, row, columns)
            return None if value is None else not value
        case All(members):
            return _all([_row(member, row, columns) for member in members])
        case Any(members):
            return _any([_row(member, row, columns) for member in members])
        case InRow():
            return False  # `bound` refuses rows within rows
        case _:
            assert_never(condition)


def _all(values: list[bool | None]) -> bool | None:
    return False if False in values else None if None in values else True


def _any(values: list[bool | None]) -> bool | None:
    return True if True in values else None if None in values else False


def _reserved(condition: Compare, document: Document, analyser: Analyser) -> bool:
    if condition.field == DOC_ID:
        wanted = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        return document.doc_id in wanted
    texts = [document.title] if condition.field == TITLE else [document.title, document.text]
    return any(_holds_phrase(text, str(condition.value), analyser) for text in texts)


def _holds_phrase(text: str, phrase: str, analyser: Analyser) -> bool:
    wanted = [term.text for term in analyser.terms(phrase)]
    terms = [term.text for term in analyser.terms(text)]
    return bool(wanted) and any(terms[at : at + len(wanted)] == wanted for at in range(len(terms) - len(wanted) + 1))


def _compared(condition: Compare, value: Value | None, kind: FieldType) -> bool | None:
    if kind is FieldType.LIST:
        members = value if isinstance(value, tuple) else ()
        return any(_scalar_compared(condition, str(member)) for member in members)
    if kind is FieldType.FLAG:
        return bool(value) == condition.value
    if value is None or isinstance(value, tuple):
        return None
    return _scalar_compared(condition, value)


def _scalar_compared(condition: Compare, value: Scalar) -> bool:
    mine = _folded(value)
    match condition.op, condition.value:
        case (Op.IN, tuple(many)):
            return mine in [_folded(one) for one in many]
        case (Op.BETWEEN, (low, high)):
            return _ordered(Op.GTE, mine, _folded(low)) and _ordered(Op.LTE, mine, _folded(high))
        case (op, tuple()):
            raise AssertionError(f"{op} with several values was not bound")
        case (Op.CONTAINS, one):
            return str(_folded(one)) in str(mine)
        case (Op.EQ | Op.HAS, one):
            return mine == _folded(one)
        case (op, one):
            return _ordered(op, mine, _folded(one))


def _ordered(op: Op, mine: Scalar, theirs: Scalar) -> bool:
    if isinstance(mine, str) and isinstance(theirs, str):
        return _sign(op, (mine > theirs) - (mine < theirs))
    if not isinstance(mine, str) and not isinstance(theirs, str):
        return _sign(op, (mine > theirs) - (mine < theirs))
    raise AssertionError("values of two kinds were not bound")


def _sign(op: Op, sign: int) -> bool:
    return {Op.GT: sign > 0, Op.GTE: sign >= 0, Op.LT: sign < 0, Op.LTE: sign <= 0}[op]


def _folded(value: Scalar) -> Scalar:
    return fold(value) if isinstance(value, str) else value

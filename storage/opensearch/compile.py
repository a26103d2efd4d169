"""Conditions as queries. Every query here only filters, and none is ever empty: an empty filter matches everything."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import assert_never

from storage.opensearch.connection import Object
from storage.opensearch.layout import DOCUMENT, PASSAGE, Coded, Layout
from storage.opensearch.terms import LONGEST_WILDCARD, key, tokens
from storage.search.conditions import DOC_ID, TEXT, TITLE, Compare, Missing, Op, Scalar
from storage.search.ids import FieldName
from storage.search.normal import AllOf, AnyOf, Leaf, RowLeaf, TrueForm, bound, true_form
from storage.search.plan import Clause
from storage.search.schema import FieldType
from storage.search.scope import Scope
from storage.search.text import fold

EVERYTHING: Object = {"match_all": {}}
NOTHING: Object = {"match_none": {}}
_MOST_TERMS = 60_000  # in one `terms` query; the server's limit is 65,536
_RANGES = {Op.GT: "gt", Op.GTE: "gte", Op.LT: "lt", Op.LTE: "lte"}
# Whole strings, then those that lie in pieces (`terms.windows`), which sort in order: after five characters for the
# string, five for the piece and five for how much of it the piece before had too.
_CONTAINS_LONG = """
for (String whole : doc[params.key]) { if (whole.contains(params.part)) { return true; } }
String number = ''; StringBuilder joined = new StringBuilder();
for (String piece : doc[params.windows]) {
  if (!piece.substring(0, 5).equals(number)) {
    if (joined.indexOf(params.part) >= 0) { return true; }
    number = piece.substring(0, 5); joined = new StringBuilder();
  }
  int again = 0;
  for (int i = 10; i < 15; i++) { again = again * 8 + ((int) piece.charAt(i)) - 1; }
  joined.append(piece.substring(15 + again));
}
return joined.indexOf(params.part) >= 0;
"""


def documents(clause: Clause, layout: Layout, scope: Scope) -> Object:
    """The visible documents of a clause's set. Raises `UnknownField` and `InvalidCondition`."""
    return both({"term": {"kind": DOCUMENT}}, visible(scope), meaning(clause, layout))


def passages(clause: Clause, layout: Layout, scope: Scope) -> Object:
    """The passages of those documents."""
    condition = meaning(clause, layout)
    parent = condition if condition == EVERYTHING else {"has_parent": {"parent_type": DOCUMENT, "query": condition}}
    return both({"term": {"kind": PASSAGE}}, visible(scope), parent)


def visible(scope: Scope) -> Object:
    """What the readers of documents let the scope see; passages carry them too."""
    if scope.all_readers:
        return EVERYTHING
    unrestricted: Object = {"term": {"restricted": False}}
    return either(unrestricted, among("readers", [key(one) for one in sorted(scope.subjects)]))


def meaning(clause: Clause, layout: Layout) -> Object:
    """A clause's condition and required terms, whatever the scope."""
    form = true_form(bound(clause.held, layout.schema))
    return _query(form, layout.fields, layout)


def both(*queries: Object) -> Object:
    """All of them; without any, every document."""
    flat = list[Object]()
    for query in queries:
        if query != EVERYTHING:
            flat += query["bool"]["filter"] if set(query.get("bool", ())) == {"filter"} else [query]
    return flat[0] if len(flat) == 1 else {"bool": {"filter": flat}} if flat else EVERYTHING


def either(*queries: Object) -> Object:
    """At least one of them; without any, no document."""
    some = _merged([query for query in queries if query != NOTHING])
    if EVERYTHING in some:
        return EVERYTHING
    many: Object = {"bool": {"should": some, "minimum_should_match": 1}}
    return some[0] if len(some) == 1 else many if some else NOTHING


def _merged(queries: Sequence[Object]) -> list[Object]:
    """Values of one field as one query: the server takes 1,024 queries, but 65,536 values."""
    terms, others = dict[str, list[Scalar]](), list[Object]()
    for query in queries:
        if set(query) == {"terms"} and len(query["terms"]) == 1:
            ((path, some),) = query["terms"].items()
            terms.setdefault(path, []).extend(some)
        else:
            others.append(query)
    return [one for path, some in terms.items() for one in _terms(path, some)] + others


def _terms(path: str, terms: Sequence[Scalar]) -> list[Object]:
    return [{"terms": {path: list(terms[at : at + _MOST_TERMS])}} for at in range(0, len(terms), _MOST_TERMS)]


def neither(query: Object) -> Object:
    """The plain complement."""
    return {"bool": {"filter": [EVERYTHING], "must_not": [query]}}


def among(path: str, terms: Sequence[Scalar]) -> Object:
    """One of the terms; without any, no document."""
    return either(*_terms(path, terms))


def has(one: Coded) -> Object:
    """Documents (or rows) with a value of the field."""
    if one.field.type is FieldType.ROWS:
        return {"nested": {"path": one.code, "query": {"term": {one.row: True}}}}
    return {"exists": {"field": one.given if one.field.type is FieldType.FLAG else one.code}}


def _query(form: TrueForm, fields: Mapping[FieldName, Coded], layout: Layout) -> Object:
    match form:
        case Leaf():
            return _leaf(form, fields, layout)
        case RowLeaf(row=row, form=inner, negated=negated):
            rows = fields[row]
            within = both({"term": {rows.row: True}}, _query(inner, rows.columns, layout))
            found: Object = {"nested": {"path": rows.code, "query": within}}
            return neither(found) if negated else found
        case AllOf(members):
            return both(*(_query(member, fields, layout) for member in members))
        case AnyOf(members):
            return either(*(_query(member, fields, layout) for member in members))
        case _:
            assert_never(form)


def _leaf(leaf: Leaf, fields: Mapping[FieldName, Coded], layout: Layout) -> Object:
    condition = leaf.condition
    is_column = fields is not layout.fields  # of a row: there the reserved names are free
    if isinstance(condition, Compare) and condition.field in (TEXT, TITLE, DOC_ID) and not is_column:
        found = _reserved(condition, layout)
        return neither(found) if leaf.negated else found
    one = fields[condition.field]
    if isinstance(condition, Missing):
        # A flag is never missing: absent means false.
        missing = NOTHING if one.field.type is FieldType.FLAG else neither(has(one))
        return neither(missing) if leaf.negated else missing
    found = _compared(condition, one)
    if not leaf.negated:
        return found
    return neither(found) if one.field.absent_means_none else both(has(one), neither(found))


def _reserved(condition: Compare, layout: Layout) -> Object:
    if condition.field == DOC_ID:
        return among("doc_id", [key(str(one)) for one in _several(condition)])
    wanted = tokens(str(condition.value), layout.analyser)
    if not wanted:
        return NOTHING
    paths = ["title_terms"] if condition.field == TITLE else ["title_terms", "text_terms"]
    return either(*(_phrase(path, wanted) for path in paths))


def _phrase(path: str, wanted: Sequence[str]) -> Object:
    if len(wanted) == 1:
        return {"term": {path: wanted[0]}}
    return {"match_phrase": {path: {"query": " ".join(wanted), "analyzer": "whitespace"}}}


def _several(condition: Compare) -> tuple[Scalar, ...]:
    return condition.value if isinstance(condition.value, tuple) else (condition.value,)


def _compared(condition: Compare, one: Coded) -> Object:
    if condition.op is Op.CONTAINS:
        return contains(one, fold(str(condition.value)))
    wanted = [term(value, one.field.type) for value in _several(condition)]
    match condition.op:
        case Op.EQ | Op.HAS | Op.IN:
            return among(one.code, wanted)
        case Op.BETWEEN:
            return {"range": {one.code: {"gte": wanted[0], "lte": wanted[1]}}}
        case Op.GT | Op.GTE | Op.LT | Op.LTE:
            return {"range": {one.code: {_RANGES[condition.op]: wanted[0]}}}
        case _:
            assert_never(condition.op)


def term(value: Scalar, kind: FieldType) -> Scalar:
    """A value as its field's main path has it."""
    if isinstance(value, str):
        return date.fromisoformat(value).toordinal() if kind is FieldType.DATE else key(fold(value))
    return value


def contains(one: Coded, part: str) -> Object:
    """Strings of the field that hold `part`, which is folded."""
    if not part:
        return {"exists": {"field": one.code}}
    if len(part) > LONGEST_WILDCARD:
        params = {"key": one.code, "windows": one.windows, "part": part}
        script: Object = {"script": {"script": {"source": _CONTAINS_LONG, "params": params}}}
        return both({"exists": {"field": one.code}}, script)
    pattern = "*" + "".join(f"\\{c}" if c in "\\*?" else c for c in part) + "*"
    # Pieces of long strings overlap by more than a wildcard's length: each place lies whole in one of them.
    return either({"wildcard": {one.code: {"value": pattern}}}, {"wildcard": {one.windows: {"value": pattern}}})

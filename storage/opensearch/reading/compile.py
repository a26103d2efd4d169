"""Compiles conditions into OpenSearch queries.

Every query here only filters. No query is ever empty, because an empty filter matches everything.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import assert_never

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import DOCUMENT, PASSAGE, IndexedField, IndexLayout
from storage.opensearch.terms import MAX_WILDCARD_LENGTH, indexed_tokens_of, keyword_term_of
from storage.search.analyser import fold_text
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
from storage.search.ids import FieldName
from storage.search.plan import Clause
from storage.search.schema import FieldType
from storage.search.scope import Scope

MATCH_ALL: JsonObject = {"match_all": {}}
MATCH_NONE: JsonObject = {"match_none": {}}
_MAX_TERMS_PER_QUERY = 60_000  # of one `terms` query; the server's limit is 65,536
_RANGE_OPERATORS = {
    ComparisonOperator.GT: "gt",
    ComparisonOperator.GTE: "gte",
    ComparisonOperator.LT: "lt",
    ComparisonOperator.LTE: "lte",
}
_SIGNS = {
    ComparisonOperator.GT: ">",
    ComparisonOperator.GTE: ">=",
    ComparisonOperator.LT: "<",
    ComparisonOperator.LTE: "<=",
}
# Looks in whole strings first, then in long strings that are stored as windows (`overlapping_windows_of`). Windows sort
# in order. Each begins with five characters for the string's number, five for the window's number, and five for the
# length of its overlap with the window before.
_LONG_CONTAINS_SCRIPT = """
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


def documents_query(clause: Clause, layout: IndexLayout, scope: Scope) -> JsonObject:
    """Returns the query for the visible documents of a clause. Raises `UnknownField` and `InvalidCondition`."""
    return all_of({"term": {"kind": DOCUMENT}}, visibility_query(scope), clause_condition_query(clause, layout))


def passages_query(clause: Clause, layout: IndexLayout, scope: Scope) -> JsonObject:
    """Returns the query for the visible passages of a clause's documents."""
    condition = clause_condition_query(clause, layout)
    parent = condition if condition == MATCH_ALL else {"has_parent": {"parent_type": DOCUMENT, "query": condition}}
    return all_of({"term": {"kind": PASSAGE}}, visibility_query(scope), parent)


def visibility_query(scope: Scope) -> JsonObject:
    """Returns the query for entries that the scope may see; passages carry their document's readers."""
    if scope.ignores_readers:
        return MATCH_ALL
    unrestricted: JsonObject = {"term": {"restricted": False}}
    return any_of(
        unrestricted, any_term_query("readers", [keyword_term_of(subject) for subject in sorted(scope.subjects)])
    )


def clause_condition_query(clause: Clause, layout: IndexLayout) -> JsonObject:
    """Returns the query for a clause's condition and required terms, without the scope."""
    form = normal_form_of(bind_to_schema(clause.match_condition, layout.schema))
    return _query_for_form(form, layout.indexed_fields, layout)


def all_of(*queries: JsonObject) -> JsonObject:
    """Returns the conjunction of the queries; without any, it matches every document."""
    flat = list[JsonObject]()
    for query in queries:
        if query != MATCH_ALL:
            flat += query["bool"]["filter"] if set(query.get("bool", ())) == {"filter"} else [query]
    return flat[0] if len(flat) == 1 else {"bool": {"filter": flat}} if flat else MATCH_ALL


def any_of(*queries: JsonObject) -> JsonObject:
    """Returns the disjunction of the queries; without any, it matches no document."""
    alternatives = _merge_terms_queries([query for query in queries if query != MATCH_NONE])
    if MATCH_ALL in alternatives:
        return MATCH_ALL
    disjunction: JsonObject = {"bool": {"should": alternatives, "minimum_should_match": 1}}
    return alternatives[0] if len(alternatives) == 1 else disjunction if alternatives else MATCH_NONE


def _merge_terms_queries(queries: Sequence[JsonObject]) -> list[JsonObject]:
    """Merge the `terms` queries of a field into one, since the server accepts 1,024 queries but 65,536 values."""
    values_by_path, others = dict[str, list[Scalar]](), list[JsonObject]()
    for query in queries:
        if set(query) == {"terms"} and len(query["terms"]) == 1:
            ((path, values),) = query["terms"].items()
            values_by_path.setdefault(path, []).extend(values)
        else:
            others.append(query)
    return [
        terms_query for path, values in values_by_path.items() for terms_query in _terms_queries(path, values)
    ] + others


def _terms_queries(path: str, terms: Sequence[Scalar]) -> list[JsonObject]:
    return [
        {"terms": {path: list(terms[start : start + _MAX_TERMS_PER_QUERY])}}
        for start in range(0, len(terms), _MAX_TERMS_PER_QUERY)
    ]


def complement_of(query: JsonObject) -> JsonObject:
    """Returns the complement of the query."""
    return {"bool": {"filter": [MATCH_ALL], "must_not": [query]}}


def any_term_query(path: str, terms: Sequence[Scalar]) -> JsonObject:
    """Returns a query for entries with one of the terms; without terms, it matches no document."""
    return any_of(*_terms_queries(path, terms))


def value_exists_query(field: IndexedField) -> JsonObject:
    """Returns a query for documents (or rows) that have a value of the field."""
    if field.definition.type is FieldType.ROWS:
        return any_row_query(field, {"term": {field.row_marker_path: True}})
    return {"exists": {"field": field.presence_path if field.definition.type is FieldType.FLAG else field.path}}


def any_row_query(rows_field: IndexedField, row_query: JsonObject) -> JsonObject:
    """Returns a query for documents with such a row.

    It may appear in a search of several indexes, of which the others have no such field.
    """
    return {"nested": {"path": rows_field.path, "query": row_query, "ignore_unmapped": True}}


def _query_for_form(
    form: ConditionNormalForm, fields: Mapping[FieldName, IndexedField], layout: IndexLayout
) -> JsonObject:
    match form:
        case LeafNode():
            return _query_for_leaf(form, fields, layout)
        case RowNode(rows_field=rows_name, form=inner, is_negated=is_negated):
            rows_field = fields[rows_name]
            row_query = all_of(
                {"term": {rows_field.row_marker_path: True}}, _query_for_form(inner, rows_field.indexed_columns, layout)
            )
            nested_query = any_row_query(rows_field, row_query)
            return complement_of(nested_query) if is_negated else nested_query
        case AndNode(members):
            return all_of(*(_query_for_form(member, fields, layout) for member in members))
        case OrNode(members):
            return any_of(*(_query_for_form(member, fields, layout) for member in members))
        case _:
            assert_never(form)


def _query_for_leaf(leaf: LeafNode, fields: Mapping[FieldName, IndexedField], layout: IndexLayout) -> JsonObject:
    condition = leaf.condition
    is_column = fields is not layout.indexed_fields  # the reserved names are free within rows
    if (
        isinstance(condition, ComparisonCondition)
        and condition.field in (TEXT_FIELD, TITLE_FIELD, DOC_ID_FIELD)
        and not is_column
    ):
        query = _query_for_reserved_field(condition, layout)
        return complement_of(query) if leaf.is_negated else query
    field = fields[condition.field]
    if isinstance(condition, FieldComparisonCondition):
        return _query_for_field_comparison(condition, fields, is_negated=leaf.is_negated)
    if isinstance(condition, MissingCondition):
        # A flag is never missing: absent means false.
        missing_query = (
            MATCH_NONE if field.definition.type is FieldType.FLAG else complement_of(value_exists_query(field))
        )
        return complement_of(missing_query) if leaf.is_negated else missing_query
    query = _query_for_comparison(condition, field)
    if not leaf.is_negated:
        return query
    return (
        complement_of(query)
        if field.definition.absent_means_none
        else all_of(value_exists_query(field), complement_of(query))
    )


def _query_for_field_comparison(
    condition: FieldComparisonCondition, fields: Mapping[FieldName, IndexedField], *, is_negated: bool
) -> JsonObject:
    left, right = fields[condition.field], fields[condition.other_field]
    sign = "==" if condition.op is ComparisonOperator.EQ else _SIGNS[condition.op]
    source = f"doc[params.left].value {sign} doc[params.right].value + params.offset"
    params = {"left": left.path, "right": right.path, "offset": condition.offset}
    script: JsonObject = {"script": {"script": {"source": f"!({source})" if is_negated else source, "params": params}}}
    return all_of(value_exists_query(left), value_exists_query(right), script)


def _query_for_reserved_field(condition: ComparisonCondition, layout: IndexLayout) -> JsonObject:
    if condition.field == DOC_ID_FIELD:
        return any_term_query("doc_id", [keyword_term_of(str(doc_id)) for doc_id in _values_of_comparison(condition)])
    words = indexed_tokens_of(str(condition.value), layout.analyser)
    if not words:
        return MATCH_NONE
    paths = ["title_terms"] if condition.field == TITLE_FIELD else ["title_terms", "text_terms"]
    return any_of(*(_query_for_phrase(path, words) for path in paths))


def _query_for_phrase(path: str, words: Sequence[str]) -> JsonObject:
    if len(words) == 1:
        return {"term": {path: words[0]}}
    return {"match_phrase": {path: {"query": " ".join(words), "analyzer": "whitespace"}}}


def _values_of_comparison(condition: ComparisonCondition) -> tuple[Scalar, ...]:
    return condition.value if isinstance(condition.value, tuple) else (condition.value,)


def _query_for_comparison(condition: ComparisonCondition, field: IndexedField) -> JsonObject:
    if condition.op is ComparisonOperator.CONTAINS:
        return substring_query_for(field, fold_text(str(condition.value)))
    values = [indexed_value_of(value, field.definition.type) for value in _values_of_comparison(condition)]
    match condition.op:
        case ComparisonOperator.EQ | ComparisonOperator.HAS | ComparisonOperator.IN:
            return any_term_query(field.path, values)
        case ComparisonOperator.BETWEEN:
            return {"range": {field.path: {"gte": values[0], "lte": values[1]}}}
        case ComparisonOperator.GT | ComparisonOperator.GTE | ComparisonOperator.LT | ComparisonOperator.LTE:
            return {"range": {field.path: {_RANGE_OPERATORS[condition.op]: values[0]}}}
        case _:
            assert_never(condition.op)


def indexed_value_of(value: Scalar, field_type: FieldType) -> Scalar:
    """Returns a value as it is indexed at the field's main path."""
    if isinstance(value, str):
        return (
            date.fromisoformat(value).toordinal() if field_type is FieldType.DATE else keyword_term_of(fold_text(value))
        )
    return value


def substring_query_for(field: IndexedField, substring: str) -> JsonObject:
    """Returns a query for strings of the field that contain `substring`, which is folded already."""
    if not substring:
        return {"exists": {"field": field.path}}
    if len(substring) > MAX_WILDCARD_LENGTH:
        params = {"key": field.path, "windows": field.windows_path, "part": substring}
        script: JsonObject = {"script": {"script": {"source": _LONG_CONTAINS_SCRIPT, "params": params}}}
        return all_of({"exists": {"field": field.path}}, script)
    pattern = "*" + "".join(f"\\{c}" if c in "\\*?" else c for c in substring) + "*"
    # Windows of long strings overlap by the longest wildcard, so every occurrence lies whole in one window.
    return any_of(
        {"wildcard": {field.path: {"value": pattern}}}, {"wildcard": {field.windows_path: {"value": pattern}}}
    )

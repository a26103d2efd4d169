"""For random documents, conditions and scopes, every engine finds the same documents as the naive evaluation.

So the engines agree with one another.
"""

from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.search.evaluation.naive_evaluation import matches_search
from storage.search.ids import DocId
from storage.search.index import (
    CountRequest,
    FacetAnswer,
    FacetRequest,
    PeriodFacet,
    RangeFacet,
    RecordPageRequest,
    SearchIndex,
    ValueFacet,
)
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.strategies import conditions, corpora, schemas, scopes, strings

_numbers = count()


@st.composite
def searches(draw: st.DrawFn, schema: Schema) -> Search:
    required = tuple(draw(st.lists(strings, max_size=1)))
    clause = Clause(bucket=schema.bucket, condition=draw(conditions(schema)), required_terms=required)
    return Search(clauses=(clause,))


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
async def test_each_set_equals_that_of_the_naive_evaluation(index: SearchIndex, data: st.DataObject) -> None:
    schema = data.draw(schemas(f"drawn-{next(_numbers)}"), label="schema")
    documents = data.draw(corpora(schema), label="documents")
    drawn_searches = data.draw(st.lists(searches(schema), min_size=1, max_size=15), label="searches")
    scope = data.draw(scopes([schema.bucket]), label="scope")
    await index.set_schema(schema)
    try:
        result = await index.put(schema.bucket, documents)
        sets = await _load_sets(index, scope, drawn_searches)
    finally:
        await index.drop_bucket(schema.bucket)

    analyser = analyser_for(schema.language)
    assert len(result.added) == len(documents)
    for search in drawn_searches:
        expected = {
            document.doc_id for document in documents if matches_search(search, document, schema, analyser, scope)
        }
        assert sets[search] == expected


async def _load_sets(index: SearchIndex, scope: Scope, searches: list[Search]) -> dict[Search, set[DocId]]:
    """Return the set of each search. Asserts that the counts agree with the sets."""
    answers = await index.within_scope(scope).answer_requests(
        *map(CountRequest, searches), *(RecordPageRequest(search) for search in searches)
    )
    sets = {search: {record.doc_id for record in answers[RecordPageRequest(search)].records} for search in searches}
    assert {search: answers[CountRequest(search)] for search in searches} == {
        search: len(ids) for search, ids in sets.items()
    }
    return sets


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
async def test_values_other_and_missing_add_up_to_the_set(index: SearchIndex, data: st.DataObject) -> None:
    schema = data.draw(schemas(f"drawn-{next(_numbers)}"), label="schema")
    documents = data.draw(corpora(schema), label="documents")
    search = data.draw(searches(schema), label="search")
    scope = data.draw(scopes([schema.bucket]), label="scope")
    limit = data.draw(st.integers(0, 4), label="limit")
    facets = [
        FacetRequest(search, field.name, max_values=limit, max_bins=limit + 1)
        for field in schema.fields
        if field.type is not FieldType.ROWS
    ]
    await index.set_schema(schema)
    try:
        await index.put(schema.bucket, documents)
        answers = await index.within_scope(scope).answer_requests(CountRequest(search), *facets)
    finally:
        await index.drop_bucket(schema.bucket)

    for facet in facets:
        _check_counts(answers[facet], facet, answers[CountRequest(search)])


def _check_counts(answer: FacetAnswer, facet: FacetRequest, document_count: int) -> None:
    match answer:
        case ValueFacet(values=values, other_count=other_count, is_overlapping=is_overlapping):
            counts, rest_count = [bin_count.count for bin_count in values], other_count + answer.missing_count
            assert len(counts) <= facet.max_values
        case RangeFacet(ranges=ranges, missing_count=rest_count):
            counts, is_overlapping = [bin_count.count for bin_count in ranges], False
            assert len(counts) <= facet.max_bins
        case PeriodFacet(periods=periods, missing_count=rest_count):
            counts, is_overlapping = [bin_count.count for bin_count in periods], False
            assert len(counts) <= facet.max_bins
    assert 0 not in counts
    assert sum(counts) + rest_count >= document_count if is_overlapping else sum(counts) + rest_count == document_count

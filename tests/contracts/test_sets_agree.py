"""For random documents, conditions and scopes the set of every engine is that of the naive evaluation, member by
member: so the engines agree with one another.
"""

from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.analysis import analyser_for
from storage.search.ids import DocId
from storage.search.index import Count, Facet, FacetAnswer, PeriodFacet, RangeFacet, Records, SearchIndex, ValueFacet
from storage.search.naive import matches
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema
from storage.search.scope import Scope
from tests.strategies import conditions, corpora, schemas, scopes, strings

_numbers = count()


@st.composite
def searches(draw: st.DrawFn, schema: Schema) -> Search:
    required = tuple(draw(st.lists(strings, max_size=1)))
    clause = Clause(bucket=schema.bucket, condition=draw(conditions(schema)), required=required)
    return Search(clauses=(clause,))


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
async def test_each_set_is_that_of_the_naive_evaluation(index: SearchIndex, data: st.DataObject) -> None:
    schema = data.draw(schemas(f"drawn-{next(_numbers)}"), label="schema")
    documents = data.draw(corpora(schema), label="documents")
    asked = data.draw(st.lists(searches(schema), min_size=1, max_size=15), label="searches")
    seen = data.draw(scopes([schema.bucket]), label="scope")
    await index.set_schema(schema)
    try:
        put = await index.put(schema.bucket, documents)
        found = await _members(index, seen, asked)
    finally:
        await index.drop_bucket(schema.bucket)

    analyser = analyser_for(schema.language)
    assert len(put.added) == len(documents)
    for search in asked:
        wanted = {one.doc_id for one in documents if matches(search, one, schema, analyser, seen)}
        assert found[search] == wanted


async def _members(index: SearchIndex, seen: Scope, asked: list[Search]) -> dict[Search, set[DocId]]:
    """The set of each search; its count says the same."""
    answers = await index.within(seen).ask(*map(Count, asked), *(Records(search) for search in asked))
    sets = {search: {record.doc_id for record in answers[Records(search)].records} for search in asked}
    assert {search: answers[Count(search)] for search in asked} == {search: len(ids) for search, ids in sets.items()}
    return sets


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
async def test_cells_other_and_missing_add_up_to_the_set(index: SearchIndex, data: st.DataObject) -> None:
    schema = data.draw(schemas(f"drawn-{next(_numbers)}"), label="schema")
    documents = data.draw(corpora(schema), label="documents")
    search = data.draw(searches(schema), label="search")
    seen = data.draw(scopes([schema.bucket]), label="scope")
    limit = data.draw(st.integers(0, 4), label="limit")
    facets = [
        Facet(search, one.name, limit=limit, parts=limit + 1) for one in schema.fields if one.type is not FieldType.ROWS
    ]
    await index.set_schema(schema)
    try:
        await index.put(schema.bucket, documents)
        answers = await index.within(seen).ask(Count(search), *facets)
    finally:
        await index.drop_bucket(schema.bucket)

    for facet in facets:
        _check(answers[facet], facet, answers[Count(search)])


def _check(answer: FacetAnswer, facet: Facet, documents: int) -> None:
    match answer:
        case ValueFacet(values=values, other=other, overlapping=overlapping):
            counts, rest = [one.count for one in values], other + answer.missing
            assert len(counts) <= facet.limit
        case RangeFacet(ranges=ranges, missing=rest):
            counts, overlapping = [one.count for one in ranges], False
            assert len(counts) <= facet.parts
        case PeriodFacet(periods=periods, missing=rest):
            counts, overlapping = [one.count for one in periods], False
            assert len(counts) <= facet.parts
    assert 0 not in counts
    assert sum(counts) + rest >= documents if overlapping else sum(counts) + rest == documents

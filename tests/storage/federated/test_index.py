"""Two federated indexes give the same answers as one index over the documents of both."""

import base64
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.federated.index import federate_indexes
from storage.opensearch.index import OpenSearchIndex
from storage.search.analyser import fold_text
from storage.search.documents import Document
from storage.search.errors import IndexTimedOut, IndexUnavailable, InvalidCondition, UnknownField
from storage.search.forwarding_index import ForwardingScopedIndex
from storage.search.ids import BucketId, DocId, FieldName, Generation
from storage.search.index import (
    AggregateLine,
    AggregateRequest,
    CountRequest,
    DocumentRecord,
    DocumentRequest,
    FacetRequest,
    IndexAnswers,
    IndexRequest,
    KeywordPassageRequest,
    NearestValueRequest,
    OutlineHit,
    OutlineRequest,
    PassageHit,
    RecordPageRequest,
    ScopedIndex,
    SearchIndex,
    SemanticPassageRequest,
    SpellingRequest,
    ValueFacet,
)
from storage.search.plan import CalendarPeriod, Clause, GroupBy, Search, unfiltered_search_of
from storage.search.schema import FieldType, Schema, SchemaOrder
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.builders import TENANT, a_document, a_receipt_schema, a_scope, ordered_by
from tests.strategies import WORDS, conditions, corpora, scalars, schemas, scopes

_numbers = count()


@dataclass(frozen=True, kw_only=True)
class FederatedPair:
    """The same documents in one index and in two."""

    whole: SearchIndex
    main: SearchIndex
    secondary: SearchIndex

    async def put(self, schema: Schema, documents: list[Document], *, in_secondary: bool) -> None:
        for index in (self.whole, self.secondary if in_secondary else self.main):
            await index.set_schema(schema)
            await index.put(schema.bucket, documents)

    async def drop_buckets(self, main_bucket: BucketId, secondary_bucket: BucketId) -> None:
        for index, bucket in (
            (self.whole, main_bucket),
            (self.whole, secondary_bucket),
            (self.main, main_bucket),
            (self.secondary, secondary_bucket),
        ):
            await index.drop_bucket(bucket)

    def within_scope(self, scope: Scope, secondary_bucket: BucketId) -> tuple[ScopedIndex, ScopedIndex]:
        main = self.main.within_scope(replace(scope, buckets=scope.buckets - {secondary_bucket}))
        return self.whole.within_scope(scope), federate_indexes(
            main, self.secondary.within_scope(replace(scope, buckets=frozenset({secondary_bucket})))
        )


@pytest_asyncio.fixture(params=["embedded", pytest.param("opensearch", marks=pytest.mark.servers)])
async def both(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[FederatedPair]:
    """`main` has the engine that the parameter names; the other indexes are embedded."""
    embedder = WordLlamaEmbedder()
    async with AsyncExitStack() as stack:

        async def open_index(name: str) -> SearchIndex:
            index = await EmbeddedIndex.open(tmp_path / name, tenant=TENANT, analysers=analyser_for, embedder=embedder)
            stack.push_async_callback(index.close)
            return index

        whole, beside = await open_index("whole"), await open_index("beside")
        if request.param == "embedded":
            yield FederatedPair(whole=whole, main=await open_index("main"), secondary=beside)
            return
        url: str = request.getfixturevalue("opensearch_url")
        main = await OpenSearchIndex.open(
            [url],
            tenant=TENANT,
            analysers=analyser_for,
            embedder=embedder,
            installation=f"joined-{uuid.uuid4().hex[:12]}",  # the server may be shared
        )
        stack.push_async_callback(main.close)
        yield FederatedPair(whole=whole, main=main, secondary=beside)
        for bucket in await main.load_bucket_states():
            await main.drop_bucket(bucket)


# -- equal answers


@st.composite
def schema_pairs(draw: st.DrawFn) -> tuple[Schema, Schema]:
    """Draw schemas of two buckets with mostly the same fields.

    Units, currencies and languages may differ, and some fields have another type.
    """
    number = next(_numbers)
    left, right = draw(schemas(f"a{number}")), draw(schemas(f"b{number}"))
    fields = {field.name: field for field in right.fields}
    fields |= {field.name: replace(field, unit="") for field in left.fields if draw(st.integers(0, 9))}
    return left, replace(right, fields=tuple(replace(field, shared=False) for field in fields.values()), order=None)


def _exact_requests(left: Schema, right: Schema, search: Search, data: st.DataObject) -> list[IndexRequest[object]]:
    """Returns requests of all kinds but rankings and pages."""
    common_fields = {name: field for name, field in left.by_name.items() if name in right.by_name}
    requests: list[IndexRequest[object]] = [CountRequest(search)]
    groups: list[GroupBy | None] = [None]
    for name, field in common_fields.items():
        requests.append(FacetRequest(search, name))
        groups.append(GroupBy(field=name))
        if field.type is FieldType.DATE:
            groups += [GroupBy(field=name, period=period) for period in CalendarPeriod]
        if field.type in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE):
            value = data.draw(scalars(field))
            assert not isinstance(value, bool)
            requests.append(NearestValueRequest(search, name, value))
    for name, field in common_fields.items():
        if field.type in (FieldType.NUMBER, FieldType.MONEY):
            requests += [
                AggregateRequest(search, name, group, with_median=data.draw(st.booleans())) for group in groups
            ]
            factor = data.draw(st.sampled_from(sorted(common_fields)))
            requests += [AggregateRequest(search, name, group, factor=factor) for group in groups]
    requests += [AggregateRequest(search, group=group) for group in groups]
    buckets = frozenset({left.bucket, right.bucket})
    requests += [
        SpellingRequest(buckets, word, limit=data.draw(st.integers(0, 4))) for word in ("tirs", "runnin", "strasse")
    ]
    return requests


async def _load_comparable_answer(index: ScopedIndex, request: IndexRequest[object]) -> object:
    try:
        return _fold_group_names((await index.answer_requests(request))[request])
    except InvalidCondition as error:
        return type(error)


def _fold_group_names(answer: object) -> object:
    """Returns the answer with the names of its groups folded."""
    if not isinstance(answer, tuple):
        return answer
    return [_fold_group_name(item) for item in cast(tuple[object, ...], answer)]


def _fold_group_name(item: object) -> object:
    match item:
        case AggregateLine(group=str() as group):
            return replace(item, group=fold_text(group))
        case _:
            return item


async def _load_pages(index: ScopedIndex, request: RecordPageRequest) -> object:
    """Load all pages; return the records of each, or the type of the error."""
    pages, cursor = list[Sequence[DocumentRecord]](), None
    for _ in range(100):
        page_request = replace(request, cursor=cursor)
        try:
            page = (await index.answer_requests(page_request))[page_request]
        except InvalidCondition as error:
            return type(error)
        pages.append(page.records)
        cursor = page.cursor
        if cursor is None:
            return pages
    raise AssertionError("the pages do not end")


async def _assert_equal_rankings(
    whole: ScopedIndex, split: ScopedIndex, request: KeywordPassageRequest | OutlineRequest | SemanticPassageRequest
) -> None:
    """Assert that both find the same hits, sorted by score, then id; each bucket's hits keep their index's order."""
    expected, hits = (await whole.answer_requests(request))[request], (await split.answer_requests(request))[request]
    assert sorted(map(_hit_id, hits)) == sorted(map(_hit_id, expected))
    assert [_hit_id(hit) for hit in hits] == [
        _hit_id(hit) for hit in sorted(hits, key=lambda hit: (-hit.score, _hit_id(hit)))
    ]
    for clause in request.search.clauses:
        clause_request = replace(request, search=request.search.with_clauses(clause))
        bucket_hits = [_hit_id(hit) for hit in hits if hit.bucket == clause.bucket]
        assert bucket_hits == [_hit_id(hit) for hit in (await split.answer_requests(clause_request))[clause_request]]


async def _load_cosines(index: ScopedIndex, request: SemanticPassageRequest) -> dict[str, float]:
    return {hit.chunk_id: hit.score for hit in (await index.answer_requests(request))[request]}


def _hit_id(hit: PassageHit | OutlineHit) -> str:
    return hit.chunk_id if isinstance(hit, PassageHit) else hit.doc_id


_DRAWN_SETTINGS = settings(
    phases=(Phase.explicit, Phase.generate),
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("both", ["embedded"], indirect=True)
@settings(_DRAWN_SETTINGS, max_examples=40)
@given(data=st.data())
async def test_every_answer_equals_that_of_a_single_index(both: FederatedPair, data: st.DataObject) -> None:
    await _assert_equal_answers(both, data)


@pytest.mark.parametrize("both", [pytest.param("opensearch", marks=pytest.mark.servers)], indirect=True)
@settings(_DRAWN_SETTINGS, max_examples=10)
@given(data=st.data())
async def test_every_answer_equals_that_of_a_single_index_of_another_engine(
    both: FederatedPair, data: st.DataObject
) -> None:
    await _assert_equal_answers(both, data)


async def _assert_equal_answers(both: FederatedPair, data: st.DataObject) -> None:
    left, right = data.draw(schema_pairs(), label="schemas")
    left_documents, right_documents = data.draw(corpora(left, 12)), data.draw(corpora(right, 12))
    right_documents = [replace(document, doc_id=DocId(f"dé {document.doc_id}")) for document in right_documents]
    scope = data.draw(scopes([left.bucket, right.bucket]))
    clauses = [Clause(bucket=schema.bucket, condition=data.draw(conditions(schema, 2))) for schema in (left, right)]
    search = data.draw(
        st.sampled_from([unfiltered_search_of(left.bucket, right.bucket), Search(clauses=tuple(clauses))])
    )
    requests = _exact_requests(left, right, search, data)
    names = [name for name in left.by_name if name in right.by_name]
    page_requests = [
        RecordPageRequest(
            search,
            order=None if name is None else SchemaOrder(field=name, descending=data.draw(st.booleans())),
            limit=data.draw(st.integers(1, 7)),
            fields=data.draw(st.sampled_from([None, frozenset(), frozenset(names[:1])])),
        )
        for name in (None, *names)
    ]
    document_request = DocumentRequest(tuple(document.doc_id for document in (*right_documents, *left_documents)))
    words = " ".join(data.draw(st.lists(st.sampled_from(WORDS), max_size=4)))
    try:
        await both.put(left, left_documents, in_secondary=False)
        await both.put(right, right_documents, in_secondary=True)
        whole, split = both.within_scope(scope, right.bucket)
        for request in (*requests, document_request):
            assert await _load_comparable_answer(split, request) == await _load_comparable_answer(whole, request), (
                request
            )
        for request in page_requests:
            assert await _load_pages(split, request) == await _load_pages(whole, request), request
        semantic_request = SemanticPassageRequest(search, words, limit=1000)
        for request in (
            KeywordPassageRequest(search, words, limit=1000),
            OutlineRequest(search, words, limit=1000),
            semantic_request,
        ):
            await _assert_equal_rankings(whole, split, request)
        # The vectors are float16, or a byte a dimension: the cosines differ slightly.
        assert await _load_cosines(split, semantic_request) == pytest.approx(
            await _load_cosines(whole, semantic_request), abs=1e-2
        )
        split_vocabulary, whole_vocabulary = await split.load_vocabulary(), await whole.load_vocabulary()
        assert (split_vocabulary.fields, dict(split_vocabulary.document_counts)) == (
            whole_vocabulary.fields,
            dict(whole_vocabulary.document_counts),
        )
        assert dict(await split.load_schemas()) == dict(await whole.load_schemas())
    finally:
        await both.drop_buckets(left.bucket, right.bucket)


# -- approximations, refusals and changes


def _scoped_indexes(both: FederatedPair) -> tuple[ScopedIndex, ScopedIndex]:
    return both.within_scope(a_scope("mine", "theirs"), BucketId("theirs"))


_BOTH_BUCKETS = unfiltered_search_of(BucketId("mine"), BucketId("theirs"))


async def test_a_group_has_the_name_from_the_index_with_more_documents(both: FederatedPair) -> None:
    main_documents = [a_document(f"m{number}", vendor="Acme", weight=1.0) for number in range(2)]
    secondary_documents = [a_document(f"t{number}", vendor="ACME", weight=2.0) for number in range(3)]
    await both.put(a_receipt_schema("mine"), main_documents, in_secondary=False)
    await both.put(a_receipt_schema("theirs"), secondary_documents, in_secondary=True)
    request = AggregateRequest(_BOTH_BUCKETS, FieldName("weight"), GroupBy(field=FieldName("vendor")), with_median=True)
    whole, split = _scoped_indexes(both)

    (line,) = (await split.answer_requests(request))[request]

    assert (line.group, line.count, line.sum, line.average, line.median) == ("ACME", 5, 8.0, 1.6, 2.0)
    assert (line,) == (await whole.answer_requests(request))[request]


@pytest.mark.parametrize(
    "group",
    [
        None,
        GroupBy(field=FieldName("vendor")),
        GroupBy(field=FieldName("tags")),
        GroupBy(field=FieldName("date")),
        GroupBy(field=FieldName("date"), period=CalendarPeriod.QUARTER),
        GroupBy(field=FieldName("paid")),
        GroupBy(field=FieldName("weight")),
    ],
)
async def test_a_median_is_over_the_values_of_both_indexes(both: FederatedPair, group: GroupBy | None) -> None:
    def make_documents(prefix: str, first: int) -> list[Document]:
        return [
            a_document(
                f"{prefix}{number}",
                total=float((first + number * 7) % 11),
                currency=("EUR", "USD")[number % 2],
                vendor=(None, "Acme", "Bolt")[number % 3],
                tags=(None, ("x", "y"), ("y",))[number % 3],
                date=(None, "2024-01-31", "2024-02-01", "2025-01-01")[number % 4],
                paid=number % 2 == 0,
                weight=(None, 1.0, 2.5)[number % 3],
            )
            for number in range(first, first + 17)
        ]

    await both.put(a_receipt_schema("mine"), make_documents("m", 0), in_secondary=False)
    await both.put(a_receipt_schema("theirs"), make_documents("t", 5), in_secondary=True)
    whole, split = _scoped_indexes(both)
    request = AggregateRequest(_BOTH_BUCKETS, FieldName("total"), group, with_median=True)

    lines = (await split.answer_requests(request))[request]

    assert lines == (await whole.answer_requests(request))[request]
    assert len({line.median for line in lines}) > 1


async def test_a_word_rare_in_one_index_and_common_in_both_together_is_suggested(both: FederatedPair) -> None:
    main_documents = [
        a_document("m0", "parcel"),
        *(a_document(f"m{number}", "parcels parcelx") for number in range(1, 4)),
    ]
    secondary_documents = [a_document(f"t{number}", "parcel") for number in range(6)]
    await both.put(a_receipt_schema("mine"), main_documents, in_secondary=False)
    await both.put(a_receipt_schema("theirs"), secondary_documents, in_secondary=True)
    whole, split = _scoped_indexes(both)
    request = SpellingRequest(frozenset(_BOTH_BUCKETS.buckets), "parce", limit=1)
    second_request = replace(request, word="parceln", limit=2)

    answers = await split.answer_requests(request, second_request)

    assert [(suggestion.word, suggestion.distance, suggestion.document_count) for suggestion in answers[request]] == [
        ("parcel", 1, 7)
    ]
    assert answers[second_request] == (await whole.answer_requests(second_request))[second_request]
    assert [suggestion.word for suggestion in answers[second_request]] == ["parcel", "parcels"]


async def test_amounts_finer_than_the_minor_unit_are_added_before_they_are_rounded(both: FederatedPair) -> None:
    for bucket in ("mine", "theirs"):
        document = a_document(bucket, total=1.454, currency="EUR")
        await both.put(a_receipt_schema(bucket), [document], in_secondary=bucket == "theirs")
    request = AggregateRequest(_BOTH_BUCKETS, FieldName("total"))
    _, split = _scoped_indexes(both)

    (line,) = (await split.answer_requests(request))[request]

    assert (line.sum, line.average) == (2.91, 1.45)


async def test_values_that_cancel_out_between_the_indexes_leave_no_rounding_error(both: FederatedPair) -> None:
    weights = {"mine": (0.1, 1e6), "theirs": (0.2, -1e6, 0.4)}
    for bucket, bucket_weights in weights.items():
        documents = [a_document(f"{bucket} {number}", weight=weight) for number, weight in enumerate(bucket_weights)]
        await both.put(a_receipt_schema(bucket), documents, in_secondary=bucket == "theirs")
    request = AggregateRequest(_BOTH_BUCKETS, FieldName("weight"))
    _, split = _scoped_indexes(both)

    (line,) = (await split.answer_requests(request))[request]

    assert (line.sum, line.average, line.minimum, line.maximum) == (0.7, 0.14, -1e6, 1e6)


async def test_a_field_has_no_facet_over_both_indexes_but_one_over_each(both: FederatedPair) -> None:
    for bucket in ("mine", "theirs"):
        document = a_document(bucket, vendor="x")
        await both.put(a_receipt_schema(bucket, shared=bucket == "mine"), [document], in_secondary=bucket == "theirs")
    _, split = _scoped_indexes(both)
    single_bucket_request = FacetRequest(unfiltered_search_of(BucketId("theirs")), FieldName("vendor"))

    assert isinstance((await split.answer_requests(single_bucket_request))[single_bucket_request], ValueFacet)
    with pytest.raises(InvalidCondition, match="not shared"):
        await split.answer_requests(FacetRequest(_BOTH_BUCKETS, FieldName("vendor")))
    with pytest.raises(UnknownField):
        await split.answer_requests(FacetRequest(_BOTH_BUCKETS, FieldName("nothing")))


async def test_a_hit_with_more_of_the_query_terms_ranks_higher(both: FederatedPair) -> None:
    filler = [a_document(f"f{number}", f"plain words of no interest, number {number}") for number in range(60)]
    main_documents = [a_document("m", "a quasar seen at dawn", title="Sky"), *filler]
    secondary_documents = [
        a_document("t", "a quasar and a pulsar"),
        a_document("u", "a pulsar"),
        a_document("v", "nothing here"),
    ]
    await both.put(a_receipt_schema("mine"), main_documents, in_secondary=False)
    await both.put(a_receipt_schema("theirs"), secondary_documents, in_secondary=True)
    _, split = _scoped_indexes(both)
    passage_request, outline_request = (
        KeywordPassageRequest(_BOTH_BUCKETS, "quasar pulsar"),
        OutlineRequest(_BOTH_BUCKETS, "quasar pulsar"),
    )
    main_terms_request = KeywordPassageRequest(_BOTH_BUCKETS, "the quasar at dawn")

    answers = await split.answer_requests(passage_request, outline_request, main_terms_request)

    assert answers[passage_request][0].doc_id == "t"
    assert answers[outline_request][0].doc_id == "t"
    assert answers[main_terms_request][0].doc_id == "m"
    assert (
        answers[main_terms_request][0].score
        > next(hit for hit in answers[main_terms_request] if hit.doc_id == "t").score
    )


async def test_the_generation_changes_with_either_index_only(both: FederatedPair) -> None:
    for bucket in ("mine", "theirs"):
        await both.put(a_receipt_schema(bucket), [a_document(bucket)], in_secondary=bucket == "theirs")
    _, split = _scoped_indexes(both)
    request = CountRequest(unfiltered_search_of(BucketId("mine")))
    generations = [(await split.answer_requests(request)).generation]
    assert generations == [(await split.load_vocabulary()).generation]

    for bucket in ("mine", "theirs"):
        await both.put(a_receipt_schema(bucket), [a_document(f"{bucket} 2")], in_secondary=bucket == "theirs")
        generations.append((await split.answer_requests(request)).generation)

    assert len(set(generations)) == 3


@pytest.mark.parametrize("order", [None, ordered_by("weight"), ordered_by("vendor", descending=False)])
async def test_pages_continue_at_their_position_after_changes_in_both_indexes(
    both: FederatedPair, order: SchemaOrder | None
) -> None:
    def make_documents(bucket: str, *numbers: int) -> list[Document]:
        return [
            a_document(f"{number:02} {bucket}", weight=float(-number), vendor=f"v{number:02}") for number in numbers
        ]

    await both.put(a_receipt_schema("mine"), make_documents("mine", *range(0, 20, 2)), in_secondary=False)
    await both.put(a_receipt_schema("theirs"), make_documents("theirs", *range(1, 20, 2)), in_secondary=True)
    _, split = _scoped_indexes(both)
    doc_ids, cursor, limit = list[str](), None, 5
    while True:
        request = RecordPageRequest(_BOTH_BUCKETS, order=order, cursor=cursor, limit=limit)
        page = (await split.answer_requests(request))[request]
        doc_ids += [record.doc_id for record in page.records]
        cursor = page.cursor
        if cursor is None:
            break
        if len(doc_ids) == limit:
            await both.main.delete([DocId("00 mine"), DocId("10 mine")])
            await both.secondary.delete([DocId("03 theirs"), DocId("11 theirs")])
            await both.put(a_receipt_schema("mine"), make_documents("mine", 31), in_secondary=False)
            await both.put(a_receipt_schema("theirs"), make_documents("theirs", 0, 30), in_secondary=True)

    deleted = {10, 11}
    assert [int(doc_id[:2]) for doc_id in doc_ids] == [number for number in range(20) if number not in deleted] + [
        30,
        31,
    ]


@pytest.mark.parametrize(
    "forged", ['[null,[null,0,false],["x",0,false],null]', "[null,[1,0,false],[null,0,true],null]"]
)
async def test_a_forged_cursor_or_one_of_another_request_is_refused(both: FederatedPair, forged: str) -> None:
    for bucket in ("mine", "theirs"):
        documents = [a_document(f"{bucket} {number}", weight=float(number)) for number in range(4)]
        await both.put(a_receipt_schema(bucket), documents, in_secondary=bucket == "theirs")
    _, split = _scoped_indexes(both)
    first_request = RecordPageRequest(_BOTH_BUCKETS, order=ordered_by("weight"), limit=2)
    cursor = (await split.answer_requests(first_request))[first_request].cursor
    main_search = unfiltered_search_of(BucketId("mine"))
    cursors = [base64.urlsafe_b64encode(forged.encode()).decode(), "", "x", "bnVsbA=="]
    wrong_requests = [RecordPageRequest(_BOTH_BUCKETS, cursor=wrong_cursor) for wrong_cursor in cursors]

    for request in (
        *wrong_requests,
        replace(first_request, order=None, cursor=cursor),
        replace(first_request, search=main_search, cursor=cursor),
    ):
        with pytest.raises(InvalidCondition):
            await split.answer_requests(request)


class ChangingIndex(ForwardingScopedIndex):
    """An index whose generation changes with each of the first `change_count` calls."""

    def __init__(self, wrapped: ScopedIndex, change_count: int) -> None:
        super().__init__(wrapped)
        self._remaining_changes = change_count

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        answers = await self.wrapped.answer_requests(*requests)
        self._remaining_changes -= 1
        return IndexAnswers(
            Generation(f"{max(self._remaining_changes, 0)}"), {request: answers[request] for request in requests}
        )


async def test_requests_start_again_if_an_index_changes_between_steps(both: FederatedPair) -> None:
    for bucket in ("mine", "theirs"):
        await both.put(a_receipt_schema(bucket), [a_document(bucket, weight=1.0)], in_secondary=bucket == "theirs")
    main, secondary = both.main.within_scope(a_scope("mine")), both.secondary.within_scope(a_scope("theirs"))
    request = AggregateRequest(_BOTH_BUCKETS, FieldName("weight"), with_median=True)

    (line,) = (await federate_indexes(ChangingIndex(main, 5), secondary).answer_requests(request))[request]

    assert (line.count, line.median) == (2, 1.0)
    with pytest.raises(IndexTimedOut):
        await federate_indexes(ChangingIndex(main, 1_000), secondary).answer_requests(request)
    assert (await federate_indexes(ChangingIndex(main, 1_000), secondary).answer_requests(CountRequest(_BOTH_BUCKETS)))[
        CountRequest(_BOTH_BUCKETS)
    ] == 2


async def test_the_failure_of_one_index_is_raised_unchanged(both: FederatedPair) -> None:
    for bucket in ("mine", "theirs"):
        await both.put(a_receipt_schema(bucket), [a_document(bucket)], in_secondary=bucket == "theirs")
    _, split = _scoped_indexes(both)
    await both.secondary.close()

    with pytest.raises(IndexUnavailable):
        await split.answer_requests(CountRequest(_BOTH_BUCKETS))
    with pytest.raises(IndexUnavailable):
        await split.load_vocabulary()

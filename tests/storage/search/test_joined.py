"""Two indexes joined say what one index over all their documents says."""

import base64
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.opensearch.index import OpenSearchIndex
from storage.search.documents import Document
from storage.search.errors import IndexTimedOut, IndexUnavailable, InvalidCondition, UnknownField
from storage.search.ids import BucketId, DocId, FieldName, Generation
from storage.search.index import (
    Aggregate,
    Aggregated,
    Answers,
    Count,
    Facet,
    Fetch,
    Hit,
    Nearest,
    NearPassages,
    Outline,
    Outlines,
    Passages,
    Record,
    Records,
    Request,
    ScopedIndex,
    SearchIndex,
    Spellings,
    ValueFacet,
    Vocabulary,
)
from storage.search.joined import joined
from storage.search.plan import Clause, Group, Period, Search, everything_in
from storage.search.schema import FieldType, Schema, SchemaOrder
from storage.search.scope import Scope
from storage.search.text import Analyser, fold
from tests.builders import TENANT, a_document, a_receipt_schema, a_scope, ordered_by
from tests.strategies import WORDS, conditions, corpora, scalars, schemas, scopes

_numbers = count()


@dataclass(frozen=True, kw_only=True)
class Both:
    """The same documents in one index, and in two."""

    whole: SearchIndex
    main: SearchIndex
    beside: SearchIndex

    async def put(self, schema: Schema, documents: list[Document], *, beside: bool) -> None:
        for index in (self.whole, self.beside if beside else self.main):
            await index.set_schema(schema)
            await index.put(schema.bucket, documents)

    async def drop(self, left: BucketId, right: BucketId) -> None:
        for index, bucket in ((self.whole, left), (self.whole, right), (self.main, left), (self.beside, right)):
            await index.drop_bucket(bucket)

    def within(self, scope: Scope, beside: BucketId) -> tuple[ScopedIndex, ScopedIndex]:
        main = self.main.within(replace(scope, buckets=scope.buckets - {beside}))
        return self.whole.within(scope), joined(main, self.beside.within(replace(scope, buckets=frozenset({beside}))))


@pytest_asyncio.fixture(params=["embedded", pytest.param("opensearch", marks=pytest.mark.servers)])
async def both(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Both]:
    """`main` is of the engine that the parameter names; the others are embedded."""
    embedder = WordLlamaEmbedder()
    async with AsyncExitStack() as stack:

        async def opened(name: str) -> SearchIndex:
            index = await EmbeddedIndex.open(tmp_path / name, tenant=TENANT, analysers=analyser_for, embedder=embedder)
            stack.push_async_callback(index.close)
            return index

        whole, beside = await opened("whole"), await opened("beside")
        if request.param == "embedded":
            yield Both(whole=whole, main=await opened("main"), beside=beside)
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
        yield Both(whole=whole, main=main, beside=beside)
        for bucket in await main.buckets():
            await main.drop_bucket(bucket)


# -- whatever is asked


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Schema, Schema]:
    """Two buckets that share most fields, each with its own unit, currency and language; some of another type."""
    number = next(_numbers)
    one, other = draw(schemas(f"a{number}")), draw(schemas(f"b{number}"))
    fields = {field.name: field for field in other.fields}
    fields |= {field.name: replace(field, unit="") for field in one.fields if draw(st.integers(0, 9))}
    return one, replace(other, fields=tuple(replace(field, shared=False) for field in fields.values()), order=None)


def _requests(left: Schema, right: Schema, search: Search, data: st.DataObject) -> list[Request[object]]:
    """All but rankings and pages."""
    known = {name: field for name, field in left.by_name.items() if name in right.by_name}
    asked: list[Request[object]] = [Count(search)]
    groups: list[Group | None] = [None]
    for name, field in known.items():
        asked.append(Facet(search, name))
        groups.append(Group(field=name))
        if field.type is FieldType.DATE:
            groups += [Group(field=name, period=period) for period in Period]
        if field.type in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE):
            value = data.draw(scalars(field))
            assert not isinstance(value, bool)
            asked.append(Nearest(search, name, value))
    for name, field in known.items():
        if field.type in (FieldType.NUMBER, FieldType.MONEY):
            asked += [Aggregate(search, name, group, median=data.draw(st.booleans())) for group in groups]
    asked += [Aggregate(search, group=group) for group in groups]
    buckets = frozenset({left.bucket, right.bucket})
    asked += [Spellings(buckets, word, limit=data.draw(st.integers(0, 4))) for word in ("tirs", "runnin", "strasse")]
    return asked


async def _answer(index: ScopedIndex, request: Request[object]) -> object:
    try:
        return _comparable((await index.ask(request))[request])
    except InvalidCondition as error:
        return type(error)


def _comparable(answer: object) -> object:
    """Groups by their folds."""
    if not isinstance(answer, tuple):
        return answer
    return [_loosely(one) for one in cast(tuple[object, ...], answer)]


def _loosely(one: object) -> object:
    match one:
        case Aggregated(group=str() as group):
            return replace(one, group=fold(group))
        case _:
            return one


async def _pages(index: ScopedIndex, request: Records) -> object:
    """Page by page."""
    found, after = list[tuple[Record, ...]](), None
    for _ in range(100):
        asked = replace(request, after=after)
        try:
            page = (await index.ask(asked))[asked]
        except InvalidCondition as error:
            return type(error)
        found.append(page.records)
        after = page.cursor
        if after is None:
            return found
    raise AssertionError("the pages do not end")


async def _assert_ranked_alike(
    whole: ScopedIndex, split: ScopedIndex, request: Passages | Outlines | NearPassages
) -> None:
    """The same are found, sorted by score, then id; those of one bucket in the order that their own index gives."""
    wanted, found = (await whole.ask(request))[request], (await split.ask(request))[request]
    assert sorted(map(_id, found)) == sorted(map(_id, wanted))
    assert [_id(one) for one in found] == [_id(one) for one in sorted(found, key=lambda one: (-one.score, _id(one)))]
    for clause in request.search.clauses:
        alone = replace(request, search=request.search.with_clauses(clause))
        mine = [_id(one) for one in found if one.bucket == clause.bucket]
        assert mine == [_id(one) for one in (await split.ask(alone))[alone]]


async def _cosines(index: ScopedIndex, request: NearPassages) -> dict[str, float]:
    return {hit.chunk_id: hit.score for hit in (await index.ask(request))[request]}


def _id(one: Hit | Outline) -> str:
    return one.chunk_id if isinstance(one, Hit) else one.doc_id


_DRAWN = settings(
    phases=(Phase.explicit, Phase.generate),
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("both", ["embedded"], indirect=True)
@settings(_DRAWN, max_examples=40)
@given(data=st.data())
async def test_every_answer_is_that_of_one_index(both: Both, data: st.DataObject) -> None:
    await _assert_all_alike(both, data)


@pytest.mark.parametrize("both", [pytest.param("opensearch", marks=pytest.mark.servers)], indirect=True)
@settings(_DRAWN, max_examples=10)
@given(data=st.data())
async def test_every_answer_is_that_of_one_index_of_another_engine(both: Both, data: st.DataObject) -> None:
    await _assert_all_alike(both, data)


async def _assert_all_alike(both: Both, data: st.DataObject) -> None:
    left, right = data.draw(pairs(), label="schemas")
    one, other = data.draw(corpora(left, 12)), data.draw(corpora(right, 12))
    other = [replace(document, doc_id=DocId(f"dé {document.doc_id}")) for document in other]
    scope = data.draw(scopes([left.bucket, right.bucket]))
    clauses = [Clause(bucket=schema.bucket, condition=data.draw(conditions(schema, 2))) for schema in (left, right)]
    search = data.draw(st.sampled_from([everything_in(left.bucket, right.bucket), Search(clauses=tuple(clauses))]))
    asked = _requests(left, right, search, data)
    names = [name for name in left.by_name if name in right.by_name]
    pages = [
        Records(
            search,
            order=None if name is None else SchemaOrder(field=name, descending=data.draw(st.booleans())),
            limit=data.draw(st.integers(1, 7)),
            fields=data.draw(st.sampled_from([None, frozenset(), frozenset(names[:1])])),
        )
        for name in (None, *names)
    ]
    fetch = Fetch(tuple(document.doc_id for document in (*other, *one)))
    words = " ".join(data.draw(st.lists(st.sampled_from(WORDS), max_size=4)))
    try:
        await both.put(left, one, beside=False)
        await both.put(right, other, beside=True)
        whole, split = both.within(scope, right.bucket)
        for request in (*asked, fetch):
            assert await _answer(split, request) == await _answer(whole, request), request
        for request in pages:
            assert await _pages(split, request) == await _pages(whole, request), request
        near = NearPassages(search, words, limit=1000)
        for request in (Passages(search, words, limit=1000), Outlines(search, words, limit=1000), near):
            await _assert_ranked_alike(whole, split, request)
        assert await _cosines(split, near) == pytest.approx(await _cosines(whole, near), abs=1e-3)  # float16 or float32
        mine, theirs = await split.vocabulary(), await whole.vocabulary()
        assert (mine.fields, dict(mine.documents)) == (theirs.fields, dict(theirs.documents))
        assert dict(await split.schemas()) == dict(await whole.schemas())
    finally:
        await both.drop(left.bucket, right.bucket)


# -- what it approximates, refuses and costs


def _scoped(both: Both) -> tuple[ScopedIndex, ScopedIndex]:
    return both.within(a_scope("mine", "theirs"), BucketId("theirs"))


_BOTH = everything_in(BucketId("mine"), BucketId("theirs"))


async def test_a_group_is_named_as_the_larger_part_writes_it(both: Both) -> None:
    mine = [a_document(f"m{n}", vendor="Acme", weight=1.0) for n in range(2)]
    theirs = [a_document(f"t{n}", vendor="ACME", weight=2.0) for n in range(3)]
    await both.put(a_receipt_schema("mine"), mine, beside=False)
    await both.put(a_receipt_schema("theirs"), theirs, beside=True)
    request = Aggregate(_BOTH, FieldName("weight"), Group(field=FieldName("vendor")), median=True)
    whole, split = _scoped(both)

    (line,) = (await split.ask(request))[request]

    assert (line.group, line.count, line.sum, line.average, line.median) == ("ACME", 5, 8.0, 1.6, 2.0)
    assert (line,) == (await whole.ask(request))[request]


@pytest.mark.parametrize(
    "group",
    [
        None,
        Group(field=FieldName("vendor")),
        Group(field=FieldName("tags")),
        Group(field=FieldName("date")),
        Group(field=FieldName("date"), period=Period.QUARTER),
        Group(field=FieldName("paid")),
        Group(field=FieldName("weight")),
    ],
)
async def test_a_median_is_that_of_the_values_of_both(both: Both, group: Group | None) -> None:
    def some(prefix: str, first: int) -> list[Document]:
        return [
            a_document(
                f"{prefix}{n}",
                total=float((first + n * 7) % 11),
                currency=("EUR", "USD")[n % 2],
                vendor=(None, "Acme", "Bolt")[n % 3],
                tags=(None, ("x", "y"), ("y",))[n % 3],
                date=(None, "2024-01-31", "2024-02-01", "2025-01-01")[n % 4],
                paid=n % 2 == 0,
                weight=(None, 1.0, 2.5)[n % 3],
            )
            for n in range(first, first + 17)
        ]

    await both.put(a_receipt_schema("mine"), some("m", 0), beside=False)
    await both.put(a_receipt_schema("theirs"), some("t", 5), beside=True)
    whole, split = _scoped(both)
    request = Aggregate(_BOTH, FieldName("total"), group, median=True)

    lines = (await split.ask(request))[request]

    assert lines == (await whole.ask(request))[request]
    assert len({line.median for line in lines}) > 1


async def test_a_word_rare_in_one_and_common_in_both_is_suggested(both: Both) -> None:
    mine = [a_document("m0", "parcel"), *(a_document(f"m{n}", "parcels parcelx") for n in range(1, 4))]
    theirs = [a_document(f"t{n}", "parcel") for n in range(6)]
    await both.put(a_receipt_schema("mine"), mine, beside=False)
    await both.put(a_receipt_schema("theirs"), theirs, beside=True)
    whole, split = _scoped(both)
    request = Spellings(frozenset(_BOTH.buckets), "parce", limit=1)
    two = replace(request, word="parceln", limit=2)

    answers = await split.ask(request, two)

    assert [(one.word, one.distance, one.documents) for one in answers[request]] == [("parcel", 1, 7)]
    assert answers[two] == (await whole.ask(two))[two]
    assert [one.word for one in answers[two]] == ["parcel", "parcels"]


async def test_amounts_finer_than_the_minor_unit_add_up_before_they_are_rounded(both: Both) -> None:
    for bucket in ("mine", "theirs"):
        fuel = a_document(bucket, total=1.454, currency="EUR")
        await both.put(a_receipt_schema(bucket), [fuel], beside=bucket == "theirs")
    request = Aggregate(_BOTH, FieldName("total"))
    _, split = _scoped(both)

    (line,) = (await split.ask(request))[request]

    assert (line.sum, line.average) == (2.91, 1.45)


async def test_what_cancels_out_between_both_leaves_no_residue(both: Both) -> None:
    weights = {"mine": (0.1, 1e6), "theirs": (0.2, -1e6, 0.4)}
    for bucket, some in weights.items():
        documents = [a_document(f"{bucket} {n}", weight=weight) for n, weight in enumerate(some)]
        await both.put(a_receipt_schema(bucket), documents, beside=bucket == "theirs")
    request = Aggregate(_BOTH, FieldName("weight"))
    _, split = _scoped(both)

    (line,) = (await split.ask(request))[request]

    assert (line.sum, line.average, line.minimum, line.maximum) == (0.7, 0.14, -1e6, 1e6)


async def test_a_field_has_no_facet_over_both_and_one_over_each(both: Both) -> None:
    for bucket in ("mine", "theirs"):
        document = a_document(bucket, vendor="x")
        await both.put(a_receipt_schema(bucket, shared=bucket == "mine"), [document], beside=bucket == "theirs")
    _, split = _scoped(both)
    alone = Facet(everything_in(BucketId("theirs")), FieldName("vendor"))

    assert isinstance((await split.ask(alone))[alone], ValueFacet)
    with pytest.raises(InvalidCondition, match="not shared"):
        await split.ask(Facet(_BOTH, FieldName("vendor")))
    with pytest.raises(UnknownField):
        await split.ask(Facet(_BOTH, FieldName("nothing")))


async def test_what_holds_more_of_the_question_stands_before_what_holds_less(both: Both) -> None:
    filler = [a_document(f"f{n}", f"plain words of no interest, number {n}") for n in range(60)]
    mine = [a_document("m", "a quasar seen at dawn", title="Sky"), *filler]
    theirs = [a_document("t", "a quasar and a pulsar"), a_document("u", "a pulsar"), a_document("v", "nothing here")]
    await both.put(a_receipt_schema("mine"), mine, beside=False)
    await both.put(a_receipt_schema("theirs"), theirs, beside=True)
    _, split = _scoped(both)
    asked, other = Passages(_BOTH, "quasar pulsar"), Outlines(_BOTH, "quasar pulsar")
    main_alone = Passages(_BOTH, "the quasar at dawn")

    answers = await split.ask(asked, other, main_alone)

    assert answers[asked][0].doc_id == "t"
    assert answers[other][0].doc_id == "t"
    assert answers[main_alone][0].doc_id == "m"
    assert answers[main_alone][0].score > next(hit for hit in answers[main_alone] if hit.doc_id == "t").score


async def test_the_generation_moves_with_either_and_with_nothing_else(both: Both) -> None:
    for bucket in ("mine", "theirs"):
        await both.put(a_receipt_schema(bucket), [a_document(bucket)], beside=bucket == "theirs")
    _, split = _scoped(both)
    alone = Count(everything_in(BucketId("mine")))
    seen = [(await split.ask(alone)).generation]
    assert seen == [(await split.vocabulary()).generation]

    for bucket in ("mine", "theirs"):
        await both.put(a_receipt_schema(bucket), [a_document(f"{bucket} 2")], beside=bucket == "theirs")
        seen.append((await split.ask(alone)).generation)

    assert len(set(seen)) == 3


@pytest.mark.parametrize("order", [None, ordered_by("weight"), ordered_by("vendor", descending=False)])
async def test_pages_of_both_go_on_where_they_were_when_the_sets_changed(both: Both, order: SchemaOrder | None) -> None:
    def some(bucket: str, *numbers: int) -> list[Document]:
        return [a_document(f"{n:02} {bucket}", weight=float(-n), vendor=f"v{n:02}") for n in numbers]

    await both.put(a_receipt_schema("mine"), some("mine", *range(0, 20, 2)), beside=False)
    await both.put(a_receipt_schema("theirs"), some("theirs", *range(1, 20, 2)), beside=True)
    _, split = _scoped(both)
    found, after, limit = list[str](), None, 5
    while True:
        request = Records(_BOTH, order=order, after=after, limit=limit)
        page = (await split.ask(request))[request]
        found += [record.doc_id for record in page.records]
        after = page.cursor
        if after is None:
            break
        if len(found) == limit:
            await both.main.delete([DocId("00 mine"), DocId("10 mine")])
            await both.beside.delete([DocId("03 theirs"), DocId("11 theirs")])
            await both.put(a_receipt_schema("mine"), some("mine", 31), beside=False)
            await both.put(a_receipt_schema("theirs"), some("theirs", 0, 30), beside=True)

    gone = {10, 11}
    assert [int(doc_id[:2]) for doc_id in found] == [n for n in range(20) if n not in gone] + [30, 31]


@pytest.mark.parametrize(
    "forged", ['[null,[null,0,false],["x",0,false],null]', "[null,[1,0,false],[null,0,true],null]"]
)
async def test_a_cursor_that_was_not_given_for_both_is_refused(both: Both, forged: str) -> None:
    for bucket in ("mine", "theirs"):
        documents = [a_document(f"{bucket} {n}", weight=float(n)) for n in range(4)]
        await both.put(a_receipt_schema(bucket), documents, beside=bucket == "theirs")
    _, split = _scoped(both)
    first = Records(_BOTH, order=ordered_by("weight"), limit=2)
    cursor = (await split.ask(first))[first].cursor
    alone = everything_in(BucketId("mine"))
    cursors = [base64.urlsafe_b64encode(forged.encode()).decode(), "", "x", "bnVsbA=="]
    wrong = [Records(_BOTH, after=one) for one in cursors]

    for request in (*wrong, replace(first, order=None, after=cursor), replace(first, search=alone, after=cursor)):
        with pytest.raises(InvalidCondition):
            await split.ask(request)


class _Moving:
    """An index that changes whenever it is asked, as often as `times`."""

    def __init__(self, inside: ScopedIndex, times: int) -> None:
        self._inside, self._times = inside, times

    @property
    def scope(self) -> Scope:
        return self._inside.scope

    async def ask(self, *requests: Request[object]) -> Answers:
        answers = await self._inside.ask(*requests)
        self._times -= 1
        return Answers(Generation(f"{max(self._times, 0)}"), {request: answers[request] for request in requests})

    async def vocabulary(self, limit: int = 200_000) -> Vocabulary:
        return await self._inside.vocabulary(limit)

    async def schemas(self) -> Mapping[BucketId, Schema]:
        return await self._inside.schemas()

    def analyser(self, bucket: BucketId) -> Analyser:
        return self._inside.analyser(bucket)


async def test_steps_overtaken_by_a_change_are_taken_again(both: Both) -> None:
    for bucket in ("mine", "theirs"):
        await both.put(a_receipt_schema(bucket), [a_document(bucket, weight=1.0)], beside=bucket == "theirs")
    main, beside = both.main.within(a_scope("mine")), both.beside.within(a_scope("theirs"))
    request = Aggregate(_BOTH, FieldName("weight"), median=True)

    (line,) = (await joined(_Moving(main, 5), beside).ask(request))[request]

    assert (line.count, line.median) == (2, 1.0)
    with pytest.raises(IndexTimedOut):
        await joined(_Moving(main, 1_000), beside).ask(request)
    assert (await joined(_Moving(main, 1_000), beside).ask(Count(_BOTH)))[Count(_BOTH)] == 2


async def test_the_failure_of_one_is_raised_as_it_is(both: Both) -> None:
    for bucket in ("mine", "theirs"):
        await both.put(a_receipt_schema(bucket), [a_document(bucket)], beside=bucket == "theirs")
    _, split = _scoped(both)
    await both.beside.close()

    with pytest.raises(IndexUnavailable):
        await split.ask(Count(_BOTH))
    with pytest.raises(IndexUnavailable):
        await split.vocabulary()

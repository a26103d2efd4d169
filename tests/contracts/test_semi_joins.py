"""Semi-joins: every engine finds what the naive evaluation finds, within the scope, in few round trips."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.federated.index import federate_indexes
from storage.search.conditions import (
    DOC_ID_FIELD,
    MATCH_ALL,
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    OrCondition,
    RowCondition,
    Scalar,
    SemiJoinCondition,
)
from storage.search.documents import Document, FieldValues
from storage.search.errors import InvalidCondition, UnknownField
from storage.search.evaluation.naive_evaluation import NaiveBucket, matches_search
from storage.search.evaluation.semi_join_resolution import MAX_INNER_VALUES
from storage.search.forwarding_index import ForwardingScopedIndex
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    FacetRequest,
    IndexAnswers,
    IndexRequest,
    RecordPageRequest,
    ScopedIndex,
    SearchIndex,
    ValueFacet,
)
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for
from tests.builders import a_scope, a_search
from tests.contracts.conftest import also_in_three_shards
from tests.strategies import corpora, joined_conditions, schemas, scopes

_numbers = count()
GARDENS, PLANTS = BucketId("gardens"), BucketId("plants")


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
async def test_sets_with_semi_joins_equal_those_of_the_naive_evaluation(
    index: SearchIndex, data: st.DataObject
) -> None:
    number = next(_numbers)
    drawn_schemas = [data.draw(schemas(f"joined-{number}-{part}"), label="schema") for part in "ab"]
    documents = data.draw(corpora(drawn_schemas[0], max_documents=12)), data.draw(corpora(drawn_schemas[1], 12))
    renamed = [_rename_documents(part, drawn) for part, drawn in zip("ab", documents, strict=True)]
    outer = drawn_schemas[0]
    drawn_conditions = data.draw(st.lists(joined_conditions(outer, drawn_schemas), min_size=1, max_size=6))
    searches = [Search(clauses=(Clause(bucket=outer.bucket, condition=condition),)) for condition in drawn_conditions]
    granted = data.draw(st.sampled_from([drawn_schemas, drawn_schemas, [outer]]), label="granted")
    scope = data.draw(scopes([schema.bucket for schema in granted]), label="scope")
    for schema, bucket_documents in zip(drawn_schemas, renamed, strict=True):
        await index.set_schema(schema)
        await index.put(schema.bucket, bucket_documents)
    try:
        sets = [await _load_set(index.within_scope(scope), search) for search in searches]
    finally:
        for schema in drawn_schemas:
            await index.drop_bucket(schema.bucket)

    analyser = analyser_for(outer.language)
    corpus = {
        schema.bucket: NaiveBucket(schema=schema, documents=stored, analyser=analyser_for(schema.language))
        for schema, stored in zip(drawn_schemas, renamed, strict=True)
        if schema in granted
    }
    for search, found in zip(searches, sets, strict=True):
        assert found == {
            document.doc_id
            for document in renamed[0]
            if matches_search(search, document, outer, analyser, scope, corpus)
        }


def _rename_documents(prefix: str, documents: Sequence[Document]) -> list[Document]:
    """Documents of two buckets with ids that are not the same."""
    return [
        Document(
            doc_id=DocId(f"{prefix}{document.doc_id}"),
            title=document.title,
            text=document.text,
            values=document.values,
            readers=document.readers,
            passages=document.passages,
        )
        for document in documents
    ]


async def _load_set(scoped: ScopedIndex, search: Search) -> set[DocId]:
    count_request, page_request = CountRequest(search), RecordPageRequest(search)
    answers = await scoped.answer_requests(count_request, page_request)
    found = {record.doc_id for record in answers[page_request].records}
    assert answers[count_request] == len(found)
    return found


# -- by example


def a_plant(number: int, name: str, height: float, garden: str | None) -> Document:
    values = {FieldName("height"): height} | ({FieldName("garden"): garden} if garden else {})
    return Document(doc_id=DocId(f"plant-{number}"), title=name, text=name, values=values)


async def _plant_everything(index: SearchIndex) -> None:
    height = SchemaField(name=FieldName("height"), type=FieldType.NUMBER, unit="m")
    garden = SchemaField(name=FieldName("garden"), type=FieldType.CATEGORY)
    opened = SchemaField(name=FieldName("opened"), type=FieldType.NUMBER)
    main_tree = SchemaField(name=FieldName("main tree"), type=FieldType.LIST)
    await index.set_schema(Schema(bucket=PLANTS, fields=(height, garden)))
    await index.set_schema(Schema(bucket=GARDENS, fields=(opened, main_tree)))
    gardens = [("North", 1900.0, ("OAK",)), ("South", 1850.0, ("Elm", "Yew")), ("Old", 1850.0, ("Yew",))]
    await index.put(
        GARDENS,
        [
            Document(
                doc_id=DocId(f"garden-{number}"),
                title=title,
                text=title,
                values={FieldName("opened"): year, FieldName("main tree"): trees},
            )
            for number, (title, year, trees) in enumerate(gardens)
        ],
    )
    plants = [("Oak", 20.0, "NORTH"), ("Elm", 12.0, "South"), ("Yew", 9.0, "old"), ("Ash", 15.0, None)]
    await index.put(PLANTS, [a_plant(number, *plant) for number, plant in enumerate(plants)])


def in_garden(condition: Condition = MATCH_ALL, order_by: str | None = None) -> SemiJoinCondition:
    return SemiJoinCondition(
        field=FieldName("garden"),
        bucket=GARDENS,
        key=TITLE_FIELD,
        condition=condition,
        order_by=None if order_by is None else FieldName(order_by),
        is_descending=order_by is None,
    )


OPENED_LATE = ComparisonCondition(field=FieldName("opened"), op=ComparisonOperator.GT, value=1875.0)


async def test_a_document_without_the_field_is_neither_in_nor_out(index: SearchIndex) -> None:
    await _plant_everything(index)
    scoped = index.within_scope(a_scope(PLANTS, GARDENS))

    assert await _load_set(scoped, a_search(in_garden(OPENED_LATE), bucket=PLANTS)) == {"plant-0"}
    assert await _load_set(scoped, a_search(NotCondition(in_garden(OPENED_LATE)), bucket=PLANTS)) == {
        "plant-1",
        "plant-2",
    }


@also_in_three_shards
async def test_the_first_of_an_ordered_set_are_all_that_tie(index: SearchIndex) -> None:
    await _plant_everything(index)
    scoped = index.within_scope(a_scope(PLANTS, GARDENS))

    assert await _load_set(scoped, a_search(in_garden(order_by="opened"), bucket=PLANTS)) == {"plant-1", "plant-2"}


async def test_a_document_without_a_flag_ties_with_those_whose_flag_is_false(index: SearchIndex) -> None:
    await _plant_everything(index)
    public = SchemaField(name=FieldName("public"), type=FieldType.FLAG)
    await index.set_schema(Schema(bucket=GARDENS, fields=(public,)))
    flags: list[FieldValues] = [{public.name: True}, {public.name: False}, {}]
    gardens = [
        Document(doc_id=DocId(f"g{number}"), title=title, text=title, values=values)
        for number, (title, values) in enumerate(zip(("North", "South", "Old"), flags, strict=True))
    ]
    await index.put(GARDENS, gardens)
    await index.delete([DocId(f"garden-{number}") for number in range(3)])
    scoped = index.within_scope(a_scope(PLANTS, GARDENS))

    first = in_garden(order_by="public")

    assert await _load_set(scoped, a_search(first, bucket=PLANTS)) == {"plant-1", "plant-2"}


async def test_hundreds_of_documents_may_tie_for_the_first(index: SearchIndex) -> None:
    await _plant_everything(index)
    opened = [*[1700.0] * 300, 1900.0]
    gardens = [
        Document(doc_id=DocId(f"g{number:03}"), title=f"G{number}", text="", values={FieldName("opened"): year})
        for number, year in enumerate(opened)
    ]
    await index.put(GARDENS, gardens)
    await index.put(PLANTS, [a_plant(number, f"Fern {number}", 1.0, f"G{number}") for number in (50, 299, 300)])
    scoped = index.within_scope(a_scope(PLANTS, GARDENS))

    assert await _load_set(scoped, a_search(in_garden(order_by="opened"), bucket=PLANTS)) == {"plant-50", "plant-299"}


@also_in_three_shards
async def test_only_values_count_that_enough_documents_of_the_inner_set_have(index: SearchIndex) -> None:
    await _plant_everything(index)
    scoped = index.within_scope(a_scope(PLANTS, GARDENS))
    in_two_gardens = SemiJoinCondition(
        field=TITLE_FIELD, bucket=GARDENS, key=FieldName("main tree"), condition=MATCH_ALL, min_count=2
    )

    assert await _load_set(scoped, a_search(in_two_gardens, bucket=PLANTS)) == {"plant-2"}
    assert await _load_set(scoped, a_search(NotCondition(in_two_gardens), bucket=PLANTS)) == {
        "plant-0",
        "plant-1",
        "plant-3",
    }


async def test_titles_compare_with_the_members_of_a_list(index: SearchIndex) -> None:
    await _plant_everything(index)
    scoped = index.within_scope(a_scope(PLANTS, GARDENS))
    main_tree = SemiJoinCondition(
        field=TITLE_FIELD, bucket=GARDENS, key=FieldName("main tree"), condition=NotCondition(OPENED_LATE)
    )

    assert await _load_set(scoped, a_search(main_tree, bucket=PLANTS)) == {"plant-1", "plant-2"}


async def test_a_bucket_that_is_not_granted_gives_an_empty_inner_set(index: SearchIndex) -> None:
    await _plant_everything(index)

    assert await _load_set(index.within_scope(a_scope(PLANTS)), a_search(in_garden(), bucket=PLANTS)) == set()


@also_in_three_shards
async def test_facets_and_numbers_are_those_of_the_joined_set(index: SearchIndex) -> None:
    await _plant_everything(index)
    search = a_search(in_garden(OPENED_LATE), bucket=PLANTS)
    facet, sum_of_heights = FacetRequest(search, FieldName("garden")), AggregateRequest(search, FieldName("height"))

    answers = await index.within_scope(a_scope(PLANTS, GARDENS)).answer_requests(facet, sum_of_heights)

    found = answers[facet]
    assert isinstance(found, ValueFacet)
    assert [(value.value, value.count) for value in found.values] == [("NORTH", 1)]
    assert [line.sum for line in answers[sum_of_heights]] == [20.0]


EXHIBITIONS, OBJECTS = BucketId("exhibitions"), BucketId("objects")
EXHIBITS, OBJECT_ID, DAYS_SHOWN = FieldName("exhibits"), FieldName("object_id"), FieldName("days shown")


async def _open_museum(index: SearchIndex) -> None:
    """Objects with a donor, and exhibitions whose rows name the objects shown, and for how long."""
    text_field = partial(SchemaField, type=FieldType.TEXT)
    columns = (
        text_field(name=OBJECT_ID),
        SchemaField(name=DAYS_SHOWN, type=FieldType.NUMBER),
        text_field(name=TITLE_FIELD),
    )
    exhibits = SchemaField(name=EXHIBITS, type=FieldType.ROWS, columns=columns)
    await index.set_schema(Schema(bucket=EXHIBITIONS, fields=(exhibits,)))
    await index.set_schema(
        Schema(bucket=OBJECTS, fields=(text_field(name=FieldName("number")), text_field(name=FieldName("donor"))))
    )
    objects = [("O1", "Vase", "Ines"), ("O2", "Bowl", "Ines"), ("O3", "Coin", "Otto")]
    await index.put(
        OBJECTS,
        [
            Document(
                doc_id=DocId(number.lower()),
                title=title,
                text="",
                values={FieldName("number"): number, FieldName("donor"): donor},
            )
            for number, title, donor in objects
        ],
    )
    shown: list[list[tuple[str | None, float]]] = [
        [("o1", 5.0), ("O3", 90.0)],
        [("O2", 60.0), (None, 90.0)],
        [("O3", 60.0), ("O9", 5.0)],
        [],
    ]
    await index.put(
        EXHIBITIONS,
        [
            Document(
                doc_id=DocId(f"e{number}"),
                title="",
                text="",
                values={EXHIBITS: tuple(map(_exhibit, exhibit_rows))} if exhibit_rows else {},
            )
            for number, exhibit_rows in enumerate(shown)
        ],
    )


def _exhibit(row: tuple[str | None, float]) -> dict[FieldName, Scalar]:
    """A row whose column "title" has the title of the second object, if it is shown."""
    number, days_shown = row
    values: dict[FieldName, Scalar] = {DAYS_SHOWN: days_shown}
    return values if number is None else {**values, OBJECT_ID: number, TITLE_FIELD: "bowl" if number == "O2" else "?"}


def given_by(donor: str) -> ComparisonCondition:
    return ComparisonCondition(field=FieldName("donor"), op=ComparisonOperator.EQ, value=donor)


def shown_objects(condition: Condition = MATCH_ALL) -> SemiJoinCondition:
    """The condition on a row that its object is one of the objects."""
    return SemiJoinCondition(field=OBJECT_ID, bucket=OBJECTS, key=FieldName("number"), condition=condition)


async def test_a_column_is_compared_within_the_row_that_meets_the_other_conditions(index: SearchIndex) -> None:
    await _open_museum(index)
    scoped = index.within_scope(a_scope(EXHIBITIONS, OBJECTS))
    long_shown = ComparisonCondition(field=DAYS_SHOWN, op=ComparisonOperator.GT, value=30.0)
    of_ines, title = shown_objects(given_by("Ines")), replace(shown_objects(), field=TITLE_FIELD, key=TITLE_FIELD)

    async def load(condition: Condition) -> set[DocId]:
        in_row = RowCondition(rows_field=EXHIBITS, condition=condition)
        return await _load_set(scoped, a_search(in_row, bucket=EXHIBITIONS))

    assert await load(of_ines) == {"e0", "e1"}
    assert await load(AndCondition((of_ines, long_shown))) == {"e1"}
    assert await load(NotCondition(of_ines)) == {"e0", "e2"}  # a row without the column is neither in nor out
    assert await load(shown_objects(given_by("nobody"))) == set()
    assert await load(title) == {"e1"}  # the column, not the title of the exhibition


async def test_a_column_that_cannot_be_compared_is_an_error(index: SearchIndex) -> None:
    await _open_museum(index)
    scoped = index.within_scope(a_scope(EXHIBITIONS, OBJECTS))
    wrong = [
        RowCondition(rows_field=EXHIBITS, condition=replace(shown_objects(), field=DOC_ID_FIELD)),
        RowCondition(rows_field=EXHIBITS, condition=replace(shown_objects(), op=ComparisonOperator.GT)),
        RowCondition(rows_field=FieldName("visitors"), condition=shown_objects()),
        RowCondition(rows_field=TITLE_FIELD, condition=shown_objects()),
    ]

    for condition in wrong:
        with pytest.raises(InvalidCondition):
            await _load_set(scoped, a_search(condition, bucket=EXHIBITIONS))


def shown_in(condition: Condition = MATCH_ALL) -> SemiJoinCondition:
    """The condition on an object that it is in a row of one of the exhibitions."""
    return SemiJoinCondition(
        field=FieldName("number"), bucket=EXHIBITIONS, key=OBJECT_ID, key_rows=EXHIBITS, condition=condition
    )


def exhibits_with(condition: Condition) -> RowCondition:
    return RowCondition(rows_field=EXHIBITS, condition=condition)


def shown_for(days_shown: float) -> Condition:
    return exhibits_with(ComparisonCondition(field=DAYS_SHOWN, op=ComparisonOperator.EQ, value=days_shown))


async def test_the_values_of_a_column_are_those_of_the_rows_that_meet_the_condition(index: SearchIndex) -> None:
    await _open_museum(index)
    scoped = index.within_scope(a_scope(EXHIBITIONS, OBJECTS))

    async def load(semi_join: SemiJoinCondition) -> set[DocId]:
        return await _load_set(scoped, a_search(semi_join, bucket=OBJECTS))

    assert await load(shown_in()) == {"o1", "o2", "o3"}
    assert await load(replace(shown_in(), min_count=2)) == {"o3"}
    assert await load(shown_in(shown_for(5.0))) == {"o1"}  # not the coin, in another row of that exhibition
    assert await load(shown_in(OrCondition((shown_for(5.0), shown_for(60.0))))) == {"o1", "o2", "o3"}
    assert await load(shown_in(NotCondition(shown_for(5.0)))) == {"o2"}  # all rows of the other exhibitions
    of_otto = exhibits_with(shown_objects(given_by("Otto")))
    assert await load(shown_in(of_otto)) == {"o3"}
    assert await load(replace(shown_in(), field=TITLE_FIELD, key=TITLE_FIELD)) == {"o2"}  # the column of that name
    dotted = ComparisonCondition(field=FieldName(f"{EXHIBITS}.{DAYS_SHOWN}"), op=ComparisonOperator.LT, value=60.0)
    assert await load(shown_in(dotted)) == {"o1"}


async def test_too_many_values_of_a_column_are_a_clear_error(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _open_museum(index)
    scoped = index.within_scope(a_scope(EXHIBITIONS, OBJECTS))
    monkeypatch.setattr("storage.search.evaluation.semi_join_resolution.MAX_INNER_VALUES", 3)

    assert await _load_set(scoped, a_search(shown_in(shown_for(5.0)), bucket=OBJECTS)) == {"o1"}
    with pytest.raises(InvalidCondition, match="narrow it"):
        await _load_set(scoped, a_search(shown_in(), bucket=OBJECTS))


async def test_the_largest_value_of_a_column_is_that_of_the_rows_that_count(index: SearchIndex) -> None:
    await _open_museum(index)
    scoped = index.within_scope(a_scope(EXHIBITIONS, OBJECTS))
    of_coin = exhibits_with(ComparisonCondition(field=OBJECT_ID, op=ComparisonOperator.EQ, value="o3"))
    longer_than_coin = SemiJoinCondition(
        field=DAYS_SHOWN,
        bucket=EXHIBITIONS,
        key=DAYS_SHOWN,
        key_rows=EXHIBITS,
        condition=of_coin,
        op=ComparisonOperator.GTE,
    )

    longest = a_search(exhibits_with(longer_than_coin), bucket=EXHIBITIONS)

    assert await _load_set(scoped, longest) == {"e0", "e1"}


async def test_rows_that_a_condition_leaves_open_are_an_error(index: SearchIndex) -> None:
    await _open_museum(index)
    scoped = index.within_scope(a_scope(EXHIBITIONS, OBJECTS))
    unclear = [
        shown_in(AndCondition((shown_for(5.0), shown_for(90.0)))),
        shown_in(
            OrCondition(
                (shown_for(5.0), ComparisonCondition(field=TITLE_FIELD, op=ComparisonOperator.CONTAINS, value="summer"))
            )
        ),
        shown_in(NotCondition(NotCondition(shown_for(5.0)))),
    ]
    wrong_keys = [
        replace(shown_in(), key=FieldName("colour")),
        replace(shown_in(), key=DOC_ID_FIELD),
        replace(shown_in(), key_rows=FieldName("visitors")),
        replace(shown_in(), bucket=OBJECTS, key_rows=FieldName("donor")),
    ]

    for condition in unclear:
        with pytest.raises(InvalidCondition, match="which rows count"):
            await _load_set(scoped, a_search(condition, bucket=OBJECTS))
    for condition in wrong_keys:
        with pytest.raises(InvalidCondition):
            await _load_set(scoped, a_search(condition, bucket=OBJECTS))


async def test_a_field_of_the_inner_set_that_does_not_exist_is_an_error(index: SearchIndex) -> None:
    await _plant_everything(index)
    wrong_key = SemiJoinCondition(
        field=FieldName("garden"), bucket=GARDENS, key=FieldName("colour"), condition=MATCH_ALL
    )

    with pytest.raises(UnknownField):
        await _load_set(index.within_scope(a_scope(PLANTS, GARDENS)), a_search(wrong_key, bucket=PLANTS))
    with pytest.raises(UnknownField):
        await _load_set(
            index.within_scope(a_scope(PLANTS, GARDENS)), a_search(in_garden(order_by="colour"), bucket=PLANTS)
        )


class CountingIndex(ForwardingScopedIndex):
    """Counts the round trips that its answers took."""

    round_trips = 0

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        self.round_trips += 1
        return await self.wrapped.answer_requests(*requests)


async def test_an_inner_set_may_be_in_the_other_of_two_indexes(index: SearchIndex) -> None:
    await _plant_everything(index)
    plants = CountingIndex(index.within_scope(a_scope(PLANTS)))
    gardens = CountingIndex(index.within_scope(a_scope(GARDENS)))
    twice = AndCondition((in_garden(OPENED_LATE), in_garden(order_by="opened")))

    joined = federate_indexes(plants, gardens)

    assert await _load_set(joined, a_search(in_garden(OPENED_LATE), bucket=PLANTS)) == {"plant-0"}
    assert plants.round_trips == 2
    assert await _load_set(joined, a_search(twice, bucket=PLANTS)) == set()
    assert plants.round_trips == 4


async def test_tens_of_thousands_of_inner_values_work(index: SearchIndex) -> None:
    name = SchemaField(name=FieldName("name"), type=FieldType.CATEGORY)
    await index.set_schema(Schema(bucket=GARDENS, fields=(name,)))
    await index.set_schema(Schema(bucket=PLANTS, fields=(SchemaField(name=FieldName("garden"), type=FieldType.TEXT),)))
    many = [
        Document(doc_id=DocId(f"g{number}"), title="", text="", values={name.name: f"Garden {number}"})
        for number in range(12_000)
    ]
    await index.put(GARDENS, many)
    await index.put(
        PLANTS,
        [
            Document(doc_id=DocId(f"p{number}"), title="", text="", values={FieldName("garden"): f"garden {number}"})
            for number in (3, 11_999, 12_000)
        ],
    )
    scoped = index.within_scope(a_scope(PLANTS, GARDENS))
    joined = SemiJoinCondition(field=FieldName("garden"), bucket=GARDENS, key=name.name, condition=MATCH_ALL)

    assert await _load_set(scoped, a_search(joined, bucket=PLANTS)) == {"p3", "p11999"}


async def test_too_many_inner_values_are_a_clear_error(index: SearchIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    await _plant_everything(index)
    monkeypatch.setattr("storage.search.evaluation.semi_join_resolution.MAX_INNER_VALUES", 2)
    assert MAX_INNER_VALUES > 2

    with pytest.raises(InvalidCondition, match="narrow it"):
        await _load_set(index.within_scope(a_scope(PLANTS, GARDENS)), a_search(in_garden(), bucket=PLANTS))


@also_in_three_shards
async def test_a_value_is_compared_with_the_extreme_of_an_inner_set(index: SearchIndex) -> None:
    await _plant_everything(index)
    scoped = index.within_scope(a_scope(PLANTS, GARDENS))
    of_plants = partial(SemiJoinCondition, field=FieldName("height"), bucket=PLANTS, key=FieldName("height"))
    in_north_or_south = ComparisonCondition(
        field=FieldName("garden"), op=ComparisonOperator.IN, value=("North", "South")
    )
    nowhere = ComparisonCondition(field=FieldName("garden"), op=ComparisonOperator.EQ, value="Nowhere")

    async def load(op: ComparisonOperator, condition: Condition) -> set[DocId]:
        return await _load_set(scoped, a_search(of_plants(condition=condition, op=op), bucket=PLANTS))

    assert await load(ComparisonOperator.GTE, in_north_or_south) == {"plant-0"}
    assert await load(ComparisonOperator.LT, in_north_or_south) == {"plant-2"}
    assert await load(ComparisonOperator.LTE, in_north_or_south) == {"plant-1", "plant-2"}
    assert await load(ComparisonOperator.GT, nowhere) == set()


async def test_only_what_has_an_order_is_compared_with_an_extreme(index: SearchIndex) -> None:
    await _plant_everything(index)
    scoped = index.within_scope(a_scope(PLANTS, GARDENS))
    above = SemiJoinCondition(
        field=FieldName("garden"), bucket=GARDENS, key=TITLE_FIELD, condition=MATCH_ALL, op=ComparisonOperator.GT
    )

    with pytest.raises(InvalidCondition):
        await _load_set(scoped, a_search(above, bucket=PLANTS))
    with pytest.raises(ValueError, match="extreme"):
        replace(above, min_count=2)

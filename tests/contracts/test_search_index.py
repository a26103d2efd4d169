"""The contract of `SearchIndex` and `ScopedIndex`, for every implementation. It tests the docstrings of `index.py`."""

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest

from storage.search.bucket_parts import part_of_bucket
from storage.search.conditions import (
    MATCH_ALL,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    Scalar,
)
from storage.search.documents import Document, FieldAnnotation, Passage
from storage.search.errors import InvalidCondition, NotInScope, UnknownBucket, UnknownField
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    DocumentRequest,
    FacetRequest,
    IndexRequest,
    KeywordPassageRequest,
    NearestValueRequest,
    OutlineRequest,
    PassageHit,
    PeriodFacet,
    RangeFacet,
    RecordPageRequest,
    ScopedIndex,
    SearchIndex,
    SemanticPassageRequest,
    SpellingRequest,
    ValueFacet,
)
from storage.search.plan import CalendarPeriod, GroupBy, Search, unfiltered_search_of
from storage.search.schema import FieldType, Schema, SchemaOrder
from storage.search.scope import Scope
from tests.builders import (
    RECEIPTS,
    TENANT,
    a_document,
    a_field,
    a_receipt_schema,
    a_row,
    a_scope,
    a_search,
    a_union,
    ordered_by,
    where,
    with_values,
)
from tests.contracts.conftest import IndexOpener, also_in_three_shards

ALL = a_search()


async def fill_bucket(index: SearchIndex, *documents: Document, schema: Schema | None = None) -> ScopedIndex:
    """Create the bucket with the documents; return the index within a scope of this bucket."""
    schema = schema or a_receipt_schema()
    await index.set_schema(schema)
    await index.put(schema.bucket, documents)
    return index.within_scope(a_scope(schema.bucket))


async def count_documents(scoped: ScopedIndex, condition: Condition = MATCH_ALL, *, bucket: str = RECEIPTS) -> int:
    search = a_search(condition, bucket=bucket)
    return (await scoped.answer_requests(CountRequest(search)))[CountRequest(search)]


async def find_doc_ids(scoped: ScopedIndex, search: Search = ALL) -> list[str]:
    return sorted(
        record.doc_id
        for record in (await scoped.answer_requests(RecordPageRequest(search)))[RecordPageRequest(search)].records
    )


async def load_value_facet(scoped: ScopedIndex, field: str, *, search: Search = ALL, limit: int = 1000) -> ValueFacet:
    facet = FacetRequest(search, FieldName(field), max_values=limit)
    answer = (await scoped.answer_requests(facet))[facet]
    assert isinstance(answer, ValueFacet)
    return answer


def value_counts_of(facet: ValueFacet) -> list[tuple[str, int]]:
    return [(value_count.value, value_count.count) for value_count in facet.values]


# -- counting


@also_in_three_shards
async def test_one_round_trip_answers_many_counts_exactly(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index, *(a_document(f"d{n}", total=float(n % 7), vendor=f"v{n % 5}") for n in range(120))
    )
    vendors = [a_search(where("vendor", "eq", f"V{n}")) for n in range(6)]
    totals = [search.with_condition(where("total", "gte", float(n))) for search in vendors for n in range(8)]

    answers = await scoped.answer_requests(
        *map(CountRequest, vendors), *map(CountRequest, totals), CountRequest(ALL), CountRequest(ALL)
    )

    assert [answers[CountRequest(search)] for search in vendors] == [24, 24, 24, 24, 24, 0]
    expected = [sum(m % 5 == v and m % 7 >= n for m in range(120)) for v in range(6) for n in range(8)]
    assert [answers[CountRequest(search)] for search in totals] == expected
    assert answers[CountRequest(ALL)] == 120


async def test_a_search_without_clauses_is_the_empty_set(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a"))
    empty = Search(clauses=())

    answers = await scoped.answer_requests(
        CountRequest(empty), RecordPageRequest(empty), KeywordPassageRequest(empty, "a"), AggregateRequest(empty)
    )

    assert answers[CountRequest(empty)] == 0
    assert answers[RecordPageRequest(empty)].records == ()
    assert answers[KeywordPassageRequest(empty, "a")] == ()
    assert answers[AggregateRequest(empty)] == ()


async def test_a_call_without_requests_returns_the_generation(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a"))

    assert (await scoped.answer_requests()).generation == (await scoped.load_vocabulary()).generation


async def test_the_set_of_several_buckets_is_their_union(index: SearchIndex) -> None:
    await fill_bucket(index, a_document("a", vendor="x"), a_document("b", vendor="y"))
    await fill_bucket(index, a_document("c", vendor="x"), schema=a_receipt_schema("others"))
    scoped = index.within_scope(a_scope(RECEIPTS, "others"))
    both = a_union({RECEIPTS: where("vendor", "eq", "x"), "others": MATCH_ALL})

    assert await find_doc_ids(scoped, both) == ["a", "c"]
    assert (await scoped.answer_requests(CountRequest(both)))[CountRequest(both)] == 2


# -- conditions


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (where("weight", "gt", 2.0), ["c"]),
        (NotCondition(where("weight", "gt", 2.0)), ["b"]),  # unknown for the document without a weight
        (NotCondition(NotCondition(where("weight", "gt", 2.0))), ["c"]),
        (OrCondition((where("weight", "gt", 2.0), NotCondition(where("weight", "gt", 2.0)))), ["b", "c"]),
        (MissingCondition(field=FieldName("weight")), ["a"]),
        (NotCondition(MissingCondition(field=FieldName("weight"))), ["b", "c"]),
        (NotCondition(AndCondition((where("weight", "gt", 2.0), where("vendor", "eq", "nobody")))), ["a", "b", "c"]),
        (NotCondition(OrCondition((where("weight", "gt", 2.0), where("vendor", "eq", "nobody")))), ["b"]),
        (OrCondition((where("weight", "gt", 2.0), where("paid", "eq", False))), ["a", "b", "c"]),
        (NotCondition(where("paid", "eq", True)), ["a", "b"]),
        (NotCondition(where("tags", "has", "x")), ["a", "b"]),
        (MissingCondition(field=FieldName("tags")), ["a", "b"]),
        (MissingCondition(field=FieldName("paid")), []),
        (NotCondition(where("items", "contains", "tire")), ["a", "b"]),
        (MissingCondition(field=FieldName("items")), ["a", "b"]),
        (NotCondition(where("text", "contains", "never")), ["a", "b", "c"]),
        (AndCondition(), ["a", "b", "c"]),
        (OrCondition(), []),
        (where("weight", "in", ()), []),
        (NotCondition(where("weight", "in", ())), ["b", "c"]),
        (where("doc_id", "in", ("a", "c", "z")), ["a", "c"]),
        (NotCondition(where("doc_id", "eq", "a")), ["b", "c"]),
    ],
)
async def test_conditions_have_three_truth_values(index: SearchIndex, condition: Condition, wanted: list[str]) -> None:
    scoped = await fill_bucket(
        index,
        a_document("a", vendor="acme"),
        a_document("b", vendor="acme", weight=2.0),
        a_document(
            "c", vendor="acme", weight=3.0, paid=True, tags=("x", "y"), items=(a_row(name="Tire"),), text="a word"
        ),
    )

    assert await find_doc_ids(scoped, a_search(condition)) == wanted


@pytest.mark.parametrize(
    ("op", "offset", "wanted", "wanted_negated"),
    [
        ("gt", 0.0, ["late", "very late"], ["early", "punctual"]),
        ("gte", 0.0, ["late", "punctual", "very late"], ["early"]),
        ("lt", 0.0, ["early"], ["late", "punctual", "very late"]),
        ("eq", 0.0, ["punctual"], ["early", "late", "very late"]),
        ("gt", 30.0, ["very late"], ["early", "late", "punctual"]),
        ("lte", -1.0, ["early"], ["late", "punctual", "very late"]),
    ],
)
async def test_two_fields_of_a_document_are_compared(
    index: SearchIndex, op: str, offset: float, wanted: list[str], wanted_negated: list[str]
) -> None:
    schema = Schema(
        bucket=BucketId("loans"), fields=(a_field("due", FieldType.DATE), a_field("returned", FieldType.DATE))
    )
    scoped = await fill_bucket(
        index,
        a_document("punctual", due="2031-03-01", returned="2031-03-01"),
        a_document("early", due="2031-03-01", returned="2031-02-28"),
        a_document("late", due="2031-03-01", returned="2031-03-31"),
        a_document("very late", due="2031-03-01", returned="2031-04-01"),
        a_document("not yet", due="2031-03-01"),
        schema=schema,
    )
    later = FieldComparisonCondition(
        field=FieldName("returned"), op=ComparisonOperator(op), other_field=FieldName("due"), offset=offset
    )

    assert await find_doc_ids(scoped, a_search(later, bucket="loans")) == wanted
    assert await find_doc_ids(scoped, a_search(NotCondition(later), bucket="loans")) == wanted_negated


async def test_fields_of_two_kinds_cannot_be_compared(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a"))
    mixed = FieldComparisonCondition(
        field=FieldName("total"), op=ComparisonOperator.GT, other_field=FieldName("weight")
    )

    with pytest.raises(InvalidCondition):
        await count_documents(scoped, mixed)


@pytest.mark.parametrize(
    ("op", "value", "wanted"),
    [
        ("eq", "STRASSE 1", ["a"]),
        ("eq", "Straße  1", ["a"]),
        ("eq", "Strasse", []),
        ("in", ("x", "straße 1", "100%"), ["a", "b"]),
        ("contains", "ss", ["a"]),
        ("contains", "%", ["b"]),
        ("contains", "_", ["c"]),
        ("contains", "A*", ["c"]),
        ("contains", "", ["a", "b", "c"]),
    ],
)
async def test_strings_are_compared_after_folding(
    index: SearchIndex, op: str, value: Scalar | tuple[Scalar, ...], wanted: list[str]
) -> None:
    scoped = await fill_bucket(
        index,
        a_document("a", vendor="Straße 1", note="Straße 1"),
        a_document("b", vendor="100%", note="100%"),
        a_document("c", vendor="snake_a*b", note="snake_a*b"),
    )

    assert await find_doc_ids(scoped, a_search(where("vendor", op, value))) == wanted
    assert await find_doc_ids(scoped, a_search(where("note", op, value))) == wanted


async def test_numbers_are_compared_as_doubles(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index, a_document("a", weight=0.1 + 0.2), a_document("b", weight=0.3), a_document("c", weight=0.0)
    )

    assert await find_doc_ids(scoped, a_search(where("weight", "eq", 0.3))) == ["b"]
    assert await find_doc_ids(scoped, a_search(where("weight", "gt", 0.3))) == ["a"]
    assert await find_doc_ids(scoped, a_search(where("weight", "in", (-0.0, 0.1 + 0.2)))) == ["a", "c"]
    assert await find_doc_ids(scoped, a_search(where("weight", "between", (0.0, 0.3)))) == ["b", "c"]


async def test_days_are_compared_as_days_and_between_includes_both_ends(index: SearchIndex) -> None:
    days = ["0001-01-01", "2023-12-31", "2024-01-01", "2024-12-31", "9999-12-31"]
    scoped = await fill_bucket(index, *(a_document(day, date=day) for day in days), a_document("undated"))

    assert await find_doc_ids(scoped, a_search(where("date", "between", ("2024-01-01", "2024-12-31")))) == days[2:4]
    assert await find_doc_ids(scoped, a_search(where("date", "lt", "2024-01-01"))) == days[:2]
    assert await find_doc_ids(scoped, a_search(NotCondition(where("date", "lt", "2024-01-01")))) == days[2:]


async def test_a_row_condition_is_met_by_a_single_row(index: SearchIndex) -> None:
    four_tires = a_row(name="Summer tire", qty=4.0)
    scoped = await fill_bucket(
        index,
        a_document("one row", items=(four_tires, a_row(name="valve", qty=1.0))),
        a_document("two rows", items=(a_row(name="tire", qty=1.0), a_row(name="valve", qty=4.0))),
        a_document("half a row", items=(a_row(name="tire"),)),
        a_document("none"),
    )
    tires = AndCondition((where("name", "contains", "TIRE"), where("qty", "gte", 4.0)))
    items = FieldName("items")

    assert await find_doc_ids(scoped, a_search(RowCondition(rows_field=items, condition=tires))) == ["one row"]
    assert await find_doc_ids(scoped, a_search(NotCondition(RowCondition(rows_field=items, condition=tires)))) == [
        "half a row",
        "none",
        "two rows",
    ]
    assert await find_doc_ids(scoped, a_search(where("items.qty", "eq", 4.0))) == ["one row", "two rows"]
    assert await find_doc_ids(scoped, a_search(where("items", "contains", "valve"))) == ["one row", "two rows"]
    few_items = NotCondition(where("qty", "gte", 4.0))  # within a row a missing quantity is unknown
    assert await find_doc_ids(scoped, a_search(RowCondition(rows_field=items, condition=few_items))) == [
        "one row",
        "two rows",
    ]
    without_quantity = RowCondition(rows_field=items, condition=MissingCondition(field=FieldName("qty")))
    assert await find_doc_ids(scoped, a_search(without_quantity)) == ["half a row"]


# -- text


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [
        ("termination", ["title", "whole"]),
        ("terminated", ["title", "whole"]),  # one stem
        ("termination notice", ["title", "whole"]),
        ("notice termination", []),
        ("Notice-Period", ["title"]),
        ("title period", []),  # the title's last word and the text's first are no phrase
        ("the", ["whole"]),  # stop words are terms too
        ("B-120", ["part"]),
        ("b 120", ["part"]),
        ("120", ["part"]),
        ("3.0", ["part"]),
        ("30", []),
        ("Straße", ["part"]),
        ("STRASSE", ["part"]),
        ("本", ["part"]),
        ("日本", ["part"]),
        ("本日", []),
        ("", []),
        ("  !? ", []),
        ("quartz " * 100, []),
    ],
)
async def test_a_phrase_is_found_in_the_title_or_in_the_text(
    index: SearchIndex, phrase: str, wanted: list[str]
) -> None:
    scoped = await fill_bucket(
        index,
        a_document("title", "period of a year", title="Terminating: notice period; title"),
        a_document("whole", "the termination notice", title=""),
        a_document("part", "cabinet B-120, version 3.0, Hauptstrasse, straße, 日本語"),
    )

    assert await find_doc_ids(scoped, a_search(where("text", "contains", phrase))) == wanted
    assert await find_doc_ids(scoped, a_search(required=[phrase])) == wanted


async def test_a_title_condition_searches_the_title_only(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index, a_document("a", "solar panel", title="Invoice"), a_document("b", "x", title="Solar panels")
    )

    assert await find_doc_ids(scoped, a_search(where("title", "contains", "solar panel"))) == ["b"]
    assert await find_doc_ids(scoped, a_search(NotCondition(where("title", "contains", "solar panel")))) == ["a"]


async def test_required_words_may_be_in_different_passages_of_a_document(index: SearchIndex) -> None:
    text = "escrow account. " * 3 + "arbitration clause"
    passages = (Passage(start=0, end=15), Passage(start=16, end=len(text)))
    scoped = await fill_bucket(index, a_document("a", text, passages=passages), a_document("b", "escrow only"))

    assert await find_doc_ids(scoped, a_search(required=["escrow", "arbitration"])) == ["a"]
    assert await find_doc_ids(scoped, a_search(required=["account escrow"])) == ["a"]  # across the boundary
    assert await find_doc_ids(scoped, a_search(NotCondition(where("text", "contains", "arbitration")))) == ["b"]


async def test_a_long_phrase_is_matched_to_its_end(index: SearchIndex) -> None:
    words = [f"w{n}" for n in range(300)]
    scoped = await fill_bucket(
        index, a_document("a", " ".join(words)), a_document("b", " ".join([*words[:200], "x", *words[200:]]))
    )

    assert await find_doc_ids(scoped, a_search(required=[" ".join(words)])) == ["a"]
    assert await find_doc_ids(scoped, a_search(required=[" ".join(words[100:250])])) == ["a"]
    assert await find_doc_ids(scoped, a_search(required=[" ".join(words[:190])])) == ["a", "b"]


async def test_the_language_of_a_bucket_stems_its_words(index: SearchIndex) -> None:
    german = await fill_bucket(index, a_document("a", "Verträge"), schema=a_receipt_schema("de", language="de"))
    unstemmed = await fill_bucket(index, a_document("b", "contracts"), schema=a_receipt_schema("none", language=""))

    assert await count_documents(german, where("text", "contains", "Vertrag"), bucket="de") == 1
    assert await count_documents(unstemmed, where("text", "contains", "contract"), bucket="none") == 0
    assert german.analyser_for(BucketId("de")).language == "de"


# -- facets


@also_in_three_shards
async def test_a_facet_counts_values_other_values_and_missing_values(index: SearchIndex) -> None:
    vendors = ["Acme"] * 5 + ["ACME"] * 2 + ["acme"] * 2 + ["Bolt"] * 4 + ["cog", "Cog", "dot", "Eel"] + [None] * 3
    scoped = await fill_bucket(index, *(a_document(f"d{n}", vendor=vendor) for n, vendor in enumerate(vendors)))

    full_facet = await load_value_facet(scoped, "vendor")
    top_facet = await load_value_facet(scoped, "vendor", limit=2)

    assert value_counts_of(full_facet) == [("Acme", 9), ("Bolt", 4), ("Cog", 2), ("dot", 1), ("Eel", 1)]
    assert (full_facet.other_count, full_facet.missing_count, full_facet.distinct_count, full_facet.is_overlapping) == (
        0,
        3,
        5,
        False,
    )
    assert value_counts_of(top_facet) == [("Acme", 9), ("Bolt", 4)]
    assert (top_facet.other_count, top_facet.missing_count, top_facet.distinct_count) == (4, 3, 5)


@also_in_three_shards
async def test_a_facet_over_a_list_counts_documents_and_overlaps(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index,
        a_document("a", tags=("x", "X", "y")),
        a_document("b", tags=("x", "z")),
        a_document("c", tags=("z",)),
        a_document("d", tags=("w",)),
        a_document("e"),
    )

    facet = await load_value_facet(scoped, "tags", limit=2)

    assert value_counts_of(facet) == [("x", 2), ("z", 2)]
    assert (facet.other_count, facet.missing_count, facet.distinct_count, facet.is_overlapping) == (1, 1, 4, True)


async def test_an_absent_flag_is_false_and_never_missing(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", paid=True), a_document("b", paid=False), a_document("c"))

    facet = await load_value_facet(scoped, "paid")

    assert value_counts_of(facet) == [("false", 2), ("true", 1)]
    assert (facet.other_count, facet.missing_count, facet.is_overlapping) == (0, 0, False)


@pytest.mark.parametrize("numbers", [[float(n) for n in range(100)], [1.5] * 30, [-5.0, 0.0, 1e9], [0.1, 0.2, 0.30001]])
async def test_ranges_are_disjoint_cover_every_value_and_have_exact_counts(
    index: SearchIndex, numbers: list[float]
) -> None:
    scoped = await fill_bucket(
        index, *(a_document(f"d{n}", weight=weight) for n, weight in enumerate(numbers)), a_document("none")
    )
    facet = FacetRequest(ALL, FieldName("weight"), max_bins=5)

    answer = (await scoped.answer_requests(facet))[facet]

    assert isinstance(answer, RangeFacet)
    assert answer.missing_count == 1
    assert 1 <= len(answer.ranges) <= 5
    assert answer.ranges[-1].high is None
    for range_count, next_range in zip(answer.ranges, [*answer.ranges[1:], None], strict=True):
        assert range_count.high == (next_range.low if next_range else None)
        range_conditions: list[Condition] = [where("weight", "gte", range_count.low)]
        range_conditions += [] if range_count.high is None else [where("weight", "lt", range_count.high)]
        assert range_count.count == await count_documents(scoped, AndCondition(tuple(range_conditions))) > 0
    assert sum(range_count.count for range_count in answer.ranges) == len(numbers)


async def test_every_engine_divides_values_into_the_same_ranges(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, *(a_document(f"d{n}", weight=float(n * n)) for n in range(40)))
    facet = FacetRequest(ALL, FieldName("weight"), max_bins=4)

    answer = (await scoped.answer_requests(facet))[facet]

    assert isinstance(answer, RangeFacet)
    assert [(range_count.low, range_count.high) for range_count in answer.ranges] == [
        (0.0, 100.0),
        (100.0, 500.0),
        (500.0, 1000.0),
        (1000.0, None),
    ]


@pytest.mark.parametrize(
    ("days", "period", "cells"),
    [
        (
            ["2022-05-01", "2023-01-01", "2023-12-31"],
            CalendarPeriod.YEAR,
            [("2022-01-01", "2022-12-31"), ("2023-01-01", "2023-12-31")],
        ),
        (
            ["2023-01-15", "2023-06-30"],
            CalendarPeriod.QUARTER,
            [("2023-01-01", "2023-03-31"), ("2023-04-01", "2023-06-30")],
        ),
        (
            ["2024-01-15", "2024-02-29"],
            CalendarPeriod.MONTH,
            [("2024-01-01", "2024-01-31"), ("2024-02-01", "2024-02-29")],
        ),
        (
            ["2024-01-15", "2024-01-16"],
            CalendarPeriod.DAY,
            [("2024-01-15", "2024-01-15"), ("2024-01-16", "2024-01-16")],
        ),
        (["2024-01-15", "2024-01-15"], CalendarPeriod.YEAR, [("2024-01-01", "2024-12-31")]),
        (
            [f"{year}-07-01" for year in range(2000, 2006)],
            CalendarPeriod.YEAR,
            [("2000-01-01", "2003-12-31"), ("2004-01-01", "2004-12-31"), ("2005-01-01", "2005-12-31")],
        ),
    ],
)
async def test_periods_are_the_longest_that_split_the_set(
    index: SearchIndex, days: list[str], period: CalendarPeriod, cells: list[tuple[str, str]]
) -> None:
    scoped = await fill_bucket(
        index, *(a_document(f"d{n}", date=day) for n, day in enumerate(days)), a_document("undated")
    )
    facet = FacetRequest(ALL, FieldName("date"), max_bins=3)

    answer = (await scoped.answer_requests(facet))[facet]

    assert isinstance(answer, PeriodFacet)
    assert answer.missing_count == 1
    assert [
        (period_count.period, period_count.first_day, period_count.last_day) for period_count in answer.periods
    ] == [(period, *cell) for cell in cells]
    assert [period_count.count for period_count in answer.periods] == [
        sum(low <= day <= high for day in days) for low, high in cells
    ]


async def test_a_facet_over_several_buckets_needs_a_shared_field(index: SearchIndex) -> None:
    await fill_bucket(index, a_document("a", vendor="x", note="n"), schema=a_receipt_schema("one", shared=True))
    await fill_bucket(index, a_document("b", vendor="X"), a_document("c"), schema=a_receipt_schema("two", shared=True))
    scoped = index.within_scope(a_scope("one", "two"))
    both = a_union({"one": MATCH_ALL, "two": MATCH_ALL})

    facet = await load_value_facet(scoped, "vendor", search=both)

    assert value_counts_of(facet) == [("X", 2)]
    assert facet.missing_count == 1
    with pytest.raises(InvalidCondition):
        await load_value_facet(scoped, "note", search=both)


@pytest.mark.parametrize("field", ["nothing", "text", "title", "doc_id", "items.name", "", "a" * 10_000, "vendor\x00"])
async def test_an_unknown_field_raises_an_error_instead_of_an_empty_answer(index: SearchIndex, field: str) -> None:
    scoped = await fill_bucket(index, a_document("a", vendor="x"))
    name = FieldName(field)
    requests: list[IndexRequest[object]] = [
        FacetRequest(ALL, name),
        AggregateRequest(ALL, field=name),
        AggregateRequest(ALL, group=GroupBy(field=name)),
        NearestValueRequest(ALL, name, 1.0),
        RecordPageRequest(ALL, order=ordered_by(field)),
        CountRequest(a_search(MissingCondition(field=name))),
    ]

    for request in requests:
        with pytest.raises(UnknownField if field != "items.name" else InvalidCondition):
            await scoped.answer_requests(request)


async def test_a_request_that_does_not_fit_the_field_is_refused(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", vendor="x"))
    requests: list[IndexRequest[object]] = [
        FacetRequest(ALL, FieldName("items")),
        AggregateRequest(ALL, field=FieldName("vendor")),
        AggregateRequest(ALL, group=GroupBy(field=FieldName("items"))),
        NearestValueRequest(ALL, FieldName("vendor"), "x"),
        NearestValueRequest(ALL, FieldName("date"), 1.0),
        RecordPageRequest(ALL, order=ordered_by("tags")),
        CountRequest(a_search(where("vendor", "gt", "x"))),
        CountRequest(a_search(where("weight", "eq", "heavy"))),
        CountRequest(a_search(where("weight", "eq", float("nan")))),
        CountRequest(a_search(where("weight", "between", (1.0,)))),
        CountRequest(a_search(where("date", "eq", "yesterday"))),
        CountRequest(a_search(where("paid", "eq", "yes"))),
        CountRequest(a_search(RowCondition(rows_field=FieldName("vendor"), condition=AndCondition()))),
    ]

    for request in requests:
        with pytest.raises(InvalidCondition):
            await scoped.answer_requests(request)


# -- aggregates


async def test_money_is_added_exactly_and_by_currency(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index,
        *(a_document(f"e{n}", total=0.1, currency="EUR") for n in range(10)),
        a_document("u1", total=19.99, currency="USD"),
        a_document("u2", total=-0.01, currency="usd"),
        a_document("j", total=100.0, currency="JPY"),
        a_document("n", total=5.0),
        a_document("without", currency="EUR"),
    )
    request = AggregateRequest(ALL, field=FieldName("total"))

    lines = (await scoped.answer_requests(request))[request]

    assert [(line.unit, line.count, line.sum) for line in lines] == [
        ("EUR", 10, 1.0),
        ("USD", 2, 19.98),
        ("JPY", 1, 100.0),
        (None, 1, 5.0),
    ]
    dollars = lines[1]
    assert (dollars.minimum, dollars.maximum, dollars.average, dollars.group) == (-0.01, 19.99, 9.99, None)


async def test_huge_amounts_of_money_are_added_with_twelve_digits(index: SearchIndex) -> None:
    amounts = [-3.402823466e38, -5.106332324382700e16, 0.0, 0.01]
    scoped = await fill_bucket(
        index, *(a_document(f"e{n}", total=amount, currency="EUR") for n, amount in enumerate(amounts))
    )
    request = AggregateRequest(ALL, field=FieldName("total"))

    (line,) = (await scoped.answer_requests(request))[request]

    assert (line.sum, line.average) == (-3.402823466e38, -8.507058665e37)


async def test_other_numbers_are_added_with_twelve_digits(index: SearchIndex) -> None:
    weights = [0.1, 0.2, 1e6, -1e6, 0.7]
    scoped = await fill_bucket(index, *(a_document(f"d{n}", weight=weight) for n, weight in enumerate(weights)))
    request = AggregateRequest(ALL, field=FieldName("weight"))

    (line,) = (await scoped.answer_requests(request))[request]

    assert (line.unit, line.count, line.sum, line.average) == ("kg", 5, 1.0, 0.2)
    assert (line.minimum, line.maximum) == (-1e6, 1e6)


async def test_a_median_is_the_middle_value_or_the_average_of_the_middle_two(index: SearchIndex) -> None:
    amounts = [0.1, 100.0, 0.1, 0.25, 7.0]
    scoped = await fill_bucket(
        index,
        *(a_document(f"e{n}", total=total, currency="EUR", paid=n > 2) for n, total in enumerate(amounts)),
        *(a_document(f"u{n}", total=float(n), currency="USD", paid=True) for n in range(4)),
        *(a_document(f"w{n}", weight=weight) for n, weight in enumerate((-0.0, 0.3, 0.1, 5.0, -2.0, 0.1))),
        a_document("without", currency="EUR"),
    )
    totals = AggregateRequest(ALL, FieldName("total"), with_median=True)
    weights = AggregateRequest(ALL, FieldName("weight"), with_median=True)
    grouped = AggregateRequest(ALL, FieldName("total"), GroupBy(field=FieldName("paid")), with_median=True)
    without_median = AggregateRequest(ALL, FieldName("total"))

    answers = await scoped.answer_requests(totals, weights, grouped, without_median)

    assert [(line.unit, line.count, line.median) for line in answers[totals]] == [("EUR", 5, 0.25), ("USD", 4, 1.5)]
    assert [(line.count, line.sum, line.minimum, line.maximum, line.median) for line in answers[weights]] == [
        (6, 3.5, -2.0, 5.0, 0.1)
    ]
    assert {(line.group, line.unit): line.median for line in answers[grouped]} == {
        (False, "EUR"): 0.1,
        (True, "EUR"): 3.62,
        (True, "USD"): 1.5,
    }
    assert [replace(line, median=None) for line in answers[totals]] == list(answers[without_median])
    with pytest.raises(InvalidCondition):
        await scoped.answer_requests(AggregateRequest(ALL, with_median=True))


async def test_products_of_two_numbers_are_added_exactly_and_by_currency(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index,
        *(a_document(f"e{n}", total=0.1, weight=3.0, currency="EUR", vendor="Acme") for n in range(10)),
        a_document("big", total=19.99, weight=1200.0, currency="EUR", vendor="Bolt"),
        a_document("back", total=-4.5, weight=0.25, currency="USD", vendor="Bolt"),
        a_document("none of it", total=7.0, weight=0.0, currency="USD", vendor="Bolt"),
        a_document("without a factor", total=5.0, currency="EUR", vendor="Bolt"),
        a_document("without an amount", weight=5.0, currency="EUR", vendor="Bolt"),
    )
    total = AggregateRequest(ALL, FieldName("total"), factor=FieldName("weight"))
    by_vendor = replace(total, group=GroupBy(field=FieldName("vendor")))
    square = AggregateRequest(ALL, FieldName("weight"), factor=FieldName("weight"))

    answers = await scoped.answer_requests(total, by_vendor, square, AggregateRequest(ALL, FieldName("total")))

    assert [(line.unit, line.count, line.sum, line.average, line.minimum, line.maximum) for line in answers[total]] == [
        ("EUR", 11, 23_991.0, 2_181.0, 0.3, 23_988.0),
        ("USD", 2, -1.12, -0.56, -1.125, 0.0),
    ]
    assert [(line.group, line.unit, line.count, line.sum) for line in answers[by_vendor]] == [
        ("Acme", "EUR", 10, 3.0),
        ("Bolt", "USD", 2, -1.12),
        ("Bolt", "EUR", 1, 23_988.0),
    ]
    assert [(line.unit, line.count, line.sum) for line in answers[square]] == [("kg", 14, 1_440_115.0625)]


@also_in_three_shards
async def test_products_are_rounded_like_values_of_a_field(index: SearchIndex) -> None:
    """They are the doubles nearest to the products of the decimals; one too large for a double is none."""
    pairs = [
        (0.1, 3.0),
        (1.005, 1.1),
        (33.333333333333336, 3.0),
        (1e15 + 0.3, 7.7),
        (123456.789, 98765.4321),
        (-0.0, 4),
    ]
    names = [f"d{n}" for n in range(len(pairs))]
    documents = (
        a_document(name, total=total, weight=weight, note=name)
        for name, (total, weight) in zip(names, pairs, strict=True)
    )
    scoped = await fill_bucket(index, *documents, a_document("huge", total=1e300, weight=1e300, note="huge"))
    request = AggregateRequest(ALL, FieldName("total"), GroupBy(field=FieldName("note")), factor=FieldName("weight"))

    lines = {str(line.group): line.maximum for line in (await scoped.answer_requests(request))[request]}

    products = (float(Decimal(repr(amount)) * Decimal(repr(weight))) for amount, weight in pairs)
    assert lines == dict(zip(names, products, strict=True))


async def test_a_factor_that_multiplies_no_numbers_is_refused(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", total=1.0, weight=2.0))
    total, weight = FieldName("total"), FieldName("weight")

    for request in (
        AggregateRequest(ALL, factor=weight),
        AggregateRequest(ALL, total, factor=FieldName("vendor")),
        AggregateRequest(ALL, weight, factor=total),
        AggregateRequest(ALL, total, factor=weight, with_median=True),
    ):
        with pytest.raises(InvalidCondition):
            await scoped.answer_requests(request)
    with pytest.raises(UnknownField):
        await scoped.answer_requests(AggregateRequest(ALL, total, factor=FieldName("nothing")))


@also_in_three_shards
async def test_groups_are_folded_values_and_missing_values_are_a_group_of_their_own(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index,
        a_document("a", vendor="Acme", weight=1.0),
        a_document("b", vendor="ACME", weight=2.0),
        a_document("c", vendor="Acme", weight=4.0),
        a_document("d", vendor="Bolt"),
        a_document("e", weight=8.0),
    )
    count_request = AggregateRequest(ALL, group=GroupBy(field=FieldName("vendor")))
    sum_request = AggregateRequest(ALL, field=FieldName("weight"), group=GroupBy(field=FieldName("vendor")))

    answers = await scoped.answer_requests(count_request, sum_request)

    assert [(line.group, line.count, line.unit, line.sum) for line in answers[count_request]] == [
        ("Acme", 3, None, 0.0),
        ("Bolt", 1, None, 0.0),
        (None, 1, None, 0.0),
    ]
    assert [(line.group, line.count, line.sum) for line in answers[sum_request]] == [("Acme", 3, 7.0), (None, 1, 8.0)]


@pytest.mark.parametrize(
    ("group", "wanted"),
    [
        (
            GroupBy(field=FieldName("date"), period=CalendarPeriod.YEAR),
            [("2024-01-01", 3), ("2023-01-01", 1), (None, 1)],
        ),
        (
            GroupBy(field=FieldName("date"), period=CalendarPeriod.QUARTER),
            [("2024-01-01", 2), ("2023-10-01", 1), ("2024-04-01", 1), (None, 1)],
        ),
        (
            GroupBy(field=FieldName("date"), period=CalendarPeriod.MONTH),
            [("2023-12-01", 1), ("2024-01-01", 1), ("2024-02-01", 1), ("2024-05-01", 1), (None, 1)],
        ),
        (
            GroupBy(field=FieldName("date")),
            [("2023-12-31", 1), ("2024-01-01", 1), ("2024-02-29", 1), ("2024-05-31", 1), (None, 1)],
        ),
        (GroupBy(field=FieldName("paid")), [(False, 3), (True, 2)]),
        (GroupBy(field=FieldName("tags")), [("x", 3), ("y", 1), (None, 2)]),
        (GroupBy(field=FieldName("weight")), [(1.0, 3), (2.0, 1), (None, 1)]),
        (None, [(None, 5)]),
    ],
)
async def test_fields_of_every_type_form_groups(
    index: SearchIndex, group: GroupBy | None, wanted: list[tuple[object, int]]
) -> None:
    scoped = await fill_bucket(
        index,
        a_document("a", date="2023-12-31", paid=True, tags=("x", "y", "X"), weight=1.0),
        a_document("b", date="2024-01-01", paid=True, tags=("x",), weight=1.0),
        a_document("c", date="2024-02-29", paid=False, tags=("x",), weight=1.0),
        a_document("d", date="2024-05-31", weight=2.0),
        a_document("e"),
    )
    request = AggregateRequest(ALL, group=group)

    lines = [(line.group, line.count) for line in (await scoped.answer_requests(request))[request]]

    assert sorted(lines, key=repr) == sorted(wanted, key=repr)
    assert [line_count for _, line_count in lines] == sorted((line_count for _, line_count in wanted), reverse=True)


async def test_an_empty_set_has_no_line(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", weight=1.0))
    empty_search = a_search(where("weight", "gt", 5.0))
    requests = (
        AggregateRequest(empty_search),
        AggregateRequest(empty_search, field=FieldName("weight")),
        AggregateRequest(ALL, field=FieldName("total")),
    )

    answers = await scoped.answer_requests(*requests)

    assert [answers[request] for request in requests] == [(), (), ()]


@also_in_three_shards
async def test_the_nearest_values_are_those_below_and_above(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index, *(a_document(f"d{n}", weight=float(n), date=f"202{n}-01-01", total=n / 4) for n in (1, 3, 5, 9))
    )
    narrowed = a_search(where("weight", "lt", 9.0))
    requests = (
        NearestValueRequest(ALL, FieldName("weight"), 4.0),
        NearestValueRequest(ALL, FieldName("weight"), 5.0),
        NearestValueRequest(narrowed, FieldName("weight"), 7.0),
        NearestValueRequest(ALL, FieldName("date"), "2024-06-01"),
        NearestValueRequest(ALL, FieldName("total"), 0.0),
    )

    answers = await scoped.answer_requests(*requests)

    nearest_values = [(answers[request].below, answers[request].above) for request in requests]
    assert nearest_values == [(3.0, 5.0), (3.0, 9.0), (5.0, None), ("2023-01-01", "2025-01-01"), (None, 0.25)]


# -- outlines


def _summarised_document(doc_id: str, summary: str, *, title: str = "", weight: float = 1.0) -> Document:
    """Return a document with the same text as all others; only its title and summary differ."""
    return a_document(doc_id, "The same words. " * 300, title=title, summary=summary, weight=weight, source="s.pdf")


@also_in_three_shards
async def test_a_common_word_finds_passages_behind_those_with_a_rarer_word(index: SearchIndex) -> None:
    texts = ("pumps", "fans", "fans", "fans", "---")
    scoped = await fill_bucket(index, *(a_document(f"d{n}", text) for n, text in enumerate(texts)))
    request, request_with_common_word = (KeywordPassageRequest(ALL, text, limit=9) for text in ("pumps", "pumps fans"))

    answers = await scoped.answer_requests(request, request_with_common_word)

    assert [hit.doc_id for hit in answers[request]] == ["d0"]
    assert [hit.doc_id for hit in answers[request_with_common_word]] == ["d0", "d1", "d2", "d3"]


async def test_a_word_is_weighed_by_its_rarity_in_all_buckets_that_are_searched(index: SearchIndex) -> None:
    sheds = BucketId("sheds")
    await fill_bucket(index, *(a_document(f"pump{n}", "a pump") for n in range(30)))
    yard = [a_document("pump", "a pump"), *(a_document(f"rake{n}", "a rake") for n in range(29))]
    await fill_bucket(index, *yard, schema=Schema(bucket=sheds))
    request = KeywordPassageRequest(unfiltered_search_of(RECEIPTS, sheds), "pump", limit=50)

    answers = await index.within_scope(a_scope(RECEIPTS, sheds)).answer_requests(request)

    [common, *_], [rare] = (
        [hit.score for hit in answers[request] if hit.bucket == bucket] for bucket in (RECEIPTS, sheds)
    )
    assert common <= rare < 10 * common  # by its rarity in each bucket alone, 100 times


@also_in_three_shards
async def test_documents_are_ranked_by_title_and_summary_within_the_set(index: SearchIndex) -> None:
    pumps = _summarised_document("pumps", "Pumps and their valves.", title="Book")
    fans = _summarised_document("fans", "Fans.", weight=3.0)
    titled = _summarised_document("titled", "Other things.", title="Pumps")
    scoped = await fill_bucket(index, pumps, fans, titled, *(_summarised_document(f"f{n}", "Else.") for n in range(9)))
    all_request, narrowed_request = (
        OutlineRequest(ALL, "which PUMP?", limit=5),
        OutlineRequest(a_search(where("weight", "gt", 2.0)), "pumps fans"),
    )

    answers = await scoped.answer_requests(
        all_request, narrowed_request, OutlineRequest(ALL, "pumps", limit=1), OutlineRequest(ALL, "same")
    )

    assert [hit.doc_id for hit in answers[all_request]] == ["titled", "pumps"]
    second_hit = answers[all_request][1]
    assert (second_hit.bucket, second_hit.title, second_hit.source, second_hit.summary) == (
        RECEIPTS,
        "Book",
        "s.pdf",
        pumps.summary,
    )
    assert answers[all_request][0].score > second_hit.score > 0
    assert [hit.doc_id for hit in answers[narrowed_request]] == ["fans"]
    assert len(answers[OutlineRequest(ALL, "pumps", limit=1)]) == 1
    assert answers[OutlineRequest(ALL, "same")] == ()  # the word is in the texts, but in no outline


async def test_a_document_without_a_summary_is_ranked_by_its_beginning(index: SearchIndex) -> None:
    late_document = a_document("late", "a word " * 1000 + "quasar")
    scoped = await fill_bucket(index, a_document("early", "a quasar"), late_document, a_document("none", "a word"))
    request = OutlineRequest(ALL, "quasar")

    hits = (await scoped.answer_requests(request))[request]

    assert [(hit.doc_id, hit.summary) for hit in hits] == [("early", "")]


async def test_outlines_follow_replaced_and_deleted_documents(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index,
        _summarised_document("a", "Pumps."),
        _summarised_document("b", "Pumps."),
        _summarised_document("c", "Pumps."),
    )
    await index.put(RECEIPTS, [_summarised_document("a", "Fans.")])
    await index.delete([DocId("b")])
    pumps, fans, document_request = (
        OutlineRequest(ALL, "pumps"),
        OutlineRequest(ALL, "fans"),
        DocumentRequest((DocId("a"),)),
    )

    answers = await scoped.answer_requests(pumps, fans, document_request)

    assert [hit.doc_id for hit in answers[pumps]] == ["c"]
    assert [hit.doc_id for hit in answers[fans]] == ["a"]
    assert answers[document_request][0].summary == "Fans."


async def test_summaries_survive_a_change_of_language(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, _summarised_document("a", "Pumps."), _summarised_document("b", "Fans."))
    await index.set_schema(a_receipt_schema(language="de"))
    request = OutlineRequest(ALL, "pumps")

    assert [(hit.doc_id, hit.summary) for hit in (await scoped.answer_requests(request))[request]] == [("a", "Pumps.")]


# -- passages


def _passages_in(text: str, *parts: tuple[str, int | None]) -> tuple[Passage, ...]:
    return tuple(Passage(start=text.index(part), end=text.index(part) + len(part), page=page) for part, page in parts)


async def test_ranked_passages_have_their_exact_position_and_page(index: SearchIndex) -> None:
    first, second, third = "Ünïcode intro 🙂 about panels.", "Replace the fan filter yearly.", "Fan noise is normal."
    text = "\n".join((first, second, third))
    manual = a_document(
        "manual",
        text,
        title="Cabinet",
        source="m.pdf",
        passages=_passages_in(text, (first, 1), (second, 7), (third, None)),
    )
    others = [a_document(f"other{n}", f"nothing of that kind here, number {n}") for n in range(20)]
    scoped = await fill_bucket(index, manual, *others)
    request = KeywordPassageRequest(ALL, "replace FAN filters", limit=10)

    hits = (await scoped.answer_requests(request))[request]

    assert [(hit.chunk_id, hit.page, hit.text) for hit in hits] == [("manual#1", 7, second), ("manual#2", None, third)]
    best_hit = hits[0]
    assert (best_hit.doc_id, best_hit.bucket, best_hit.title, best_hit.source) == (
        "manual",
        RECEIPTS,
        "Cabinet",
        "m.pdf",
    )
    assert text[best_hit.start : best_hit.end] == best_hit.text
    assert hits[0].score > hits[1].score


async def test_a_word_in_the_title_has_more_weight(index: SearchIndex) -> None:
    filler = [a_document(f"f{n}", "some other words") for n in range(10)]
    scoped = await fill_bucket(
        index,
        a_document("text", "solar words here", title="other"),
        a_document("title", "other words here", title="solar"),
        *filler,
    )
    request = KeywordPassageRequest(ALL, "solar")

    assert [hit.doc_id for hit in (await scoped.answer_requests(request))[request]] == ["title", "text"]


async def test_a_word_that_occurs_twice_in_the_text_has_double_weight(index: SearchIndex) -> None:
    filler = [a_document(f"f{n}", "some other words") for n in range(20)]
    scoped = await fill_bucket(index, a_document("a", "an alpha here"), a_document("b", "one beta here"), *filler)
    alpha, beta = KeywordPassageRequest(ALL, "alpha beta alpha"), KeywordPassageRequest(ALL, "alpha beta beta")

    answers = await scoped.answer_requests(alpha, beta)

    assert [hit.doc_id for hit in answers[alpha]] == ["a", "b"]
    assert [hit.doc_id for hit in answers[beta]] == ["b", "a"]


@also_in_three_shards
async def test_a_common_word_weighs_little_in_the_ranking_and_defines_the_set(index: SearchIndex) -> None:
    documents = [a_document(f"d{n}", "the receipt of a purchase") for n in range(20)]
    scoped = await fill_bucket(index, a_document("rare", "a quasar purchase"), *documents)
    ranked, only_common = (
        KeywordPassageRequest(ALL, "the purchase of a quasar", limit=50),
        KeywordPassageRequest(ALL, "the purchase", limit=50),
    )

    answers = await scoped.answer_requests(ranked, only_common)

    assert answers[ranked][0].doc_id == "rare"
    assert answers[ranked][0].score > 1.5 * answers[ranked][1].score
    assert len(answers[ranked]) == len(answers[only_common]) == 21
    assert len(await find_doc_ids(scoped, a_search(required=["the", "purchase"]))) == 20


@also_in_three_shards
async def test_passages_are_from_the_set_only_and_ties_are_ordered_by_chunk_id(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, *(a_document(f"d{n}", "same text", weight=float(n)) for n in (3, 1, 2, 4)))
    request = KeywordPassageRequest(a_search(where("weight", "gte", 2.0)), "same", limit=2)

    assert [hit.chunk_id for hit in (await scoped.answer_requests(request))[request]] == ["d2#0", "d3#0"]


@pytest.mark.parametrize("text", ["", "   ", "?!", "unheard"])
async def test_a_ranking_text_without_known_terms_finds_nothing(index: SearchIndex, text: str) -> None:
    scoped = await fill_bucket(index, a_document("a", "some words"))
    request = KeywordPassageRequest(ALL, text)

    assert (await scoped.answer_requests(request))[request] == ()


@also_in_three_shards
async def test_a_semantic_search_finds_passages_with_the_same_meaning_in_other_words(index: SearchIndex) -> None:
    text = "The automobile wheel needs new rubber."
    scoped = await fill_bucket(
        index,
        a_document("car", text, passages=(Passage(start=0, end=len(text), page=3),)),
        a_document("law", "This contract terminates by written notice of either party."),
        a_document("food", "Boil the pasta in salted water for nine minutes."),
        a_document("empty", "", title="", passages=(Passage(start=0, end=0),)),
    )
    request = SemanticPassageRequest(ALL, "car tyre", limit=3)
    narrowed = SemanticPassageRequest(a_search(NotCondition(where("doc_id", "eq", "car"))), "car tyre", limit=10)
    wordless = SemanticPassageRequest(ALL, "  ")

    answers = await scoped.answer_requests(request, narrowed, wordless)

    hits: tuple[PassageHit, ...] = answers[request]
    assert (hits[0].doc_id, hits[0].page, hits[0].text) == ("car", 3, text)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(-1.001 <= hit.score <= 1.001 for hit in hits)
    assert {hit.doc_id for hit in answers[narrowed]} == {"law", "food"}
    assert answers[wordless] == ()


# -- spelling and vocabulary


@also_in_three_shards
async def test_spelling_suggestions_are_words_of_visible_documents(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index,
        a_document("a", "termination clauses", title="Terminator"),
        a_document("b", "termination, Termination!"),
        a_document("c", "terminatoin", readers=["user:x"]),
        a_document("d", "germination"),
    )
    request = SpellingRequest(frozenset({RECEIPTS}), "Terminaton")
    correct_word_request = SpellingRequest(frozenset({RECEIPTS}), "termination")

    answers = await scoped.answer_requests(request, correct_word_request)

    suggestions = [(suggestion.word, suggestion.distance, suggestion.document_count) for suggestion in answers[request]]
    assert suggestions == [("termination", 1, 2), ("terminator", 1, 1), ("germination", 2, 1)]
    assert [(suggestion.word, suggestion.distance) for suggestion in answers[correct_word_request]] == [
        ("germination", 1),
        ("terminator", 2),
    ]


@pytest.mark.parametrize("word", ["", "two words", "?", "x" * 10_000, '"', "*", "\x00", "a\x00b", "' OR 1=1 --"])
async def test_text_that_is_not_one_known_word_has_no_spelling_suggestions(index: SearchIndex, word: str) -> None:
    scoped = await fill_bucket(index, a_document("a", "termination clauses"))
    request = SpellingRequest(frozenset({RECEIPTS}), word)

    assert (await scoped.answer_requests(request))[request] == ()


async def test_the_vocabulary_has_the_values_of_visible_documents(index: SearchIndex) -> None:
    await fill_bucket(
        index,
        a_document("a", vendor="Acme", weight=2.5, date="2024-01-01", tags=("x", "y"), note="hello"),
        a_document("b", vendor="ACME", weight=1.0, date="2023-01-01", items=(a_row(name="Tire", qty=4.0),)),
        a_document("c", vendor="Acme", items=(a_row(name="tire"), a_row(name="valve", qty=1.0))),
        a_document("hidden", vendor="Secret", weight=99.0, readers=["user:x"]),
    )
    scoped = index.within_scope(a_scope())

    vocabulary = await scoped.load_vocabulary()

    assert vocabulary.document_counts == {RECEIPTS: 3}
    by_name = {field.field: field for field in vocabulary.fields}
    assert [(value_count.value, value_count.count) for value_count in by_name[FieldName("vendor")].values] == [
        ("Acme", 3)
    ]
    assert (by_name[FieldName("weight")].low, by_name[FieldName("weight")].high) == (1.0, 2.5)
    assert (by_name[FieldName("date")].low, by_name[FieldName("date")].high) == ("2023-01-01", "2024-01-01")
    assert [(value_count.value, value_count.count) for value_count in by_name[FieldName("tags")].values] == [
        ("x", 1),
        ("y", 1),
    ]
    item_names = by_name[FieldName("items.name")]
    assert (
        item_names.document_count,
        [(value_count.value.lower(), value_count.count) for value_count in item_names.values],
    ) == (
        2,
        [("tire", 2), ("valve", 1)],
    )
    assert (by_name[FieldName("items.qty")].low, by_name[FieldName("items.qty")].high) == (1.0, 4.0)
    assert by_name[FieldName("items")].document_count == 2
    assert FieldName("total") not in by_name
    assert [field.field for field in vocabulary.fields] == [
        "vendor",
        "weight",
        "date",
        "tags",
        "items",
        "items.name",
        "items.qty",
        "note",
    ]


@also_in_three_shards
async def test_the_vocabulary_has_the_titles_of_visible_documents(index: SearchIndex) -> None:
    await fill_bucket(
        index,
        replace(a_document("a"), title="Quay House"),
        replace(a_document("b"), title="quay house"),
        replace(a_document("c"), title="Quay House"),
        replace(a_document("d"), title="Mill"),
        replace(a_document("hidden", readers=["user:x"]), title="Secret"),
    )

    titles = (await index.within_scope(a_scope()).load_vocabulary()).titles_of(RECEIPTS)

    assert [(title.value, title.count) for title in titles] == [("Quay House", 3), ("Mill", 1)]


async def test_the_vocabulary_depends_on_the_generation_the_scope_and_the_limit(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", vendor="x"), a_document("b", vendor="y", readers=["user:x"]))
    vocabulary_before = await scoped.load_vocabulary()
    reader_vocabulary = await index.within_scope(a_scope(subjects=["user:x"])).load_vocabulary()

    await index.put(RECEIPTS, [a_document("c", vendor="z"), a_document("d", vendor="z")])
    vocabulary_after = await scoped.load_vocabulary()

    assert vocabulary_before.generation == reader_vocabulary.generation != vocabulary_after.generation
    assert [value_count.value for value_count in reader_vocabulary.fields[0].values] == ["x", "y"]
    assert [value_count.value for value_count in vocabulary_before.fields[0].values] == ["x"]
    assert [value_count.value for value_count in vocabulary_after.fields[0].values] == ["z", "x"]
    assert [value_count.value for value_count in (await scoped.load_vocabulary(limit=1)).fields[0].values] == ["z"]


# -- records


async def _load_all_pages(scoped: ScopedIndex, request: RecordPageRequest) -> list[str]:
    doc_ids, cursor = list[str](), None
    for _ in range(100):
        page_request = replace(request, cursor=cursor)
        page = (await scoped.answer_requests(page_request))[page_request]
        doc_ids += [record.doc_id for record in page.records]
        cursor = page.cursor
        if cursor is None:
            return doc_ids
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("limit", [1, 3, 1000])
@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        (None, ["new", "é", "old", "Z", "a", "b"]),  # the first date field, newest first
        (ordered_by("date", descending=False), ["old", "new", "é", "Z", "a", "b"]),
        (ordered_by("weight"), ["a", "Z", "old", "b", "new", "é"]),
        (ordered_by("weight", descending=False), ["old", "Z", "a", "b", "new", "é"]),
        (ordered_by("vendor", descending=False), ["old", "Z", "a", "b", "new", "é"]),
        (ordered_by("vendor"), ["a", "Z", "old", "b", "new", "é"]),
        (ordered_by("paid"), ["a", "Z", "b", "new", "old", "é"]),
    ],
)
async def test_pages_return_the_whole_set_in_order(
    index: SearchIndex, order: SchemaOrder | None, wanted: list[str], limit: int
) -> None:
    scoped = await fill_bucket(
        index,
        a_document("Z", weight=2.0, vendor="Bolt"),
        a_document("a", weight=3.0, vendor="cog", paid=True),
        a_document("b"),
        a_document("old", weight=-1.0, vendor="ACME", date="1999-01-01"),
        a_document("new", date="2024-01-01", paid=False),
        a_document("é", date="2024-01-01"),
    )

    for decodes_later in (False, True):
        request = RecordPageRequest(ALL, order=order, limit=limit, decodes_later=decodes_later)
        assert await _load_all_pages(scoped, request) == wanted


@also_in_three_shards
async def test_pages_over_several_buckets_are_ordered_by_document_id(index: SearchIndex) -> None:
    await fill_bucket(index, a_document("b", date="2020-01-01"), a_document("d"))
    await fill_bucket(index, a_document("a"), a_document("c", date="2024-01-01"), schema=a_receipt_schema("others"))
    scoped = index.within_scope(a_scope(RECEIPTS, "others"))
    both = a_union({RECEIPTS: MATCH_ALL, "others": MATCH_ALL})

    assert await _load_all_pages(scoped, RecordPageRequest(both, limit=1)) == ["a", "b", "c", "d"]
    assert await _load_all_pages(scoped, RecordPageRequest(both, limit=3, decodes_later=True)) == ["a", "b", "c", "d"]
    assert await _load_all_pages(scoped, RecordPageRequest(both, order=ordered_by("date"), limit=3)) == [
        "c",
        "b",
        "a",
        "d",
    ]


async def test_pages_of_one_bucket_are_ordered_by_document_id_on_request(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index, *(a_document(f"d{n}", date=f"2020-01-0{n}", weight=-1.0 * n) for n in range(1, 6))
    )

    assert await _load_all_pages(scoped, RecordPageRequest(ALL, limit=2)) == ["d5", "d4", "d3", "d2", "d1"]
    assert await _load_all_pages(scoped, RecordPageRequest(ALL, limit=2, order_by_id=True)) == [
        "d1",
        "d2",
        "d3",
        "d4",
        "d5",
    ]
    ordered = RecordPageRequest(ALL, order=ordered_by("weight", descending=False), limit=2, order_by_id=True)
    assert await _load_all_pages(scoped, ordered) == ["d5", "d4", "d3", "d2", "d1"]


async def test_a_page_continues_at_its_position_after_the_set_changed(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, *(a_document(f"d{n}", weight=float(n)) for n in range(6)))
    first_request = RecordPageRequest(ALL, order=ordered_by("weight"), limit=2)
    page = (await scoped.answer_requests(first_request))[first_request]
    await index.delete([DocId("d4"), DocId("d2")])
    await index.put(RECEIPTS, [a_document("d9", weight=9.0), a_document("d25", weight=2.5)])
    second_request = RecordPageRequest(ALL, order=ordered_by("weight"), cursor=page.cursor, limit=10)

    assert [record.doc_id for record in page.records] == ["d5", "d4"]
    assert [record.doc_id for record in (await scoped.answer_requests(second_request))[second_request].records] == [
        "d3",
        "d25",
        "d1",
        "d0",
    ]


@pytest.mark.parametrize("cursor", ["", "x", "%%%", "bnVsbA==", "W10=", "\x00", "é" * 9_999])
async def test_an_invented_cursor_is_refused(index: SearchIndex, cursor: str) -> None:
    scoped = await fill_bucket(index, a_document("a"))

    with pytest.raises(InvalidCondition):
        await scoped.answer_requests(RecordPageRequest(ALL, cursor=cursor))


async def test_a_cursor_of_another_order_is_refused(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, *(a_document(f"d{n}", weight=float(n)) for n in range(4)))
    page = (await scoped.answer_requests(RecordPageRequest(ALL, order=ordered_by("weight"), limit=1)))[
        RecordPageRequest(ALL, order=ordered_by("weight"), limit=1)
    ]

    with pytest.raises(InvalidCondition):
        await scoped.answer_requests(RecordPageRequest(ALL, order=ordered_by("vendor"), cursor=page.cursor))


async def test_records_have_the_values_that_were_put(index: SearchIndex) -> None:
    document = a_document(
        "a/b c#1",
        title="Title",
        source="s",
        vendor="Acme",
        total=1.5,
        weight=3,
        date="2024-01-01",
        tags=("x", "y"),
        items=(a_row(name="Tire", qty=4.0), a_row(done=True, price=0.25)),
        paid=False,
        note="nul\x00 and \u202e",
    )
    scoped = await fill_bucket(index, document)
    two_fields_request = RecordPageRequest(ALL, fields=frozenset({FieldName("total"), FieldName("tags")}))

    answers = await scoped.answer_requests(RecordPageRequest(ALL), two_fields_request)

    (record,) = answers[RecordPageRequest(ALL)].records
    assert (record.doc_id, record.bucket, record.title, record.source) == ("a/b c#1", RECEIPTS, "Title", "s")
    assert record.values == document.values
    assert answers[two_fields_request].records[0].values == {"total": 1.5, "tags": ("x", "y")}


@also_in_three_shards
async def test_fetched_documents_equal_those_put_and_have_the_requested_order(index: SearchIndex) -> None:
    text = "First page. 🙂 Second page."
    document = a_document(
        "a",
        text,
        title="T",
        source="s",
        digest="1",
        readers=["user:x", "user:y"],
        passages=(Passage(start=0, end=11, page=1), Passage(start=12, end=len(text), page=None)),
        vendor="Acme",
        items=(a_row(name="Tire"),),
    )
    document = replace(
        document,
        annotations=(
            FieldAnnotation(field=FieldName("vendor"), value="ACME Ltd", confidence=0.9, start=0, end=5),
            FieldAnnotation(field=FieldName("tags"), value=("🙂",), confidence=0.25),
            FieldAnnotation(field=FieldName("items"), value=(a_row(name="Tire"),), confidence=0.5, start=14, end=19),
        ),
    )
    await fill_bucket(index, document, a_document("b"))
    scoped = index.within_scope(a_scope(subjects=["user:y"]))
    request = DocumentRequest((DocId("b"), DocId("nothing"), DocId("a"), DocId("\ud800"), DocId("")))

    assert (await scoped.answer_requests(request))[request] == (a_document("b"), document)


# -- writing


async def test_put_reports_the_result_for_each_document(index: SearchIndex) -> None:
    await fill_bucket(index, a_document("other"), schema=a_receipt_schema("others"))
    await fill_bucket(
        index, a_document("same", digest="1"), a_document("new version", digest="1"), a_document("no digest")
    )

    result = await index.put(
        RECEIPTS,
        [
            a_document("same", "ignored", digest="1"),
            a_document("new version", "words", digest="2"),
            a_document("no digest"),
            a_document("added", digest="1"),
            a_document("other", "stolen"),
        ],
    )

    assert (result.added, result.replaced, result.skipped, result.taken) == (
        ("added",),
        ("new version", "no digest"),
        ("same",),
        ("other",),
    )
    scoped = index.within_scope(a_scope(RECEIPTS, "others"))
    assert await count_documents(scoped) == 4
    assert await count_documents(scoped, where("text", "contains", "words")) == 1
    assert await count_documents(scoped, where("text", "contains", "ignored")) == 0
    assert await count_documents(scoped, where("text", "contains", "stolen"), bucket="others") == 0


@also_in_three_shards
async def test_a_replaced_document_leaves_nothing_behind(index: SearchIndex) -> None:
    old_text = "ancient words in two passages"
    scoped = await fill_bucket(
        index,
        a_document(
            "a",
            old_text,
            title="Oldtitle",
            vendor="old",
            passages=(Passage(start=0, end=13), Passage(start=14, end=29)),
        ),
    )

    await index.put(RECEIPTS, [a_document("a", "modern", title="New", vendor="new")])

    requests = (
        KeywordPassageRequest(ALL, "ancient passages oldtitle"),
        SpellingRequest(frozenset({RECEIPTS}), "ancien"),
        KeywordPassageRequest(ALL, "modern"),
    )
    answers = await scoped.answer_requests(*requests)
    assert answers[requests[0]] == ()
    assert answers[requests[1]] == ()
    assert len(answers[requests[2]]) == 1
    assert await count_documents(scoped, where("text", "contains", "ancient")) == 0
    assert await count_documents(scoped, where("title", "contains", "oldtitle")) == 0
    assert value_counts_of(await load_value_facet(scoped, "vendor")) == [("new", 1)]
    state = (await index.load_bucket_states())[RECEIPTS]
    assert (state.document_count, state.passage_count) == (1, 1)


async def test_of_two_documents_with_one_id_the_last_is_put(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", vendor="first"), a_document("a", vendor="second"))

    assert value_counts_of(await load_value_facet(scoped, "vendor")) == [("second", 1)]


@also_in_three_shards
async def test_deleted_documents_are_gone_on_return(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", "words"), a_document("b", "words"), a_document("c", "words"))

    assert await index.delete([DocId("a"), DocId("c"), DocId("nothing"), DocId("a"), DocId("\ud800")]) == 2

    assert await find_doc_ids(scoped) == ["b"]
    assert await find_doc_ids(scoped, a_search(required=["words"])) == ["b"]
    assert set(await index.load_digests(RECEIPTS)) == {"b"}
    assert (await index.put(RECEIPTS, [a_document("a")])).added == ("a",)


async def test_only_changes_change_the_generation(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", digest="1"))
    generations = [(await scoped.answer_requests()).generation]

    await index.put(RECEIPTS, [a_document("a", digest="1")])
    await index.set_schema(a_receipt_schema())
    await index.delete([DocId("nothing")])
    assert (await scoped.answer_requests()).generation == generations[0]

    for change in (
        index.put(RECEIPTS, [a_document("b")]),
        index.delete([DocId("a")]),
        index.set_schema(a_receipt_schema(language="de")),
    ):
        await change
        generations.append((await scoped.answer_requests()).generation)
    assert len(set(generations)) == 4


async def test_bucket_states_and_digests_describe_the_stored_documents(index: SearchIndex) -> None:
    await fill_bucket(index, schema=a_receipt_schema("empty"))
    await fill_bucket(index, a_document("a", "text", vendor="x", digest="1"), a_document("b", vendor="y", tags=("t",)))

    states = await index.load_bucket_states()

    assert list(states) == ["empty", RECEIPTS]
    state = states[RECEIPTS]
    assert (state.schema, state.document_count, state.passage_count) == (a_receipt_schema(), 2, 1)
    assert {name: count for name, count in state.field_counts.items() if count} == {"vendor": 2, "tags": 1}
    assert await index.load_digests(RECEIPTS) == {"a": "1", "b": ""}


async def test_the_day_of_loading_stays_while_the_content_is_the_same(index: SearchIndex) -> None:
    def a_loaded_document(day: str, text: str, digest: str) -> Document:
        return replace(a_document("a", text, digest=digest), loaded_on=day)

    scoped = await fill_bucket(index, a_loaded_document("2031-01-01", "text", "1"), a_document("b", "undated"))
    days = [await index.load_ingestion_days(RECEIPTS)]
    await index.put(RECEIPTS, [a_loaded_document("2031-02-02", "text", "1")])
    days.append(await index.load_ingestion_days(RECEIPTS))
    await index.set_schema(a_receipt_schema(language="de"))  # what is equal is then put again
    await index.put(RECEIPTS, [a_loaded_document("2031-03-03", "text", "1")])
    days.append(await index.load_ingestion_days(RECEIPTS))
    await index.put(RECEIPTS, [a_loaded_document("2031-04-04", "other text", "2")])
    days.append(await index.load_ingestion_days(RECEIPTS))
    request = DocumentRequest((DocId("a"),))
    (read,) = (await scoped.answer_requests(request))[request]

    assert [day[DocId("a")] for day in days] == ["2031-01-01", "2031-01-01", "2031-01-01", "2031-04-04"]
    assert {day[DocId("b")] for day in days} == {""}
    assert read.loaded_on == "2031-04-04"


async def test_a_rebuild_keeps_the_days_of_loading(index: SearchIndex) -> None:
    await fill_bucket(index, replace(a_document("a", "text", digest="1"), loaded_on="2031-01-01"))

    await index.rebuild_bucket(RECEIPTS, lambda progress: None)

    assert await index.load_ingestion_days(RECEIPTS) == {"a": "2031-01-01"}
    await index.delete([DocId("a")])
    assert await index.load_ingestion_days(RECEIPTS) == {}


async def test_a_scan_yields_each_record_of_a_bucket_once(index: SearchIndex) -> None:
    documents = [a_document(f"d{number:04}", vendor=f"v{number % 3}", tags=("a", "b")) for number in range(1_200)]
    await fill_bucket(index, *documents)
    await fill_bucket(index, a_document("other"), schema=a_receipt_schema("others"))

    batches = [batch async for batch in index.scan_records(RECEIPTS)]

    records = {record.doc_id: record for batch in batches for record in batch}
    assert len(batches) > 1
    assert sum(map(len, batches)) == len(records) == 1_200
    assert records[DocId("d0004")].values == {"vendor": "v1", "tags": ("a", "b")}
    assert records[DocId("d0004")].bucket == RECEIPTS


async def test_a_dropped_bucket_is_gone_with_all_its_documents(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", "words"))

    await index.drop_bucket(RECEIPTS)

    assert await index.load_bucket_states() == {}
    assert await scoped.load_schemas() == {}
    with pytest.raises(NotInScope):
        await scoped.answer_requests(CountRequest(ALL))
    new_scoped = await fill_bucket(index, a_document("a"))
    assert await count_documents(new_scoped) == 1
    assert await count_documents(new_scoped, where("text", "contains", "words")) == 0


async def test_a_missing_bucket_cannot_be_written_or_dropped(index: SearchIndex) -> None:
    missing_bucket = BucketId("nowhere")

    for write in (
        index.put(missing_bucket, [a_document("a")]),
        index.load_digests(missing_bucket),
        index.load_ingestion_days(missing_bucket),
        index.drop_bucket(missing_bucket),
    ):
        with pytest.raises(UnknownBucket):
            await write
    with pytest.raises(UnknownBucket):
        _ = [batch async for batch in index.scan_records(missing_bucket)]


@pytest.mark.parametrize(
    "document",
    [
        a_document("x", nothing="x"),
        a_document("x", vendor=1.0),
        a_document("x", vendor=""),
        a_document("x", weight="heavy"),
        a_document("x", weight=float("inf")),
        a_document("x", weight=float("nan")),
        a_document("x", weight=True),
        a_document("x", date="2024-13-01"),
        a_document("x", date="2024-1-1"),
        a_document("x", paid="yes"),
        a_document("x", tags=()),
        a_document("x", tags="not a list"),
        a_document("x", items=(a_row(nothing="x"),)),
        a_document("x", items=(a_row(qty="many"),)),
        a_document("x", "text", passages=[Passage(start=0, end=5)]),
        a_document("x", "text", passages=[Passage(start=2, end=3), Passage(start=0, end=1)]),
        a_document("x", "lone \ud800 surrogate"),
        a_document("x", vendor="\udfff"),
    ],
)
async def test_a_document_that_does_not_fit_is_refused_and_none_is_put(index: SearchIndex, document: Document) -> None:
    scoped = await fill_bucket(index)

    with pytest.raises(InvalidCondition):
        await index.put(RECEIPTS, [a_document("fits"), document])

    assert await count_documents(scoped) == 0


async def test_a_new_version_that_does_not_fit_leaves_the_earlier_one(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", "green tea", vendor="Acme", digest="1"))

    with pytest.raises(InvalidCondition):
        await index.put(RECEIPTS, [a_document("a", "black coffee", weight="heavy", digest="2")])

    assert await find_doc_ids(scoped, a_search(where("text", "contains", "tea"))) == ["a"]
    assert await count_documents(scoped, where("vendor", "eq", "Acme")) == 1
    assert await count_documents(scoped, where("text", "contains", "coffee")) == 0
    assert await index.load_digests(RECEIPTS) == {"a": "1"}


async def test_a_changed_schema_is_applied_to_stored_values(index: SearchIndex) -> None:
    number_schema = Schema(bucket=RECEIPTS, fields=(a_field("size", FieldType.NUMBER), a_field("old name")))
    scoped = await fill_bucket(
        index, with_values(a_document("a"), {"size": 4.0, "old name": "x"}), schema=number_schema
    )
    text_schema = Schema(bucket=RECEIPTS, fields=(a_field("size", FieldType.TEXT), a_field("new name")))

    await index.set_schema(text_schema)

    assert await count_documents(scoped, MissingCondition(field=FieldName("size"))) == 1
    with pytest.raises(UnknownField):
        await count_documents(scoped, where("old name", "eq", "x"))
    assert await count_documents(scoped, MissingCondition(field=FieldName("new name"))) == 1
    assert (await scoped.load_schemas())[RECEIPTS] == text_schema
    assert (await scoped.load_vocabulary()).schemas == await scoped.load_schemas()
    (record,) = (await scoped.answer_requests(RecordPageRequest(ALL)))[RecordPageRequest(ALL)].records
    assert record.values == {}
    await index.put(RECEIPTS, [with_values(a_document("b"), {"size": "XL", "new name": "y"})])
    assert await find_doc_ids(scoped, a_search(where("new name", "eq", "y"))) == ["b"]

    await index.set_schema(number_schema)

    assert await find_doc_ids(scoped, a_search(where("size", "eq", 4.0))) == ["a"]
    assert await find_doc_ids(scoped, a_search(where("old name", "eq", "X"))) == ["a"]


async def test_a_changed_language_is_applied_to_stored_text(index: SearchIndex) -> None:
    scoped = await fill_bucket(
        index, a_document("a", "running shoes", title="Running"), schema=a_receipt_schema(language="")
    )
    search = a_search(required=["run"])
    assert await find_doc_ids(scoped, search) == []

    await index.set_schema(a_receipt_schema(language="en"))

    assert await find_doc_ids(scoped, search) == ["a"]
    assert await find_doc_ids(scoped, a_search(where("title", "contains", "runs"))) == ["a"]
    assert (
        len((await scoped.answer_requests(KeywordPassageRequest(ALL, "shoe")))[KeywordPassageRequest(ALL, "shoe")]) == 1
    )
    await index.delete([DocId("a")])
    assert await find_doc_ids(scoped, search) == []


async def test_requests_during_a_schema_change_see_the_old_or_the_new_state(index: SearchIndex) -> None:
    documents = [a_document(f"d{number}", "running shoes " * 20, vendor="x") for number in range(40)]
    scoped = await fill_bucket(index, *documents, schema=a_receipt_schema(language=""))
    stemmed_request, observed_counts = CountRequest(a_search(required=["run"])), set[tuple[int, int]]()

    change = asyncio.create_task(index.set_schema(a_receipt_schema(language="en")))
    while not change.done():
        answers = await scoped.answer_requests(stemmed_request, CountRequest(ALL))
        observed_counts.add((answers[stemmed_request], answers[CountRequest(ALL)]))
    await change

    assert observed_counts <= {(0, 40), (40, 40)}
    assert (await scoped.answer_requests(stemmed_request))[stemmed_request] == 40


# -- concurrency


async def test_another_handle_sees_the_same_documents_and_the_same_generation(opener: IndexOpener) -> None:
    first_index, second_index = await opener(), await opener()
    first_scoped = await fill_bucket(first_index, a_document("a", vendor="x"))
    second_scoped = second_index.within_scope(a_scope())
    assert await count_documents(second_scoped) == 1

    await first_index.put(RECEIPTS, [a_document("a", vendor="y"), a_document("b", vendor="y")])
    await second_index.put(RECEIPTS, [a_document("c", vendor="z")])

    assert (
        value_counts_of(await load_value_facet(first_scoped, "vendor"))
        == value_counts_of(await load_value_facet(second_scoped, "vendor"))
        == [("y", 2), ("z", 1)]
    )
    assert (await first_scoped.answer_requests()).generation == (await second_scoped.answer_requests()).generation
    assert second_scoped.analyser_for(RECEIPTS).language == "en"


async def test_readers_never_see_half_written_documents(opener: IndexOpener) -> None:
    first_index, second_index = await opener(), await opener()
    scoped = await fill_bucket(first_index, *(a_document(f"d{n}", "first version", vendor="first") for n in range(10)))
    second_scoped = second_index.within_scope(a_scope())
    first_version = a_search(where("vendor", "eq", "first"), required=["first"])
    second_version = a_search(where("vendor", "eq", "second"), required=["second"])
    version_conditions = [search.clauses[0].display_condition for search in (first_version, second_version)]
    either_version, mixed_version = (
        a_search(OrCondition(tuple(version_conditions))),
        a_search(where("vendor", "eq", "first"), required=["second"]),
    )

    async def watch_documents() -> None:
        for _ in range(15):
            answers = await second_scoped.answer_requests(
                CountRequest(either_version), CountRequest(mixed_version), CountRequest(ALL)
            )
            assert answers[CountRequest(either_version)] == answers[CountRequest(ALL)] == 10
            assert answers[CountRequest(mixed_version)] == 0

    async def replace_documents(index: SearchIndex, numbers: range) -> None:
        for n in numbers:
            await index.put(RECEIPTS, [a_document(f"d{n}", "second version", vendor="second")])

    await asyncio.gather(
        watch_documents(), replace_documents(first_index, range(5)), replace_documents(second_index, range(5, 10))
    )

    assert await find_doc_ids(scoped, second_version) == [f"d{n}" for n in range(10)]


# -- scope


def _every_request(search: Search) -> list[IndexRequest[object]]:
    return [
        CountRequest(search),
        KeywordPassageRequest(search, "words"),
        SemanticPassageRequest(search, "words"),
        FacetRequest(search, FieldName("vendor")),
        FacetRequest(search, FieldName("weight")),
        FacetRequest(search, FieldName("date")),
        FacetRequest(search, FieldName("tags")),
        FacetRequest(search, FieldName("paid")),
        AggregateRequest(search, field=FieldName("total"), group=GroupBy(field=FieldName("vendor"))),
        NearestValueRequest(search, FieldName("weight"), 50.0),
        SpellingRequest(frozenset(search.buckets), "wrods"),
        RecordPageRequest(search),
        DocumentRequest((DocId("secret"),)),
    ]


async def _put_two_buckets(index: SearchIndex) -> None:
    secret_document = a_document(
        "secret",
        "hushed words",
        title="Hush",
        readers=["user:x"],
        vendor="Hush",
        weight=99.0,
        date="1999-09-09",
        tags=("hush",),
        paid=True,
        total=7.0,
    )
    await fill_bucket(index, a_document("open", "plain words", vendor="Open", weight=1.0), secret_document)
    closed_document = a_document("closed", "closed words", vendor="Closed", weight=98.0)
    await fill_bucket(index, closed_document, schema=a_receipt_schema("closed"))


@pytest.mark.parametrize("bucket", ["closed", "no such bucket", "", "*", "_all", "receipts,closed", "receipts\x00"])
async def test_a_bucket_outside_the_scope_is_refused_whether_or_not_it_exists(index: SearchIndex, bucket: str) -> None:
    await _put_two_buckets(index)
    scoped = index.within_scope(a_scope(RECEIPTS))

    for request in _every_request(unfiltered_search_of(BucketId(bucket), RECEIPTS)):
        if not isinstance(request, DocumentRequest):
            with pytest.raises(NotInScope) as error:
                await scoped.answer_requests(request)
            assert str(error.value) == f"bucket {bucket!r} is not in scope"
    with pytest.raises(NotInScope):
        scoped.analyser_for(BucketId(bucket))


async def test_a_granted_bucket_that_does_not_exist_is_refused_in_the_same_way(index: SearchIndex) -> None:
    await _put_two_buckets(index)
    scoped = index.within_scope(a_scope(RECEIPTS, "gone"))

    with pytest.raises(NotInScope):
        await scoped.answer_requests(CountRequest(a_search(bucket="gone")))
    assert set(await scoped.load_schemas()) == {RECEIPTS}
    assert set((await scoped.load_vocabulary()).document_counts) == {RECEIPTS}


async def test_a_document_of_other_readers_leaves_no_trace_in_any_answer(index: SearchIndex) -> None:
    await _put_two_buckets(index)
    stranger = index.within_scope(a_scope(RECEIPTS, subjects=["everyone", "user:y"]))
    requests = _every_request(ALL)

    answers = await stranger.answer_requests(*requests)

    all_answers = repr(
        [answers[request] for request in requests] + [await stranger.load_vocabulary(), await stranger.load_schemas()]
    )
    for trace in ("secret", "Hush", "hush", "99.0", "1999", "closed", "Closed", "98.0"):
        assert trace not in all_answers
    assert answers[CountRequest(ALL)] == 1


@pytest.mark.parametrize(
    "seen",
    [a_scope(RECEIPTS, subjects=["user:x", "user:y"]), a_scope(RECEIPTS, all_readers=True)],
    ids=["a reader", "the operator"],
)
async def test_a_reader_sees_the_document_in_every_answer(index: SearchIndex, seen: Scope) -> None:
    await _put_two_buckets(index)
    requests = _every_request(ALL)

    stranger_answers = await index.within_scope(a_scope(RECEIPTS)).answer_requests(*requests)
    reader_answers = await index.within_scope(seen).answer_requests(*requests)

    assert reader_answers[CountRequest(ALL)] == 2
    assert [request for request in requests if reader_answers[request] == stranger_answers[request]] == []
    assert "closed" not in repr([reader_answers[request] for request in requests])


async def test_an_empty_scope_sees_nothing(index: SearchIndex) -> None:
    await _put_two_buckets(index)
    scoped = index.within_scope(replace(a_scope(), buckets=frozenset()))
    request = DocumentRequest((DocId("open"), DocId("secret"), DocId("closed")))

    assert (await scoped.answer_requests(request))[request] == ()
    assert await scoped.load_schemas() == {}
    vocabulary = await scoped.load_vocabulary()
    assert (vocabulary.fields, dict(vocabulary.document_counts)) == ((), {})
    with pytest.raises(NotInScope):
        await scoped.answer_requests(CountRequest(ALL))


async def test_a_scope_of_another_tenant_is_refused(index: SearchIndex) -> None:
    with pytest.raises(ValueError, match="tenant"):
        index.within_scope(replace(a_scope(), tenant=TenantId("other")))
    assert index.within_scope(a_scope()).scope.tenant == TENANT


# -- hostile input


HOSTILE = [
    "x" * 10_000,
    "word " * 2_000,
    '"',
    '""',
    "'",
    "'; DROP TABLE document; --",
    '" OR title:"',
    "%",
    "_",
    "*",
    "?",
    "\\",
    "a*",
    "a AND b",
    "NOT a",
    "NEAR(a b, 2)",
    "^a",
    "{a}: b",
    "-a",
    "\x00",
    "a\x00b",
    "\u202eabc\u202c",
    "مرحبا",
    "\ud800",
    "🙂" * 100,
    "((((((",
    "/.*/",
    "[a TO z]",
    "$where",
    "${jndi}",
    "{{x}}",
]


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_matches_only_itself(index: SearchIndex, text: str) -> None:
    plain_document = a_document("plain", "b plain text", title="t", vendor="z", tags=("z",))
    stored = text if text.isascii() or text.encode(errors="replace").decode() == text else "replaced"
    hostile_document = a_document(
        "same", stored, title=stored, vendor=stored, tags=(stored,), items=(a_row(name=stored),)
    )
    scoped = await fill_bucket(index, plain_document, hostile_document)
    searches = [
        a_search(where("vendor", "eq", text)),
        a_search(where("vendor", "in", (text,))),
        a_search(where("tags", "has", text)),
        a_search(where("items.name", "eq", text)),
    ]
    other_requests: list[IndexRequest[object]] = [
        CountRequest(a_search(where("vendor", "contains", text))),
        CountRequest(a_search(where("text", "contains", text))),
        CountRequest(a_search(where("title", "contains", text))),
        CountRequest(a_search(where("doc_id", "eq", text))),
        KeywordPassageRequest(ALL, text),
        SemanticPassageRequest(ALL, text),
        SpellingRequest(frozenset({RECEIPTS}), text),
        DocumentRequest((DocId(text),)),
    ]

    answers = await scoped.answer_requests(*map(CountRequest, searches), *other_requests)

    expected_count = 1 if stored == text else 0
    assert [answers[CountRequest(search)] for search in searches] == [expected_count] * 4
    assert await find_doc_ids(scoped) == ["plain", "same"]


@pytest.mark.parametrize(
    "name", ["'; --", '"', "a*", "%", "größe", "日付", "x y", "_source", "rowid", "a,b", "-a", "\\"]
)
async def test_unusual_field_and_bucket_names_work_like_others(index: SearchIndex, name: str) -> None:
    schema = Schema(
        bucket=BucketId(f"bücket {name}"),
        fields=(a_field(name), a_field(f"{name}2", FieldType.ROWS, columns=(a_field(name, FieldType.NUMBER),))),
    )
    document = with_values(a_document("a"), {name: "value", f"{name}2": (a_row(**{name: 1.0}),)})

    scoped = await fill_bucket(index, document, schema=schema)

    assert await count_documents(scoped, where(name, "eq", "VALUE"), bucket=schema.bucket) == 1
    assert await count_documents(scoped, where(f"{name}2.{name}", "eq", 1.0), bucket=schema.bucket) == 1
    assert value_counts_of(await load_value_facet(scoped, name, search=a_search(bucket=schema.bucket))) == [
        ("value", 1)
    ]


async def test_conditions_nested_two_hundred_deep_are_evaluated(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", weight=1.0), a_document("b", weight=2.0), a_document("c"))
    nested_negations: Condition = where("weight", "eq", 1.0)
    nested_alternations: Condition = where("weight", "eq", 1.0)
    for _ in range(200):
        nested_negations = NotCondition(nested_negations)
    for n in range(100):
        nested_alternations = OrCondition(
            (AndCondition((nested_alternations, where("weight", "lt", 50.0 + n))), where("weight", "eq", 100.0 + n))
        )

    assert await find_doc_ids(scoped, a_search(nested_negations)) == ["a"]
    assert await find_doc_ids(scoped, a_search(nested_alternations)) == ["a"]


async def test_conditions_with_thousands_of_values_or_members_are_evaluated(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, a_document("a", vendor="v7", weight=7.0), a_document("b", vendor="w"))
    values = tuple(f"v{n}" for n in range(5_000))
    members = tuple(
        ComparisonCondition(field=FieldName("weight"), op=ComparisonOperator.EQ, value=float(n)) for n in range(1_500)
    )

    assert await find_doc_ids(scoped, a_search(where("vendor", "in", values))) == ["a"]
    assert await find_doc_ids(scoped, a_search(OrCondition(members))) == ["a"]
    assert await find_doc_ids(scoped, a_search(where("doc_id", "in", (*values, "b")))) == ["b"]


async def test_an_open_index_answers_a_ping(index: SearchIndex) -> None:
    await index.ping()
    await index.ping(thorough=True)


async def test_a_part_of_a_bucket_is_searched_like_a_bucket(index: SearchIndex) -> None:
    part = part_of_bucket(RECEIPTS, "lots & parcels, 2031")
    await fill_bucket(index, a_document("d1"), a_document("d2"))
    await fill_bucket(index, a_document("d3"), schema=a_receipt_schema(part))
    scoped = index.within_scope(a_scope(RECEIPTS, part))

    assert await index.load_bucket_names() == {RECEIPTS, part}
    assert await find_doc_ids(scoped, unfiltered_search_of(part)) == ["d3"]
    assert await find_doc_ids(scoped, unfiltered_search_of(RECEIPTS)) == ["d1", "d2"]
    assert await find_doc_ids(scoped, unfiltered_search_of(RECEIPTS, part)) == ["d1", "d2", "d3"]


async def test_the_sizes_of_buckets_follow_their_documents(index: SearchIndex) -> None:
    assert await index.load_bucket_sizes() == {}
    await fill_bucket(index, *(a_document(f"d{n}") for n in range(3)))
    await fill_bucket(index, schema=a_receipt_schema("others"))

    before = await index.load_bucket_sizes()
    await index.delete([DocId("d1")])
    after = await index.load_bucket_sizes()

    states = await index.load_bucket_states()
    assert {bucket: size.document_count for bucket, size in before.items()} == {RECEIPTS: 3, BucketId("others"): 0}
    assert {bucket: size.document_count for bucket, size in after.items()} == {RECEIPTS: 2, BucketId("others"): 0}
    assert {bucket: size.generation for bucket, size in after.items()} == {
        bucket: state.generation for bucket, state in states.items()
    }
    assert before[RECEIPTS].generation != after[RECEIPTS].generation

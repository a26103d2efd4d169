"""What every SearchIndex does, whichever it is. The sentences are those of `storage.search.index`."""

import asyncio
from dataclasses import replace

import pytest

from storage.search.conditions import EVERYTHING, All, Any, Compare, Condition, InRow, Missing, Not, Op, Scalar
from storage.search.documents import Annotation, Document, Passage
from storage.search.errors import InvalidCondition, NotInScope, UnknownBucket, UnknownField
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import (
    Aggregate,
    Count,
    Facet,
    Fetch,
    Hit,
    Nearest,
    NearPassages,
    Outlines,
    Passages,
    PeriodFacet,
    RangeFacet,
    Records,
    Request,
    ScopedIndex,
    SearchIndex,
    Spellings,
    ValueFacet,
)
from storage.search.plan import Group, Period, Search, everything_in
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
from tests.contracts.conftest import Opener

ALL = a_search()


async def filled(index: SearchIndex, *documents: Document, schema: Schema | None = None) -> ScopedIndex:
    """The documents as the bucket's content, seen by who sees the bucket."""
    schema = schema or a_receipt_schema()
    await index.set_schema(schema)
    await index.put(schema.bucket, documents)
    return index.within(a_scope(schema.bucket))


async def count(scoped: ScopedIndex, condition: Condition = EVERYTHING, *, bucket: str = RECEIPTS) -> int:
    search = a_search(condition, bucket=bucket)
    return (await scoped.ask(Count(search)))[Count(search)]


async def ids(scoped: ScopedIndex, search: Search = ALL) -> list[str]:
    return sorted(record.doc_id for record in (await scoped.ask(Records(search)))[Records(search)].records)


async def value_facet(scoped: ScopedIndex, field: str, *, search: Search = ALL, limit: int = 1000) -> ValueFacet:
    facet = Facet(search, FieldName(field), limit=limit)
    answer = (await scoped.ask(facet))[facet]
    assert isinstance(answer, ValueFacet)
    return answer


def shown(facet: ValueFacet) -> list[tuple[str, int]]:
    return [(one.value, one.count) for one in facet.values]


# -- counting


async def test_one_round_trip_answers_many_counts_each_exactly(index: SearchIndex) -> None:
    scoped = await filled(index, *(a_document(f"d{n}", total=float(n % 7), vendor=f"v{n % 5}") for n in range(120)))
    vendors = [a_search(where("vendor", "eq", f"V{n}")) for n in range(6)]
    totals = [search.narrowed(where("total", "gte", float(n))) for search in vendors for n in range(8)]

    answers = await scoped.ask(*map(Count, vendors), *map(Count, totals), Count(ALL), Count(ALL))

    assert [answers[Count(search)] for search in vendors] == [24, 24, 24, 24, 24, 0]
    wanted = [sum(m % 5 == v and m % 7 >= n for m in range(120)) for v in range(6) for n in range(8)]
    assert [answers[Count(search)] for search in totals] == wanted
    assert answers[Count(ALL)] == 120


async def test_a_search_without_clauses_is_the_empty_set(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a"))
    empty = Search(clauses=())

    answers = await scoped.ask(Count(empty), Records(empty), Passages(empty, "a"), Aggregate(empty))

    assert answers[Count(empty)] == 0
    assert answers[Records(empty)].records == ()
    assert answers[Passages(empty, "a")] == ()
    assert answers[Aggregate(empty)] == ()


async def test_no_requests_are_answered_with_the_generation(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a"))

    assert (await scoped.ask()).generation == (await scoped.vocabulary()).generation


async def test_the_set_of_several_buckets_is_their_union(index: SearchIndex) -> None:
    await filled(index, a_document("a", vendor="x"), a_document("b", vendor="y"))
    await filled(index, a_document("c", vendor="x"), schema=a_receipt_schema("others"))
    scoped = index.within(a_scope(RECEIPTS, "others"))
    both = a_union({RECEIPTS: where("vendor", "eq", "x"), "others": EVERYTHING})

    assert await ids(scoped, both) == ["a", "c"]
    assert (await scoped.ask(Count(both)))[Count(both)] == 2


# -- conditions


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (where("weight", "gt", 2.0), ["c"]),
        (Not(where("weight", "gt", 2.0)), ["b"]),  # unknown for the document without a weight
        (Not(Not(where("weight", "gt", 2.0))), ["c"]),
        (Any((where("weight", "gt", 2.0), Not(where("weight", "gt", 2.0)))), ["b", "c"]),
        (Missing(field=FieldName("weight")), ["a"]),
        (Not(Missing(field=FieldName("weight"))), ["b", "c"]),
        (Not(All((where("weight", "gt", 2.0), where("vendor", "eq", "nobody")))), ["a", "b", "c"]),
        (Not(Any((where("weight", "gt", 2.0), where("vendor", "eq", "nobody")))), ["b"]),
        (Any((where("weight", "gt", 2.0), where("paid", "eq", False))), ["a", "b", "c"]),
        (Not(where("paid", "eq", True)), ["a", "b"]),
        (Not(where("tags", "has", "x")), ["a", "b"]),
        (Missing(field=FieldName("tags")), ["a", "b"]),
        (Missing(field=FieldName("paid")), []),
        (Not(where("items", "contains", "tire")), ["a", "b"]),
        (Missing(field=FieldName("items")), ["a", "b"]),
        (Not(where("text", "contains", "never")), ["a", "b", "c"]),
        (All(), ["a", "b", "c"]),
        (Any(), []),
        (where("weight", "in", ()), []),
        (Not(where("weight", "in", ())), ["b", "c"]),
        (where("doc_id", "in", ("a", "c", "z")), ["a", "c"]),
        (Not(where("doc_id", "eq", "a")), ["b", "c"]),
    ],
)
async def test_conditions_have_three_values(index: SearchIndex, condition: Condition, wanted: list[str]) -> None:
    scoped = await filled(
        index,
        a_document("a", vendor="acme"),
        a_document("b", vendor="acme", weight=2.0),
        a_document(
            "c", vendor="acme", weight=3.0, paid=True, tags=("x", "y"), items=(a_row(name="Tire"),), text="a word"
        ),
    )

    assert await ids(scoped, a_search(condition)) == wanted


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
async def test_strings_compare_after_the_fold(
    index: SearchIndex, op: str, value: Scalar | tuple[Scalar, ...], wanted: list[str]
) -> None:
    scoped = await filled(
        index,
        a_document("a", vendor="Straße 1", note="Straße 1"),
        a_document("b", vendor="100%", note="100%"),
        a_document("c", vendor="snake_a*b", note="snake_a*b"),
    )

    assert await ids(scoped, a_search(where("vendor", op, value))) == wanted
    assert await ids(scoped, a_search(where("note", op, value))) == wanted


async def test_numbers_compare_as_doubles(index: SearchIndex) -> None:
    scoped = await filled(
        index, a_document("a", weight=0.1 + 0.2), a_document("b", weight=0.3), a_document("c", weight=0.0)
    )

    assert await ids(scoped, a_search(where("weight", "eq", 0.3))) == ["b"]
    assert await ids(scoped, a_search(where("weight", "gt", 0.3))) == ["a"]
    assert await ids(scoped, a_search(where("weight", "in", (-0.0, 0.1 + 0.2)))) == ["a", "c"]
    assert await ids(scoped, a_search(where("weight", "between", (0.0, 0.3)))) == ["b", "c"]


async def test_days_compare_as_days_with_both_ends_of_between_included(index: SearchIndex) -> None:
    days = ["0001-01-01", "2023-12-31", "2024-01-01", "2024-12-31", "9999-12-31"]
    scoped = await filled(index, *(a_document(day, date=day) for day in days), a_document("undated"))

    assert await ids(scoped, a_search(where("date", "between", ("2024-01-01", "2024-12-31")))) == days[2:4]
    assert await ids(scoped, a_search(where("date", "lt", "2024-01-01"))) == days[:2]
    assert await ids(scoped, a_search(Not(where("date", "lt", "2024-01-01")))) == days[2:]


async def test_a_condition_on_a_row_holds_within_one_row(index: SearchIndex) -> None:
    four = a_row(name="Summer tire", qty=4.0)
    scoped = await filled(
        index,
        a_document("one row", items=(four, a_row(name="valve", qty=1.0))),
        a_document("two rows", items=(a_row(name="tire", qty=1.0), a_row(name="valve", qty=4.0))),
        a_document("half a row", items=(a_row(name="tire"),)),
        a_document("none"),
    )
    tires = All((where("name", "contains", "TIRE"), where("qty", "gte", 4.0)))
    items = FieldName("items")

    assert await ids(scoped, a_search(InRow(row=items, condition=tires))) == ["one row"]
    assert await ids(scoped, a_search(Not(InRow(row=items, condition=tires)))) == ["half a row", "none", "two rows"]
    assert await ids(scoped, a_search(where("items.qty", "eq", 4.0))) == ["one row", "two rows"]
    assert await ids(scoped, a_search(where("items", "contains", "valve"))) == ["one row", "two rows"]
    few = Not(where("qty", "gte", 4.0))  # within a row a missing quantity is unknown
    assert await ids(scoped, a_search(InRow(row=items, condition=few))) == ["one row", "two rows"]
    no_qty = InRow(row=items, condition=Missing(field=FieldName("qty")))
    assert await ids(scoped, a_search(no_qty)) == ["half a row"]


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
        ("the", ["whole"]),  # stop words count
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
async def test_a_phrase_lies_in_the_title_or_in_the_text(index: SearchIndex, phrase: str, wanted: list[str]) -> None:
    scoped = await filled(
        index,
        a_document("title", "period of a year", title="Terminating: notice period; title"),
        a_document("whole", "the termination notice", title=""),
        a_document("part", "cabinet B-120, version 3.0, Hauptstrasse, straße, 日本語"),
    )

    assert await ids(scoped, a_search(where("text", "contains", phrase))) == wanted
    assert await ids(scoped, a_search(required=[phrase])) == wanted


async def test_a_title_condition_looks_at_the_title_alone(index: SearchIndex) -> None:
    scoped = await filled(
        index, a_document("a", "solar panel", title="Invoice"), a_document("b", "x", title="Solar panels")
    )

    assert await ids(scoped, a_search(where("title", "contains", "solar panel"))) == ["b"]
    assert await ids(scoped, a_search(Not(where("title", "contains", "solar panel")))) == ["a"]


async def test_words_of_different_passages_are_words_of_one_document(index: SearchIndex) -> None:
    text = "escrow account. " * 3 + "arbitration clause"
    passages = (Passage(start=0, end=15), Passage(start=16, end=len(text)))
    scoped = await filled(index, a_document("a", text, passages=passages), a_document("b", "escrow only"))

    assert await ids(scoped, a_search(required=["escrow", "arbitration"])) == ["a"]
    assert await ids(scoped, a_search(required=["account escrow"])) == ["a"]  # across the boundary
    assert await ids(scoped, a_search(Not(where("text", "contains", "arbitration")))) == ["b"]


async def test_a_long_phrase_is_found_whole(index: SearchIndex) -> None:
    words = [f"w{n}" for n in range(300)]
    scoped = await filled(
        index, a_document("a", " ".join(words)), a_document("b", " ".join([*words[:200], "x", *words[200:]]))
    )

    assert await ids(scoped, a_search(required=[" ".join(words)])) == ["a"]
    assert await ids(scoped, a_search(required=[" ".join(words[100:250])])) == ["a"]
    assert await ids(scoped, a_search(required=[" ".join(words[:190])])) == ["a", "b"]


async def test_the_language_of_a_bucket_stems_its_words(index: SearchIndex) -> None:
    german = await filled(index, a_document("a", "Verträge"), schema=a_receipt_schema("de", language="de"))
    none = await filled(index, a_document("b", "contracts"), schema=a_receipt_schema("none", language=""))

    assert await count(german, where("text", "contains", "Vertrag"), bucket="de") == 1
    assert await count(none, where("text", "contains", "contract"), bucket="none") == 0
    assert german.analyser(BucketId("de")).language == "de"


# -- facets


async def test_a_facet_counts_values_the_rest_and_the_missing(index: SearchIndex) -> None:
    vendors = ["Acme"] * 5 + ["ACME"] * 2 + ["acme"] * 2 + ["Bolt"] * 4 + ["cog", "Cog", "dot", "Eel"] + [None] * 3
    scoped = await filled(index, *(a_document(f"d{n}", vendor=vendor) for n, vendor in enumerate(vendors)))

    whole = await value_facet(scoped, "vendor")
    top = await value_facet(scoped, "vendor", limit=2)

    assert shown(whole) == [("Acme", 9), ("Bolt", 4), ("Cog", 2), ("dot", 1), ("Eel", 1)]
    assert (whole.other, whole.missing, whole.distinct, whole.overlapping) == (0, 3, 5, False)
    assert shown(top) == [("Acme", 9), ("Bolt", 4)]
    assert (top.other, top.missing, top.distinct) == (4, 3, 5)


async def test_a_facet_over_a_list_counts_documents_and_overlaps(index: SearchIndex) -> None:
    scoped = await filled(
        index,
        a_document("a", tags=("x", "X", "y")),
        a_document("b", tags=("x", "z")),
        a_document("c", tags=("z",)),
        a_document("d", tags=("w",)),
        a_document("e"),
    )

    facet = await value_facet(scoped, "tags", limit=2)

    assert shown(facet) == [("x", 2), ("z", 2)]
    assert (facet.other, facet.missing, facet.distinct, facet.overlapping) == (1, 1, 4, True)


async def test_a_flag_that_is_absent_is_false_and_never_missing(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a", paid=True), a_document("b", paid=False), a_document("c"))

    facet = await value_facet(scoped, "paid")

    assert shown(facet) == [("false", 2), ("true", 1)]
    assert (facet.other, facet.missing, facet.overlapping) == (0, 0, False)


@pytest.mark.parametrize("numbers", [[float(n) for n in range(100)], [1.5] * 30, [-5.0, 0.0, 1e9], [0.1, 0.2, 0.30001]])
async def test_ranges_are_disjoint_cover_every_value_and_count_truly(index: SearchIndex, numbers: list[float]) -> None:
    scoped = await filled(index, *(a_document(f"d{n}", weight=w) for n, w in enumerate(numbers)), a_document("none"))
    facet = Facet(ALL, FieldName("weight"), parts=5)

    answer = (await scoped.ask(facet))[facet]

    assert isinstance(answer, RangeFacet)
    assert answer.missing == 1
    assert 1 <= len(answer.ranges) <= 5
    assert answer.ranges[-1].high is None
    for one, after in zip(answer.ranges, [*answer.ranges[1:], None], strict=True):
        assert one.high == (after.low if after else None)
        within: list[Condition] = [where("weight", "gte", one.low)]
        within += [] if one.high is None else [where("weight", "lt", one.high)]
        assert one.count == await count(scoped, All(tuple(within))) > 0
    assert sum(one.count for one in answer.ranges) == len(numbers)


async def test_ranges_are_cut_alike_by_every_engine(index: SearchIndex) -> None:
    scoped = await filled(index, *(a_document(f"d{n}", weight=float(n * n)) for n in range(40)))
    facet = Facet(ALL, FieldName("weight"), parts=4)

    answer = (await scoped.ask(facet))[facet]

    assert isinstance(answer, RangeFacet)
    assert [(one.low, one.high) for one in answer.ranges] == [
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
            Period.YEAR,
            [("2022-01-01", "2022-12-31"), ("2023-01-01", "2023-12-31")],
        ),
        (["2023-01-15", "2023-06-30"], Period.QUARTER, [("2023-01-01", "2023-03-31"), ("2023-04-01", "2023-06-30")]),
        (["2024-01-15", "2024-02-29"], Period.MONTH, [("2024-01-01", "2024-01-31"), ("2024-02-01", "2024-02-29")]),
        (["2024-01-15", "2024-01-16"], Period.DAY, [("2024-01-15", "2024-01-15"), ("2024-01-16", "2024-01-16")]),
        (["2024-01-15", "2024-01-15"], Period.YEAR, [("2024-01-01", "2024-12-31")]),
        (
            [f"{year}-07-01" for year in range(2000, 2006)],
            Period.YEAR,
            [("2000-01-01", "2003-12-31"), ("2004-01-01", "2004-12-31"), ("2005-01-01", "2005-12-31")],
        ),
    ],
)
async def test_periods_are_the_longest_that_split_the_set(
    index: SearchIndex, days: list[str], period: Period, cells: list[tuple[str, str]]
) -> None:
    scoped = await filled(index, *(a_document(f"d{n}", date=day) for n, day in enumerate(days)), a_document("undated"))
    facet = Facet(ALL, FieldName("date"), parts=3)

    answer = (await scoped.ask(facet))[facet]

    assert isinstance(answer, PeriodFacet)
    assert answer.missing == 1
    assert [(one.period, one.first, one.last) for one in answer.periods] == [(period, *cell) for cell in cells]
    assert [one.count for one in answer.periods] == [sum(low <= day <= high for day in days) for low, high in cells]


async def test_a_facet_over_several_buckets_needs_a_shared_field(index: SearchIndex) -> None:
    await filled(index, a_document("a", vendor="x", note="n"), schema=a_receipt_schema("one", shared=True))
    await filled(index, a_document("b", vendor="X"), a_document("c"), schema=a_receipt_schema("two", shared=True))
    scoped = index.within(a_scope("one", "two"))
    both = a_union({"one": EVERYTHING, "two": EVERYTHING})

    facet = await value_facet(scoped, "vendor", search=both)

    assert shown(facet) == [("X", 2)]
    assert facet.missing == 1
    with pytest.raises(InvalidCondition):
        await value_facet(scoped, "note", search=both)


@pytest.mark.parametrize("field", ["nothing", "text", "title", "doc_id", "items.name", "", "a" * 10_000, "vendor\x00"])
async def test_a_field_that_is_not_there_is_an_error_never_an_empty_answer(index: SearchIndex, field: str) -> None:
    scoped = await filled(index, a_document("a", vendor="x"))
    name = FieldName(field)
    requests: list[Request[object]] = [
        Facet(ALL, name),
        Aggregate(ALL, field=name),
        Aggregate(ALL, group=Group(field=name)),
        Nearest(ALL, name, 1.0),
        Records(ALL, order=ordered_by(field)),
        Count(a_search(Missing(field=name))),
    ]

    for request in requests:
        with pytest.raises(UnknownField if field != "items.name" else InvalidCondition):
            await scoped.ask(request)


async def test_a_request_that_does_not_fit_the_field_is_refused(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a", vendor="x"))
    requests: list[Request[object]] = [
        Facet(ALL, FieldName("items")),
        Aggregate(ALL, field=FieldName("vendor")),
        Aggregate(ALL, group=Group(field=FieldName("items"))),
        Nearest(ALL, FieldName("vendor"), "x"),
        Nearest(ALL, FieldName("date"), 1.0),
        Records(ALL, order=ordered_by("tags")),
        Count(a_search(where("vendor", "gt", "x"))),
        Count(a_search(where("weight", "eq", "heavy"))),
        Count(a_search(where("weight", "eq", float("nan")))),
        Count(a_search(where("weight", "between", (1.0,)))),
        Count(a_search(where("date", "eq", "yesterday"))),
        Count(a_search(where("paid", "eq", "yes"))),
        Count(a_search(InRow(row=FieldName("vendor"), condition=All()))),
    ]

    for request in requests:
        with pytest.raises(InvalidCondition):
            await scoped.ask(request)


# -- aggregates


async def test_money_is_added_by_currency_and_exactly(index: SearchIndex) -> None:
    scoped = await filled(
        index,
        *(a_document(f"e{n}", total=0.1, currency="EUR") for n in range(10)),
        a_document("u1", total=19.99, currency="USD"),
        a_document("u2", total=-0.01, currency="usd"),
        a_document("j", total=100.0, currency="JPY"),
        a_document("n", total=5.0),
        a_document("without", currency="EUR"),
    )
    request = Aggregate(ALL, field=FieldName("total"))

    lines = (await scoped.ask(request))[request]

    assert [(one.unit, one.count, one.sum) for one in lines] == [
        ("EUR", 10, 1.0),
        ("USD", 2, 19.98),
        ("JPY", 1, 100.0),
        (None, 1, 5.0),
    ]
    dollars = lines[1]
    assert (dollars.minimum, dollars.maximum, dollars.average, dollars.group) == (-0.01, 19.99, 9.99, None)


async def test_other_numbers_are_added_to_twelve_digits(index: SearchIndex) -> None:
    weights = [0.1, 0.2, 1e6, -1e6, 0.7]
    scoped = await filled(index, *(a_document(f"d{n}", weight=weight) for n, weight in enumerate(weights)))
    request = Aggregate(ALL, field=FieldName("weight"))

    (line,) = (await scoped.ask(request))[request]

    assert (line.unit, line.count, line.sum, line.average) == ("kg", 5, 1.0, 0.2)
    assert (line.minimum, line.maximum) == (-1e6, 1e6)


async def test_a_median_is_the_middle_value_or_between_the_middle_two(index: SearchIndex) -> None:
    amounts = [0.1, 100.0, 0.1, 0.25, 7.0]
    scoped = await filled(
        index,
        *(a_document(f"e{n}", total=total, currency="EUR", paid=n > 2) for n, total in enumerate(amounts)),
        *(a_document(f"u{n}", total=float(n), currency="USD", paid=True) for n in range(4)),
        *(a_document(f"w{n}", weight=weight) for n, weight in enumerate((-0.0, 0.3, 0.1, 5.0, -2.0, 0.1))),
        a_document("without", currency="EUR"),
    )
    totals = Aggregate(ALL, FieldName("total"), median=True)
    weights = Aggregate(ALL, FieldName("weight"), median=True)
    grouped = Aggregate(ALL, FieldName("total"), Group(field=FieldName("paid")), median=True)
    plainly = Aggregate(ALL, FieldName("total"))

    answers = await scoped.ask(totals, weights, grouped, plainly)

    assert [(one.unit, one.count, one.median) for one in answers[totals]] == [("EUR", 5, 0.25), ("USD", 4, 1.5)]
    assert [(one.count, one.sum, one.minimum, one.maximum, one.median) for one in answers[weights]] == [
        (6, 3.5, -2.0, 5.0, 0.1)
    ]
    assert {(one.group, one.unit): one.median for one in answers[grouped]} == {
        (False, "EUR"): 0.1,
        (True, "EUR"): 3.62,
        (True, "USD"): 1.5,
    }
    assert [replace(one, median=None) for one in answers[totals]] == list(answers[plainly])
    with pytest.raises(InvalidCondition):
        await scoped.ask(Aggregate(ALL, median=True))


async def test_groups_are_values_by_fold_with_the_missing_apart(index: SearchIndex) -> None:
    scoped = await filled(
        index,
        a_document("a", vendor="Acme", weight=1.0),
        a_document("b", vendor="ACME", weight=2.0),
        a_document("c", vendor="Acme", weight=4.0),
        a_document("d", vendor="Bolt"),
        a_document("e", weight=8.0),
    )
    counted = Aggregate(ALL, group=Group(field=FieldName("vendor")))
    added = Aggregate(ALL, field=FieldName("weight"), group=Group(field=FieldName("vendor")))

    answers = await scoped.ask(counted, added)

    assert [(one.group, one.count, one.unit, one.sum) for one in answers[counted]] == [
        ("Acme", 3, None, 0.0),
        ("Bolt", 1, None, 0.0),
        (None, 1, None, 0.0),
    ]
    assert [(one.group, one.count, one.sum) for one in answers[added]] == [("Acme", 3, 7.0), (None, 1, 8.0)]


@pytest.mark.parametrize(
    ("group", "wanted"),
    [
        (Group(field=FieldName("date"), period=Period.YEAR), [("2024-01-01", 3), ("2023-01-01", 1), (None, 1)]),
        (
            Group(field=FieldName("date"), period=Period.QUARTER),
            [("2024-01-01", 2), ("2023-10-01", 1), ("2024-04-01", 1), (None, 1)],
        ),
        (
            Group(field=FieldName("date"), period=Period.MONTH),
            [("2023-12-01", 1), ("2024-01-01", 1), ("2024-02-01", 1), ("2024-05-01", 1), (None, 1)],
        ),
        (
            Group(field=FieldName("date")),
            [("2023-12-31", 1), ("2024-01-01", 1), ("2024-02-29", 1), ("2024-05-31", 1), (None, 1)],
        ),
        (Group(field=FieldName("paid")), [(False, 3), (True, 2)]),
        (Group(field=FieldName("tags")), [("x", 3), ("y", 1), (None, 2)]),
        (Group(field=FieldName("weight")), [(1.0, 3), (2.0, 1), (None, 1)]),
        (None, [(None, 5)]),
    ],
)
async def test_groups_of_every_type(index: SearchIndex, group: Group | None, wanted: list[tuple[object, int]]) -> None:
    scoped = await filled(
        index,
        a_document("a", date="2023-12-31", paid=True, tags=("x", "y", "X"), weight=1.0),
        a_document("b", date="2024-01-01", paid=True, tags=("x",), weight=1.0),
        a_document("c", date="2024-02-29", paid=False, tags=("x",), weight=1.0),
        a_document("d", date="2024-05-31", weight=2.0),
        a_document("e"),
    )
    request = Aggregate(ALL, group=group)

    lines = [(one.group, one.count) for one in (await scoped.ask(request))[request]]

    assert sorted(lines, key=repr) == sorted(wanted, key=repr)
    assert [number for _, number in lines] == sorted((number for _, number in wanted), reverse=True)


async def test_an_empty_set_has_no_line(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a", weight=1.0))
    none = a_search(where("weight", "gt", 5.0))
    requests = (Aggregate(none), Aggregate(none, field=FieldName("weight")), Aggregate(ALL, field=FieldName("total")))

    answers = await scoped.ask(*requests)

    assert [answers[request] for request in requests] == [(), (), ()]


async def test_the_nearest_values_lie_on_either_side(index: SearchIndex) -> None:
    scoped = await filled(
        index, *(a_document(f"d{n}", weight=float(n), date=f"202{n}-01-01", total=n / 4) for n in (1, 3, 5, 9))
    )
    small = a_search(where("weight", "lt", 9.0))
    requests = (
        Nearest(ALL, FieldName("weight"), 4.0),
        Nearest(ALL, FieldName("weight"), 5.0),
        Nearest(small, FieldName("weight"), 7.0),
        Nearest(ALL, FieldName("date"), "2024-06-01"),
        Nearest(ALL, FieldName("total"), 0.0),
    )

    answers = await scoped.ask(*requests)

    found = [(answers[request].below, answers[request].above) for request in requests]
    assert found == [(3.0, 5.0), (3.0, 9.0), (5.0, None), ("2023-01-01", "2025-01-01"), (None, 0.25)]


# -- outlines


def _long(doc_id: str, summary: str, *, title: str = "", weight: float = 1.0) -> Document:
    """Begins and goes on like every other; only its title and summary tell what it is about."""
    return a_document(doc_id, "The same words. " * 300, title=title, summary=summary, weight=weight, source="s.pdf")


async def test_documents_are_ranked_by_title_and_summary_within_the_set(index: SearchIndex) -> None:
    about_pumps = _long("pumps", "Pumps and their valves.", title="Book")
    about_fans = _long("fans", "Fans.", weight=3.0)
    titled = _long("titled", "Other things.", title="Pumps")
    scoped = await filled(index, about_pumps, about_fans, titled, *(_long(f"f{n}", "Else.") for n in range(9)))
    light, heavy = Outlines(ALL, "which PUMP?", limit=5), Outlines(a_search(where("weight", "gt", 2.0)), "pumps fans")

    answers = await scoped.ask(light, heavy, Outlines(ALL, "pumps", limit=1), Outlines(ALL, "same"))

    assert [one.doc_id for one in answers[light]] == ["titled", "pumps"]
    found = answers[light][1]
    assert (found.bucket, found.title, found.source, found.summary) == (RECEIPTS, "Book", "s.pdf", about_pumps.summary)
    assert answers[light][0].score > found.score > 0
    assert [one.doc_id for one in answers[heavy]] == ["fans"]
    assert len(answers[Outlines(ALL, "pumps", limit=1)]) == 1
    assert answers[Outlines(ALL, "same")] == ()  # of the texts, not of what sums them up


async def test_a_document_without_a_summary_is_ranked_by_how_it_begins(index: SearchIndex) -> None:
    late = a_document("late", "a word " * 1000 + "quasar")
    scoped = await filled(index, a_document("early", "a quasar"), late, a_document("none", "a word"))
    request = Outlines(ALL, "quasar")

    found = (await scoped.ask(request))[request]

    assert [(one.doc_id, one.summary) for one in found] == [("early", "")]


async def test_outlines_follow_what_is_replaced_and_deleted(index: SearchIndex) -> None:
    scoped = await filled(index, _long("a", "Pumps."), _long("b", "Pumps."), _long("c", "Pumps."))
    await index.put(RECEIPTS, [_long("a", "Fans.")])
    await index.delete([DocId("b")])
    pumps, fans, fetch = Outlines(ALL, "pumps"), Outlines(ALL, "fans"), Fetch((DocId("a"),))

    answers = await scoped.ask(pumps, fans, fetch)

    assert [one.doc_id for one in answers[pumps]] == ["c"]
    assert [one.doc_id for one in answers[fans]] == ["a"]
    assert answers[fetch][0].summary == "Fans."


async def test_summaries_outlast_a_change_of_language(index: SearchIndex) -> None:
    scoped = await filled(index, _long("a", "Pumps."), _long("b", "Fans."))
    await index.set_schema(a_receipt_schema(language="de"))
    request = Outlines(ALL, "pumps")

    assert [(one.doc_id, one.summary) for one in (await scoped.ask(request))[request]] == [("a", "Pumps.")]


# -- passages


def _passages(text: str, *cuts: tuple[str, int | None]) -> tuple[Passage, ...]:
    return tuple(Passage(start=text.index(part), end=text.index(part) + len(part), page=page) for part, page in cuts)


async def test_passages_are_ranked_with_their_exact_place_and_page(index: SearchIndex) -> None:
    first, second, third = "Ünïcode intro 🙂 about panels.", "Replace the fan filter yearly.", "Fan noise is normal."
    text = "\n".join((first, second, third))
    manual = a_document(
        "manual",
        text,
        title="Cabinet",
        source="m.pdf",
        passages=_passages(text, (first, 1), (second, 7), (third, None)),
    )
    others = [a_document(f"other{n}", f"nothing of that kind here, number {n}") for n in range(20)]
    scoped = await filled(index, manual, *others)
    request = Passages(ALL, "replace FAN filters", limit=10)

    hits = (await scoped.ask(request))[request]

    assert [(hit.chunk_id, hit.page, hit.text) for hit in hits] == [("manual#1", 7, second), ("manual#2", None, third)]
    best = hits[0]
    assert (best.doc_id, best.bucket, best.title, best.source) == ("manual", RECEIPTS, "Cabinet", "m.pdf")
    assert text[best.start : best.end] == best.text
    assert hits[0].score > hits[1].score


async def test_a_word_in_the_title_weighs_more(index: SearchIndex) -> None:
    filler = [a_document(f"f{n}", "some other words") for n in range(10)]
    scoped = await filled(
        index,
        a_document("text", "solar words here", title="other"),
        a_document("title", "other words here", title="solar"),
        *filler,
    )
    request = Passages(ALL, "solar")

    assert [hit.doc_id for hit in (await scoped.ask(request))[request]] == ["title", "text"]


async def test_a_word_said_twice_weighs_double(index: SearchIndex) -> None:
    filler = [a_document(f"f{n}", "some other words") for n in range(20)]
    scoped = await filled(index, a_document("a", "an alpha here"), a_document("b", "one beta here"), *filler)
    alpha, beta = Passages(ALL, "alpha beta alpha"), Passages(ALL, "alpha beta beta")

    answers = await scoped.ask(alpha, beta)

    assert [hit.doc_id for hit in answers[alpha]] == ["a", "b"]
    assert [hit.doc_id for hit in answers[beta]] == ["b", "a"]


async def test_common_words_are_trimmed_from_the_ranking_never_from_the_set(index: SearchIndex) -> None:
    documents = [a_document(f"d{n}", "the receipt of a purchase") for n in range(20)]
    scoped = await filled(index, a_document("rare", "a quasar purchase"), *documents)
    ranked, only_common = Passages(ALL, "the purchase of a quasar"), Passages(ALL, "the purchase", limit=50)

    answers = await scoped.ask(ranked, only_common)

    assert [hit.doc_id for hit in answers[ranked]] == ["rare"]
    assert len(answers[only_common]) == 21
    assert len(await ids(scoped, a_search(required=["the", "purchase"]))) == 20


async def test_passages_come_from_the_set_alone_and_ties_go_by_chunk_id(index: SearchIndex) -> None:
    scoped = await filled(index, *(a_document(f"d{n}", "same text", weight=float(n)) for n in (3, 1, 2, 4)))
    request = Passages(a_search(where("weight", "gte", 2.0)), "same", limit=2)

    assert [hit.chunk_id for hit in (await scoped.ask(request))[request]] == ["d2#0", "d3#0"]


@pytest.mark.parametrize("text", ["", "   ", "?!", "unheard"])
async def test_a_ranking_text_that_says_nothing_finds_nothing(index: SearchIndex, text: str) -> None:
    scoped = await filled(index, a_document("a", "some words"))
    request = Passages(ALL, text)

    assert (await scoped.ask(request))[request] == ()


async def test_near_passages_mean_the_same_in_other_words(index: SearchIndex) -> None:
    text = "The automobile wheel needs new rubber."
    scoped = await filled(
        index,
        a_document("car", text, passages=(Passage(start=0, end=len(text), page=3),)),
        a_document("law", "This contract terminates by written notice of either party."),
        a_document("food", "Boil the pasta in salted water for nine minutes."),
        a_document("empty", "", title="", passages=(Passage(start=0, end=0),)),
    )
    request = NearPassages(ALL, "car tyre", limit=3)
    narrowed = NearPassages(a_search(Not(where("doc_id", "eq", "car"))), "car tyre", limit=10)
    wordless = NearPassages(ALL, "  ")

    answers = await scoped.ask(request, narrowed, wordless)

    hits: tuple[Hit, ...] = answers[request]
    assert (hits[0].doc_id, hits[0].page, hits[0].text) == ("car", 3, text)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(-1.001 <= hit.score <= 1.001 for hit in hits)
    assert {hit.doc_id for hit in answers[narrowed]} == {"law", "food"}
    assert answers[wordless] == ()


# -- words


async def test_spellings_are_words_that_visible_documents_hold(index: SearchIndex) -> None:
    scoped = await filled(
        index,
        a_document("a", "termination clauses", title="Terminator"),
        a_document("b", "termination, Termination!"),
        a_document("c", "terminatoin", readers=["user:x"]),
        a_document("d", "germination"),
    )
    request = Spellings(frozenset({RECEIPTS}), "Terminaton")
    itself = Spellings(frozenset({RECEIPTS}), "termination")

    answers = await scoped.ask(request, itself)

    found = [(one.word, one.distance, one.documents) for one in answers[request]]
    assert found == [("termination", 1, 2), ("terminator", 1, 1), ("germination", 2, 1)]
    assert [(one.word, one.distance) for one in answers[itself]] == [("germination", 1), ("terminator", 2)]


@pytest.mark.parametrize("word", ["", "two words", "?", "x" * 10_000, '"', "*", "\x00", "a\x00b", "' OR 1=1 --"])
async def test_what_is_no_word_has_no_spelling(index: SearchIndex, word: str) -> None:
    scoped = await filled(index, a_document("a", "termination clauses"))
    request = Spellings(frozenset({RECEIPTS}), word)

    assert (await scoped.ask(request))[request] == ()


async def test_the_vocabulary_holds_what_visible_documents_hold(index: SearchIndex) -> None:
    await filled(
        index,
        a_document("a", vendor="Acme", weight=2.5, date="2024-01-01", tags=("x", "y"), note="hello"),
        a_document("b", vendor="ACME", weight=1.0, date="2023-01-01", items=(a_row(name="Tire", qty=4.0),)),
        a_document("c", vendor="Acme", items=(a_row(name="tire"), a_row(name="valve", qty=1.0))),
        a_document("hidden", vendor="Secret", weight=99.0, readers=["user:x"]),
    )
    scoped = index.within(a_scope())

    vocabulary = await scoped.vocabulary()

    assert vocabulary.documents == {RECEIPTS: 3}
    held = {one.field: one for one in vocabulary.fields}
    assert [(one.value, one.count) for one in held[FieldName("vendor")].values] == [("Acme", 3)]
    assert (held[FieldName("weight")].low, held[FieldName("weight")].high) == (1.0, 2.5)
    assert (held[FieldName("date")].low, held[FieldName("date")].high) == ("2023-01-01", "2024-01-01")
    assert [(one.value, one.count) for one in held[FieldName("tags")].values] == [("x", 1), ("y", 1)]
    names = held[FieldName("items.name")]
    assert (names.documents, [(one.value.lower(), one.count) for one in names.values]) == (
        2,
        [("tire", 2), ("valve", 1)],
    )
    assert (held[FieldName("items.qty")].low, held[FieldName("items.qty")].high) == (1.0, 4.0)
    assert held[FieldName("items")].documents == 2
    assert FieldName("total") not in held
    assert [one.field for one in vocabulary.fields] == [
        "vendor",
        "weight",
        "date",
        "tags",
        "items",
        "items.name",
        "items.qty",
        "note",
    ]


async def test_the_vocabulary_follows_the_generation_the_scope_and_the_limit(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a", vendor="x"), a_document("b", vendor="y", readers=["user:x"]))
    before = await scoped.vocabulary()
    reader = await index.within(a_scope(subjects=["user:x"])).vocabulary()

    await index.put(RECEIPTS, [a_document("c", vendor="z"), a_document("d", vendor="z")])
    after = await scoped.vocabulary()

    assert before.generation == reader.generation != after.generation
    assert [one.value for one in reader.fields[0].values] == ["x", "y"]
    assert [one.value for one in before.fields[0].values] == ["x"]
    assert [one.value for one in after.fields[0].values] == ["z", "x"]
    assert [one.value for one in (await scoped.vocabulary(limit=1)).fields[0].values] == ["z"]


# -- records


async def _all_pages(scoped: ScopedIndex, request: Records) -> list[str]:
    found, after = list[str](), None
    for _ in range(100):
        page_request = replace(request, after=after)
        page = (await scoped.ask(page_request))[page_request]
        found += [record.doc_id for record in page.records]
        after = page.cursor
        if after is None:
            return found
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
async def test_pages_give_the_whole_set_in_order(
    index: SearchIndex, order: SchemaOrder | None, wanted: list[str], limit: int
) -> None:
    scoped = await filled(
        index,
        a_document("Z", weight=2.0, vendor="Bolt"),
        a_document("a", weight=3.0, vendor="cog", paid=True),
        a_document("b"),
        a_document("old", weight=-1.0, vendor="ACME", date="1999-01-01"),
        a_document("new", date="2024-01-01", paid=False),
        a_document("é", date="2024-01-01"),
    )

    assert await _all_pages(scoped, Records(ALL, order=order, limit=limit)) == wanted


async def test_pages_over_several_buckets_go_by_document_id(index: SearchIndex) -> None:
    await filled(index, a_document("b", date="2020-01-01"), a_document("d"))
    await filled(index, a_document("a"), a_document("c", date="2024-01-01"), schema=a_receipt_schema("others"))
    scoped = index.within(a_scope(RECEIPTS, "others"))
    both = a_union({RECEIPTS: EVERYTHING, "others": EVERYTHING})

    assert await _all_pages(scoped, Records(both, limit=1)) == ["a", "b", "c", "d"]
    assert await _all_pages(scoped, Records(both, order=ordered_by("date"), limit=3)) == ["c", "b", "a", "d"]


async def test_pages_of_one_bucket_go_by_document_id_where_that_is_asked(index: SearchIndex) -> None:
    scoped = await filled(index, *(a_document(f"d{n}", date=f"2020-01-0{n}", weight=-1.0 * n) for n in range(1, 6)))

    assert await _all_pages(scoped, Records(ALL, limit=2)) == ["d5", "d4", "d3", "d2", "d1"]
    assert await _all_pages(scoped, Records(ALL, limit=2, by_id=True)) == ["d1", "d2", "d3", "d4", "d5"]
    ordered = Records(ALL, order=ordered_by("weight", descending=False), limit=2, by_id=True)
    assert await _all_pages(scoped, ordered) == ["d5", "d4", "d3", "d2", "d1"]


async def test_a_page_goes_on_where_it_was_when_the_set_changed(index: SearchIndex) -> None:
    scoped = await filled(index, *(a_document(f"d{n}", weight=float(n)) for n in range(6)))
    first = Records(ALL, order=ordered_by("weight"), limit=2)
    page = (await scoped.ask(first))[first]
    await index.delete([DocId("d4"), DocId("d2")])
    await index.put(RECEIPTS, [a_document("d9", weight=9.0), a_document("d25", weight=2.5)])
    second = Records(ALL, order=ordered_by("weight"), after=page.cursor, limit=10)

    assert [one.doc_id for one in page.records] == ["d5", "d4"]
    assert [one.doc_id for one in (await scoped.ask(second))[second].records] == ["d3", "d25", "d1", "d0"]


@pytest.mark.parametrize("cursor", ["", "x", "%%%", "bnVsbA==", "W10=", "\x00", "é" * 9_999])
async def test_a_cursor_that_was_never_given_is_refused(index: SearchIndex, cursor: str) -> None:
    scoped = await filled(index, a_document("a"))

    with pytest.raises(InvalidCondition):
        await scoped.ask(Records(ALL, after=cursor))


async def test_a_cursor_of_another_order_is_refused(index: SearchIndex) -> None:
    scoped = await filled(index, *(a_document(f"d{n}", weight=float(n)) for n in range(4)))
    page = (await scoped.ask(Records(ALL, order=ordered_by("weight"), limit=1)))[
        Records(ALL, order=ordered_by("weight"), limit=1)
    ]

    with pytest.raises(InvalidCondition):
        await scoped.ask(Records(ALL, order=ordered_by("vendor"), after=page.cursor))


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
    scoped = await filled(index, document)
    some = Records(ALL, fields=frozenset({FieldName("total"), FieldName("tags")}))

    answers = await scoped.ask(Records(ALL), some)

    (record,) = answers[Records(ALL)].records
    assert (record.doc_id, record.bucket, record.title, record.source) == ("a/b c#1", RECEIPTS, "Title", "s")
    assert record.values == document.values
    assert answers[some].records[0].values == {"total": 1.5, "tags": ("x", "y")}


async def test_fetched_documents_are_those_that_were_put_in_the_order_asked(index: SearchIndex) -> None:
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
            Annotation(field=FieldName("vendor"), value="ACME Ltd", confidence=0.9, start=0, end=5),
            Annotation(field=FieldName("tags"), value=("🙂",), confidence=0.25),
            Annotation(field=FieldName("items"), value=(a_row(name="Tire"),), confidence=0.5, start=14, end=19),
        ),
    )
    await filled(index, document, a_document("b"))
    scoped = index.within(a_scope(subjects=["user:y"]))
    request = Fetch((DocId("b"), DocId("nothing"), DocId("a"), DocId("\ud800"), DocId("")))

    assert (await scoped.ask(request))[request] == (a_document("b"), document)


# -- writing


async def test_put_says_what_became_of_each_document(index: SearchIndex) -> None:
    await filled(index, a_document("other"), schema=a_receipt_schema("others"))
    await filled(index, a_document("same", digest="1"), a_document("new version", digest="1"), a_document("no digest"))

    put = await index.put(
        RECEIPTS,
        [
            a_document("same", "ignored", digest="1"),
            a_document("new version", "words", digest="2"),
            a_document("no digest"),
            a_document("added", digest="1"),
            a_document("other", "stolen"),
        ],
    )

    assert (put.added, put.replaced, put.skipped, put.taken) == (
        ("added",),
        ("new version", "no digest"),
        ("same",),
        ("other",),
    )
    scoped = index.within(a_scope(RECEIPTS, "others"))
    assert await count(scoped) == 4
    assert await count(scoped, where("text", "contains", "words")) == 1
    assert await count(scoped, where("text", "contains", "ignored")) == 0
    assert await count(scoped, where("text", "contains", "stolen"), bucket="others") == 0


async def test_a_replaced_document_leaves_nothing_behind(index: SearchIndex) -> None:
    old = "ancient words in two passages"
    scoped = await filled(
        index,
        a_document(
            "a", old, title="Oldtitle", vendor="old", passages=(Passage(start=0, end=13), Passage(start=14, end=29))
        ),
    )

    await index.put(RECEIPTS, [a_document("a", "modern", title="New", vendor="new")])

    requests = (
        Passages(ALL, "ancient passages oldtitle"),
        Spellings(frozenset({RECEIPTS}), "ancien"),
        Passages(ALL, "modern"),
    )
    answers = await scoped.ask(*requests)
    assert answers[requests[0]] == ()
    assert answers[requests[1]] == ()
    assert len(answers[requests[2]]) == 1
    assert await count(scoped, where("text", "contains", "ancient")) == 0
    assert await count(scoped, where("title", "contains", "oldtitle")) == 0
    assert shown(await value_facet(scoped, "vendor")) == [("new", 1)]
    state = (await index.buckets())[RECEIPTS]
    assert (state.documents, state.passages) == (1, 1)


async def test_of_an_id_given_twice_the_last_counts(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a", vendor="first"), a_document("a", vendor="second"))

    assert shown(await value_facet(scoped, "vendor")) == [("second", 1)]


async def test_deleted_documents_are_gone_on_return(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a", "words"), a_document("b", "words"), a_document("c", "words"))

    assert await index.delete([DocId("a"), DocId("c"), DocId("nothing"), DocId("a"), DocId("\ud800")]) == 2

    assert await ids(scoped) == ["b"]
    assert await ids(scoped, a_search(required=["words"])) == ["b"]
    assert set(await index.digests(RECEIPTS)) == {"b"}
    assert (await index.put(RECEIPTS, [a_document("a")])).added == ("a",)


async def test_every_change_moves_the_generation_and_nothing_else_does(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a", digest="1"))
    seen = [(await scoped.ask()).generation]

    await index.put(RECEIPTS, [a_document("a", digest="1")])
    await index.set_schema(a_receipt_schema())
    await index.delete([DocId("nothing")])
    assert (await scoped.ask()).generation == seen[0]

    for change in (
        index.put(RECEIPTS, [a_document("b")]),
        index.delete([DocId("a")]),
        index.set_schema(a_receipt_schema(language="de")),
    ):
        await change
        seen.append((await scoped.ask()).generation)
    assert len(set(seen)) == 4


async def test_buckets_and_digests_tell_what_is_there(index: SearchIndex) -> None:
    await filled(index, schema=a_receipt_schema("empty"))
    await filled(index, a_document("a", "text", vendor="x", digest="1"), a_document("b", vendor="y", tags=("t",)))

    states = await index.buckets()

    assert list(states) == ["empty", RECEIPTS]
    state = states[RECEIPTS]
    assert (state.schema, state.documents, state.passages) == (a_receipt_schema(), 2, 1)
    assert {name: number for name, number in state.fields.items() if number} == {"vendor": 2, "tags": 1}
    assert await index.digests(RECEIPTS) == {"a": "1", "b": ""}


async def test_a_dropped_bucket_is_gone_with_all_its_documents(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a", "words"))

    await index.drop_bucket(RECEIPTS)

    assert await index.buckets() == {}
    assert await scoped.schemas() == {}
    with pytest.raises(NotInScope):
        await scoped.ask(Count(ALL))
    again = await filled(index, a_document("a"))
    assert await count(again) == 1
    assert await count(again, where("text", "contains", "words")) == 0


async def test_what_is_not_there_cannot_be_written_to(index: SearchIndex) -> None:
    nowhere = BucketId("nowhere")

    for write in (index.put(nowhere, [a_document("a")]), index.digests(nowhere), index.drop_bucket(nowhere)):
        with pytest.raises(UnknownBucket):
            await write


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
    scoped = await filled(index)

    with pytest.raises(InvalidCondition):
        await index.put(RECEIPTS, [a_document("fits"), document])

    assert await count(scoped) == 0


async def test_a_changed_schema_reads_the_values_anew(index: SearchIndex) -> None:
    number = Schema(bucket=RECEIPTS, fields=(a_field("size", FieldType.NUMBER), a_field("old name")))
    scoped = await filled(index, with_values(a_document("a"), {"size": 4.0, "old name": "x"}), schema=number)
    text = Schema(bucket=RECEIPTS, fields=(a_field("size", FieldType.TEXT), a_field("new name")))

    await index.set_schema(text)

    assert await count(scoped, Missing(field=FieldName("size"))) == 1
    with pytest.raises(UnknownField):
        await count(scoped, where("old name", "eq", "x"))
    assert await count(scoped, Missing(field=FieldName("new name"))) == 1
    assert (await scoped.schemas())[RECEIPTS] == text
    (record,) = (await scoped.ask(Records(ALL)))[Records(ALL)].records
    assert record.values == {}
    await index.put(RECEIPTS, [with_values(a_document("b"), {"size": "XL", "new name": "y"})])
    assert await ids(scoped, a_search(where("new name", "eq", "y"))) == ["b"]

    await index.set_schema(number)

    assert await ids(scoped, a_search(where("size", "eq", 4.0))) == ["a"]
    assert await ids(scoped, a_search(where("old name", "eq", "X"))) == ["a"]


async def test_a_changed_language_analyses_the_text_anew(index: SearchIndex) -> None:
    scoped = await filled(
        index, a_document("a", "running shoes", title="Running"), schema=a_receipt_schema(language="")
    )
    run = a_search(required=["run"])
    assert await ids(scoped, run) == []

    await index.set_schema(a_receipt_schema(language="en"))

    assert await ids(scoped, run) == ["a"]
    assert await ids(scoped, a_search(where("title", "contains", "runs"))) == ["a"]
    assert len((await scoped.ask(Passages(ALL, "shoe")))[Passages(ALL, "shoe")]) == 1
    await index.delete([DocId("a")])
    assert await ids(scoped, run) == []


async def test_who_asks_while_a_schema_changes_sees_the_old_or_the_new(index: SearchIndex) -> None:
    documents = [a_document(f"d{number}", "running shoes " * 20, vendor="x") for number in range(40)]
    scoped = await filled(index, *documents, schema=a_receipt_schema(language=""))
    run, seen = Count(a_search(required=["run"])), set[tuple[int, int]]()

    change = asyncio.create_task(index.set_schema(a_receipt_schema(language="en")))
    while not change.done():
        answers = await scoped.ask(run, Count(ALL))
        seen.add((answers[run], answers[Count(ALL)]))
    await change

    assert seen <= {(0, 40), (40, 40)}
    assert (await scoped.ask(run))[run] == 40


# -- several at once


async def test_another_handle_sees_what_was_written_and_the_same_generation(opener: Opener) -> None:
    one, other = await opener(), await opener()
    here = await filled(one, a_document("a", vendor="x"))
    there = other.within(a_scope())
    assert await count(there) == 1

    await one.put(RECEIPTS, [a_document("a", vendor="y"), a_document("b", vendor="y")])
    await other.put(RECEIPTS, [a_document("c", vendor="z")])

    assert shown(await value_facet(here, "vendor")) == shown(await value_facet(there, "vendor")) == [("y", 2), ("z", 1)]
    assert (await here.ask()).generation == (await there.ask()).generation
    assert there.analyser(RECEIPTS).language == "en"


async def test_writers_and_readers_at_once_see_whole_documents(opener: Opener) -> None:
    one, other = await opener(), await opener()
    scoped = await filled(one, *(a_document(f"d{n}", "first version", vendor="first") for n in range(10)))
    there = other.within(a_scope())
    first = a_search(where("vendor", "eq", "first"), required=["first"])
    second = a_search(where("vendor", "eq", "second"), required=["second"])
    wholes = [one.clauses[0].everything for one in (first, second)]
    either, both = a_search(Any(tuple(wholes))), a_search(where("vendor", "eq", "first"), required=["second"])

    async def watched() -> None:
        for _ in range(15):
            answers = await there.ask(Count(either), Count(both), Count(ALL))
            assert answers[Count(either)] == answers[Count(ALL)] == 10
            assert answers[Count(both)] == 0

    async def replaced(index: SearchIndex, numbers: range) -> None:
        for n in numbers:
            await index.put(RECEIPTS, [a_document(f"d{n}", "second version", vendor="second")])

    await asyncio.gather(watched(), replaced(one, range(5)), replaced(other, range(5, 10)))

    assert await ids(scoped, second) == [f"d{n}" for n in range(10)]


# -- scope


def _every_request(search: Search) -> list[Request[object]]:
    return [
        Count(search),
        Passages(search, "words"),
        NearPassages(search, "words"),
        Facet(search, FieldName("vendor")),
        Facet(search, FieldName("weight")),
        Facet(search, FieldName("date")),
        Facet(search, FieldName("tags")),
        Facet(search, FieldName("paid")),
        Aggregate(search, field=FieldName("total"), group=Group(field=FieldName("vendor"))),
        Nearest(search, FieldName("weight"), 50.0),
        Spellings(frozenset(search.buckets), "wrods"),
        Records(search),
        Fetch((DocId("secret"),)),
    ]


async def _two_buckets(index: SearchIndex) -> None:
    secret = a_document(
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
    await filled(index, a_document("open", "plain words", vendor="Open", weight=1.0), secret)
    closed = a_document("closed", "closed words", vendor="Closed", weight=98.0)
    await filled(index, closed, schema=a_receipt_schema("closed"))


@pytest.mark.parametrize("bucket", ["closed", "no such bucket", "", "*", "_all", "receipts,closed", "receipts\x00"])
async def test_a_bucket_outside_the_scope_is_refused_whether_or_not_it_exists(index: SearchIndex, bucket: str) -> None:
    await _two_buckets(index)
    scoped = index.within(a_scope(RECEIPTS))

    for request in _every_request(everything_in(BucketId(bucket), RECEIPTS)):
        if not isinstance(request, Fetch):
            with pytest.raises(NotInScope) as error:
                await scoped.ask(request)
            assert str(error.value) == f"bucket {bucket!r} is not in scope"
    with pytest.raises(NotInScope):
        scoped.analyser(BucketId(bucket))


async def test_a_granted_bucket_that_does_not_exist_is_refused_alike(index: SearchIndex) -> None:
    await _two_buckets(index)
    scoped = index.within(a_scope(RECEIPTS, "gone"))

    with pytest.raises(NotInScope):
        await scoped.ask(Count(a_search(bucket="gone")))
    assert set(await scoped.schemas()) == {RECEIPTS}
    assert set((await scoped.vocabulary()).documents) == {RECEIPTS}


async def test_a_document_of_other_readers_leaves_no_trace_in_any_answer(index: SearchIndex) -> None:
    await _two_buckets(index)
    stranger = index.within(a_scope(RECEIPTS, subjects=["everyone", "user:y"]))
    requests = _every_request(ALL)

    answers = await stranger.ask(*requests)

    told = repr([answers[request] for request in requests] + [await stranger.vocabulary(), await stranger.schemas()])
    for trace in ("secret", "Hush", "hush", "99.0", "1999", "closed", "Closed", "98.0"):
        assert trace not in told
    assert answers[Count(ALL)] == 1


@pytest.mark.parametrize(
    "seen",
    [a_scope(RECEIPTS, subjects=["user:x", "user:y"]), a_scope(RECEIPTS, all_readers=True)],
    ids=["a reader", "the operator"],
)
async def test_a_reader_sees_the_document_in_every_answer(index: SearchIndex, seen: Scope) -> None:
    await _two_buckets(index)
    requests = _every_request(ALL)

    stranger = await index.within(a_scope(RECEIPTS)).ask(*requests)
    reader = await index.within(seen).ask(*requests)

    assert reader[Count(ALL)] == 2
    assert [request for request in requests if reader[request] == stranger[request]] == []
    assert "closed" not in repr([reader[request] for request in requests])


async def test_an_empty_scope_sees_nothing(index: SearchIndex) -> None:
    await _two_buckets(index)
    nobody = index.within(replace(a_scope(), buckets=frozenset()))
    request = Fetch((DocId("open"), DocId("secret"), DocId("closed")))

    assert (await nobody.ask(request))[request] == ()
    assert await nobody.schemas() == {}
    vocabulary = await nobody.vocabulary()
    assert (vocabulary.fields, dict(vocabulary.documents)) == ((), {})
    with pytest.raises(NotInScope):
        await nobody.ask(Count(ALL))


async def test_a_scope_of_another_tenant_is_refused(index: SearchIndex) -> None:
    with pytest.raises(ValueError, match="tenant"):
        index.within(replace(a_scope(), tenant=TenantId("other")))
    assert index.within(a_scope()).scope.tenant == TENANT


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
async def test_hostile_text_finds_itself_and_nothing_else(index: SearchIndex, text: str) -> None:
    plain = a_document("plain", "b plain text", title="t", vendor="z", tags=("z",))
    stored = text if text.isascii() or text.encode(errors="replace").decode() == text else "replaced"
    same = a_document("same", stored, title=stored, vendor=stored, tags=(stored,), items=(a_row(name=stored),))
    scoped = await filled(index, plain, same)
    searches = [
        a_search(where("vendor", "eq", text)),
        a_search(where("vendor", "in", (text,))),
        a_search(where("tags", "has", text)),
        a_search(where("items.name", "eq", text)),
    ]
    others: list[Request[object]] = [
        Count(a_search(where("vendor", "contains", text))),
        Count(a_search(where("text", "contains", text))),
        Count(a_search(where("title", "contains", text))),
        Count(a_search(where("doc_id", "eq", text))),
        Passages(ALL, text),
        NearPassages(ALL, text),
        Spellings(frozenset({RECEIPTS}), text),
        Fetch((DocId(text),)),
    ]

    answers = await scoped.ask(*map(Count, searches), *others)

    wanted = 1 if stored == text else 0
    assert [answers[Count(search)] for search in searches] == [wanted] * 4
    assert await ids(scoped) == ["plain", "same"]


@pytest.mark.parametrize(
    "name", ["'; --", '"', "a*", "%", "größe", "日付", "x y", "_source", "rowid", "a,b", "-a", "\\"]
)
async def test_awkward_field_and_bucket_names_are_names_like_any_other(index: SearchIndex, name: str) -> None:
    schema = Schema(
        bucket=BucketId(f"bücket {name}"),
        fields=(a_field(name), a_field(f"{name}2", FieldType.ROWS, columns=(a_field(name, FieldType.NUMBER),))),
    )
    document = with_values(a_document("a"), {name: "value", f"{name}2": (a_row(**{name: 1.0}),)})

    scoped = await filled(index, document, schema=schema)

    assert await count(scoped, where(name, "eq", "VALUE"), bucket=schema.bucket) == 1
    assert await count(scoped, where(f"{name}2.{name}", "eq", 1.0), bucket=schema.bucket) == 1
    assert shown(await value_facet(scoped, name, search=a_search(bucket=schema.bucket))) == [("value", 1)]


async def test_conditions_nested_two_hundred_deep_are_evaluated(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a", weight=1.0), a_document("b", weight=2.0), a_document("c"))
    deep: Condition = where("weight", "eq", 1.0)
    alternating: Condition = where("weight", "eq", 1.0)
    for _ in range(200):
        deep = Not(deep)
    for n in range(100):
        alternating = Any((All((alternating, where("weight", "lt", 50.0 + n))), where("weight", "eq", 100.0 + n)))

    assert await ids(scoped, a_search(deep)) == ["a"]
    assert await ids(scoped, a_search(alternating)) == ["a"]


async def test_thousands_of_values_and_members_are_no_matter(index: SearchIndex) -> None:
    scoped = await filled(index, a_document("a", vendor="v7", weight=7.0), a_document("b", vendor="w"))
    many = tuple(f"v{n}" for n in range(5_000))
    members = tuple(Compare(field=FieldName("weight"), op=Op.EQ, value=float(n)) for n in range(1_500))

    assert await ids(scoped, a_search(where("vendor", "in", many))) == ["a"]
    assert await ids(scoped, a_search(Any(members))) == ["a"]
    assert await ids(scoped, a_search(where("doc_id", "in", (*many, "b")))) == ["b"]


async def test_it_answers_a_ping(index: SearchIndex) -> None:
    await index.ping()

"""Superlatives, compared counts, groups and sums, over buckets that refer to one another."""

from pathlib import Path

import pytest

from agent.rules.words.tokens import singular_of_men
from storage.search.ids import BucketId, FieldName
from storage.search.plan import AggregateFunction, ComputeNumbers, GroupBy, ListDocuments
from storage.search.schema import SchemaOrder
from tests.agent.rules.nested.mining import open_mining_home

COUNT, SUM = AggregateFunction.COUNT, AggregateFunction.SUM


@pytest.mark.parametrize(
    ("question", "bucket", "field", "descending"),
    [
        ("oldest mine", "mines", "opened", False),
        ("oldest mine in Ostmark", "mines", "opened", False),
        ("newest mine we run", "mines", "opened", True),
        ("longest serving fitter", "workers", "hired", False),
        ("best paid worker", "workers", "wage_eur", True),
        ("largest region, going by how much area it has", "regions", "area_km2", True),
    ],
)
async def test_a_superlative_orders_the_documents_that_it_stands_before(
    tmp_path: Path, question: str, bucket: str, field: str, descending: bool
) -> None:
    async with open_mining_home(tmp_path) as home:
        planned = await home.plan_question(question)
    leg = planned.plan.legs[0]

    assert leg.search.buckets == (BucketId(bucket),)
    assert leg.answer_form == ListDocuments(order=SchemaOrder(field=FieldName(field), descending=descending), limit=1)
    assert planned.alternatives[0].unknown_words == ()


@pytest.mark.parametrize(
    ("question", "bucket", "field", "limit", "descending"),
    [
        ("which mine had the most loads", "loads", "mine", 1, True),
        ("which mine shipped the fewest loads", "loads", "mine", 1, False),
        ("which trade has the most workers", "workers", "trade", 1, True),
        ("who has more workers, Deepwell or Redpit?", "workers", "mine", 2, True),
        ("which of Deepwell and Redpit had fewer loads", "loads", "mine", 2, False),
    ],
)
async def test_groups_are_compared_by_the_number_of_what_is_counted(
    tmp_path: Path, question: str, bucket: str, field: str, limit: int, descending: bool
) -> None:
    async with open_mining_home(tmp_path) as home:
        leg = (await home.plan_question(question)).plan.legs[0]

    assert leg.search.buckets == (BucketId(bucket),)
    assert leg.answer_form == ComputeNumbers(
        functions=(COUNT,), group=GroupBy(field=FieldName(field)), limit=limit, descending=descending
    )


@pytest.mark.parametrize(
    ("question", "bucket", "field"),
    [
        ("how many workers in each of the mines", "workers", "mine"),
        ("for every trade, how many workers are there", "workers", "trade"),
        ("loads per mine, broken down", "loads", "mine"),
        ("headcount by mine", "workers", "mine"),
    ],
)
async def test_a_count_is_divided_by_the_noun_of_the_group(
    tmp_path: Path, question: str, bucket: str, field: str
) -> None:
    async with open_mining_home(tmp_path) as home:
        leg = (await home.plan_question(question)).plan.legs[0]

    assert leg.search.buckets == (BucketId(bucket),)
    assert leg.answer_form == ComputeNumbers(functions=(COUNT,), group=GroupBy(field=FieldName(field)))


@pytest.mark.parametrize(
    ("question", "function", "field"),
    [
        ("how many tonnes did Deepwell and Redpit ship put together", SUM, "tonnes"),
        ("combined wage of all fitters", SUM, "wage_eur"),
        ("what do the fitters cost us", SUM, "wage_eur"),
        ("how many metres down does the deepest mine go", AggregateFunction.MAXIMUM, "depth_m"),
        ("how many different foremen do the mines have", AggregateFunction.DISTINCT, "foreman"),
    ],
)
async def test_a_number_over_several_documents_is_computed(
    tmp_path: Path, question: str, function: AggregateFunction, field: str
) -> None:
    async with open_mining_home(tmp_path) as home:
        leg = (await home.plan_question(question)).plan.legs[0]

    assert leg.answer_form == ComputeNumbers(functions=(function,), field=FieldName(field))


@pytest.mark.parametrize(
    "question", ["how many workers do we have altogether", "how many workers are fitters, all put together"]
)
async def test_documents_that_are_counted_together_are_not_summed(tmp_path: Path, question: str) -> None:
    async with open_mining_home(tmp_path) as home:
        leg = (await home.plan_question(question)).plan.legs[0]

    assert leg.answer_form == ComputeNumbers(functions=(COUNT,))


@pytest.mark.parametrize("question", ["mines deeper than 200 m", "workers in Redpit", "loads of more than 30 tonnes"])
async def test_a_list_stays_a_list(tmp_path: Path, question: str) -> None:
    async with open_mining_home(tmp_path) as home:
        leg = (await home.plan_question(question)).plan.legs[0]

    assert leg.answer_form == ListDocuments()


@pytest.mark.parametrize(
    ("word", "singular"), [("craftsmen", "craftsman"), ("women", "woman"), ("specimen", None), ("men", None)]
)
def test_the_plural_of_man_is_known(word: str, singular: str | None) -> None:
    assert singular_of_men(word) == singular


async def test_an_age_that_nothing_measures_is_asked_about(tmp_path: Path) -> None:
    async with open_mining_home(tmp_path) as home:
        planned = await home.plan_question("oldest region")

    assert planned.plan.legs[0].answer_form == ListDocuments()
    assert planned.alternatives[0].unknown_words == ("oldest",)

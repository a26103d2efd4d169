"""Plans of a model become searches: fields, values, numbers and days are those of the documents, or are asked about."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.assumptions import UnansweredPart, UnknownWords
from agent.model.planning.plan_linking import LinkedPlan, PlanLinker
from agent.rules.lexicon.bucket_lexicon import build_lexicons
from prompts.outputs.question_plan import PlanPartOutput
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    Scalar,
    SemiJoinCondition,
)
from storage.search.ids import BucketId, FieldName
from storage.search.plan import (
    AggregateFunction,
    CheckClaims,
    ClaimQuantifier,
    ComputeNumbers,
    FindPassages,
    GroupBy,
    Leg,
    LegCombination,
    ListDocuments,
    ReadFields,
)
from storage.search.schema import SchemaOrder
from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output
from tests.agent.rules.nested.mining import MiningHome, open_home_of

TABLES = {
    "lamps.csv": (
        "name,maker,power_w,price_eur,list_price_eur,released,colours,dimmable,remark\n"
        "Aster,Nordlicht GmbH,12,49.90,60,2030-03-01,red; blue,yes,for the desk\n"
        "Birch,Nordlicht GmbH,40,129.00,120,2031-05-09,white,no,\n"
        "Cedar,Lumen & Sons,7,19.50,25,2029-11-30,white; red,yes,hall\n"
        "Dahlia,Oberon,60,210.00,210,2031-01-15,black,no,hall\n"
    ),
    "makers.csv": (
        "name,country,founded\nNordlicht GmbH,Germany,1988-01-01\n"
        "Lumen & Sons,Ireland,2004-06-01\nOberon,Spain,2011-02-03\n"
    ),
    "orders.csv": (
        "number,maker,total_eur\nO-1,Nordlicht GmbH,900\nO-2,Oberon,2500\n"
        "O-3,Lumen & Sons,400\nO-4,Nordlicht GmbH,700\n"
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    names = frozenset(name.removesuffix(".csv") for name in TABLES)
    async with open_home_of(tmp_path_factory.mktemp("lamps"), TABLES, names) as opened:
        yield opened


pytestmark = pytest.mark.asyncio(loop_scope="module")


def link(home: MiningHome, question: str, *parts: PlanPartOutput, **others: object) -> LinkedPlan:
    context = home.context
    lexicons = build_lexicons(context.schemas, context.vocabulary, context.analysers)
    linker = PlanLinker(question=question, lexicons=lexicons, today=context.now.date())
    return linker.link_plan(a_plan_output(*parts, **others))


def leg_of(linked: LinkedPlan) -> Leg:
    assert linked.planned is not None
    return linked.planned.plan.legs[0]


def condition_of(linked: LinkedPlan) -> Condition:
    return leg_of(linked).search.clauses[0].condition


def a_comparison(field: str, op: ComparisonOperator, value: Scalar | tuple[Scalar, ...]) -> ComparisonCondition:
    return ComparisonCondition(field=FieldName(field), op=op, value=value)


EQ, GT, GTE, LT, HAS, BETWEEN = (ComparisonOperator(name) for name in ("eq", "gt", "gte", "lt", "has", "between"))


@pytest.mark.parametrize(
    ("field", "op", "values", "expected"),
    [
        ("maker", "is", ["Nordlicht GmbH"], a_comparison("maker", EQ, "Nordlicht GmbH")),
        ("maker", "is", ["nordlicht"], a_comparison("maker", EQ, "Nordlicht GmbH")),
        ("Maker", "is", ["NORDLICHT GMBH"], a_comparison("maker", EQ, "Nordlicht GmbH")),
        (
            "maker", "is", ["Oberon", "Lumen & Sons"],
            a_comparison("maker", ComparisonOperator.IN, ("Oberon", "Lumen & Sons")),
        ),
        ("colours", "is", ["red"], a_comparison("colours", HAS, "red")),
        ("power_w", "more_than", ["12 W"], a_comparison("power_w", GT, 12.0)),
        ("power_w", "more_than", ["0.012 kW"], a_comparison("power_w", GT, 12.0)),
        ("price_eur", "less_than", ["EUR 50"], a_comparison("price_eur", LT, 50.0)),
        ("power_w", "between", ["40 W", "7 W"], a_comparison("power_w", BETWEEN, (7.0, 40.0))),
        ("released", "is", ["2031"], a_comparison("released", BETWEEN, ("2031-01-01", "2031-12-31"))),
        ("released", "is", ["2031-05"], a_comparison("released", BETWEEN, ("2031-05-01", "2031-05-31"))),
        ("released", "is", ["2031-Q2"], a_comparison("released", BETWEEN, ("2031-04-01", "2031-06-30"))),
        ("released", "more_than", ["2030"], a_comparison("released", GT, "2030-12-31")),
        ("released", "at_least", ["2031-05-09"], a_comparison("released", GTE, "2031-05-09")),
        (
            "released", "between", ["2030-02", "2031-01-31"],
            a_comparison("released", BETWEEN, ("2030-02-01", "2031-01-31")),
        ),
        ("dimmable", "is", ["true"], a_comparison("dimmable", EQ, True)),
        ("remark", "missing", [], MissingCondition(field=FieldName("remark"))),
        ("remark", "present", [], NotCondition(MissingCondition(field=FieldName("remark")))),
        ("maker", "is_not", ["Oberon"], NotCondition(a_comparison("maker", EQ, "Oberon"))),
    ],
)  # fmt: skip
async def test_a_condition_is_linked_to_field_and_value(
    home: MiningHome, field: str, op: str, values: list[str], expected: Condition
) -> None:
    linked = link(home, "which lamps", a_part("list", "lamps", a_condition(field, op, *values)))

    assert linked.problems == ()
    assert condition_of(linked) == expected


async def test_the_words_of_the_question_stay_with_their_condition(home: MiningHome) -> None:
    part = a_part("list", "lamps", a_condition("power_w", "more_than", "12 W", words="over 12 watts"))

    condition = condition_of(link(home, "Lamps over 12 watts?", part))

    assert isinstance(condition, ComparisonCondition)
    assert condition.words == "over 12 watts"


@pytest.mark.parametrize(
    ("field", "op", "value", "problem"),
    [
        ("mood", "is", "cosy", "lamps has no field 'mood'; its fields are name, maker, power_w"),
        ("maker", "is", "Philips", "no document has maker = 'Philips'"),
        ("power_w", "is", "12 kg", "power_w is a number field in W"),
        ("released", "is", "lately", "released is a date field"),
        ("dimmable", "is", "perhaps", "dimmable is a flag"),
        ("maker", "more_than", "Oberon", "maker is neither a number nor a date"),
    ],
)
async def test_what_does_not_exist_is_a_problem_in_words(
    home: MiningHome, field: str, op: str, value: str, problem: str
) -> None:
    linked = link(home, "which lamps", a_part("list", "lamps", a_condition(field, op, value)))

    assert any(problem in found for found in linked.problems), linked.problems


async def test_words_whose_condition_cannot_be_made_are_asked_about(home: MiningHome) -> None:
    part = a_part("list", "lamps", a_condition("mood", "is", "cosy", words="cosy"))

    linked = link(home, "Which cosy lamps do we have?", part)

    assert linked.planned is not None
    assert linked.planned.alternatives[0].unknown_words == ("cosy",)
    assert not linked.planned.alternatives[0].is_understood


async def test_a_value_that_no_document_has_stays_in_the_set(home: MiningHome) -> None:
    linked = link(home, "Lamps of Philips", a_part("list", "lamps", a_condition("maker", "is", "Philips")))

    assert condition_of(linked) == a_comparison("maker", EQ, "Philips")
    assert await home.find_titles(leg_of(linked)) == set()


async def test_a_name_that_the_person_wrote_is_no_problem_though_no_document_has_it(home: MiningHome) -> None:
    part = a_part("list", "lamps", a_condition("maker", "is", "Philips", words="of Philips"))

    linked = link(home, "Lamps of Philips", part)

    assert linked.problems == ()
    assert condition_of(linked) == a_comparison("maker", EQ, "Philips")


async def test_the_language_of_the_plan_is_that_of_the_question(home: MiningHome) -> None:
    german = link(home, "Lampen mit 12 W", a_part("list", "lamps"), language="de-AT").planned
    unclear = link(home, "Lamps with 12 W", a_part("list", "lamps"), language="English").planned

    assert german is not None
    assert unclear is not None
    assert (german.plan.language, unclear.plan.language) == ("de", "en")


async def test_a_count_of_documents_of_another_part_restricts(home: MiningHome) -> None:
    helper = a_part("helper", "lamps", id="l")
    condition = a_condition("name", "is", of_part="l", part_field="maker", min_count=2)

    leg = leg_of(link(home, "makers with at least two lamps", a_part("list", "makers", condition), helper))

    assert await home.find_titles(leg) == {"Nordlicht GmbH"}


async def test_a_number_that_the_words_do_not_say_is_a_problem(home: MiningHome) -> None:
    part = a_part("list", "lamps", a_condition("power_w", "more_than", "12 W", words="more than 40 W"))

    linked = link(home, "Lamps with more than 40 W", part)

    assert linked.problems == ("power_w: the words 'more than 40 W' do not say '12 W'",)


@pytest.mark.parametrize(
    ("words", "value", "expected"),
    [
        ("over 0.012 kW", "0.012", a_comparison("power_w", GT, 12.0)),
        ("over 12 W", "12", a_comparison("power_w", GT, 12.0)),
        ("over 12", "12", a_comparison("power_w", GT, 12.0)),
    ],
)
async def test_a_number_takes_the_unit_of_the_words(
    home: MiningHome, words: str, value: str, expected: Condition
) -> None:
    part = a_part("list", "lamps", a_condition("power_w", "more_than", value, words=words))

    linked = link(home, f"Lamps {words}", part)

    assert condition_of(linked) == expected
    assert linked.problems == ()


async def test_a_misspelt_value_is_the_one_value_like_it(home: MiningHome) -> None:
    linked = link(home, "Lamps of Nordlihct", a_part("list", "lamps", a_condition("maker", "is", "Nordlihct GmbH")))

    assert condition_of(linked) == a_comparison("maker", EQ, "Nordlicht GmbH")
    assert linked.planned is not None
    assert [type(assumption).__name__ for assumption in linked.planned.assumptions] == ["CorrectedSpelling"]


async def test_conditions_of_a_group_are_alternatives(home: MiningHome) -> None:
    part = a_part(
        "list", "lamps",
        a_condition("maker", "is", "Oberon", any_group=1), a_condition("power_w", "less_than", "10 W", any_group=1),
        a_condition("dimmable", "is", "true"),
    )  # fmt: skip

    linked = link(home, "which lamps", part)

    assert await home.find_titles(leg_of(linked)) == {"Cedar"}
    assert isinstance(condition_of(linked), AndCondition)


async def test_two_fields_of_one_document_are_compared(home: MiningHome) -> None:
    part = a_part("list", "lamps", a_condition("price_eur", "more_than", other_field="list_price_eur"))

    linked = link(home, "lamps dearer than their list price", part)

    assert isinstance(condition_of(linked), FieldComparisonCondition)
    assert await home.find_titles(leg_of(linked)) == {"Birch"}


async def test_a_set_of_another_bucket_restricts(home: MiningHome) -> None:
    helper = a_part("helper", "makers", a_condition("country", "is", "Germany"), id="m")
    part = a_part("list", "lamps", a_condition("maker", "is", of_part="m", part_field="name"))

    linked = link(home, "Lamps of German makers", part, helper)

    assert linked.problems == ()
    assert isinstance(condition_of(linked), SemiJoinCondition)
    assert await home.find_titles(leg_of(linked)) == {"Aster", "Birch"}


async def test_the_first_document_of_another_set_restricts(home: MiningHome) -> None:
    helper = a_part("helper", "makers", order_by="founded", is_descending=True, limit=1, id="m")
    part = a_part("list", "lamps", a_condition("maker", "is_not", of_part="m", part_field="name"))

    linked = link(home, "Lamps that are not of the youngest maker", part, helper)

    assert await home.find_titles(leg_of(linked)) == {"Aster", "Birch", "Cedar"}


async def test_the_values_of_the_first_document_are_read(home: MiningHome) -> None:
    part = a_part("values", "lamps", order_by="price_eur", is_descending=True, limit=1, fields=["maker"])

    leg = leg_of(link(home, "Who makes the dearest lamp?", part))

    assert leg.answer_form == ReadFields(fields=((BucketId("lamps"), FieldName("maker")),), of_each=True)
    assert await home.find_titles(leg) == {"Dahlia"}


async def test_the_first_group_of_another_set_is_passed_on(home: MiningHome) -> None:
    helper = a_part(
        "helper", "orders", id="o", functions=["sum"], fields=["total_eur"], group_by="maker", limit=1,
        is_descending=True,
    )  # fmt: skip
    part = a_part("list", "lamps", a_condition("maker", "is", of_part="o", part_field="maker"))

    linked = link(home, "Lamps of the maker with the highest total of orders", part, helper)

    assert linked.planned is not None
    [passed] = linked.planned.passed_values
    assert (passed.bucket, passed.field) == ("lamps", "maker")
    assert passed.source.answer_form == ComputeNumbers(
        functions=(AggregateFunction.SUM,),
        field=FieldName("total_eur"),
        group=GroupBy(field=FieldName("maker")),
        limit=1,
    )


async def test_numbers_by_group_and_share(home: MiningHome) -> None:
    average = a_part("numbers", "lamps", functions=["average"], fields=["price_eur"], group_by="maker")
    whole = a_part("helper", "lamps", id="w")
    share = a_part("numbers", "lamps", a_condition("dimmable", "is", "true"), functions=["share"], whole_part="w")

    assert leg_of(link(home, "average price by maker", average)).answer_form == ComputeNumbers(
        functions=(AggregateFunction.AVERAGE,), field=FieldName("price_eur"), group=GroupBy(field=FieldName("maker"))
    )
    form = leg_of(link(home, "what share is dimmable", share, whole)).answer_form
    assert isinstance(form, ComputeNumbers)
    assert form.share_base is not None
    assert form.functions == (AggregateFunction.SHARE,)


async def test_a_claim_about_all_names_its_whole(home: MiningHome) -> None:
    whole = a_part("helper", "lamps", a_condition("name", "is", "Aster"), id="w")
    claim = a_part(
        "is_true_of_all", "lamps", a_condition("name", "is", "Aster"), a_condition("power_w", "more_than", "10 W"),
        whole_part="w",
    )  # fmt: skip

    form = leg_of(link(home, "Has the Aster more than 10 W?", claim, whole)).answer_form

    assert isinstance(form, CheckClaims)
    assert form.quantifier is ClaimQuantifier.ALL
    assert form.scope is not None


async def test_parts_that_are_compared_are_legs_side_by_side(home: MiningHome) -> None:
    sides = [
        a_part("numbers", "lamps", a_condition("maker", "is", maker), id=maker, functions=["sum"], fields=["price_eur"],
               question=f"sum of {maker}")
        for maker in ("Oberon", "Lumen & Sons")
    ]  # fmt: skip

    linked = link(home, "Oberon vs Lumen", *sides, combine="compare")

    assert linked.planned is not None
    assert linked.planned.plan.combination is LegCombination.COMPARE
    assert [leg.question for leg in linked.planned.plan.legs] == ["sum of Oberon", "sum of Lumen & Sons"]


async def test_an_alternative_is_another_reading_of_its_part(home: MiningHome) -> None:
    part = a_part("list", "lamps", a_condition("price_eur", "less_than", "EUR 100"))
    other = a_part("list", "lamps", a_condition("list_price_eur", "less_than", "EUR 100"), id="x", alternative_to="p1")

    linked = link(home, "lamps under 100 euros", part, other)

    assert linked.planned is not None
    [reading] = linked.planned.alternatives[0].equal_readings
    assert reading.conditions == (a_comparison("list_price_eur", LT, 100.0),)
    assert len(linked.planned.plan.legs) == 1


async def test_an_alternative_by_another_measure_is_another_form(home: MiningHome) -> None:
    part = a_part("list", "lamps", order_by="power_w", is_descending=True, limit=1)
    other = a_part(
        "list", "lamps", order_by="price_eur", is_descending=True, limit=1, id="x", alternative_to="p1"
    )  # fmt: skip

    linked = link(home, "the biggest lamp", part, other)

    assert linked.planned is not None
    forms = linked.planned.alternatives[0].equal_forms
    assert [form.field for form in forms] == ["power_w", "price_eur"]
    assert forms[0].answer_form == linked.planned.plan.legs[0].answer_form
    assert forms[1].answer_form == ListDocuments(order=SchemaOrder(field=FieldName("price_eur")), limit=1)


async def test_a_bare_number_offers_at_least(home: MiningHome) -> None:
    linked = link(home, "lamps with 12 W", a_part("list", "lamps", a_condition("power_w", "is", "12 W")))

    assert linked.planned is not None
    [wider] = linked.planned.alternatives[0].wider_readings
    assert wider.search.clauses[0].condition == a_comparison("power_w", GTE, 12.0)


async def test_words_in_the_text_are_required_terms(home: MiningHome) -> None:
    part = a_part("list", "lamps", a_condition("text", "contains", "hall", words="hall"))

    clause = leg_of(link(home, "lamps that mention the hall", part)).search.clauses[0]

    assert (clause.required_terms, clause.condition) == (("hall",), AndCondition())


async def test_passages_have_the_queries_as_probes(home: MiningHome) -> None:
    part = a_part("passages", "lamps", search_queries=["desk lamp use", "reading light", "office"])

    leg = leg_of(link(home, "What is it for?", part))

    assert leg.answer_form == FindPassages()
    assert (leg.search.ranking_text, leg.probes) == ("desk lamp use", ("reading light", "office"))


async def test_a_bucket_that_does_not_exist_is_a_problem(home: MiningHome) -> None:
    linked = link(home, "which cars", a_part("list", "cars"))

    assert linked.planned is None
    assert any("there is no bucket cars; the buckets are lamps, makers, orders" in found for found in linked.problems)


async def test_order_and_limit_of_a_list(home: MiningHome) -> None:
    part = a_part("list", "lamps", order_by="released", is_descending=True, limit=2)

    form = leg_of(link(home, "the last two lamps", part)).answer_form

    assert form == ListDocuments(order=SchemaOrder(field=FieldName("released"), descending=True), limit=2)


async def test_a_reference_to_itself_does_not_loop(home: MiningHome) -> None:
    part = a_part("list", "lamps", a_condition("maker", "is", of_part="p1", part_field="maker", words="maker"))

    linked = link(home, "lamps of their maker", part)

    assert linked.problems


async def test_what_a_follow_up_keeps_is_said(home: MiningHome) -> None:
    before = link(home, "lamps of Oberon", a_part("list", "lamps", a_condition("maker", "is", "Oberon")))
    assert before.planned is not None
    context = home.context
    lexicons = build_lexicons(context.schemas, context.vocabulary, context.analysers)
    linker = PlanLinker(
        question="only dimmable ones", lexicons=lexicons, today=context.now.date(), last_plan=before.planned.plan
    )
    part = a_part("list", "lamps", a_condition("maker", "is", "Oberon"), a_condition("dimmable", "is", "true"))

    planned = linker.link_plan(a_plan_output(part, continues_conversation=True)).planned

    assert planned is not None
    assert planned.is_followup
    assert planned.kept_conditions


async def test_words_whose_condition_is_not_in_the_question_are_told(home: MiningHome) -> None:
    part = a_part("list", "lamps", a_condition("mood", "is", "gemütlich"))

    linked = link(home, "Which cosy lamps do we have?", part)

    assert linked.planned is not None
    assert linked.planned.assumptions == (UnknownWords(words=("gemütlich",)),)
    assert not linked.planned.alternatives[0].is_understood


async def test_a_part_that_cannot_be_planned_is_told(home: MiningHome) -> None:
    dearest = a_part("list", "lamps", order_by="mood", limit=1, id="b", question="Which lamp is cosiest?")

    linked = link(home, "How many lamps, and which is cosiest?", a_part("count", "lamps"), dearest)

    assert linked.planned is not None
    assert len(linked.planned.plan.legs) == 1
    assert linked.planned.assumptions == (UnansweredPart(question="Which lamp is cosiest?"),)
    assert linked.problems


@pytest.mark.parametrize(
    "part",
    [
        a_part("list", "lamps", order_by="mood"),
        a_part("count", "lamps", group_by="mood"),
        a_part("numbers", "lamps", functions=["sum"], fields=["maker"]),
        a_part("numbers", "lamps", functions=["share"]),
        a_part("values_of_each", "lamps", fields=["maker", "mood"]),
        a_part("is_true_of_all", "lamps", whole_part="nowhere"),
        a_part("change_over_time", "lamps", group_by="maker", functions=["count"]),
        a_part("values", "lamps", fields=["maker"], order_by="mood"),
    ],
    ids=lambda part: f"{part.form}-{part.order_by or part.group_by}",
)
async def test_what_is_asked_of_a_set_is_never_replaced(home: MiningHome, part: PlanPartOutput) -> None:
    linked = link(home, "lamps by mood", part)

    assert linked.planned is None
    assert linked.problems


async def test_numbers_of_two_buckets_need_the_field_in_both(home: MiningHome) -> None:
    part = a_part("numbers", "", functions=["sum"], fields=["price_eur"], buckets=["lamps", "orders"])

    linked = link(home, "sum of all prices", part)

    assert linked.planned is None
    assert any("orders has no field 'price_eur'" in problem for problem in linked.problems)


async def test_values_of_which_one_is_no_field_are_looked_for_in_the_text(home: MiningHome) -> None:
    linked = link(home, "maker and mood of Aster", a_part("values", "lamps", fields=["maker", "mood"]))

    assert leg_of(linked).answer_form == FindPassages()


async def test_the_part_of_a_share_lies_within_its_whole(home: MiningHome) -> None:
    whole = a_part("helper", "lamps", a_condition("maker", "is", "Nordlicht GmbH"), id="w")
    part = a_part(
        "numbers", "lamps", a_condition("dimmable", "is", "true"), functions=["share"], whole_part="w"
    )  # fmt: skip

    leg = leg_of(link(home, "what share of the lamps of Nordlicht is dimmable", part, whole))

    assert await home.find_titles(leg) == {"Aster"}


async def test_texts_stand_in_where_the_field_is_missing(home: MiningHome) -> None:
    part = a_part("list", "lamps", a_condition("remark", "is", "hall", texts_if_missing=["white", "Aster"]))

    linked = link(home, "lamps for the hall", part)

    assert await home.find_titles(leg_of(linked)) == {"Birch", "Cedar", "Dahlia"}


async def test_texts_stand_in_for_alternatives_where_all_their_fields_are_missing(home: MiningHome) -> None:
    part = a_part(
        "list", "lamps",
        a_condition("remark", "is", "nothing", any_group=1, texts_if_missing=["Birch"]),
        a_condition("list_price_eur", "more_than", "EUR 1000", any_group=1, texts_if_missing=["Birch"]),
    )  # fmt: skip

    assert await home.find_titles(leg_of(link(home, "lamps like Birch", part))) == set()


async def test_a_key_of_another_kind_is_a_problem(home: MiningHome) -> None:
    helper = a_part("helper", "makers", id="m")
    part = a_part("list", "lamps", a_condition("maker", "is", of_part="m", part_field="founded", words="makers"))

    linked = link(home, "Lamps of makers", part, helper)

    assert linked.problems == ("maker cannot be compared with founded of another part",)


@pytest.mark.parametrize("form", ["alternative", "whole", "inner set"])
async def test_groups_are_passed_to_answered_parts_alone(home: MiningHome, form: str) -> None:
    groups = a_part("helper", "orders", id="o", functions=["count"], group_by="maker", limit=1)
    condition = a_condition("maker", "is", of_part="o", part_field="maker", words="their best maker")
    whole = a_part("helper", "lamps", condition, id="w")
    parts = {
        "alternative": a_part("list", "lamps", condition.model_copy(update={"any_group": 1})),
        "whole": a_part("numbers", "lamps", functions=["share"], whole_part="w"),
        "inner set": a_part("list", "makers", a_condition("name", "is", of_part="w", part_field="maker")),
    }

    linked = link(home, "lamps of their best maker", parts[form], groups, whole)

    assert any("the groups of part o can only restrict" in problem for problem in linked.problems)
    assert linked.planned is not None
    assert linked.planned.passed_values == ()
    assert linked.planned.alternatives[0].unknown_words == ("their best maker",)


async def test_words_that_no_part_expresses_are_told(home: MiningHome) -> None:
    makers = ("Oberon", "Lumen & Sons")
    parts = [a_part("count", "lamps", a_condition("maker", "is", maker), id=maker) for maker in makers]

    linked = link(home, "How many cosy lamps of Oberon and of Lumen?", *parts, not_understood=["cosy"])

    assert linked.planned is not None
    assert linked.planned.assumptions == (UnknownWords(words=("cosy",)),)


async def test_the_first_of_an_order_within_passed_groups_is_a_problem(home: MiningHome) -> None:
    groups = a_part("helper", "orders", id="o", functions=["count"], group_by="maker", limit=1)
    part = a_part(
        "values", "lamps", a_condition("maker", "is", of_part="o", part_field="maker"), order_by="price_eur", limit=1,
        fields=["power_w"],
    )  # fmt: skip

    linked = link(home, "power of the cheapest lamp of the maker with most orders", part, groups)

    assert linked.planned is None
    assert any("cannot be the first of an order and of groups" in problem for problem in linked.problems)

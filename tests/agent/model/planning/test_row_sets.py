"""Sets that compare with another set by a column of rows: on the one side, on the other, and on both."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any as Json

import pytest
import pytest_asyncio

from agent.compose.phrases.set_description import describe_set
from agent.context import AgentContext
from agent.loop import answer
from agent.model.options import ModelOptions, ModelUse
from agent.model.planning.plan_linking import LinkedPlan, PlanLinker
from agent.model.reasoner import ModelReasoner
from agent.outcome import Answer
from agent.refine.relaxations import derive_relaxations, relaxation_requests
from agent.rules.lexicon.bucket_lexicon import build_lexicons
from agent.rules.planning.word_coverage import find_uncovered_words
from agent.rules.reasoner import RuleReasoner
from prompts.outputs.question_plan import PlanPartOutput
from storage.search.conditions import Condition, NotCondition, RowCondition, SemiJoinCondition, conjuncts_of
from storage.search.ids import FieldName
from storage.search.plan import Leg
from storage.search.refinement import UseNearest, apply_refinement
from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output
from tests.agent.model.scripted_model import ScriptedModel
from tests.agent.rules.nested.mining import MiningHome, open_home_of


def a_line(doc_id: str, title: str, metadata: Mapping[str, Json]) -> str:
    return json.dumps({"doc_id": doc_id, "title": title, "text": title, "metadata": metadata})


def an_order(number: str, partner: str, *lines: tuple[str, int]) -> str:
    rows = [{"beer": beer, "crates": crates} for beer, crates in lines]
    return a_line(number, f"Order {number}", {"number": number, "partner": partner, "lines": rows})


def an_exhibition(number: str, title: str, *exhibits: tuple[str, int]) -> str:
    rows = [{"object_id": object_id, "insured_value": value} for object_id, value in exhibits]
    return a_line(number, title, {"title_of_show": title, "exhibits": rows})


FILES = {
    "beers.csv": "name,style,stock\nHelles,lager,5\nDunkel,lager,30\nPorter,porter,12\nWeizen,wheat,3\n",
    "sales_orders.jsonl": "\n".join(
        [
            an_order("S-1", "Krug & Co", ("Helles", 20), ("Porter", 4)),
            an_order("S-2", "Krug & Co", ("Weizen", 8)),
            an_order("S-3", "Zum Anker", ("Dunkel", 30), ("Helles", 2)),
        ]
    ),
    "objects.csv": (
        "object_id,kind,donor,worth\nO-1,vase,Ines Roth,900\nO-2,bowl,Ines Roth,150\nO-3,coin,Otto Lang,400\n"
    ),
    "exhibitions.jsonl": "\n".join(
        [
            an_exhibition("E-1", "Fire and Clay", ("O-1", 1000), ("O-3", 500)),
            an_exhibition("E-2", "Small Change", ("O-3", 450)),
            an_exhibition("E-3", "Table Manners", ("O-2", 90)),
        ]
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    names = frozenset(name.partition(".")[0] for name in FILES)
    async with open_home_of(tmp_path_factory.mktemp("rows"), FILES, names) as opened:
        yield opened


pytestmark = pytest.mark.asyncio(loop_scope="module")


def link(home: MiningHome, question: str, *parts: PlanPartOutput) -> LinkedPlan:
    context = home.context
    lexicons = build_lexicons(context.schemas, context.vocabulary, context.analysers)
    linker = PlanLinker(question=question, lexicons=lexicons, today=context.now.date())
    return linker.link_plan(a_plan_output(*parts))


def leg_of(linked: LinkedPlan) -> Leg:
    assert linked.problems == ()
    assert linked.planned is not None
    return linked.planned.plan.legs[0]


def condition_of(linked: LinkedPlan) -> Condition:
    return leg_of(linked).search.clauses[0].condition


def objects_of_ines(**others: Json) -> PlanPartOutput:
    return a_part("helper", "objects", a_condition("donor", "is", "Ines Roth", words="Ines Roth"), id="o", **others)


async def test_a_column_is_one_of_the_values_of_another_set(home: MiningHome) -> None:
    shown = a_condition("exhibits.object_id", "is", of_part="o", part_field="object_id")
    dear = a_condition("exhibits.insured_value", "more_than", "500")

    linked = link(home, "exhibitions", a_part("list", "exhibitions", shown), objects_of_ines())
    in_row = link(home, "exhibitions", a_part("list", "exhibitions", shown, dear), objects_of_ines())

    assert await home.find_titles(leg_of(linked)) == {"Fire and Clay", "Table Manners"}
    row = condition_of(in_row)
    assert isinstance(row, RowCondition)
    assert [type(part).__name__ for part in conjuncts_of(row.condition)] == ["SemiJoinCondition", "ComparisonCondition"]
    assert await home.find_titles(leg_of(in_row)) == {"Fire and Clay"}


async def test_no_row_has_a_value_of_the_other_set(home: MiningHome) -> None:
    not_shown = a_condition("exhibits.object_id", "is_not", of_part="o", part_field="object_id")

    linked = link(home, "exhibitions", a_part("list", "exhibitions", not_shown), objects_of_ines())

    assert isinstance(condition_of(linked), NotCondition)
    assert await home.find_titles(leg_of(linked)) == {"Small Change"}


async def test_an_amount_of_a_row_is_more_than_all_of_another_set(home: MiningHome) -> None:
    dearer = a_condition("exhibits.insured_value", "more_than", of_part="o", part_field="worth")

    linked = link(home, "exhibitions", a_part("list", "exhibitions", dearer), objects_of_ines())

    assert await home.find_titles(leg_of(linked)) == {"Fire and Clay"}


@pytest.mark.parametrize(
    ("conditions", "min_count", "beers"),
    [
        ([a_condition("partner", "is", "Krug & Co")], 0, {"Helles", "Porter", "Weizen"}),
        (
            [a_condition("partner", "is", "Krug & Co"), a_condition("lines.crates", "more_than", "10")],
            0, {"Helles"},
        ),
        (
            [
                a_condition("lines.crates", "less_than", "3", any_group=1),
                a_condition("lines.beer", "is", "Weizen", any_group=1),
            ],
            0, {"Helles", "Weizen"},
        ),
        ([a_condition("lines.beer", "is_not", "Dunkel")], 0, {"Helles", "Porter", "Weizen"}),
        ([], 2, {"Helles"}),
    ],
)  # fmt: skip
async def test_a_field_is_one_of_the_values_of_a_column(
    home: MiningHome, conditions: list[Json], min_count: int, beers: set[str]
) -> None:
    orders = a_part("helper", "sales_orders", *conditions, id="s")
    ordered = a_condition("name", "is", of_part="s", part_field="lines.beer", min_count=min_count)

    linked = link(home, "beers", a_part("list", "beers", ordered), orders)

    joined = condition_of(linked)
    assert isinstance(joined, SemiJoinCondition)
    assert joined.key_rows == FieldName("lines")
    assert await home.find_titles(leg_of(linked)) == beers


async def test_a_column_is_compared_with_a_column(home: MiningHome) -> None:
    orders = a_part("helper", "sales_orders", a_condition("partner", "is", "Krug & Co"), id="s")
    same_beer = a_condition("lines.beer", "is", of_part="s", part_field="lines.beer")
    other = a_condition("partner", "is_not", "Krug & Co")

    linked = link(home, "orders", a_part("list", "sales_orders", same_beer, other), orders)

    assert await home.find_titles(leg_of(linked)) == {"S-3"}


@pytest.mark.parametrize(
    ("condition", "helper", "problem"),
    [
        (
            a_condition("exhibits.object_id", "more_than", of_part="o", part_field="object_id"),
            objects_of_ines(),
            "exhibits.object_id cannot be compared by more_than with another part: names have no order",
        ),
        (
            a_condition("exhibits.object_id", "contains", of_part="o", part_field="object_id"),
            objects_of_ines(),
            "exhibits.object_id cannot be compared by contains with another part",
        ),
        (
            a_condition("exhibits.object_id", "is", of_part="o", part_field="worth"),
            objects_of_ines(),
            "exhibits.object_id cannot be compared with worth of another part",
        ),
        (
            a_condition("exhibits.object_id", "is", of_part="x", part_field="object_id"),
            objects_of_ines(),
            "exhibits.object_id is part 'x': there is no such part",
        ),
        (
            a_condition("exhibits.object_id", "is", of_part="o", part_field="object_id"),
            objects_of_ines(buckets=["objects", "beers"]),
            "exhibits.object_id cannot be compared with part o, which must be of one bucket",
        ),
        (
            a_condition("exhibits.object_id", "is", of_part="p1", part_field="exhibits.object_id"),
            objects_of_ines(),
            "exhibits.object_id cannot be compared with part p1: parts compare with parts at most 2 deep, and none "
            "with itself",
        ),
        (
            a_condition("exhibits.object_id", "is", of_part="s", part_field="lines.beer"),
            a_part(
                "helper", "sales_orders", a_condition("lines.crates", "more_than", "10", any_group=1),
                a_condition("partner", "is", "Zum Anker", any_group=1), id="s",
            ),
            "lines.beer of part s: its conditions on lines must hold in one row, and not as an alternative to other "
            "conditions, to say which rows are meant",
        ),
    ],
)  # fmt: skip
async def test_what_cannot_be_compared_is_said_exactly(
    home: MiningHome, condition: Json, helper: PlanPartOutput, problem: str
) -> None:
    linked = link(home, "exhibitions", a_part("list", "exhibitions", condition), helper)

    assert problem in linked.problems


async def test_an_empty_set_of_a_row_offers_the_nearest_values_of_the_other_set(home: MiningHome) -> None:
    dear = a_part("helper", "objects", a_condition("worth", "more_than", "5000"), id="o")
    shown = a_condition("exhibits.object_id", "is", of_part="o", part_field="object_id")
    insured = a_condition("exhibits.insured_value", "more_than", "500")
    linked = link(home, "exhibitions", a_part("list", "exhibitions", shown, insured), dear)
    leg, schemas = leg_of(linked), home.context.schemas
    assert linked.planned is not None
    answers = await home.index.answer_requests(*relaxation_requests(leg, schemas))

    candidates = derive_relaxations(leg, answers, linked.planned.alternatives[0], schemas)

    relaxed = [
        apply_refinement(candidate.refinement, leg.search)
        for candidate in candidates
        if isinstance(candidate.refinement, UseNearest)
    ]
    assert [describe_set(search, schemas) for search in relaxed] == [
        "exhibitions with exhibits with an insured value of more than 500 whose object id is among the object ids"
        " of the objects with a worth of at least 900"
    ]
    assert await home.find_titles(replace(leg, search=relaxed[0])) == {"Fire and Clay"}


async def test_the_rows_of_the_other_set_explain_their_noun(home: MiningHome) -> None:
    question = "Which beers stand in lines of Krug & Co?"
    orders = a_part("helper", "sales_orders", a_condition("partner", "is", "Krug & Co", words="Krug & Co"), id="s")
    ordered = a_condition("name", "is", of_part="s", part_field="lines.beer")
    linked = link(home, question, a_part("list", "beers", ordered, question=question), orders)
    context = home.context
    lexicons = build_lexicons(context.schemas, context.vocabulary, context.analysers)
    assert linked.planned is not None

    assert find_uncovered_words(linked.planned.plan, lexicons) == ("stand",)


# -- end to end


async def ask(home: MiningHome, question: str, *parts: PlanPartOutput) -> Answer:
    model = ScriptedModel(a_plan_output(*parts).model_dump(mode="json"))
    reasoner = ModelReasoner(model, RuleReasoner(), ModelOptions(when=ModelUse.ALWAYS))
    outcome = await answer(question, AgentContext(index=home.index, reasoner=reasoner, now=home.context.now))
    assert isinstance(outcome, Answer)
    return outcome


async def test_exhibitions_that_showed_a_gift_are_found(home: MiningHome) -> None:
    shown = a_condition("exhibits.object_id", "is", of_part="o", part_field="object_id", words="have shown something")
    question = "Which exhibitions have shown something that Ines Roth gave us?"

    outcome = await ask(home, question, a_part("list", "exhibitions", shown, question=question), objects_of_ines())

    assert set(outcome.legs[0].doc_ids) == {"E-1", "E-3"}
    assert "exhibits whose object id is among the object ids of the objects with donor Ines Roth" in outcome.text


async def test_beers_that_a_partner_ordered_are_found(home: MiningHome) -> None:
    orders = a_part("helper", "sales_orders", a_condition("partner", "is", "Krug & Co", words="Krug & Co"), id="s")
    ordered = a_condition("name", "is", of_part="s", part_field="lines.beer", words="order")
    question = "Which beers did Krug & Co order?"

    outcome = await ask(home, question, a_part("list", "beers", ordered, question=question), orders)

    assert outcome.legs[0].count == 3
    assert all(beer in outcome.text for beer in ("Helles", "Porter", "Weizen"))
    assert "among the beers in the lines of the sales orders with partner Krug & Co" in outcome.text

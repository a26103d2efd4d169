"""Whatever plan a model writes, the turn ends in a reply; what could not be planned is asked about or said."""

import random
from collections.abc import AsyncIterator, Sequence
from typing import get_args

import pytest
import pytest_asyncio

from agent.assumptions import UnansweredPart, UnknownWords
from agent.context import AgentContext
from agent.loop import answer
from agent.model.options import ModelOptions, ModelUse
from agent.model.planning.plan_linking import PlanLinker
from agent.model.reasoner import ModelReasoner
from agent.outcome import Answer, Clarify
from agent.rules.lexicon.bucket_lexicon import build_lexicons
from agent.rules.reasoner import RuleReasoner
from prompts.outputs import QuestionPlanOutput
from prompts.outputs.question_plan import (
    ConditionOperator,
    NumberFunction,
    PartForm,
    PeriodName,
    PlanConditionOutput,
    PlanPartOutput,
)
from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output
from tests.agent.model.scripted_model import ScriptedModel
from tests.agent.rules.nested.mining import MiningHome, open_home_of

QUESTION = "Which red lamps of Oberon over 40 W are newer than 2030?"
TABLES = {
    "lamps.jsonl": "\n".join(
        f'{{"doc_id": "l{number}", "title": "Lamp {number}", "text": "For the desk, item {number}.", "metadata": '
        f'{{"name": "Lamp {number}", "maker": "{maker}", "power_w": {number * 7}, "price_eur": {number * 9.5}, '
        f'"released": "203{number}-0{number}-11", "colours": ["red", "white"], "dimmable": '
        f"{str(number % 2 == 0).lower()}, "
        f'"parts": [{{"item": "bulb", "pieces": {number}}}, {{"item": "shade", "pieces": 1}}]}}}}'
        for number, maker in enumerate(("Oberon", "Nordlicht", "Oberon", "Lumen"), start=1)
    ),
    "makers.csv": (
        "name,country,founded\nNordlicht,Germany,1988-01-01\nLumen,Ireland,2004-06-01\nOberon,Spain,2011-02-03\n"
    ),
}
FIELDS = {
    "name": ("maker", "name", "colours", "title", "parts.item"),
    "number": ("power_w", "price_eur", "parts.pieces"),
    "date": ("released",),
    "flag": ("dimmable",),
    "text": ("text", "title"),
}
OPERATORS = {
    "name": ("is", "is_not", "contains", "not_contains", "missing", "present"),
    "number": ("is", "more_than", "at_least", "less_than", "at_most", "between", "is_not"),
    "date": ("is", "more_than", "at_most", "between", "missing"),
    "flag": ("is", "is_not"),
    "text": ("contains", "not_contains"),
}
VALUES = {
    "name": ("Oberon", "red", "Lumen", "bulb"),
    "number": ("40", "7", "9.5"),
    "date": ("2031", "2031-03", "2031-Q2", "2032-02-11"),
    "flag": ("true", "false"),
    "text": ("desk", "item"),
}
ODD_FIELDS = ("country", "founded", "doc_id", "mood", "", "parts", "lamps.maker", "parts.mood", "text")
ODD_VALUES = ("", "-1", "1e9", "https://example.org", "12 kg", "NaN", "lately", "0.04 kW", "l2", "desk")
WORDS = ("red", "of Oberon", "over 40 W", "newer than 2030", "", "never asked")
PLANS, PLANS_PER_RUN = 240, 40

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    names = frozenset(name.partition(".")[0] for name in TABLES)
    async with open_home_of(tmp_path_factory.mktemp("lamps"), TABLES, names) as opened:
        yield opened


def is_odd(draw: random.Random) -> bool:
    """Whether the model writes what does not fit, once in a while."""
    return draw.random() < 0.12


def draw_field(draw: random.Random, types: str = "") -> str:
    """A field of the lamps, one of these types; or once in a while anything."""
    return draw.choice(ODD_FIELDS if is_odd(draw) else FIELDS[types or draw.choice(tuple(FIELDS))])


def draw_condition(draw: random.Random, part_ids: Sequence[str]) -> PlanConditionOutput:
    kind = draw.choice(tuple(FIELDS))
    ops = get_args(ConditionOperator) if is_odd(draw) else OPERATORS[kind]
    op = draw.choice(ops)
    count = draw.choice((0, 1, 3)) if is_odd(draw) else {"between": 2, "missing": 0, "present": 0}.get(op, 1)
    has_part = draw.random() < 0.2
    return a_condition(
        draw_field(draw, kind),
        op,
        *([] if has_part else draw.choices(ODD_VALUES if is_odd(draw) else VALUES[kind], k=count)),
        other_field=draw_field(draw) if is_odd(draw) else "",
        of_part=draw.choice((*part_ids, "nowhere")) if has_part else "",
        part_field=draw_field(draw, kind) if has_part else "",
        min_count=draw.choice((-1, 0, 0, 2)),
        texts_if_missing=draw.choices(ODD_VALUES, k=2) if is_odd(draw) else [],
        words=draw.choice(WORDS),
        any_group=draw.choice((-1, 0, 0, 0, 0, 1, 1)),
    )


def draw_part(draw: random.Random, part_id: str, part_ids: Sequence[str]) -> PlanPartOutput:
    form = draw.choice(get_args(PartForm))
    needs_whole = form in ("is_true_of_all", "numbers") and draw.random() < 0.5
    return a_part(
        form,
        "",
        *(draw_condition(draw, part_ids) for _ in range(draw.choice((0, 1, 1, 2)))),
        id=part_id,
        question=draw.choice(("", "Which lamps?")),
        buckets=draw.choice((["makers"], ["lamps", "makers"], ["cars"], [])) if is_odd(draw) else ["lamps"],
        functions=["share"] if needs_whole else draw.choices(get_args(NumberFunction), k=draw.choice((0, 1, 1, 2))),
        fields=[draw_field(draw, "number") for _ in range(draw.choice((1, 1, 2)))],
        group_by=draw_field(draw, draw.choice(("name", "date"))) if draw.random() < 0.4 else "",
        group_period=draw.choice(get_args(PeriodName)),
        second_group_by=draw_field(draw) if is_odd(draw) else "",
        order_by=draw_field(draw, "number") if draw.random() < 0.3 else "",
        is_descending=draw.random() < 0.5,
        limit=draw.choice((-2, 0, 0, 1, 3, 10**9)),
        search_queries=draw.choices(ODD_VALUES, k=draw.choice((0, 1, 3))),
        whole_part=draw.choice((*part_ids, "nowhere")) if needs_whole or is_odd(draw) else "",
        alternative_to=draw.choice(part_ids) if is_odd(draw) else "",
    )


def draw_plan(seed: int) -> QuestionPlanOutput:
    draw = random.Random(seed)
    part_ids = ["a", "b", "c", "d", "e", "f", "g"][: draw.choice((1, 1, 1, 2, 3, 7))]
    return a_plan_output(
        *(draw_part(draw, part_id, part_ids) for part_id in part_ids),
        combine=draw.choice(("one", "side_by_side", "compare", "in_sequence")),
        wants_file=is_odd(draw),
        continues_conversation=is_odd(draw),
        not_understood=[draw.choice(WORDS)] if is_odd(draw) else [],
    )


@pytest.mark.parametrize("start", range(0, PLANS, PLANS_PER_RUN))
async def test_any_plan_ends_in_a_reply(home: MiningHome, start: int) -> None:
    for seed in range(start, start + PLANS_PER_RUN):
        reply = draw_plan(seed).model_dump(mode="json")
        reasoner = ModelReasoner(
            ScriptedModel(*([reply] * 4)), RuleReasoner(), ModelOptions(when=ModelUse.ALWAYS, max_calls=2)
        )

        outcome = await answer(QUESTION, AgentContext(index=home.index, reasoner=reasoner, now=home.context.now))

        assert isinstance(outcome, (Answer, Clarify)) or reply["wants_file"], seed


@pytest.mark.parametrize("start", range(0, PLANS, PLANS_PER_RUN))
async def test_what_cannot_be_planned_is_never_left_out_in_silence(home: MiningHome, start: int) -> None:
    context = home.context
    lexicons = build_lexicons(context.schemas, context.vocabulary, context.analysers)
    linker = PlanLinker(question=QUESTION, lexicons=lexicons, today=context.now.date())
    outcomes = {"faultless": 0, "not planned": 0, "said": 0}
    for seed in range(start, start + PLANS_PER_RUN):
        linked = linker.link_plan(draw_plan(seed))
        if not linked.problems:
            outcomes["faultless"] += 1
        elif linked.planned is None:
            outcomes["not planned"] += 1
        else:
            told = [alternatives for alternatives in linked.planned.alternatives if not alternatives.is_understood]
            said = [
                assumption
                for assumption in linked.planned.assumptions
                if isinstance(assumption, (UnansweredPart, UnknownWords))
            ]
            assert told or said, seed
            outcomes["said"] += 1
    assert all(outcomes.values()), outcomes

"""Plans that compare with a set of another bucket: rights and limits hold for that bucket too."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from agent.compose.phrases.conditions import describe_condition
from agent.context import AgentContext
from agent.loop import answer, load_question_context, resume
from agent.outcome import Clarify, OutcomeKind, Refused
from agent.rules.reasoner import RuleReasoner
from bot.dialogue.visible_plan import visible_plan
from storage.search.ids import BucketId
from tests.agent.rules.nested.mining import TABLES, MiningHome, open_mining_home

QUESTION = "loads from mines in Ostmark"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_mining_home(tmp_path_factory.mktemp("inner")) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home_without_mines(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    folder: Path = tmp_path_factory.mktemp("narrow")
    async with open_mining_home(folder, frozenset(TABLES) - {"mines"}) as opened:
        yield opened


def a_context(home: MiningHome) -> AgentContext:
    return AgentContext(index=home.index, reasoner=RuleReasoner(), now=home.context.now)


async def test_a_plan_reads_the_buckets_of_its_inner_sets(home: MiningHome) -> None:
    plan = (await home.plan_question("workers in mines in regions larger than 3000 km2")).plan

    assert plan.legs[0].search.buckets == ("workers",)
    assert plan.read_buckets == {"workers", "mines", "regions"}


async def test_a_plan_is_gone_where_the_bucket_of_its_inner_set_is_not_granted(
    home: MiningHome, home_without_mines: MiningHome
) -> None:
    plan = (await home.plan_question(QUESTION)).plan
    context = replace(a_context(home_without_mines), last_plan=plan, earlier_plans=(plan,))

    question_context = await load_question_context(context)

    assert (question_context.last_plan, question_context.earlier_plans) == (None, ())
    assert isinstance(await resume(plan, context), Refused)
    assert visible_plan(plan, home_without_mines.index.scope) is None
    assert visible_plan(plan, home.index.scope) == plan


async def test_no_name_of_a_bucket_that_is_not_granted_is_shown(home: MiningHome) -> None:
    clause = (await home.plan_question(QUESTION)).plan.legs[0].search.clauses[0]
    visible = {bucket: schema for bucket, schema in home.context.schemas.items() if bucket != BucketId("mines")}

    words = describe_condition(clause.condition, visible[clause.bucket], visible)

    assert words == "mine is among values of other documents"


async def test_an_inner_set_that_is_too_large_is_asked_about(home: MiningHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.search.evaluation.semi_join_resolution.MAX_INNER_VALUES", 1)

    for question in (QUESTION, f"{QUESTION} as csv"):
        outcome = await answer(question, a_context(home))

        assert isinstance(outcome, Clarify)
        assert outcome.kind is OutcomeKind.OVERLOAD
        assert outcome.text.startswith("That depends on more than 1 mines")

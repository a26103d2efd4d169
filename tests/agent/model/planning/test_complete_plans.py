"""The model is not asked where the rules have understood every word of a question, in one way only."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.decomposition import PlannedQuestion
from agent.model.planning.complete_plans import is_completely_linked
from agent.rules.planning.word_coverage import find_uncovered_words
from agent.rules.reasoner import RuleReasoner
from tests.agent.rules.nested.mining import MiningHome, open_mining_home


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_mining_home(tmp_path_factory.mktemp("mining")) as opened:
        yield opened


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("question", "is_complete"),
    [
        ("mines in Ostmark", True),
        ("how many workers have the trade fitter?", True),
        ("what is the wage of Kai Vogt", True),
        ("workers with a wage over 3500", True),
        ("mines in Ostmark that were flooded", False),
        ("which workers get on well with the foreman", False),
        ("mines without a region", True),
        ("workers who are no fitters", True),
        ("what happened at Deepwell", False),
        ("which mine has the most workers, and what are their wages", False),
        ("how many fitters are there, and why?", False),
    ],
)
async def test_a_question_is_complete_if_every_word_is_in_the_plan(
    home: MiningHome, question: str, is_complete: bool
) -> None:
    rules = RuleReasoner()

    decomposition = await rules.decompose_question(question, home.context)

    assert is_completely_linked(decomposition, rules.lexicons_for(home.context)) is is_complete


async def test_the_words_that_stand_for_nothing_are_named(home: MiningHome) -> None:
    rules = RuleReasoner()
    decomposition = await rules.decompose_question("mines in Ostmark that were flooded", home.context)
    assert isinstance(decomposition, PlannedQuestion)

    assert find_uncovered_words(decomposition.plan, rules.lexicons_for(home.context)) == ("flooded",)

"""Words that were not understood are asked about with counted choices, and the likeliest choices come first."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.limits import AnswerLimits
from agent.loop import answer
from agent.outcome import Clarify
from agent.rules.reasoner import RuleReasoner
from storage.embedder import WordLlamaEmbedder
from tests.agent.rules.nested.mining import MiningHome, open_home_of

FILES = {
    "kits.csv": (
        "kit,workshop,material,built_on,note\n"
        "K-01,Elder Yard,granite,2031-01-04,the hinge squeaks\nK-02,Elder Yard,walnut,2031-02-05,\n"
        "K-03,Elder Yard,walnut,2031-02-09,the hinge squeaks at noon\nK-04,Elder Yard,copper,2031-03-01,noon shift\n"
        "K-05,Mill Row,granite,2031-03-02,\nK-06,Mill Row,walnut,2031-03-03,\nK-07,Mill Row,copper,2031-04-01,\n"
        "K-08,Elder Yard,copper,2031-04-02,\n"
    )
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_home_of(tmp_path_factory.mktemp("kits"), FILES, frozenset({"kits"})) as opened:
        yield opened


async def ask_about(home: MiningHome, question: str) -> Clarify:
    context = AgentContext(
        index=home.index, reasoner=RuleReasoner(WordLlamaEmbedder()), now=home.context.now, limits=AnswerLimits()
    )
    outcome = await answer(question, context)
    assert isinstance(outcome, Clarify)
    return outcome


def labels_of(outcome: Clarify) -> dict[str, int | None]:
    return {choice.label: choice.count for choice in outcome.choices}


async def test_each_word_that_was_not_understood_is_offered_with_the_documents_that_mention_it(
    home: MiningHome,
) -> None:
    outcome = await ask_about(home, "list the kits from Elder Yard where hinges were mended")

    labels = labels_of(outcome)
    assert labels["Mention “hinges”"] == 2


async def test_the_question_says_how_many_documents_there_are_and_how_many_mention_the_word(home: MiningHome) -> None:
    outcome = await ask_about(home, "list the kits from Elder Yard where the hinge is loud")

    assert (
        "I am not sure what you mean by “hinge” and “loud”. Leaving these words aside, there are **5 kits**"
        in outcome.text
    )
    assert "; **2** of them mention “hinge”" in outcome.text


async def test_a_value_that_means_nearly_the_same_as_the_word_comes_first(home: MiningHome) -> None:
    outcome = await ask_about(home, "list the kits from Elder Yard made of stone")

    parts = [label for label in labels_of(outcome) if label.startswith("Material")]
    assert parts[0] == "Material: granite"

"""A reply says which words of the question its plan makes no use of, if they tell that another thing was asked."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.assumptions import UnusedWords
from tests.agent.rules.nested.mining import MiningHome, open_home_of

FILES = {
    "parcels.csv": (
        "id,recipient,depot,sent_on,weight_kg\nPX-2031-0001,Ada Moor,Ghent,2031-03-01,4\n"
        "PX-2031-0002,Ben Lund,Ghent,2031-03-02,7\nPX-2031-0003,Cy Nash,Bruges,2031-03-05,2\n"
        "PX-2031-0004,Di Orr,Bruges,2031-03-09,9\n"
    )
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_home_of(tmp_path_factory.mktemp("parcels"), FILES, frozenset({"parcels"})) as opened:
        yield opened


async def find_unused_words(home: MiningHome, question: str) -> tuple[str, ...]:
    planned = await home.plan_question(question)
    unused = [assumption for assumption in planned.assumptions if isinstance(assumption, UnusedWords)]
    named = [word for alternatives in planned.alternatives for word in alternatives.unknown_words]
    return tuple(word for assumption in unused for word in assumption.words if word not in named)


@pytest.mark.parametrize(
    "question",
    [
        "how many parcels were sent in March 2031 from Ghent?",
        "what is the total weight of the parcels of Ben Lund?",
        "how heavy is PX-2031-0003?",
        "show me the parcels from Bruges please",
    ],
)
async def test_a_question_that_is_understood_has_no_unused_words(home: MiningHome, question: str) -> None:
    assert await find_unused_words(home, question) == ()


async def test_several_content_words_beside_a_plan_are_named(home: MiningHome) -> None:
    words = await find_unused_words(home, "what is the weight of PX-2031-0003 that the courier dropped in a puddle?")

    planned = await home.plan_question("what is the weight of PX-2031-0003 that the courier dropped in a puddle?")
    asked = {word for alternatives in planned.alternatives for word in alternatives.unknown_words}
    assert {"courier", "puddle"} <= {*words, *asked}

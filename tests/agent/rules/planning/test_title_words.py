"""Words of a question that stand for the title of a document, and words that do not."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from storage.search.conditions import TITLE_FIELD, fields_of
from storage.search.ids import FieldName
from storage.search.plan import Leg
from tests.agent.rules.nested.mining import MiningHome, open_home_of

FILES = {
    "choirs.csv": (
        "title,leader,fee\nBrass Lantern,Ada Moor,12\nSalt Meadow Singers,Ben Lund,9\nColour of Rain,Cy Nash,15\n"
        '"Evening, Copy",Di Orr,7\n'
    )
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_home_of(tmp_path_factory.mktemp("choirs"), FILES, frozenset({"choirs"})) as opened:
        yield opened


def _requires_title(leg: Leg) -> bool:
    titles = {TITLE_FIELD, FieldName("metadata_title")}  # the column of the table
    return any(titles & {*fields_of(clause.condition)} for clause in leg.search.clauses)


@pytest.mark.parametrize(
    "question", ["who is the leader of the salt meadow", "what is the fee of Meadow", "who is the leader of evening"]
)
async def test_a_name_or_words_that_stand_together_in_a_title_are_required_of_it(
    home: MiningHome, question: str
) -> None:
    planned = await home.plan_question(question)

    assert _requires_title(planned.plan.legs[0])


async def test_ordinary_words_from_several_places_of_a_question_are_no_title(home: MiningHome) -> None:
    planned = await home.plan_question("what fee do we owe for a colour page when the copy shop is shut")

    assert not _requires_title(planned.plan.legs[0])

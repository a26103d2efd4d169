"""Numbers of documents, missing documents and clauses that define a noun, as inner sets."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.compose.phrases.set_description import describe_set
from storage.search.conditions import semi_join_depth
from storage.search.plan import ReadFields
from tests.agent.rules.nested.mining import MiningHome, open_mining_home


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_mining_home(tmp_path_factory.mktemp("mining")) as opened:
        yield opened


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("regions with at least 2 mines", "Ostmark"),
        ("regions with fewer than 2 mines", "Tarland Hollin Quent Falk"),
        ("which regions have exactly one mine opened after 1950?", "Ostmark Tarland Hollin"),
        ("regions without a mine", "Quent Falk"),
        ("regions that don't have a single mine deeper than 200 m", "Hollin Quent Falk"),
        ("mines that never had a load over 30 tonnes", "Redpit"),
        ("regions that have no mines", "Quent Falk"),
    ],
)
async def test_a_number_of_documents_or_their_lack_is_a_set(home: MiningHome, question: str, expected: str) -> None:
    planned = await home.plan_question(question)

    assert await home.find_titles(planned.plan.legs[0]) == set(expected.split())


@pytest.mark.parametrize(
    ("question", "field", "expected"),
    [
        ("what is the area of the region where Coldvein is?", "area_km2", "Tarland"),
        ("what is the wage of the foreman of the mine L-3 came from?", "wage_eur", "Mira Stenz"),
    ],
)
async def test_a_field_is_read_of_the_document_that_a_clause_defines(
    home: MiningHome, question: str, field: str, expected: str
) -> None:
    leg = (await home.plan_question(question)).plan.legs[0]

    assert isinstance(leg.answer_form, ReadFields)
    assert field in [name for _, name in leg.answer_form.fields]
    assert await home.find_titles(leg) == {expected}


@pytest.mark.parametrize(
    "question",
    ["mines deeper than 100 m", "workers without a wage", "loads over 30 tonnes", "regions with more than 900 km2"],
)
async def test_a_number_of_the_documents_themselves_is_no_inner_set(home: MiningHome, question: str) -> None:
    planned = await home.plan_question(question)

    assert all(semi_join_depth(clause.condition) == 0 for leg in planned.plan.legs for clause in leg.search.clauses)


async def test_a_number_of_documents_is_described(home: MiningHome) -> None:
    leg = (await home.plan_question("regions with at least 2 mines")).plan.legs[0]

    assert "is the region of at least 2 mines" in describe_set(leg.search, home.context.schemas)

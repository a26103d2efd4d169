"""What is not closed has any other status."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from storage.search.conditions import ComparisonCondition, NotCondition
from tests.agent.rules.nested.mining import MiningHome, open_home_of

STATUSES = ("closed", "open", "in progress", "closed", "open", "waiting for customer", "in progress", "closed")
TICKETS = {
    "tickets.csv": "id,subject,status\n"
    + "".join(f"T-{number},Fault {number},{status}\n" for number, status in enumerate(STATUSES, 1))
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_home_of(tmp_path_factory.mktemp("tickets"), TICKETS, frozenset({"tickets"})) as opened:
        yield opened


@pytest.mark.parametrize(
    "question",
    [
        "how many tickets are not closed yet",
        "how many tickets are not closed",
        "which tickets aren't closed yet?",
        "tickets not yet closed",
        "tickets that have not yet been closed",
        "tickets that are not resolved yet",
    ],
)
async def test_a_negated_status_leaves_every_other(home: MiningHome, question: str) -> None:
    planned = await home.plan_question(question)

    condition = planned.plan.legs[0].search.clauses[0].condition
    assert isinstance(condition, NotCondition)
    assert isinstance(condition.condition, ComparisonCondition)
    assert (condition.condition.field, condition.condition.value) == ("status", "closed")

"""A denied state is no missing amount: "that we haven't paid" says nothing of a document without a "total to pay"."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from storage.search.conditions import MATCH_ALL, MissingCondition
from tests.agent.rules.nested.mining import MiningHome, open_home_of

BILLS = {
    "bills.csv": (
        "id,sender,due,total_to_pay_gbp\nB-1,Ada Moor,2031-03-01,140\nB-2,Ben Lund,2031-03-02,\n"
        "B-3,Ada Moor,2031-03-05,320\nB-4,Di Orr,2031-03-09,95\n"
    )
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_home_of(tmp_path_factory.mktemp("bills"), BILLS, frozenset({"bills"})) as opened:
        yield opened


@pytest.mark.parametrize(
    "question", ["list the bills we haven't paid yet", "how many bills haven't been paid?", "bills that are not paid"]
)
async def test_a_denied_payment_is_an_unknown_word_where_no_field_tells_of_it(home: MiningHome, question: str) -> None:
    planned = await home.plan_question(question)

    assert planned.plan.legs[0].search.clauses[0].condition == MATCH_ALL
    assert planned.alternatives[0].unknown_words == ("paid",)


async def test_an_amount_that_is_named_may_be_missing(home: MiningHome) -> None:
    planned = await home.plan_question("bills without a total to pay")

    condition = planned.plan.legs[0].search.clauses[0].condition
    assert isinstance(condition, MissingCondition)
    assert condition.field == "total_to_pay_gbp"

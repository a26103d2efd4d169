"""How many of an article there are: the quantity in its rows, not the number of rows."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer
from agent.rules.reasoner import RuleReasoner
from tests.agent.rules.nested.mining import MiningHome, open_home_of

_SUPPLIES = """id,item,category,pack,site,on_hand,reorder_level,supplier
S-1,Lidocaine solution,Medicines,20 ml vial,Ghent,9,6,Veldmans
S-2,Lidocaine solution,Medicines,20 ml vial,Bruges,4,6,Veldmans
S-3,Saline bag,Consumables,1 litre bag,Ghent,31,10,Ostra
S-4,Double socket white,Fittings,piece,Ghent,12,5,Ostra
S-5,Double socket steel,Fittings,piece,Ghent,7,5,Ostra
S-6,Breaker 32A type B,Fittings,piece,Bruges,56,20,Veldmans
"""
_STAFF = (
    "name,job,site,leaving date\nEdda Krone,Nurse,Ghent,2025-03-31\nJon Albers,Vet,Ghent,\nMira Stenz,Vet,Bruges,\n"
)
_ASSETS = "tag,kind,status\nT-1,Laptop,In stock\nT-2,Laptop,In use\nT-3,Phone,In stock\nT-4,Laptop,In stock\n"
_FILES = {"supplies.csv": _SUPPLIES, "staff.csv": _STAFF, "assets.csv": _ASSETS}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    buckets = frozenset({"supplies", "staff", "assets"})
    async with open_home_of(tmp_path_factory.mktemp("stock"), _FILES, buckets) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many lidocaine vials do we have on hand at Ghent?", "on hand: **9** (1 supply"),
        ("how many lidocaine solutions do we have left?", "on hand: **13** (2 supplies"),
        ("how many double sockets do we have in stock", "on hand: **19** (2 supplies"),
        ("how many 32A type B breakers have we got in stock?", "**56**"),
        ("how many Saline bags are left in Ghent?", "**31**"),
        ("how many laptops do we have in stock?", "**2 assets**"),
        ("how many people left in 2025", "**1 "),
        ("how many Saline bags do we have?", "**31**"),
    ],
)
async def test_the_quantity_of_an_article_is_asked_for(home: MiningHome, question: str, expected: str) -> None:
    outcome = await answer(question, AgentContext(index=home.index, reasoner=RuleReasoner(), now=home.context.now))

    assert isinstance(outcome, Answer)
    assert expected in outcome.text

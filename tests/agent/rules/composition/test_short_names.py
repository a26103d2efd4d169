"""What tables and places are called in short: a folder with one table, the season in its name, "St" for "Street"."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.outcome import Answer
from tests.agent.rules.nested.mining import MiningHome, answer_in, open_home_of

_INVOICES = """No,Issued,Member,Club,To pay,Due,Paid on
81,2026-09-01,Ada Finch,Mill St,40.00,2026-09-15,2026-09-10
82,2026-09-02,Ben Oduya,Castle Road,95.50,2026-09-16,
83,2026-10-01,Cleo Marsh,Castle Road,62.00,2026-10-15,2026-10-20
84,2026-10-02,Dan Perry,Mill St,20.00,2026-10-16,2026-10-16
"""
_REPAIRS = """Job,Reported,Site,Problem,Given to,Cost
R1,2026-02-01,Mill St,Slipped tile above porch,Roofworks,120.00
R2,2026-03-04,Castle Road,Slipped tile above porch,Roofworks,80.00
R3,2026-04-09,Castle Road,Blocked drain,Drainworks,65.00
R4,2026-05-11,Mill St,Blocked drain,Drainworks,70.00
R5,2026-06-12,Castle Road,Blocked drain,Drainworks,75.00
"""
_STAFF = """Name,Job,Club,Hrs/wk,Started
Priya Nair,Coach,Mill St,30,2021-05-01
Tomas Reid,Porter,Castle Road,22.5,2023-06-01
Ella Kerr,Coach,Castle Road,37,2024-01-08
"""
_FILES = {
    "finance/member_invoices_autumn_2026.csv": _INVOICES,
    "repairs.csv": _REPAIRS,
    "staff.csv": _STAFF,
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    buckets = frozenset({"finance", "repairs", "staff"})
    async with open_home_of(tmp_path_factory.mktemp("club"), _FILES, buckets) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many bills did we issue in september", "**2 member invoices**"),
        ("which invoice is not paid", "Ben Oduya"),
        ("how many repairs were there in mill street", "**2 repairs**"),
        ("how many repairs at Castle Rd?", "**3 repairs**"),
        ("staff at castle rd", "**2 employees**"),
        ("how many hours a week does Priya do", "**30**"),
    ],
)
async def test_short_names_are_understood(home: MiningHome, question: str, expected: str) -> None:
    outcome = await answer_in(home, question)

    assert isinstance(outcome, Answer)
    assert expected in outcome.text


@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        ("how much does Priya earn an hour", "30"),
        ("what does Tomas earn per hour", "22.5"),
        ("which firm did we send to quay st?", "Slipped tile"),
    ],
)
async def test_a_short_name_is_no_initials_and_pay_is_no_hours(home: MiningHome, question: str, wrong: str) -> None:
    outcome = await answer_in(home, question)

    assert not isinstance(outcome, Answer) or wrong not in outcome.text

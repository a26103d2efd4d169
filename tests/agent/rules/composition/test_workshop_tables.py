"""Questions about the tables of a workshop: what a question word asks for, who owes, and the parts of a message."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer
from agent.rules.reasoner import RuleReasoner
from tests.agent.rules.nested.mining import MiningHome, answer_in, open_home_of

_SHELVES = """Part,Kind,Supplier,In stock,Unit,Reorder at,£ per unit,Kept in,Last counted
Oil filter,Filters,Pennine Spares,30,each,10,4.20,Rack A1,2026-11-02
Screenwash,Fluids,Lubeco,25,litre,20,0.90,Drum bay,2026-11-03
Brake pads,Brakes,Motorfit,12,pair,4,18.50,Rack B2,2026-11-02
Coolant red,Fluids,Lubeco,18,litre,20,2.40,Drum bay,2026-11-03
"""
_REAGENTS = """Reagent,Vendor,Quantity,Cabinet,Expiry
Acetone,Chemtrade,12,Flammables 1,2027-05-01
Ethanol,Chemtrade,20,Flammables 2,2027-03-01
Agar powder,Biolane,5,Dry store,2026-10-15
"""
_ACCOUNTS = """Account,Company,Contact,Customer since,Credit limit £,Balance owed £
G01,Old Mill Farm,Jess Hardy,2018,1000,640.20
G02,Vale Taxis,Omar Finch,2021,2500,1711.00
G03,Frost Flowers,Lena Frost,2026,500,85.00
G04,Town Couriers,Omar Finch,2026,1500,1620.75
"""
_CARDS = """Name,Job,Course,Done,Valid until,Trainer
Priya Nair,Mechanic,Forklift,12/03/2024,12/03/2027,Liftright
Priya Nair,Mechanic,First aid at work,05/06/2025,05/06/2028,Red Cross
Tomas Reid,Mechanic,First aid at work,01/12/2023,01/12/2026,Red Cross
Sam Kerr,Apprentice,Fire warden,14/02/2026,14/02/2028,Liftright
"""
_JOBS = """Job no,Reg,Customer,Date in,Mechanic,Hours,Total £,Status
J501,KX19 ABC,Lena Frost,23/11/2026,Priya Nair,2.5,220.00,Collected
J502,LM66 OPQ,Old Mill Farm,03/11/2026,Tomas Reid,4.0,410.50,Collected
J503,YD14 RST,Hannah Osei,04/11/2026,Priya Nair,1.0,85.00,Scrapped
J504,FG20 UVW,Vale Taxis,09/10/2026,Sam Kerr,6.5,690.00,Ready
J505,BN17 XYZ,Vale Taxis,10/10/2026,Tomas Reid,3.0,298.00,Collected
"""
_FILES = {
    "shelves.csv": _SHELVES, "reagents.csv": _REAGENTS, "accounts.csv": _ACCOUNTS, "cards.csv": _CARDS,
    "jobs.csv": _JOBS,
}  # fmt: skip

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    buckets = frozenset({"shelves", "reagents", "accounts", "cards", "jobs"})
    async with open_home_of(tmp_path_factory.mktemp("workshop"), _FILES, buckets) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where is the screenwash stored?", "**Drum bay**"),
        ("where do the brake pads live", "**Rack B2**"),
        ("where do we keep the acetone", "**Flammables 1**"),
        ("where is the agar powder stored?", "**Dry store**"),
        ("where did we get the acetone from", "**Chemtrade**"),
        ("who do we buy the screenwash from", "**Lubeco**"),
        ("How much screenwash is left, and who do we buy it from?", "Supplier of Screenwash: **Lubeco**"),
        ("who owes us the most", "**Vale Taxis (G02)**"),
        ("which contact owes us the most", "**Omar Finch"),
        ("when does Tomas's first aid ticket run out?", "**2026-12-01**"),
        ("how many jobs were scrapped", "**1 job**"),
        ("how many hours did Tomas work", "**7**"),
    ],
)
async def test_a_question_word_is_answered_by_a_field_of_its_kind(
    home: MiningHome, question: str, expected: str
) -> None:
    outcome = await answer_in(home, question)

    assert isinstance(outcome, Answer)
    assert expected in outcome.text


@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        ("where are the jobs stored", "Customer"),
        ("how much does Priya earn an hour", "3.5"),
        ("how much does Tomas cost per hour", "708.50"),
        ("how many jobs have we had to bin", "**1"),
    ],
)
async def test_what_no_field_of_the_kind_tells_is_not_answered(home: MiningHome, question: str, wrong: str) -> None:
    outcome = await answer_in(home, question)

    assert not isinstance(outcome, Answer) or wrong not in outcome.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what's our dearest fluid per litre", "**Coolant red**"),
        ("what is the price of an oil filter", "**GBP 4.20**"),
        ("how much did Vale Taxis pay in October, in pounds", "**GBP 988.00**"),
        ("Which accounts owe us more than their credit limit allows?", "Town Couriers"),
        ("which accounts are over their credit limit", "Town Couriers"),
        ("how many accounts joined us in 2026?", "**2 accounts**"),
        ("which mechanic has most often worked for Vale Taxis", "1 each"),
    ],
)
async def test_words_that_what_is_found_explains_are_not_asked_about(
    home: MiningHome, question: str, expected: str
) -> None:
    outcome = await answer_in(home, question)

    assert expected in outcome.text


async def test_another_currency_than_that_of_the_amounts_is_not_passed_over(home: MiningHome) -> None:
    outcome = await answer_in(home, "how much did Vale Taxis pay in October, in yen")

    assert not isinstance(outcome, Answer)


@pytest.mark.parametrize(("message", "expected"), [("and Tomas?", "2 jobs"), ("and Sam?", "1 job")])
async def test_a_first_name_replaces_that_of_another_person(home: MiningHome, message: str, expected: str) -> None:
    first = await answer_in(home, "how many jobs did Priya do this year?")
    context = AgentContext(index=home.index, reasoner=RuleReasoner(), now=home.context.now, last_plan=first.plan)

    outcome = await answer(message, context)

    assert isinstance(outcome, Answer)
    assert expected in outcome.text

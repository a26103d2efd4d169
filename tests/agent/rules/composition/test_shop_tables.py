"""Questions about the tables of a small chain of shops: its stock, its repairs, its bookings and its rota."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.outcome import Answer, Clarify
from tests.agent.rules.nested.mining import MiningHome, answer_in, open_home_of

_STOCK = """Item Code,Maker,Model,Colour,Cost,Selling Price,Qty NB,Qty DL,Qty RK,Last Counted
B01,Ostra,Finch,Red,£40.00,£95.00,2,0,1,2026-01-05
B02,Ostra,Finch,Blue,£40.00,£95.00,0,3,1,2026-01-05
B03,Ostra,Wren,Red,£55.00,£120.00,1,1,0,2026-01-06
B04,Veldmans,Wren,Green,£20.00,£49.00,4,0,2,2026-01-06
B05,Veldmans,Gannet,Black,£80.00,£199.00,0,1,0,2026-01-07
"""
_REPAIRS = """Repair No,Site,Item Code,Workshop,Promised,In From Workshop,Collected On,Repair Cost
9001,NB,B01,Stenz,2024-01-10,2024-01-09,2024-01-12,20.00
9002,DL,B02,Stenz,2024-01-11,2024-01-11,,35.00
9003,RK,B03,Alber,2024-01-12,,,12.00
9004,DL,B04,Alber,2024-01-13,,,18.00
9005,NB,B05,Stenz,2099-06-01,,,50.00
9006,DL,B01,Alber,2099-06-01,2024-01-20,,14.00
"""
_TEAM = """Staff No,Name,Initials,Job Title,Base,Started,First Aider,Mon,Tue,Wed,Thu,Fri
1,Edda Krone,EK,Manager,Northbury,2011-05-02,Yes,9-5,9-5,off,9-5,9-5
2,Jon Albers,JA,Mechanic,Dellow,2019-03-04,No,9-5,NB 9-5,9-5,off,9-5
3,Mira Stenz,MS,Mechanic,Dellow,2023-10-09,Yes,off,9-5,9-5,9-5,9-5
4,Tove Ryder,TR,Fitter,Rookley,2021-01-11,No,9-5,9-5,DL 9-5,9-5,off
5,Ragna Holt,RH,Fitter,Rookley,2016-08-15,No,9-5,off,9-5,9-5,9-5
"""
_BOOKINGS = """Appt Ref,Date,Shop,Customer,Service,With,Status,Paid
7100,2026-02-02,Northbury,"Lund, Ada",Full service,EK,Booked,
7101,2026-02-03,Dellow,"Marsh, Ben",Brake check,JA,Booked,
7102,2026-02-03,Dellow,"Quist, Cara",Brake check,MS,Attended,25.00
7103,2026-02-04,Rookley,"Rowe, Dina",Full service,TR,Booked,
7104,2026-02-05,Dellow,"Sand, Eli",Brake check,JA,DNA,
7105,2026-02-06,Dellow,"Tarn, Finn",Full service,JA,Booked,
"""
_FILES = {"bikes_stock.csv": _STOCK, "repairs.csv": _REPAIRS, "team_rota.csv": _TEAM, "diary.csv": _BOOKINGS}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    buckets = frozenset({"bikes_stock", "repairs", "team_rota", "diary"})
    async with open_home_of(tmp_path_factory.mktemp("shops"), _FILES, buckets) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much do we sell the Ostra Finch for?", "**GBP 95.00**"),
        ("what do we pay for an Ostra Finch", "**GBP 40.00**"),
        ("how much is the Gannet", "**GBP 199.00**"),
        ("what do we charge for the Gannet", "**GBP 199.00**"),
        ("what's the difference between what we pay for a Gannet and what we sell it for", "**GBP 119.00**"),
        ("what is the margin on the Ostra Finch", "**GBP 55.00**"),
    ],
)
async def test_a_price_that_all_rows_share_is_told(home: MiningHome, question: str, expected: str) -> None:
    outcome = await answer_in(home, question)

    assert isinstance(outcome, Answer)
    assert expected in outcome.text


async def test_prices_of_things_of_one_name_are_not_added_up(home: MiningHome) -> None:
    outcome = await answer_in(home, "how much is the Wren?")

    assert "169" not in outcome.text
    assert isinstance(outcome, Clarify) or ("120.00" in outcome.text and "49.00" in outcome.text)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many repairs in the repair book are for Dellow", "**3 repairs**"),
        ("how many appointments are in the diary", "**6 "),
        ("which repairs are overdue? just the repair numbers", "**2 repairs**"),
        ("which repairs are back from the workshop at Dellow but haven't been collected", "**2 repairs**"),
        ("how many no-shows did Dellow have", "**1 "),
        ("how many repairs are still at the workshop", "**3 repairs**"),
        ("how many repair numbers are of the workshop Stenz", "**3 repairs**"),
    ],
)
async def test_words_for_the_list_and_for_what_is_late_are_understood(
    home: MiningHome, question: str, expected: str
) -> None:
    outcome = await answer_in(home, question)

    assert isinstance(outcome, Answer)
    assert expected in outcome.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many Ostra Finch have we got at Dellow", "**3**"),
        ("how many bikes are there at Northbury", "**7**"),
        ("which bikes have we got none of at Dellow", "**2 "),
        ("which Ostra bikes are out of stock at Rookley", "**1 "),
        ("how many repairs does Dellow have", "**3 repairs**"),
    ],
)
async def test_the_name_of_a_place_is_found_by_its_code(home: MiningHome, question: str, expected: str) -> None:
    outcome = await answer_in(home, question)

    assert isinstance(outcome, Answer)
    assert expected in outcome.text


@pytest.mark.parametrize(
    ("question", "expected", "missing"),
    [
        ("which shop is Jon in on Tuesdays?", ["NB 9-5 (Northbury)", "Dellow"], []),
        (
            "who works at Dellow on a Wednesday",
            ["Jon Albers", "Mira Stenz", "Tove Ryder"],
            ["Ragna Holt", "Edda Krone"],
        ),
        ("who works at Dellow on Tuesdays", ["Mira Stenz"], ["Jon Albers", "Tove Ryder"]),
        ("who is off on Wednesdays", ["Edda Krone"], ["Jon Albers", "Mira Stenz"]),
        ("is Mira in on Mondays", ["**off**"], []),
        ("is Mira a first aider?", ["**Yes**"], []),
        ("who is our newest member of staff?", ["Mira Stenz"], []),
        ("how many brake checks has Jon got booked", ["**1 "], []),
    ],
)
async def test_people_of_a_rota_are_known_by_first_names_and_by_days(
    home: MiningHome, question: str, expected: list[str], missing: list[str]
) -> None:
    outcome = await answer_in(home, question)

    assert isinstance(outcome, Answer)
    text = f"{outcome.text} {[document.title for leg in outcome.legs for document in leg.records]}"
    assert all(words in text for words in expected)
    assert not any(words in text for words in missing)

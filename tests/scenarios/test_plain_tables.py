"""Questions that a plain table answers: named as its file is, by a part of a name, by a verb, without capitals."""

from pathlib import Path

import pytest

from bot.bootstrap import open_application
from bot.ids import OPERATOR
from bot.scripting import ask_application
from bot.settings import load_settings
from storage.search.ids import EVERYONE, BucketId
from tests.storage.ingest.runs import ingest_with_rules

BOATS = """Berth,Boat,Type,Owner,Contract ends,Insurance valid to,Annual fee (EUR)
A01,Puffin,Day boat,Nerys Wills,2027-03-31,2027-09-13,1145
A02,Kittiwake,Yacht,Nerys Upcott,2026-12-31,2027-04-03,1230
A03,Sea Thrift,Yacht,Bethan Hargreaves,2027-06-30,2027-08-09,1295
A04,Saltwind,Motor cruiser,Petra Lind,2027-06-30,2027-06-23,1525
"""
REPAIRS = """Job no.,Raised,Raised by,Contractor,Status,Estimate (EUR),Actual (EUR)
J-1,2026-01-10,Magda Wirth,Strand Electrical,Done,360,460
J-2,2026-01-11,Bo Kern,Hobbs Joinery,Open,1090,
J-3,2026-02-24,Bo Kern,Strand Electrical,Done,,555
J-4,2026-02-25,Bo Kern,Skerrow Sailing Club,Done,100,90
"""
EQUIPMENT = """Tag,Type,Model,Holder,Bought on,Price (EUR)
T-1,Laptop,Ordix 7450,Ann Kok,2024-08-28,1494
T-2,Phone,Perlux 8 (test device),Bo Maas,2025-12-04,448
T-3,Monitor,Hall U2723,floor 1,2025-12-04,350
T-4,Monitor,Hall U2723,floor 2,2026-01-19,300
"""
TRAVEL = "# Travel & expenses\n\nHotels cost up to 165 euro a night. Expenses are paid back within ten days.\n"
FILES = {
    "berths/Berth list.csv": BOATS,
    "maintenance/repair jobs 2026.csv": REPAIRS,
    "equipment/equipment.csv": EQUIPMENT,
    "travel-and-expenses/travel.md": TRAVEL,
}
REPLIES = {
    "how many repair jobs are open?": "**1 repair job** with status Open",
    "number of jobs in february": "**2 repair jobs** raised in February 2026",
    "which jobs did the sailing club do": "**1 repair job** with contractor Skerrow Sailing Club",
    "how much did we spend on all the monitors": "Sum of price: **EUR 650.00** (2 pieces of equipment of type Monitor)",
    "who has the Perlux?": "Holder of Perlux 8 (test device), T-2: **Bo Maas**",
    "who has the perlux": "**Bo Maas**",
    "holder of perlux": "Holder of Perlux 8 (test device), T-2: **Bo Maas**",
    "who owns kittiwake": "Owner of Kittiwake (A02): **Nerys Upcott**",
    "which berth has the Kittiwake?": "Berth of Kittiwake: **A02**",
    "who owns A02?": "Owner of A02: **Nerys Upcott**",
    "when does hargreaves' insurance end": "Bethan Hargreaves (A03), “Insurance valid to”: **2027-08-09**",
}

SIGNED = "who signed off on A03?"
CONTRASTED = "what have we spent on jobs with strand electrical, actual cost not the estimates"
OTHER_QUESTIONS = (SIGNED, CONTRASTED)


@pytest.fixture
async def replies(tmp_path: Path) -> dict[str, str]:
    settings = load_settings(tmp_path / "home", {}).settings
    async with open_application(settings) as bot:
        for name, text in FILES.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
            bucket = BucketId(path.parent.name)
            await ingest_with_rules(bot.index, [path.parent], bucket=bucket)
            await bot.administration.grant_bucket(bucket, EVERYONE, by=OPERATOR)
        questions = [*REPLIES, *OTHER_QUESTIONS]
        return {question: (await ask_application(bot, question))["text"] for question in questions}


async def test_a_plain_table_is_asked_in_everyday_words(replies: dict[str, str]) -> None:
    wrong = {question: replies[question] for question, expected in REPLIES.items() if expected not in replies[question]}

    assert not wrong


async def test_what_somebody_did_is_not_answered_by_a_field_of_another_deed(replies: dict[str, str]) -> None:
    assert "Bethan Hargreaves" not in replies[SIGNED]


async def test_a_field_that_is_not_meant_is_no_condition(replies: dict[str, str]) -> None:
    assert "no estimate" not in replies[CONTRASTED]

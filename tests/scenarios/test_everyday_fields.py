"""Which field, value or set an everyday word means, from the tables of a boatyard to the replies."""

from pathlib import Path

import pytest

from bot.bootstrap import open_application
from bot.ids import OPERATOR
from bot.scripting import ask_application
from bot.settings import load_settings
from storage.search.ids import EVERYONE, BucketId
from tests.storage.ingest.runs import ingest_with_rules

BOATS = """boat,type,yard,skipper,price_eur,length_m
Alma,barge,Kolk,Ann Berg,41000,31
Bruna,ketch,Kolk,Bo Lind,90000,14
Celia,ketch,Hede,Bo Lind,30000,12
Dora,barge,Hede,Cai Munk,52000,28
Edda,cutter,Kolk,Cai Munk,25000,9
Freya,barge,Kolk,Cai Munk,23000,22
"""
YARDS = """yard,town,opened,products
Kolk,Sund,1791,barges; cutters; dinghies
Hede,Ovra,1902,barges; ketches
Tarn,Sund,1968,dinghies; mooring buoys
Visk,Ovra,1968,sail yard
"""
CROSSINGS = """crossing,boat,skipper,sailed_on,duration_min,fare_eur
C-1,Alma,Ann Berg,2025-03-01,45,12
C-2,Bruna,Bo Lind,2025-04-02,20,15
C-3,Celia,Bo Lind,2025-05-03,61,9
C-4,Dora,Cai Munk,2026-01-04,38,14
"""
REPLIES = {
    "list all barges": "**3 boats** with type barge",
    "how many ketches are there": "**2 boats** with type ketch",
    "yards in Ovra": "**2 yards** in Ovra",
    "who skippers the cheapest barge": "Minimum of price of **3 boats** with type barge, by skipper: **Cai Munk**",
    "fastest crossing": "**1 of 4 crossings**, the lowest duration: **C-2**",
    "yards opened before the year 1800": "**1 yard** opened before 1800",
}


@pytest.fixture
async def boatyard_replies(tmp_path: Path) -> dict[str, str]:
    settings = load_settings(tmp_path / "home", {"PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings) as bot:
        for name, table in (("boats", BOATS), ("yards", YARDS), ("crossings", CROSSINGS)):
            path = tmp_path / f"{name}.csv"
            path.write_text(table, encoding="utf-8")
            await ingest_with_rules(bot.index, [path], bucket=BucketId(name))
            await bot.administration.grant_bucket(BucketId(name), EVERYONE, by=OPERATOR)
        return {question: (await ask_application(bot, question))["text"] for question in REPLIES}


async def test_everyday_words_mean_the_fields_and_sets_of_a_boatyard(boatyard_replies: dict[str, str]) -> None:
    replies = {question: reply[: len(REPLIES[question])] for question, reply in boatyard_replies.items()}

    assert replies == REPLIES

"""Contracts in a plain table: which of them last now, in what order they are listed, and which is the longest."""

from pathlib import Path

import pytest

from bot.bootstrap import open_application
from bot.ids import OPERATOR
from bot.scripting import ask_application
from bot.settings import load_settings
from storage.search.ids import EVERYONE, BucketId
from tests.storage.ingest.runs import ingest_with_rules

CONTRACTS = """Contract no.,Supplier,Contract type,Start date,End date,Notice period (days),Fee (EUR)
K-1,Alder Foods,supply,2020-01-01,2020-12-31,90,1100
K-2,Birch Legal,services,2021-05-01,2199-04-30,30,900
K-3,Cedar Works,supply,2022-02-01,,60,2500
K-4,Dunlin Press,lease,2198-01-01,2199-01-01,30,400
K-5,Elder Labs,services,2020-06-01,2020-09-30,14,700
"""
REPLIES = {
    "how many contracts are still running?": "**2 contracts** starting on or before ",
    "how many contracts are no longer running?": "**2 contracts** ending before ",
    "how many contracts by type?": "**5 contracts**, by contract type:",
    "which contract has the longest notice period?": "**Alder Foods (K-1)** has the highest notice period of the",
}


@pytest.fixture
async def replies(tmp_path: Path) -> dict[str, str]:
    settings = load_settings(tmp_path / "home", {}).settings
    file = tmp_path / "contracts.csv"
    file.write_text(CONTRACTS)
    async with open_application(settings) as bot:
        await ingest_with_rules(bot.index, [file], bucket=BucketId("contracts"))
        questions = (*REPLIES, "contracts sorted by end date", "which contract is the longest?")
        await bot.administration.grant_bucket(BucketId("contracts"), EVERYONE, by=OPERATOR)
        return {question: (await ask_application(bot, question))["text"] for question in questions}


async def test_terms_are_counted_from_their_start_to_their_end(replies: dict[str, str]) -> None:
    for question, expected in REPLIES.items():
        assert expected in replies[question], question


async def test_sorted_by_a_date_is_a_list_and_no_count_of_months(replies: dict[str, str]) -> None:
    listed = replies["contracts sorted by end date"]

    places = [listed.index(number) for number in ("K-5", "K-1", "K-4", "K-2")]
    assert places == sorted(places)


async def test_no_contract_is_the_longest_by_its_notice_period_or_its_fee(replies: dict[str, str]) -> None:
    reply = replies["which contract is the longest?"]

    assert "“longest”" in reply
    assert "highest" not in reply

"""A conversation goes on when a bucket is added in between: about the same set, and within what may be seen."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import OPERATOR, PersonId, Subject
from bot.settings import load_settings
from bot.surface.inbound import OperatorAudience, PrivateAudience
from storage.search.ids import BucketId
from tests.bot.conftest import ConversationDriver
from tests.storage.ingest.runs import ingest_with_rules

ANN = PersonId("local:ann")
INVOICES, LETTERS, ARCHIVE = BucketId("invoices"), BucketId("letters"), BucketId("archive")
HEAD = "number,vendor,total,date\n"


def rows_of(prefix: str, count: int) -> str:
    """Every second one is from Acme; the totals are 10, 20, 30 … EUR."""
    vendors = ["Acme", "Bolt"]
    return HEAD + "".join(
        f"{prefix}-{n},{vendors[n % 2]},{(n + 1) * 10} EUR,2024-03-{n + 1:02}\n" for n in range(count)
    )


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Application]:
    settings = load_settings(tmp_path / "home", {"PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings) as bot:
        await load_table(bot, tmp_path, INVOICES, rows_of("I", 8))
        yield bot


async def load_table(bot: Application, folder: Path, bucket: BucketId, table: str) -> None:
    file = folder / f"{bucket}.csv"
    file.write_text(table)
    await ingest_with_rules(bot.index, [file], bucket=bucket)


async def grant(bot: Application, bucket: BucketId) -> None:
    await bot.administration.grant_bucket(bucket, Subject(f"user:{ANN}"), by=OPERATOR)


@pytest.mark.parametrize("added", [LETTERS, ARCHIVE])
async def test_a_follow_up_is_about_the_earlier_set_though_a_bucket_was_granted(
    house: Application, tmp_path: Path, added: BucketId
) -> None:
    await load_table(house, tmp_path, added, rows_of("X", 20))
    await grant(house, INVOICES)
    talk = ConversationDriver(house, audience=PrivateAudience(person=ANN), person=ANN)
    before = await talk.ask_question("How many invoices from Acme are there?")
    await grant(house, added)
    after = await talk.ask_question("And how many of those are over 25 EUR?")
    again = await talk.ask_question("Which of those are over 60 EUR?")

    assert before.result["count"] == 4
    assert after.result["count"] == 3
    assert again.result["count"] == 1


async def test_a_follow_up_of_the_operator_outlives_a_bucket_that_is_loaded(house: Application, tmp_path: Path) -> None:
    talk = ConversationDriver(house, audience=OperatorAudience())
    await talk.ask_question("How many invoices from Acme are there?")
    await load_table(house, tmp_path, LETTERS, rows_of("L", 20))

    after = await talk.ask_question("And how many of those are over 25 EUR?")

    assert after.result["count"] == 3


async def test_a_revoked_bucket_takes_what_was_said_of_it_along(house: Application, tmp_path: Path) -> None:
    await load_table(house, tmp_path, LETTERS, rows_of("L", 20))
    await grant(house, INVOICES)
    await grant(house, LETTERS)
    talk = ConversationDriver(house, audience=PrivateAudience(person=ANN), person=ANN)
    await talk.ask_question("How many invoices from Acme are there?")
    await house.administration.revoke_grant(INVOICES, Subject(f"user:{ANN}"), by=OPERATOR)

    after = await talk.ask_question("And how many of those are over 25 EUR?")

    assert "Acme" not in after.result["text"]
    assert "invoice" not in after.result["text"].lower()

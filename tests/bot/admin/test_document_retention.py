"""Documents are deleted some days after a date of theirs, but never many at once without a command."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.admin.document_retention import DocumentRetention
from bot.admin.periodic_jobs import run_periodic_jobs
from bot.application import Application
from bot.health.retention_rules import DocumentRule, parse_document_rule
from bot.settings import survey_settings
from storage.embedded.index import EmbeddedIndex
from storage.ingest.pipeline import ingest_files
from storage.search.ids import BucketId
from storage.sql.administration.document_rules import DocumentRuleStore
from tests.bot.fakes import Clock
from tests.builders import RECEIPTS, a_document

RULE = DocumentRule(bucket=RECEIPTS, field="date", days=365)  # on 9 May 2031: before 9 May 2030


def a_retention(bot: Application, *rules: DocumentRule) -> DocumentRetention:
    return DocumentRetention(
        index=bot.index,
        access=bot.access,
        rules=rules,
        stored_rules=DocumentRuleStore(bot.database),
        clock=bot.clock,
        log=bot.log,
    )


async def add_dated(index: EmbeddedIndex, *days: str) -> None:
    """Beside the 42 receipts without a date."""
    await index.put(RECEIPTS, [a_document(f"dated-{day}", "receipt", date=day) for day in days])


async def count_receipts(bot: Application) -> int:
    return (await bot.index.load_bucket_states())[RECEIPTS].document_count


async def test_only_documents_with_an_older_date_are_deleted(bot: Application, index: EmbeddedIndex) -> None:
    await add_dated(index, "2029-12-31", "2030-05-08", "2030-05-09", "2031-05-09")

    deleted = await a_retention(bot, RULE).expire_documents()

    assert (deleted, await count_receipts(bot)) == (2, 44)
    assert {"dated-2030-05-09", "dated-2031-05-09"} <= set(await index.load_digests(RECEIPTS))


async def test_more_than_a_fifth_is_deleted_only_by_command(bot: Application, index: EmbeddedIndex) -> None:
    await add_dated(index, *(f"2029-01-{day:02}" for day in range(1, 16)))
    retention = a_retention(bot, RULE)

    by_itself = await retention.expire_documents()
    found = await retention.count_expired(RULE)
    by_command = await retention.delete_expired(RULE)

    assert (by_itself, found.expired, found.total, found.is_refused) == (0, 15, 57, True)
    assert (by_command, await count_receipts(bot)) == (15, 42)


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (DocumentRule(bucket="lost", field="date", days=1), "there is no bucket 'lost'"),
        (DocumentRule(bucket=RECEIPTS, field="vendor", days=1), "receipts has no date field 'vendor'"),
    ],
)
async def test_a_rule_that_fits_nothing_deletes_nothing_and_says_why(
    bot: Application, rule: DocumentRule, problem: str
) -> None:
    retention = a_retention(bot, rule)

    assert (await retention.expire_documents(), (await retention.count_expired(rule)).problem) == (0, problem)
    assert await count_receipts(bot) == 42


async def test_the_periodic_jobs_delete_old_documents_once_an_hour(
    bot: Application, index: EmbeddedIndex, clock: Clock
) -> None:
    await add_dated(index, "2029-12-31")
    retention = a_retention(bot, RULE)

    async with run_periodic_jobs(
        bot.turn_processor,
        bot.exports,
        bot.file_offers,
        bot.attachments,
        bot.sources,
        bot.log,
        job_runs=bot.job_runs,
        document_retention=retention,
        interval=timedelta(milliseconds=20),
    ):
        async with asyncio.timeout(30):
            remaining = 0
            while remaining != 42:
                remaining = await count_receipts(bot)
                await asyncio.sleep(0.01)
    await add_dated(index, "2029-12-30")
    within_the_hour = await retention.expire_documents()
    clock.advance(timedelta(hours=1))

    assert (within_the_hour, await retention.expire_documents()) == (0, 1)


async def test_nothing_is_missing_afterwards(bot: Application, index: EmbeddedIndex) -> None:
    await add_dated(index, "2029-12-31")
    await bot.readiness.record.find_losses()

    await a_retention(bot, RULE).expire_documents()

    assert await bot.readiness.record.find_missing_documents() == []


@pytest.mark.parametrize("text", ["receipts", "receipts:date", "receipts:date:0", "receipts:date:x", ":date:3", "a::3"])
def test_a_setting_that_is_no_rule_is_refused(tmp_path: Path, text: str) -> None:
    loaded = survey_settings(tmp_path, {"PARLEY_DOCUMENT_RETENTION": f"ok:date:3,{text}"})

    assert [error.setting for error in loaded.errors] == ["PARLEY_DOCUMENT_RETENTION"]


def test_a_rule_names_bucket_field_and_days() -> None:
    assert parse_document_rule(" receipts:date:365 ") == RULE


# -- by the day of loading

LOADED_RULE = DocumentRule(bucket=RECEIPTS, field="@loaded", days=365)


async def add_loaded(index: EmbeddedIndex, *days: str) -> None:
    """Beside the 42 receipts without a day of loading."""
    await index.put(RECEIPTS, [replace(a_document(f"loaded-{day}", "receipt"), loaded_on=day) for day in days])


async def test_documents_are_deleted_by_the_day_on_which_they_were_loaded(
    bot: Application, index: EmbeddedIndex
) -> None:
    await add_loaded(index, "2029-12-31", "2030-05-08", "2030-05-09", "2031-05-09")
    retention = a_retention(bot, LOADED_RULE)

    found = await retention.count_expired(LOADED_RULE)
    deleted = await retention.expire_documents()

    assert (found.expired, found.total, found.undated) == (2, 46, 42)
    assert (deleted, await count_receipts(bot)) == (2, 44)
    assert {"loaded-2030-05-09", "loaded-2031-05-09"} <= set(await index.load_digests(RECEIPTS))


async def test_a_rule_by_loading_of_a_bucket_that_is_not_there_says_so(bot: Application) -> None:
    rule = DocumentRule(bucket="lost", field="@loaded", days=1)

    assert (await a_retention(bot, rule).count_expired(rule)).problem == "there is no bucket 'lost'"


async def test_what_is_ingested_keeps_its_day_until_its_content_changes(
    bot: Application, index: EmbeddedIndex, clock: Clock, tmp_path: Path
) -> None:
    file = tmp_path / "visit.txt"

    async def ingest_text(text: str) -> str:
        file.write_text(text)
        await ingest_files(bot.index, [file], extractor=bot.extractor, bucket=BucketId("visits"), clock=clock)
        (day,) = (await index.load_ingestion_days(BucketId("visits"))).values()
        return day

    first = await ingest_text("The visit was short.")
    clock.advance(timedelta(days=3))
    unchanged = await ingest_text("The visit was short.")
    changed = await ingest_text("The visit was long.")

    assert (first, unchanged, changed) == ("2031-05-09", "2031-05-09", "2031-05-12")

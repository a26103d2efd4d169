"""What admins read about the syncs of a bucket in each product: the last one, why it failed, and the next one."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.admin.administration import BucketOverview
from bot.admin.bucket_syncs import list_bucket_syncs
from bot.admin.sentences import describe_bucket, describe_sync
from bot.application import Application
from bot.ids import OPERATOR, BucketId, PersonId, Subject
from bot.translation import use_language
from storage.sql.stores.sources import NewSource, SourceStore, StoredSource
from tests.builders import RECEIPTS

NOW = datetime(2026, 11, 27, 9, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
ANN = PersonId("local:ann")
WAITING = StoredSource(
    id="receipts",
    kind="folder",
    location="/srv/receipts",
    bucket=RECEIPTS,
    options={},
    every=HOUR,
    created_at=NOW - 9 * HOUR,
    due_at=NOW + HOUR,
    synced_at=None,
    outcome=None,
    counts=None,
    failure=None,
    documents=0,
)
SYNCED = replace(WAITING, synced_at=NOW, succeeded_at=NOW, outcome="done", documents=42)
FAILED = replace(
    SYNCED, synced_at=NOW, succeeded_at=NOW - 3 * HOUR, outcome="failed", failure="the server cannot be reached"
)


def sentences_about(*sources: StoredSource, zone: str = "UTC") -> str:
    sync = list_bucket_syncs(sources, NOW).get(RECEIPTS)
    bucket = BucketOverview(id=RECEIPTS, title="Receipts", document_count=42, sync=sync, grants=())
    return " · ".join(describe_sync(bucket, ZoneInfo(zone)))


def test_a_synced_bucket_says_when_and_when_next() -> None:
    assert sentences_about(SYNCED) == "synced 27 Nov 2026, 09:30 UTC · next at 27 Nov 2026, 10:30 UTC"


def test_a_failed_sync_says_why_and_when_the_source_was_last_read() -> None:
    assert sentences_about(FAILED, zone="Europe/Berlin") == (
        "could not sync at 27 Nov 2026, 10:30 CET: the server cannot be reached (synced last 27 Nov 2026, 07:30 CET) · "
        "next at 27 Nov 2026, 11:30 CET"
    )
    never = replace(FAILED, succeeded_at=None, every=None, due_at=None)
    assert sentences_about(never) == (
        "could not sync at 27 Nov 2026, 09:30 UTC: the server cannot be reached (never synced)"
    )


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (WAITING, "not synced yet · next at 27 Nov 2026, 10:30 UTC"),
        (replace(WAITING, due_at=NOW), "not synced yet · next at once"),
        (replace(WAITING, leased_until=NOW + HOUR), "not synced yet · syncing now"),
        (replace(SYNCED, due_at=None, paused_at=NOW), "synced 27 Nov 2026, 09:30 UTC · paused"),
        (replace(SYNCED, due_at=None, every=None), "synced 27 Nov 2026, 09:30 UTC"),
        (
            replace(SYNCED, outcome="incomplete", failure="receipts: 2 could not be loaded", due_at=None),
            "synced in part at 27 Nov 2026, 09:30 UTC: 2 could not be loaded",
        ),
    ],
)
def test_the_next_sync_is_told_as_it_will_come(source: StoredSource, sentence: str) -> None:
    assert sentences_about(source) == sentence


def test_a_bucket_without_a_source_says_nothing() -> None:
    assert sentences_about() == ""


def test_of_several_sources_the_one_with_a_problem_is_named() -> None:
    other = replace(SYNCED, id="scans", synced_at=NOW + HOUR, succeeded_at=NOW + HOUR, due_at=NOW + HOUR / 2)
    partial = replace(other, id="mail", outcome="refused", failure="mail: too much is gone")

    sentence = sentences_about(other, FAILED, partial)

    assert sentence.startswith("receipts: could not sync at 27 Nov 2026, 09:30 UTC: the server cannot be reached")
    assert sentence.endswith("; 1 more source has a problem · next at 27 Nov 2026, 10:00 UTC")


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("sftp://ann:hush@files.example.com/in: no answer", "sftp://files.example.com/in: no answer"),
        ("sftp://ann:hu/sh@h@files.example.com/in: no answer", "sftp://files.example.com/in: no answer"),
        ("https://files.example.com/in?sig=hush: no answer", "https://files.example.com/in?… no answer"),
        ("[Errno 13] Permission denied:\n '/srv/in'.", "Permission denied: '/srv/in'"),
        ("word " * 200, f"{'word ' * 35}word…"),
    ],
)
def test_a_reason_is_one_line_without_what_signs_in(failure: str, reason: str) -> None:
    sentence = sentences_about(replace(FAILED, failure=failure))

    assert f"UTC: {reason} (synced last" in sentence
    assert "hush" not in sentence


def test_the_sentence_is_in_the_language_of_the_reply() -> None:
    with use_language("de"):
        assert sentences_about(FAILED).startswith("konnte am 27 Nov 2026, 09:30 UTC nicht synchronisieren: the server")


async def test_a_source_that_never_loaded_anything_is_told_too(bot: Application) -> None:
    store = SourceStore(bot.database)
    await store.add_source(
        NewSource(id="mail", kind="imap", location="imaps://m/", bucket=BucketId("mail"), options={}, every=HOUR)
    )
    claimed = await store.claim_due_source("w1", HOUR)
    assert claimed is not None
    await store.finish_source_run(claimed, "failed", {}, failure="no answer")

    [mail, _] = await bot.administration.list_buckets(OPERATOR)

    assert (mail.id, describe_bucket(mail)) == ("mail", "nothing is loaded · 0 grants")
    assert describe_sync(mail, ZoneInfo("UTC"))[0].endswith(": no answer (never synced)")


async def test_an_admin_reads_the_reason_only_of_a_bucket_that_is_granted(bot: Application) -> None:
    store = SourceStore(bot.database)
    await store.add_source(
        NewSource(id="receipts", kind="folder", location="/srv/r", bucket=RECEIPTS, options={}, every=HOUR)
    )
    claimed = await store.claim_due_source("w1", HOUR)
    assert claimed is not None
    await store.finish_source_run(claimed, "failed", {}, failure="the folder “Dismissals” cannot be read")
    await bot.administration.add_admin(ANN, by=OPERATOR)

    async def read_as(person: PersonId) -> str:
        [bucket] = (await bot.administration.load_overview(person, max_questions=1)).buckets
        return describe_sync(bucket, ZoneInfo("UTC"))[0]

    closed = await read_as(ANN)
    await bot.administration.grant_bucket(RECEIPTS, Subject(f"user:{ANN}"), by=OPERATOR)

    assert "could not sync at" in closed
    assert ("Dismissals" in closed, "only who may see the bucket reads why" in closed) == (False, True)
    assert ["Dismissals" in await read_as(person) for person in (ANN, OPERATOR)] == [True, True]

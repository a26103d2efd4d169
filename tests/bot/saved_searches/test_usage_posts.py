"""The report of usage as a post: set by admins, posted once, without words of single people."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest

from bot.admin.usage.report_posts import compose_post
from bot.admin.usage.usage_report import UnknownWord
from bot.application import Application
from bot.ids import OPERATOR, PersonId, Subject
from bot.saved_searches.report_requests import ReportRequest
from bot.saved_searches.schedule import WeeklySchedule
from bot.saved_searches.search_requests import recognise_request
from bot.settings import Settings
from bot.surface.inbound import ChannelAudience, OutsiderPresence, SavedSearchRun
from bot.surface.outbox import OutboxFailed
from storage.embedded.index import EmbeddedIndex
from storage.search.ids import BucketId
from storage.search.schema import Schema
from storage.sql.database import SqlDatabase
from storage.sql.saved_search_store import SavedSearchKind, SavedSearchStatus, SavedSearchStore
from tests.bot.conftest import ConversationDriver, private_audience_of
from tests.bot.fakes import Clock, FakeChat
from tests.bot.saved_searches.test_saved_searches import (
    ForgetfulChat,
    KilledWorker,
    due_searches_of_replica,
    open_cut_off_application,
    posted_texts,
    text_of,
    tick,
    work_off_inbox,
)
from tests.builders import RECEIPTS

POST = "post the usage report here every Monday at 9:00"
ANN = PersonId("slack:T1:ANN")
CHANNEL = Subject("channel:slack:T1:C1")
FIRST_POST_AT = datetime(2031, 5, 12, 9, tzinfo=UTC)
MONDAY_NINE = WeeklySchedule(weekdays=frozenset({0}), time_of_day=time(9))


def driver_of_ann(bot: Application, *, in_channel: bool = False) -> ConversationDriver:
    audience = ChannelAudience(channel=CHANNEL, outsiders=OutsiderPresence.NONE)
    return ConversationDriver(
        bot, person=ANN, audience=audience if in_channel else private_audience_of("ANN"), conversation="posts"
    )


@pytest.fixture(autouse=True)
async def ann_is_admin(bot: Application) -> None:
    await bot.administration.add_admin(ANN, by=OPERATOR)
    await bot.grants.grant_bucket_access(RECEIPTS, Subject(f"user:{ANN}"), by="operator")
    await bot.grants.grant_bucket_access(RECEIPTS, CHANNEL, by="operator")


@pytest.mark.parametrize(
    "text",
    [
        "Post the usage report here every Monday at 9:00",
        "every monday 9:00: post the usage report",
        "Poste den Nutzungsbericht hier jeden Montag um 9 Uhr.",
        "publie le rapport d’utilisation ici chaque lundi à 9h",
        "Publica el informe de uso cada lunes a las 9:00",
    ],
)
def test_the_report_is_asked_for_in_four_languages(text: str) -> None:
    assert recognise_request(text) == ReportRequest(schedule=MONDAY_NINE)


@pytest.mark.parametrize("text", ["post the usage report", "who wrote the usage report every Monday?"])
def test_other_messages_are_questions(text: str) -> None:
    assert not isinstance(recognise_request(text), ReportRequest)


async def test_an_admin_gets_the_report_once_on_its_day(bot: Application, clock: Clock, chat: FakeChat) -> None:
    confirmed = text_of((await driver_of_ann(bot).ask_question(POST)).reply)
    chat.messages.clear()
    await tick(bot, clock, days=2)
    clock.advance(timedelta(days=1))

    counts = await asyncio.gather(bot.due_searches.start_due_runs(), due_searches_of_replica(bot).start_due_runs())
    await work_off_inbox(bot)
    await tick(bot, clock, minutes=1)

    (post,) = posted_texts(chat)
    assert "every Monday at 09:00" in confirmed
    assert "Monday 12 May 2031 at 09:00" in confirmed
    assert sum(counts) == 1
    assert "**What people asked in the last 7 days**" in post
    assert "1 question of 1 person: 1 answered." in post
    assert "stop watching 1" in post
    assert "This was due on Monday 12 May 2031" in post


async def test_what_was_missed_is_posted_once(bot: Application, clock: Clock, chat: FakeChat) -> None:
    await driver_of_ann(bot).ask_question(POST)
    chat.messages.clear()

    await tick(bot, clock, days=24)
    await tick(bot, clock, minutes=1)

    (post,) = posted_texts(chat)
    assert "missed 4 times" in post


async def test_a_worker_cut_off_right_after_posting_leaves_one_report(
    settings: Settings, clock: Clock, database: SqlDatabase, index: EmbeddedIndex
) -> None:
    chat = ForgetfulChat()
    async with open_cut_off_application(settings, clock, database, index, chat) as bot:
        await make_first_post_due(bot, clock, chat)
        chat.cut_offs = [OutboxFailed("cut off", retry=True)]
        await tick(bot, clock)

        await check_posts_after_restart(bot, clock, chat)


async def test_a_worker_killed_right_after_posting_leaves_one_report(
    settings: Settings, clock: Clock, database: SqlDatabase, index: EmbeddedIndex
) -> None:
    chat = ForgetfulChat()
    async with open_cut_off_application(settings, clock, database, index, chat) as bot:
        await make_first_post_due(bot, clock, chat)
        chat.cut_offs = [KilledWorker()]
        with pytest.raises(KilledWorker):
            await tick(bot, clock)

    async with open_cut_off_application(settings, clock, database, index, chat) as bot:
        await check_posts_after_restart(bot, clock, chat)


async def make_first_post_due(bot: Application, clock: Clock, chat: FakeChat) -> None:
    await driver_of_ann(bot).ask_question(POST)
    chat.messages.clear()
    clock.advance(FIRST_POST_AT - clock())


async def check_posts_after_restart(bot: Application, clock: Clock, chat: FakeChat) -> None:
    """What was posted is not posted again, is recorded as posted, and is followed by the next one a week later."""
    store = SavedSearchStore(bot.database)
    unrecorded = await store.find_search(1)
    assert unrecorded is not None
    assert unrecorded.reported_due_at is None
    assert len(chat.messages) == 1

    await tick(bot, clock, minutes=1)
    await tick(bot, clock, minutes=1)

    recorded = await store.find_search(1)
    assert recorded is not None
    assert (recorded.reported_due_at, recorded.status) == (FIRST_POST_AT, SavedSearchStatus.ACTIVE)
    (first,) = posted_texts(chat)
    assert "1 question of 1 person" in first

    clock.advance(FIRST_POST_AT + timedelta(days=7) - clock())
    await tick(bot, clock)
    await tick(bot, clock, minutes=1)

    _, second = posted_texts(chat)
    assert "**What people asked in the last 7 days**" in second
    assert "not running" not in second


async def test_nobody_else_has_it_posted(bot: Application, clock: Clock, chat: FakeChat) -> None:
    bob = ConversationDriver(bot, person="slack:T1:BOB", audience=private_audience_of("BOB"))

    refused = text_of((await bob.ask_question(POST)).reply)

    assert refused.startswith("Only admins of Parley can have the report posted")
    assert await SavedSearchStore(bot.database).list_searches() == []


async def test_an_admin_who_lost_the_right_gets_one_sentence(bot: Application, clock: Clock, chat: FakeChat) -> None:
    await driver_of_ann(bot).ask_question(POST)
    chat.messages.clear()

    await bot.administration.add_admin(PersonId("slack:T1:BOB"), by=OPERATOR)
    await bot.administration.remove_admin(ANN, by=OPERATOR)
    await tick(bot, clock, days=3)
    await tick(bot, clock, days=7)

    (post,) = posted_texts(chat)
    assert post == (
        "I have paused saved search 1, “What people asked in the last 7 days”, because the person who asked for it is "
        "no longer an admin."
    )
    search = await SavedSearchStore(bot.database).find_search(1)
    assert search is not None
    assert (search.kind, search.status) == (SavedSearchKind.USAGE_REPORT, SavedSearchStatus.PAUSED)


async def test_a_channel_reads_no_hidden_bucket_and_no_word_of_a_single_person(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await index.set_schema(Schema(bucket=BucketId("salaries")))
    await driver_of_ann(bot, in_channel=True).ask_question(POST)
    await driver_of_ann(bot).ask_question(POST)
    chat.messages.clear()

    await tick(bot, clock, days=3)

    assert len(posted_texts(chat)) == 2
    assert all("salaries" not in post for post in posted_texts(chat))


async def test_a_channel_reads_only_words_that_several_people_used(bot: Application, clock: Clock) -> None:
    await driver_of_ann(bot).ask_question(POST)
    search = await SavedSearchStore(bot.database).find_search(1)
    assert search is not None
    report = await bot.admin_reports.load_report(7, ANN)
    words = tuple(
        UnknownWord(word=word, questions=3, people=people, buckets=("receipts", "salaries"), suggestions=())
        for word, people in (("lorries", 2), ("*Smithers*", 1))
    )
    run = SavedSearchRun(search=1, due_at=clock(), missed_count=0)

    in_channel, alone = (
        compose_post(replace(report, unknown_words=words), search, run, driver.audience, {RECEIPTS}, UTC)
        for driver in (driver_of_ann(bot, in_channel=True), driver_of_ann(bot))
    )

    assert "“lorries” · 3 questions · 2 people · receipts" in in_channel
    assert "Smithers" not in in_channel
    assert "“\\*Smithers\\*”" in alone
    assert "salaries" not in in_channel + alone


async def test_it_is_listed_and_stopped_like_a_saved_search(bot: Application, clock: Clock, chat: FakeChat) -> None:
    ann = driver_of_ann(bot)
    await ann.ask_question(POST)

    listed = text_of((await ann.ask_question("my saved searches")).reply)
    await ann.ask_question("stop watching 1")
    chat.messages.clear()
    await tick(bot, clock, days=3)

    assert "**1** “What people asked in the last 7 days”, every Monday at 09:00" in listed
    assert "document" not in listed
    assert posted_texts(chat) == []


async def test_a_german_request_has_a_german_post(bot: Application, clock: Clock, chat: FakeChat) -> None:
    ann = driver_of_ann(bot)
    ann.locale = "de"
    confirmed = text_of((await ann.ask_question("Poste den Nutzungsbericht jeden Montag um 9 Uhr")).reply)
    chat.messages.clear()

    await tick(bot, clock, days=3)

    (post,) = posted_texts(chat)
    assert confirmed.startswith("Ich habe das als **1** gespeichert")
    assert "**Was in den letzten 7 Tagen gefragt wurde**" in post

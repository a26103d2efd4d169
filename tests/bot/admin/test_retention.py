"""Old questions are deleted after the days of the setting, with everything that hangs on them."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import func, select

from bot.admin.periodic_jobs import run_periodic_jobs
from bot.admin.retention import ConversationRetention
from bot.application import Application
from bot.ids import OPERATOR
from bot.surface.inbound import TextMessage
from bot.turns.feedback import FeedbackVerdict
from storage.sql.backup import list_stored_tables
from storage.sql.saved_search_store import NewSavedSearch, SavedSearchStore
from storage.sql.stores.conversations import ConversationStore
from storage.sql.stores.turns import turns
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import Clock

KEPT = 30  # days
OLD_WORDS = "receipts of the purple giraffe"


async def row_counts(bot: Application) -> dict[str, int]:
    counts: dict[str, int] = {}
    for table in list_stored_tables():
        query = select(func.count()).select_from(table)
        counts[table.name] = await bot.database.run_read(
            lambda connection, query=query: connection.execute(query).scalar_one()
        )
    return {name: count for name, count in counts.items() if count}


async def live_through_a_month(bot: Application, clock: Clock) -> None:
    """An old conversation that ended, and one that goes on with a new question today."""
    for conversation in ("ended", "going on"):
        talk = ConversationDriver(bot, conversation=conversation)
        asked = await talk.ask_question(f"List the {OLD_WORDS}")
        await talk.click_choice(asked, "Bolt")
        await bot.feedback.record_verdict(asked.turn, OPERATOR, FeedbackVerdict.BAD, "too long")
    clock.advance(timedelta(days=KEPT + 1))
    talk = ConversationDriver(bot, conversation="going on")
    inbound = replace(talk.build_inbound(TextMessage("List every receipt")), received_at=clock())
    turn = await bot.accept_inbound(inbound)
    assert turn is not None
    await bot.run_turn(turn)


def a_retention(bot: Application, kept_days: int | None) -> ConversationRetention:
    return ConversationRetention(bot.database, kept_days, bot.log)


async def test_old_turns_go_with_all_that_hangs_on_them_and_new_ones_stay(bot: Application, clock: Clock) -> None:
    await live_through_a_month(bot, clock)

    deleted = await a_retention(bot, KEPT).expire_turns()

    counts = await row_counts(bot)
    assert deleted == 4
    assert (counts["turns"], counts["conversations"], counts["clarifications"]) == (1, 1, 1)
    assert "feedback" not in counts
    assert await a_retention(bot, KEPT).expire_turns() == 0


async def test_the_summary_of_a_conversation_that_goes_on_no_longer_tells_of_them(
    bot: Application, clock: Clock
) -> None:
    await live_through_a_month(bot, clock)
    [before] = await ConversationStore(bot.database).list_states("going on")

    await a_retention(bot, KEPT).expire_turns()

    [after] = await ConversationStore(bot.database).list_states("going on")
    assert (OLD_WORDS in str(before.summary), OLD_WORDS in str(after.summary)) == (True, False)
    assert "List every receipt" in str(after.summary)


async def test_without_the_setting_and_before_its_days_nothing_is_deleted(bot: Application, clock: Clock) -> None:
    await live_through_a_month(bot, clock)
    before = await row_counts(bot)

    assert await a_retention(bot, None).expire_turns() == 0
    assert await a_retention(bot, KEPT + 2).expire_turns() == 0
    assert await row_counts(bot) == before


async def test_the_periodic_jobs_delete_old_turns(bot: Application, clock: Clock) -> None:
    await live_through_a_month(bot, clock)
    query = select(func.count()).select_from(turns)

    async with run_periodic_jobs(
        bot.turn_processor,
        bot.exports,
        bot.file_offers,
        bot.attachments,
        bot.sources,
        bot.log,
        job_runs=bot.job_runs,
        retention=a_retention(bot, KEPT),
        interval=timedelta(milliseconds=20),
    ):
        async with asyncio.timeout(30):
            remaining = 0
            while remaining != 1:
                remaining = await bot.database.run_read(lambda connection: connection.execute(query).scalar_one())
                await asyncio.sleep(0.01)


async def test_a_saved_search_outlives_its_question_until_it_is_stopped(bot: Application, clock: Clock) -> None:
    store = SavedSearchStore(bot.database)
    asked = await ConversationDriver(bot, conversation="ended").ask_question(f"List the {OLD_WORDS}")
    search = await store.add_search(
        NewSavedSearch(
            creating_turn=asked.turn,
            surface="slack",
            conversation="ended",
            person=OPERATOR,
            question=OLD_WORDS,
            origin={},
            buckets=[],
            schedule="on change",
            time_zone="UTC",
            seen={},
            index_state="",
            due_at=clock(),
        ),
        max_of_person=1,
    )
    assert search is not None
    clock.advance(timedelta(days=KEPT + 1))

    await a_retention(bot, KEPT).expire_turns()

    assert await store.find_search(search.position) == search

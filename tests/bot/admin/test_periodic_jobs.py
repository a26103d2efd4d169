"""The periodic jobs: old offers expire and say so, old files are deleted."""

import asyncio
from datetime import timedelta
from pathlib import Path

from bot.admin.periodic_jobs import run_periodic_jobs
from bot.application import Application
from bot.conversation.file_offers import TEXT_LIFETIME
from bot.ids import ConversationId
from tests.bot.conftest import ConversationDriver, wait_until
from tests.bot.fakes import Clock, FakeChat, ListingAgent
from tests.stored_rows import list_offered_texts

OFTEN = timedelta(milliseconds=20)


async def test_old_offers_and_old_files_expire_by_themselves(bot: Application, chat: FakeChat, clock: Clock) -> None:
    talk = ConversationDriver(bot)
    answered = await talk.ask_question("List every receipt")
    exported = await talk.ask_question("export")
    unanswered = await ConversationDriver(bot, conversation="c2").ask_question("List every receipt")
    clock.advance(timedelta(hours=25))
    file = Path(exported.result["files"][0]["path"])

    async with run_periodic_jobs(
        bot.turn_processor,
        bot.exports,
        bot.file_offers,
        bot.attachments,
        bot.sources,
        bot.log,
        job_runs=bot.job_runs,
        interval=OFTEN,
    ):
        offers = [chat.messages_of_turn(turn.turn)[0] for turn in (answered, unanswered)]
        await wait_until(lambda: not file.exists() and all(offer.chosen is not None for offer in offers))

    assert offers[0].chosen == offers[1].chosen


async def test_the_text_of_an_old_file_offer_is_forgotten(bot: Application, clock: Clock) -> None:
    turn = (await ConversationDriver(bot).ask_question("List every receipt")).turn
    offer = await bot.file_offers.offer_text(turn, ConversationId("c1"), name="answer.txt", text="all of it")
    assert offer is not None
    assert await list_offered_texts(bot.database) == ["all of it"]
    clock.advance(TEXT_LIFETIME)
    texts: list[str | None] = []

    async with run_periodic_jobs(
        bot.turn_processor,
        bot.exports,
        bot.file_offers,
        bot.attachments,
        bot.sources,
        bot.log,
        job_runs=bot.job_runs,
        interval=OFTEN,
    ):
        async with asyncio.timeout(30):
            while texts != [None]:
                texts = await list_offered_texts(bot.database)
                await asyncio.sleep(0.01)


async def test_the_agent_is_warmed_up_before_the_first_question(
    bot: Application, agent: ListingAgent, chat: FakeChat
) -> None:
    stop = asyncio.Event()
    service = asyncio.create_task(bot.run_until_stopped(stop, warm_up=True))

    await wait_until(lambda: bool(agent.contexts))
    stop.set()
    await service

    assert [context.index.scope.ignores_readers for context in agent.contexts] == [True]
    assert chat.messages == {}

"""What becomes of turns in progress when a process is told to end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from bot.application import Application
from bot.surface.inbound import TextMessage
from bot.turns.stopping import StopTimeouts, stop_timeouts_within
from bot.turns.turn_processor import MAX_ATTEMPTS
from tests.bot.conftest import ConversationDriver, running_workers, wait_until, wait_until_finished
from tests.bot.fakes import FakeChat, ListingAgent


@asynccontextmanager
async def stopped_workers(bot: Application, *, turn_timeout: timedelta) -> AsyncGenerator[asyncio.Event]:
    """The workers, told to end at the end of the block, and awaited."""
    stop = asyncio.Event()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(bot.turn_workers.run_until_stopped(stop, turn_timeout=turn_timeout))
        yield stop
        stop.set()


async def test_a_turn_that_takes_too_long_is_given_back_and_answered_once_after_the_next_start(
    bot: Application, agent: ListingAgent, chat: FakeChat
) -> None:
    agent.hangs = True
    turn = await ConversationDriver(bot).accept_body(TextMessage("List every receipt"))
    for stop_count in range(1, MAX_ATTEMPTS + 2):  # a stop does not count as an attempt
        async with stopped_workers(bot, turn_timeout=timedelta(0)):
            await wait_until(lambda count=stop_count: len(agent.contexts) == count and len(chat.messages) == 1)
        assert await bot.load_finished_turn(turn) is None

    agent.hangs = False
    async with running_workers(bot):
        finished_turn = await wait_until_finished(bot, turn)

    [message] = chat.messages_of_turn(turn)
    assert finished_turn.result["outcome"] == "overload"
    assert message.reply == finished_turn.reply
    assert len(chat.messages) == 1


async def test_a_turn_that_ends_in_time_is_answered_before_the_end(
    bot: Application, agent: ListingAgent, chat: FakeChat
) -> None:
    turn = await ConversationDriver(bot).accept_body(TextMessage("List every receipt"))
    async with stopped_workers(bot, turn_timeout=timedelta(seconds=60)) as stop:
        agent.reason = lambda log: stop.set()
        await stop.wait()

    finished_turn = await bot.load_finished_turn(turn)
    assert finished_turn is not None
    assert [message.reply for message in chat.messages.values()] == [finished_turn.reply]


async def test_a_message_that_comes_after_the_stop_is_stored_and_waits_for_the_next_start(
    bot: Application, agent: ListingAgent
) -> None:
    agent.hangs = True
    await ConversationDriver(bot, conversation="c1").accept_body(TextMessage("List every receipt"))
    async with stopped_workers(bot, turn_timeout=timedelta(milliseconds=200)) as stop:
        await wait_until(lambda: len(agent.contexts) == 1)
        stop.set()
        late_turn = await ConversationDriver(bot, conversation="c2").accept_body(TextMessage("List every receipt"))

    assert len(agent.contexts) == 1
    agent.hangs = False
    async with running_workers(bot):
        assert (await wait_until_finished(bot, late_turn)).result["outcome"] == "overload"


def test_all_parts_of_a_stop_fit_into_its_time() -> None:
    default, short = stop_timeouts_within(20), stop_timeouts_within(5)

    assert default == StopTimeouts()
    for total, timeouts in ((timedelta(seconds=20), default), (timedelta(seconds=5), short)):
        assert timeouts.turns < timeouts.worker_processes < total
        assert timeouts.turns + timeouts.requests < total

"""Words in a channel's thread without a mention: for Parley only where it has answered, and if that is switched on."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.api import SlackApi
from bot.ids import ConversationId, TurnId
from bot.inbound import Said
from tests.adapters.slack.conftest import InboxBot, a_surface, served
from tests.adapters.slack.office import an_office
from tests.bot.conftest import finished
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, User


@pytest.fixture
async def threads(slack: SlackServer, bot: InboxBot, api: SlackApi) -> AsyncIterator[InboxBot]:
    """A bot for which follow-ups are switched on, in a workspace that has granted the optional scopes."""
    slack.scopes |= slack.optional_scopes
    bot.settings = replace(bot.settings, slack_threads=True)
    async with served(a_surface(bot, api), slack):
        yield bot


@pytest.fixture
async def asked(slack: SlackServer, threads: InboxBot, ada: User, general: Channel) -> Message:
    """A question that was answered."""
    question, _ = await slack.say(ada, general, f"<@{BOT_USER}> List every receipt")
    threads.answered.add(ConversationId(f"slack:{TEAM}:{general.id}:{question.ts}"))
    return question


async def test_what_is_said_where_parley_has_answered_is_a_question(
    slack: SlackServer, threads: InboxBot, bob: User, general: Channel, asked: Message
) -> None:
    await slack.say(bob, general, "only 2024", thread_ts=asked.ts)

    first, second = threads.accepted
    assert second.body == Said("only 2024")
    assert second.conversation == first.conversation
    assert second.audience == first.audience


@pytest.mark.parametrize(
    "text",
    ["<@U2BOB> what do you think?", "thanks <@U2BOB|bob>", "<!subteam^S1|@buyers> look", "<!here> done", "<!channel>"],
)
async def test_what_is_addressed_to_somebody_else_is_not(
    slack: SlackServer, threads: InboxBot, ada: User, general: Channel, asked: Message, text: str
) -> None:
    _, [delivered] = await slack.say(ada, general, text, thread_ts=asked.ts)

    assert delivered.statuses == [200]
    assert len(threads.accepted) == 1


async def test_a_mention_in_such_a_thread_comes_twice_and_is_one_question(
    slack: SlackServer, threads: InboxBot, ada: User, general: Channel, asked: Message
) -> None:
    _, delivered = await slack.say(ada, general, f"<@{BOT_USER}> only 2024", thread_ts=asked.ts)

    assert len(delivered) == 2
    assert [one.body for one in threads.accepted[1:]] == [Said("only 2024")]


async def test_where_parley_has_not_answered_nothing_is_for_it(
    slack: SlackServer, threads: InboxBot, ada: User, bob: User, general: Channel
) -> None:
    root, _ = await slack.say(bob, general, "lunch?")
    await slack.say(ada, general, "yes", thread_ts=root.ts)

    assert threads.accepted == []


@pytest.mark.parametrize("extra", [{"bot_id": "B9OTHER"}, {"subtype": "channel_join"}])
async def test_bots_and_housekeeping_in_the_thread_are_ignored(
    slack: SlackServer, threads: InboxBot, ada: User, general: Channel, asked: Message, extra: dict[str, Any]
) -> None:
    await slack.say(ada, general, "beep", thread_ts=asked.ts, **extra)

    assert len(threads.accepted) == 1


async def test_switched_off_only_mentions_count(
    slack: SlackServer, bot: InboxBot, api: SlackApi, ada: User, general: Channel
) -> None:
    slack.scopes |= slack.optional_scopes
    async with served(a_surface(bot, api), slack):
        question, _ = await slack.say(ada, general, f"<@{BOT_USER}> List every receipt")
        bot.answered.add(bot.accepted[0].conversation)
        await slack.say(ada, general, "only 2024", thread_ts=question.ts)

    assert len(bot.accepted) == 1


async def test_without_the_optional_scopes_slack_tells_of_mentions_alone(
    slack: SlackServer, bot: InboxBot, api: SlackApi, ada: User, general: Channel
) -> None:
    bot.settings = replace(bot.settings, slack_threads=True)
    async with served(a_surface(bot, api), slack):
        root, _ = await slack.say(ada, general, f"<@{BOT_USER}> List every receipt")
        _, delivered = await slack.say(ada, general, "only 2024", thread_ts=root.ts)

    assert delivered == []
    assert len(bot.accepted) == 1


async def test_a_follow_up_without_a_mention_is_answered_in_its_thread(
    slack: SlackServer, ada: User, bob: User, general: Channel, tmp_path: Path
) -> None:
    slack.scopes |= slack.optional_scopes
    async with an_office(slack, tmp_path / "home", PARLEY_SLACK_THREADS="on") as office:
        await office.open_channel(general)
        asked, _ = await slack.say(ada, general, f"<@{BOT_USER}> List every receipt")
        await office.answer()
        await finished(office.bot, TurnId((office.said()[0].metadata or {})["event_payload"]["turn"]))

        await slack.say(bob, general, "Bolt", thread_ts=asked.ts)

        answer = await office.answer(2)
    assert answer.thread_ts == asked.ts
    assert "There are 5." in answer.words()

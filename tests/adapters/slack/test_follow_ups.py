"""Follow-ups in a channel's thread without a mention: accepted where Parley has answered, if the setting is on."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.posting.api import SlackApi
from bot.ids import ConversationId, TurnId
from bot.surface.inbound import TextMessage
from tests.adapters.slack.conftest import InboxBot, build_surface, serve_surface
from tests.adapters.slack.office import open_slack_office
from tests.bot.conftest import wait_until_finished
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage


@pytest.fixture
async def follow_up_bot(slack: SlackServer, bot: InboxBot, api: SlackApi) -> AsyncIterator[InboxBot]:
    """A bot with follow-ups switched on, in a workspace that has granted the optional scopes."""
    slack.scopes |= slack.optional_scopes
    bot.settings = bot.settings.model_copy(update={"threads": True})
    async with serve_surface(build_surface(bot, api), slack):
        yield bot


@pytest.fixture
async def answered_question(
    slack: SlackServer, follow_up_bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> SlackMessage:
    """A question that Parley has answered."""
    question, _ = await slack.post_as_person(ada, general, f"<@{BOT_USER}> List every receipt")
    follow_up_bot.answered_conversations.add(ConversationId(f"slack:{TEAM}:{general.id}:{question.ts}"))
    return question


async def test_a_message_in_a_thread_where_parley_has_answered_is_a_question(
    slack: SlackServer,
    follow_up_bot: InboxBot,
    bob: SlackMember,
    general: SlackChannel,
    answered_question: SlackMessage,
) -> None:
    await slack.post_as_person(bob, general, "only 2024", thread_ts=answered_question.ts)

    first, second = follow_up_bot.accepted
    assert second.body == TextMessage("only 2024")
    assert second.conversation == first.conversation
    assert second.audience == first.audience


@pytest.mark.parametrize(
    "text",
    ["<@U2BOB> what do you think?", "thanks <@U2BOB|bob>", "<!subteam^S1|@buyers> look", "<!here> done", "<!channel>"],
)
async def test_a_message_that_mentions_another_person_is_not_a_question(
    slack: SlackServer,
    follow_up_bot: InboxBot,
    ada: SlackMember,
    general: SlackChannel,
    answered_question: SlackMessage,
    text: str,
) -> None:
    _, [delivered] = await slack.post_as_person(ada, general, text, thread_ts=answered_question.ts)

    assert delivered.statuses == [200]
    assert len(follow_up_bot.accepted) == 1


async def test_a_mention_in_such_a_thread_is_delivered_twice_and_is_one_question(
    slack: SlackServer,
    follow_up_bot: InboxBot,
    ada: SlackMember,
    general: SlackChannel,
    answered_question: SlackMessage,
) -> None:
    _, delivered = await slack.post_as_person(ada, general, f"<@{BOT_USER}> only 2024", thread_ts=answered_question.ts)

    assert len(delivered) == 2
    assert [inbound.body for inbound in follow_up_bot.accepted[1:]] == [TextMessage("only 2024")]


async def test_a_message_in_a_thread_without_an_answer_is_ignored(
    slack: SlackServer, follow_up_bot: InboxBot, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    root, _ = await slack.post_as_person(bob, general, "lunch?")
    await slack.post_as_person(ada, general, "yes", thread_ts=root.ts)

    assert follow_up_bot.accepted == []


@pytest.mark.parametrize("extra", [{"bot_id": "B9OTHER"}, {"subtype": "channel_join"}])
async def test_bots_and_system_messages_in_the_thread_are_ignored(
    slack: SlackServer,
    follow_up_bot: InboxBot,
    ada: SlackMember,
    general: SlackChannel,
    answered_question: SlackMessage,
    extra: dict[str, Any],
) -> None:
    await slack.post_as_person(ada, general, "beep", thread_ts=answered_question.ts, **extra)

    assert len(follow_up_bot.accepted) == 1


async def test_with_follow_ups_switched_off_only_mentions_count(
    slack: SlackServer, bot: InboxBot, api: SlackApi, ada: SlackMember, general: SlackChannel
) -> None:
    slack.scopes |= slack.optional_scopes
    async with serve_surface(build_surface(bot, api), slack):
        question, _ = await slack.post_as_person(ada, general, f"<@{BOT_USER}> List every receipt")
        bot.answered_conversations.add(bot.accepted[0].conversation)
        await slack.post_as_person(ada, general, "only 2024", thread_ts=question.ts)

    assert len(bot.accepted) == 1


async def test_without_the_optional_scopes_slack_delivers_only_mentions(
    slack: SlackServer, bot: InboxBot, api: SlackApi, ada: SlackMember, general: SlackChannel
) -> None:
    bot.settings = bot.settings.model_copy(update={"threads": True})
    async with serve_surface(build_surface(bot, api), slack):
        root, _ = await slack.post_as_person(ada, general, f"<@{BOT_USER}> List every receipt")
        _, delivered = await slack.post_as_person(ada, general, "only 2024", thread_ts=root.ts)

    assert delivered == []
    assert len(bot.accepted) == 1


async def test_a_follow_up_without_a_mention_is_answered_in_its_thread(
    slack: SlackServer, ada: SlackMember, bob: SlackMember, general: SlackChannel, tmp_path: Path
) -> None:
    slack.scopes |= slack.optional_scopes
    async with open_slack_office(slack, tmp_path / "home", PARLEY_SLACK_THREADS="on") as office:
        await office.grant_receipts_to_channel(general)
        question, _ = await slack.post_as_person(ada, general, f"<@{BOT_USER}> List every receipt")
        await office.wait_for_answer()
        await wait_until_finished(
            office.bot, TurnId((office.posted_messages()[0].metadata or {})["event_payload"]["turn"])
        )

        await slack.post_as_person(bob, general, "Bolt", thread_ts=question.ts)

        answer = await office.wait_for_answer(2)
    assert answer.thread_ts == question.ts
    assert "There are 5." in answer.visible_text()

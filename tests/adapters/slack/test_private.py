"""The offer in a channel to continue in a direct message, where the asker may see more."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.conversation.turn_result import failed_turn_result, turn_result_from_json, turn_result_to_json
from bot.dialogue.questions import private_question_of
from bot.ids import ConversationId, MessageId, PersonId, Subject, TurnId
from bot.surface.inbound import ChannelAudience, Inbound, OutsiderPresence, TextMessage
from bot.surface.json_codec import inbound_from_json
from tests.adapters.slack.office import SlackOffice, open_slack_office
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage

QUESTION = f"<@{BOT_USER}> List &lt;every&gt; receipt"
PRIVATE_BUTTON = "Continue in private"


@pytest.fixture
async def office(slack: SlackServer, tmp_path: Path, ada: SlackMember) -> AsyncIterator[SlackOffice]:
    async with open_slack_office(slack, tmp_path / "home") as office:
        await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")
        yield office


async def ask_and_get_refused(office: SlackOffice, user: SlackMember, channel: SlackChannel) -> SlackMessage:
    await office.slack.post_as_person(user, channel, QUESTION)
    await office.slack.wait_until(
        lambda: any("Nothing here" in message.visible_text() for message in office.posted_messages())
    )
    return next(message for message in office.posted_messages() if "Nothing here" in message.visible_text())


def button_labels_of(message: SlackMessage) -> list[str]:
    return [button["text"]["text"] for button in message.block_buttons()]


async def wait_for_message(office: SlackOffice, channel: SlackChannel, words: str) -> SlackMessage:
    def matching_messages() -> list[SlackMessage]:
        return [
            message for message in office.slack.workspace.bot_messages(channel.id) if words in message.visible_text()
        ]

    await office.slack.wait_until(lambda: bool(matching_messages()))
    return matching_messages()[0]


async def test_an_answer_for_the_asker_alone_continues_in_their_direct_messages(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    refusal = await ask_and_get_refused(office, ada, general)

    assert button_labels_of(refusal) == [PRIVATE_BUTTON]

    await slack.click_button(ada, refusal, PRIVATE_BUTTON)
    direct = slack.workspace.direct_channel_of(ada.id)
    answer = await wait_for_message(office, direct, "I found 42")
    settled = await wait_for_message(office, general, "goes on")

    [root, *_] = slack.workspace.bot_messages(direct.id)
    assert "List <every> receipt" in root.visible_text()
    assert (root.thread_ts, answer.thread_ts) == (None, root.ts)
    assert settled.visible_text() == "This goes on in a direct message, where only you read the answer."
    assert settled.block_buttons() == []
    assert not [
        message
        for message in slack.workspace.bot_messages(general.id)
        if "42" in message.visible_text() or "Acme" in message.visible_text()
    ]


async def test_a_private_answer_accepts_follow_ups(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    await slack.click_button(ada, await ask_and_get_refused(office, ada, general), PRIVATE_BUTTON)
    direct = slack.workspace.direct_channel_of(ada.id)
    clarification = await wait_for_message(office, direct, "I found 42")

    await slack.click_button(ada, clarification, "Bolt · 5")

    assert (await wait_for_message(office, direct, "There are 5")).thread_ts == clarification.thread_ts


async def test_a_person_who_clicks_gets_only_what_they_may_see_themselves(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    await slack.click_button(bob, await ask_and_get_refused(office, ada, general), PRIVATE_BUTTON)
    direct = slack.workspace.direct_channel_of(bob.id)

    answer = await wait_for_message(office, direct, "Nothing here")

    assert answer.block_buttons() == []
    assert [channel for channel in slack.workspace.channels.values() if channel.kind == "im"] == [direct]


async def test_nothing_is_offered_to_an_asker_who_would_see_no_more(
    office: SlackOffice, slack: SlackServer, bob: SlackMember, general: SlackChannel
) -> None:
    assert button_labels_of(await ask_and_get_refused(office, bob, general)) == []


async def test_an_answer_that_the_channel_may_see_offers_no_private_continuation(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    await office.grant_receipts_to_channel(general)
    await slack.post_as_person(bob, general, QUESTION)
    answer = await office.wait_for_answer(1)

    assert PRIVATE_BUTTON not in button_labels_of(answer)


async def test_a_person_without_direct_messages_is_told_to_write_first(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    refusal = await ask_and_get_refused(office, ada, general)
    slack.scopes -= {"im:write"}

    await slack.click_button(ada, refusal, PRIVATE_BUTTON)

    assert await wait_for_message(office, general, "Write to me in a direct message")
    assert slack.workspace.bot_messages(slack.workspace.direct_channel_of(ada.id).id) == []


async def test_the_private_turn_is_stored_with_the_turn_that_begins_it(general: SlackChannel) -> None:
    now = datetime(2031, 5, 9, 12, tzinfo=UTC)
    inbound = Inbound(
        surface="slack",
        event_id="e1",
        conversation=ConversationId("slack:T1:C1:1"),
        message_id=MessageId("1"),
        person=PersonId("slack:T1:U1"),
        person_name="Ada",
        audience=ChannelAudience(channel=Subject("channel:slack:T1:C1"), outsiders=OutsiderPresence.NONE),
        body=TextMessage("List"),
        received_at=now,
    )
    private_turn = private_question_of(inbound, TurnId("t1"), "List", {"channel": "D1", "user": "U1"}, now)
    result = replace(failed_turn_result(inbound, TurnId("t1"), "."), private_turn=private_turn)

    stored = turn_result_to_json(result)

    assert turn_result_from_json(stored).private_turn == private_turn
    assert inbound_from_json(stored["begins"]) == private_turn

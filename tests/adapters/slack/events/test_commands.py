"""Questions from the slash command and the message shortcut: stored, acknowledged, and answered in a thread."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.slack.app import SlackSurface
from adapters.slack.events.commands import COMMAND, SHORTCUT, USAGE
from adapters.slack.posting.api import SlackApi
from adapters.slack.posting.channel_queue import MIN_POST_INTERVAL_S
from adapters.slack.posting.thread_placement import SlackThreads
from adapters.slack.workspaces.workspace_registry import SingleWorkspace, build_workspace
from bot.ids import MessageId, PersonId, TurnId
from bot.surface.inbound import ChannelAudience, Inbound, PrivateAudience, TextMessage
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import Reply
from tests.adapters.slack.conftest import InboxBot
from tests.adapters.slack.office import SlackOffice, open_slack_office
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage


@pytest.fixture
async def office(slack: SlackServer, tmp_path: Path, general: SlackChannel) -> AsyncIterator[SlackOffice]:
    async with open_slack_office(slack, tmp_path / "home") as office:
        await office.grant_receipts_to_channel(general)
        yield office


# Storing and acknowledging


async def test_a_command_is_stored_before_it_is_acknowledged(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    delivered = await slack.use_command(ada, general, COMMAND, "receipts of <@U2BOB|bob> &gt; 5")

    [inbound] = bot.accepted
    assert (delivered.statuses, delivered.body) == ([200], "")
    assert inbound.body == TextMessage("receipts of @bob > 5")
    assert inbound.person == PersonId(f"slack:{TEAM}:{ada.id}")
    assert isinstance(inbound.audience, ChannelAudience)
    assert inbound.needs_thread


async def test_a_command_that_cannot_be_stored_is_not_acknowledged(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    bot.remaining_failures = 1

    delivered = await slack.use_command(ada, general, COMMAND, "receipts")

    assert delivered.statuses == [500]


@pytest.mark.parametrize("text", ["", "   ", "<@U0PARLEY>"])
async def test_a_command_without_a_question_shows_its_usage_to_the_asker_only(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel, text: str
) -> None:
    await slack.use_command(ada, general, COMMAND, text)

    [notice] = slack.workspace.messages
    assert notice.text == USAGE
    assert notice.visible_to == ada.id
    assert bot.accepted == []


async def test_a_repeated_trigger_is_one_question(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    fields = {
        "command": COMMAND,
        "text": "receipts",
        "team_id": TEAM,
        "channel_id": general.id,
        "user_id": ada.id,
        "trigger_id": "1.2.once",
        "response_url": "http://127.0.0.1/unused",
    }

    statuses = [(await slack.deliver_form(fields)).statuses for _ in range(2)]

    assert statuses == [[200], [200]]
    assert len(bot.accepted) == 1


async def test_a_shortcut_on_a_message_without_text_is_refused_privately(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    picture, _ = await slack.post_as_person(bob, general, "")

    await slack.use_shortcut(ada, picture, SHORTCUT)

    notice = slack.workspace.messages[-1]
    assert notice.visible_to == ada.id
    assert "no words" in notice.text
    assert bot.accepted == []


# Answering


async def test_a_command_is_answered_in_a_thread_that_begins_with_asker_and_question(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    await slack.use_command(ada, general, COMMAND, "List &lt;every&gt; receipt @here")

    answer = await office.wait_for_answer()
    root, _ = office.posted_messages()
    assert root.thread_ts is None
    assert "Ada asked:List <every> receipt @here" in root.visible_text()
    assert (answer.channel, answer.thread_ts) == (general.id, root.ts)
    assert "42" in answer.visible_text()


async def test_the_root_message_and_the_answer_keep_slacks_post_interval(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    await slack.use_command(ada, general, COMMAND, "List every receipt")
    await office.wait_for_answer()

    assert [pause for pause in office.pauses.durations_s if 0 < pause <= MIN_POST_INTERVAL_S] != []


async def test_buttons_in_the_thread_of_a_command_work(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    await slack.use_command(ada, general, COMMAND, "List every receipt")
    clarification = await office.wait_for_answer()

    await slack.click_button(bob, clarification, "Bolt")

    answer = await office.wait_for_answer(2)
    assert answer.thread_ts == clarification.thread_ts
    assert "There are 5." in answer.visible_text()


async def test_a_follow_up_in_the_thread_of_a_command_is_answered(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    await slack.use_command(ada, general, COMMAND, "List every receipt")
    clarification = await office.wait_for_answer()

    await slack.post_as_person(ada, general, "<@U0PARLEY> Bolt", thread_ts=clarification.thread_ts)

    assert "There are 5." in (await office.wait_for_answer(2)).visible_text()


async def test_a_command_in_a_channel_without_the_app_is_answered_privately_with_a_note(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember
) -> None:
    await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")
    foreign_channel = slack.workspace.add_channel(SlackChannel(id="C2ELSE", members=[ada.id, bob.id]))

    await slack.use_command(ada, foreign_channel, COMMAND, "List every receipt")

    answer = await office.wait_for_answer()
    root = office.posted_messages()[0]
    assert {message.channel for message in office.posted_messages()} == {slack.workspace.direct_channel_of(ada.id).id}
    assert "I cannot write where you asked" in root.visible_text()
    assert "42" in answer.visible_text()


async def test_a_command_in_a_direct_message_is_answered_for_the_asker_alone(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember
) -> None:
    await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")

    await slack.use_command(ada, slack.workspace.direct_channel_of(ada.id), COMMAND, "List every receipt")
    await office.wait_for_answer()
    await slack.use_command(bob, slack.workspace.direct_channel_of(bob.id), COMMAND, "List every receipt")

    await slack.wait_until(
        lambda: any("Nothing here" in message.visible_text() for message in office.posted_messages())
    )
    assert "42" in office.posted_answers()[0].visible_text()
    assert len(office.posted_answers()) == 1


async def test_a_command_in_a_chat_of_two_people_is_answered_privately_to_the_asker(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember
) -> None:
    await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")
    chat_of_others = slack.workspace.add_channel(SlackChannel(id="D9THEIRS", kind="im", members=[bob.id, "U3CY"]))

    await slack.use_command(ada, chat_of_others, COMMAND, "List every receipt")

    assert (await office.wait_for_answer()).channel == slack.workspace.direct_channel_of(ada.id).id


@pytest.fixture
async def remark(slack: SlackServer, bob: SlackMember, general: SlackChannel) -> SlackMessage:
    return (await slack.post_as_person(bob, general, "List every receipt"))[0]


async def test_a_shortcut_is_answered_in_the_thread_of_its_message(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, remark: SlackMessage
) -> None:
    await slack.use_shortcut(ada, remark, SHORTCUT)

    answer = await office.wait_for_answer()
    assert (answer.channel, answer.thread_ts) == (remark.channel, remark.ts)
    assert office.posted_messages() == [answer]


async def test_a_shortcut_in_a_channel_without_the_app_is_answered_privately(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember
) -> None:
    await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")
    foreign_channel = slack.workspace.add_channel(SlackChannel(id="C2ELSE", members=[ada.id, bob.id]))
    remark, _ = await slack.post_as_person(bob, foreign_channel, "List every receipt")

    await slack.use_shortcut(ada, remark, SHORTCUT)

    answer = await office.wait_for_answer()
    assert answer.channel == slack.workspace.direct_channel_of(ada.id).id
    assert "I cannot write where you asked" in office.posted_messages()[0].visible_text()


async def test_a_command_in_a_channel_without_grants_reveals_nothing(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember
) -> None:
    await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")
    closed = slack.workspace.add_channel(SlackChannel(id="C3CLOSED", members=[ada.id, bob.id, "U0PARLEY"]))

    await slack.use_command(ada, closed, COMMAND, "List every receipt")

    await slack.wait_until(
        lambda: any("Nothing here" in message.visible_text() for message in office.posted_messages())
    )
    assert office.posted_answers() == []


async def test_an_unconfirmed_thread_is_begun_once_where_it_can_be_read(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember
) -> None:
    slack.plan_faults("chat.postMessage", Fault(takes_effect=True, status=503))
    await slack.use_command(ada, slack.workspace.direct_channel_of(ada.id), COMMAND, "List every receipt")

    placed = [
        await surface.threads.place_question(bot.accepted[0], TurnId("t1"), may_exist=is_retry)
        for is_retry in (False, True)
    ]

    [root] = slack.workspace.bot_messages()
    assert {inbound.address["thread_ts"] for inbound in placed} == {root.ts}
    assert not placed[0].needs_thread


async def test_a_command_in_a_direct_message_has_a_private_audience(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember
) -> None:
    await slack.use_command(ada, slack.workspace.direct_channel_of(ada.id), COMMAND, "receipts")

    [inbound] = bot.accepted
    assert inbound.audience == PrivateAudience(person=inbound.person, is_guest=True)


# A Slack that hangs


def threads_with_short_timeout(api: SlackApi, bot: InboxBot) -> SlackThreads:
    return SlackThreads(SingleWorkspace(build_workspace(api, bot.clock, bot.log)), timeout_s=0.2)


@pytest.fixture
async def command_inbound(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> Inbound:
    await slack.use_command(ada, general, COMMAND, "List receipts")
    return bot.accepted[0]


async def test_placing_a_question_has_a_timeout(
    command_inbound: Inbound, slack: SlackServer, api: SlackApi, bot: InboxBot
) -> None:
    slack.plan_faults("chat.postMessage", Fault(hang=True))

    with pytest.raises(OutboxFailed, match="in time") as failed:
        await threads_with_short_timeout(api, bot).place_question(command_inbound, TurnId("t1"), may_exist=False)
    assert failed.value.retry


async def test_opening_direct_messages_has_a_timeout(
    command_inbound: Inbound, slack: SlackServer, api: SlackApi, bot: InboxBot
) -> None:
    slack.plan_faults("conversations.open", Fault(hang=True))

    with pytest.raises(OutboxFailed, match="in time"):
        await threads_with_short_timeout(api, bot).find_private_address(command_inbound)


async def test_withdrawing_an_answer_has_a_timeout(
    command_inbound: Inbound, slack: SlackServer, api: SlackApi, bot: InboxBot, general: SlackChannel
) -> None:
    answer = SlackMessage(ts=slack.workspace.next_ts(), channel=general.id, user=BOT_USER, text="42")
    slack.workspace.messages.append(answer)
    slack.scopes |= slack.optional_scopes
    slack.plan_faults("chat.delete", Fault(hang=True))
    placed = replace(command_inbound, address={**command_inbound.address, "thread_ts": answer.ts})

    with pytest.raises(OutboxFailed, match="in time"):
        await threads_with_short_timeout(api, bot).withdraw_message(
            placed, MessageId(answer.ts), Reply(turn=TurnId("t1"), parts=())
        )

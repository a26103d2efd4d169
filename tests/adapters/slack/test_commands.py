"""Questions asked by the command and by the shortcut on a message: stored, acknowledged, answered in a thread."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.slack.api import SlackApi
from adapters.slack.app import SlackSurface
from adapters.slack.commands import COMMAND, SHORTCUT, USAGE
from adapters.slack.queue import APART_S
from adapters.slack.threads import SlackThreads
from adapters.slack.workspaces import OneWorkspace, workspace_with
from bot.ids import MessageId, PersonId, TurnId
from bot.inbound import Inbound, Private, Said, Shared
from bot.outbox import OutboxFailed
from bot.replies import Reply
from tests.adapters.slack.conftest import InboxBot
from tests.adapters.slack.office import Office, an_office
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, User


@pytest.fixture
async def office(slack: SlackServer, tmp_path: Path, general: Channel) -> AsyncIterator[Office]:
    async with an_office(slack, tmp_path / "home") as office:
        await office.open_channel(general)
        yield office


# Stored, then acknowledged


async def test_a_command_is_stored_before_it_is_acknowledged(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    delivered = await slack.command(ada, general, COMMAND, "receipts of <@U2BOB|bob> &gt; 5")

    [inbound] = bot.accepted
    assert (delivered.statuses, delivered.body) == ([200], "")
    assert inbound.body == Said("receipts of @bob > 5")
    assert inbound.person == PersonId(f"slack:{TEAM}:{ada.id}")
    assert isinstance(inbound.audience, Shared)
    assert inbound.unplaced


async def test_a_command_that_could_not_be_stored_is_not_acknowledged(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    bot.failures = 1

    delivered = await slack.command(ada, general, COMMAND, "receipts")

    assert delivered.statuses == [500]


@pytest.mark.parametrize("text", ["", "   ", "<@U0PARLEY>"])
async def test_a_command_without_a_question_tells_only_the_asker_how_to_use_it(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel, text: str
) -> None:
    await slack.command(ada, general, COMMAND, text)

    [told] = slack.workspace.messages
    assert told.text == USAGE
    assert told.only_for == ada.id
    assert bot.accepted == []


async def test_the_same_trigger_is_one_question(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
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


async def test_a_message_without_words_is_told_only_to_whoever_asked_about_it(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, bob: User, general: Channel
) -> None:
    picture, _ = await slack.say(bob, general, "")

    await slack.shortcut(ada, picture, SHORTCUT)

    told = slack.workspace.messages[-1]
    assert told.only_for == ada.id
    assert "no words" in told.text
    assert bot.accepted == []


# Answered


async def test_a_command_is_answered_in_a_thread_that_begins_with_who_asked_what(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    await slack.command(ada, general, COMMAND, "List &lt;every&gt; receipt @here")

    answer = await office.answer()
    root, _ = office.said()
    assert root.thread_ts is None
    assert "Ada asked:List <every> receipt @here" in root.words()
    assert (answer.channel, answer.thread_ts) == (general.id, root.ts)
    assert "42" in answer.words()


async def test_the_thread_and_its_answer_are_posted_as_far_apart_as_slack_wants(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    await slack.command(ada, general, COMMAND, "List every receipt")
    await office.answer()

    assert [pause for pause in office.pauses.taken if 0 < pause <= APART_S] != []


async def test_buttons_under_a_command_work_as_elsewhere(
    office: Office, slack: SlackServer, ada: User, bob: User, general: Channel
) -> None:
    await slack.command(ada, general, COMMAND, "List every receipt")
    asked = await office.answer()

    await slack.click(bob, asked, "Bolt")

    answer = await office.answer(2)
    assert answer.thread_ts == asked.thread_ts
    assert "There are 5." in answer.words()


async def test_a_word_in_the_thread_of_a_command_goes_on_with_it(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    await slack.command(ada, general, COMMAND, "List every receipt")
    asked = await office.answer()

    await slack.say(ada, general, "<@U0PARLEY> Bolt", thread_ts=asked.thread_ts)

    assert "There are 5." in (await office.answer(2)).words()


async def test_a_command_where_the_app_is_not_is_answered_in_private_saying_so(
    office: Office, slack: SlackServer, ada: User, bob: User
) -> None:
    await office.grant(f"user:slack:{TEAM}:{ada.id}")
    elsewhere = slack.workspace.add_channel(Channel(id="C2ELSE", members=[ada.id, bob.id]))

    await slack.command(ada, elsewhere, COMMAND, "List every receipt")

    answer = await office.answer()
    root = office.said()[0]
    assert {one.channel for one in office.said()} == {slack.workspace.direct(ada.id).id}
    assert "I cannot write where you asked" in root.words()
    assert "42" in answer.words()


async def test_a_command_in_private_is_answered_for_the_asker_alone(
    office: Office, slack: SlackServer, ada: User, bob: User
) -> None:
    await office.grant(f"user:slack:{TEAM}:{ada.id}")

    await slack.command(ada, slack.workspace.direct(ada.id), COMMAND, "List every receipt")
    await office.answer()
    await slack.command(bob, slack.workspace.direct(bob.id), COMMAND, "List every receipt")

    await slack.until(lambda: any("Nothing here" in one.words() for one in office.said()))
    assert "42" in office.answers()[0].words()
    assert len(office.answers()) == 1


async def test_a_command_between_two_people_is_answered_to_the_one_who_asked(
    office: Office, slack: SlackServer, ada: User, bob: User
) -> None:
    await office.grant(f"user:slack:{TEAM}:{ada.id}")
    theirs = slack.workspace.add_channel(Channel(id="D9THEIRS", kind="im", members=[bob.id, "U3CY"]))

    await slack.command(ada, theirs, COMMAND, "List every receipt")

    assert (await office.answer()).channel == slack.workspace.direct(ada.id).id


@pytest.fixture
async def remark(slack: SlackServer, bob: User, general: Channel) -> Message:
    return (await slack.say(bob, general, "List every receipt"))[0]


async def test_a_message_is_asked_about_in_its_own_thread(
    office: Office, slack: SlackServer, ada: User, remark: Message
) -> None:
    await slack.shortcut(ada, remark, SHORTCUT)

    answer = await office.answer()
    assert (answer.channel, answer.thread_ts) == (remark.channel, remark.ts)
    assert office.said() == [answer]


async def test_a_message_where_the_app_is_not_is_asked_about_in_private(
    office: Office, slack: SlackServer, ada: User, bob: User
) -> None:
    await office.grant(f"user:slack:{TEAM}:{ada.id}")
    elsewhere = slack.workspace.add_channel(Channel(id="C2ELSE", members=[ada.id, bob.id]))
    remark, _ = await slack.say(bob, elsewhere, "List every receipt")

    await slack.shortcut(ada, remark, SHORTCUT)

    answer = await office.answer()
    assert answer.channel == slack.workspace.direct(ada.id).id
    assert "I cannot write where you asked" in office.said()[0].words()


async def test_a_channel_that_may_see_nothing_is_told_nothing(
    office: Office, slack: SlackServer, ada: User, bob: User
) -> None:
    await office.grant(f"user:slack:{TEAM}:{ada.id}")
    closed = slack.workspace.add_channel(Channel(id="C3CLOSED", members=[ada.id, bob.id, "U0PARLEY"]))

    await slack.command(ada, closed, COMMAND, "List every receipt")

    await slack.until(lambda: any("Nothing here" in one.words() for one in office.said()))
    assert office.answers() == []


async def test_a_thread_that_slack_did_not_confirm_is_begun_once_where_it_can_be_looked_up(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User
) -> None:
    slack.fail("chat.postMessage", Fault(done=True, status=503))
    await slack.command(ada, slack.workspace.direct(ada.id), COMMAND, "List every receipt")

    placed = [await surface.threads.place(bot.accepted[0], TurnId("t1"), again=again) for again in (False, True)]

    [root] = slack.workspace.answers()
    assert {one.address["thread_ts"] for one in placed} == {root.ts}
    assert not placed[0].unplaced


async def test_a_channel_keeps_its_audience_whoever_asks_privately(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User
) -> None:
    await slack.command(ada, slack.workspace.direct(ada.id), COMMAND, "receipts")

    [inbound] = bot.accepted
    assert inbound.audience == Private(person=inbound.person, guest=True)


# A Slack that hangs


def impatient(api: SlackApi, bot: InboxBot) -> SlackThreads:
    return SlackThreads(OneWorkspace(workspace_with(api, bot.clock, bot.log)), patience_s=0.2)


@pytest.fixture
async def asked(surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel) -> Inbound:
    await slack.command(ada, general, COMMAND, "List receipts")
    return bot.accepted[0]


async def test_a_place_for_a_question_is_not_waited_for_forever(
    asked: Inbound, slack: SlackServer, api: SlackApi, bot: InboxBot
) -> None:
    slack.fail("chat.postMessage", Fault(hang=True))

    with pytest.raises(OutboxFailed, match="in time") as failed:
        await impatient(api, bot).place(asked, TurnId("t1"), again=False)
    assert failed.value.retry


async def test_direct_messages_are_not_waited_for_forever(
    asked: Inbound, slack: SlackServer, api: SlackApi, bot: InboxBot
) -> None:
    slack.fail("conversations.open", Fault(hang=True))

    with pytest.raises(OutboxFailed, match="in time"):
        await impatient(api, bot).alone(asked)


async def test_a_withdrawal_is_not_waited_for_forever(
    asked: Inbound, slack: SlackServer, api: SlackApi, bot: InboxBot, general: Channel
) -> None:
    answer = Message(ts=slack.workspace.next_ts(), channel=general.id, user=BOT_USER, text="42")
    slack.workspace.messages.append(answer)
    slack.scopes |= slack.optional_scopes
    slack.fail("chat.delete", Fault(hang=True))
    there = replace(asked, address={**asked.address, "thread_ts": answer.ts})

    with pytest.raises(OutboxFailed, match="in time"):
        await impatient(api, bot).withdraw(there, MessageId(answer.ts), Reply(turn=TurnId("t1"), parts=()))

"""What only the asker may see, offered in a channel and answered where nobody else reads."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.codec import inbound_from_json
from bot.dialogue import asked_alone, failed, spoken_from_json, spoken_to_json
from bot.ids import ConversationId, MessageId, PersonId, Subject, TurnId
from bot.inbound import Inbound, Outsiders, Said, Shared
from tests.adapters.slack.office import Office, an_office
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, User

QUESTION = f"<@{BOT_USER}> List &lt;every&gt; receipt"
BUTTON = "Continue in private"


@pytest.fixture
async def office(slack: SlackServer, tmp_path: Path, ada: User) -> AsyncIterator[Office]:
    async with an_office(slack, tmp_path / "home") as office:
        await office.grant(f"user:slack:{TEAM}:{ada.id}")
        yield office


async def refused(office: Office, user: User, channel: Channel) -> Message:
    await office.slack.say(user, channel, QUESTION)
    await office.slack.until(lambda: any("Nothing here" in one.words() for one in office.said()))
    return next(one for one in office.said() if "Nothing here" in one.words())


def labels(message: Message) -> list[str]:
    return [button["text"]["text"] for button in message.buttons()]


async def said_in(office: Office, channel: Channel, words: str) -> Message:
    def there() -> list[Message]:
        return [one for one in office.slack.workspace.answers(channel.id) if words in one.words()]

    await office.slack.until(lambda: bool(there()))
    return there()[0]


async def test_what_only_the_asker_may_see_goes_on_in_their_direct_messages(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    asked = await refused(office, ada, general)

    assert labels(asked) == [BUTTON]

    await slack.click(ada, asked, BUTTON)
    direct = slack.workspace.direct(ada.id)
    answer = await said_in(office, direct, "I found 42")
    told = await said_in(office, general, "goes on")

    [root, *_] = slack.workspace.answers(direct.id)
    assert "List <every> receipt" in root.words()
    assert (root.thread_ts, answer.thread_ts) == (None, root.ts)
    assert told.words() == "This goes on in a direct message, where only you read the answer."
    assert told.buttons() == []
    assert not [one for one in slack.workspace.answers(general.id) if "42" in one.words() or "Acme" in one.words()]


async def test_the_answer_in_private_can_be_followed_up_there(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    await slack.click(ada, await refused(office, ada, general), BUTTON)
    direct = slack.workspace.direct(ada.id)
    asked_back = await said_in(office, direct, "I found 42")

    await slack.click(ada, asked_back, "Bolt · 5")

    assert (await said_in(office, direct, "There are 5")).thread_ts == asked_back.thread_ts


async def test_whoever_clicks_sees_in_private_what_they_may_see_themselves(
    office: Office, slack: SlackServer, ada: User, bob: User, general: Channel
) -> None:
    await slack.click(bob, await refused(office, ada, general), BUTTON)
    direct = slack.workspace.direct(bob.id)

    answer = await said_in(office, direct, "Nothing here")

    assert answer.buttons() == []
    assert [one for one in slack.workspace.channels.values() if one.kind == "im"] == [direct]


async def test_where_alone_they_see_no_more_nothing_is_offered(
    office: Office, slack: SlackServer, bob: User, general: Channel
) -> None:
    assert labels(await refused(office, bob, general)) == []


async def test_what_a_channel_may_see_is_answered_there_and_the_rest_offered(
    office: Office, slack: SlackServer, ada: User, bob: User, general: Channel
) -> None:
    await office.open_channel(general)
    await slack.say(bob, general, QUESTION)
    of_bob = await office.answer(1)

    assert BUTTON not in labels(of_bob)


async def test_somebody_who_cannot_be_written_to_is_told_how(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    asked = await refused(office, ada, general)
    slack.scopes -= {"im:write"}

    await slack.click(ada, asked, BUTTON)

    assert await said_in(office, general, "Write to me in a direct message")
    assert slack.workspace.answers(slack.workspace.direct(ada.id).id) == []


async def test_a_turn_that_leads_to_another_is_kept_with_it(general: Channel) -> None:
    now = datetime(2031, 5, 9, 12, tzinfo=UTC)
    inbound = Inbound(
        surface="slack",
        event_id="e1",
        conversation=ConversationId("slack:T1:C1:1"),
        message_id=MessageId("1"),
        person=PersonId("slack:T1:U1"),
        name="Ada",
        audience=Shared(channel=Subject("channel:slack:T1:C1"), outsiders=Outsiders.NONE),
        body=Said("List"),
        received=now,
    )
    begins = asked_alone(inbound, TurnId("t1"), "List", {"channel": "D1", "user": "U1"}, now)
    spoken = replace(failed(inbound, TurnId("t1"), "."), begins=begins)

    kept = spoken_to_json(spoken)

    assert spoken_from_json(kept).begins == begins
    assert inbound_from_json(kept["begins"]) == begins

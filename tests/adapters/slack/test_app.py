"""Slack over signed HTTP, as the bot sees it: who said what, where, and who will read the answer."""

import json
from typing import Any

import pytest

from adapters.slack.api import SlackApi
from adapters.slack.app import SlackSurface
from adapters.slack.app import surface as slack_surface
from adapters.slack.directory import Directory
from adapters.slack.inbound import plain
from bot.directory import Directories
from bot.errors import InvalidSettings
from bot.ids import ChoiceId, ClarificationId, ConversationId, PersonId, Subject, TurnId
from bot.inbound import Clicked, Inbound, Outsiders, Private, Said, Shared
from bot.replies import Button, Choices, Reply, Text
from bot.surfaces import SurfaceFactory
from tests.adapters.slack.conftest import InboxBot, Pauses, SlackTestSettings, a_surface, served
from tests.adapters.slack.test_render import NOON
from tests.stand_ins.slack.server import TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_ID, BOT_USER, TEAM, Channel, Message, User

pytestmark = pytest.mark.usefixtures("surface")

QUESTION = f"<@{BOT_USER}> List every tire receipt &gt; 5 &amp; more"


# Who asks what, and where


async def test_a_mention_is_a_question_to_the_channel(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    message, [delivered] = await slack.say(ada, general, QUESTION)

    [inbound] = bot.accepted
    assert delivered.statuses == [200]
    assert inbound.body == Said("List every tire receipt > 5 & more")
    assert inbound.person == PersonId(f"slack:{TEAM}:{ada.id}")
    assert inbound.conversation == ConversationId(f"slack:{TEAM}:{general.id}:{message.ts}")
    channel = Subject(f"channel:slack:{TEAM}:{general.id}")
    assert inbound.audience == Shared(channel=channel, outsiders=Outsiders.UNKNOWN)
    assert inbound.address == {"team": TEAM, "channel": general.id, "thread_ts": message.ts, "ts": message.ts}


async def test_nothing_is_looked_up_before_a_question_is_stored(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    await slack.say(ada, general, QUESTION)

    assert len(bot.accepted) == 1
    assert {call.method for call in slack.calls} == {"auth.test"}


async def test_when_its_turn_runs_the_asker_is_as_slack_describes_them(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    await slack.say(ada, general, QUESTION)

    inbound = await present(surface, bot.accepted[0])

    assert inbound.name == "Ada"
    assert (inbound.locale, inbound.time_zone) == ("de-DE", "Europe/Berlin")
    assert outsiders(inbound.audience) is Outsiders.NONE


async def test_a_mention_in_a_thread_stays_in_its_thread(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    root, _ = await slack.say(ada, general, "no mention here")
    await slack.say(ada, general, f"and <@{BOT_USER}|parley> now?", thread_ts=root.ts)

    [inbound] = bot.accepted
    assert inbound.conversation == ConversationId(f"slack:{TEAM}:{general.id}:{root.ts}")
    assert inbound.address["thread_ts"] == root.ts
    assert inbound.body == Said("and now?")


async def test_a_direct_message_is_a_question_in_private(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User
) -> None:
    direct = slack.workspace.direct(ada.id)

    root, _ = await slack.say(ada, direct, "List receipts")
    await slack.say(ada, direct, "only 2024", thread_ts=root.ts)

    first, second = bot.accepted
    assert first.audience == Private(person=PersonId(f"slack:{TEAM}:{ada.id}"), guest=True)
    assert (await present(surface, first)).audience == Private(person=PersonId(f"slack:{TEAM}:{ada.id}"))
    assert second.conversation == first.conversation
    assert second.body == Said("only 2024")


async def test_a_message_with_a_file_is_a_question_too(slack: SlackServer, bot: InboxBot, ada: User) -> None:
    await slack.say(ada, slack.workspace.direct(ada.id), "and this?", subtype="file_share")

    assert [inbound.body for inbound in bot.accepted] == [Said("and this?")]


@pytest.mark.parametrize(
    "extra",
    [
        {"bot_id": "B9OTHER"},
        {"bot_id": BOT_ID},
        {"subtype": "message_changed"},
        {"subtype": "bot_message"},
        {"subtype": "channel_join"},
    ],
)
async def test_bots_and_housekeeping_are_acknowledged_and_ignored(
    slack: SlackServer, bot: InboxBot, ada: User, extra: dict[str, Any]
) -> None:
    _, [delivered] = await slack.say(ada, slack.workspace.direct(ada.id), "beep", **extra)

    assert delivered.statuses == [200]
    assert bot.accepted == []


async def test_its_own_words_are_ignored(slack: SlackServer, bot: InboxBot, ada: User) -> None:
    own = User(id=BOT_USER, name="parley")

    _, [delivered] = await slack.say(own, slack.workspace.direct(ada.id), "an answer")

    assert delivered.statuses == [200]
    assert bot.accepted == []


async def test_an_event_nobody_handles_is_acknowledged(slack: SlackServer, bot: InboxBot, general: Channel) -> None:
    delivered = await slack.deliver_event({"type": "pin_added", "channel": general.id, "user": "U1ADA"})

    assert delivered.statuses == [200]
    assert bot.accepted == []


async def test_the_endpoint_answers_slacks_challenge(slack: SlackServer) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc", "token": "x"}).encode()

    status, answer = await slack.send(body, {"Content-Type": "application/json", **slack.signed(body)})

    assert (status, json.loads(answer)) == (200, {"challenge": "abc"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<@U0PARLEY> what?", "what?"),
        ("what does <@U0PARLEY|parley> say?", "what does say?"),
        ("ask <@U2BOB> or <@U2BOB|Bob>", "ask @U2BOB or @Bob"),
        ("in <#C1|general> and <#C1|>", "in #general and #C1"),
        ("<!here> <!subteam^S1|@buyers> <!date^1^{date}|today>", "@here @buyers today"),
        ("see <https://example.org/a?b=1&amp;c=2|this> or <https://example.org>", "see this or https://example.org"),
        ("<mailto:ada@example.org|ada@example.org>", "ada@example.org"),
        ("a &lt;@U0PARLEY&gt; &amp;lt; b", "a <@U0PARLEY> &lt; b"),
        ("who wrote the Parley manual?", "who wrote the Parley manual?"),
        ("<@U0PARLEY>", ""),
        ("two\n  lines\t here ", "two\nlines here"),
    ],
)
def test_a_question_is_read_as_a_person_reads_it(text: str, words: str) -> None:
    assert plain(text, BOT_USER) == words


# Once


async def test_a_message_under_eleven_event_ids_is_one_question(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    _, delivered = await slack.say(ada, general, QUESTION, deliveries=11)

    assert [one.statuses for one in delivered] == [[200]] * 11
    assert len(bot.accepted) == 1


async def test_a_mention_that_comes_as_two_events_is_one_question(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    slack.events |= {"message.channels"}
    slack.scopes |= {"channels:history"}

    _, delivered = await slack.say(ada, general, QUESTION)

    assert [one.statuses for one in delivered] == [[200], [200]]
    assert len(bot.accepted) == 1


async def test_what_could_not_be_stored_is_not_acknowledged_and_comes_again(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    bot.failures = 2

    _, [delivered] = await slack.say(ada, general, QUESTION)

    assert delivered.statuses == [500, 500, 200]
    assert bot.lines == [{"level": "error", "event": "slack delivery failed", "error": "StoreDown"}] * 2
    assert len(bot.accepted) == 1


async def test_slack_is_asked_of_anybody_once(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    for _ in range(3):
        await slack.say(ada, general, QUESTION)
    for inbound in bot.accepted:
        await present(surface, inbound)

    assert len(slack.called("auth.test")) == 1
    assert len(slack.called("conversations.members")) == 1
    assert len([call for call in slack.called("users.info") if call["user"] == ada.id]) == 1


# Who will read the answer


async def test_a_guest_in_the_channel_is_an_outsider(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    guest = slack.workspace.add_user(User(id="U9GUEST", name="Guest", is_guest=True))
    general.members.append(guest.id)

    await slack.say(ada, general, QUESTION)

    assert await read_by(surface, bot) == [Outsiders.SOME]


async def test_somebody_of_another_workspace_is_an_outsider(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    stranger = slack.workspace.add_user(User(id="U9STRANGE", name="Stranger", team="T9OTHER"))
    general.members.append(stranger.id)

    await slack.say(stranger, general, QUESTION)

    [inbound] = bot.accepted
    assert inbound.person == PersonId(f"slack:T9OTHER:{stranger.id}")
    assert await read_by(surface, bot) == [Outsiders.SOME]


async def test_a_channel_shared_with_another_organisation_has_outsiders(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    general.is_ext_shared = True

    await slack.say(ada, general, QUESTION)

    assert await read_by(surface, bot) == [Outsiders.SOME]


async def test_readers_that_cannot_be_told_are_unknown(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    slack.fail("conversations.info", *[Fault(status=503)] * 3)

    await slack.say(ada, general, QUESTION)

    assert await read_by(surface, bot) == [Outsiders.UNKNOWN]


async def test_a_slack_that_hangs_closes_the_channel(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    slack.fail("users.info", *[Fault(hang=True)] * 3)
    slack.fail("conversations.members", Fault(hang=True))

    await slack.say(ada, general, QUESTION)

    assert await read_by(surface, bot) == [Outsiders.UNKNOWN]


async def test_too_many_readers_to_look_at_are_unknown(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    general.members += [f"U{n}" for n in range(101)]

    await slack.say(ada, general, QUESTION)

    assert await read_by(surface, bot) == [Outsiders.UNKNOWN]
    assert {call["user"] for call in slack.called("users.info")} == {ada.id}


async def test_a_guest_asks_in_private_as_a_guest(surface: SlackSurface, slack: SlackServer, bot: InboxBot) -> None:
    guest = slack.workspace.add_user(User(id="U9GUEST", name="Guest", is_guest=True))

    await slack.say(guest, slack.workspace.direct(guest.id), "List receipts")

    inbound = await present(surface, bot.accepted[0])
    assert inbound.audience == Private(person=PersonId(f"slack:{TEAM}:{guest.id}"), guest=True)


async def test_somebody_slack_cannot_describe_counts_as_a_guest(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User
) -> None:
    slack.fail("users.info", *[Fault(status=500)] * 6)

    await slack.say(ada, slack.workspace.direct(ada.id), "List receipts")

    inbound = await present(surface, bot.accepted[0])
    assert inbound.audience == Private(person=PersonId(f"slack:{TEAM}:{ada.id}"), guest=True)


async def test_somebody_deactivated_is_gone(surface: SlackSurface, slack: SlackServer, bot: InboxBot) -> None:
    left = slack.workspace.add_user(User(id="U9LEFT", name="Lee", deleted=True))

    await slack.say(left, slack.workspace.direct(left.id), "List receipts")

    inbound = await present(surface, bot.accepted[0])
    assert inbound.audience == Private(person=PersonId(f"slack:{TEAM}:{left.id}"), guest=True, gone=True)


async def test_people_of_an_enterprise_grid_are_named_after_it(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, api: SlackApi
) -> None:
    slack.workspace.enterprise = "E1GRID"
    colleague = slack.workspace.add_user(User(id="W1", name="Cy", team="T2SISTER", enterprise="E1GRID"))

    directory = Directory(api, bot.clock, bot.log)
    person = await directory.person(colleague.id)

    assert await directory.person_id(colleague.id, "T2SISTER") == PersonId(f"slack:E1GRID:{colleague.id}")
    assert person is not None
    assert not person.guest


async def present(surface: SlackSurface, inbound: Inbound) -> Inbound:
    """As the turn sees it when it runs."""
    directories = Directories()
    directories.ask("slack", surface.directory)
    return await directories.present(inbound)


async def read_by(surface: SlackSurface, bot: InboxBot) -> list[Outsiders | None]:
    return [outsiders((await present(surface, inbound)).audience) for inbound in bot.accepted]


def outsiders(audience: object) -> Outsiders | None:
    return audience.outsiders if isinstance(audience, Shared) else None


# Clicks


async def an_offer(surface: SlackSurface, channel: str, thread: str) -> None:
    reply = Reply(
        turn=TurnId("turn-1"),
        parts=(
            Text(markdown="1,042 receipts. Which vendor?"),
            Choices(
                clarification=ClarificationId("c1"),
                buttons=(Button(id=ChoiceId("opaque-1"), label="Acme", count=512, kind="filter"),),
                expires=NOON,
            ),
        ),
    )
    address = {"channel": channel, "thread_ts": thread, "ts": thread}
    await surface.outbox.post(ConversationId("any"), address, reply)


@pytest.fixture
async def offered(surface: SlackSurface, slack: SlackServer, ada: User, general: Channel) -> Message:
    question, _ = await slack.say(ada, general, QUESTION)
    await an_offer(surface, general.id, question.ts)
    return slack.workspace.answers()[-1]


async def test_a_click_is_the_clickers_own_turn_in_the_same_conversation(
    slack: SlackServer, bot: InboxBot, bob: User, offered: Message
) -> None:
    delivered = await slack.click(bob, offered, "Acme · 512")

    asked, clicked = bot.accepted
    assert delivered.statuses == [200]
    assert clicked.body == Clicked(ChoiceId("opaque-1"))
    assert clicked.person == PersonId(f"slack:{TEAM}:{bob.id}")
    assert clicked.conversation == asked.conversation
    assert clicked.audience == asked.audience
    assert clicked.address["thread_ts"] == asked.address["thread_ts"]
    assert clicked.address["response_url"].startswith("http")


async def test_two_clicks_are_two_turns(slack: SlackServer, bot: InboxBot, bob: User, offered: Message) -> None:
    await slack.click(bob, offered, "Acme")
    await slack.click(bob, offered, "Acme")

    assert len({inbound.message_id for inbound in bot.accepted}) == 3


@pytest.mark.parametrize("action", ["unclarify:1", "clarify:1x", "clarify:", "clarify:1\n"])
async def test_a_button_that_is_called_much_like_a_choice_is_none(
    slack: SlackServer, bot: InboxBot, bob: User, offered: Message, action: str
) -> None:
    before = len(bot.accepted)
    await slack.deliver_action(bob, offered, {**offered.buttons()[0], "action_id": action})

    assert len(bot.accepted) == before


async def test_a_click_that_could_not_be_stored_is_not_acknowledged(
    slack: SlackServer, bot: InboxBot, bob: User, offered: Message
) -> None:
    bot.failures = 1

    delivered = await slack.click(bob, offered, "Acme")

    assert delivered.statuses == [500]


# Who may deliver

BODY = json.dumps({"type": "event_callback", "event_id": "Ev1", "event": {}}).encode()


async def test_a_wrong_signature_is_refused(slack: SlackServer) -> None:
    status, _ = await slack.send(BODY, slack.signed(BODY, secret="another"))
    assert status == 401


async def test_no_signature_is_refused(slack: SlackServer) -> None:
    status, _ = await slack.send(BODY, {"Content-Type": "application/json"})
    assert status == 401


async def test_a_signature_over_other_words_is_refused(slack: SlackServer) -> None:
    status, _ = await slack.send(BODY + b" ", slack.signed(BODY))
    assert status == 401


@pytest.mark.parametrize("age_s", [301, -301])
async def test_an_old_or_future_delivery_is_refused(slack: SlackServer, age_s: float) -> None:
    status, _ = await slack.send(BODY, slack.signed(BODY, age_s=age_s))
    assert status == 401


@pytest.mark.parametrize("timestamp", ["soon", "", "9" * 40, "١٢٣"])
async def test_a_timestamp_that_is_no_number_is_refused(slack: SlackServer, timestamp: str) -> None:
    headers = {**slack.signed(BODY), "X-Slack-Request-Timestamp": timestamp}
    status, _ = await slack.send(BODY, headers)
    assert status == 401


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "text/plain"])
@pytest.mark.parametrize("body", [b"payload={", b"not json", b"[1]", b"", b"\xff\xfe", b"[" * 100_000])
async def test_what_is_signed_but_makes_no_sense_is_a_bad_request(slack: SlackServer, kind: str, body: bytes) -> None:
    status, _ = await slack.send(body, {"Content-Type": kind, **slack.signed(body)})
    assert status == 400


# Set up

FACTORY: SurfaceFactory = slack_surface  # checked by pyright


def test_without_a_bot_token_there_is_no_slack(slack: SlackServer) -> None:
    assert slack_surface(InboxBot(SlackTestSettings(slack_api_url=slack.api_url, slack_bot_token=None))) is None


def test_a_token_without_the_signing_secret_is_an_error(slack: SlackServer) -> None:
    settings = SlackTestSettings(slack_api_url=slack.api_url, slack_signing_secret=None)

    with pytest.raises(InvalidSettings, match="SLACK_SIGNING_SECRET"):
        slack_surface(InboxBot(settings))


async def test_a_token_that_slack_refuses_is_said_at_the_start(slack: SlackServer, bot: InboxBot) -> None:
    api = SlackApi(token="xoxb-wrong", base_url=slack.api_url)

    with pytest.raises(InvalidSettings, match="invalid_auth"):
        await a_surface(bot, api).start()


async def test_while_slack_does_not_say_who_we_are_deliveries_are_put_off(
    slack: SlackServer, bot: InboxBot, ada: User, pauses: Pauses
) -> None:
    slack.fail("auth.test", *[Fault(status=503)] * 6)
    api = SlackApi(token=TOKEN, base_url=slack.api_url, pause=pauses)

    async with served(a_surface(bot, api), slack):
        _, [delivered] = await slack.say(ada, slack.workspace.direct(ada.id), "List receipts")

    assert delivered.statuses == [503, 200]
    assert len(bot.accepted) == 1

"""Slack over signed HTTP, as the bot sees it: the asker, the question, the conversation and the audience."""

import json
from typing import Any

import pytest

from adapters.slack.app import SlackSurface
from adapters.slack.app import surface as slack_surface
from adapters.slack.events.messages import plain_text_of
from adapters.slack.posting.api import SlackApi
from adapters.slack.workspaces.workspace_directory import WorkspaceDirectory
from bot.errors import InvalidSettings
from bot.ids import ChoiceId, ClarificationId, ConversationId, PersonId, Subject, TurnId
from bot.surface.inbound import ButtonClick, ChannelAudience, Inbound, OutsiderPresence, PrivateAudience, TextMessage
from bot.surface.product_directories import ProductDirectories
from bot.surface.replies import ChoiceButton, ChoicesPart, Reply, TextPart
from bot.surface.surface import SurfaceFactory
from bot.surface.surface_registry import SurfaceRegistry
from tests.adapters.slack.conftest import InboxBot, RecordedPauses, SlackTestSettings, build_surface, serve_surface
from tests.adapters.slack.gallery import NOON
from tests.stand_ins.slack.server import TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_ID, BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage

pytestmark = pytest.mark.usefixtures("surface")

QUESTION = f"<@{BOT_USER}> List every tire receipt &gt; 5 &amp; more"


# Questions and conversations


async def test_a_mention_is_a_question_to_the_channel(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    message, [delivered] = await slack.post_as_person(ada, general, QUESTION)

    [inbound] = bot.accepted
    assert delivered.statuses == [200]
    assert inbound.body == TextMessage("List every tire receipt > 5 & more")
    assert inbound.person == PersonId(f"slack:{TEAM}:{ada.id}")
    assert inbound.conversation == ConversationId(f"slack:{TEAM}:{general.id}:{message.ts}")
    channel = Subject(f"channel:slack:{TEAM}:{general.id}")
    assert inbound.audience == ChannelAudience(channel=channel, outsiders=OutsiderPresence.UNKNOWN)
    assert inbound.address == {"team": TEAM, "channel": general.id, "thread_ts": message.ts, "ts": message.ts}


async def test_nothing_is_looked_up_before_a_question_is_stored(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    await slack.post_as_person(ada, general, QUESTION)

    assert len(bot.accepted) == 1
    assert {call.method for call in slack.calls} == {"auth.test"}


async def test_the_asker_is_described_by_slack_when_the_turn_runs(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    await slack.post_as_person(ada, general, QUESTION)

    inbound = await refreshed_inbound(surface, bot.accepted[0])

    assert inbound.person_name == "Ada"
    assert (inbound.locale, inbound.time_zone) == ("de-DE", "Europe/Berlin")
    assert outsiders_in(inbound.audience) is OutsiderPresence.NONE


async def test_a_mention_in_a_thread_belongs_to_that_thread(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    root, _ = await slack.post_as_person(ada, general, "no mention here")
    await slack.post_as_person(ada, general, f"and <@{BOT_USER}|parley> now?", thread_ts=root.ts)

    [inbound] = bot.accepted
    assert inbound.conversation == ConversationId(f"slack:{TEAM}:{general.id}:{root.ts}")
    assert inbound.address["thread_ts"] == root.ts
    assert inbound.body == TextMessage("and now?")


async def test_a_direct_message_is_a_question_in_private(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember
) -> None:
    direct = slack.workspace.direct_channel_of(ada.id)

    root, _ = await slack.post_as_person(ada, direct, "List receipts")
    await slack.post_as_person(ada, direct, "only 2024", thread_ts=root.ts)

    first, second = bot.accepted
    assert first.audience == PrivateAudience(person=PersonId(f"slack:{TEAM}:{ada.id}"), is_guest=True)
    assert (await refreshed_inbound(surface, first)).audience == PrivateAudience(
        person=PersonId(f"slack:{TEAM}:{ada.id}")
    )
    assert second.conversation == first.conversation
    assert second.body == TextMessage("only 2024")


async def test_a_message_with_a_file_is_a_question_too(slack: SlackServer, bot: InboxBot, ada: SlackMember) -> None:
    await slack.post_as_person(ada, slack.workspace.direct_channel_of(ada.id), "and this?", subtype="file_share")

    assert [inbound.body for inbound in bot.accepted] == [TextMessage("and this?")]


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
async def test_bots_and_system_messages_are_acknowledged_and_ignored(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, extra: dict[str, Any]
) -> None:
    _, [delivered] = await slack.post_as_person(ada, slack.workspace.direct_channel_of(ada.id), "beep", **extra)

    assert delivered.statuses == [200]
    assert bot.accepted == []


async def test_its_own_messages_are_ignored(slack: SlackServer, bot: InboxBot, ada: SlackMember) -> None:
    bot_user = SlackMember(id=BOT_USER, name="parley")

    _, [delivered] = await slack.post_as_person(bot_user, slack.workspace.direct_channel_of(ada.id), "an answer")

    assert delivered.statuses == [200]
    assert bot.accepted == []


async def test_an_unhandled_event_is_acknowledged(slack: SlackServer, bot: InboxBot, general: SlackChannel) -> None:
    delivered = await slack.deliver_event({"type": "pin_added", "channel": general.id, "user": "U1ADA"})

    assert delivered.statuses == [200]
    assert bot.accepted == []


async def test_the_endpoint_answers_slacks_challenge(slack: SlackServer) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc", "token": "x"}).encode()

    status, answer = await slack.send_request(
        body, {"Content-Type": "application/json", **slack.signature_headers(body)}
    )

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
def test_a_question_has_the_text_that_a_person_reads(text: str, words: str) -> None:
    assert plain_text_of(text, BOT_USER) == words


# Duplicates


async def test_a_message_delivered_with_eleven_event_ids_is_one_question(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    _, delivered = await slack.post_as_person(ada, general, QUESTION, deliveries=11)

    assert [delivery.statuses for delivery in delivered] == [[200]] * 11
    assert len(bot.accepted) == 1


async def test_a_mention_delivered_as_two_events_is_one_question(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    slack.events |= {"message.channels"}
    slack.scopes |= {"channels:history"}

    _, delivered = await slack.post_as_person(ada, general, QUESTION)

    assert [delivery.statuses for delivery in delivered] == [[200], [200]]
    assert len(bot.accepted) == 1


async def test_an_event_that_cannot_be_stored_is_not_acknowledged_and_is_repeated(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    bot.remaining_failures = 2

    _, [delivered] = await slack.post_as_person(ada, general, QUESTION)

    assert delivered.statuses == [500, 500, 200]
    assert bot.log_lines[0] == {"level": "error", "event": "slack delivery failed", "error": "StoreDown"}
    assert {line["event"] for line in bot.log_lines} == {"slack delivery failed"}
    assert len(bot.accepted) == 1


async def test_each_person_is_looked_up_once(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    for _ in range(3):
        await slack.post_as_person(ada, general, QUESTION)
    for inbound in bot.accepted:
        await refreshed_inbound(surface, inbound)

    assert len(slack.calls_of("auth.test")) == 1
    assert len(slack.calls_of("conversations.members")) == 1
    assert len([call for call in slack.calls_of("users.info") if call["user"] == ada.id]) == 1


# Audiences


async def test_a_guest_in_the_channel_is_an_outsider(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    guest = slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True))
    general.members.append(guest.id)

    await slack.post_as_person(ada, general, QUESTION)

    assert await outsiders_of_accepted(surface, bot) == [OutsiderPresence.SOME]


async def test_a_person_of_another_workspace_is_an_outsider(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    stranger = slack.workspace.add_user(SlackMember(id="U9STRANGE", name="Stranger", team="T9OTHER"))
    general.members.append(stranger.id)

    await slack.post_as_person(stranger, general, QUESTION)

    [inbound] = bot.accepted
    assert inbound.person == PersonId(f"slack:T9OTHER:{stranger.id}")
    assert await outsiders_of_accepted(surface, bot) == [OutsiderPresence.SOME]


async def test_a_channel_shared_with_another_organisation_has_outsiders(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    general.is_ext_shared = True

    await slack.post_as_person(ada, general, QUESTION)

    assert await outsiders_of_accepted(surface, bot) == [OutsiderPresence.SOME]


async def test_readers_are_unknown_when_slack_fails(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    slack.plan_faults("conversations.info", *[Fault(status=503)] * 3)

    await slack.post_as_person(ada, general, QUESTION)

    assert await outsiders_of_accepted(surface, bot) == [OutsiderPresence.UNKNOWN]


async def test_readers_are_unknown_when_slack_hangs(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    slack.plan_faults("users.info", *[Fault(hang=True)] * 3)
    slack.plan_faults("conversations.members", Fault(hang=True))

    await slack.post_as_person(ada, general, QUESTION)

    assert await outsiders_of_accepted(surface, bot) == [OutsiderPresence.UNKNOWN]


async def test_too_many_readers_are_unknown(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    general.members += [f"U{n}" for n in range(101)]

    await slack.post_as_person(ada, general, QUESTION)

    assert await outsiders_of_accepted(surface, bot) == [OutsiderPresence.UNKNOWN]
    assert {call["user"] for call in slack.calls_of("users.info")} == {ada.id}


async def test_a_guest_asks_in_private_as_a_guest(surface: SlackSurface, slack: SlackServer, bot: InboxBot) -> None:
    guest = slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True))

    await slack.post_as_person(guest, slack.workspace.direct_channel_of(guest.id), "List receipts")

    inbound = await refreshed_inbound(surface, bot.accepted[0])
    assert inbound.audience == PrivateAudience(person=PersonId(f"slack:{TEAM}:{guest.id}"), is_guest=True)


async def test_a_person_that_slack_cannot_describe_counts_as_a_guest(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember
) -> None:
    slack.plan_faults("users.info", *[Fault(status=500)] * 6)

    await slack.post_as_person(ada, slack.workspace.direct_channel_of(ada.id), "List receipts")

    inbound = await refreshed_inbound(surface, bot.accepted[0])
    assert inbound.audience == PrivateAudience(person=PersonId(f"slack:{TEAM}:{ada.id}"), is_guest=True)


async def test_a_deactivated_person_counts_as_deactivated(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot
) -> None:
    deactivated = slack.workspace.add_user(SlackMember(id="U9LEFT", name="Lee", deleted=True))

    await slack.post_as_person(deactivated, slack.workspace.direct_channel_of(deactivated.id), "List receipts")

    inbound = await refreshed_inbound(surface, bot.accepted[0])
    assert inbound.audience == PrivateAudience(
        person=PersonId(f"slack:{TEAM}:{deactivated.id}"), is_guest=True, is_deactivated=True
    )


async def test_the_id_of_a_person_on_an_enterprise_grid_contains_the_grid(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, api: SlackApi
) -> None:
    slack.workspace.enterprise = "E1GRID"
    colleague = slack.workspace.add_user(SlackMember(id="W1", name="Cy", team="T2SISTER", enterprise="E1GRID"))

    directory = WorkspaceDirectory(api, bot.clock, bot.log)
    person = await directory.load_person(colleague.id)

    assert await directory.person_id_of(colleague.id, "T2SISTER") == PersonId(f"slack:E1GRID:{colleague.id}")
    assert person is not None
    assert not person.is_guest


async def refreshed_inbound(surface: SlackSurface, inbound: Inbound) -> Inbound:
    """Returns the inbound with current people and channels, as the turn sees it when it runs."""
    surfaces = SurfaceRegistry()
    surfaces.register_surface(surface)
    return await ProductDirectories(surfaces).refresh_inbound(inbound)


async def outsiders_of_accepted(surface: SlackSurface, bot: InboxBot) -> list[OutsiderPresence | None]:
    return [outsiders_in((await refreshed_inbound(surface, inbound)).audience) for inbound in bot.accepted]


def outsiders_in(audience: object) -> OutsiderPresence | None:
    return audience.outsiders if isinstance(audience, ChannelAudience) else None


# Clicks


async def post_clarification(surface: SlackSurface, channel: str, thread: str) -> None:
    reply = Reply(
        turn=TurnId("turn-1"),
        parts=(
            TextPart(markdown="1,042 receipts. Which vendor?"),
            ChoicesPart(
                clarification=ClarificationId("c1"),
                buttons=(ChoiceButton(id=ChoiceId("opaque-1"), label="Acme", count=512, kind="filter"),),
                expires=NOON,
            ),
        ),
    )
    address = {"channel": channel, "thread_ts": thread, "ts": thread}
    await surface.outbox.thread_for(ConversationId("any"), address).post_message(reply)


@pytest.fixture
async def clarification(
    surface: SlackSurface, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> SlackMessage:
    question, _ = await slack.post_as_person(ada, general, QUESTION)
    await post_clarification(surface, general.id, question.ts)
    return slack.workspace.bot_messages()[-1]


async def test_a_click_is_a_turn_of_the_clicker_in_the_same_conversation(
    slack: SlackServer, bot: InboxBot, bob: SlackMember, clarification: SlackMessage
) -> None:
    delivered = await slack.click_button(bob, clarification, "Acme · 512")

    question, click = bot.accepted
    assert delivered.statuses == [200]
    assert click.body == ButtonClick(ChoiceId("opaque-1"))
    assert click.person == PersonId(f"slack:{TEAM}:{bob.id}")
    assert click.conversation == question.conversation
    assert click.audience == question.audience
    assert click.address["thread_ts"] == question.address["thread_ts"]
    assert click.address["response_url"].startswith("http")


async def test_two_clicks_are_two_turns(
    slack: SlackServer, bot: InboxBot, bob: SlackMember, clarification: SlackMessage
) -> None:
    await slack.click_button(bob, clarification, "Acme")
    await slack.click_button(bob, clarification, "Acme")

    assert len({inbound.message_id for inbound in bot.accepted}) == 3


@pytest.mark.parametrize("action", ["unclarify:1", "clarify:1x", "clarify:", "clarify:1\n"])
async def test_a_button_with_a_similar_action_id_is_not_a_choice(
    slack: SlackServer, bot: InboxBot, bob: SlackMember, clarification: SlackMessage, action: str
) -> None:
    accepted_count = len(bot.accepted)
    await slack.deliver_action(bob, clarification, {**clarification.block_buttons()[0], "action_id": action})

    assert len(bot.accepted) == accepted_count


async def test_a_click_that_cannot_be_stored_is_not_acknowledged(
    slack: SlackServer, bot: InboxBot, bob: SlackMember, clarification: SlackMessage
) -> None:
    bot.remaining_failures = 1

    delivered = await slack.click_button(bob, clarification, "Acme")

    assert delivered.statuses == [500]


# Signatures

BODY = json.dumps({"type": "event_callback", "event_id": "Ev1", "event": {}}).encode()


async def test_a_wrong_signature_is_refused(slack: SlackServer) -> None:
    status, _ = await slack.send_request(BODY, slack.signature_headers(BODY, secret="another"))
    assert status == 401


async def test_no_signature_is_refused(slack: SlackServer) -> None:
    status, _ = await slack.send_request(BODY, {"Content-Type": "application/json"})
    assert status == 401


async def test_a_signature_of_another_body_is_refused(slack: SlackServer) -> None:
    status, _ = await slack.send_request(BODY + b" ", slack.signature_headers(BODY))
    assert status == 401


@pytest.mark.parametrize("age_s", [301, -330])  # a future one comes nearer while it is sent
async def test_an_old_or_future_delivery_is_refused(slack: SlackServer, age_s: float) -> None:
    status, _ = await slack.send_request(BODY, slack.signature_headers(BODY, age_s=age_s))
    assert status == 401


@pytest.mark.parametrize("timestamp", ["soon", "", "9" * 40, "١٢٣"])
async def test_a_timestamp_that_is_no_number_is_refused(slack: SlackServer, timestamp: str) -> None:
    headers = {**slack.signature_headers(BODY), "X-Slack-Request-Timestamp": timestamp}
    status, _ = await slack.send_request(BODY, headers)
    assert status == 401


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "text/plain"])
@pytest.mark.parametrize("body", [b"payload={", b"not json", b"[1]", b"", b"\xff\xfe", b"[" * 100_000])
async def test_a_signed_but_unreadable_body_is_a_bad_request(slack: SlackServer, kind: str, body: bytes) -> None:
    status, _ = await slack.send_request(body, {"Content-Type": kind, **slack.signature_headers(body)})
    assert status == 400


# Setup

FACTORY: SurfaceFactory = slack_surface  # checked by pyright


def test_without_a_bot_token_there_is_no_slack_surface(slack: SlackServer) -> None:
    assert slack_surface(InboxBot(SlackTestSettings(api_url=slack.api_url, bot_token=None))) is None


def test_a_token_without_the_signing_secret_is_an_error(slack: SlackServer) -> None:
    settings = SlackTestSettings(api_url=slack.api_url, signing_secret=None)

    with pytest.raises(InvalidSettings, match="SLACK_SIGNING_SECRET"):
        slack_surface(InboxBot(settings))


async def test_a_refused_token_raises_at_the_start(slack: SlackServer, bot: InboxBot) -> None:
    api = SlackApi(token="xoxb-wrong", base_url=slack.api_url)

    with pytest.raises(InvalidSettings, match="invalid_auth"):
        await build_surface(bot, api).start()


async def test_deliveries_are_deferred_until_the_bots_identity_is_known(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, pauses: RecordedPauses
) -> None:
    slack.plan_faults("auth.test", *[Fault(status=503)] * 6)
    api = SlackApi(token=TOKEN, base_url=slack.api_url, sleep=pauses)

    async with serve_surface(build_surface(bot, api), slack):
        _, [delivered] = await slack.post_as_person(ada, slack.workspace.direct_channel_of(ada.id), "List receipts")

    assert delivered.statuses == [503, 200]
    assert len(bot.accepted) == 1

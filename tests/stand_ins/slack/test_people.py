"""What people and administrators do reaches the app as Slack tells it, and the methods show the same."""

from typing import Any

import aiohttp
import pytest

from tests.stand_ins.slack.conftest import App, Client
from tests.stand_ins.slack.server import EVENT_SCOPES, NotPossible, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, Channel, Session, User, Usergroup


@pytest.fixture(autouse=True)
def all_granted(slack: SlackServer) -> None:
    slack.events = frozenset(EVENT_SCOPES)
    slack.scopes |= frozenset().union(*EVENT_SCOPES.values()) | {
        "usergroups:read",
        "files:read",
        "im:write",
        "commands",
    }
    slack.commands, slack.shortcuts, slack.is_agent = frozenset({"/ask-docs"}), frozenset({"ask_about"}), True


@pytest.fixture
def channel(slack: SlackServer) -> Channel:
    return slack.workspace.channels["C1"]


def the_event(app: App) -> dict[str, Any]:
    [told] = app.received
    return told["event"]


async def test_a_command_comes_as_a_form_and_its_answer_is_the_persons(
    slack: SlackServer, ada: User, channel: Channel, app: App
) -> None:
    app.answers = [{"text": "Looking."}]

    delivered = await slack.command(ada, channel, "/ask-docs", "how many?")

    [form] = app.received
    assert delivered.statuses == [200]
    assert (form["command"], form["text"], form["user_id"], form["channel_id"]) == (
        "/ask-docs",
        "how many?",
        "U1",
        "C1",
    )
    assert form["trigger_id"] in slack.triggers
    assert [(one.text, one.only_for) for one in slack.workspace.answers()] == [("Looking.", "U1")]


async def test_the_response_url_of_a_command_says_it_to_all_if_told_so(
    slack: SlackServer, http: aiohttp.ClientSession, ada: User, channel: Channel, app: App
) -> None:
    await slack.command(ada, channel, "/ask-docs")
    for kind in ("in_channel", "ephemeral", "shouted"):
        await http.post(app.received[0]["response_url"], json={"text": kind, "response_type": kind})

    assert [(one.text, one.only_for) for one in slack.workspace.answers()] == [
        ("in_channel", None),
        ("ephemeral", "U1"),
    ]


async def test_what_the_manifest_does_not_offer_cannot_be_used(
    slack: SlackServer, ada: User, channel: Channel, app: App
) -> None:
    message, _ = await slack.say(ada, slack.workspace.channels["C2"], "words")
    with pytest.raises(NotPossible):
        await slack.command(ada, channel, "/other")
    with pytest.raises(NotPossible):
        await slack.shortcut(ada, message, "other")


async def test_a_shortcut_brings_the_message_even_from_where_the_app_is_not(
    slack: SlackServer, ada: User, app: App
) -> None:
    message, heard = await slack.say(ada, slack.workspace.channels["C2"], "words")
    await slack.shortcut(ada, message, "ask_about")

    [told] = app.received
    assert heard == []
    assert (told["type"], told["callback_id"], told["message"]["text"]) == ("message_action", "ask_about", "words")


async def test_an_edit_tells_both_versions(slack: SlackServer, ada: User, app: App) -> None:
    message, _ = await slack.say(ada, slack.workspace.direct("U1"), "first")
    await slack.edit(message, "second")

    event = app.received[-1]["event"]
    assert (event["subtype"], event["message"]["text"], event["previous_message"]["text"]) == (
        "message_changed",
        "second",
        "first",
    )
    assert event["message"]["edited"]["user"] == "U1"


async def test_a_preview_is_told_as_a_change_that_nobody_made(slack: SlackServer, ada: User, app: App) -> None:
    message, _ = await slack.say(ada, slack.workspace.direct("U1"), "see https://example.org")
    await slack.unfurl(message)

    event = app.received[-1]["event"]
    assert event["subtype"] == "message_changed"
    assert event["message"]["text"] == event["previous_message"]["text"]
    assert "edited" not in event["message"]


async def test_the_app_hears_its_own_words(slack: SlackServer, client: Client, app: App) -> None:
    place = slack.workspace.direct("U1")
    await client.post(place.id)
    [message] = slack.workspace.answers()

    await slack.echo(message)
    await slack.echo(message, changed=True)

    first, second = (told["event"] for told in app.received)
    assert (first["type"], first["user"], first["bot_id"]) == ("message", BOT_USER, "B0PARLEY")
    assert (second["subtype"], second["message"]["bot_id"]) == ("message_changed", "B0PARLEY")


async def test_a_deleted_message_is_gone_and_one_with_replies_a_tombstone(
    slack: SlackServer, ada: User, app: App
) -> None:
    place = slack.workspace.direct("U1")
    root, _ = await slack.say(ada, place, "root")
    reply, _ = await slack.say(ada, place, "reply", thread_ts=root.ts)
    app.received.clear()

    await slack.delete(root)
    await slack.delete(reply)

    first, second = (told["event"] for told in app.received)
    assert (first["subtype"], first["message"]["subtype"]) == ("message_changed", "tombstone")
    assert (second["subtype"], second["deleted_ts"]) == ("message_deleted", reply.ts)
    assert slack.workspace.message(place.id, reply.ts) is None


async def test_an_edit_in_a_channel_is_heard_only_with_its_history(
    slack: SlackServer, ada: User, channel: Channel, app: App
) -> None:
    message, _ = await slack.say(ada, channel, f"<@{BOT_USER}> first")
    slack.scopes -= {"channels:history"}
    assert (await slack.edit(message, "second")).statuses == []


async def test_only_a_thread_at_work_can_be_stopped(slack: SlackServer, client: Client, ada: User, app: App) -> None:
    place = slack.workspace.direct("U1")
    message, _ = await slack.say(ada, place, "question")
    with pytest.raises(NotPossible):
        await slack.stop(ada, place, message.ts)
    status: dict[str, Any] = {"channel_id": place.id, "thread_ts": message.ts, "status": "processing"}
    assert (await client.call("agents.sessions.setStatus", **status))["ok"]

    await slack.stop(ada, place, message.ts)

    event = app.received[-1]["event"]
    assert (event["type"], event["thread_ts"], event["streaming_message_ts"]) == (
        "agent_session_stopped",
        message.ts,
        [],
    )
    assert slack.workspace.sessions == {(place.id, message.ts): Session(status="processing")}


async def test_without_the_event_there_is_a_warning_and_no_button(
    slack: SlackServer, client: Client, ada: User, app: App
) -> None:
    slack.events -= {"agent_session_stopped"}
    place = slack.workspace.direct("U1")
    message, _ = await slack.say(ada, place, "question")
    status: dict[str, Any] = {"channel_id": place.id, "thread_ts": message.ts, "status": "processing"}

    warned = await client.call("agents.sessions.setStatus", **status)

    assert warned["warning"] == "missing_agent_session_stopped_event_subscription"
    with pytest.raises(NotPossible):
        await slack.stop(ada, place, message.ts)


@pytest.mark.parametrize("wrong", [{"status": "asleep"}, {"title": "x" * 201}, {"initiator_user_id": "U9"}])
async def test_a_session_takes_what_slack_takes(
    slack: SlackServer, client: Client, ada: User, app: App, wrong: dict[str, str]
) -> None:
    place = slack.workspace.direct("U1")
    message, _ = await slack.say(ada, place, "question")
    given: dict[str, Any] = {"channel_id": place.id, "thread_ts": message.ts, "status": "active", **wrong}
    assert not (await client.call("agents.sessions.setStatus", **given))["ok"]


async def test_a_status_is_shown_until_the_app_says_something(
    slack: SlackServer, client: Client, ada: User, channel: Channel, app: App
) -> None:
    message, _ = await slack.say(ada, channel, f"<@{BOT_USER}> hello")
    given: dict[str, Any] = {"channel_id": "C1", "thread_ts": message.ts, "status": "is looking"}
    await client.call("assistant.threads.setStatus", **given, loading_messages=["one", "two"])
    during = dict(slack.workspace.shown)
    await client.post(thread_ts=message.ts)

    assert during[("C1", message.ts)].loading_messages == ("one", "two")
    assert slack.workspace.shown == {}


async def test_eleven_loading_messages_are_too_many(client: Client) -> None:
    given: dict[str, Any] = {"channel_id": "C1", "thread_ts": "1.1", "status": "x", "loading_messages": ["x"] * 11}
    assert (await client.call("assistant.threads.setStatus", **given))["error"] == "invalid_arguments"


@pytest.mark.parametrize(("prompts", "ok"), [(1, True), (4, True), (0, False), (5, False)])
async def test_an_agent_suggests_up_to_four_prompts(
    slack: SlackServer, client: Client, prompts: int, *, ok: bool
) -> None:
    slack.scopes |= {"assistant:write"}
    given = [{"title": "Short", "message": "What can I ask?"}] * prompts
    place = slack.workspace.direct("U1")
    answer = await client.call("assistant.threads.setSuggestedPrompts", channel_id=place.id, prompts=given)
    assert answer["ok"] == ok
    assert slack.workspace.prompts == ({place.id: given} if ok else {})


async def test_turning_to_a_channel_is_told(slack: SlackServer, ada: User, channel: Channel, app: App) -> None:
    await slack.look_at(ada, channel)
    assert the_event(app)["context"]["entities"][0]["value"] == "C1"


async def test_a_changed_person_is_told_and_shown(slack: SlackServer, client: Client, ada: User, app: App) -> None:
    await slack.change_user(ada, deleted=True)

    assert the_event(app)["user"]["deleted"]
    assert (await client.call("users.info", user="U1"))["user"]["deleted"]
    assert (await client.call("conversations.open", users="U1"))["error"] == "user_disabled"


async def test_coming_and_going_is_told_where_the_app_is(slack: SlackServer, channel: Channel, app: App) -> None:
    bob = slack.workspace.add_user(User(id="U2", name="Bob"))
    await slack.join(bob, channel)
    await slack.leave(bob, channel)
    elsewhere = await slack.join(bob, slack.workspace.channels["C2"])

    assert [told["event"]["type"] for told in app.received] == ["member_joined_channel", "member_left_channel"]
    assert elsewhere.statuses == []


async def test_the_app_hears_that_it_was_invited_and_removed(slack: SlackServer, app: App) -> None:
    place = slack.workspace.channels["C2"]
    await slack.join(slack.workspace.bot(), place)
    await slack.leave(slack.workspace.bot(), place)
    assert [told["event"]["user"] for told in app.received] == [BOT_USER, BOT_USER]


async def test_a_channel_is_shared_and_taken_back(
    slack: SlackServer, client: Client, channel: Channel, app: App
) -> None:
    await slack.share(channel, "T9OTHER")
    shared = (await client.call("conversations.info", channel="C1"))["channel"]["is_ext_shared"]
    await slack.unshare(channel, "T9OTHER")

    assert shared
    assert [told["event"]["type"] for told in app.received] == ["channel_shared", "channel_unshared"]
    assert [told["is_ext_shared_channel"] for told in app.received] == [True, False]


async def test_without_the_scope_there_are_no_commands(slack: SlackServer, ada: User, channel: Channel) -> None:
    slack.scopes -= {"commands"}
    with pytest.raises(NotPossible):
        await slack.command(ada, channel, "/ask-docs")


async def test_groups_are_listed_and_their_changes_told(slack: SlackServer, client: Client, app: App) -> None:
    group = slack.workspace.add_group(Usergroup(id="S1", handle="finance", name="Finance", members=["U1", "U2"]))

    await slack.change_group(group, ["U1", "U3"])

    first, second = (told["event"] for told in app.received)
    assert (first["type"], first["added_users"], first["removed_users"]) == ("subteam_members_changed", ["U3"], ["U2"])
    assert (second["type"], second["subteam"]["users"]) == ("subteam_updated", ["U1", "U3"])
    assert (await client.call("usergroups.users.list", usergroup="S1"))["users"] == ["U1", "U3"]
    assert [one["handle"] for one in (await client.call("usergroups.list"))["usergroups"]] == ["finance"]


async def test_a_disabled_group_is_not_there_unless_asked_for(slack: SlackServer, client: Client, app: App) -> None:
    group = slack.workspace.add_group(Usergroup(id="S1", handle="finance", name="Finance"))
    await slack.disable_group(group)

    assert (await client.call("usergroups.list"))["usergroups"] == []
    assert len((await client.call("usergroups.list", include_disabled=True))["usergroups"]) == 1
    assert (await client.call("usergroups.users.list", usergroup="S1"))["error"] == "no_such_subteam"


async def test_everybody_comes_in_pages(slack: SlackServer, client: Client) -> None:
    for number in range(2, 6):
        slack.workspace.add_user(User(id=f"U{number}", name="x"))
    first = await client.call("users.list", limit=4)
    last = await client.call("users.list", limit=4, cursor=first["response_metadata"]["next_cursor"])

    assert [one["id"] for one in first["members"] + last["members"]] == ["U1", "U2", "U3", "U4", "U5", BOT_USER]
    assert last["response_metadata"]["next_cursor"] == ""


@pytest.mark.parametrize(("given", "error"), [({"cursor": "x"}, "invalid_cursor"),
                                              ({"limit": 0}, "invalid_limit"), ({"limit": 1001}, "invalid_limit"),
                                              ({"limit": "many"}, "invalid_arguments")])  # fmt: skip
async def test_a_cursor_and_a_limit_are_checked(client: Client, given: dict[str, Any], error: str | None) -> None:
    assert (await client.call("users.list", **given)).get("error") == error


async def test_only_its_own_messages_can_be_deleted(slack: SlackServer, client: Client, ada: User, app: App) -> None:
    message, _ = await slack.say(ada, slack.workspace.channels["C1"], "mine")
    ts = (await client.post())["ts"]

    assert (await client.call("chat.delete", channel="C1", ts=message.ts))["error"] == "cant_delete_message"
    assert (await client.call("chat.delete", channel="C1", ts=ts))["ok"]
    assert (await client.call("chat.delete", channel="C1", ts=ts))["error"] == "message_not_found"


async def test_a_file_of_a_person_is_read_with_the_token_and_its_scope(
    slack: SlackServer, client: Client, http: aiohttp.ClientSession, ada: User, app: App
) -> None:
    file = slack.upload(ada, "notes.txt", b"words")
    before = await client.call("files.info", file=file.id)
    await slack.say(ada, slack.workspace.direct("U1"), "see this", files=[file])
    url = the_event(app)["files"][0]["url_private"]

    bodies: list[tuple[int, bytes]] = []
    for scopes, token in ((slack.scopes, "xoxb-parley-token"), (slack.scopes, "xoxb-x"), (frozenset[str](), "")):
        slack.scopes = scopes
        async with http.get(url, headers={"Authorization": f"Bearer {token}"}) as response:
            bodies.append((response.status, (await response.read())[:15]))

    assert before["error"] == "file_not_found"
    assert the_event(app)["subtype"] == "file_share"
    assert bodies == [(200, b"words"), (200, b"<!DOCTYPE html>"), (200, b"<!DOCTYPE html>")]


async def test_in_a_shared_channel_files_are_only_named(
    slack: SlackServer, client: Client, ada: User, channel: Channel, app: App
) -> None:
    channel.is_ext_shared = True
    file = slack.upload(ada, "notes.txt", b"words")
    await slack.say(ada, channel, "see this", files=[file])

    assert the_event(app)["files"] == [{"id": file.id, "file_access": "check_file_info"}]
    assert (await client.call("files.info", file=file.id))["file"]["name"] == "notes.txt"


async def test_uninstalling_is_told_and_ends_the_token(slack: SlackServer, client: Client, app: App) -> None:
    await slack.uninstall()

    assert [told["event"]["type"] for told in app.received] == ["app_uninstalled", "tokens_revoked"]
    assert (await client.call("auth.test"))["error"] == "token_revoked"


async def test_an_event_without_its_scope_is_not_delivered(slack: SlackServer, ada: User, app: App) -> None:
    slack.scopes -= {"users:read"}
    await slack.change_user(ada, name="Ada B.")
    assert app.received == []


async def test_feedback_comes_as_the_button_pressed(slack: SlackServer, client: Client, ada: User, app: App) -> None:
    pressed = {"text": {"type": "plain_text", "text": "Good"}, "value": "+1"}
    element = {
        "type": "feedback_buttons",
        "action_id": "rate",
        "positive_button": pressed,
        "negative_button": {**pressed, "value": "-1"},
    }
    await client.post(blocks=[{"type": "context_actions", "elements": [element]}])

    await slack.rate(ada, slack.workspace.answers()[0], good=False)

    [action] = app.received[0]["actions"]
    assert (action["type"], action["action_id"], action["value"]) == ("feedback_buttons", "rate", "-1")


async def test_a_choice_from_a_menu_brings_the_option(slack: SlackServer, client: Client, ada: User, app: App) -> None:
    options = [{"text": {"type": "plain_text", "text": one}, "value": one} for one in ("a", "b")]
    for kind in ("overflow", "static_select"):
        element = {"type": kind, "action_id": kind, "options": options}
        await client.post(blocks=[{"type": "actions", "elements": [element]}])
        await slack.choose(ada, slack.workspace.answers()[-1], kind, "b")

    assert [told["actions"][0]["selected_option"]["value"] for told in app.received] == ["b", "b"]
    with pytest.raises(NotPossible):
        await slack.choose(ada, slack.workspace.answers()[-1], "static_select", "c")


@pytest.mark.parametrize(("told", "attempts"), [({}, 4), ({"X-Slack-No-Retry": "1"}, 1)])
async def test_an_event_comes_four_times_unless_the_app_asks_for_no_more(
    slack: SlackServer, ada: User, app: App, told: dict[str, str], attempts: int
) -> None:
    app.statuses, app.told = [503] * 4, told
    [delivered] = (await slack.say(ada, slack.workspace.direct("U1"), "words"))[1]
    assert delivered.statuses == [503] * attempts


async def test_an_app_that_is_down_is_tried_again(slack: SlackServer, ada: User) -> None:
    slack.app_url = "http://127.0.0.1:9/slack/events"
    [delivered] = (await slack.say(ada, slack.workspace.direct("U1"), "words"))[1]
    assert delivered.statuses == [None] * 4


@pytest.mark.parametrize(("answer", "is_taken"), [("challenge-000001", True), ("challenge", False)])
async def test_an_address_is_taken_once_the_app_answers_the_challenge(
    slack: SlackServer, app: App, answer: str, *, is_taken: bool
) -> None:
    app.answers = [{"challenge": answer}]
    assert await slack.verify() == is_taken

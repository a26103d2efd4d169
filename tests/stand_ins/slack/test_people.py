"""Actions of people and administrators reach the app as Slack's events, and the methods return the same data."""

from typing import Any

import aiohttp
import pytest

from tests.stand_ins.slack.conftest import RecordingApp, WebApiClient
from tests.stand_ins.slack.server import EVENT_SCOPES, ActionNotPossible, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, AgentSession, SlackChannel, SlackMember, SlackUsergroup


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
def channel(slack: SlackServer) -> SlackChannel:
    return slack.workspace.channels["C1"]


def single_event_of(app: RecordingApp) -> dict[str, Any]:
    [payload] = app.received
    return payload["event"]


async def test_a_command_is_delivered_as_a_form_and_its_answer_is_private(
    slack: SlackServer, ada: SlackMember, channel: SlackChannel, app: RecordingApp
) -> None:
    app.answers = [{"text": "Looking."}]

    delivered = await slack.use_command(ada, channel, "/ask-docs", "how many?")

    [form] = app.received
    assert delivered.statuses == [200]
    assert (form["command"], form["text"], form["user_id"], form["channel_id"]) == (
        "/ask-docs",
        "how many?",
        "U1",
        "C1",
    )
    assert form["trigger_id"] in slack.triggers
    assert [(message.text, message.visible_to) for message in slack.workspace.bot_messages()] == [("Looking.", "U1")]


async def test_the_response_url_of_a_command_posts_to_the_person_or_the_channel(
    slack: SlackServer, http: aiohttp.ClientSession, ada: SlackMember, channel: SlackChannel, app: RecordingApp
) -> None:
    await slack.use_command(ada, channel, "/ask-docs")
    for kind in ("in_channel", "ephemeral", "shouted"):
        await http.post(app.received[0]["response_url"], json={"text": kind, "response_type": kind})

    assert [(message.text, message.visible_to) for message in slack.workspace.bot_messages()] == [
        ("in_channel", None),
        ("ephemeral", "U1"),
    ]


async def test_commands_and_shortcuts_outside_the_manifest_cannot_be_used(
    slack: SlackServer, ada: SlackMember, channel: SlackChannel, app: RecordingApp
) -> None:
    message, _ = await slack.post_as_person(ada, slack.workspace.channels["C2"], "words")
    with pytest.raises(ActionNotPossible):
        await slack.use_command(ada, channel, "/other")
    with pytest.raises(ActionNotPossible):
        await slack.use_shortcut(ada, message, "other")


async def test_a_shortcut_delivers_a_message_from_a_channel_without_the_app(
    slack: SlackServer, ada: SlackMember, app: RecordingApp
) -> None:
    message, deliveries = await slack.post_as_person(ada, slack.workspace.channels["C2"], "words")
    await slack.use_shortcut(ada, message, "ask_about")

    [payload] = app.received
    assert deliveries == []
    assert (payload["type"], payload["callback_id"], payload["message"]["text"]) == (
        "message_action",
        "ask_about",
        "words",
    )


async def test_an_edit_delivers_both_versions(slack: SlackServer, ada: SlackMember, app: RecordingApp) -> None:
    message, _ = await slack.post_as_person(ada, slack.workspace.direct_channel_of("U1"), "first")
    await slack.edit_message(message, "second")

    event = app.received[-1]["event"]
    assert (event["subtype"], event["message"]["text"], event["previous_message"]["text"]) == (
        "message_changed",
        "second",
        "first",
    )
    assert event["message"]["edited"]["user"] == "U1"


async def test_a_link_preview_is_delivered_as_a_change_without_an_editor(
    slack: SlackServer, ada: SlackMember, app: RecordingApp
) -> None:
    message, _ = await slack.post_as_person(ada, slack.workspace.direct_channel_of("U1"), "see https://example.org")
    await slack.add_link_preview(message)

    event = app.received[-1]["event"]
    assert event["subtype"] == "message_changed"
    assert event["message"]["text"] == event["previous_message"]["text"]
    assert "edited" not in event["message"]


async def test_the_app_receives_its_own_messages(slack: SlackServer, client: WebApiClient, app: RecordingApp) -> None:
    direct = slack.workspace.direct_channel_of("U1")
    await client.post_message(direct.id)
    [message] = slack.workspace.bot_messages()

    await slack.deliver_own_message(message)
    await slack.deliver_own_message(message, changed=True)

    first, second = (payload["event"] for payload in app.received)
    assert (first["type"], first["user"], first["bot_id"]) == ("message", BOT_USER, "B0PARLEY")
    assert (second["subtype"], second["message"]["bot_id"]) == ("message_changed", "B0PARLEY")


async def test_a_deleted_message_with_replies_becomes_a_tombstone(
    slack: SlackServer, ada: SlackMember, app: RecordingApp
) -> None:
    direct = slack.workspace.direct_channel_of("U1")
    root, _ = await slack.post_as_person(ada, direct, "root")
    reply, _ = await slack.post_as_person(ada, direct, "reply", thread_ts=root.ts)
    app.received.clear()

    await slack.delete_message(root)
    await slack.delete_message(reply)

    first, second = (payload["event"] for payload in app.received)
    assert (first["subtype"], first["message"]["subtype"]) == ("message_changed", "tombstone")
    assert (second["subtype"], second["deleted_ts"]) == ("message_deleted", reply.ts)
    assert slack.workspace.find_message(direct.id, reply.ts) is None


async def test_an_edit_in_a_channel_needs_the_history_scope(
    slack: SlackServer, ada: SlackMember, channel: SlackChannel, app: RecordingApp
) -> None:
    message, _ = await slack.post_as_person(ada, channel, f"<@{BOT_USER}> first")
    slack.scopes -= {"channels:history"}
    assert (await slack.edit_message(message, "second")).statuses == []


async def test_only_a_processing_session_can_be_stopped(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    direct = slack.workspace.direct_channel_of("U1")
    message, _ = await slack.post_as_person(ada, direct, "question")
    with pytest.raises(ActionNotPossible):
        await slack.press_stop(ada, direct, message.ts)
    status: dict[str, Any] = {"channel_id": direct.id, "thread_ts": message.ts, "status": "processing"}
    assert (await client.call_method("agents.sessions.setStatus", **status))["ok"]

    await slack.press_stop(ada, direct, message.ts)

    event = app.received[-1]["event"]
    assert (event["type"], event["thread_ts"], event["streaming_message_ts"]) == (
        "agent_session_stopped",
        message.ts,
        [],
    )
    assert slack.workspace.sessions == {(direct.id, message.ts): AgentSession(status="processing")}


async def test_without_the_event_there_is_a_warning_and_no_stop_button(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    slack.events -= {"agent_session_stopped"}
    direct = slack.workspace.direct_channel_of("U1")
    message, _ = await slack.post_as_person(ada, direct, "question")
    status: dict[str, Any] = {"channel_id": direct.id, "thread_ts": message.ts, "status": "processing"}

    response = await client.call_method("agents.sessions.setStatus", **status)

    assert response["warning"] == "missing_agent_session_stopped_event_subscription"
    with pytest.raises(ActionNotPossible):
        await slack.press_stop(ada, direct, message.ts)


@pytest.mark.parametrize("wrong", [{"status": "asleep"}, {"title": "x" * 201}, {"initiator_user_id": "U9"}])
async def test_invalid_session_arguments_are_refused(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp, wrong: dict[str, str]
) -> None:
    direct = slack.workspace.direct_channel_of("U1")
    message, _ = await slack.post_as_person(ada, direct, "question")
    arguments: dict[str, Any] = {"channel_id": direct.id, "thread_ts": message.ts, "status": "active", **wrong}
    assert not (await client.call_method("agents.sessions.setStatus", **arguments))["ok"]


async def test_a_status_is_shown_until_the_app_posts(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, channel: SlackChannel, app: RecordingApp
) -> None:
    message, _ = await slack.post_as_person(ada, channel, f"<@{BOT_USER}> hello")
    arguments: dict[str, Any] = {"channel_id": "C1", "thread_ts": message.ts, "status": "is looking"}
    await client.call_method("assistant.threads.setStatus", **arguments, loading_messages=["one", "two"])
    shown_before_post = dict(slack.workspace.status_lines)
    await client.post_message(thread_ts=message.ts)

    assert shown_before_post[("C1", message.ts)].loading_messages == ("one", "two")
    assert slack.workspace.status_lines == {}


async def test_eleven_loading_messages_are_too_many(client: WebApiClient) -> None:
    arguments: dict[str, Any] = {"channel_id": "C1", "thread_ts": "1.1", "status": "x", "loading_messages": ["x"] * 11}
    assert (await client.call_method("assistant.threads.setStatus", **arguments))["error"] == "invalid_arguments"


@pytest.mark.parametrize(("prompts", "ok"), [(1, True), (4, True), (0, False), (5, False)])
async def test_an_agent_suggests_up_to_four_prompts(
    slack: SlackServer, client: WebApiClient, prompts: int, *, ok: bool
) -> None:
    slack.scopes |= {"assistant:write"}
    suggestions = [{"title": "Short", "message": "What can I ask?"}] * prompts
    direct = slack.workspace.direct_channel_of("U1")
    answer = await client.call_method(
        "assistant.threads.setSuggestedPrompts", channel_id=direct.id, prompts=suggestions
    )
    assert answer["ok"] == ok
    assert slack.workspace.prompts == ({direct.id: suggestions} if ok else {})


async def test_opening_a_channel_is_delivered(
    slack: SlackServer, ada: SlackMember, channel: SlackChannel, app: RecordingApp
) -> None:
    await slack.open_channel_beside_app(ada, channel)
    assert single_event_of(app)["context"]["entities"][0]["value"] == "C1"


async def test_a_changed_person_is_delivered_and_returned(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    await slack.change_user_fields(ada, deleted=True)

    assert single_event_of(app)["user"]["deleted"]
    assert (await client.call_method("users.info", user="U1"))["user"]["deleted"]
    assert (await client.call_method("conversations.open", users="U1"))["error"] == "user_disabled"


async def test_joining_and_leaving_is_delivered_for_channels_of_the_app(
    slack: SlackServer, channel: SlackChannel, app: RecordingApp
) -> None:
    bob = slack.workspace.add_user(SlackMember(id="U2", name="Bob"))
    await slack.join_channel(bob, channel)
    await slack.leave_channel(bob, channel)
    delivery_elsewhere = await slack.join_channel(bob, slack.workspace.channels["C2"])

    assert [payload["event"]["type"] for payload in app.received] == ["member_joined_channel", "member_left_channel"]
    assert delivery_elsewhere.statuses == []


async def test_the_app_receives_its_own_invitation_and_removal(slack: SlackServer, app: RecordingApp) -> None:
    joined_channel = slack.workspace.channels["C2"]
    await slack.join_channel(slack.workspace.bot_member(), joined_channel)
    await slack.leave_channel(slack.workspace.bot_member(), joined_channel)
    assert [payload["event"]["user"] for payload in app.received] == [BOT_USER, BOT_USER]


async def test_sharing_and_unsharing_a_channel_is_delivered(
    slack: SlackServer, client: WebApiClient, channel: SlackChannel, app: RecordingApp
) -> None:
    await slack.share_channel(channel, "T9OTHER")
    was_shared = (await client.call_method("conversations.info", channel="C1"))["channel"]["is_ext_shared"]
    await slack.unshare_channel(channel, "T9OTHER")

    assert was_shared
    assert [payload["event"]["type"] for payload in app.received] == ["channel_shared", "channel_unshared"]
    assert [payload["is_ext_shared_channel"] for payload in app.received] == [True, False]


async def test_without_the_scope_there_are_no_commands(
    slack: SlackServer, ada: SlackMember, channel: SlackChannel
) -> None:
    slack.scopes -= {"commands"}
    with pytest.raises(ActionNotPossible):
        await slack.use_command(ada, channel, "/ask-docs")


async def test_user_groups_are_listed_and_their_changes_delivered(
    slack: SlackServer, client: WebApiClient, app: RecordingApp
) -> None:
    group = slack.workspace.add_group(SlackUsergroup(id="S1", handle="finance", name="Finance", members=["U1", "U2"]))

    await slack.change_group(group, ["U1", "U3"])

    first, second = (payload["event"] for payload in app.received)
    assert (first["type"], first["added_users"], first["removed_users"]) == ("subteam_members_changed", ["U3"], ["U2"])
    assert (second["type"], second["subteam"]["users"]) == ("subteam_updated", ["U1", "U3"])
    assert (await client.call_method("usergroups.users.list", usergroup="S1"))["users"] == ["U1", "U3"]
    assert [listed_group["handle"] for listed_group in (await client.call_method("usergroups.list"))["usergroups"]] == [
        "finance"
    ]


async def test_a_disabled_group_is_listed_only_on_request(
    slack: SlackServer, client: WebApiClient, app: RecordingApp
) -> None:
    group = slack.workspace.add_group(SlackUsergroup(id="S1", handle="finance", name="Finance"))
    await slack.disable_group(group)

    assert (await client.call_method("usergroups.list"))["usergroups"] == []
    assert len((await client.call_method("usergroups.list", include_disabled=True))["usergroups"]) == 1
    assert (await client.call_method("usergroups.users.list", usergroup="S1"))["error"] == "no_such_subteam"


async def test_the_user_list_is_paged(slack: SlackServer, client: WebApiClient) -> None:
    for number in range(2, 6):
        slack.workspace.add_user(SlackMember(id=f"U{number}", name="x"))
    first_page = await client.call_method("users.list", limit=4)
    last_page = await client.call_method("users.list", limit=4, cursor=first_page["response_metadata"]["next_cursor"])

    assert [user["id"] for user in first_page["members"] + last_page["members"]] == [
        "U1",
        "U2",
        "U3",
        "U4",
        "U5",
        BOT_USER,
    ]
    assert last_page["response_metadata"]["next_cursor"] == ""


@pytest.mark.parametrize(("given", "error"), [({"cursor": "x"}, "invalid_cursor"),
                                              ({"limit": 0}, "invalid_limit"), ({"limit": 1001}, "invalid_limit"),
                                              ({"limit": "many"}, "invalid_arguments")])  # fmt: skip
async def test_a_cursor_and_a_limit_are_checked(client: WebApiClient, given: dict[str, Any], error: str | None) -> None:
    assert (await client.call_method("users.list", **given)).get("error") == error


async def test_only_its_own_messages_can_be_deleted(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    message, _ = await slack.post_as_person(ada, slack.workspace.channels["C1"], "mine")
    ts = (await client.post_message())["ts"]

    assert (await client.call_method("chat.delete", channel="C1", ts=message.ts))["error"] == "cant_delete_message"
    assert (await client.call_method("chat.delete", channel="C1", ts=ts))["ok"]
    assert (await client.call_method("chat.delete", channel="C1", ts=ts))["error"] == "message_not_found"


async def test_a_file_of_a_person_needs_the_token_and_its_scope(
    slack: SlackServer, client: WebApiClient, http: aiohttp.ClientSession, ada: SlackMember, app: RecordingApp
) -> None:
    file = slack.upload_file(ada, "notes.txt", b"words")
    before_sharing = await client.call_method("files.info", file=file.id)
    await slack.post_as_person(ada, slack.workspace.direct_channel_of("U1"), "see this", files=[file])
    url = single_event_of(app)["files"][0]["url_private"]

    bodies: list[tuple[int, bytes]] = []
    for scopes, token in ((slack.scopes, "xoxb-parley-token"), (slack.scopes, "xoxb-x"), (frozenset[str](), "")):
        slack.scopes = scopes
        async with http.get(url, headers={"Authorization": f"Bearer {token}"}) as response:
            bodies.append((response.status, (await response.read())[:15]))

    assert before_sharing["error"] == "file_not_found"
    assert single_event_of(app)["subtype"] == "file_share"
    assert bodies == [(200, b"words"), (200, b"<!DOCTYPE html>"), (200, b"<!DOCTYPE html>")]


async def test_files_in_a_shared_channel_have_only_ids(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, channel: SlackChannel, app: RecordingApp
) -> None:
    channel.is_ext_shared = True
    file = slack.upload_file(ada, "notes.txt", b"words")
    await slack.post_as_person(ada, channel, "see this", files=[file])

    assert single_event_of(app)["files"] == [{"id": file.id, "file_access": "check_file_info"}]
    assert (await client.call_method("files.info", file=file.id))["file"]["name"] == "notes.txt"


async def test_uninstalling_is_delivered_and_revokes_the_token(
    slack: SlackServer, client: WebApiClient, app: RecordingApp
) -> None:
    await slack.uninstall_app()

    assert [payload["event"]["type"] for payload in app.received] == ["app_uninstalled", "tokens_revoked"]
    assert (await client.call_method("auth.test"))["error"] == "token_revoked"


async def test_an_event_without_its_scope_is_not_delivered(
    slack: SlackServer, ada: SlackMember, app: RecordingApp
) -> None:
    slack.scopes -= {"users:read"}
    await slack.change_user_fields(ada, name="Ada B.")
    assert app.received == []


async def test_feedback_is_delivered_as_the_pressed_button(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    pressed = {"text": {"type": "plain_text", "text": "Good"}, "value": "+1"}
    element = {
        "type": "feedback_buttons",
        "action_id": "rate",
        "positive_button": pressed,
        "negative_button": {**pressed, "value": "-1"},
    }
    await client.post_message(blocks=[{"type": "context_actions", "elements": [element]}])

    await slack.rate_answer(ada, slack.workspace.bot_messages()[0], good=False)

    [action] = app.received[0]["actions"]
    assert (action["type"], action["action_id"], action["value"]) == ("feedback_buttons", "rate", "-1")


async def test_a_choice_from_a_menu_delivers_the_option(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    options = [{"text": {"type": "plain_text", "text": label}, "value": label} for label in ("a", "b")]
    for kind in ("overflow", "static_select"):
        element = {"type": kind, "action_id": kind, "options": options}
        await client.post_message(blocks=[{"type": "actions", "elements": [element]}])
        await slack.choose_option(ada, slack.workspace.bot_messages()[-1], kind, "b")

    assert [payload["actions"][0]["selected_option"]["value"] for payload in app.received] == ["b", "b"]
    with pytest.raises(ActionNotPossible):
        await slack.choose_option(ada, slack.workspace.bot_messages()[-1], "static_select", "c")


@pytest.mark.parametrize(("told", "attempts"), [({}, 4), ({"X-Slack-No-Retry": "1"}, 1)])
async def test_an_event_is_tried_four_times_unless_the_app_forbids_retries(
    slack: SlackServer, ada: SlackMember, app: RecordingApp, told: dict[str, str], attempts: int
) -> None:
    app.statuses, app.answer_headers = [503] * 4, told
    [delivered] = (await slack.post_as_person(ada, slack.workspace.direct_channel_of("U1"), "words"))[1]
    assert delivered.statuses == [503] * attempts


async def test_an_unreachable_app_is_retried(slack: SlackServer, ada: SlackMember) -> None:
    slack.app_url = "http://127.0.0.1:9/slack/events"
    [delivered] = (await slack.post_as_person(ada, slack.workspace.direct_channel_of("U1"), "words"))[1]
    assert delivered.statuses == [None] * 4


@pytest.mark.parametrize(("answer", "is_taken"), [("challenge-000001", True), ("challenge", False)])
async def test_an_address_is_verified_by_the_apps_answer_to_the_challenge(
    slack: SlackServer, app: RecordingApp, answer: str, *, is_taken: bool
) -> None:
    app.answers = [{"challenge": answer}]
    assert await slack.verify_app_address() == is_taken

"""The stand-in is as strict as Slack where Parley could go wrong."""

import aiohttp
import pytest

from tests.stand_ins.slack.conftest import Client
from tests.stand_ins.slack.server import RESPONSE_URL_S, RESPONSE_URL_USES, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import Message


def a_response_url(slack: SlackServer) -> str:
    return slack.response_url(slack.workspace.users["U1"], slack.workspace.channels["C1"])


async def test_a_message_is_posted_and_kept(slack: SlackServer, client: Client) -> None:
    answer = await client.post()

    assert answer["ok"]
    assert [message.ts for message in slack.workspace.answers("C1")] == [answer["ts"]]


@pytest.mark.parametrize(("token", "error"), [("", "not_authed"), ("xoxb-other", "invalid_auth")])
async def test_without_the_token_nothing_is_done(client: Client, token: str, error: str) -> None:
    assert (await client.call("auth.test", token=token))["error"] == error


async def test_what_the_manifest_does_not_ask_for_is_refused(slack: SlackServer, client: Client) -> None:
    slack.scopes -= {"chat:write"}
    assert (await client.post())["error"] == "missing_scope"


async def test_a_channel_without_the_bot_is_refused(client: Client) -> None:
    assert (await client.post("C2"))["error"] == "not_in_channel"


async def test_a_channel_that_is_not_there_is_refused(client: Client) -> None:
    assert (await client.post("C9"))["error"] == "channel_not_found"


async def test_a_thread_that_is_not_there_is_refused(client: Client) -> None:
    assert (await client.post(thread_ts="1.1"))["error"] == "thread_not_found"


async def test_methods_that_read_take_no_json(client: Client) -> None:
    assert (await client.call("users.info", as_json=True, user="U1"))["error"] == "invalid_form_data"


async def test_arguments_a_method_does_not_have_are_refused(client: Client) -> None:
    assert (await client.call("users.info", user="U1", colour="red"))["error"] == "invalid_arguments"


async def test_arguments_that_are_missing_are_refused(client: Client) -> None:
    assert (await client.call("users.info"))["error"] == "invalid_arguments"


async def test_a_message_the_checker_refuses_is_refused(slack: SlackServer, client: Client) -> None:
    assert (await client.post(blocks=[{"type": "divider"}] * 51))["error"] == "invalid_blocks"
    assert slack.workspace.answers() == []


async def test_link_previews_are_refused(client: Client) -> None:
    assert (await client.post(unfurl_links=True))["error"] == "unfurls_not_switched_off"


async def test_only_its_own_messages_can_be_updated(slack: SlackServer, client: Client) -> None:
    slack.workspace.messages.append(Message(ts="1.000001", channel="C1", user="U1", text="mine"))

    answer = await client.call("chat.update", as_json=True, channel="C1", ts="1.000001", text="yours")

    assert answer["error"] == "cant_update_message"


async def test_a_private_message_only_reaches_members_and_cannot_be_updated(client: Client) -> None:
    arguments = {"channel": "C1", "text": "psst"}
    assert (await client.call("chat.postEphemeral", as_json=True, user="U9", **arguments))["error"] == (
        "user_not_in_channel"
    )
    ts = (await client.call("chat.postEphemeral", as_json=True, user="U1", **arguments))["message_ts"]
    updated = await client.call("chat.update", as_json=True, channel="C1", ts=ts, text="x")
    assert updated["error"] == "message_not_found"


async def test_a_second_message_within_a_second_is_too_many(slack: SlackServer, client: Client) -> None:
    slack.one_a_second, slack.clock = True, lambda: 1_000.0

    assert (await client.post())["ok"]
    assert (await client.post())["status"] == 429


async def test_a_channel_is_only_read_with_the_scope_of_its_kind(slack: SlackServer, client: Client) -> None:
    ts = (await client.post())["ts"]
    assert (await client.call("conversations.replies", channel="C1", ts=ts))["error"] == "missing_scope"
    slack.scopes |= {"channels:history"}
    assert (await client.call("conversations.replies", channel="C1", ts=ts))["ok"]


async def test_metadata_is_only_shown_where_it_is_asked_for(slack: SlackServer, client: Client) -> None:
    slack.scopes |= {"channels:history"}
    metadata = {"event_type": "t", "event_payload": {"n": 1}}
    ts = (await client.post(metadata=metadata))["ts"]

    without = await client.call("conversations.history", channel="C1")
    shown = await client.call("conversations.replies", channel="C1", ts=ts, include_all_metadata=True)

    assert "metadata" not in without["messages"][0]
    assert shown["messages"][0]["metadata"] == metadata


async def test_members_come_in_pages(slack: SlackServer, client: Client) -> None:
    slack.workspace.channels["C1"].members = [f"U{n}" for n in range(5)]
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = await client.call("conversations.members", channel="C1", limit=2, cursor=cursor)
        seen += page["members"]
        cursor = page["response_metadata"]["next_cursor"] or None
    assert seen == [f"U{n}" for n in range(5)]


async def test_a_direct_conversation_is_opened_once(slack: SlackServer, client: Client) -> None:
    slack.scopes |= {"im:write"}
    first, again = [await client.call("conversations.open", users="U1") for _ in range(2)]
    assert first["channel"]["id"] == again["channel"]["id"]


async def test_a_status_is_kept(slack: SlackServer, client: Client) -> None:
    await client.call("assistant.threads.setStatus", channel_id="C1", thread_ts="1.1", status="is looking")
    assert slack.workspace.statuses == [("C1", "1.1", "is looking")]


async def test_a_file_that_was_not_uploaded_is_not_shared(client: Client) -> None:
    place = await client.call("files.getUploadURLExternal", filename="a.csv", length=3)
    shared = await client.call("files.completeUploadExternal", files=[{"id": place["file_id"]}], channel_id="C1")
    assert shared["error"] == "file_not_found"


async def test_a_file_of_another_length_is_refused(client: Client, http: aiohttp.ClientSession) -> None:
    place = await client.call("files.getUploadURLExternal", filename="a.csv", length=3)
    async with http.post(place["upload_url"], data=b"four") as response:
        assert response.status == 400


async def test_an_empty_file_is_refused(client: Client) -> None:
    assert (await client.call("files.getUploadURLExternal", filename="a.csv", length=0))["error"] == "invalid_arguments"


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_fault_comes_as_often_as_asked(slack: SlackServer, http: aiohttp.ClientSession, status: int) -> None:
    slack.fail("auth.test", *[Fault(status=status, retry_after=7)] * 2)
    seen: list[tuple[int, str | None]] = []
    for _ in range(3):
        async with http.post(slack.api_url + "auth.test", data={"token": TOKEN}) as response:
            seen.append((response.status, response.headers.get("Retry-After")))
    assert seen == [(status, "7"), (status, "7"), (200, None)]


@pytest.mark.parametrize("done", [True, False])
async def test_a_cut_connection_loses_the_answer_and_with_done_only_that(
    slack: SlackServer, client: Client, *, done: bool
) -> None:
    slack.fail("chat.postMessage", Fault(done=done))

    with pytest.raises(aiohttp.ClientError):
        await client.post()

    assert len(slack.workspace.answers()) == int(done)


async def test_a_response_url_can_be_used_five_times(slack: SlackServer, http: aiohttp.ClientSession) -> None:
    url = a_response_url(slack)
    statuses = [(await http.post(url, json={"text": "x"})).status for _ in range(RESPONSE_URL_USES + 1)]
    assert statuses == [200] * 5 + [404]


async def test_a_response_url_lives_for_half_an_hour(slack: SlackServer, http: aiohttp.ClientSession) -> None:
    now = 1_000.0
    slack.clock = lambda: now
    url = a_response_url(slack)
    now += RESPONSE_URL_S + 1
    assert (await http.post(url, json={"text": "x"})).status == 404


async def test_a_response_url_takes_no_message_the_checker_refuses(
    slack: SlackServer, http: aiohttp.ClientSession
) -> None:
    url = a_response_url(slack)
    assert (await http.post(url, json={"text": ""})).status == 400

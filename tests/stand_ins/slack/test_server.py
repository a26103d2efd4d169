"""The stand-in is as strict as Slack where Parley could make mistakes."""

import aiohttp
import pytest

from tests.stand_ins.slack.conftest import WebApiClient
from tests.stand_ins.slack.server import RESPONSE_URL_S, RESPONSE_URL_USES, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import SlackMessage


def a_response_url(slack: SlackServer) -> str:
    return slack.create_response_url(slack.workspace.users["U1"], slack.workspace.channels["C1"])


async def test_a_message_is_posted_and_stored(slack: SlackServer, client: WebApiClient) -> None:
    answer = await client.post_message()

    assert answer["ok"]
    assert [message.ts for message in slack.workspace.bot_messages("C1")] == [answer["ts"]]


@pytest.mark.parametrize(("token", "error"), [("", "not_authed"), ("xoxb-other", "invalid_auth")])
async def test_a_call_without_a_valid_token_is_refused(client: WebApiClient, token: str, error: str) -> None:
    assert (await client.call_method("auth.test", token=token))["error"] == error


async def test_a_call_without_its_scope_is_refused(slack: SlackServer, client: WebApiClient) -> None:
    slack.scopes -= {"chat:write"}
    assert (await client.post_message())["error"] == "missing_scope"


async def test_a_channel_without_the_bot_is_refused(client: WebApiClient) -> None:
    assert (await client.post_message("C2"))["error"] == "not_in_channel"


async def test_an_unknown_channel_is_refused(client: WebApiClient) -> None:
    assert (await client.post_message("C9"))["error"] == "channel_not_found"


async def test_an_unknown_thread_is_refused(client: WebApiClient) -> None:
    assert (await client.post_message(thread_ts="1.1"))["error"] == "thread_not_found"


async def test_reading_methods_refuse_json(client: WebApiClient) -> None:
    assert (await client.call_method("users.info", as_json=True, user="U1"))["error"] == "invalid_form_data"


async def test_unknown_arguments_are_refused(client: WebApiClient) -> None:
    assert (await client.call_method("users.info", user="U1", colour="red"))["error"] == "invalid_arguments"


async def test_missing_arguments_are_refused(client: WebApiClient) -> None:
    assert (await client.call_method("users.info"))["error"] == "invalid_arguments"


async def test_an_invalid_message_is_refused(slack: SlackServer, client: WebApiClient) -> None:
    assert (await client.post_message(blocks=[{"type": "divider"}] * 51))["error"] == "invalid_blocks"
    assert slack.workspace.bot_messages() == []


async def test_link_previews_are_refused(client: WebApiClient) -> None:
    assert (await client.post_message(unfurl_links=True))["error"] == "unfurls_not_switched_off"


async def test_only_its_own_messages_can_be_updated(slack: SlackServer, client: WebApiClient) -> None:
    slack.workspace.messages.append(SlackMessage(ts="1.000001", channel="C1", user="U1", text="mine"))

    answer = await client.call_method("chat.update", as_json=True, channel="C1", ts="1.000001", text="yours")

    assert answer["error"] == "cant_update_message"


async def test_a_private_message_reaches_members_only_and_cannot_be_updated(client: WebApiClient) -> None:
    arguments = {"channel": "C1", "text": "psst"}
    assert (await client.call_method("chat.postEphemeral", as_json=True, user="U9", **arguments))["error"] == (
        "user_not_in_channel"
    )
    ts = (await client.call_method("chat.postEphemeral", as_json=True, user="U1", **arguments))["message_ts"]
    updated = await client.call_method("chat.update", as_json=True, channel="C1", ts=ts, text="x")
    assert updated["error"] == "message_not_found"


async def test_a_second_message_within_a_second_is_rate_limited(slack: SlackServer, client: WebApiClient) -> None:
    slack.limits_posts, slack.clock = True, lambda: 1_000.0

    assert (await client.post_message())["ok"]
    assert (await client.post_message())["status"] == 429


async def test_reading_a_channel_needs_the_scope_of_its_kind(slack: SlackServer, client: WebApiClient) -> None:
    ts = (await client.post_message())["ts"]
    assert (await client.call_method("conversations.replies", channel="C1", ts=ts))["error"] == "missing_scope"
    slack.scopes |= {"channels:history"}
    assert (await client.call_method("conversations.replies", channel="C1", ts=ts))["ok"]


async def test_metadata_is_returned_only_on_request(slack: SlackServer, client: WebApiClient) -> None:
    slack.scopes |= {"channels:history"}
    metadata = {"event_type": "t", "event_payload": {"n": 1}}
    ts = (await client.post_message(metadata=metadata))["ts"]

    history = await client.call_method("conversations.history", channel="C1")
    replies = await client.call_method("conversations.replies", channel="C1", ts=ts, include_all_metadata=True)

    assert "metadata" not in history["messages"][0]
    assert replies["messages"][0]["metadata"] == metadata


async def test_members_are_paged(slack: SlackServer, client: WebApiClient) -> None:
    slack.workspace.channels["C1"].members = [f"U{n}" for n in range(5)]
    member_ids: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = await client.call_method("conversations.members", channel="C1", limit=2, cursor=cursor)
        member_ids += page["members"]
        cursor = page["response_metadata"]["next_cursor"] or None
    assert member_ids == [f"U{n}" for n in range(5)]


async def test_a_direct_conversation_is_opened_once(slack: SlackServer, client: WebApiClient) -> None:
    slack.scopes |= {"im:write"}
    first, second = [await client.call_method("conversations.open", users="U1") for _ in range(2)]
    assert first["channel"]["id"] == second["channel"]["id"]


async def test_a_status_is_stored(slack: SlackServer, client: WebApiClient) -> None:
    await client.call_method("assistant.threads.setStatus", channel_id="C1", thread_ts="1.1", status="is looking")
    assert slack.workspace.statuses == [("C1", "1.1", "is looking")]


async def test_a_file_that_was_not_uploaded_is_not_shared(client: WebApiClient) -> None:
    upload = await client.call_method("files.getUploadURLExternal", filename="a.csv", length=3)
    shared = await client.call_method(
        "files.completeUploadExternal", files=[{"id": upload["file_id"]}], channel_id="C1"
    )
    assert shared["error"] == "file_not_found"


async def test_a_file_of_another_length_is_refused(client: WebApiClient, http: aiohttp.ClientSession) -> None:
    upload = await client.call_method("files.getUploadURLExternal", filename="a.csv", length=3)
    async with http.post(upload["upload_url"], data=b"four") as response:
        assert response.status == 400


async def test_an_empty_file_is_refused(client: WebApiClient) -> None:
    assert (await client.call_method("files.getUploadURLExternal", filename="a.csv", length=0))[
        "error"
    ] == "invalid_arguments"


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_fault_happens_as_often_as_planned(
    slack: SlackServer, http: aiohttp.ClientSession, status: int
) -> None:
    slack.plan_faults("auth.test", *[Fault(status=status, retry_after=7)] * 2)
    responses: list[tuple[int, str | None]] = []
    for _ in range(3):
        async with http.post(slack.api_url + "auth.test", data={"token": TOKEN}) as response:
            responses.append((response.status, response.headers.get("Retry-After")))
    assert responses == [(status, "7"), (status, "7"), (200, None)]


@pytest.mark.parametrize("done", [True, False])
async def test_a_cut_connection_loses_the_answer_and_with_done_only_the_answer(
    slack: SlackServer, client: WebApiClient, *, done: bool
) -> None:
    slack.plan_faults("chat.postMessage", Fault(takes_effect=done))

    with pytest.raises(aiohttp.ClientError):
        await client.post_message()

    assert len(slack.workspace.bot_messages()) == int(done)


async def test_a_response_url_can_be_used_five_times(slack: SlackServer, http: aiohttp.ClientSession) -> None:
    url = a_response_url(slack)
    statuses = [(await http.post(url, json={"text": "x"})).status for _ in range(RESPONSE_URL_USES + 1)]
    assert statuses == [200] * 5 + [404]


async def test_a_response_url_expires_after_half_an_hour(slack: SlackServer, http: aiohttp.ClientSession) -> None:
    now = 1_000.0
    slack.clock = lambda: now
    url = a_response_url(slack)
    now += RESPONSE_URL_S + 1
    assert (await http.post(url, json={"text": "x"})).status == 404


async def test_a_response_url_refuses_an_invalid_message(slack: SlackServer, http: aiohttp.ClientSession) -> None:
    url = a_response_url(slack)
    assert (await http.post(url, json={"text": ""})).status == 400

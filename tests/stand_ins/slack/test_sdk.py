"""Slack's own SDK works with the stand-in."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from tests.stand_ins.slack.server import APP_TOKEN, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import TEAM, SlackMember


@pytest.fixture
def sdk(slack: SlackServer, http: aiohttp.ClientSession) -> Any:
    return AsyncWebClient(token=TOKEN, base_url=slack.api_url, session=http)


async def test_the_sdk_streams_a_message(slack: SlackServer, sdk: Any, ada: SlackMember) -> None:
    direct = slack.workspace.direct_channel_of(ada.id)
    question, _ = await slack.post_as_person(ada, slack.workspace.channels["C2"], "unheard")
    question.channel = direct.id
    recipient = {"recipient_team_id": TEAM, "recipient_user_id": ada.id}

    streamer = await sdk.chat_stream(channel=direct.id, thread_ts=question.ts, buffer_size=4, **recipient)
    for text in ("Twelve", " receipts"):
        await streamer.append(markdown_text=text)
    await streamer.stop(markdown_text=".", blocks=[{"type": "divider"}])

    assert [message.text for message in slack.workspace.bot_messages()] == ["Twelve receipts."]


async def test_the_sdk_shows_views(slack: SlackServer, sdk: Any, ada: SlackMember) -> None:
    slack.home_tab = True
    blocks = [{"type": "section", "text": {"type": "plain_text", "text": "Welcome"}}]
    modal = {"type": "modal", "title": {"type": "plain_text", "text": "Grant"}, "blocks": blocks}

    await sdk.views_publish(user_id=ada.id, view={"type": "home", "blocks": blocks})
    await sdk.views_open(trigger_id=slack.create_trigger_id(ada), view=modal)

    assert slack.view_of(ada).title_text() == "Grant"


async def test_the_sdk_sets_a_thread_status(slack: SlackServer, sdk: Any) -> None:
    arguments = {"channel_id": "C1", "thread_ts": "1.1", "status": "is looking"}
    await sdk.assistant_threads_setStatus(**arguments, loading_messages=["one", "two"])
    assert slack.workspace.status_lines[("C1", "1.1")].loading_messages == ("one", "two")


async def test_the_sdk_reads_lists(slack: SlackServer, sdk: Any) -> None:
    slack.scopes |= {"usergroups:read"}
    assert (await sdk.usergroups_list(include_users=True, include_disabled=False))["usergroups"] == []
    assert len((await sdk.users_list(limit=1, include_locale=True))["members"]) == 1


async def test_the_sdk_receives_events_over_a_socket(slack: SlackServer, sdk: Any, ada: SlackMember) -> None:
    slack.socket_mode = True
    client = SocketModeClient(app_token=APP_TOKEN, web_client=sdk, auto_reconnect_enabled=False)
    texts: list[str] = []

    async def on_request(_: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        untyped_request: Any = request
        texts.append(untyped_request.payload["event"]["text"])
        await client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))

    client.socket_mode_request_listeners.append(on_request)
    await client.connect()
    await slack.sockets.wait_for_connections()
    _, delivered = await slack.post_as_person(ada, slack.workspace.direct_channel_of(ada.id), "words")
    await client.close()

    assert [delivery.statuses for delivery in delivered] == [[200]]
    assert texts == ["words"]

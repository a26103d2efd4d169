"""Slack's own SDK gets along with the stand-in as it does with Slack."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from tests.stand_ins.slack.server import APP_TOKEN, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import TEAM, User


@pytest.fixture
def sdk(slack: SlackServer, http: aiohttp.ClientSession) -> Any:
    return AsyncWebClient(token=TOKEN, base_url=slack.api_url, session=http)


async def test_it_streams(slack: SlackServer, sdk: Any, ada: User) -> None:
    place = slack.workspace.direct(ada.id)
    question, _ = await slack.say(ada, slack.workspace.channels["C2"], "unheard")
    question.channel = place.id
    to = {"recipient_team_id": TEAM, "recipient_user_id": ada.id}

    streamer = await sdk.chat_stream(channel=place.id, thread_ts=question.ts, buffer_size=4, **to)
    for word in ("Twelve", " receipts"):
        await streamer.append(markdown_text=word)
    await streamer.stop(markdown_text=".", blocks=[{"type": "divider"}])

    assert [one.text for one in slack.workspace.answers()] == ["Twelve receipts."]


async def test_it_shows_views(slack: SlackServer, sdk: Any, ada: User) -> None:
    slack.home_tab = True
    blocks = [{"type": "section", "text": {"type": "plain_text", "text": "Welcome"}}]
    modal = {"type": "modal", "title": {"type": "plain_text", "text": "Grant"}, "blocks": blocks}

    await sdk.views_publish(user_id=ada.id, view={"type": "home", "blocks": blocks})
    await sdk.views_open(trigger_id=slack.trigger_id(ada), view=modal)

    assert slack.view_of(ada).title() == "Grant"


async def test_it_says_what_it_is_doing(slack: SlackServer, sdk: Any) -> None:
    given = {"channel_id": "C1", "thread_ts": "1.1", "status": "is looking"}
    await sdk.assistant_threads_setStatus(**given, loading_messages=["one", "two"])
    assert slack.workspace.shown[("C1", "1.1")].loading_messages == ("one", "two")


async def test_it_reads_lists(slack: SlackServer, sdk: Any) -> None:
    slack.scopes |= {"usergroups:read"}
    assert (await sdk.usergroups_list(include_users=True, include_disabled=False))["usergroups"] == []
    assert len((await sdk.users_list(limit=1, include_locale=True))["members"]) == 1


async def test_it_listens_on_a_socket(slack: SlackServer, sdk: Any, ada: User) -> None:
    slack.socket_mode = True
    client = SocketModeClient(app_token=APP_TOKEN, web_client=sdk, auto_reconnect_enabled=False)
    texts: list[str] = []

    async def on_request(_: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        told: Any = request
        texts.append(told.payload["event"]["text"])
        await client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))

    client.socket_mode_request_listeners.append(on_request)
    await client.connect()
    await slack.sockets.connected()
    _, delivered = await slack.say(ada, slack.workspace.direct(ada.id), "words")
    await client.close()

    assert [one.statuses for one in delivered] == [[200]]
    assert texts == ["words"]

"""Socket Mode is acknowledged envelope by envelope, and comes again where it was not."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.stand_ins.slack.conftest import Client
from tests.stand_ins.slack.server import APP_TOKEN, SlackServer
from tests.stand_ins.slack.sockets import NotDelivered
from tests.stand_ins.slack.workspace import User


@pytest.fixture(autouse=True)
def socket_mode(slack: SlackServer) -> None:
    slack.socket_mode, slack.delivery_s = True, 0.2


@asynccontextmanager
async def connection(
    slack: SlackServer, client: Client, http: aiohttp.ClientSession
) -> AsyncGenerator[aiohttp.ClientWebSocketResponse]:
    """Greeted already."""
    url = (await client.call("apps.connections.open", token=APP_TOKEN))["url"]
    async with http.ws_connect(url) as socket:
        assert (await socket.receive_json())["type"] == "hello"
        yield socket


async def said(slack: SlackServer, ada: User) -> list[list[int | None]]:
    _, delivered = await slack.say(ada, slack.workspace.direct("U1"), "words")
    return [one.statuses for one in delivered]


@pytest.mark.parametrize(
    ("token", "error"),
    [("", "not_authed"), ("xapp-other", "invalid_auth"), ("xoxb-parley-token", "not_allowed_token_type")],
)
async def test_only_the_apps_own_token_opens_a_connection(client: Client, token: str, error: str) -> None:
    assert (await client.call("apps.connections.open", token=token))["error"] == error


async def test_the_apps_own_token_opens_nothing_else(client: Client) -> None:
    assert (await client.call("auth.test", token=APP_TOKEN))["error"] == "not_allowed_token_type"


async def test_without_socket_mode_there_is_no_connection(slack: SlackServer, client: Client) -> None:
    slack.socket_mode = False
    assert (await client.call("apps.connections.open", token=APP_TOKEN))["error"] == "socket_mode_not_enabled"


async def test_an_address_is_good_for_one_connection(
    slack: SlackServer, client: Client, http: aiohttp.ClientSession
) -> None:
    url = (await client.call("apps.connections.open", token=APP_TOKEN))["url"]
    async with http.ws_connect(url):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await http.ws_connect(url)


async def test_an_event_comes_in_an_envelope_and_is_acknowledged(
    slack: SlackServer, client: Client, http: aiohttp.ClientSession, ada: User
) -> None:
    async with connection(slack, client, http) as socket:
        saying = asyncio.create_task(said(slack, ada))
        envelope = await socket.receive_json()
        await socket.send_json({"envelope_id": envelope["envelope_id"]})

        assert await saying == [[200]]
        assert (envelope["type"], envelope["retry_attempt"]) == ("events_api", 0)
        assert envelope["payload"]["event"]["text"] == "words"


async def test_what_is_not_acknowledged_in_time_comes_again(
    slack: SlackServer, client: Client, http: aiohttp.ClientSession, ada: User
) -> None:
    async with connection(slack, client, http) as socket:
        saying = asyncio.create_task(said(slack, ada))
        first, again = await socket.receive_json(), await socket.receive_json()
        await socket.send_json({"envelope_id": again["envelope_id"]})

        assert await saying == [[None, 200]]
        assert (again["retry_attempt"], again["retry_reason"]) == (1, "timeout")
        assert first["payload"]["event_id"] == again["payload"]["event_id"]


async def test_an_acknowledgement_may_answer(
    slack: SlackServer, client: Client, http: aiohttp.ClientSession, ada: User
) -> None:
    slack.commands, slack.scopes = frozenset({"/ask-docs"}), slack.scopes | {"commands"}
    async with connection(slack, client, http) as socket:
        asking = asyncio.create_task(slack.command(ada, slack.workspace.channels["C1"], "/ask-docs", "how many?"))
        envelope = await socket.receive_json()
        await socket.send_json({"envelope_id": envelope["envelope_id"], "payload": {"text": "Looking."}})

        assert (await asking).statuses == [200]
        assert (envelope["type"], envelope["payload"]["text"]) == ("slash_commands", "how many?")
        assert [one.text for one in slack.workspace.answers()] == ["Looking."]


async def test_an_interaction_is_not_repeated(
    slack: SlackServer, client: Client, http: aiohttp.ClientSession, ada: User
) -> None:
    async with connection(slack, client, http):
        delivered = await slack.deliver_interaction(slack.interaction(ada, "block_actions"))
    assert delivered.statuses == [None]


async def test_a_connection_that_breaks_leaves_its_envelopes_to_the_next(
    slack: SlackServer, client: Client, http: aiohttp.ClientSession, ada: User
) -> None:
    slack.delivery_s = 5
    async with connection(slack, client, http) as socket:
        saying = asyncio.create_task(said(slack, ada))
        await socket.receive_json()
        await socket.close()
    async with connection(slack, client, http) as socket:
        envelope = await socket.receive_json()
        await socket.send_json({"envelope_id": envelope["envelope_id"]})
        assert await saying == [[None, 200]]


async def test_connections_take_turns(slack: SlackServer, client: Client, http: aiohttp.ClientSession) -> None:
    async with connection(slack, client, http) as one, connection(slack, client, http) as other:
        for socket in (one, other):
            with pytest.raises(NotDelivered):
                await slack.sockets.deliver({"type": "events_api"}, 0.05)
            assert (await socket.receive_json(timeout=1))["type"] == "events_api"


@pytest.mark.parametrize(("reason", "is_closed"), [("warning", False), ("refresh_requested", True)])
async def test_slack_asks_a_connection_to_go(
    slack: SlackServer, client: Client, http: aiohttp.ClientSession, reason: str, *, is_closed: bool
) -> None:
    async with connection(slack, client, http) as socket:
        asking = asyncio.create_task(slack.sockets.disconnect(reason))
        told: dict[str, Any] = await socket.receive_json()
        if is_closed:
            assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE
        await asking
        await slack.sockets.connected(0 if is_closed else 1)

        assert (told["type"], told["reason"]) == ("disconnect", reason)

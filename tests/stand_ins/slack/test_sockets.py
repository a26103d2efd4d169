"""Socket Mode: each envelope is acknowledged, or repeated without an acknowledgement."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.stand_ins.slack.conftest import WebApiClient
from tests.stand_ins.slack.server import APP_TOKEN, SlackServer
from tests.stand_ins.slack.sockets import EnvelopeNotDelivered
from tests.stand_ins.slack.workspace import SlackMember


@pytest.fixture(autouse=True)
def socket_mode(slack: SlackServer) -> None:
    slack.socket_mode, slack.delivery_s = True, 0.2


@asynccontextmanager
async def open_connection(
    slack: SlackServer, client: WebApiClient, http: aiohttp.ClientSession
) -> AsyncGenerator[aiohttp.ClientWebSocketResponse]:
    """Open a connection and receive its greeting."""
    url = (await client.call_method("apps.connections.open", token=APP_TOKEN))["url"]
    async with http.ws_connect(url) as socket:
        assert (await socket.receive_json())["type"] == "hello"
        yield socket


async def deliver_message(slack: SlackServer, ada: SlackMember) -> list[list[int | None]]:
    _, delivered = await slack.post_as_person(ada, slack.workspace.direct_channel_of("U1"), "words")
    return [delivery.statuses for delivery in delivered]


@pytest.mark.parametrize(
    ("token", "error"),
    [("", "not_authed"), ("xapp-other", "invalid_auth"), ("xoxb-parley-token", "not_allowed_token_type")],
)
async def test_only_the_apps_own_token_opens_a_connection(client: WebApiClient, token: str, error: str) -> None:
    assert (await client.call_method("apps.connections.open", token=token))["error"] == error


async def test_the_apps_own_token_opens_nothing_else(client: WebApiClient) -> None:
    assert (await client.call_method("auth.test", token=APP_TOKEN))["error"] == "not_allowed_token_type"


async def test_without_socket_mode_there_is_no_connection(slack: SlackServer, client: WebApiClient) -> None:
    slack.socket_mode = False
    assert (await client.call_method("apps.connections.open", token=APP_TOKEN))["error"] == "socket_mode_not_enabled"


async def test_an_address_opens_one_connection(
    slack: SlackServer, client: WebApiClient, http: aiohttp.ClientSession
) -> None:
    url = (await client.call_method("apps.connections.open", token=APP_TOKEN))["url"]
    async with http.ws_connect(url):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await http.ws_connect(url)


async def test_an_event_is_sent_in_an_envelope_and_acknowledged(
    slack: SlackServer, client: WebApiClient, http: aiohttp.ClientSession, ada: SlackMember
) -> None:
    async with open_connection(slack, client, http) as socket:
        saying = asyncio.create_task(deliver_message(slack, ada))
        envelope = await socket.receive_json()
        await socket.send_json({"envelope_id": envelope["envelope_id"]})

        assert await saying == [[200]]
        assert (envelope["type"], envelope["retry_attempt"]) == ("events_api", 0)
        assert envelope["payload"]["event"]["text"] == "words"


async def test_an_envelope_without_an_acknowledgement_is_repeated(
    slack: SlackServer, client: WebApiClient, http: aiohttp.ClientSession, ada: SlackMember
) -> None:
    async with open_connection(slack, client, http) as socket:
        saying = asyncio.create_task(deliver_message(slack, ada))
        envelope, repeated_envelope = await socket.receive_json(), await socket.receive_json()
        await socket.send_json({"envelope_id": repeated_envelope["envelope_id"]})

        assert await saying == [[None, 200]]
        assert (repeated_envelope["retry_attempt"], repeated_envelope["retry_reason"]) == (1, "timeout")
        assert envelope["payload"]["event_id"] == repeated_envelope["payload"]["event_id"]


async def test_an_acknowledgement_can_carry_an_answer(
    slack: SlackServer, client: WebApiClient, http: aiohttp.ClientSession, ada: SlackMember
) -> None:
    slack.commands, slack.scopes = frozenset({"/ask-docs"}), slack.scopes | {"commands"}
    async with open_connection(slack, client, http) as socket:
        asking = asyncio.create_task(slack.use_command(ada, slack.workspace.channels["C1"], "/ask-docs", "how many?"))
        envelope = await socket.receive_json()
        await socket.send_json({"envelope_id": envelope["envelope_id"], "payload": {"text": "Looking."}})

        assert (await asking).statuses == [200]
        assert (envelope["type"], envelope["payload"]["text"]) == ("slash_commands", "how many?")
        assert [message.text for message in slack.workspace.bot_messages()] == ["Looking."]


async def test_an_interaction_is_not_repeated(
    slack: SlackServer, client: WebApiClient, http: aiohttp.ClientSession, ada: SlackMember
) -> None:
    async with open_connection(slack, client, http):
        delivered = await slack.deliver_interaction(slack.interaction_payload(ada, "block_actions"))
    assert delivered.statuses == [None]


async def test_the_envelopes_of_a_broken_connection_go_to_the_next(
    slack: SlackServer, client: WebApiClient, http: aiohttp.ClientSession, ada: SlackMember
) -> None:
    slack.delivery_s = 5
    async with open_connection(slack, client, http) as socket:
        saying = asyncio.create_task(deliver_message(slack, ada))
        await socket.receive_json()
        await socket.close()
    async with open_connection(slack, client, http) as socket:
        envelope = await socket.receive_json()
        await socket.send_json({"envelope_id": envelope["envelope_id"]})
        assert await saying == [[None, 200]]


async def test_envelopes_go_to_the_connections_in_turn(
    slack: SlackServer, client: WebApiClient, http: aiohttp.ClientSession
) -> None:
    async with (
        open_connection(slack, client, http) as first_socket,
        open_connection(slack, client, http) as second_socket,
    ):
        for socket in (first_socket, second_socket):
            with pytest.raises(EnvelopeNotDelivered):
                await slack.sockets.deliver_envelope({"type": "events_api"}, 0.05)
            assert (await socket.receive_json(timeout=1))["type"] == "events_api"


@pytest.mark.parametrize(("reason", "is_closed"), [("warning", False), ("refresh_requested", True)])
async def test_slack_announces_the_end_of_a_connection(
    slack: SlackServer, client: WebApiClient, http: aiohttp.ClientSession, reason: str, *, is_closed: bool
) -> None:
    async with open_connection(slack, client, http) as socket:
        asking = asyncio.create_task(slack.sockets.announce_disconnect(reason))
        message: dict[str, Any] = await socket.receive_json()
        if is_closed:
            assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE
        await asking
        await slack.sockets.wait_for_connections(0 if is_closed else 1)

        assert (message["type"], message["reason"]) == ("disconnect", reason)

"""Receives deliveries over websockets that Parley opens (Socket Mode), without a public address or signatures.

An envelope is acknowledged once its delivery is stored. Without an acknowledgement Slack repeats an event.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Final

import aiohttp
from pydantic import ValidationError
from slack_bolt.response import BoltResponse
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError, SlackRateLimited, SlackRefusal
from adapters.slack.events.dispatch import DeliveryDispatcher
from adapters.slack.payloads.events import SocketEnvelope
from adapters.slack.payloads.responses import SocketUrlResponse
from adapters.slack.posting.api import SlackApi
from bot.errors import InvalidSettings

CONNECT_TIMEOUT_S: Final = 10.0
HEARTBEAT_S: Final = 20.0  # detects a connection that died without a close
CLOSE_TIMEOUT_S: Final = 3.0  # as long as Slack waits for an acknowledgement
MAX_BACKOFF_ATTEMPTS: Final = 30  # each attempt adds about a second to the wait


class SocketModeReceiver:
    """Keeps one connection and opens the next before Slack ends it. Call `start` and `close` once each."""

    def __init__(
        self,
        api: SlackApi,
        dispatch: DeliveryDispatcher,
        log: FilteringBoundLogger,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`api` uses the app-level token."""
        self._api, self._dispatch, self._log, self._pause = api, dispatch, log, pause
        self._session: aiohttp.ClientSession | None = None
        self._connection_task: asyncio.Task[None] | None = None
        self._delivery_tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False

    async def start(self) -> None:
        """Raises `InvalidSettings` when Slack refuses the token; retries in the background when Slack is down."""
        await self._api.start()
        try:
            address = await self._fetch_socket_address()
        except SlackRefusal as exc:
            await self._api.close()
            raise _invalid_token_error(exc) from exc
        except SlackError as exc:
            self._log.warning("slack unreachable at start", reason=str(exc))
            address = None
        self._session = aiohttp.ClientSession(trust_env=True)
        self._connection_task = asyncio.create_task(self._keep_one_connection(self._session, address))

    async def close(self) -> None:
        """Stop receiving, acknowledge the deliveries under way, then end the connection."""
        self._is_closing = True
        if self._delivery_tasks:
            _, unfinished = await asyncio.wait(self._delivery_tasks, timeout=CLOSE_TIMEOUT_S)
            await _cancel_and_wait(*unfinished)
        if self._connection_task is not None:
            await _cancel_and_wait(self._connection_task)
        if self._session is not None:
            await self._session.close()
        await self._api.close()

    # Connections

    async def _fetch_socket_address(self) -> str:
        return (await self._api.call_method(SocketUrlResponse, "apps.connections.open")).url

    async def _keep_one_connection(self, session: aiohttp.ClientSession, address: str | None) -> None:
        """Keep one connection open. A connection that Slack is about to end is read until it ends."""
        async with asyncio.TaskGroup() as group:
            while True:
                connection = await self._open_socket_connection(session, address)
                needs_successor, address = asyncio.Event(), None
                group.create_task(self._listen_until_closed(connection, needs_successor))
                await needs_successor.wait()

    async def _open_socket_connection(
        self, session: aiohttp.ClientSession, address: str | None
    ) -> aiohttp.ClientWebSocketResponse:
        """Open a connection, with unlimited retries."""
        failures = 0
        while True:
            try:
                url = address or await self._fetch_socket_address()
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    return await session.ws_connect(url, heartbeat=HEARTBEAT_S)
            except (SlackError, aiohttp.ClientError, TimeoutError) as exc:
                failures, address = failures + 1, None
                reason = str(exc) if isinstance(exc, SlackError) else type(exc).__name__
                self._log.warning("slack socket not open", reason=reason, attempt=failures)
                if isinstance(exc, SlackRateLimited):
                    await self._pause(exc.retry_after_s)
                await self._api.wait_before_retry(min(failures, MAX_BACKOFF_ATTEMPTS))

    async def _listen_until_closed(
        self, connection: aiohttp.ClientWebSocketResponse, needs_successor: asyncio.Event
    ) -> None:
        """Read the connection until it ends. Sets `needs_successor` when the next one is needed, maybe earlier."""
        async with connection:
            async for message in connection:
                if message.type is aiohttp.WSMsgType.TEXT:
                    self._handle_text_frame(connection, message.data, needs_successor)
        if not needs_successor.is_set():
            self._log.warning("slack socket ended", reason="cut")
            await self._api.wait_before_retry(1)
            needs_successor.set()

    # Messages

    def _handle_text_frame(
        self, connection: aiohttp.ClientWebSocketResponse, text: str, needs_successor: asyncio.Event
    ) -> None:
        try:
            message = SocketEnvelope.model_validate_json(text)
        except ValidationError:
            self._log.warning("slack envelope unreadable")
            return
        if message.type == "disconnect":
            self._log.info("slack socket ends", reason=message.reason)
            needs_successor.set()
        elif message.envelope_id is not None and not self._is_closing:
            task = asyncio.create_task(self._deliver_envelope(connection, message.envelope_id, message))
            self._delivery_tasks.add(task)
            task.add_done_callback(self._finish_delivery)

    async def _deliver_envelope(
        self, connection: aiohttp.ClientWebSocketResponse, envelope_id: str, message: SocketEnvelope
    ) -> None:
        response = await self._dispatch.dispatch_delivery(message.payload)
        if response.status != 200:
            return
        ack_payload = _ack_payload_of(response) if message.accepts_response_payload else None
        try:
            await connection.send_json(
                {"envelope_id": envelope_id} | ({} if ack_payload is None else {"payload": ack_payload})
            )
        except (aiohttp.ClientError, ConnectionError):
            self._log.info("slack socket ended before an acknowledgement")  # Slack repeats it; it is a duplicate then

    def _finish_delivery(self, task: asyncio.Task[None]) -> None:
        """Log a failed delivery, which was not acknowledged. Logs only the error's type: its text may be private."""
        self._delivery_tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("slack delivery failed", error=type(error).__name__)


def _ack_payload_of(response: BoltResponse) -> object:
    """Returns the response's JSON, or its text as a message; None for an empty response."""
    if not response.body:
        return None
    kind = response.headers.get("content-type", [""])[0]
    return json.loads(response.body) if kind.startswith("application/json") else {"text": response.body}


def _invalid_token_error(exc: SlackRefusal) -> InvalidSettings:
    return InvalidSettings("SLACK_APP_TOKEN", f"is refused by Slack ({exc.error})", token_advice_for(exc))


def token_advice_for(exc: SlackRefusal) -> str:
    """Returns what to click on Slack's page after this refusal."""
    if exc.error == "socket_mode_not_enabled":
        return "turn on Socket Mode on your Slack app's page, or remove SLACK_APP_TOKEN to use HTTP"
    return "make one with the scope connections:write on your Slack app's page, Basic Information, App-Level Tokens"


async def _cancel_and_wait(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)

"""Slack over websockets that we open (Socket Mode): Slack need not reach us, and nothing is signed.

An envelope is acknowledged once its delivery is stored, and not at all where it could not be: Slack repeats an event.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import aiohttp
from pydantic import BaseModel, ValidationError
from slack_bolt.async_app import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.dispatch import Dispatch
from adapters.slack.errors import SlackBusy, SlackFailed, SlackRefused
from bot.errors import InvalidSettings

CONNECT_S: Final = 10.0
HEARTBEAT_S: Final = 20.0  # a connection that is dead without having ended is found so
FAREWELL_S: Final = 3.0  # as long as Slack waits for an acknowledgement
LONGEST_PAUSE: Final = 30  # in attempts, each of which adds about a second


class Opened(BaseModel):
    """What `apps.connections.open` answers: an address that is good for one connection."""

    url: str


class _Message(BaseModel):
    """`hello`, `disconnect`, or an envelope, which has an id."""

    type: str
    reason: str = ""
    envelope_id: str | None = None
    payload: dict[str, Any] = {}
    accepts_response_payload: bool = False


class Socket:
    """One connection at a time; its successor is opened before Slack ends it. `start` and `close` once each."""

    def __init__(
        self,
        api: SlackApi,
        dispatch: Dispatch,
        log: FilteringBoundLogger,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`api` with the app's own token."""
        self._api, self._dispatch, self._log, self._pause = api, dispatch, log, pause
        self._session: aiohttp.ClientSession | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._under_way: set[asyncio.Task[None]] = set()
        self._ending = False

    async def start(self) -> None:
        """Raises `InvalidSettings` when Slack refuses the token; a Slack that is down is asked again in a while."""
        await self._api.start()
        try:
            address = await self._address()
        except SlackRefused as exc:
            await self._api.close()
            raise _wrong(exc) from exc
        except SlackFailed as exc:
            self._log.warning("slack unreachable at start", reason=str(exc))
            address = None
        self._session = aiohttp.ClientSession(trust_env=True)
        self._keeping = asyncio.create_task(self._kept(self._session, address))

    async def close(self) -> None:
        """Takes nothing more, acknowledges what was taken, then ends the connection."""
        self._ending = True
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=FAREWELL_S)
            await _cancelled(*late)
        if self._keeping is not None:
            await _cancelled(self._keeping)
        if self._session is not None:
            await self._session.close()
        await self._api.close()

    # Connections

    async def _address(self) -> str:
        return (await self._api.call(Opened, "apps.connections.open")).url

    async def _kept(self, session: aiohttp.ClientSession, address: str | None) -> None:
        """Always one connection. One that Slack is about to end is listened to until it does."""
        async with asyncio.TaskGroup() as group:
            while True:
                connection = await self._connected(session, address)
                over, address = asyncio.Event(), None
                group.create_task(self._heard(connection, over))
                await over.wait()

    async def _connected(self, session: aiohttp.ClientSession, address: str | None) -> aiohttp.ClientWebSocketResponse:
        """However long it takes."""
        failures = 0
        while True:
            try:
                url = address or await self._address()
                async with asyncio.timeout(CONNECT_S):
                    return await session.ws_connect(url, heartbeat=HEARTBEAT_S)
            except (SlackFailed, aiohttp.ClientError, TimeoutError) as exc:
                failures, address = failures + 1, None
                reason = str(exc) if isinstance(exc, SlackFailed) else type(exc).__name__
                self._log.warning("slack socket not open", reason=reason, attempt=failures)
                if isinstance(exc, SlackBusy):
                    await self._pause(exc.after_s)
                await self._api.breathe(min(failures, LONGEST_PAUSE))

    async def _heard(self, connection: aiohttp.ClientWebSocketResponse, over: asyncio.Event) -> None:
        """Until it ends. `over` is set when another one is wanted, which may be before."""
        async with connection:
            async for message in connection:
                if message.type is aiohttp.WSMsgType.TEXT:
                    self._take(connection, message.data, over)
        if not over.is_set():
            self._log.warning("slack socket ended", reason="cut")
            await self._api.breathe(1)
            over.set()

    # Messages

    def _take(self, connection: aiohttp.ClientWebSocketResponse, text: str, over: asyncio.Event) -> None:
        try:
            message = _Message.model_validate_json(text)
        except ValidationError:
            self._log.warning("slack envelope makes no sense")
            return
        if message.type == "disconnect":
            self._log.info("slack socket ends", reason=message.reason)
            over.set()
        elif message.envelope_id is not None and not self._ending:
            task = asyncio.create_task(self._delivered(connection, message.envelope_id, message))
            self._under_way.add(task)
            task.add_done_callback(self._ended)

    async def _delivered(self, connection: aiohttp.ClientWebSocketResponse, envelope: str, message: _Message) -> None:
        request = AsyncBoltRequest(mode="socket_mode", body=message.payload)
        answer = await self._dispatch.deliver(request, message.payload)
        if answer.status != 200:
            return
        told = _told(answer) if message.accepts_response_payload else None
        try:
            await connection.send_json({"envelope_id": envelope} | ({} if told is None else {"payload": told}))
        except (aiohttp.ClientError, ConnectionError):
            self._log.info("slack socket ended before an acknowledgement")  # it comes again, and is known by then

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Not acknowledged where it failed. Names the error, never what it says."""
        self._under_way.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("slack delivery failed", error=type(error).__name__)


def _told(answer: BoltResponse) -> object:
    """What the app answers: JSON as it is, words as a message; None for nothing."""
    if not answer.body:
        return None
    kind = answer.headers.get("content-type", [""])[0]
    return json.loads(answer.body) if kind.startswith("application/json") else {"text": answer.body}


def _wrong(exc: SlackRefused) -> InvalidSettings:
    return InvalidSettings("SLACK_APP_TOKEN", f"is refused by Slack ({exc.error})", advice_for(exc))


def advice_for(exc: SlackRefused) -> str:
    """What to click where Slack opens no connection."""
    if exc.error == "socket_mode_not_enabled":
        return "turn on Socket Mode on your Slack app's page, or remove SLACK_APP_TOKEN to use HTTP"
    return "make one with the scope connections:write on your Slack app's page, Basic Information, App-Level Tokens"


async def _cancelled(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)

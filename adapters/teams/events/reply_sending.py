"""Shows the answers to commands and clicks that are not turns: at once, else again some times in the background.

Nothing of them is stored. An answer is lost only where the process ends before Teams takes it. A repeated delivery is
answered once, as long as the process that answered it remembers it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from cachetools import TTLCache
from structlog.typing import FilteringBoundLogger

from adapters.teams.connector.calls import ConnectorCalls
from adapters.teams.errors import InvalidActivity, TeamsError, TeamsRefusal, TeamsThrottled
from adapters.teams.events.received_activity import ReceivedActivity
from adapters.teams.payloads.json_values import JsonObject
from bot.conversation.notices import INTERNAL_ERROR_NOTICE
from bot.translation import translate_message, use_language

RESPONSE_TIMEOUT_S: Final = 10.0  # Teams waits 15 s
RETRY_PAUSES_S: Final = (2.0, 10.0, 60.0)  # before each further try to show an answer
_MEMORY_S: Final = 600.0  # of answered activities
_MAX_REMEMBERED: Final = 10_000
_CLOSE_TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedReply:
    """A reply of which the message is to be known. `note_message` is called with its id once it is shown."""

    activity: JsonObject
    note_message: Callable[[str], None]


MakeReply = Callable[[], Awaitable[JsonObject | NotedReply | None]]


class ReplySending:
    """`close` it before the connector."""

    def __init__(
        self, connector: ConnectorCalls, log: FilteringBoundLogger, *, pauses_s: Sequence[float] = RETRY_PAUSES_S
    ) -> None:
        self._connector, self._log, self._pauses_s = connector, log, pauses_s
        self._answered = TTLCache[str, None](_MAX_REMEMBERED, _MEMORY_S)
        self._tasks = set[asyncio.Task[None]]()
        self._is_closing = asyncio.Event()

    async def close(self) -> None:
        """Tries once more to show what is not shown yet."""
        self._is_closing.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                while self._tasks:
                    await asyncio.wait(set(self._tasks))
        for task in self._tasks:
            task.cancel()

    async def answer_once(
        self, received: ReceivedActivity, make_reply: MakeReply, *, replaces_card: bool = False
    ) -> None:
        """Makes the reply and shows it. Does nothing for an activity that was answered before.

        `make_reply` returns None where there is nothing to show. `replaces_card`: the reply takes the place of the
        card that was submitted. What takes too long goes on in the background. Raises what `make_reply` raises except
        a `TeamsError`; the activity then counts as not answered.
        """
        key = f"{received.conversation}:{received.activity.id}"
        if received.activity.id:
            if key in self._answered:
                return
            self._answered[key] = None
        task = self._spawn(self._make_and_show(received, key, make_reply, replaces_card))
        done, _ = await asyncio.wait({task}, timeout=RESPONSE_TIMEOUT_S)
        if done:
            task.result()

    async def _make_and_show(
        self, received: ReceivedActivity, key: str, make_reply: MakeReply, replaces_card: bool
    ) -> None:
        try:
            with use_language(received.locale):
                reply = await self._make_or_apologise(make_reply)
        except BaseException:
            self._answered.pop(key, None)
            raise
        if reply is None:
            return
        try:
            await self._show_reply(received, reply, replaces_card)
        except TeamsError as exc:
            self._log.warning("teams reply not shown", error=type(exc).__name__)
            if _may_be_repeated(exc):
                self._spawn(self._show_later(received, reply, replaces_card, exc))

    async def _make_or_apologise(self, make_reply: MakeReply) -> JsonObject | NotedReply | None:
        try:
            return await make_reply()
        except TeamsError as exc:
            self._log.warning("teams reply not made", error=type(exc).__name__)
            return {"type": "message", "text": translate_message(INTERNAL_ERROR_NOTICE), "textFormat": "plain"}

    async def _show_later(
        self, received: ReceivedActivity, reply: JsonObject | NotedReply, replaces_card: bool, error: TeamsError
    ) -> None:
        for pause_s in self._pauses_s:
            await self._pause(max(pause_s, error.retry_after_s) if isinstance(error, TeamsThrottled) else pause_s)
            try:
                await self._show_reply(received, reply, replaces_card)
            except TeamsError as exc:
                error = exc
            else:
                return
            if self._is_closing.is_set() or not _may_be_repeated(error):
                break
        self._log.error("teams reply lost", error=type(error).__name__)

    async def _pause(self, seconds: float) -> None:
        """Ends early when the process closes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._is_closing.wait()

    async def _show_reply(
        self, received: ReceivedActivity, reply: JsonObject | NotedReply, replaces_card: bool
    ) -> None:
        """Raises `TeamsError`."""
        if isinstance(reply, NotedReply):
            message = await self._show_activity(received, reply.activity, replaces_card)
            if message:
                reply.note_message(message)
        else:
            await self._show_activity(received, reply, replaces_card)

    async def _show_activity(self, received: ReceivedActivity, reply: JsonObject, replaces_card: bool) -> str:
        """Returns the id of the message. A card that is gone is replaced by a new message."""
        address = received.address
        if replaces_card and address.reply_to:
            try:
                await self._connector.update_activity(
                    address.service_url, address.conversation, address.reply_to, reply
                )
            except TeamsRefusal:
                pass
            else:
                return address.reply_to
        return await self._connector.send_activity(address.service_url, address.conversation, reply)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish_task)
        return task

    def _finish_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.warning("teams activity not answered", error=type(error).__name__)


def _may_be_repeated(error: TeamsError) -> bool:
    return not isinstance(error, TeamsRefusal | InvalidActivity)

"""Questions and clicks: stored as turns, then acknowledged."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from adapters.slack.inbound import Reader
from adapters.slack.render import ACTION_PREFIX
from bot.ids import ConversationId, TurnId
from bot.inbound import Inbound

Accept = Callable[[Inbound], Awaitable[TurnId | None]]
Answered = Callable[[ConversationId], Awaitable[bool]]
Ack = Callable[[], Awaitable[Any]]


class Asking:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = ("app_mention", "message")

    def __init__(self, accept: Accept, reader: Reader, answered: Answered | None = None) -> None:
        """`answered`: whether Parley has said something somewhere; without it, only mentions count in channels."""
        self._accept, self._reader, self._answered = accept, reader, answered

    def listen(self, app: Any) -> None:
        for event in self.events:
            app.event(event)(self._on_message)
        app.action(re.compile(rf"\A{ACTION_PREFIX}\d+\Z"))(self._on_click)

    async def _on_message(self, body: dict[str, Any]) -> None:
        inbound = await self._reader.message(body) or await self._follow_up(body)
        if inbound is not None:
            await self._accept(inbound)

    async def _follow_up(self, body: dict[str, Any]) -> Inbound | None:
        """In a thread where Parley has answered, what is said to nobody else is said to Parley."""
        if self._answered is None:
            return None
        inbound = await self._reader.in_thread(body)
        return inbound if inbound is not None and await self._answered(inbound.conversation) else None

    async def _on_click(self, body: dict[str, Any], ack: Ack) -> None:
        inbound = await self._reader.click(body)
        if inbound is not None:
            await self._accept(inbound)
        await ack()

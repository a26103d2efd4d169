"""Questions and clicks: stored as turns, then acknowledged."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from adapters.slack.inbound import Reader
from adapters.slack.render import ACTION_PREFIX
from bot.ids import TurnId
from bot.inbound import Inbound

Accept = Callable[[Inbound], Awaitable[TurnId | None]]
Ack = Callable[[], Awaitable[Any]]


class Asking:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = ("app_mention", "message")

    def __init__(self, accept: Accept, reader: Reader) -> None:
        self._accept, self._reader = accept, reader

    def listen(self, app: Any) -> None:
        for event in self.events:
            app.event(event)(self._on_message)
        app.action(re.compile(rf"{ACTION_PREFIX}\d+"))(self._on_click)

    async def _on_message(self, body: dict[str, Any]) -> None:
        inbound = await self._reader.message(body)
        if inbound is not None:
            await self._accept(inbound)

    async def _on_click(self, body: dict[str, Any], ack: Ack) -> None:
        inbound = await self._reader.click(body)
        if inbound is not None:
            await self._accept(inbound)
        await ack()

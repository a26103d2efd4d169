"""Accepts questions and clicks: stores each as a turn, then acknowledges it."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from adapters.slack.events.messages import DeliveryReader
from adapters.slack.posting.render import ACTION_PREFIX
from bot.ids import ConversationId, TurnId
from bot.surface.inbound import Inbound

AcceptInbound = Callable[[Inbound], Awaitable[TurnId | None]]
HasAnswered = Callable[[ConversationId], Awaitable[bool]]
AckInteraction = Callable[[], Awaitable[Any]]


class QuestionListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ("app_mention", "message")

    def __init__(self, accept: AcceptInbound, reader: DeliveryReader, has_answered: HasAnswered | None = None) -> None:
        """`has_answered`: whether Parley has answered in a conversation. If None, only mentions count in channels."""
        self._accept, self._reader, self._has_answered = accept, reader, has_answered

    def register_bolt_handlers(self, app: Any) -> None:
        for event in self.events:
            app.event(event)(self._on_message)
        app.action(re.compile(rf"\A{ACTION_PREFIX}\d+\Z"))(self._on_click)

    async def _on_message(self, body: dict[str, Any]) -> None:
        inbound = await self._reader.read_question(body) or await self._read_follow_up(body)
        if inbound is not None:
            await self._accept(inbound)

    async def _read_follow_up(self, body: dict[str, Any]) -> Inbound | None:
        """Read a message that mentions no one in a thread where Parley has answered."""
        if self._has_answered is None:
            return None
        inbound = await self._reader.read_thread_message(body)
        return inbound if inbound is not None and await self._has_answered(inbound.conversation) else None

    async def _on_click(self, body: dict[str, Any], ack: AckInteraction) -> None:
        inbound = await self._reader.read_click(body)
        if inbound is not None:
            await self._accept(inbound)
        await ack()

"""Hands each activity to its listener, and each invoke to its handler."""

import asyncio
from collections.abc import Iterable
from typing import Final

from structlog.typing import FilteringBoundLogger

from adapters.teams.conversations import TeamsConversations
from adapters.teams.events.listeners import ActivityListener, InvokeAnswer, InvokeHandler
from adapters.teams.events.received_activity import ReceivedActivity
from bot.conversation.notices import DEAD_BUTTON_NOTICE
from bot.translation import translate_message, use_language

INVOKE_TIMEOUT_S: Final = 10.0
_INVOKE_TYPE: Final = "invoke"
_CARD_ACTION: Final = "adaptiveCard/action"  # of an Action.Execute; Parley's cards have none


class ActivityDispatcher:
    def __init__(
        self,
        *,
        listeners: Iterable[ActivityListener],
        invoke_handlers: Iterable[InvokeHandler],
        conversations: TeamsConversations,
        log: FilteringBoundLogger,
        invoke_timeout_s: float = INVOKE_TIMEOUT_S,
    ) -> None:
        self._invoke_timeout_s = invoke_timeout_s
        self._listeners = tuple(listeners)
        self._handlers = {name: handler for handler in invoke_handlers for name in handler.invoke_names}
        self._conversations, self._log = conversations, log

    async def dispatch_activity(self, received: ReceivedActivity) -> InvokeAnswer | None:
        """The answer to an invoke; None for any other activity. Activities of programs, Parley included, are ignored.

        Raises what the database raises.
        """
        if received.activity.type == _INVOKE_TYPE:
            return InvokeAnswer() if received.is_from_bot else await self._answer_invoke(received)
        if not received.is_from_bot:
            for listener in self._listeners:
                if await listener.handle_activity(received):
                    break
        self._conversations.note_service_url(received.address)
        return None

    async def _answer_invoke(self, received: ReceivedActivity) -> InvokeAnswer:
        name = received.activity.name
        handler = self._handlers.get(name)
        if handler is None:
            self._log.info("teams invoke ignored")
            return _answer_for_unknown_invoke(name, received.locale)
        try:
            async with asyncio.timeout(self._invoke_timeout_s):
                return await handler.answer_invoke(received)
        except TimeoutError:
            self._log.warning("teams invoke not answered in time", name=name)
            return InvokeAnswer()


def _answer_for_unknown_invoke(name: str, locale: str) -> InvokeAnswer:
    """An answer that Teams shows no error for. A status of 501 would be shown as one."""
    if name != _CARD_ACTION:
        return InvokeAnswer()
    with use_language(locale):
        notice = translate_message(DEAD_BUTTON_NOTICE)
    return InvokeAnswer(body={"statusCode": 200, "type": "application/vnd.microsoft.activity.message", "value": notice})

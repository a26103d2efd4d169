"""Writes the replies of turns to the conversations of the web chat."""

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime

from adapters.web.transcript import WebTranscript
from bot.ids import ConversationId, MessageId, TurnId
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import ChoicesPart, ChosenPart, Reply

CONVERSATION_PREFIX = "web:"


class WebOutbox:
    """Writes replies to the transcript, which the pages follow."""

    def __init__(self, transcript: WebTranscript, clock: Callable[[], datetime]) -> None:
        self._transcript, self._clock = transcript, clock

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> "WebChatThread":
        return WebChatThread(self._transcript, self._clock, conversation_key_of(conversation))


class WebChatThread:
    """Writes replies to one conversation of the transcript."""

    def __init__(self, transcript: WebTranscript, clock: Callable[[], datetime], key: str) -> None:
        self._transcript, self._clock, self._key = transcript, clock, key

    async def post_message(self, reply: Reply) -> MessageId:
        message = MessageId(f"r-{secrets.token_hex(8)}")
        await self._write_reply(message, reply)
        return message

    async def update_message(self, message: MessageId, reply: Reply) -> None:
        entries = {entry.id: entry.content for entry in await self._transcript.load_entries(self._key)}
        if entries.get(message) != reply:
            await self._write_reply(message, reply)

    async def attach_files(self, message: MessageId, reply: Reply) -> None:
        """Do nothing: the message links to each file."""

    async def find_message(
        self, turn: TurnId, *, other_messages: Collection[MessageId] | None = None
    ) -> MessageId | None:
        for entry in await self._transcript.load_entries(self._key):
            if isinstance(entry.content, Reply) and entry.content.turn == turn:
                return MessageId(entry.id)
        return None

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None:
        parts = tuple(chosen if isinstance(part, ChoicesPart) else part for part in reply.parts)
        await self.update_message(message, replace(reply, parts=parts))

    async def _write_reply(self, message: MessageId, reply: Reply) -> None:
        try:
            await self._transcript.append_message(self._key, message, self._clock(), reply)
        except OSError as exc:
            raise OutboxFailed(f"the web chat's file cannot be written ({exc.strerror})", retry=True) from exc


def conversation_id_of(key: str) -> ConversationId:
    return ConversationId(f"{CONVERSATION_PREFIX}{key}")


def conversation_key_of(conversation: ConversationId) -> str:
    return conversation.removeprefix(CONVERSATION_PREFIX)

"""Turns' words into the conversations of the web chat."""

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime

from adapters.web.transcript import Transcript
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.outbox import Opened, Opening, OutboxFailed, opened_at_once
from bot.replies import Choices, Chosen, Reply

PREFIX = "web:"


class WebOutbox:
    """Writes to the transcript, which pages follow."""

    def __init__(self, transcript: Transcript, clock: Callable[[], datetime]) -> None:
        self._transcript, self._clock = transcript, clock

    async def post(self, conversation: ConversationId, address: Mapping[str, str], reply: Reply) -> MessageId:
        message = MessageId(f"r-{secrets.token_hex(8)}")
        await self._say(conversation, message, reply)
        return message

    async def open(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, opening: Opening
    ) -> Opened | None:
        return await opened_at_once(self, conversation, address, opening)

    async def update(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        entries = {entry.id: entry.content for entry in await self._transcript.entries(key_of(conversation))}
        if entries.get(message) != reply:
            await self._say(conversation, message, reply)

    async def hand_over(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        """The message has a link to each."""

    async def whisper(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, reply: Reply
    ) -> None:
        await self.post(conversation, address, reply)

    async def attend(self, conversation: ConversationId, address: Mapping[str, str]) -> None:
        """What is being done stands in the message."""

    async def find(
        self,
        conversation: ConversationId,
        address: Mapping[str, str],
        turn: TurnId,
        *,
        others: Collection[MessageId] | None = None,
    ) -> MessageId | None:
        for entry in await self._transcript.entries(key_of(conversation)):
            if isinstance(entry.content, Reply) and entry.content.turn == turn:
                return MessageId(entry.id)
        return None

    async def settle(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply, chosen: Chosen
    ) -> None:
        parts = tuple(chosen if isinstance(part, Choices) else part for part in reply.parts)
        await self.update(conversation, address, message, replace(reply, parts=parts))

    async def _say(self, conversation: ConversationId, message: MessageId, reply: Reply) -> None:
        try:
            await self._transcript.append(key_of(conversation), message, self._clock(), reply)
        except OSError as exc:
            raise OutboxFailed(f"the web chat's file cannot be written ({exc.strerror})", retry=True) from exc


def conversation_of(key: str) -> ConversationId:
    return ConversationId(f"{PREFIX}{key}")


def key_of(conversation: ConversationId) -> str:
    return conversation.removeprefix(PREFIX)

"""Moves questions into a person's own chat with Parley, and withdraws messages.

Everything that Teams delivers is part of a conversation, so the only question that has none yet is one that goes on in
private. Fulfils `bot.surface.outbox.ThreadPlacer`.
"""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Final

from adapters.teams.addresses import ConversationKind, TeamsAddress, conversation_id_of
from adapters.teams.connector.calls import PostingCalls
from adapters.teams.conversations import find_newest_url
from adapters.teams.errors import TeamsRefusal
from adapters.teams.posting.cards import shorten_to_line
from adapters.teams.posting.markdown import escape_line
from adapters.teams.posting.outbox import TeamsOutbox, translate_teams_errors
from adapters.teams.posting.protocols import FurtherMessageRecords, ServiceUrlSource
from bot.ids import ConversationId, MessageId, TurnId
from bot.surface.inbound import Inbound, PrivateAudience, TextMessage
from bot.surface.outbox import MessageGone, OutboxFailed
from bot.surface.replies import Reply

OPERATION_TIMEOUT_S: Final = 30.0  # after this, Teams counts as down and the operation fails
_MAX_QUESTION_CHARACTERS: Final = 2_500
_GONE_STATUS: Final = 404
_REFUSED_STATUSES: Final = frozenset({403, 404})  # the person has not installed the app, or has blocked it


class TeamsThreads:
    """`service_urls`, `further_messages`: as in `TeamsOutbox`."""

    def __init__(
        self,
        calls: PostingCalls,
        outbox: TeamsOutbox,
        service_urls: ServiceUrlSource | None,
        further_messages: FurtherMessageRecords,
        *,
        timeout_s: float = OPERATION_TIMEOUT_S,
    ) -> None:
        self._calls, self._outbox, self._service_urls, self._timeout_s = calls, outbox, service_urls, timeout_s
        self._further_messages = further_messages

    async def place_question(self, inbound: Inbound, turn: TurnId, *, may_exist: bool) -> Inbound:
        """The person reads the question again above its answer. A repeated attempt does not show it a second time."""
        address = TeamsAddress.from_mapping(inbound.address)
        placed = replace(
            inbound,
            conversation=conversation_id_of(address.tenant, address.conversation),
            audience=PrivateAudience(person=inbound.person, is_guest=True),  # until the directory is asked
            needs_thread=False,
        )
        if not may_exist and isinstance(inbound.body, TextMessage):
            question = shorten_to_line(inbound.body.text, _MAX_QUESTION_CHARACTERS)
            text = f"“{escape_line(question)}”"
            async with self._translate_errors():
                await self._calls.send_activity(
                    await self._service_url(address),
                    address.conversation,
                    {"type": "message", "textFormat": "markdown", "text": text},
                )
        return placed

    async def withdraw_message(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None:
        """Deletes the message in a personal chat. Elsewhere it shows `reply`, because Teams does not tell whether other
        people wrote after it; in a thread whose first message is gone, it is deleted as well. The further messages of
        its reply are deleted everywhere.

        Files that a person has accepted are theirs; those that are only offered can no longer be accepted.
        """
        address = TeamsAddress.from_mapping(inbound.address)
        async with self._translate_errors():
            await self._delete_further_messages(inbound.conversation, address, message)
            if not address.is_personal and await self._replace_message(inbound, message, reply):
                return
            try:
                conversation = address.conversation.partition(";")[0]  # the thread may be gone
                await self._calls.delete_activity(await self._service_url(address), conversation, message)
            except TeamsRefusal as exc:
                if exc.status != _GONE_STATUS:
                    raise

    async def find_private_address(self, inbound: Inbound) -> Mapping[str, str] | None:
        """None where the person has not installed the app for themselves."""
        address = TeamsAddress.from_mapping(inbound.address)
        member = inbound.person.rpartition(":")[2]
        async with self._translate_errors():
            try:
                service_url = await self._service_url(address)
                chat = await self._calls.create_conversation(
                    service_url, tenant=address.tenant, bot_id=address.bot_id, member=member
                )
            except TeamsRefusal as exc:
                if exc.status in _REFUSED_STATUSES:
                    return None
                raise
        return replace(
            address,
            service_url=service_url,
            conversation=chat,
            kind=ConversationKind.PERSONAL,
            reply_to="",
            clarification_card="",
            more_cards=(),
            team="",
            channel="",
        ).to_mapping()

    async def _delete_further_messages(
        self, conversation: ConversationId, address: TeamsAddress, message: MessageId
    ) -> None:
        further_messages = await self._further_messages.list_messages(conversation, message)
        for further in further_messages:
            with suppress(TeamsRefusal):  # it is gone already
                chat = address.conversation.partition(";")[0]
                await self._calls.delete_activity(await self._service_url(address), chat, further)
        if further_messages:
            await self._further_messages.forget_messages(conversation, message)

    async def _replace_message(self, inbound: Inbound, message: MessageId, reply: Reply) -> bool:
        """False where the message or its thread is gone."""
        try:
            await self._outbox.thread_for(inbound.conversation, inbound.address).update_message(message, reply)
        except MessageGone:
            return False
        return True

    async def _service_url(self, address: TeamsAddress) -> str:
        return await find_newest_url(
            self._service_urls,
            tenant=address.tenant,
            conversation=address.conversation,
            known_url=address.service_url,
        )

    @asynccontextmanager
    async def _translate_errors(self) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(self._timeout_s), translate_teams_errors():
                yield
        except TimeoutError as exc:
            raise OutboxFailed("Teams did not answer in time", retry=True) from exc

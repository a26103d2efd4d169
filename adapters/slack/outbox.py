"""Replies to the workspace that was asked. Fulfils `bot.outbox.Outbox`."""

from collections.abc import Collection, Mapping

from adapters.slack.errors import SlackFailed
from adapters.slack.posting import Posting
from adapters.slack.workspaces import Workspaces, place_in
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.outbox import Opened, Opening, OutboxFailed
from bot.replies import Chosen, Reply


class SlackOutbox:
    """An address names its installation; one that was stored before addresses did means the only one."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def post(self, conversation: ConversationId, address: Mapping[str, str], reply: Reply) -> MessageId:
        return await (await self._at(address)).post(conversation, address, reply)

    async def open(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, opening: Opening
    ) -> Opened | None:
        return await (await self._at(address)).open(conversation, address, person, opening)

    async def update(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        await (await self._at(address)).update(conversation, address, message, reply)

    async def hand_over(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        await (await self._at(address)).hand_over(conversation, address, message, reply)

    async def whisper(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, reply: Reply
    ) -> None:
        await (await self._at(address)).whisper(conversation, address, person, reply)

    async def attend(self, conversation: ConversationId, address: Mapping[str, str]) -> None:
        try:
            posting = await self._at(address)
        except OutboxFailed:
            return
        await posting.attend(conversation, address)

    async def find(
        self,
        conversation: ConversationId,
        address: Mapping[str, str],
        turn: TurnId,
        *,
        others: Collection[MessageId] | None = None,
    ) -> MessageId | None:
        return await (await self._at(address)).find(conversation, address, turn, others=others)

    async def settle(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply, chosen: Chosen
    ) -> None:
        await (await self._at(address)).settle(conversation, address, message, reply, chosen)

    async def _at(self, address: Mapping[str, str]) -> Posting:
        """Raises `OutboxFailed`: for good where the app is no longer installed."""
        try:
            workspace = await self._workspaces.of(place_in(address))
        except SlackFailed as exc:
            raise OutboxFailed(str(exc), retry=True) from exc
        if workspace is None:
            raise OutboxFailed("the app is no longer installed there", retry=False)
        return workspace.posting

"""Routes replies to the outbox of the workspace that asked. Fulfils `bot.surface.outbox.Outbox`."""

from collections.abc import Collection, Mapping

from adapters.slack.errors import SlackError
from adapters.slack.posting.workspace_outbox import WorkspaceThread
from adapters.slack.workspaces.workspace_registry import WorkspaceRegistry, installation_key_in
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.surface.outbox import OpenedMessage, OpeningContent, OutboxFailed
from bot.surface.replies import ChosenPart, Reply


class SlackOutbox:
    def __init__(self, workspaces: WorkspaceRegistry) -> None:
        self._workspaces = workspaces

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> "SlackChatThread":
        return SlackChatThread(self._workspaces, conversation, address)


class SlackChatThread:
    """A thread of the installation that its address names; it is looked up at each call, as it may be removed.

    An older stored address without an installation means the only one.
    """

    def __init__(self, workspaces: WorkspaceRegistry, conversation: ConversationId, address: Mapping[str, str]) -> None:
        self._workspaces, self._conversation, self._address = workspaces, conversation, address

    async def post_message(self, reply: Reply) -> MessageId:
        return await (await self._workspace_thread()).post_message(reply)

    async def open_message(self, person: PersonId, opening: OpeningContent) -> OpenedMessage | None:
        return await (await self._workspace_thread()).open_message(person, opening)

    async def update_message(self, message: MessageId, reply: Reply) -> None:
        await (await self._workspace_thread()).update_message(message, reply)

    async def attach_files(self, message: MessageId, reply: Reply) -> None:
        await (await self._workspace_thread()).attach_files(message, reply)

    async def post_privately(self, person: PersonId, reply: Reply) -> None:
        await (await self._workspace_thread()).post_privately(person, reply)

    async def show_activity(self) -> None:
        try:
            thread = await self._workspace_thread()
        except OutboxFailed:
            return
        await thread.show_activity()

    async def find_message(
        self, turn: TurnId, *, other_messages: Collection[MessageId] | None = None
    ) -> MessageId | None:
        return await (await self._workspace_thread()).find_message(turn, other_messages=other_messages)

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None:
        await (await self._workspace_thread()).show_chosen(message, reply, chosen)

    async def _workspace_thread(self) -> WorkspaceThread:
        """Raises `OutboxFailed`, without a retry where the app is no longer installed."""
        try:
            workspace = await self._workspaces.workspace_for(installation_key_in(self._address))
        except SlackError as exc:
            raise OutboxFailed(str(exc), retry=True) from exc
        if workspace is None:
            raise OutboxFailed("the app is no longer installed there", retry=False)
        return workspace.outbox.thread_for(self._conversation, self._address)

"""The messages that a reply takes beside its own, in chat products where a single one does not hold it.

A turn names one message of its reply. The others are noted here, so that any process can withdraw them with it, as chat
products do not tell which messages belong together.
"""

from bot.ids import ConversationId, MessageId
from bot.surface.outbox import translate_storage_errors
from storage.sql.database import SqlDatabase
from storage.sql.stores.conversations import FurtherMessageStore


class FurtherMessages:
    """Each method raises `OutboxFailed` while the database does not answer."""

    def __init__(self, database: SqlDatabase) -> None:
        self._store = FurtherMessageStore(database)

    @translate_storage_errors()
    async def note_message(self, conversation: ConversationId, message: MessageId, further: MessageId) -> None:
        """`further` belongs to the reply that `message` holds. A second call changes nothing."""
        await self._store.note_message(conversation, message, further)

    @translate_storage_errors()
    async def list_messages(self, conversation: ConversationId, message: MessageId) -> list[MessageId]:
        """The further messages of the reply, also those that are deleted by now."""
        return list(map(MessageId, await self._store.list_messages(conversation, message)))

    @translate_storage_errors()
    async def forget_messages(self, conversation: ConversationId, message: MessageId) -> None:
        """The further messages of the reply are gone."""
        await self._store.forget_messages(conversation, message)

"""What posting needs of the other rooms of the adapter."""

from collections.abc import Sequence
from typing import Protocol

from adapters.teams.addresses import TeamsAddress
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.surface.replies import FilePart


class FileSender(Protocol):
    """Hands files over in personal chats, with the person's consent (`adapters.teams.files.file_consent`)."""

    async def offer_file(self, address: TeamsAddress, turn: TurnId, message: MessageId, file: FilePart) -> None:
        """Asks the person whether to put the file into their OneDrive. A file that was offered for this message already
        (same `path`) is not offered again. `message` shows the reply with the file.

        Raises `TeamsError` and `OSError`; the message then shows a link instead. Raises `OutboxFailed` where the offer
        cannot be stored now.
        """
        ...

    async def offer_text(
        self, address: TeamsAddress, turn: TurnId, message: MessageId, *, name: str, text: str
    ) -> None:
        """The same for a text, as a UTF-8 file of that name. Not offered again for the same message and name."""
        ...


class ServiceUrlSource(Protocol):
    """The service URLs of what was received (`adapters.teams.conversations`)."""

    async def find_service_url(self, tenant: str, conversation: str) -> str | None:
        """Where the conversation's newest activity came from; None where it is not known. `conversation` is the id in
        Teams, in a channel with `;messageid=`. Does not raise.
        """
        ...


class FurtherMessageRecords(Protocol):
    """The stored ids of the messages that a reply takes beside its own (`bot.turns.further_messages`). Teams does not
    tell which messages belong together.

    Each method raises `OutboxFailed`.
    """

    async def note_message(self, conversation: ConversationId, message: MessageId, further: MessageId) -> None:
        """`further` belongs to the reply that `message` holds."""
        ...

    async def list_messages(self, conversation: ConversationId, message: MessageId) -> Sequence[MessageId]:
        """The further messages of the reply, also those that are deleted by now."""
        ...

    async def forget_messages(self, conversation: ConversationId, message: MessageId) -> None:
        """The further messages of the reply are gone."""
        ...


class StreamStopListener(Protocol):
    """Told when a person stops a message while it streams: the turn is then to be stopped."""

    async def __call__(self, turn: TurnId, conversation: ConversationId, person: PersonId) -> None:
        """Does not raise. `person` is the one person of a personal chat."""
        ...

"""How a turn's words reach the chat, whatever the product."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.inbound import Inbound
from bot.replies import Chosen, Reply


class OutboxFailed(Exception):
    """The chat product did not take it. `retry` says whether it may later; `after_s` when, if it said so."""

    def __init__(self, reason: str, *, retry: bool, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.retry, self.after_s = reason, retry, after_s


class MessageGone(OutboxFailed):
    """Somebody has deleted the message that was to be changed."""

    def __init__(self) -> None:
        super().__init__("the message is gone", retry=False)


class Opening(Protocol):
    """What a turn says first: progress while it is worked on, the reply itself once that is there."""

    async def settled(self, within_s: float) -> None:
        """Waits for the reply, or for the end without one; no longer than that."""
        ...

    async def words(self) -> Reply | None:
        """What to say now; None when the work has ended without a reply. Ask right before it is said: it raises what
        forbids saying anything.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The message that a turn began with, and what it says."""

    message: MessageId
    says: Reply


class Outbox(Protocol):
    """Posts into the conversations of one surface. `address` is the inbound's. Raises `OutboxFailed`."""

    async def post(self, conversation: ConversationId, address: Mapping[str, str], reply: Reply) -> MessageId:
        """A new message, which carries `reply.turn` where the product has a place for it. Its id.

        Files are handed over later, so that the message is known by then.
        """
        ...

    async def open(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, opening: Opening
    ) -> Opened | None:
        """The turn's first message, as late as its place in line allows; None when nothing was left to say.

        `person` is whom it is for. Files as in `post`.
        """
        ...

    async def update(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        """The message now says `reply`. The same reply again changes nothing."""
        ...

    async def hand_over(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        """The files of the reply that the message says, beside it; those that are there already are left."""
        ...

    async def whisper(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, reply: Reply
    ) -> None:
        """Tells the person alone, where the product can, else everybody there. It is kept nowhere, and cannot be
        changed. Raises `OutboxFailed`.
        """
        ...

    async def attend(self, conversation: ConversationId, address: Mapping[str, str]) -> None:
        """Shows beside the messages that something is being done, until something is said there. Never raises, and
        does nothing where the product has no such sign.
        """
        ...

    async def find(
        self,
        conversation: ConversationId,
        address: Mapping[str, str],
        turn: TurnId,
        *,
        others: Collection[MessageId] | None = None,
    ) -> MessageId | None:
        """The message that carries the turn, if one was posted and the product can tell.

        `others`: the messages of all other turns of the conversation, known only while this turn is the one that is
        worked on there. A message that carries no turn yet, and is none of them, is then this one's. Without them only
        what carries the turn counts.
        """
        ...

    async def settle(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply, chosen: Chosen
    ) -> None:
        """The message of a clarification shows what was chosen in place of its buttons; `reply` is what it said."""
        ...


class Threads(Protocol):
    """Of a chat product in which people may ask outside a conversation: by a command, about somebody's message.

    A product that does not answer in time has failed: `OutboxFailed`.
    """

    async def place(self, inbound: Inbound, turn: TurnId, *, again: bool) -> Inbound:
        """The same question in the conversation that it is answered in, begun with the question where it is new.

        Its audience are those who read there. `again`: an earlier attempt may have begun it. Raises `OutboxFailed`.
        """
        ...

    async def withdraw(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None:
        """A message of Parley's goes; where others have gone on after it, it says `reply` instead. Files of these names
        that came with it go in any case.

        One that is gone is no failure. Raises `OutboxFailed`.
        """
        ...

    async def alone(self, inbound: Inbound) -> Mapping[str, str] | None:
        """Where a question of the same person, yet to be placed, is answered for them alone: its address.

        None where they cannot be written to. Raises `OutboxFailed`.
        """
        ...


async def opened_at_once(
    outbox: Outbox, conversation: ConversationId, address: Mapping[str, str], opening: Opening
) -> Opened | None:
    """`Outbox.open` of a product in which nothing waits in line."""
    words = await opening.words()
    if words is None:
        return None
    return Opened(message=await outbox.post(conversation, address, words), says=words)

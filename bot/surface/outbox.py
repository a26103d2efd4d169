"""How a turn's reply reaches the chat, for every product."""

from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.surface.inbound import Inbound
from bot.surface.replies import ChosenPart, Reply
from storage.search.errors import SearchError
from storage.sql.errors import SqlError


class OutboxFailed(Exception):
    """The chat product did not accept the call. `retry`: a later call may succeed. `retry_after_s`: the wait that the
    product asks for, if any.
    """

    def __init__(self, reason: str, *, retry: bool, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.retry, self.retry_after_s = reason, retry, retry_after_s


class MessageGone(OutboxFailed):
    """A person has deleted the message that was to be updated."""

    def __init__(self) -> None:
        super().__init__("the message is gone", retry=False)


@asynccontextmanager
async def translate_storage_errors() -> AsyncGenerator[None]:
    """For what a delivery stores and looks up: raises `OutboxFailed` while the database or the index fails, so that the
    delivery is tried again, and what the chat shows stays. Can be a decorator.
    """
    try:
        yield
    except (SqlError, SearchError) as exc:
        raise OutboxFailed(f"storage failed: {type(exc).__name__}", retry=True) from exc


class OpeningContent(Protocol):
    """The content of a turn's first message: progress while the turn runs, the reply once it is there."""

    async def wait_for_reply(self, within_s: float) -> None:
        """Waits for the reply, or for the end without one; at most `within_s`."""
        ...

    async def get_current_reply(self) -> Reply | None:
        """The content to post now; None when the work has ended without a reply. Call it right before posting: it
        raises what forbids posting anything.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedMessage:
    """The first message of a turn, and its content."""

    message: MessageId
    reply: Reply


class ChatThread(Protocol):
    """One conversation of a chat product, at the address of an inbound. Each method raises `OutboxFailed`.

    A product that can do more fulfils some of the protocols below as well: `ActivityThread`, `PrivateReplyThread`,
    `QueueingThread`. Callers use the functions below, which know what to do without them.
    """

    async def post_message(self, reply: Reply) -> MessageId:
        """Posts a new message, which carries `reply.turn` where the product has a place for it. Returns its id.

        Files are attached later, when the message is known.
        """
        ...

    async def update_message(self, message: MessageId, reply: Reply) -> None:
        """The message now shows `reply`. The same reply again changes nothing."""
        ...

    async def attach_files(self, message: MessageId, reply: Reply) -> None:
        """Attaches the files of the reply that the message shows. Skips those that are attached already."""
        ...

    async def find_message(
        self, turn: TurnId, *, other_messages: Collection[MessageId] | None = None
    ) -> MessageId | None:
        """The message that carries the turn, if one was posted and the product can tell.

        `other_messages`: the messages of all other turns of the conversation; known only while this turn is the only
        one in progress there. A message that carries no turn yet, and is none of them, then belongs to this turn.
        Without `other_messages` only a message that carries the turn counts.
        """
        ...

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None:
        """The message of a clarification shows the choice in place of its buttons; `reply` is what it showed before."""
        ...


@runtime_checkable
class ActivityThread(Protocol):
    """A thread with an activity sign beside its messages."""

    async def show_activity(self) -> None:
        """Shows the sign until the next message there. Never raises."""
        ...


@runtime_checkable
class PrivateReplyThread(Protocol):
    """A thread in which one person can be shown a message alone."""

    async def post_privately(self, person: PersonId, reply: Reply) -> None:
        """Posts to the person alone. The message has no id and cannot be changed. Raises `OutboxFailed`."""
        ...


@runtime_checkable
class QueueingThread(Protocol):
    """A thread whose messages queue, so that a reply may be ready before its progress is posted."""

    async def open_message(self, person: PersonId, opening: OpeningContent) -> OpenedMessage | None:
        """Posts the turn's first message, as late as its place in the queue allows. None when nothing was left to post.

        `person` is the asker. Files as in `post_message`. Raises `OutboxFailed`.
        """
        ...


class Outbox(Protocol):
    """The conversations of one surface."""

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> ChatThread:
        """The thread in which a turn is answered; nothing is looked up or posted yet. `address` is the inbound's."""
        ...


async def open_message(thread: ChatThread, person: PersonId, opening: OpeningContent) -> OpenedMessage | None:
    """Posts the turn's first message: as late as the queue allows in a `QueueingThread`, at once in any other.

    None when nothing was left to post. Raises `OutboxFailed`.
    """
    if isinstance(thread, QueueingThread):
        return await thread.open_message(person, opening)
    return await open_immediately(thread, opening)


async def open_immediately(thread: ChatThread, opening: OpeningContent) -> OpenedMessage | None:
    """Posts the turn's first message now. None when nothing was left to post. Raises `OutboxFailed`."""
    reply = await opening.get_current_reply()
    return None if reply is None else OpenedMessage(message=await thread.post_message(reply), reply=reply)


async def post_privately(thread: ChatThread, person: PersonId, reply: Reply) -> None:
    """Posts to the person alone in a `PrivateReplyThread`, to everyone there in any other. Raises `OutboxFailed`."""
    if isinstance(thread, PrivateReplyThread):
        await thread.post_privately(person, reply)
    else:
        await thread.post_message(reply)


async def show_activity(thread: ChatThread) -> None:
    """Shows that a turn is in progress in an `ActivityThread`; does nothing in any other. Never raises."""
    if isinstance(thread, ActivityThread):
        await thread.show_activity()


class ThreadPlacer(Protocol):
    """A chat product in which people may ask outside a conversation: with a command, or about another person's message.

    A product that does not answer in time has failed: `OutboxFailed`.
    """

    async def place_question(self, inbound: Inbound, turn: TurnId, *, may_exist: bool) -> Inbound:
        """The same question in the conversation in which it is answered. A new conversation starts with the question.

        Its audience is the readers of that conversation. `may_exist`: an earlier attempt may have started the
        conversation. Raises `OutboxFailed`.
        """
        ...

    async def withdraw_message(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None:
        """Deletes a message of Parley's. If other people wrote after it, it shows `reply` instead. Files of the given
        names that came with it are deleted in any case.

        A message that is already gone is not a failure. Raises `OutboxFailed`.
        """
        ...

    async def find_private_address(self, inbound: Inbound) -> Mapping[str, str] | None:
        """The address at which the same person's unplaced question is answered for them alone.

        None where the product cannot write to them. Raises `OutboxFailed`.
        """
        ...

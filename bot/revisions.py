"""Questions that were edited or deleted: what they led to before is stopped and forgotten, its choices withdrawn."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from agent.outcome import StartedOver
from bot.afterwards import TRIES, whole_id
from bot.answers import notice
from bot.attached import Attached
from bot.clarifications import Clarifications
from bot.codec import inbound_from_row
from bot.dialogue import Spoken, asked_of, spoken_from_json, spoken_to_json, without
from bot.exports import Exports
from bot.ids import ConversationId, MessageId, TurnId
from bot.inbound import Inbound
from bot.replies import File, Whole
from bot.result import result_json
from bot.stopping import STOPPED, Stops, stopped
from storage.sql.conversations import Conversations
from storage.sql.database import Database
from storage.sql.inbox import ClaimedTurn, Inbox, Turn

Found = Callable[[TurnId], Awaitable[MessageId | None]]

EDITED: Final = "edited"  # how a turn ended that was edited before it was answered, once too often
FREE_EDITS: Final = 3  # of one message, before it is answered
WITHDRAWN: Final = "withdrawn"  # how the turn of a deletion ended
_GONE: Final = "The question was deleted, and its answer with it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of Parley's, and the names of the files that came with it."""

    message: MessageId
    files: frozenset[str]


class Revisions:
    def __init__(
        self,
        *,
        inbox: Inbox,
        stops: Stops,
        clarifications: Clarifications,
        exports: Exports,
        attached: Attached,
        database: Database,
    ) -> None:
        self._inbox, self._stops, self._clarifications, self._exports = inbox, stops, clarifications, exports
        self._attached, self._conversations = attached, Conversations(database)

    async def accepted(self, turn: TurnId) -> None:
        """Nobody waits any more for what was asked before."""
        for version in await self._inbox.versions(turn):
            if version.finished_at is None:
                await self._stops.ask(TurnId(version.id), "")

    async def begun(self, claimed: ClaimedTurn, inbound: Inbound, found: Found) -> list[MessageId]:
        """What earlier versions said is forgotten. The messages that they said it in, the last one last.

        One that died, and whose word could not be said, ends without it. `found`: the message of a turn that was posted
        and not noted.
        """
        versions = await self._inbox.versions(claimed.turn.id)
        for version in versions:
            if version.finished_at is None:
                await self._end(claimed, version)
        await self._attached.leave(inbound)
        turns = [TurnId(version.id) for version in versions]
        await self._clarifications.withdraw(turns)
        await self._forget(inbound.conversation, turns)
        messages = [MessageId(one.placeholder) if one.placeholder else await found(TurnId(one.id)) for one in versions]
        return list(dict.fromkeys(message for message in messages if message is not None))

    async def ending_of(self, turn: TurnId) -> str:
        """How a turn ends that a later version has overtaken: the first few cost nothing, the others count."""
        return STOPPED if len(await self._inbox.versions(turn)) < FREE_EDITS else EDITED

    async def withdrawn(self, claimed: ClaimedTurn, inbound: Inbound) -> list[Said]:
        """What was said to the message, and to the choices that its author made of that: it is forgotten, and its files
        and their links are gone. The last one first.
        """
        versions = await self._inbox.versions(claimed.turn.id)
        led_to = await self._led_to(versions, inbound)
        turns = [TurnId(one.id) for one in led_to]
        await self._clarifications.withdraw(turns)
        await self._exports.withdraw(turns)
        await self._forget(inbound.conversation, turns)
        return [_said(one) for one in reversed(led_to) if one.placeholder]

    async def _led_to(self, versions: Sequence[Turn], inbound: Inbound) -> list[Turn]:
        """They, with what the same person chose, and the files that show all of what was said."""
        found, new = {one.id: one for one in versions}, list(versions)
        while new:
            turns = [TurnId(one.id) for one in new]
            chosen = [await self._inbox.find(one) for one in await self._clarifications.choosers(turns)]
            own = [one for one in chosen if one is not None and one.person == inbound.person]
            wholes = [await self._wholes(inbound.conversation, one) for one in turns]
            new = [one for one in (*own, *chain.from_iterable(wholes)) if one.id not in found]
            found |= {one.id: one for one in new}
        return list(found.values())

    async def _wholes(self, conversation: ConversationId, turn: TurnId) -> list[Turn]:
        made: list[Turn] = []
        while len(made) < TRIES:
            one = await self._inbox.of_message(conversation, whole_id(turn, len(made) + 1))
            if one is None:
                break
            made.append(one)
        return made

    async def _forget(self, conversation: ConversationId, turns: Sequence[TurnId]) -> None:
        """Whatever the rights were that it was held under."""
        for state in await self._conversations.all_of(conversation):
            if (before := without(state, turns)) != state:
                await self._conversations.save(before)

    async def _end(self, claimed: ClaimedTurn, version: Turn) -> None:
        spoken = stopped(inbound_from_row(version), TurnId(version.id), "", ())
        await self._inbox.end_version(claimed, version.id, spoken_to_json(spoken), STOPPED)


def _said(turn: Turn) -> Said:
    reply = None if turn.outcome is None else spoken_from_json(turn.outcome).reply
    files = (part.name for part in (reply.parts if reply else ()) if isinstance(part, (File, Whole)))
    return Said(message=MessageId(turn.placeholder or ""), files=frozenset(files))


def gone(inbound: Inbound, turn: TurnId) -> Spoken:
    """What the turn of a deletion says, where others have gone on after the answer."""
    result = result_json(asked_of(inbound, turn, ""), StartedOver(text=_GONE))
    return Spoken(reply=notice(turn, _GONE), result=result, ending=WITHDRAWN)

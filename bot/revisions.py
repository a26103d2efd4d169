"""Questions that were edited or deleted: what they led to before is stopped and forgotten, its choices withdrawn."""

from collections.abc import Awaitable, Callable
from typing import Final

from agent.outcome import StartedOver
from bot.access import Access, scope_key
from bot.answers import notice
from bot.attached import Attached
from bot.clarifications import Clarifications
from bot.codec import inbound_from_row
from bot.dialogue import Spoken, asked_of, spoken_to_json, without
from bot.ids import MessageId, TurnId
from bot.inbound import Inbound
from bot.result import result_json
from bot.stopping import STOPPED, Stops, stopped
from storage.sql.conversations import Conversations
from storage.sql.database import Database
from storage.sql.inbox import ClaimedTurn, Inbox, Turn

Found = Callable[[TurnId], Awaitable[MessageId | None]]

WITHDRAWN: Final = "withdrawn"  # how the turn of a deletion ended
_GONE: Final = "The question was deleted, and its answer with it."


class Revisions:
    def __init__(
        self,
        *,
        inbox: Inbox,
        stops: Stops,
        clarifications: Clarifications,
        access: Access,
        attached: Attached,
        database: Database,
    ) -> None:
        self._inbox, self._stops, self._clarifications, self._access = inbox, stops, clarifications, access
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
        key = scope_key(await self._access.scope(inbound.audience))
        state = await self._conversations.load(inbound.conversation, key)
        if (before := without(state, turns)) != state:
            await self._conversations.save(before)
        messages = [MessageId(one.placeholder) if one.placeholder else await found(TurnId(one.id)) for one in versions]
        return list(dict.fromkeys(message for message in messages if message is not None))

    async def _end(self, claimed: ClaimedTurn, version: Turn) -> None:
        spoken = stopped(inbound_from_row(version), TurnId(version.id), "", ())
        await self._inbox.end_version(claimed, version.id, spoken_to_json(spoken), STOPPED)


def gone(inbound: Inbound, turn: TurnId) -> Spoken:
    """What the turn of a deletion says, where others have gone on after the answer."""
    result = result_json(asked_of(inbound, turn, ""), StartedOver(text=_GONE))
    return Spoken(reply=notice(turn, _GONE), result=result, ending=WITHDRAWN)

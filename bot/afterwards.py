"""What people do about a turn beside asking on: stop it, rate it, look at its steps, see all that it said.

Whoever does so must be among those that it was said to; what shows contents again asks for their rights once more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any as Json
from typing import Final, assert_never

from agent.outcome import StartedOver
from bot.access import Access
from bot.attached import Attached
from bot.clarifications import same_readers
from bot.codec import audience_from_json
from bot.dialogue import Spoken, asked_of, spoken_from_json
from bot.errors import EndedAlready, NoLongerSeen, NotReached, NotSaidHere, NotYourAnswer
from bot.feedback import Feedback, Verdict
from bot.ids import ConversationId, PersonId, TurnId
from bot.inbound import Audience, Inbound
from bot.replies import Reply, Whole
from bot.result import result_json
from bot.stopping import Stops
from storage.search.codec import condition_from_json
from storage.search.conditions import All, Any, Compare, Condition, InRow, Missing, Not, Op
from storage.search.errors import IndexUnavailable
from storage.search.index import SearchIndex
from storage.sql.inbox import Inbox, Turn

SHOWN: Final = "shown"  # how a turn ended that showed all of another
_SIGNS: Final[Mapping[Op, str]] = {
    Op.EQ: "=",
    Op.IN: "is one of",
    Op.HAS: "has",
    Op.CONTAINS: "contains",
    Op.GT: ">",
    Op.GTE: "≥",
    Op.LT: "<",
    Op.LTE: "≤",
    Op.BETWEEN: "between",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Onlooker:
    """Who does it, and where the message stands that they do it at, as the chat product tells it."""

    conversation: ConversationId
    audience: Audience
    person: PersonId
    name: str  # data, to be escaped


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One search. `looked_for` is raw text."""

    tool: str
    looked_for: str
    documents: int
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    route: str
    reasoner: str
    ms: float
    steps: tuple[Step, ...]


TRIES: Final = 5  # to show all of one turn


def whole_id(turn: TurnId, number: int) -> str:
    """What the `number`th try to show all of a turn is known by: as an event, and as a message."""
    return f"whole:{turn}:{number}"


class Fate(StrEnum):
    """Of a turn that shows all that another said."""

    OPEN = "open"
    SHOWN = "shown"
    FAILED = "failed"


class Afterwards:
    def __init__(
        self,
        *,
        inbox: Inbox,
        access: Access,
        index: SearchIndex,
        attached: Attached,
        feedback: Feedback,
        stops: Stops,
    ) -> None:
        self._inbox, self._access, self._index, self._attached = inbox, access, index, attached
        self._feedback, self._stops = feedback, stops

    async def stop(self, turn: TurnId, onlooker: Onlooker) -> None:
        """Raises `HandleRefused`."""
        await self._said_to(turn, onlooker)
        if not await self._stops.ask(turn, onlooker.name):
            raise EndedAlready()

    async def stop_all(self, onlooker: Onlooker) -> None:
        """What is being worked on in the conversation. The chat product vouches that the person reads it."""
        await self._stops.ask_all(onlooker.conversation, onlooker.name)

    async def rate(self, turn: TurnId, onlooker: Onlooker, verdict: Verdict, reason: str = "") -> None:
        """In place of what the person said of it before. Raises `HandleRefused`."""
        await self._said_to(turn, onlooker)
        await self._feedback.record(turn, onlooker.person, verdict, reason)

    async def steps(self, turn: TurnId, onlooker: Onlooker) -> Steps:
        """How the turn's words came about. Raises `HandleRefused`."""
        spoken = await self._seen(turn, onlooker)
        attempts = await self._inbox.attempts(turn)
        steps = tuple(
            Step(
                tool=one.tool,
                looked_for=_looked_for(one.arguments),
                documents=one.documents,
                ms=one.ms,
            )
            for one in attempts
        )
        result = spoken.result
        return Steps(route=result["route"] or "", reasoner=result["reasoner"] or "", ms=result["ms"], steps=steps)

    async def may_see_all(self, turn: TurnId, onlooker: Onlooker) -> None:
        """Whether all that the turn said may be shown again where it was. Raises `HandleRefused`."""
        await self._seen(turn, onlooker)

    async def all_of(self, turn: TurnId, inbound: Inbound, own: TurnId) -> Spoken:
        """What the turn `own` says, which shows all that `turn` said. Raises `HandleRefused`."""
        onlooker = Onlooker(
            conversation=inbound.conversation, audience=inbound.audience, person=inbound.person, name=inbound.name
        )
        said = (await self._seen(turn, onlooker)).reply
        name = f"answer-{turn[-8:]}.txt"
        result = result_json(asked_of(inbound, own, ""), StartedOver(text=name))
        return Spoken(reply=Reply(turn=own, parts=(Whole(name=name, said=said),)), result=result, ending=SHOWN)

    async def fate_of(self, inbound: Inbound) -> Fate:
        """What became of a turn that was accepted as this before."""
        found = await self._inbox.of_message(inbound.conversation, inbound.message_id)
        if found is None or found.finished_at is None:
            return Fate.OPEN
        ended = None if found.outcome is None else spoken_from_json(found.outcome).ending
        return Fate.SHOWN if ended == SHOWN and found.delivered_at is not None else Fate.FAILED

    async def _said_to(self, turn: TurnId, onlooker: Onlooker) -> Turn:
        found = await self._inbox.find(turn)
        if found is None or found.conversation != onlooker.conversation:
            raise NotSaidHere()
        if not same_readers(audience_from_json(found.audience), onlooker.audience):
            raise NotYourAnswer()
        return found

    async def _seen(self, turn: TurnId, onlooker: Onlooker) -> Spoken:
        """What was said, if all that it rests on may still be seen by those who read it."""
        found = await self._said_to(turn, onlooker)
        if found.outcome is None:
            raise NotSaidHere()
        spoken = spoken_from_json(found.outcome)
        if spoken.rests_on is None:
            raise NoLongerSeen()
        within = self._index.within(await self._access.scope(onlooker.audience))
        files = await self._attached.kept(onlooker.conversation, onlooker.audience)
        try:
            may_be_seen = await spoken.rests_on.may_be_seen(within, files)
        except IndexUnavailable as exc:
            raise NotReached() from exc
        if not may_be_seen:
            raise NoLongerSeen()
        return spoken


def _looked_for(arguments: Mapping[str, Json]) -> str:
    parts = [_clause(clause) for clause in arguments.get("filters", ())]
    parts += [f"“{arguments['query']}”"] if "query" in arguments else []
    parts += [f"field {arguments['field']}"] if arguments.get("field") else []
    return "; ".join(parts)


def _clause(clause: Mapping[str, Json]) -> str:
    said = _said(condition_from_json(clause["condition"]))
    words = " ".join(f"“{word}”" for word in clause.get("required", ()))
    return f"{clause['bucket']}: {' '.join(filter(None, (said, words))) or 'everything'}"


def _said(condition: Condition) -> str:
    match condition:
        case All(members=members):
            return " and ".join(map(_said, members))
        case Any(members=members):
            return f"({' or '.join(map(_said, members))})"
        case Not(condition=inner):
            return f"not ({_said(inner)})"
        case InRow(row=row, condition=inner):
            return f"{row} with {_said(inner)}"
        case Missing(field=field):
            return f"{field} is missing"
        case Compare(field=field, op=op, value=value):
            shown = " and ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            return f"{field} {_SIGNS[op]} {shown}"
        case _:
            assert_never(condition)

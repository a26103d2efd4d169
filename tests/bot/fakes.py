"""Working stand-ins for the bot's neighbours: an agent that lists and asks back, a chat that keeps its messages."""

import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import cast

from agent.context import Context
from agent.outcome import (
    Answer,
    Attempt,
    Choice,
    Clarify,
    ExportWanted,
    LegResult,
    Outcome,
    OutcomeKind,
    Refused,
    Route,
    StartedOver,
    Trace,
)
from agent.reasoner import Reasoner
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.outbox import Opened, Opening, OutboxFailed, opened_at_once
from bot.replies import Chosen, File, Reply
from storage.search.conditions import Compare, Op
from storage.search.ids import FieldName, LegId
from storage.search.index import Answers, Count, Facet, Records, ValueFacet
from storage.search.plan import Leg, ListDocuments, Plan, Search, everything_in
from storage.search.refinement import (
    AddFilter,
    ContinuePrivately,
    ExportAll,
    JustAnswer,
    SearchByMeaning,
    SearchWeb,
    StartOver,
)

LEG = LegId("1")
VENDOR = FieldName("vendor")
NO_REASONER = cast(Reasoner, object())  # the agent here reads no question


class ListingAgent:
    """Lists everything visible; asks back above the limit with a button a vendor, the export, and the other ways on.

    `troubles` are raised first, one a call.
    """

    def __init__(self) -> None:
        self.troubles: list[Exception] = []
        self.seen: list[Context] = []

    async def answer(self, question: str, context: Context) -> Outcome:
        if question == "start over":
            return StartedOver(text="Started over.")
        schemas = await context.index.schemas()
        if not schemas:
            return Refused(text="Nothing here.", may_go_private=context.may_go_private)
        buckets = context.buckets if context.buckets is not None else frozenset(schemas)
        leg = Leg(id=LEG, question=question, search=everything_in(*sorted(buckets)), wanted=ListDocuments())
        plan = Plan(question=question, legs=(leg,))
        if question == "go back" and context.earlier:
            outcome = await self.resume(context.earlier[-1], context)
            return replace(outcome, went_back=True) if isinstance(outcome, (Answer, Clarify)) else outcome
        if question == "export":
            return await self._export(context.last or plan, context)
        return await self.resume(plan, context)

    async def resume(self, plan: Plan, context: Context) -> Outcome:
        self.seen.append(context)
        if self.troubles:
            raise self.troubles.pop(0)
        context.progress("Counting …")
        search = plan.leg(LEG).search
        count, records = Count(search), Records(search, limit=context.limits.documents)
        facet = Facet(search, VENDOR)
        answers = await context.index.ask(count, records, facet)
        n = answers[count]
        trace = _trace(n)
        if n > context.limits.overload and not context.just_answer:
            return Clarify(
                plan=plan,
                kind=OutcomeKind.OVERLOAD,
                leg=LEG,
                text=f"I found {n:,}. Which?",
                legs=(_leg(plan, OutcomeKind.OVERLOAD, n),),
                choices=_choices(answers, facet, n),
                asked_back=context.asked_back + 1,
                trace=trace,
                generation=answers.generation,
            )
        ids = tuple(record.doc_id for record in answers[records].records)
        return Answer(
            plan=plan,
            text=f"There are {n:,}.",
            legs=(_leg(plan, OutcomeKind.ANSWER, n, ids),),
            trace=trace,
            generation=answers.generation,
        )

    def by_meaning(self, plan: Plan, leg_id: LegId) -> Plan:
        return plan.with_search(leg_id, Search(clauses=plan.leg(leg_id).search.clauses, ranking="by meaning"))

    async def _export(self, plan: Plan, context: Context) -> Outcome:
        count = Count(plan.leg(LEG).search)
        answers = await context.index.ask(count)
        return ExportWanted(
            plan=plan, leg=LEG, count=answers[count], trace=_trace(answers[count]), generation=answers.generation
        )


def _choices(answers: Answers, facet: Facet, n: int) -> tuple[Choice, ...]:
    split = answers[facet]
    assert isinstance(split, ValueFacet)
    vendors = [
        Choice(
            label=one.value,
            count=one.count,
            leg=LEG,
            does=AddFilter(condition=Compare(field=VENDOR, op=Op.EQ, value=one.value)),
        )
        for one in split.values
    ]
    export = Choice(label="Export all", count=n, leg=LEG, does=ExportAll())
    others = [
        Choice(label=label, count=None, leg=LEG, does=does)
        for label, does in (
            ("Just answer", JustAnswer()),
            ("Search the web", SearchWeb()),
            ("Ask in private", ContinuePrivately()),
            ("By meaning", SearchByMeaning()),
            ("Start over", StartOver()),
        )
    ]
    return (*vendors, export, *others)


def _leg(plan: Plan, kind: OutcomeKind, n: int, ids: tuple[str, ...] = ()) -> LegResult:
    condition = next(iter(plan.leg(LEG).search.clauses)).everything
    return LegResult(
        leg=LEG, question=plan.question, kind=kind, text="", count=n, doc_ids=cast(tuple[()], ids), condition=condition
    )


def _trace(n: int) -> Trace:
    attempt = Attempt(tool="annotations_search", arguments={"filters": []}, documents=n, ms=0.1)
    return Trace(route=Route.STRUCTURED, attempts=(attempt,))


@dataclass
class Message:
    """As the chat shows it now, and all that it said before."""

    conversation: ConversationId
    said: list[Reply] = field(default_factory=list[Reply])
    chosen: Chosen | None = None
    files: tuple[str, ...] = ()  # handed over

    @property
    def reply(self) -> Reply:
        return self.said[-1]


class Chat:
    """An outbox that keeps its messages. `troubles` are raised first, one a call; `forgets` ids: find finds nothing."""

    def __init__(self) -> None:
        self.messages: dict[MessageId, Message] = {}
        self.troubles: list[OutboxFailed] = []
        self.handing_over: list[OutboxFailed] = []  # troubles with files
        self.attended = 0
        self.whispers: list[tuple[PersonId, Reply]] = []
        self.before: Callable[[], None] = lambda: None  # what happens right before an effect
        self._ids = (MessageId(f"m{n}") for n in itertools.count(1))

    async def post(self, conversation: ConversationId, address: Mapping[str, str], reply: Reply) -> MessageId:
        self._meet_trouble()
        message = next(self._ids)
        self.messages[message] = Message(conversation, [reply])
        return message

    async def open(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, opening: Opening
    ) -> Opened | None:
        return await opened_at_once(self, conversation, address, opening)

    async def update(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        self._meet_trouble()
        self.messages[message].said.append(reply)

    async def hand_over(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        if self.handing_over:
            raise self.handing_over.pop(0)
        assert reply == self.messages[message].reply
        self.messages[message].files = tuple(part.name for part in reply.parts if isinstance(part, File))

    async def whisper(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, reply: Reply
    ) -> None:
        self._meet_trouble()
        self.whispers.append((person, reply))

    async def attend(self, conversation: ConversationId, address: Mapping[str, str]) -> None:
        self.attended += 1

    async def find(
        self,
        conversation: ConversationId,
        address: Mapping[str, str],
        turn: TurnId,
        *,
        others: Collection[MessageId] | None = None,
    ) -> MessageId | None:
        self._meet_trouble()
        return next((id_ for id_, message in self.messages.items() if message.reply.turn == turn), None)

    async def settle(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply, chosen: Chosen
    ) -> None:
        self._meet_trouble()
        assert reply == self.messages[message].reply
        self.messages[message].chosen = chosen

    def of(self, turn: TurnId) -> list[Message]:
        return [message for message in self.messages.values() if message.reply.turn == turn]

    def _meet_trouble(self) -> None:
        if self.troubles:
            raise self.troubles.pop(0)


class Clock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, by: timedelta) -> None:
        self.now += by

"""Fakes of the bot's neighbours: an agent that lists and asks back, a chat that keeps its messages, a clock."""

import asyncio
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any as Json
from typing import cast

from aiohttp import web

from agent.context import AgentContext
from agent.gateway.messages import ModelReply, ModelRequest
from agent.outcome import (
    Answer,
    Choice,
    Clarify,
    ExportOutcome,
    LegResult,
    Outcome,
    OutcomeKind,
    Refused,
    SearchAttempt,
    SearchRoute,
    SearchTrace,
    StartOverOutcome,
)
from agent.reasoner import Reasoner
from agent.reasoning_log import ReasoningLog
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.surface.attachments import AttachmentSource
from bot.surface.directory import Directory
from bot.surface.outbox import Outbox, OutboxFailed, ThreadPlacer
from bot.surface.replies import ChosenPart, FilePart, Reply
from bot.surface.surface import WorkerSupport
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.ids import FieldName, LegId
from storage.search.index import CountRequest, FacetRequest, IndexAnswers, RecordPageRequest, ValueFacet
from storage.search.plan import Leg, ListDocuments, Plan, Search, unfiltered_search_of
from storage.search.refinement import (
    AddFilter,
    ContinuePrivately,
    ExportAll,
    JustAnswer,
    SearchByMeaning,
    SearchWeb,
    StartOver,
)
from tests.agent.model.scripted_model import ScriptedModel

LEG = LegId("1")
VENDOR = FieldName("vendor")
NO_REASONER = cast(Reasoner, object())  # the fake agent uses no reasoner


class ListingAgent:
    """Lists all visible documents. Above the limit it asks back, with a choice for each vendor, the export, and the
    other actions.

    `failures` are raised first, one per call. `reason` is called before that with the log of the turn. If it `hangs`,
    it does not return.
    """

    def __init__(self) -> None:
        self.failures: list[Exception] = []
        self.contexts: list[AgentContext] = []
        self.reason: Callable[[ReasoningLog], None] = lambda log: None
        self.hangs = False

    async def answer(self, question: str, context: AgentContext) -> Outcome:
        if question == "start over":
            return StartOverOutcome(text="Started over.")
        schemas = await context.index.load_schemas()
        if not schemas:
            return Refused(text="Nothing here.", may_go_private=context.may_go_private)
        buckets = context.buckets if context.buckets is not None else frozenset(schemas)
        leg = Leg(id=LEG, question=question, search=unfiltered_search_of(*sorted(buckets)), answer_form=ListDocuments())
        plan = Plan(question=question, legs=(leg,))
        if question == "go back" and context.earlier_plans:
            outcome = await self.resume(context.earlier_plans[-1], context)
            return replace(outcome, is_undo=True) if isinstance(outcome, (Answer, Clarify)) else outcome
        if question == "export":
            return await self._export(context.last_plan or plan, context)
        return await self.resume(plan, context)

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome:
        self.contexts.append(context)
        self.reason(context.reasoning_log)
        if self.hangs:
            await asyncio.Event().wait()
        if self.failures:
            raise self.failures.pop(0)
        context.report_progress("Counting …")
        search = plan.leg_by_id(LEG).search
        count, records = CountRequest(search), RecordPageRequest(search, limit=context.limits.reported_documents)
        facet = FacetRequest(search, VENDOR)
        answers = await context.index.answer_requests(count, records, facet)
        n = answers[count]
        trace = _trace_of(n)
        if n > context.limits.overload_documents and not context.just_answer:
            return Clarify(
                plan=plan,
                kind=OutcomeKind.OVERLOAD,
                leg=LEG,
                text=f"I found {n:,}. Which?",
                legs=(_leg_result_of(plan, OutcomeKind.OVERLOAD, n),),
                choices=_choices_of(answers, facet, n),
                clarifications_in_a_row=context.clarifications_in_a_row + 1,
                trace=trace,
                generation=answers.generation,
            )
        ids = tuple(record.doc_id for record in answers[records].records)
        return Answer(
            plan=plan,
            text=f"There are {n:,}.",
            legs=(_leg_result_of(plan, OutcomeKind.ANSWER, n, ids),),
            trace=trace,
            generation=answers.generation,
        )

    def apply_search_by_meaning(self, plan: Plan, leg_id: LegId) -> Plan:
        return plan.with_search(
            leg_id, Search(clauses=plan.leg_by_id(leg_id).search.clauses, ranking_text="by meaning")
        )

    async def _export(self, plan: Plan, context: AgentContext) -> Outcome:
        self.reason(context.reasoning_log)
        count = CountRequest(plan.leg_by_id(LEG).search)
        answers = await context.index.answer_requests(count)
        return ExportOutcome(
            plan=plan, leg=LEG, count=answers[count], trace=_trace_of(answers[count]), generation=answers.generation
        )


def _choices_of(answers: IndexAnswers, facet: FacetRequest, n: int) -> tuple[Choice, ...]:
    facet_counts = answers[facet]
    assert isinstance(facet_counts, ValueFacet)
    vendors = [
        Choice(
            label=vendor.value,
            count=vendor.count,
            leg=LEG,
            effect=AddFilter(condition=ComparisonCondition(field=VENDOR, op=ComparisonOperator.EQ, value=vendor.value)),
        )
        for vendor in facet_counts.values
    ]
    export = Choice(label="Export all", count=n, leg=LEG, effect=ExportAll())
    others = [
        Choice(label=label, count=None, leg=LEG, effect=effect)
        for label, effect in (
            ("Just answer", JustAnswer()),
            ("Search the web", SearchWeb()),
            ("Ask in private", ContinuePrivately()),
            ("By meaning", SearchByMeaning()),
            ("Start over", StartOver()),
        )
    ]
    return (*vendors, export, *others)


def _leg_result_of(plan: Plan, kind: OutcomeKind, n: int, ids: tuple[str, ...] = ()) -> LegResult:
    condition = next(iter(plan.leg_by_id(LEG).search.clauses)).display_condition
    return LegResult(
        leg=LEG, question=plan.question, kind=kind, text="", count=n, doc_ids=cast(tuple[()], ids), condition=condition
    )


def _trace_of(n: int) -> SearchTrace:
    attempt = SearchAttempt(tool="annotations_search", arguments={"filters": []}, documents=n, ms=0.1)
    return SearchTrace(route=SearchRoute.STRUCTURED, attempts=(attempt,))


@dataclass
class FakeChatMessage:
    """A message of the chat: all contents that it has shown, the present one last."""

    conversation: ConversationId
    replies: list[Reply] = field(default_factory=list[Reply])
    chosen: ChosenPart | None = None
    files: tuple[str, ...] = ()  # names of attached files

    @property
    def reply(self) -> Reply:
        return self.replies[-1]


class FakeChat:
    """An outbox that keeps its messages. `failures` are raised first, one per call."""

    def __init__(self) -> None:
        self.messages: dict[MessageId, FakeChatMessage] = {}
        self.failures: list[OutboxFailed] = []
        self.file_failures: list[OutboxFailed] = []  # raised while files are attached
        self.activity_count = 0
        self.private_replies: list[tuple[PersonId, Reply]] = []
        self.before_effect: Callable[[], None] = lambda: None  # called right before an effect
        self._ids = (MessageId(f"m{n}") for n in itertools.count(1))

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> "FakeChatThread":
        return FakeChatThread(self, conversation)

    def messages_of_turn(self, turn: TurnId) -> list[FakeChatMessage]:
        return [message for message in self.messages.values() if message.reply.turn == turn]

    def new_message_id(self) -> MessageId:
        return next(self._ids)

    def meet_trouble(self) -> None:
        if self.failures:
            raise self.failures.pop(0)


class FakeChatThread:
    """A conversation of a chat; it can show activity and messages for one person alone."""

    def __init__(self, chat: FakeChat, conversation: ConversationId) -> None:
        self.chat, self.conversation = chat, conversation

    async def post_message(self, reply: Reply) -> MessageId:
        self.chat.meet_trouble()
        message = self.chat.new_message_id()
        self.chat.messages[message] = FakeChatMessage(self.conversation, [reply])
        return message

    async def update_message(self, message: MessageId, reply: Reply) -> None:
        self.chat.meet_trouble()
        self.chat.messages[message].replies.append(reply)

    async def attach_files(self, message: MessageId, reply: Reply) -> None:
        if self.chat.file_failures:
            raise self.chat.file_failures.pop(0)
        assert reply == self.chat.messages[message].reply
        self.chat.messages[message].files = tuple(part.name for part in reply.parts if isinstance(part, FilePart))

    async def post_privately(self, person: PersonId, reply: Reply) -> None:
        self.chat.meet_trouble()
        self.chat.private_replies.append((person, reply))

    async def show_activity(self) -> None:
        self.chat.activity_count += 1

    async def find_message(
        self, turn: TurnId, *, other_messages: Collection[MessageId] | None = None
    ) -> MessageId | None:
        self.chat.meet_trouble()
        return next((id_ for id_, message in self.chat.messages.items() if message.reply.turn == turn), None)

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None:
        self.chat.meet_trouble()
        assert reply == self.chat.messages[message].reply
        self.chat.messages[message].chosen = chosen


@dataclass(kw_only=True)
class PartialSurface:
    """Fulfils `bot.surface.surface.Surface` with the parts that a test gives it."""

    name: str = "slack"
    outbox: Outbox
    directory: Directory | None = None
    threads: ThreadPlacer | None = None
    files: AttachmentSource | None = None
    worker_support: WorkerSupport | None = None

    def http_routes(self) -> Sequence[web.RouteDef]:
        return ()

    async def start(self) -> None:
        """There is nothing to open."""

    async def close(self) -> None:
        """There is nothing to close."""


class Clock:
    """A clock that stands still until it is advanced."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, by: timedelta) -> None:
        self.now += by


class PausableModel(ScriptedModel):
    """A scripted model that waits for `may_reply`, which is set at first."""

    def __init__(self, *replies: Mapping[str, Json] | str | Exception) -> None:
        super().__init__(*replies)
        self.called, self.may_reply = asyncio.Event(), asyncio.Event()
        self.may_reply.set()

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        self.called.set()
        await self.may_reply.wait()
        return await super().complete(request, log)

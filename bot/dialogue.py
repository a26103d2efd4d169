"""What is said to one message or click: the agent's answer under the rights of this moment, and what to remember."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any as Json
from typing import Final, Protocol, assert_never
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent.context import Context, Limits
from agent.outcome import (
    Answer,
    Attempt,
    Choice,
    Clarify,
    ExportWanted,
    Outcome,
    OutcomeKind,
    Refused,
    Route,
    StartedOver,
    Trace,
)
from agent.reasoner import Reasoner
from agent.rerank import Reranker
from bot.access import Access, scope_key
from bot.answers import Offer, file_reply, file_text, notice, reply_to
from bot.attached import Attached, Sight
from bot.attachments import ATTACHED, Missed, asked_of_files, brought_by, missed, received, remark, unread
from bot.clarifications import Clarifications, Clicked, Offered
from bot.codec import inbound_from_json, inbound_to_json, readable, reply_from_json, reply_to_json
from bot.directory import Directories
from bot.errors import BotError, InvalidQuestion, NoSuchBucket
from bot.exports import Exports, Told, Wanted
from bot.grounds import RestsOn, grounds_from_json, grounds_of, grounds_to_json
from bot.ids import BucketId, ChoiceId, ConversationId, MessageId, TurnId
from bot.inbound import AttachedFile, Inbound, Operator, Private, Said
from bot.inbound import Clicked as Pressed
from bot.outbox import Threads
from bot.replies import Chosen, Part, Reply, Text
from bot.result import Asked, failed_json, result_json
from bot.summary import Summary, summary_from_json, summary_to_json
from storage.search.codec import plan_from_json, plan_to_json
from storage.search.ids import Generation, LegId
from storage.search.index import SearchIndex
from storage.search.plan import Leg, ListDocuments, Plan, everything_in
from storage.search.refinement import (
    ContinuePrivately,
    ExportAll,
    JustAnswer,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    apply,
)
from storage.search.scope import Scope
from storage.sql.conversations import Conversations, ConversationState
from storage.sql.database import Database

LONGEST_QUESTION: Final = 10_000  # code points
_EARLIER: Final = "earlier"  # the key of the plans before, beside the last plan's own
_TURN: Final = "turn"  # the key of the turn that made a plan, beside the plan's own
_PLANS_BEFORE: Final = 5
_THINKING: Final = timedelta(seconds=60)
_FIRST: Final = "Which documnets speak of it?"  # a word is misspelt: what is known of spelling is made as well
_NO_BUCKET: Final = "You may see no documents here that could answer this."
_PARTLY: Final = "_Some of it may no longer be seen here; this is the rest._"
_NOT_GRANTED: Final = "What this choice leads to may no longer be seen here."
_AFRESH: Final = "Start over"
_FORGOTTEN: Final = "I have forgotten what we talked about here. What would you like to know?"
_IN_PRIVATE: Final = "Write to me in a direct message and ask there: only you will read the answer."
_GOES_ON: Final = "This goes on in a direct message, where only you read the answer."
_ALONE: Final = "Continue in private"
_NO_WEB: Final = "Searching the web is not possible here. You can put your question to the documents in other words."


Attempted = Callable[[Attempt], None]


class Agent(Protocol):
    """The agent's public face; the module `agent.loop` is one."""

    async def answer(self, question: str, context: Context) -> Outcome: ...

    async def resume(self, plan: Plan, context: Context) -> Outcome: ...

    def by_meaning(self, plan: Plan, leg_id: LegId) -> Plan: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What a turn came to, before it is said. Kept in the inbox, so that a kill from here on changes nothing."""

    reply: Reply
    result: dict[str, Json]
    state: ConversationState | None = None  # of the conversation, afterwards; None: unchanged
    begins: Inbound | None = None  # a turn of the same person, where only they read
    uses: ChoiceId | None = None  # the choice that this turn makes, if it still can
    settles: TurnId | None = None  # the turn whose buttons are then gone
    chosen: Chosen | None = None
    rests_on: RestsOn | None = None
    ending: str | None = None  # where the turn did not end as its result says

    @property
    def error(self) -> str | None:
        return self.result.get("error")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """A turn's surroundings, worked out when it runs."""

    inbound: Inbound
    turn: TurnId
    scope: Scope
    may_go_private: bool  # the asker alone may see more
    state: ConversationState
    sight: Sight
    limits: Limits
    told: Told
    attempted: Attempted

    def asked(self, question: str) -> Asked:
        return asked_of(self.inbound, self.turn, question, self.limits)


class Dialogue:
    """Reads the conversation's state and the grants, runs the agent, and says what became of it. Changes only what it
    stores anew: clarifications and export files."""

    def __init__(
        self,
        *,
        agent: Agent,
        reasoner: Reasoner,
        index: SearchIndex,
        database: Database,
        access: Access,
        directories: Directories,
        clarifications: Clarifications,
        exports: Exports,
        attached: Attached,
        reranker: Reranker | None = None,
    ) -> None:
        self._agent, self._reasoner, self._reranker = agent, reasoner, reranker
        self._index, self._access, self._now = index, access, database.now
        self._directories, self._clarifications, self._exports = directories, clarifications, exports
        self._attached = attached
        self._conversations = Conversations(database)
        self._threads: dict[str, Threads] = {}

    def go_private_through(self, surface: str, threads: Threads) -> None:
        """Who asks there may go on where only they read."""
        self._threads[surface] = threads

    async def prepare(self) -> None:
        """Ask once as the operator and say nothing, so that nobody waits for what a process reads and makes once.

        Raises what the index and the database raise.
        """
        scope = await self._access.scope(Operator())
        context = Context(
            index=self._index.within(scope), reasoner=self._reasoner, reranker=self._reranker, now=self._now()
        )
        async with asyncio.timeout(_THINKING.total_seconds()):
            await self._agent.answer(_FIRST, context)

    async def spoken(self, inbound: Inbound, turn: TurnId, limits: Limits, told: Told, attempted: Attempted) -> Spoken:
        """Raises `BotError` for what a person did that cannot be, and what the index and the database raise."""
        inbound = await self._directories.present(inbound)
        scope = await self._access.scope(inbound.audience)
        state = await self._conversations.load(inbound.conversation, scope_key(scope))
        lost = await self._attached.take(inbound, told)
        where = (scope, inbound.conversation, inbound.audience)
        async with self._attached.seen(*where, message=brought_by(inbound), told=told) as sight:
            moment = _Moment(
                inbound=inbound,
                turn=turn,
                scope=scope,
                may_go_private=await self._access.may_go_private(inbound.audience, inbound.person, scope),
                state=state,
                sight=sight,
                limits=limits,
                told=told,
                attempted=attempted,
            )
            lines = _of_files((*lost, *sight.missed), sight.remarks)
            try:
                spoken = await self._spoken(moment)
            except BotError as exc:
                spoken = failed(inbound, turn, str(exc))
            return with_lines(spoken, lines)

    async def _spoken(self, moment: _Moment) -> Spoken:
        body = moment.inbound.body
        if isinstance(body, Said) and not body.text.strip() and moment.sight.names:
            return _told("", received(moment.sight.names), moment)
        choice = await self._choice(moment)
        if choice is not None:
            return await self._click(choice, moment)
        return await self._question(moment)

    async def _choice(self, moment: _Moment) -> ChoiceId | None:
        body = moment.inbound.body
        if isinstance(body, Pressed):
            return body.choice
        if not isinstance(body, Said):
            return None
        text, state = checked_question(body.text), moment.state
        asked_back = state.clarifications_in_a_row > 0
        return await self._clarifications.typed(text, moment.inbound, state.scope_key, by_place=asked_back)

    async def _question(self, moment: _Moment) -> Spoken:
        body = moment.inbound.body
        question = checked_question(body.text) if isinstance(body, Said) else ""
        buckets = await self._buckets(moment)
        context = await self._context(moment)
        if buckets is not None and not buckets:
            return await self._say(question, Refused(text=_NO_BUCKET, may_go_private=context.may_go_private), moment)
        sight = moment.sight
        of_files = asked_of_files(question, brought=bool(sight.names)) if sight.files and buckets is None else None
        if of_files is not None:
            buckets = frozenset({ATTACHED})
        async with asyncio.timeout(_THINKING.total_seconds()):
            outcome = await self._agent.answer(of_files or question, replace(context, buckets=buckets))
        return await self._say(question, outcome, moment)

    async def _buckets(self, moment: _Moment) -> frozenset[BucketId] | None:
        """Those asked for that exist and are granted. Only the operator is told that one does not exist."""
        if not moment.inbound.buckets:
            return None
        visible = await moment.sight.index.schemas()
        asked = frozenset(map(BucketId, moment.inbound.buckets))
        unknown = sorted(asked - visible.keys())
        if unknown and isinstance(moment.inbound.audience, Operator):
            raise NoSuchBucket(unknown[0])
        return asked & visible.keys()

    async def _context(self, moment: _Moment) -> Context:
        inbound, state = moment.inbound, moment.state
        return Context(
            index=moment.sight.index,
            reasoner=self._reasoner,
            reranker=self._reranker,
            now=self._now().astimezone(_zone(inbound.time_zone)),
            locale=inbound.locale,
            limits=moment.limits,
            last=None if state.last_plan is None else plan_from_json(dict(state.last_plan)),
            earlier=_earlier(state),
            asked_back=state.clarifications_in_a_row,
            may_go_private=moment.may_go_private,
            progress=moment.told,
            attempted=moment.attempted,
        )

    # -- clicks

    async def _click(self, choice: ChoiceId, moment: _Moment) -> Spoken:
        clicked = await self._clarifications.look_up(choice, moment.inbound)
        spoken = await self._chosen(clicked, moment)
        if isinstance(clicked.does, (ContinuePrivately, SearchWeb)):  # only told how: the other buttons still stand
            return spoken
        if spoken.result["outcome"] == OutcomeKind.REFUSED.value:  # what was offered is not shown to them once more
            return spoken
        return replace(
            spoken,
            uses=choice,
            settles=clicked.turn,
            chosen=Chosen(label=clicked.label, by=moment.inbound.name or moment.inbound.person),
        )

    async def _chosen(self, clicked: Clicked, moment: _Moment) -> Spoken:
        does, question = clicked.does, clicked.question
        match does:
            case StartOver():
                return await self._say(question, StartedOver(text=_FORGOTTEN), moment)
            case ContinuePrivately():
                return await self._alone(question, moment)
            case SearchWeb():
                return _told(question, _NO_WEB, moment)
            case ExportAll():
                return await self._export_chosen(clicked, moment)
            case JustAnswer():
                return await self._resume(clicked, clicked.plan, moment, just_answer=True)
            case SearchByMeaning():
                return await self._resume(clicked, self._agent.by_meaning(clicked.plan, clicked.leg), moment)
            case _:
                refined = apply(does, clicked.plan.leg(clicked.leg).search)
                return await self._resume(clicked, clicked.plan.with_search(clicked.leg, refined), moment)

    async def _alone(self, question: str, moment: _Moment) -> Spoken:
        """Asked anew by whoever clicked, with the rights of theirs; here it is only said that it goes on."""
        threads = self._threads.get(moment.inbound.surface)
        address = None if threads is None else await threads.alone(moment.inbound)
        if address is None:
            return _told(question, _IN_PRIVATE, moment)
        files = await self._attached.carried(moment.inbound.conversation, moment.inbound.audience)
        begins = asked_alone(moment.inbound, moment.turn, question, address, self._now(), files)
        return replace(_told(question, _GOES_ON, moment), begins=begins)

    async def _resume(self, clicked: Clicked, plan: Plan, moment: _Moment, *, just_answer: bool = False) -> Spoken:
        visible = _visible(plan, moment.sight.scope)
        if visible is None:
            return await self._say(clicked.question, Refused(text=_NOT_GRANTED), moment)
        context = replace(await self._context(moment), just_answer=just_answer)
        async with asyncio.timeout(_THINKING.total_seconds()):
            outcome = await self._agent.resume(visible, context)
        notes = (_PARTLY if visible != plan else "", now_was(_count(outcome, clicked.leg), clicked.count))
        return await self._say(clicked.question, outcome, moment, notes=notes)

    async def _export_chosen(self, clicked: Clicked, moment: _Moment) -> Spoken:
        visible = _visible(clicked.plan, moment.sight.scope)
        if visible is None:
            return await self._say(clicked.question, Refused(text=_NOT_GRANTED), moment)
        trace, generation = Trace(route=Route.STRUCTURED), Generation("")
        wanted = ExportWanted(
            plan=visible, leg=clicked.leg, count=clicked.count or 0, trace=trace, generation=generation
        )
        return await self._export(clicked.question, wanted, moment, notes=(_PARTLY if visible != clicked.plan else "",))

    # -- what is said

    async def _say(self, question: str, outcome: Outcome, moment: _Moment, *, notes: Sequence[str] = ()) -> Spoken:
        """`notes` come first: what has changed since a button was offered."""
        if isinstance(outcome, ExportWanted):
            return await self._export(question, outcome, moment, notes=notes)
        offer = await self._offer(question, outcome, moment)
        result = result_json(moment.asked(question), outcome, offer=offer)
        return Spoken(
            reply=reply_to(moment.turn, outcome, offer, before=_texts(notes)),
            result=result | {"text": _joined(*notes, result["text"])},
            state=_state_after(moment.state, moment.turn, question, outcome),
            rests_on=grounds_of(outcome, moment.scope, moment.sight.files),
        )

    async def _offer(self, question: str, outcome: Outcome, moment: _Moment) -> Offer | None:
        inbound, offered = moment.inbound, _offered(question, outcome)
        if offered is None:
            return None
        if moment.may_go_private and inbound.surface in self._threads:
            alone = Choice(label=_ALONE, count=None, leg=offered.plan.legs[0].id, does=ContinuePrivately())
            offered = replace(offered, choices=(*offered.choices, alone))
        return await self._clarifications.store(inbound, moment.turn, moment.state.scope_key, offered)

    async def _export(
        self, question: str, outcome: ExportWanted, moment: _Moment, *, notes: Sequence[str] = ()
    ) -> Spoken:
        inbound, leg = moment.inbound, outcome.plan.leg(outcome.leg)
        wanted = Wanted(
            turn=moment.turn,
            conversation=inbound.conversation,
            person=inbound.person,
            audience=inbound.audience,
            leg=leg,
        )
        file = await self._exports.write(wanted, moment.told)
        notes = (*notes, now_was(file.rows, outcome.count or None))
        said = _joined(*notes, file_text(file))
        return Spoken(
            reply=file_reply(moment.turn, file, before=_texts(notes)),
            result=result_json(moment.asked(question), outcome, files=(file,), said=said),
            state=_state_after(moment.state, moment.turn, question, outcome),
            rests_on=grounds_of(outcome, moment.scope, moment.sight.files),
        )


def asked_alone(
    inbound: Inbound,
    turn: TurnId,
    question: str,
    address: Mapping[str, str],
    now: datetime,
    files: tuple[AttachedFile, ...] = (),
) -> Inbound:
    """The same question, of the same person's and nobody else's. Unique by the turn that led to it. `files` come along,
    to be fetched anew.
    """
    event = f"alone:{turn}"
    return replace(
        inbound,
        event_id=event,
        conversation=ConversationId(f"{inbound.surface}:{event}"),
        message_id=MessageId(event),
        audience=Private(person=inbound.person, guest=True),
        body=Said(question),
        received=now,
        address=address,
        files=files,
        unread=(),
        unplaced=True,
    )


def _offered(question: str, outcome: Outcome) -> Offered | None:
    """None for what leaves nothing to choose. A refusal has no plan of its own."""
    match outcome:
        case Answer(plan=plan, kept=kept) | Clarify(plan=plan, kept=kept):
            afresh = Choice(label=_AFRESH, count=None, leg=plan.legs[0].id, does=StartOver())
            choices = (*outcome.choices, afresh) if kept else outcome.choices
            return Offered(plan=plan, choices=choices, generation=outcome.generation)
        case Refused():
            leg = Leg(id=LegId("1"), question=question, search=everything_in(), wanted=ListDocuments())
            return Offered(plan=Plan(question=question, legs=(leg,)), choices=(), generation=Generation(""))
        case ExportWanted() | StartedOver():
            return None
        case _:
            assert_never(outcome)


def _told(question: str, sentence: str, moment: _Moment) -> Spoken:
    """An answer that changes nothing in the conversation."""
    result = result_json(moment.asked(question), StartedOver(text=sentence))
    return Spoken(reply=notice(moment.turn, sentence), result=result)


def with_unread(spoken: Spoken, names: Sequence[str]) -> Spoken:
    """Files that are not even fetched are named, never passed over in silence."""
    return with_lines(spoken, [unread(names)] if names else [])


def with_lines(spoken: Spoken, lines: Sequence[str]) -> Spoken:
    """These, as Markdown, come before all else."""
    if not lines:
        return spoken
    return replace(
        spoken,
        reply=replace(spoken.reply, parts=(*_texts(lines), *spoken.reply.parts)),
        result=spoken.result | {"text": _joined(*lines, spoken.result["text"])},
    )


def _of_files(lost: Sequence[Missed], remarks: Sequence[tuple[str, str]]) -> list[str]:
    return [*missed(lost), *(remark(name, said) for name, said in remarks)]


def checked_question(text: str) -> str:
    """The question without what no index can hold and without blanks around it.

    Raises `InvalidQuestion` when it is empty or too long.
    """
    question = text.encode(errors="replace").decode().replace("\x00", " ").strip()
    if not question:
        raise InvalidQuestion("There is no question here; ask me something about your documents.")
    if len(question) > LONGEST_QUESTION:
        raise InvalidQuestion(f"That is too long: a question may have {LONGEST_QUESTION:,} characters at most.")
    return question


def failed(inbound: Inbound, turn: TurnId, sentence: str) -> Spoken:
    """A turn that ends in one plain sentence."""
    question = inbound.body.text if isinstance(inbound.body, Said) else ""
    return Spoken(reply=notice(turn, sentence), result=failed_json(asked_of(inbound, turn, question), sentence))


def asked_of(inbound: Inbound, turn: TurnId, question: str, limits: Limits | None = None) -> Asked:
    kept = limits or Limits()
    return Asked(question=question, conversation=inbound.conversation, turn=turn, hits=kept.hits, limit=kept.documents)


def now_was(now: int | None, was: int | None) -> str:
    """What to say when a button leads elsewhere than it said; empty when it does not."""
    return f"_now {now:,}, was {was:,}_" if now is not None and was is not None and now != was else ""


def spoken_to_json(spoken: Spoken) -> dict[str, Json]:
    state, chosen, rests_on = spoken.state, spoken.chosen, spoken.rests_on
    return {
        "version": 1,
        "reply": reply_to_json(spoken.reply),
        "result": spoken.result,
        "state": None if state is None else _state_to_json(state),
        "begins": None if spoken.begins is None else inbound_to_json(spoken.begins),
        "uses": spoken.uses,
        "settles": spoken.settles,
        "chosen": None if chosen is None else {"label": chosen.label, "by": chosen.by},
        "rests_on": None if rests_on is None else grounds_to_json(rests_on, spoken.result),
        "ending": spoken.ending,
    }


def _state_to_json(state: ConversationState) -> dict[str, Json]:
    """Not `asdict`, which copies the whole plan, leaf by leaf."""
    return {name: getattr(state, name) for name in ConversationState.__dataclass_fields__}


def spoken_from_json(data: Mapping[str, Json]) -> Spoken:
    """Raises `UnreadableTurn`."""
    with readable():
        return _spoken(data)


def _spoken(data: Mapping[str, Json]) -> Spoken:
    chosen, rests_on = data["chosen"], data.get("rests_on")  # of before: nothing is known of it
    begins = data.get("begins")
    return Spoken(
        reply=reply_from_json(data["reply"]),
        result=data["result"],
        state=None if data["state"] is None else ConversationState(**data["state"]),
        begins=None if begins is None else inbound_from_json(begins),
        uses=data["uses"],
        settles=data["settles"],
        chosen=None if chosen is None else Chosen(label=chosen["label"], by=chosen["by"]),
        rests_on=None if rests_on is None else grounds_from_json(rests_on, data["result"]),
        ending=data.get("ending"),
    )


def _visible(plan: Plan, scope: Scope) -> Plan | None:
    """The plan over the buckets that are granted now; None when a leg has none left."""
    for leg in plan.legs:
        kept = tuple(clause for clause in leg.search.clauses if clause.bucket in scope.buckets)
        if not kept:
            return None
        plan = plan.with_search(leg.id, leg.search.with_clauses(*kept))
    return plan


def _count(outcome: Outcome, leg_id: LegId) -> int | None:
    """Documents that the leg brought as it is now: what is said, else what its set holds."""
    if not isinstance(outcome, (Answer, Clarify)):
        return None
    leg = next((leg for leg in outcome.legs if leg.leg == leg_id), None)
    return None if leg is None else leg.found if leg.count is None else leg.count


def _state_after(state: ConversationState, turn: TurnId, asked: str, outcome: Outcome) -> ConversationState | None:
    summary = summary_from_json(state.summary) if state.summary else Summary()
    after = replace(state, summary=summary_to_json(summary.with_outcome(asked, outcome, turn)))
    match outcome:
        case Clarify(understood=False):
            return after
        case Clarify(plan=plan, asked_back=in_a_row, went_back=back):
            return replace(after, last_plan=_last_plan(state, plan, turn, back=back), clarifications_in_a_row=in_a_row)
        case Answer(plan=plan, went_back=back):
            return replace(after, last_plan=_last_plan(state, plan, turn, back=back), clarifications_in_a_row=0)
        case ExportWanted(plan=plan):
            return replace(after, last_plan=_last_plan(state, plan, turn, back=False), clarifications_in_a_row=0)
        case StartedOver():
            return replace(after, last_plan=None, clarifications_in_a_row=0)
        case Refused():
            return None
        case _:
            assert_never(outcome)


def _earlier(state: ConversationState) -> tuple[Plan, ...]:
    """The plans before the last one, oldest first: kept with it, each as it is written."""
    return tuple(plan_from_json(one) for one in _written_before(state))


def _written_before(state: ConversationState) -> list[Json]:
    kept = (state.last_plan or {}).get(_EARLIER, [])
    return [*kept] if isinstance(kept, list) else []


def _last_plan(state: ConversationState, plan: Plan, turn: TurnId, *, back: bool) -> dict[str, Json]:
    """The plan with those before it, to go back to; one that was gone back to is the last again."""
    before = _written_before(state)
    written = plan_to_json(plan)
    last = {name: part for name, part in (state.last_plan or {}).items() if name != _EARLIER}
    if back:
        before = before[:-1]
    elif last and {name: part for name, part in last.items() if name != _TURN} != written:
        before = [*before, last][-_PLANS_BEFORE:]
    return written | {_TURN: turn} | ({_EARLIER: before} if before else {})


def without(state: ConversationState, turns: Collection[TurnId]) -> ConversationState:
    """As if these turns had not been: the plan before theirs is the last again, and what they asked is forgotten."""
    plan = state.last_plan
    while plan is not None and plan.get(_TURN) in turns:
        before = _written_before(replace(state, last_plan=plan))
        plan = None if not before else before[-1] | ({_EARLIER: before[:-1]} if before[:-1] else {})
    summary = summary_to_json(summary_from_json(state.summary).without(turns)) if state.summary else state.summary
    if plan == state.last_plan:
        return replace(state, summary=summary)
    return replace(state, summary=summary, last_plan=plan, clarifications_in_a_row=0)


def _texts(notes: Sequence[str]) -> tuple[Part, ...]:
    return tuple(Text(markdown=note) for note in notes if note)


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC

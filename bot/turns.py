"""The life of a turn, on one page: stored, claimed under a lease, worked out, noted, said, finished.

Noted before it is said: a worker that is killed from then on leaves an outcome that the next one only has to say. What
can pass (the index, the database, the chat is down) is tried again, at most three times; then the person gets a word.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any as Json
from typing import Final

from structlog.typing import FilteringBoundLogger

from agent.context import Limits
from agent.outcome import Attempt as Tried
from bot.afterwards import Afterwards
from bot.clarifications import Clarifications
from bot.codec import inbound_from_row, inbound_to_row, left_of
from bot.delivery import LEASE, Delivery, LeaseLost, News, Silence
from bot.dialogue import Dialogue, Spoken, failed, spoken_from_json, spoken_to_json, with_unread
from bot.errors import BotError, ChoiceRefused, UnknownTurn, UnreadableTurn
from bot.ids import ConversationId, MessageId, TurnId
from bot.inbound import AllOf, Clicked, Inbound, Said, Withdrawn
from bot.limits import LIMITED, QuestionLimits
from bot.outbox import Outbox, OutboxFailed, Threads
from bot.replies import Chosen, Notice, Reply
from bot.revisions import Revisions, gone
from bot.stopping import Stopped, Stops, stopped
from bot.tasks import lone_error
from storage.search.errors import IndexUnavailable, SearchError
from storage.sql.accepting import Accepted
from storage.sql.errors import SqlError
from storage.sql.inbox import Attempt, ClaimedTurn, Inbox, Lost, Turn

Observer = Callable[[str, str, float], None]  # the surface, the outcome, and the seconds that a turn took

_DEADLINE: Final = timedelta(minutes=10)  # of a whole turn, an export of a million rows included
_PAUSES: Final = (timedelta(seconds=3), timedelta(seconds=20))  # before the second and the third attempt
MAX_ATTEMPTS: Final = len(_PAUSES) + 1
_PATIENCE: Final = timedelta(seconds=30)  # with a chat that does not answer, where nobody waits
_AT_ONCE: Final = 8  # messages that are rewritten side by side
_AGAIN: Final = "The documents cannot be reached right now. I will try again in a moment."
_INDEX_DOWN: Final = "The documents cannot be reached right now. Please ask again a little later."
_DATABASE_DOWN: Final = "My database cannot be reached right now. Please ask again a little later."
_TOO_SLOW: Final = "This took too long, so I stopped. Please ask again, or ask for less at once."
_CHANGED: Final = "The documents changed while I was looking. Please ask again."
_BROKEN: Final = "Something went wrong here, and I could not answer. Please ask again."
_NOT_SENT: Final = "All of it could not be sent as a file. Please press “Show all” again."
_UNHEARD: Final = "The answer could not be delivered."
_EXPIRED: Final = "This offer has expired; ask again for a new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDone:
    """A finished turn: what it said, and its JSON result. `error`: the sentence it failed with."""

    turn: TurnId
    conversation: ConversationId
    reply: Reply
    result: Mapping[str, Json]
    error: str | None = None
    cause: Exception | None = None  # of the error, where it happened in this process


class Turns:
    """Accepts turns, and leads those that a worker has claimed to their end."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        dialogue: Dialogue,
        clarifications: Clarifications,
        limits: Limits,
        question_limits: QuestionLimits,
        stops: Stops,
        revisions: Revisions,
        afterwards: Afterwards,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._inbox, self._dialogue, self._clarifications = inbox, dialogue, clarifications
        self._limits, self._clock, self._log = limits, clock, log
        self._question_limits, self._stops, self._revisions = question_limits, stops, revisions
        self._afterwards = afterwards
        self._outboxes: dict[str, Outbox] = {}
        self._threads: dict[str, Threads] = {}
        self._elsewhere: set[str] = set()
        self._observers: list[Observer] = []

    @property
    def surfaces(self) -> list[str]:
        """Those that can be replied to from here."""
        return sorted(self._outboxes)

    def reply_through(self, surface: str, outbox: Outbox) -> None:
        self._outboxes[surface] = outbox

    def place_through(self, surface: str, threads: Threads) -> None:
        self._threads[surface] = threads

    def leave(self, surface: str) -> None:
        """Another process replies to it."""
        self._elsewhere.add(surface)

    def observe(self, observer: Observer) -> None:
        """Told of each turn that ends here from now on."""
        self._observers.append(observer)

    # -- accept

    async def accept(self, inbound: Inbound) -> TurnId | None:
        """Stored when it returns. None: it was accepted before, is revised already, or revises what was not."""
        accepted = await self._inbox.accept(inbound_to_row(inbound), first=inbound.is_first)
        if not isinstance(accepted, Accepted):
            return None
        turn = TurnId(accepted.turn)
        if inbound.revises is not None:
            await self._revisions.accepted(turn)
        return turn

    async def has_answered(self, conversation: ConversationId) -> bool:
        return await self._inbox.has_delivered(conversation)

    async def done(self, turn: TurnId) -> TurnDone | None:
        """None while it is open. Raises `UnknownTurn`."""
        found = await self._inbox.find(turn)
        if found is None:
            raise UnknownTurn(turn)
        return None if found.finished_at is None else _done_of(found)

    # -- one turn

    async def held(self, claimed: ClaimedTurn, *, limits: Limits | None = None, last: bool = False) -> TurnDone | None:
        """The turn under a lease that is renewed as long as it takes. None: the lease was lost, or it comes again."""
        inbound, unreadable = _read(claimed.turn)
        life = _Life(
            claimed=claimed,
            inbound=inbound,
            unreadable=unreadable,
            delivery=self._delivery(claimed, inbound) if unreadable is None or inbound.address else Silence(),
            news=News(),
            limits=limits or self._limits,
            last=last,
        )
        try:
            return await self._kept(life)
        except LeaseLost:
            self._log.warning("lease lost", **life.ids())
            return None
        except asyncio.CancelledError:
            await asyncio.shield(self._inbox.release(claimed))
            raise

    def _delivery(self, claimed: ClaimedTurn, inbound: Inbound) -> Delivery | Silence:
        outbox = self._outboxes.get(inbound.surface)
        if outbox is None:
            return Silence()
        return Delivery(claimed, inbound, outbox, self._inbox, now=self._clock, log=self._log)

    async def _kept(self, life: "_Life") -> TurnDone | None:
        with lone_error():
            async with asyncio.TaskGroup() as group:
                keeper = group.create_task(self._keep(life.claimed))
                try:
                    return await self._turn(life)
                finally:
                    keeper.cancel()

    async def _keep(self, claimed: ClaimedTurn) -> None:
        while True:
            await asyncio.sleep(LEASE.total_seconds() / 3)
            if not await self._inbox.renew(claimed, LEASE):
                raise LeaseLost()

    async def _turn(self, life: "_Life") -> TurnDone | None:
        """The whole turn: the answer; if that fails, a word; if that fails, another attempt later. No failure goes
        further but a lost lease, and a lost database where nobody would come back to the turn.
        """
        failure: Exception | None = None
        for step in (self._answered, self._apologised, self._put_off):
            try:
                return await step(life, failure)
            except LeaseLost:
                raise
            except Exception as exc:  # noqa: BLE001 - the one place in the project: a person is waiting for a word
                self._log_failure(life, exc)
                failure = exc
        if life.last:
            raise failure or RuntimeError()
        return None

    async def _answered(self, life: "_Life", failure: Exception | None) -> TurnDone | None:
        if life.unreadable is not None:
            raise life.unreadable
        await self._place(life)
        earlier = await self._revise(life)
        if isinstance(life.inbound.body, Withdrawn):
            return await self._withdrawn(life, earlier)
        if (refused := await self._refused_click(life)) is not None:
            return refused
        if life.claimed.turn.outcome is None and (notice := await self._notice(life)):
            return await self._limited(life, notice)
        spoken = await self._worked_out(life)
        if spoken.begins is not None:
            await self.accept(spoken.begins)
        await self._say(life, spoken)
        done = await self._finish(life, spoken, delivered=life.is_heard, noted=life.is_heard)
        self._log_turn(life, spoken)
        return replace(done, cause=failure)

    async def _place(self, life: "_Life") -> None:
        """A question that was asked outside a conversation gets the one that it is answered in. Noted at once, so that
        a click or a word there finds it.
        """
        threads = self._threads.get(life.inbound.surface)
        if not life.inbound.unplaced or threads is None:
            return
        placed = await threads.place(life.inbound, life.turn, again=life.claimed.fence > 1)
        row = inbound_to_row(placed)
        if not await self._inbox.move(life.claimed, row.conversation, row.audience, row.body):
            raise LeaseLost()
        life.inbound, life.delivery = placed, self._delivery(life.claimed, placed)

    async def _revise(self, life: "_Life") -> list[MessageId]:
        """An edited question is answered in the message that answered it before. All messages that did."""
        if life.inbound.revises is None:
            return []
        earlier = await self._revisions.begun(life.claimed, life.inbound, life.delivery.found)
        turn = life.claimed.turn
        if earlier and turn.placeholder is None and isinstance(life.inbound.body, Said):
            if not await self._inbox.note_placeholder(life.claimed, earlier[-1]):
                raise LeaseLost()
            life.claimed = replace(life.claimed, turn=replace(turn, placeholder=earlier[-1]))
            life.delivery = self._delivery(life.claimed, life.inbound)
        return earlier

    async def _withdrawn(self, life: "_Life", messages: Sequence[MessageId]) -> TurnDone:
        spoken, threads = gone(life.inbound, life.turn), self._threads.get(life.inbound.surface)
        said = await self._revisions.withdrawn(life.claimed, life.inbound)
        files = {one.message: one.files for one in said}
        if threads is not None:
            for message in dict.fromkeys((*files, *messages)):
                await threads.withdraw(life.inbound, message, spoken.reply, files=files.get(message, ()))
        return await self._finish(life, spoken, delivered=False)

    async def _refused_click(self, life: "_Life") -> TurnDone | None:
        """A click that does not count is told to the clicker alone, before the chat shows that anything is done."""
        body = life.inbound.body
        if not isinstance(body, Clicked) or life.claimed.turn.outcome is not None:
            return None
        try:
            await self._clarifications.look_up(body.choice, life.inbound)
        except ChoiceRefused as exc:
            spoken = failed(life.inbound, life.turn, str(exc))
            await life.delivery.whisper(spoken.reply)
            return await self._finish(life, spoken, delivered=life.is_heard)
        return None

    async def _notice(self, life: "_Life") -> str | None:
        return await self._question_limits.notice(life.turn, automatic=life.inbound.automatic)

    async def _limited(self, life: "_Life", notice: str) -> TurnDone:
        """More questions than may be asked: the agent is not troubled, and the turn counts for nothing.

        A program is told nothing, or it might answer that as well.
        """
        spoken = failed(life.inbound, life.turn, notice)
        if life.inbound.automatic:
            self._log.warning("program limited", **life.ids())
            return await self._finish(life, spoken, delivered=False, ending=LIMITED)
        await life.delivery.deliver(spoken.reply)
        return await self._finish(life, spoken, delivered=life.is_heard, ending=LIMITED)

    async def _apologised(self, life: "_Life", failure: Exception | None) -> TurnDone | None:
        """Tried again where that may help and an attempt is left; else ended with a word."""
        exc = failure or RuntimeError()
        if life.inbound.unplaced or isinstance(life.inbound.body, Withdrawn):  # there is nowhere to say a word
            raise exc
        if _may_pass(exc) and not life.last and not life.claimed.is_dead:
            await self._try_again(life, exc)
            return None
        is_file = isinstance(life.inbound.body, AllOf) and isinstance(exc, OutboxFailed)
        spoken = failed(life.inbound, life.turn, _NOT_SENT if is_file else sentence_for(exc))
        await life.delivery.deliver(spoken.reply)
        return replace(await self._finish(life, spoken, delivered=life.is_heard), cause=failure)

    async def _put_off(self, life: "_Life", failure: Exception | None) -> TurnDone | None:
        """Not even the word could be said."""
        is_over = life.last or (isinstance(failure, OutboxFailed) and not failure.retry)
        if life.unreadable is not None and (is_over or life.claimed.is_dead or not isinstance(failure, OutboxFailed)):
            return await self._finish(life, failed(life.inbound, life.turn, _UNHEARD), delivered=False)
        if isinstance(failure, OutboxFailed) and is_over:
            return await self._finish(life, failed(life.inbound, life.turn, _UNHEARD), delivered=False)
        exc = failure or RuntimeError()
        await self._inbox.fail(life.claimed, type(exc).__name__, _pause(life.claimed, exc))
        return None

    async def _worked_out(self, life: "_Life") -> Spoken:
        """Beside it the chat shows that something is being done, and what; or the reply, if that is there first."""
        with lone_error():
            async with asyncio.TaskGroup() as group:
                group.create_task(life.delivery.report(life.news))
                try:
                    spoken = await self._noted(life)
                    life.news.end(spoken.reply)
                    return spoken
                finally:
                    life.news.end()

    async def _noted(self, life: "_Life") -> Spoken:
        """What an earlier attempt came to, else what this one does, noted and its choice used."""
        noted = life.claimed.turn.outcome
        spoken = spoken_from_json(noted) if noted else await self._spoken(life)
        if not noted and (life.is_heard or spoken.uses is not None):  # else it is finished next, and never said
            await self._note(life, spoken)
        if spoken.uses is None:
            return spoken
        try:
            await self._clarifications.use(spoken.uses, life.turn, by=spoken.chosen.by if spoken.chosen else "")
        except ChoiceRefused as exc:  # somebody was first, while this turn was searching
            spoken = failed(life.inbound, life.turn, str(exc))
            await self._note(life, spoken)
        return spoken

    async def _spoken(self, life: "_Life") -> Spoken:
        if life.claimed.is_dead:
            return failed(life.inbound, life.turn, _BROKEN)
        body = life.inbound.body
        try:
            if isinstance(body, AllOf):
                return await self._afterwards.all_of(body.turn, life.inbound, life.turn)
            async with asyncio.timeout(_DEADLINE.total_seconds()):
                spoken = await self._unless_stopped(life)
        except BotError as exc:
            spoken = failed(life.inbound, life.turn, str(exc))
        return with_unread(replace(spoken, result=spoken.result | {"ms": life.ms}), life.inbound.unread)

    async def _unless_stopped(self, life: "_Life") -> Spoken:
        so_far: list[Tried] = []
        if life.claimed.turn.stopped_by is not None:
            return await self._stopped(life, life.claimed.turn.stopped_by, so_far)
        told = life.news.tell
        try:
            return await self._stops.unless_stopped(
                life.turn,
                lambda: self._dialogue.spoken(life.inbound, life.turn, life.limits, told, so_far.append),
            )
        except Stopped as exc:
            return await self._stopped(life, exc.by, so_far)

    async def _stopped(self, life: "_Life", by: str, so_far: Sequence[Tried]) -> Spoken:
        """By nobody where a later version has overtaken it."""
        spoken = stopped(life.inbound, life.turn, by, so_far, doing=life.news.text)
        return spoken if by else replace(spoken, ending=await self._revisions.ending_of(life.turn))

    async def _note(self, life: "_Life", spoken: Spoken) -> None:
        if not await self._inbox.note_outcome(life.claimed, spoken_to_json(spoken)):
            raise LeaseLost()

    async def _say(self, life: "_Life", spoken: Spoken) -> None:
        """That it was said is marked by `finish`, unless an earlier message is to be settled in between."""
        is_new = life.is_heard and life.claimed.turn.delivered_at is None
        if is_new:
            await life.delivery.deliver(spoken.reply)
        if spoken.settles is not None and spoken.chosen is not None:
            if is_new and not await self._inbox.mark_delivered(life.claimed):
                raise LeaseLost()
            await self._settle(life, spoken.settles, spoken.chosen)

    async def _settle(self, life: "_Life", turn: TurnId, chosen: Chosen) -> None:
        """The message with the buttons shows what was chosen. That it cannot be rewritten is no fault of this turn."""
        asked = await self._inbox.find(turn)
        if asked is None or asked.placeholder is None or asked.outcome is None:
            return
        try:
            reply = spoken_from_json(asked.outcome).reply
            await life.delivery.settle(MessageId(asked.placeholder), reply, chosen)
        except (OutboxFailed, UnreadableTurn) as exc:
            self._log.warning("message not settled", turn=turn, reason=str(exc))

    async def _finish(
        self, life: "_Life", spoken: Spoken, *, delivered: bool, noted: bool = False, ending: str | None = None
    ) -> TurnDone:
        """The state goes where the conversation's next turn looks for it, and is not kept with the outcome as well.

        `ending`: where it is another than the outcome.
        """
        attempts = [Attempt(**attempt) for attempt in spoken.result["attempts"]]
        route = {key: spoken.result[key] for key in ("route", "reasoner", "stages")}
        finished = await self._inbox.finish(
            life.claimed,
            spoken_to_json(replace(spoken, state=None)),
            state=spoken.state,
            route=route,
            attempts=attempts,
            ending=ending or spoken.ending or spoken.result["outcome"],
            delivered=delivered,
            noted=noted,
        )
        if not finished:
            raise LeaseLost()
        for observer in self._observers:
            observer(life.inbound.surface, spoken.result["outcome"], life.ms / 1000)
        return _done_with(life.inbound.conversation, spoken)

    async def _try_again(self, life: "_Life", exc: Exception) -> None:
        if isinstance(exc, IndexUnavailable):
            try:
                await life.delivery.deliver(Reply(turn=life.turn, parts=(Notice(text=_AGAIN),)))
            except OutboxFailed as unheard:
                self._log.warning("word not said", turn=life.turn, reason=unheard.reason)
        if isinstance(await self._inbox.fail(life.claimed, type(exc).__name__, _pause(life.claimed, exc)), Lost):
            raise LeaseLost()

    # -- ticks

    async def expire_clarifications(self, *, patience: timedelta = _PATIENCE) -> None:
        """The messages of offers whose time is over say so: each within `patience`, several at once. So a chat that
        does not answer holds up no other.
        """
        gate = asyncio.Semaphore(_AT_ONCE)
        with lone_error():
            async with asyncio.TaskGroup() as group:
                for turn in await self._clarifications.expire(but=self._elsewhere):
                    group.create_task(self._show_expired(turn, gate, patience))

    async def _show_expired(self, turn: TurnId, gate: asyncio.Semaphore, patience: timedelta) -> None:
        asked = await self._inbox.find(turn)
        outbox = None if asked is None else self._outboxes.get(asked.surface)
        if asked is None or outbox is None or asked.placeholder is None or asked.outcome is None:
            return
        chosen = Chosen(label=_EXPIRED, by="")
        try:
            inbound, reply = inbound_from_row(asked), spoken_from_json(asked.outcome).reply
            async with gate, asyncio.timeout(patience.total_seconds()):
                await outbox.settle(inbound.conversation, inbound.address, MessageId(asked.placeholder), reply, chosen)
        except (OutboxFailed, UnreadableTurn, TimeoutError) as exc:
            self._log.warning("message not settled", turn=turn, reason=str(exc) or type(exc).__name__)

    # -- words for the log and for the result

    def _log_turn(self, life: "_Life", spoken: Spoken) -> None:
        result = spoken.result
        self._log.info(
            "turn",
            **life.ids(),
            outcome=result["outcome"],
            route=result["route"],
            count=result["count"],
            choices=len(result["choices"]),
            attempts=len(result["attempts"]),
            stages={stage["name"]: stage["ms"] for stage in result["stages"]},
            ms=life.ms,
        )

    def _log_failure(self, life: "_Life", exc: Exception) -> None:
        frames = _frames(exc)
        self._log.error("turn failed", **life.ids(), error=type(exc).__name__, at=frames, ms=life.ms)


@dataclass(slots=True, kw_only=True)
class _Life:
    """One claim of a turn. `last`: a failure now is its end. Where it is said may change at the start."""

    claimed: ClaimedTurn
    inbound: Inbound
    unreadable: UnreadableTurn | None  # what was kept cannot be read: the inbound is what is left of it
    delivery: Delivery | Silence
    news: News
    limits: Limits
    last: bool
    began: float = field(default_factory=time.perf_counter)

    @property
    def is_heard(self) -> bool:
        return isinstance(self.delivery, Delivery)

    @property
    def ms(self) -> float:
        return round((time.perf_counter() - self.began) * 1000, 1)

    @property
    def turn(self) -> TurnId:
        return TurnId(self.claimed.turn.id)

    def ids(self) -> dict[str, object]:
        turn = self.claimed.turn
        return {"turn": turn.id, "surface": turn.surface, "person": turn.person, "attempt": turn.attempt}


def _read(turn: Turn) -> tuple[Inbound, UnreadableTurn | None]:
    try:
        return inbound_from_row(turn), None
    except UnreadableTurn as exc:
        return left_of(turn), exc


def sentence_for(exc: Exception) -> str:
    """What a person reads when a turn ends in `exc`."""
    match exc:
        case BotError():
            return str(exc)
        case IndexUnavailable():
            return _INDEX_DOWN
        case SearchError():
            return _CHANGED
        case SqlError():
            return _DATABASE_DOWN
        case TimeoutError():
            return _TOO_SLOW
        case _:
            return _BROKEN


def _may_pass(exc: Exception) -> bool:
    return isinstance(exc, IndexUnavailable) or (isinstance(exc, OutboxFailed) and exc.retry)


def _pause(claimed: ClaimedTurn, exc: Exception) -> timedelta:
    if isinstance(exc, OutboxFailed) and exc.after_s is not None:
        return timedelta(seconds=exc.after_s)
    return _PAUSES[min(claimed.turn.attempt, len(_PAUSES)) - 1]


def _frames(exc: Exception) -> list[str]:
    """Where it happened, innermost last: files and lines, no texts."""
    frames: list[str] = []
    trace = exc.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return frames[-6:]


def _done_of(turn: Turn) -> TurnDone:
    """What a finished turn came to."""
    return _done_with(ConversationId(turn.conversation), spoken_from_json(turn.outcome or {}))


def _done_with(conversation: ConversationId, spoken: Spoken) -> TurnDone:
    return TurnDone(
        turn=spoken.reply.turn,
        conversation=conversation,
        reply=spoken.reply,
        result=spoken.result,
        error=spoken.error,
    )

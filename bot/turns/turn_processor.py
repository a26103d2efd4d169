"""The life of a turn in one module: accept, claim under a lease, answer, record the outcome, deliver, finish.

The outcome is recorded before it is delivered: if a worker is killed after that, the next worker only has to deliver
it. Transient failures (the index, the database or the chat is down) are retried, three attempts at most; then the
person reads one sentence about the failure.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from typing import Any as Json

from structlog.typing import FilteringBoundLogger

from agent.limits import AnswerLimits
from agent.outcome import SearchAttempt
from agent.reasoning_log import ReasoningLog
from agent.translation.languages import use_language
from bot.access.limits import LIMITED_ENDING, QuestionLimits
from bot.conversation.clarifications import ClarificationOffers, ExpiredOffer
from bot.conversation.notices import (
    DATABASE_DOWN_NOTICE,
    FILE_NOT_SENT_NOTICE,
    INDEX_CHANGED_NOTICE,
    INDEX_DOWN_NOTICE,
    INDEX_INCOMPLETE_NOTICE,
    INTERNAL_ERROR_NOTICE,
    NOT_DELIVERED_NOTICE,
    OFFER_EXPIRED_NOTICE,
    RETRY_NOTICE,
    TOO_SLOW_NOTICE,
)
from bot.conversation.turn_result import (
    TurnResult,
    failed_turn_result,
    turn_result_from_json,
    turn_result_to_json,
    with_reasoning,
    with_skipped_files,
)
from bot.errors import BotError, ChoiceRefused, UnknownTurn, UnreadableTurn
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.language_model.call_archive import ModelCallArchive
from bot.language_model.measured_call import measure_call
from bot.metrics.job_runs import JobName, JobRuns
from bot.metrics.operation_measurements import OperationObserver
from bot.progress import ProgressCallback, ignore_partial_answer, ignore_progress
from bot.saved_searches.saved_searches import SavedSearches
from bot.surface.inbound import ButtonClick, FullTextRequest, Inbound, MessageDeletion, SavedSearchRun, TextMessage
from bot.surface.json_codec import inbound_from_row, inbound_to_row, salvage_unreadable_inbound
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import ChosenPart, NoticePart, Reply
from bot.surface.surface_registry import SurfaceRegistry
from bot.task_groups import lone_error
from bot.translation import translate_message
from bot.turns.delivery import TURN_LEASE, LeaseLost, NullDelivery, ProgressFeed, TurnDelivery
from bot.turns.measurements import TurnMeasurement
from bot.turns.revisions import QuestionRevisions, deletion_turn_result
from bot.turns.stop_requests import StopRequests, TurnStopped, stopped_turn_result
from bot.turns.turn_actions import TurnActionHandler
from storage.search.errors import IndexDamaged, IndexUnavailable, SearchError
from storage.sql.errors import SqlError
from storage.sql.group_commit import AcceptedTurn
from storage.sql.stores.inbox import ClaimedTurn, ClaimLost, TurnInbox
from storage.sql.stores.turns import StoredAttempt, StoredWebSearch, Turn

if TYPE_CHECKING:
    from bot.dialogue.conversation_dialogue import ConversationDialogue
    from bot.language_model.summary_polishing import SummaryPolisher

TurnObserver = Callable[[TurnMeasurement], None]

_TURN_TIMEOUT: Final = timedelta(minutes=10)  # of a whole turn; long enough to export a million rows
_RETRY_DELAYS: Final = (timedelta(seconds=3), timedelta(seconds=20))  # before the second and the third attempt
MAX_ATTEMPTS: Final = len(_RETRY_DELAYS) + 1
_UPDATE_TIMEOUT: Final = timedelta(seconds=30)  # for a message update that nobody waits for
_MAX_CONCURRENT_UPDATES: Final = 8  # messages that are updated at the same time


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedTurn:
    """A finished turn: its reply and its JSON result. `error` is the sentence of a failed turn."""

    turn: TurnId
    conversation: ConversationId
    reply: Reply
    result: Mapping[str, Json]
    reasoning: Mapping[str, Json] = field(default_factory=dict[str, Json])  # see `reasoning_to_json`
    error: str | None = None
    cause: Exception | None = None  # of `error`, where it was raised in this process


class TurnProcessor:
    """Accepts turns, and processes the turns that a worker has claimed."""

    def __init__(
        self,
        *,
        inbox: TurnInbox,
        load_dialogue: "Callable[[], ConversationDialogue]",
        clarifications: ClarificationOffers,
        limits: AnswerLimits,
        question_limits: QuestionLimits,
        stop_requests: StopRequests,
        revisions: QuestionRevisions,
        turn_actions: TurnActionHandler,
        saved_searches: SavedSearches,
        model_calls: ModelCallArchive,
        summary_polisher: "SummaryPolisher | None",
        surfaces: SurfaceRegistry,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
        operation_observer: OperationObserver,
        job_runs: JobRuns,
    ) -> None:
        """`load_dialogue` is called for each turn, and returns the same object."""
        self._operation_observer, self._job_runs = operation_observer, job_runs
        self._inbox, self._load_dialogue, self._clarifications = inbox, load_dialogue, clarifications
        self._limits, self._clock, self._log = limits, clock, log
        self._question_limits, self._stop_requests, self._revisions = question_limits, stop_requests, revisions
        self._turn_actions, self._model_calls, self._surfaces = turn_actions, model_calls, surfaces
        self._summary_polisher, self._saved_searches = summary_polisher, saved_searches
        self._observers: list[TurnObserver] = []

    @property
    def surfaces(self) -> list[str]:
        """The surfaces that this process can reply to."""
        return self._surfaces.replying_names

    def add_observer(self, observer: TurnObserver) -> None:
        """Calls `observer` for each turn that ends in this process."""
        self._observers.append(observer)

    # -- accept

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None:
        """The turn is stored when this returns. None: it was accepted before, a revision of it was, or the message that
        it revises is unknown.
        """
        accepted = await self._inbox.accept_turn(
            inbound_to_row(inbound), may_precede_original=inbound.counts_without_original
        )
        if not isinstance(accepted, AcceptedTurn):
            return None
        turn = TurnId(accepted.turn_id)
        if inbound.revises is not None:
            await self._revisions.stop_earlier_versions(turn)
        return turn

    async def has_answered(self, conversation: ConversationId) -> bool:
        return await self._inbox.has_delivered_reply(conversation)

    async def list_conversation_people(self, conversation: ConversationId) -> frozenset[PersonId]:
        return frozenset(map(PersonId, await self._inbox.list_people(conversation)))

    async def load_finished_turn(self, turn: TurnId) -> FinishedTurn | None:
        """None while the turn is open. Raises `UnknownTurn`."""
        stored = await self._inbox.find_turn(turn)
        if stored is None:
            raise UnknownTurn(turn)
        return None if stored.finished_at is None else _finished_turn_of(stored)

    # -- one turn

    async def process_turn(
        self,
        claimed: ClaimedTurn,
        *,
        limits: AnswerLimits | None = None,
        is_last_attempt: bool = False,
        report_progress: ProgressCallback = ignore_progress,
    ) -> FinishedTurn | None:
        """Processes the turn under a lease, which is renewed until the end. None: the lease was lost, or the turn is
        retried later. `report_progress`: hears the progress besides the chat.
        """
        from agent.rules.words.language_detection import choose_reply_language

        inbound, read_error = _read_inbound(claimed.turn)
        run = _TurnRun(
            claimed=claimed,
            inbound=inbound,
            read_error=read_error,
            delivery=self._delivery_for(claimed, inbound) if read_error is None or inbound.address else NullDelivery(),
            feed=ProgressFeed(report_progress),
            limits=limits or self._limits,
            is_last_attempt=is_last_attempt,
            language=choose_reply_language(inbound.body.text if isinstance(inbound.body, TextMessage) else "", None),
        )
        try:
            return await self._run_under_lease(run)
        except LeaseLost:
            self._log.warning("lease lost", **run.log_ids())
            return None
        except asyncio.CancelledError:
            self._log.info("turn given back", **run.log_ids())
            await asyncio.shield(self._inbox.release_claim(claimed))
            raise

    def _delivery_for(self, claimed: ClaimedTurn, inbound: Inbound) -> TurnDelivery | NullDelivery:
        outbox = self._surfaces.outbox_for(inbound.surface)
        if outbox is None:
            return NullDelivery()
        thread = outbox.thread_for(inbound.conversation, inbound.address)
        return TurnDelivery(
            claimed,
            inbound.person,
            thread,
            self._inbox,
            now=self._clock,
            log=self._log,
            observer=self._operation_observer,
        )

    async def _run_under_lease(self, run: "_TurnRun") -> FinishedTurn | None:
        with lone_error():
            async with asyncio.TaskGroup() as group:
                renewal = group.create_task(self._renew_lease(run.claimed))
                try:
                    return await self._run_turn(run)
                finally:
                    renewal.cancel()

    async def _renew_lease(self, claimed: ClaimedTurn) -> None:
        while True:
            await asyncio.sleep(TURN_LEASE.total_seconds() / 3)
            if not await self._inbox.renew_lease(claimed, TURN_LEASE):
                raise LeaseLost()

    async def _run_turn(self, run: "_TurnRun") -> FinishedTurn | None:
        """The whole turn. If the answer fails, it reports the failure; if the report fails, another attempt follows
        later.

        Raises `LeaseLost`, and in a last attempt the failure that could not be reported.
        """
        failure: Exception | None = None
        for step in (self._answer_turn, self._report_failure, self._give_up_or_retry):
            try:
                with use_language(run.language):
                    return await step(run, failure)
            except LeaseLost:
                raise
            except Exception as exc:  # noqa: BLE001 - the one place in the project: a person waits for a reply
                self._log_failure(run, exc)
                failure = exc
        if run.is_last_attempt:
            raise failure or RuntimeError()
        return None

    async def _answer_turn(self, run: "_TurnRun", failure: Exception | None) -> FinishedTurn | None:
        if run.read_error is not None:
            raise run.read_error
        if isinstance(run.inbound.body, SavedSearchRun):
            with self._job_runs.observed_run(JobName.REPORT_SAVED_SEARCH):
                return await self._report_saved_search(run)
        await self._place_question(run)
        earlier_messages = await self._apply_revision(run)
        if isinstance(run.inbound.body, MessageDeletion):
            return await self._process_deletion(run, earlier_messages)
        if (refused_turn := await self._refuse_click(run)) is not None:
            return refused_turn
        if run.claimed.turn.outcome is None and (limit_notice := await self._limit_notice_for(run)):
            return await self._finish_limited(run, limit_notice)
        with use_language(run.language):
            turn_result = await self._work_with_progress(run)
        if turn_result.private_turn is not None:
            await self.accept_inbound(turn_result.private_turn)
        await self._deliver_turn_result(run, turn_result)
        finished_turn = await self._finish_turn(
            run, turn_result, is_delivered=run.has_outbox, is_recorded=run.has_outbox
        )
        self._log_turn(run, turn_result)
        return replace(finished_turn, cause=failure)

    async def _report_saved_search(self, run: "_TurnRun") -> FinishedTurn:
        """Shows no progress, since nobody waits. A run without news, or one that has failed, ends without a message."""
        turn_result = await self._load_or_compute_result(run)
        search_run = turn_result.search_run
        is_reported = run.has_outbox and search_run is not None and not search_run.is_silent
        if is_reported and run.claimed.turn.delivered_at is None:
            await run.delivery.deliver_reply(turn_result.reply)
        if search_run is not None and search_run.record is not None:
            await self._saved_searches.record_run(search_run.record)
        finished_turn = await self._finish_turn(run, replace(turn_result, search_run=None), is_delivered=is_reported)
        self._log_turn(run, turn_result)
        return finished_turn

    async def _place_question(self, run: "_TurnRun") -> None:
        """Moves a question that was asked outside a conversation into the conversation of its answer. The move is
        stored at once, so that a click or a message there finds the turn.
        """
        threads = self._surfaces.thread_placer_for(run.inbound.surface)
        if not run.inbound.needs_thread or threads is None:
            return
        placed = await threads.place_question(run.inbound, run.turn_id, may_exist=run.claimed.fence > 1)
        row = inbound_to_row(placed)
        if not await self._inbox.move_to_conversation(run.claimed, row.conversation, row.audience, row.body):
            raise LeaseLost()
        run.inbound, run.delivery = placed, self._delivery_for(run.claimed, placed)

    async def _apply_revision(self, run: "_TurnRun") -> list[MessageId]:
        """Answers an edited question in the message that answered it before. Returns all messages that did."""
        if run.inbound.revises is None:
            return []
        earlier_messages = await self._revisions.forget_earlier_versions(
            run.claimed, run.inbound, run.delivery.find_message
        )
        turn = run.claimed.turn
        if earlier_messages and turn.placeholder is None and isinstance(run.inbound.body, TextMessage):
            if not await self._inbox.note_placeholder(run.claimed, earlier_messages[-1]):
                raise LeaseLost()
            run.claimed = replace(run.claimed, turn=replace(turn, placeholder=earlier_messages[-1]))
            run.delivery = self._delivery_for(run.claimed, run.inbound)
        return earlier_messages

    async def _process_deletion(self, run: "_TurnRun", messages: Sequence[MessageId]) -> FinishedTurn:
        turn_result = deletion_turn_result(run.inbound, run.turn_id)
        threads = self._surfaces.thread_placer_for(run.inbound.surface)
        posted_messages = await self._revisions.withdraw_replies(run.claimed, run.inbound)
        file_names = {posted.message: posted.file_names for posted in posted_messages}
        if threads is not None:
            for message in dict.fromkeys((*file_names, *messages)):
                await threads.withdraw_message(
                    run.inbound, message, turn_result.reply, files=file_names.get(message, ())
                )
        return await self._finish_turn(run, turn_result, is_delivered=False)

    async def _refuse_click(self, run: "_TurnRun") -> FinishedTurn | None:
        """Tells the clicker alone that the click does not count, before the chat shows any activity."""
        body = run.inbound.body
        if not isinstance(body, ButtonClick) or run.claimed.turn.outcome is not None:
            return None
        try:
            selected = await self._clarifications.look_up_choice(body.choice, run.inbound)
        except ChoiceRefused as exc:
            turn_result = failed_turn_result(run.inbound, run.turn_id, str(exc))
            await run.delivery.deliver_privately(turn_result.reply)
            return await self._finish_turn(run, turn_result, is_delivered=run.has_outbox)
        run.language = selected.plan.language
        return None

    async def _limit_notice_for(self, run: "_TurnRun") -> str | None:
        return await self._question_limits.limit_notice_for(run.turn_id, is_automatic=run.inbound.is_automatic)

    async def _finish_limited(self, run: "_TurnRun", notice: str) -> FinishedTurn:
        """Ends a turn over the limit of questions: the agent does not run, and the turn does not count as a question.

        A program gets no reply, because it might answer that reply as well.
        """
        turn_result = failed_turn_result(run.inbound, run.turn_id, notice)
        if run.inbound.is_automatic:
            self._log.warning("program limited", **run.log_ids())
            return await self._finish_turn(run, turn_result, is_delivered=False, ending=LIMITED_ENDING)
        await run.delivery.deliver_reply(turn_result.reply)
        return await self._finish_turn(run, turn_result, is_delivered=run.has_outbox, ending=LIMITED_ENDING)

    async def _report_failure(self, run: "_TurnRun", failure: Exception | None) -> FinishedTurn | None:
        """Schedules a retry where that may help and an attempt is left; else ends the turn with a sentence about the
        failure.
        """
        exc = failure or RuntimeError()
        if run.inbound.needs_thread or isinstance(run.inbound.body, (MessageDeletion, SavedSearchRun)):
            raise exc  # there is no place for a reply, or nobody waits for one
        if _is_transient_failure(exc) and not run.is_last_attempt and not run.claimed.is_exhausted:
            await self._retry_later(run, exc)
            return None
        is_file_failure = isinstance(run.inbound.body, FullTextRequest) and isinstance(exc, OutboxFailed)
        sentence = translate_message(FILE_NOT_SENT_NOTICE) if is_file_failure else sentence_for(exc)
        turn_result = with_reasoning(failed_turn_result(run.inbound, run.turn_id, sentence), run.reasoning_log)
        await run.delivery.deliver_reply(turn_result.reply)
        return replace(await self._finish_turn(run, turn_result, is_delivered=run.has_outbox), cause=failure)

    async def _give_up_or_retry(self, run: "_TurnRun", failure: Exception | None) -> FinishedTurn | None:
        """Handles a failure that could not be reported."""
        is_final = run.is_last_attempt or (isinstance(failure, OutboxFailed) and not failure.retry)
        if run.read_error is not None and (
            is_final or run.claimed.is_exhausted or not isinstance(failure, OutboxFailed)
        ):
            return await self._finish_undelivered(run)
        if isinstance(failure, OutboxFailed) and is_final:
            return await self._finish_undelivered(run)
        exc = failure or RuntimeError()
        await self._inbox.fail_attempt(run.claimed, type(exc).__name__, _retry_delay(run.claimed, exc))
        return None

    async def _finish_undelivered(self, run: "_TurnRun") -> FinishedTurn:
        turn_result = failed_turn_result(run.inbound, run.turn_id, translate_message(NOT_DELIVERED_NOTICE))
        return await self._finish_turn(run, turn_result, is_delivered=False)

    async def _work_with_progress(self, run: "_TurnRun") -> TurnResult:
        """Works out the result, while the chat shows the activity and the progress, or the reply if that is ready
        first.
        """
        with lone_error():
            async with asyncio.TaskGroup() as group:
                group.create_task(run.delivery.report_progress(run.feed))
                try:
                    turn_result = await self._load_or_compute_result(run)
                    run.feed.close_feed(turn_result.reply)
                    return turn_result
                finally:
                    run.feed.close_feed()

    async def _load_or_compute_result(self, run: "_TurnRun") -> TurnResult:
        """The result that an earlier attempt recorded; else computes one, records it and uses its choice."""
        recorded = run.claimed.turn.outcome
        turn_result = turn_result_from_json(recorded) if recorded else await self._compute_turn_result(run)
        if not recorded and (
            run.has_outbox or turn_result.uses_choice is not None
        ):  # else the turn is finished next, without a delivery
            await self._record_outcome(run, turn_result)
        if turn_result.uses_choice is None:
            return turn_result
        try:
            await self._clarifications.use_choice(
                turn_result.uses_choice,
                run.turn_id,
                clicker_name=turn_result.chosen_part.by if turn_result.chosen_part else "",
            )
        except ChoiceRefused as exc:  # another person chose while this turn was searching
            turn_result = failed_turn_result(run.inbound, run.turn_id, str(exc))
            await self._record_outcome(run, turn_result)
        return turn_result

    async def _compute_turn_result(self, run: "_TurnRun") -> TurnResult:
        if run.claimed.is_exhausted:
            return failed_turn_result(run.inbound, run.turn_id, translate_message(INTERNAL_ERROR_NOTICE))
        body = run.inbound.body
        try:
            if isinstance(body, FullTextRequest):
                return await self._turn_actions.full_text_result(body.turn, run.inbound, run.turn_id)
            async with asyncio.timeout(_TURN_TIMEOUT.total_seconds()):
                turn_result = await self._run_dialogue(run)
        except BotError as exc:
            turn_result = failed_turn_result(run.inbound, run.turn_id, str(exc))
        finally:
            await asyncio.shield(self._save_costs(run))
        turn_result = with_reasoning(turn_result, run.reasoning_log)
        return with_skipped_files(
            replace(turn_result, result=turn_result.result | {"ms": run.elapsed_ms}), run.inbound.skipped_files
        )

    async def _save_costs(self, run: "_TurnRun") -> None:
        """Stores what this attempt cost, whatever becomes of the turn. A failure is only logged."""
        await self._model_calls.save_calls(run.turn_id, run.inbound.conversation, run.reasoning_log.calls)
        usage = run.reasoning_log.web_usage
        if usage.is_empty:
            return
        cost = StoredWebSearch(requests=usage.requests, pages=usage.pages, bytes_read=usage.bytes_read)
        try:
            await self._inbox.add_web_search(run.turn_id, cost)
        except SqlError as exc:
            self._log.warning("web search not stored", turn=run.turn_id, error=type(exc).__name__)

    async def _run_dialogue(self, run: "_TurnRun") -> TurnResult:
        attempts: list[SearchAttempt] = []
        if run.claimed.turn.stopped_by is not None:
            return await self._stopped_result_of(run, run.claimed.turn.stopped_by, attempts)
        feed = run.feed
        try:
            return await self._stop_requests.run_unless_stopped(
                run.turn_id,
                lambda: self._load_dialogue().answer_turn(
                    run.inbound,
                    run.turn_id,
                    run.limits,
                    feed.publish_progress,
                    attempts.append,
                    run.reasoning_log,
                    feed.publish_partial_answer if run.has_outbox else ignore_partial_answer,
                ),
            )
        except TurnStopped as exc:
            return await self._stopped_result_of(run, exc.stopped_by, attempts)

    async def _stopped_result_of(self, run: "_TurnRun", by: str, attempts: Sequence[SearchAttempt]) -> TurnResult:
        """An empty `by`: a later version of the question has replaced this one."""
        turn_result = stopped_turn_result(run.inbound, run.turn_id, by, attempts, activity=run.feed.latest_text)
        return turn_result if by else replace(turn_result, ending=await self._revisions.ending_of(run.turn_id))

    async def _record_outcome(self, run: "_TurnRun", turn_result: TurnResult) -> None:
        if not await self._inbox.note_outcome(run.claimed, turn_result_to_json(turn_result)):
            raise LeaseLost()

    async def _deliver_turn_result(self, run: "_TurnRun", turn_result: TurnResult) -> None:
        """Delivers the reply, and shows the choice in the message that offered it.

        `_finish_turn` marks the turn as delivered, or this does before it changes the earlier message.
        """
        is_new = run.has_outbox and run.claimed.turn.delivered_at is None
        if is_new:
            await run.delivery.deliver_reply(turn_result.reply)
        if turn_result.settles_turn is not None and turn_result.chosen_part is not None:
            if is_new and not await self._inbox.mark_delivered(run.claimed):
                raise LeaseLost()
            await self._show_chosen(run, turn_result.settles_turn, turn_result.chosen_part)

    async def _show_chosen(self, run: "_TurnRun", turn: TurnId, chosen: ChosenPart) -> None:
        """The message with the buttons shows what was chosen. A failure to update it does not fail this turn."""
        offering_turn = await self._inbox.find_turn(turn)
        if offering_turn is None or offering_turn.placeholder is None or offering_turn.outcome is None:
            return
        try:
            reply = turn_result_from_json(offering_turn.outcome).reply
            await run.delivery.show_chosen(MessageId(offering_turn.placeholder), reply, chosen)
        except (OutboxFailed, UnreadableTurn) as exc:
            self._log.warning("choice not shown", turn=turn, reason=str(exc))

    async def _finish_turn(
        self,
        run: "_TurnRun",
        turn_result: TurnResult,
        *,
        is_delivered: bool,
        is_recorded: bool = False,
        ending: str | None = None,
    ) -> FinishedTurn:
        """Saves the state where the conversation's next turn reads it; the outcome is stored without the state.

        `ending`: where it differs from the outcome.
        """
        attempts = [StoredAttempt(**attempt) for attempt in turn_result.result["attempts"]]
        route = {key: turn_result.result[key] for key in ("route", "reasoner", "stages")}
        finished = await self._inbox.finish_turn(
            run.claimed,
            turn_result_to_json(replace(turn_result, state=None)),
            state=turn_result.state,
            route=route,
            attempts=attempts,
            ending=ending or turn_result.ending or turn_result.result["outcome"],
            is_delivered=is_delivered,
            is_outcome_noted=is_recorded,
        )
        if not finished:
            raise LeaseLost()
        self._report_measurement(run, turn_result)
        if self._summary_polisher is not None and turn_result.state is not None:
            self._summary_polisher.start_polishing(run.turn_id, turn_result.state)
        return _finished_turn_from(run.inbound.conversation, turn_result)

    def _report_measurement(self, run: "_TurnRun", turn_result: TurnResult) -> None:
        measurement = TurnMeasurement(
            turn=run.turn_id,
            surface=run.inbound.surface,
            outcome=turn_result.result["outcome"],
            seconds=run.elapsed_ms / 1000,
            latency_s=max((self._clock() - run.claimed.turn.received_at).total_seconds(), 0.0),
            ended_at=time.time(),
            stages=tuple(run.reasoning_log.stages),
            fallback_stages=tuple(run.reasoning_log.fallbacks),
            completeness=tuple(review.completeness for review in run.reasoning_log.reviews),
            calls=tuple(map(measure_call, run.reasoning_log.calls)),
        )
        for notify_observer in self._observers:
            notify_observer(measurement)

    async def _retry_later(self, run: "_TurnRun", exc: Exception) -> None:
        if isinstance(exc, IndexUnavailable):
            try:
                notice = NoticePart(text=translate_message(RETRY_NOTICE))
                await run.delivery.deliver_reply(Reply(turn=run.turn_id, parts=(notice,)))
            except OutboxFailed as notice_error:
                self._log.warning("retry notice not posted", turn=run.turn_id, reason=notice_error.reason)
        if isinstance(
            await self._inbox.fail_attempt(run.claimed, type(exc).__name__, _retry_delay(run.claimed, exc)), ClaimLost
        ):
            raise LeaseLost()

    # -- periodic jobs

    async def expire_clarifications(self, *, update_timeout: timedelta = _UPDATE_TIMEOUT) -> None:
        """Updates the messages of expired offers, several at once. Each gets `update_timeout`, so that a chat that does
        not answer delays no other.
        """
        semaphore = asyncio.Semaphore(_MAX_CONCURRENT_UPDATES)
        excluded = self._surfaces.receive_only_names
        while offers := await self._clarifications.claim_expired_offers(exclude_surfaces=excluded):
            with lone_error():
                async with asyncio.TaskGroup() as group:
                    for offer in offers:
                        group.create_task(self._show_and_note_expired(offer, semaphore, update_timeout))

    async def _show_and_note_expired(
        self, offer: ExpiredOffer, semaphore: asyncio.Semaphore, update_timeout: timedelta
    ) -> None:
        await self._show_expired(offer, semaphore, update_timeout)
        await self._clarifications.note_expiry_shown(offer)

    async def _show_expired(self, offer: ExpiredOffer, semaphore: asyncio.Semaphore, update_timeout: timedelta) -> None:
        turn = offer.turn
        offering_turn = await self._inbox.find_turn(turn)
        outbox = None if offering_turn is None else self._surfaces.outbox_for(offering_turn.surface)
        if (
            offering_turn is None
            or outbox is None
            or offering_turn.placeholder is None
            or offering_turn.outcome is None
        ):
            return
        with use_language(offer.language):
            expired_part = ChosenPart(label=translate_message(OFFER_EXPIRED_NOTICE), by="")
        try:
            inbound, reply = inbound_from_row(offering_turn), turn_result_from_json(offering_turn.outcome).reply
            async with semaphore, asyncio.timeout(update_timeout.total_seconds()):
                thread = outbox.thread_for(inbound.conversation, inbound.address)
                await thread.show_chosen(MessageId(offering_turn.placeholder), reply, expired_part)
        except (OutboxFailed, UnreadableTurn, TimeoutError) as exc:
            self._log.warning("choice not shown", turn=turn, reason=str(exc) or type(exc).__name__)

    # -- log

    def _log_turn(self, run: "_TurnRun", turn_result: TurnResult) -> None:
        result = turn_result.result
        self._log.info(
            "turn",
            **run.log_ids(),
            outcome=result["outcome"],
            route=result["route"],
            count=result["count"],
            choices=len(result["choices"]),
            attempts=len(result["attempts"]),
            parts=len(result["sub_questions"]),
            sub_queries=len(result["sub_queries"]),
            stages={stage["name"]: stage["ms"] for stage in result["stages"]},
            model_calls=result["model_calls"],
            tokens=result["tokens"],
            cost_usd=result["cost_usd"],
            ms=run.elapsed_ms,
        )

    def _log_failure(self, run: "_TurnRun", exc: Exception) -> None:
        frames = _stack_frames(exc)
        self._log.error("turn failed", **run.log_ids(), error=type(exc).__name__, frames=frames, ms=run.elapsed_ms)


@dataclass(slots=True, kw_only=True)
class _TurnRun:
    """One claim of a turn. `is_last_attempt`: a failure ends the turn. Placing or revising the question may change
    `inbound`, `claimed` and `delivery` at the start.
    """

    claimed: ClaimedTurn
    inbound: Inbound
    read_error: UnreadableTurn | None  # the stored row cannot be read: `inbound` has its readable fields
    delivery: TurnDelivery | NullDelivery
    feed: ProgressFeed
    limits: AnswerLimits
    is_last_attempt: bool
    language: str  # of what is said before the question is understood, and if it cannot be answered
    reasoning_log: ReasoningLog = field(default_factory=ReasoningLog)
    started_s: float = field(default_factory=time.perf_counter)

    @property
    def has_outbox(self) -> bool:
        return isinstance(self.delivery, TurnDelivery)

    @property
    def elapsed_ms(self) -> float:
        return round((time.perf_counter() - self.started_s) * 1000, 1)

    @property
    def turn_id(self) -> TurnId:
        return TurnId(self.claimed.turn.id)

    def log_ids(self) -> dict[str, object]:
        turn = self.claimed.turn
        return {"turn": turn.id, "surface": turn.surface, "person": turn.person, "attempt": turn.attempt}


def _read_inbound(turn: Turn) -> tuple[Inbound, UnreadableTurn | None]:
    try:
        return inbound_from_row(turn), None
    except UnreadableTurn as exc:
        return salvage_unreadable_inbound(turn), exc


def sentence_for(exc: Exception) -> str:
    """The sentence that a person reads when a turn ends in `exc`."""
    match exc:
        case BotError():
            return str(exc)
        case IndexDamaged():
            return translate_message(INDEX_INCOMPLETE_NOTICE)
        case IndexUnavailable():
            return translate_message(INDEX_DOWN_NOTICE)
        case SearchError():
            return translate_message(INDEX_CHANGED_NOTICE)
        case SqlError():
            return translate_message(DATABASE_DOWN_NOTICE)
        case TimeoutError():
            return translate_message(TOO_SLOW_NOTICE)
        case _:
            return translate_message(INTERNAL_ERROR_NOTICE)


def _is_transient_failure(exc: Exception) -> bool:
    if isinstance(exc, IndexDamaged):  # an operator has to act
        return False
    return isinstance(exc, IndexUnavailable) or (isinstance(exc, OutboxFailed) and exc.retry)


def _retry_delay(claimed: ClaimedTurn, exc: Exception) -> timedelta:
    if isinstance(exc, OutboxFailed) and exc.retry_after_s is not None:
        return timedelta(seconds=exc.retry_after_s)
    return _RETRY_DELAYS[min(claimed.turn.attempt, len(_RETRY_DELAYS)) - 1]


def _stack_frames(exc: Exception) -> list[str]:
    """The stack frames, the innermost last: files, lines and function names, no message texts."""
    frames: list[str] = []
    traceback = exc.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append(f"{code.co_filename.rsplit('/', 1)[-1]}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return frames[-6:]


def _finished_turn_of(turn: Turn) -> FinishedTurn:
    return _finished_turn_from(ConversationId(turn.conversation), turn_result_from_json(turn.outcome or {}))


def _finished_turn_from(conversation: ConversationId, turn_result: TurnResult) -> FinishedTurn:
    return FinishedTurn(
        turn=turn_result.reply.turn,
        conversation=conversation,
        reply=turn_result.reply,
        result=turn_result.result,
        reasoning=turn_result.reasoning,
        error=turn_result.error,
    )

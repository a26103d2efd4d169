"""Turns one message or click into a reply and the conversation's next state, under the current access rights."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Protocol, assert_never
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent.compose.phrases.values import format_number
from agent.context import AgentContext
from agent.errors import PriceUnknown, SpendingCapReached
from agent.evidence.word_meanings import TextEmbedder
from agent.limits import AnswerLimits
from agent.outcome import (
    Answer,
    Choice,
    Clarify,
    ExportOutcome,
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
from agent.retrieval.relevance import Reranker
from agent.rules.words.language_detection import choose_reply_language
from agent.translation.languages import get_reply_language, use_asker_locale, use_language
from bot.access.audience_scope import AccessResolver, scope_key_of
from bot.attachments.attachments import ConversationAttachments, SearchableContent
from bot.conversation.answer_provenance import provenance_of
from bot.conversation.clarifications import ClarificationOffers, OfferedChoices, SelectedChoice
from bot.conversation.exports import ExportFileRequest, ExportFiles
from bot.conversation.json_result import ResultRequest, result_to_json
from bot.conversation.notices import (
    ASK_PRIVATELY_NOTICE,
    CONDITIONS_FORGOTTEN_NOTICE,
    CONTINUE_PRIVATELY_LABEL,
    CONTINUES_PRIVATELY_NOTICE,
    EXPORT_ALL_LABEL,
    MODEL_BUDGET_REMARK,
    MODEL_LOST_REMARK,
    MODEL_UNAVAILABLE_REMARK,
    MODEL_UNPRICED_REMARK,
    NO_BUCKET_NOTICE,
    NO_WEB_NOTICE,
    NOT_GRANTED_NOTICE,
    PARTLY_VISIBLE_NOTICE,
    START_OVER_LABEL,
    STARTED_OVER_NOTICE,
    count_change_note,
)
from bot.conversation.plan_history import (
    PlanHistory,
    state_after_outcome,
    state_after_web_answer,
    summary_of,
    without_large_plan,
)
from bot.conversation.reply_builder import (
    StoredOffer,
    can_be_saved,
    choices_reply_for,
    file_reply_for,
    file_sentence_for,
    notice_reply_for,
    reply_for,
)
from bot.conversation.summary import render_summary
from bot.conversation.turn_result import (
    TurnResult,
    failed_turn_result,
    join_texts,
    result_request_of,
    text_parts_of,
    turn_result_from_json,
    with_leading_lines,
)
from bot.errors import AnswerNotFound, BotError, InvalidQuestion, MissingBucket, NotYourAnswer
from bot.ids import BucketId, ChoiceId, ConversationId, MessageId, TurnId
from bot.progress import PartialAnswerCallback, ProgressCallback, ignore_partial_answer
from bot.saved_searches.saved_searches import SavedSearches, StandaloneQuestions
from bot.saved_searches.search_requests import SavedSearchRequest, SaveLastRequest, recognise_request
from bot.saved_searches.search_wording import NO_SET_NOTICE, SCHEDULE_CHOICES, ask_for_schedule
from bot.saved_searches.watched_documents import find_plan_searches
from bot.surface.attachments import (
    ATTACHMENTS_BUCKET,
    UnreadFile,
    acknowledge_files,
    format_remark,
    format_unread_notices,
    origin_message_of,
    rewrite_for_attachments,
)
from bot.surface.inbound import (
    MAX_QUESTION_CHARS,
    AttachedFile,
    ButtonClick,
    Inbound,
    OperatorAudience,
    PrivateAudience,
    SavedSearchRun,
    SearchSaveRequest,
    TextMessage,
    have_same_readers,
)
from bot.surface.json_codec import audience_from_json
from bot.surface.product_directories import ProductDirectories
from bot.surface.replies import ChosenPart, Reply, TextPart
from bot.surface.surface_registry import SurfaceRegistry
from bot.translation import translate_message
from bot.web_search.web_pages import WEB_BUCKET
from bot.web_search.web_replies import (
    gap_words_of,
    lacks_sure_answer,
    mark_web_answer,
    offer_web_search,
    subject_of,
    web_notes_of,
)
from bot.web_search.web_report import WebSearchReport, WebSearchStatus, report_of_timeout
from bot.web_search.web_search import WebRequest, WebSearch, is_web_answer
from storage.search.bucket_parts import with_parts
from storage.search.codec import plan_from_json, plan_to_json
from storage.search.ids import Generation, LegId
from storage.search.index import ScopedIndex, SearchIndex
from storage.search.plan import Leg, ListDocuments, Plan, unfiltered_search_of
from storage.search.refinement import (
    ContinuePrivately,
    ExportAll,
    JustAnswer,
    SaveSearch,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    apply_to_plan,
)
from storage.search.scope import Scope
from storage.sql.database import SqlDatabase
from storage.sql.stores.conversations import ConversationState, ConversationStore
from storage.sql.stores.inbox import TurnInbox

_WARM_UP_TIMEOUT: Final = timedelta(seconds=60)
_WARM_UP_QUESTION: Final = (
    "Which documnets speak of it?"  # the misspelt word makes the warm-up build the spelling data too
)


AttemptCallback = Callable[[SearchAttempt], None]


class QuestionAgent(Protocol):
    """The public interface of the agent. The module `agent.loop` implements it."""

    async def answer(self, question: str, context: AgentContext) -> Outcome: ...

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome: ...

    def apply_search_by_meaning(self, plan: Plan, leg_id: LegId) -> Plan: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _TurnContext:
    """What a turn runs with: the rights, state, content and limits at the time of the run."""

    inbound: Inbound
    turn: TurnId
    scope: Scope
    may_go_private: bool  # the asker may see more in a private conversation
    state: ConversationState
    content: SearchableContent
    limits: AnswerLimits
    report_progress: ProgressCallback
    report_attempt: AttemptCallback
    report_partial_answer: PartialAnswerCallback
    reasoning_log: ReasoningLog

    def result_request_for(self, question: str) -> ResultRequest:
        return result_request_of(self.inbound, self.turn, question, self.limits)


class ConversationDialogue:
    """Reads the conversation's state and the grants, runs the agent, and returns the turn's result.

    It writes only new clarifications and export files.
    """

    def __init__(
        self,
        *,
        agent: QuestionAgent,
        reasoner: Reasoner,
        warm_up_reasoner: Reasoner,
        index: SearchIndex,
        database: SqlDatabase,
        access: AccessResolver,
        directories: ProductDirectories,
        clarifications: ClarificationOffers,
        exports: ExportFiles,
        attachments: ConversationAttachments,
        surfaces: SurfaceRegistry,
        saved_searches: SavedSearches,
        answer_timeout: timedelta,
        reranker: Reranker | None = None,
        embedder: TextEmbedder | None = None,
        uses_index_cosines: bool = True,
        show_pictures: bool = True,
        web_search: WebSearch | None = None,
    ) -> None:
        self._agent, self._reasoner, self._warm_up_reasoner = agent, reasoner, warm_up_reasoner
        self._reranker, self._embedder, self._uses_index_cosines = reranker, embedder, uses_index_cosines
        self._index, self._access, self._now = index, access, database.utc_now
        self._directories, self._clarifications, self._exports = directories, clarifications, exports
        self._attachments, self._surfaces, self._answer_timeout = attachments, surfaces, answer_timeout
        self._conversations, self._show_pictures = ConversationStore(database), show_pictures
        self._inbox = TurnInbox(database)
        self._saved_searches = saved_searches
        self._web_search = web_search

    async def warm_up_agent(self) -> None:
        """Asks one question as the operator and discards the answer, so that no person waits for data loaded once.

        Raises what the index and the database raise.
        """
        scope = await self._access.scope_for_audience(OperatorAudience())
        context = AgentContext(
            index=self._index.within_scope(scope),
            reasoner=self._warm_up_reasoner,
            reranker=self._reranker,
            embedder=self._embedder,
            uses_index_cosines=self._uses_index_cosines,
            now=self._now(),
        )
        async with asyncio.timeout(_WARM_UP_TIMEOUT.total_seconds()):
            await self._agent.answer(_WARM_UP_QUESTION, context)

    async def answer_turn(
        self,
        inbound: Inbound,
        turn: TurnId,
        limits: AnswerLimits,
        report_progress: ProgressCallback,
        report_attempt: AttemptCallback,
        reasoning_log: ReasoningLog,
        report_partial_answer: PartialAnswerCallback = ignore_partial_answer,
    ) -> TurnResult:
        """Answers a message or a click. Raises what the index and the database raise.

        A `BotError`, such as an expired choice, becomes a result with one plain sentence. `reasoning_log` is filled
        meanwhile.
        """
        inbound = await self._directories.refresh_inbound(inbound)
        scope = await self._access.scope_for_audience(inbound.audience)
        stored_state = await self._conversations.load_state(inbound.conversation, scope_key_of(scope))
        state = without_large_plan(stored_state)
        with use_asker_locale(inbound.locale), use_language(_language_of(inbound, stored_state)):
            unfetched_files = await self._attachments.fetch_files(inbound, report_progress)
            location = (scope, inbound.conversation, inbound.audience)
            async with self._attachments.open_searchable_content(
                *location, message=origin_message_of(inbound), report_progress=report_progress
            ) as content:
                turn_context = _TurnContext(
                    inbound=inbound,
                    turn=turn,
                    scope=scope,
                    may_go_private=await self._access.may_go_private(inbound.audience, inbound.person, scope),
                    state=state,
                    content=content,
                    limits=limits,
                    report_progress=report_progress,
                    report_attempt=report_attempt,
                    report_partial_answer=report_partial_answer,
                    reasoning_log=reasoning_log,
                )
                lines = _file_lines((*unfetched_files, *content.unread_files), content.remarks)
                if state is not stored_state and isinstance(inbound.body, TextMessage):
                    lines.append(translate_message(CONDITIONS_FORGOTTEN_NOTICE))
                try:
                    turn_result = await self._answer_message_or_click(turn_context)
                except BotError as exc:
                    turn_result = failed_turn_result(inbound, turn, str(exc))
                return with_leading_lines(turn_result, lines)

    async def _answer_message_or_click(self, turn_context: _TurnContext) -> TurnResult:
        body = turn_context.inbound.body
        if isinstance(body, TextMessage) and not body.text.strip() and turn_context.content.file_names:
            return _notice_turn_result("", acknowledge_files(turn_context.content.file_names), turn_context)
        if isinstance(body, SavedSearchRun):
            return await self._run_saved_search(body, turn_context)
        if isinstance(body, SearchSaveRequest):
            return await self._offer_schedules(await self._load_plan_of(body.turn, turn_context), turn_context)
        choice = await self._detect_choice(turn_context)
        if choice is not None:
            return await self._handle_click(choice, turn_context)
        if isinstance(body, TextMessage) and (request := recognise_request(body.text)) is not None:
            return await self._answer_saved_search_request(request, body.text, turn_context)
        return await self._answer_question(turn_context)

    async def _detect_choice(self, turn_context: _TurnContext) -> ChoiceId | None:
        body = turn_context.inbound.body
        if isinstance(body, ButtonClick):
            return body.choice
        if not isinstance(body, TextMessage):
            return None
        text, state = validate_question(body.text), turn_context.state
        asked_back = state.clarifications_in_a_row > 0
        return await self._clarifications.match_typed_choice(
            text, turn_context.inbound, state.scope_key, allow_ordinals=asked_back
        )

    async def _answer_question(self, turn_context: _TurnContext) -> TurnResult:
        body = turn_context.inbound.body
        question = validate_question(body.text) if isinstance(body, TextMessage) else ""
        buckets = await self._requested_buckets(turn_context)
        context = await self._build_context(turn_context)
        if buckets is not None and not buckets:
            refused = replace(_refuse_with(NO_BUCKET_NOTICE), may_go_private=context.may_go_private)
            return await self._build_turn_result(question, refused, turn_context)
        content = turn_context.content
        question_about_files = (
            rewrite_for_attachments(question, has_files=bool(content.file_names))
            if content.file_ids and buckets is None
            else None
        )
        if question_about_files is not None:
            buckets = frozenset({ATTACHMENTS_BUCKET})
        async with asyncio.timeout(self._answer_timeout.total_seconds()):
            outcome = await self._agent.answer(question_about_files or question, replace(context, buckets=buckets))
        web_search = self._web_search
        if web_search is not None and buckets is None and web_search.searches_at_once(question, outcome):
            report = await self._search_web(web_search, question, outcome, turn_context)
            return await self._build_web_turn_result(question, outcome, report, turn_context)
        return await self._build_turn_result(question, outcome, turn_context)

    async def _requested_buckets(self, turn_context: _TurnContext) -> frozenset[BucketId] | None:
        """Returns the requested buckets that exist and are granted, with their parts; None if the request names none.

        Raises `MissingBucket` only for the operator: nobody else may learn whether a bucket exists.
        """
        if not turn_context.inbound.buckets:
            return None
        visible = await turn_context.content.index.load_schemas()
        requested = frozenset(map(BucketId, turn_context.inbound.buckets))
        unknown = sorted(requested - visible.keys())
        if unknown and isinstance(turn_context.inbound.audience, OperatorAudience):
            raise MissingBucket(unknown[0])
        return with_parts(requested, visible) & visible.keys()

    async def _build_context(self, turn_context: _TurnContext) -> AgentContext:
        inbound, state = turn_context.inbound, turn_context.state
        plans = PlanHistory.from_json(state.last_plan)
        return AgentContext(
            index=turn_context.content.index,
            reasoner=self._reasoner,
            reranker=self._reranker,
            embedder=self._embedder,
            uses_index_cosines=self._uses_index_cosines,
            now=self._now().astimezone(_time_zone_of(inbound.time_zone)),
            locale=inbound.locale,
            limits=turn_context.limits,
            last_plan=plans.last_plan,
            earlier_plans=plans.earlier_plans,
            conversation_summary=render_summary(summary_of(state)),
            found_nothing=summary_of(state).found_nothing,
            pending_words=summary_of(state).pending_words,
            found_documents=summary_of(state).found_documents,
            clarifications_in_a_row=state.clarifications_in_a_row,
            may_go_private=turn_context.may_go_private,
            report_progress=turn_context.report_progress,
            report_attempt=turn_context.report_attempt,
            report_partial_answer=turn_context.report_partial_answer,
            reasoning_log=turn_context.reasoning_log,
        )

    # -- saved searches

    async def _answer_saved_search_request(
        self, request: SavedSearchRequest, question: str, turn_context: _TurnContext
    ) -> TurnResult:
        if isinstance(request, SaveLastRequest):
            return await self._offer_schedules(
                PlanHistory.from_json(turn_context.state.last_plan).last_plan, turn_context
            )
        text = await self._saved_searches.answer_request(
            request,
            turn_context.inbound,
            turn_context.turn,
            turn_context.scope,
            await self._standalone_questions(turn_context),
        )
        return _text_turn_result(question, text, turn_context)

    async def _load_plan_of(self, turn: TurnId, turn_context: _TurnContext) -> Plan | None:
        """Returns the plan of an earlier turn of this conversation. Raises `TurnActionRefused`, `UnreadableTurn`."""
        stored_turn, inbound = await self._inbox.find_turn(turn), turn_context.inbound
        if stored_turn is None or stored_turn.conversation != inbound.conversation or stored_turn.outcome is None:
            raise AnswerNotFound()
        if not have_same_readers(audience_from_json(stored_turn.audience), inbound.audience):
            raise NotYourAnswer()
        plan = turn_result_from_json(stored_turn.outcome).saveable_plan
        return None if plan is None else plan_from_json(dict(plan))

    async def _offer_schedules(self, plan: Plan | None, turn_context: _TurnContext) -> TurnResult:
        """Offers when to ask the plan again, as far as it may be seen here."""
        visible = None if plan is None else visible_plan(plan, turn_context.scope)
        if visible is None or not find_plan_searches(visible):
            return _text_turn_result("", translate_message(NO_SET_NOTICE), turn_context)
        choices = tuple(
            Choice(label=translate_message(label), count=None, leg=visible.legs[0].id, effect=SaveSearch(schedule))
            for label, schedule in SCHEDULE_CHOICES
        )
        return await self._offer_with_text(
            ask_for_schedule(visible),
            OfferedChoices(plan=visible, choices=choices, generation=Generation("")),
            turn_context,
        )

    async def _save_selected_search(
        self, selected: SelectedChoice, schedule: str, turn_context: _TurnContext
    ) -> TurnResult:
        visible = visible_plan(selected.plan, turn_context.scope)
        if visible is None:
            return await self._build_turn_result(selected.question, _refuse_with(NOT_GRANTED_NOTICE), turn_context)
        text = await self._saved_searches.save_plan(
            visible,
            schedule,
            turn_context.inbound,
            turn_context.turn,
            turn_context.scope,
            await self._standalone_questions(turn_context),
        )
        return _text_turn_result(selected.question, text, turn_context)

    async def _run_saved_search(self, run: SavedSearchRun, turn_context: _TurnContext) -> TurnResult:
        report = await self._saved_searches.run_search(
            run, turn_context.inbound, turn_context.scope, await self._standalone_questions(turn_context)
        )
        provenance, outcome = None, report.outcome
        if outcome is not None:
            provenance = provenance_of(outcome, turn_context.scope, frozenset())
        turn_result = _text_turn_result("", report.text, turn_context)
        if report.unshown_count and isinstance(outcome, (Answer, Clarify)) and len(outcome.plan.legs) == 1:
            export = Choice(
                label=translate_message(EXPORT_ALL_LABEL),
                count=report.unshown_count,
                leg=outcome.plan.legs[0].id,
                effect=ExportAll(),
            )
            offered = OfferedChoices(plan=outcome.plan, choices=(export,), generation=outcome.generation)
            turn_result = await self._offer_with_text(report.text, offered, turn_context)
        return replace(turn_result, search_run=report.run, provenance=provenance)

    async def _offer_with_text(self, markdown: str, offered: OfferedChoices, turn_context: _TurnContext) -> TurnResult:
        """Returns a text with choices, which leaves the conversation's state unchanged."""
        offer = await self._clarifications.store_offer(
            turn_context.inbound, turn_context.turn, turn_context.state.scope_key, offered
        )
        return TurnResult(
            reply=choices_reply_for(turn_context.turn, markdown, offer),
            result=result_to_json(turn_context.result_request_for(""), StartOverOutcome(text=markdown), offer=offer),
        )

    async def _standalone_questions(self, turn_context: _TurnContext) -> StandaloneQuestions:
        """Asks questions by themselves: without the conversation so far, and not about attached files or web pages."""
        context = replace(
            await self._build_context(turn_context),
            index=self._index.within_scope(turn_context.scope),
            buckets=await self._requested_buckets(turn_context),
            last_plan=None,
            earlier_plans=(),
            conversation_summary="",
            found_nothing=False,
            pending_words=(),
            found_documents=(),
            clarifications_in_a_row=0,
        )
        return _TimedQuestions(self._agent, context, self._answer_timeout)

    # -- clicks

    async def _handle_click(self, choice: ChoiceId, turn_context: _TurnContext) -> TurnResult:
        selected = await self._clarifications.look_up_choice(choice, turn_context.inbound)
        with use_language(selected.plan.language):
            turn_result = await self._apply_choice(selected, turn_context)
        if isinstance(selected.effect, ContinuePrivately):  # only a notice: the other buttons stay open
            return turn_result
        if isinstance(selected.effect, SearchWeb) and turn_result.state is None:  # the same
            return turn_result
        if turn_result.result["outcome"] == OutcomeKind.REFUSED.value:  # do not show the choice's label again
            return turn_result
        return replace(
            turn_result,
            uses_choice=choice,
            settles_turn=selected.turn,
            chosen_part=ChosenPart(
                label=selected.label, by=turn_context.inbound.person_name or turn_context.inbound.person
            ),
        )

    async def _apply_choice(self, selected: SelectedChoice, turn_context: _TurnContext) -> TurnResult:
        effect, question = selected.effect, selected.question
        match effect:
            case StartOver():
                outcome = StartOverOutcome(text=translate_message(STARTED_OVER_NOTICE), language=get_reply_language())
                return await self._build_turn_result(question, outcome, turn_context)
            case ContinuePrivately():
                return await self._continue_privately(question, turn_context)
            case SearchWeb():
                return await self._search_web_on_click(selected, turn_context)
            case ExportAll():
                return await self._export_selected(selected, turn_context)
            case SaveSearch(schedule=schedule):
                return await self._save_selected_search(selected, schedule, turn_context)
            case JustAnswer():
                return await self._resume_plan(selected, selected.plan, turn_context, just_answer=True)
            case SearchByMeaning():
                return await self._resume_plan(
                    selected, self._agent.apply_search_by_meaning(selected.plan, selected.leg), turn_context
                )
            case _:
                refined = apply_to_plan(effect, selected.plan, selected.leg)
                return await self._resume_plan(selected, refined, turn_context)

    async def _continue_privately(self, question: str, turn_context: _TurnContext) -> TurnResult:
        """Starts a private turn with the clicker's own rights; the reply here only says that it continues there."""
        threads = self._surfaces.thread_placer_for(turn_context.inbound.surface)
        address = None if threads is None else await threads.find_private_address(turn_context.inbound)
        if address is None:
            return _notice_turn_result(question, translate_message(ASK_PRIVATELY_NOTICE), turn_context)
        files = await self._attachments.list_transferable_files(
            turn_context.inbound.conversation, turn_context.inbound.audience
        )
        private_turn = private_question_of(
            turn_context.inbound, turn_context.turn, question, address, self._now(), files
        )
        notice = translate_message(CONTINUES_PRIVATELY_NOTICE)
        return replace(_notice_turn_result(question, notice, turn_context), private_turn=private_turn)

    async def _resume_plan(
        self, selected: SelectedChoice, plan: Plan, turn_context: _TurnContext, *, just_answer: bool = False
    ) -> TurnResult:
        visible = visible_plan(plan, turn_context.content.scope)
        if visible is None:
            return await self._build_turn_result(selected.question, _refuse_with(NOT_GRANTED_NOTICE), turn_context)
        context = replace(await self._build_context(turn_context), just_answer=just_answer)
        async with asyncio.timeout(self._answer_timeout.total_seconds()):
            outcome = await self._agent.resume(visible, context)
        notes = (
            translate_message(PARTLY_VISIBLE_NOTICE) if visible != plan else "",
            count_change_note(_leg_count(outcome, selected.leg), selected.count),
        )
        return await self._build_turn_result(selected.question, outcome, turn_context, notes=notes)

    # -- the web

    async def _search_web_on_click(self, selected: SelectedChoice, turn_context: _TurnContext) -> TurnResult:
        """Asks the documents once more, which may have changed, then the web."""
        question, web_search = selected.question, self._web_search
        if web_search is None or not web_search.is_searchable(question, selected.plan.language):
            return _notice_turn_result(question, translate_message(NO_WEB_NOTICE), turn_context)
        visible = visible_plan(selected.plan, turn_context.content.scope)
        if visible is None:
            return await self._build_turn_result(question, _refuse_with(NOT_GRANTED_NOTICE), turn_context)
        async with asyncio.timeout(self._answer_timeout.total_seconds()):
            outcome = await self._agent.resume(visible, await self._build_context(turn_context))
        if not lacks_sure_answer(outcome):
            return await self._build_turn_result(question, outcome, turn_context)
        report = await self._search_web(web_search, question, outcome, turn_context)
        if report.answer is None:
            notice = _notice_turn_result(question, join_texts(*web_notes_of(report)), turn_context)
            return replace(notice, result=notice.result | {"web": report.to_json()})
        return await self._build_web_turn_result(question, outcome, report, turn_context)

    async def _search_web(
        self, web_search: WebSearch, question: str, outcome: Outcome, turn_context: _TurnContext
    ) -> WebSearchReport:
        """Searches the web for a question of which `outcome` says that the documents do not answer it."""
        context = await self._build_context(turn_context)

        async def ask_with_pages(pages: ScopedIndex) -> Outcome:
            from storage.federated.index import federate_indexes

            both = replace(context, index=federate_indexes(turn_context.content.index, pages))
            answer = await self._agent.answer(question, both)
            if isinstance(answer, Answer) and is_web_answer(answer):
                return answer
            return await self._agent.answer(question, replace(both, buckets=frozenset({WEB_BUCKET})))

        request = WebRequest(
            question=question,
            language=outcome.language,
            gap_words=gap_words_of(outcome),
            subject=summary_of(turn_context.state).web_subject,
            time_limit=self._answer_timeout,
            report_progress=turn_context.report_progress,
            report_attempt=turn_context.report_attempt,
        )
        try:
            async with asyncio.timeout(self._answer_timeout.total_seconds()):
                return await web_search.search_pages(request, ask_with_pages)
        except TimeoutError:
            return report_of_timeout()

    async def _build_web_turn_result(
        self, question: str, outcome: Outcome, report: WebSearchReport, turn_context: _TurnContext
    ) -> TurnResult:
        """Returns the result of an answer from the web; without one that of the documents, and a sentence about it.

        The conversation goes on from what was asked of the documents: the pages are gone after this turn.
        """
        answer = mark_web_answer(report)
        with use_language(outcome.language):
            notes = web_notes_of(report)
        shown = outcome if answer is None else answer
        turn_result = await self._build_turn_result(
            question, shown, turn_context, notes=notes, offers_web=report.status is WebSearchStatus.UNAVAILABLE
        )
        state = state_after_outcome(turn_context.state, turn_context.turn, question, outcome)
        if state is not None and answer is not None:
            state = state_after_web_answer(state, subject_of(report))
        return replace(turn_result, state=state, result=turn_result.result | {"web": report.to_json()})

    async def _export_selected(self, selected: SelectedChoice, turn_context: _TurnContext) -> TurnResult:
        visible = visible_plan(selected.plan, turn_context.content.scope)
        if visible is None:
            return await self._build_turn_result(selected.question, _refuse_with(NOT_GRANTED_NOTICE), turn_context)
        trace, generation = SearchTrace(route=SearchRoute.STRUCTURED), Generation("")
        export_outcome = ExportOutcome(
            plan=visible, leg=selected.leg, count=selected.count or 0, trace=trace, generation=generation
        )
        return await self._write_export(
            selected.question,
            export_outcome,
            turn_context,
            notes=(translate_message(PARTLY_VISIBLE_NOTICE) if visible != selected.plan else "",),
        )

    # -- results

    async def _build_turn_result(
        self,
        question: str,
        outcome: Outcome,
        turn_context: _TurnContext,
        *,
        notes: Sequence[str] = (),
        offers_web: bool = True,
    ) -> TurnResult:
        """Returns an outcome's result, in its language.

        `notes` come first: they say what has changed since a button was offered. `offers_web`: where nothing was found
        and the settings allow it.
        """
        with use_language(outcome.language):
            return await self._build_result_parts(question, outcome, turn_context, notes, offers_web=offers_web)

    async def _build_result_parts(
        self,
        question: str,
        outcome: Outcome,
        turn_context: _TurnContext,
        notes: Sequence[str],
        *,
        offers_web: bool,
    ) -> TurnResult:
        remark = _model_remark_for(turn_context.reasoning_log)
        if isinstance(outcome, ExportOutcome):
            return await self._write_export(question, outcome, turn_context, notes=(*notes, remark and f"_{remark}_"))
        if isinstance(outcome, (Answer, Clarify)) and remark:
            outcome = replace(outcome, assumptions=(*outcome.assumptions, remark))
        offer = await self._store_offer(question, outcome, turn_context, offers_web=offers_web)
        result = result_to_json(turn_context.result_request_for(question), outcome, offer=offer)
        return TurnResult(
            reply=reply_for(
                turn_context.turn,
                outcome,
                offer,
                leading_parts=text_parts_of(notes),
                show_pictures=self._show_pictures,
            ),
            result=result | {"text": join_texts(*notes, result["text"])},
            state=state_after_outcome(turn_context.state, turn_context.turn, question, outcome),
            provenance=provenance_of(outcome, turn_context.scope, turn_context.content.file_ids),
            saveable_plan=plan_to_json(outcome.plan)
            if isinstance(outcome, (Answer, Clarify)) and can_be_saved(outcome)
            else None,
        )

    async def _store_offer(
        self, question: str, outcome: Outcome, turn_context: _TurnContext, *, offers_web: bool
    ) -> StoredOffer | None:
        inbound, offered = turn_context.inbound, _offered_choices_of(question, outcome)
        if offered is None:
            return None
        if offers_web and self._web_search is not None and self._web_search.is_searchable(question, outcome.language):
            offered = replace(offered, choices=(*offered.choices, *offer_web_search(outcome)))
        if turn_context.may_go_private and self._surfaces.thread_placer_for(inbound.surface) is not None:
            continue_privately = Choice(
                label=translate_message(CONTINUE_PRIVATELY_LABEL),
                count=None,
                leg=offered.plan.legs[0].id,
                effect=ContinuePrivately(),
            )
            offered = replace(offered, choices=(*offered.choices, continue_privately))
        return await self._clarifications.store_offer(inbound, turn_context.turn, turn_context.state.scope_key, offered)

    async def _write_export(
        self, question: str, outcome: ExportOutcome, turn_context: _TurnContext, *, notes: Sequence[str] = ()
    ) -> TurnResult:
        inbound, leg = turn_context.inbound, outcome.plan.leg_by_id(outcome.leg)
        request = ExportFileRequest(
            turn=turn_context.turn,
            conversation=inbound.conversation,
            person=inbound.person,
            audience=inbound.audience,
            leg=leg,
        )
        file = await self._exports.write_file(request, turn_context.report_progress)
        notes = (*notes, count_change_note(file.rows, outcome.count or None))
        text = join_texts(*notes, file_sentence_for(file))
        return TurnResult(
            reply=file_reply_for(turn_context.turn, file, leading_parts=text_parts_of(notes)),
            result=result_to_json(turn_context.result_request_for(question), outcome, files=(file,), text=text),
            state=state_after_outcome(turn_context.state, turn_context.turn, question, outcome),
            provenance=provenance_of(outcome, turn_context.scope, turn_context.content.file_ids),
        )


@dataclass(frozen=True, slots=True)
class _TimedQuestions:
    """Fulfils `StandaloneQuestions`. Raises `TimeoutError`, and what the agent raises."""

    agent: QuestionAgent
    context: AgentContext
    timeout: timedelta

    async def ask_question(self, question: str) -> Outcome:
        async with asyncio.timeout(self.timeout.total_seconds()):
            return await self.agent.answer(question, self.context)

    async def ask_plan(self, plan: Plan) -> Outcome:
        async with asyncio.timeout(self.timeout.total_seconds()):
            return await self.agent.resume(plan, self.context)


def _model_remark_for(log: ReasoningLog) -> str:
    """Returns why rules answered in place of the model; empty if they did not, or if the model was not asked."""
    match log.unavailability:
        case None:
            return ""
        case SpendingCapReached():
            return translate_message(MODEL_BUDGET_REMARK)
        case PriceUnknown():
            return translate_message(MODEL_UNPRICED_REMARK)
        case _:
            return translate_message(MODEL_LOST_REMARK if log.used_model else MODEL_UNAVAILABLE_REMARK)


def private_question_of(
    inbound: Inbound,
    turn: TurnId,
    question: str,
    address: Mapping[str, str],
    now: datetime,
    files: tuple[AttachedFile, ...] = (),
) -> Inbound:
    """Returns the same question as a message that the person sends in a private conversation.

    Its event id is unique per turn. `files` are attached and fetched again.
    """
    event = f"alone:{turn}"
    return replace(
        inbound,
        event_id=event,
        conversation=ConversationId(f"{inbound.surface}:{event}"),
        message_id=MessageId(event),
        audience=PrivateAudience(person=inbound.person, is_guest=True),
        body=TextMessage(question),
        received_at=now,
        address=address,
        files=files,
        skipped_files=(),
        needs_thread=True,
    )


def _offered_choices_of(question: str, outcome: Outcome) -> OfferedChoices | None:
    """Returns the choices of an outcome; None for exports and starting over. A refusal gets a plan without filters."""
    match outcome:
        case Answer(plan=plan, kept_conditions=kept_conditions) | Clarify(plan=plan, kept_conditions=kept_conditions):
            start_over = Choice(
                label=translate_message(START_OVER_LABEL), count=None, leg=plan.legs[0].id, effect=StartOver()
            )
            choices = (*outcome.choices, start_over) if kept_conditions else outcome.choices
            return OfferedChoices(plan=plan, choices=choices, generation=outcome.generation)
        case Refused():
            leg = Leg(id=LegId("1"), question=question, search=unfiltered_search_of(), answer_form=ListDocuments())
            plan = Plan(question=question, legs=(leg,), language=outcome.language)
            return OfferedChoices(plan=plan, choices=(), generation=Generation(""))
        case ExportOutcome() | StartOverOutcome():
            return None
        case _:
            assert_never(outcome)


def _language_of(inbound: Inbound, state: ConversationState) -> str:
    """Returns the language for what is said before the agent has understood the message."""
    text = inbound.body.text if isinstance(inbound.body, TextMessage) else ""
    return choose_reply_language(text, PlanHistory.from_json(state.last_plan).last_plan)


def _refuse_with(notice: str) -> Refused:
    return Refused(text=translate_message(notice), language=get_reply_language())


def _notice_turn_result(question: str, sentence: str, turn_context: _TurnContext) -> TurnResult:
    """Returns a result with one sentence that leaves the conversation's state unchanged."""
    result = result_to_json(turn_context.result_request_for(question), StartOverOutcome(text=sentence))
    return TurnResult(reply=notice_reply_for(turn_context.turn, sentence), result=result)


def _text_turn_result(question: str, markdown: str, turn_context: _TurnContext) -> TurnResult:
    """Returns a result with this text, which leaves the conversation's state unchanged."""
    result = result_to_json(turn_context.result_request_for(question), StartOverOutcome(text=markdown))
    parts = (TextPart(markdown=markdown),) if markdown else ()
    return TurnResult(reply=Reply(turn=turn_context.turn, parts=parts), result=result)


def _file_lines(unread_files: Sequence[UnreadFile], remarks: Sequence[tuple[str, str]]) -> list[str]:
    return [*format_unread_notices(unread_files), *(format_remark(name, remark) for name, remark in remarks)]


def validate_question(text: str) -> str:
    """Returns the question without NUL characters, lone surrogates and surrounding blanks.

    Raises `InvalidQuestion` when it is empty or too long.
    """
    question = text.encode(errors="replace").decode().replace("\x00", " ").strip()
    if not question:
        raise InvalidQuestion(translate_message("There is no question here; ask me something about your documents."))
    if len(question) > MAX_QUESTION_CHARS:
        raise InvalidQuestion(
            translate_message(
                "That is too long: a question may have {count} characters at most.",
                count=format_number(MAX_QUESTION_CHARS),
            )
        )
    return question


def visible_plan(plan: Plan, scope: Scope) -> Plan | None:
    """Returns the plan over the buckets that are granted now; None when a leg has no granted bucket.

    A clause that compares with a bucket that is not granted is left out like one of that bucket.
    """
    for leg in plan.legs:
        visible_clauses = tuple(clause for clause in leg.search.clauses if clause.read_buckets <= scope.buckets)
        if not visible_clauses:
            return None
        plan = plan.with_search(leg.id, leg.search.with_clauses(*visible_clauses))
    return plan


def _leg_count(outcome: Outcome, leg_id: LegId) -> int | None:
    """Returns the number of documents of a leg: its document count, else its count."""
    if not isinstance(outcome, (Answer, Clarify)):
        return None
    leg = next((leg for leg in outcome.legs if leg.leg == leg_id), None)
    return None if leg is None else leg.document_count if leg.count is None else leg.count


def _time_zone_of(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC

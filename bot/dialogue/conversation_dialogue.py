"""Turns one message or click into a reply and the conversation's next state, under the current access rights."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from agent.context import AgentContext
from agent.evidence.word_meanings import TextEmbedder
from agent.limits import AnswerLimits
from agent.reasoner import Reasoner
from agent.reasoning_log import ReasoningLog
from agent.retrieval.relevance import Reranker
from agent.rules.words.language_detection import choose_reply_language
from agent.translation.languages import use_asker_locale, use_language
from bot.access.audience_scope import AccessResolver, rights_of, scope_key_of
from bot.attachments.attachments import ConversationAttachments
from bot.conversation.clarifications import ClarificationOffers
from bot.conversation.exports import ExportFiles
from bot.conversation.notices import CONDITIONS_FORGOTTEN_NOTICE, NO_BUCKET_NOTICE
from bot.conversation.plan_history import PlanHistory, without_large_plan
from bot.conversation.turn_result import TurnResult, failed_turn_result, with_leading_lines
from bot.dialogue.agent_contexts import AgentContextBuilder
from bot.dialogue.choice_turns import ChoiceTurns
from bot.dialogue.question_agent import AttemptCallback, QuestionAgent, TimedAgent
from bot.dialogue.questions import validate_question
from bot.dialogue.result_builder import TurnResultBuilder, notice_turn_result, refuse_with
from bot.dialogue.saved_search_turns import SavedSearchTurns
from bot.dialogue.turn_context import TurnContext
from bot.dialogue.web_search_turns import WebSearchTurns
from bot.errors import BotError
from bot.ids import TurnId
from bot.progress import PartialAnswerCallback, ProgressCallback, ignore_partial_answer
from bot.saved_searches.saved_searches import SavedSearches
from bot.saved_searches.search_requests import find_request_language, recognise_request
from bot.surface.attachments import (
    ATTACHMENTS_BUCKET,
    UnreadFile,
    acknowledge_files,
    format_remark,
    format_unread_notices,
    origin_message_of,
    rewrite_for_attachments,
)
from bot.surface.inbound import Inbound, OperatorAudience, SavedSearchRun, SearchSaveRequest, TextMessage
from bot.surface.product_directories import ProductDirectories
from bot.surface.surface_registry import SurfaceRegistry
from bot.translation import translate_message
from bot.web_search.web_search import WebSearch
from storage.search.index import SearchIndex
from storage.sql.database import SqlDatabase
from storage.sql.stores.conversations import ConversationState, ConversationStore
from storage.sql.stores.inbox import TurnInbox

_WARM_UP_TIMEOUT: Final = timedelta(seconds=60)
_WARM_UP_QUESTION: Final = (
    "Which documnets speak of it?"  # the misspelt word makes the warm-up build the spelling data too
)


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
        contexts = AgentContextBuilder(
            reasoner=reasoner,
            warm_up_reasoner=warm_up_reasoner,
            index=index,
            now=database.utc_now,
            reranker=reranker,
            embedder=embedder,
            uses_index_cosines=uses_index_cosines,
        )
        results = TurnResultBuilder(
            clarifications=clarifications,
            exports=exports,
            surfaces=surfaces,
            show_pictures=show_pictures,
            web_search=web_search,
        )
        timed_agent = TimedAgent(agent, answer_timeout)
        self._access, self._directories, self._attachments = access, directories, attachments
        self._conversations = ConversationStore(database)
        self._agent, self._contexts, self._results = timed_agent, contexts, results
        self._saved_searches = SavedSearchTurns(
            saved_searches=saved_searches,
            inbox=TurnInbox(database),
            agent=timed_agent,
            contexts=contexts,
            results=results,
        )
        self._web_search = WebSearchTurns(web_search=web_search, agent=timed_agent, contexts=contexts, results=results)
        self._choices = ChoiceTurns(
            clarifications=clarifications,
            attachments=attachments,
            surfaces=surfaces,
            now=database.utc_now,
            agent=timed_agent,
            contexts=contexts,
            results=results,
            saved_searches=self._saved_searches,
            web_search=self._web_search,
        )

    async def warm_up_agent(self) -> None:
        """Asks one question as the operator and discards the answer, so that no person waits for data loaded once.

        Raises what the index and the database raise.
        """
        context = self._contexts.build_warm_up_context(await self._access.scope_for_audience(OperatorAudience()))
        async with asyncio.timeout(_WARM_UP_TIMEOUT.total_seconds()):
            await self._agent.agent.answer(_WARM_UP_QUESTION, context)

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
        stored_state = await self._conversations.load_state(inbound.conversation, scope_key_of(scope), rights_of(scope))
        state = without_large_plan(stored_state)
        with use_asker_locale(inbound.locale), use_language(_language_of(inbound, stored_state)):
            unfetched_files = await self._attachments.fetch_files(inbound, report_progress)
            location = (scope, inbound.conversation, inbound.audience)
            async with self._attachments.open_searchable_content(
                *location, message=origin_message_of(inbound), report_progress=report_progress
            ) as content:
                turn_context = TurnContext(
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

    async def _answer_message_or_click(self, turn_context: TurnContext) -> TurnResult:
        body = turn_context.inbound.body
        if isinstance(body, TextMessage) and not body.text.strip() and turn_context.content.file_names:
            return notice_turn_result("", acknowledge_files(turn_context.content.file_names), turn_context)
        if isinstance(body, SavedSearchRun):
            return await self._saved_searches.run_search(body, turn_context)
        if isinstance(body, SearchSaveRequest):
            return await self._saved_searches.offer_schedules_for_turn(body.turn, turn_context)
        choice = await self._choices.detect_choice(turn_context)
        if choice is not None:
            return await self._choices.handle_choice(choice, turn_context)
        if isinstance(body, TextMessage) and (request := recognise_request(body.text)) is not None:
            return await self._saved_searches.answer_request(request, body.text, turn_context)
        return await self._answer_question(turn_context)

    async def _answer_question(self, turn_context: TurnContext) -> TurnResult:
        body = turn_context.inbound.body
        question = validate_question(body.text) if isinstance(body, TextMessage) else ""
        buckets = await self._contexts.requested_buckets(turn_context)
        context = await self._contexts.build_context(turn_context)
        if buckets is not None and not buckets:
            refused = replace(refuse_with(NO_BUCKET_NOTICE), may_go_private=context.may_go_private)
            return await self._results.build_turn_result(question, refused, turn_context)
        content = turn_context.content
        question_about_files = (
            rewrite_for_attachments(question, has_files=bool(content.file_names))
            if content.file_ids and buckets is None
            else None
        )
        if question_about_files is not None:
            buckets = frozenset({ATTACHMENTS_BUCKET})
        if buckets is None:
            return await self._answer_with_web(question, context, turn_context)
        outcome = await self._agent.answer(question_about_files or question, replace(context, buckets=buckets))
        return await self._results.build_turn_result(question, outcome, turn_context)

    async def _answer_with_web(self, question: str, context: AgentContext, turn_context: TurnContext) -> TurnResult:
        """Asks all documents that may be seen, and then the web, as far as the settings allow it."""
        async with self._web_search.open_tool(question, turn_context) as web_tool:
            outcome = await self._agent.answer(question, replace(context, web_search=web_tool))
            searched_result = await self._web_search.search_at_once(question, outcome, web_tool, turn_context)
        if searched_result is not None:
            return searched_result
        return await self._results.build_turn_result(question, outcome, turn_context)


def _language_of(inbound: Inbound, state: ConversationState) -> str:
    """Returns the language for what is said before the agent has understood the message."""
    text = inbound.body.text if isinstance(inbound.body, TextMessage) else ""
    return find_request_language(text) or choose_reply_language(text, PlanHistory.from_json(state.last_plan).last_plan)


def _file_lines(unread_files: Sequence[UnreadFile], remarks: Sequence[tuple[str, str]]) -> list[str]:
    return [*format_unread_notices(unread_files), *(format_remark(name, remark) for name, remark in remarks)]

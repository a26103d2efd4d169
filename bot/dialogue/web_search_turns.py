"""Turns whose question is also searched on the web."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

from agent.outcome import Answer, Outcome
from agent.translation.languages import get_reply_language, use_language
from bot.conversation.clarifications import SelectedChoice
from bot.conversation.notices import NO_WEB_NOTICE
from bot.conversation.plan_history import state_after_outcome, state_after_web_answer, summary_of
from bot.conversation.turn_result import TurnResult, join_texts
from bot.dialogue.agent_contexts import AgentContextBuilder
from bot.dialogue.question_agent import TimedAgent
from bot.dialogue.result_builder import TurnResultBuilder, notice_turn_result
from bot.dialogue.turn_context import TurnContext
from bot.dialogue.visible_plan import visible_plan
from bot.translation import translate_message
from bot.web_search.web_outcomes import is_web_answer, without_web_sources
from bot.web_search.web_pages import WEB_BUCKET
from bot.web_search.web_replies import gap_words_of, lacks_sure_answer, mark_web_answer, subject_of, web_notes_of
from bot.web_search.web_report import WebSearchReport, WebSearchStatus, report_of_timeout
from bot.web_search.web_search import WebRequest, WebSearch
from bot.web_search.web_tool import WebSearchTool
from storage.search.index import ScopedIndex


class WebSearchTurns:
    """Searches the web after the documents. A whole search has one deadline, that of one question to the agent."""

    def __init__(
        self,
        *,
        web_search: WebSearch | None,
        agent: TimedAgent,
        contexts: AgentContextBuilder,
        results: TurnResultBuilder,
    ) -> None:
        self._web_search, self._agent, self._contexts, self._results = web_search, agent, contexts, results

    @asynccontextmanager
    async def open_tool(self, question: str, turn_context: TurnContext) -> AsyncGenerator[WebSearchTool | None]:
        """Opens the web for a model that searches with tools; None where it may not."""
        web_search, language = self._web_search, get_reply_language()
        if web_search is None or not web_search.offers_tool(question, language):
            yield None
            return
        async with web_search.open_tool(self._build_request(question, language, (), turn_context)) as tool:
            yield tool

    async def search_at_once(
        self, question: str, outcome: Outcome, tool: WebSearchTool | None, turn_context: TurnContext
    ) -> TurnResult | None:
        """Returns the result with the web's answer, if the settings say that this question goes on to the web.

        What a model has found with the tool is not searched for again, unless it failed to answer with it.
        """
        web_search = self._web_search
        report = None if tool is None else await tool.build_report(outcome)
        if web_search is not None and report is not None:
            web_search.report_measurement(report)
            if report.answer is not None or not turn_context.reasoning_log.fallbacks:
                return await self._build_web_turn_result(question, outcome, report, turn_context)
        if web_search is None or not web_search.searches_at_once(question, outcome):
            return None
        report = await self._search_web(web_search, question, outcome, turn_context)
        return await self._build_web_turn_result(question, outcome, report, turn_context)

    async def search_on_click(self, selected: SelectedChoice, turn_context: TurnContext) -> TurnResult:
        """Asks the documents once more, which may have changed, then the web."""
        question, web_search = selected.question, self._web_search
        if web_search is None or not web_search.is_searchable(question, selected.plan.language):
            return notice_turn_result(question, translate_message(NO_WEB_NOTICE), turn_context)
        visible = visible_plan(selected.plan, turn_context.content.scope)
        if visible is None:
            return await self._results.build_not_granted_result(question, turn_context)
        outcome = await self._agent.resume(visible, await self._contexts.build_context(turn_context))
        if not lacks_sure_answer(outcome):
            return await self._results.build_turn_result(question, outcome, turn_context)
        report = await self._search_web(web_search, question, outcome, turn_context)
        if report.answer is None:
            notice = notice_turn_result(question, join_texts(*web_notes_of(report)), turn_context)
            return replace(notice, result=notice.result | {"web": report.to_json()})
        return await self._build_web_turn_result(question, outcome, report, turn_context)

    async def _search_web(
        self, web_search: WebSearch, question: str, outcome: Outcome, turn_context: TurnContext
    ) -> WebSearchReport:
        """Searches the web for a question of which `outcome` says that the documents do not answer it."""
        context = await self._contexts.build_context(turn_context)

        async def ask_with_pages(pages: ScopedIndex) -> Outcome:
            from storage.federated.index import federate_indexes

            both = replace(context, index=federate_indexes(turn_context.content.index, pages))
            answer = await self._agent.agent.answer(question, both)
            if isinstance(answer, Answer) and is_web_answer(answer):
                return answer
            return await self._agent.agent.answer(question, replace(both, buckets=frozenset({WEB_BUCKET})))

        request = self._build_request(question, outcome.language, gap_words_of(outcome), turn_context)
        try:
            async with asyncio.timeout(self._agent.timeout.total_seconds()):
                return await web_search.search_pages(request, ask_with_pages)
        except TimeoutError:
            return report_of_timeout()

    def _build_request(
        self, question: str, language: str, gap_words: tuple[str, ...], turn_context: TurnContext
    ) -> WebRequest:
        return WebRequest(
            question=question,
            language=language,
            gap_words=gap_words,
            subject=summary_of(turn_context.state).web_subject,
            time_limit=self._agent.timeout,
            report_progress=turn_context.report_progress,
            report_attempt=turn_context.report_attempt,
            usage=turn_context.reasoning_log.web_usage,
        )

    async def _build_web_turn_result(
        self, question: str, outcome: Outcome, report: WebSearchReport, turn_context: TurnContext
    ) -> TurnResult:
        """Returns the result of an answer from the web; without one that of the documents, and a sentence about it.

        The conversation goes on from what was asked of the documents: the pages are gone after this turn.
        """
        answer = mark_web_answer(report)
        with use_language(outcome.language):
            is_silent = answer is None and not lacks_sure_answer(outcome)  # the documents answer
            notes = () if is_silent else web_notes_of(report)
        shown = outcome if answer is None else answer
        turn_result = await self._results.build_turn_result(
            question, shown, turn_context, notes=notes, offers_web=report.status is WebSearchStatus.UNAVAILABLE
        )
        state = state_after_outcome(turn_context.state, turn_context.turn, question, without_web_sources(outcome))
        if state is not None and answer is not None:
            state = state_after_web_answer(state, subject_of(report))
        return replace(turn_result, state=state, result=turn_result.result | {"web": report.to_json()})

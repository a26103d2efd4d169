"""Searches the web for a question that the documents do not answer: in rounds, until the answer is complete enough.

A round asks the search server, ranks the URLs, reads the promising pages, and asks the question again over documents
and pages. Only words of the person's own question, and the subject of public pages, are sent to the server.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from structlog.typing import FilteringBoundLogger

from agent.evidence.word_meanings import TextEmbedder, WordMeanings
from agent.outcome import Answer, Citation, Clarify, FoundPassage, Outcome, OutcomeKind, SearchAttempt
from agent.web_search.asked_words import WebQuestion, read_web_question
from agent.web_search.completeness import EvidenceCompleteness, measure_completeness
from agent.web_search.query_refinement import first_queries, refine_queries
from agent.web_search.web_usage import WebUsage
from bot.metrics.operation_measurements import OperationObserver, WebSearchMeasurement
from bot.progress import ProgressCallback
from bot.web_search.page_collection import WebPageCollection
from bot.web_search.settings import WebSearchSettings, WebUse
from bot.web_search.web_outcomes import is_web_answer, web_texts_of
from bot.web_search.web_pages import IndexOpener, WebPageIndex, is_web_doc_id, open_web_page_index
from bot.web_search.web_replies import may_search_at_once
from bot.web_search.web_report import WebRound, WebSearchReport, WebSearchStatus
from bot.web_search.web_tool import WebSearchTool
from storage.search.analyser import Analyser
from storage.search.index import ScopedIndex
from storage.sql.web_page_store import WebPageStore

if TYPE_CHECKING:
    from storage.ingest.extract.candidates import Extractor
    from storage.ingest.sources.web_page import WebPageFetcher

_MARKER: Final = re.compile(r"\[\d+\]")

AskWithPages: TypeAlias = Callable[[ScopedIndex], Awaitable[Outcome]]
"""Asks the question again, over the documents and these pages."""
ScratchFolderOpener: TypeAlias = Callable[[], AbstractAsyncContextManager[Path]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRequest:
    """What to search for. `subject`: of the pages that answered the question before; empty: there are none.

    `gap_words`: the words of the question that no document mentions. `usage`: what the search costs is added to it.
    """

    question: str
    language: str
    gap_words: tuple[str, ...] = ()
    subject: str = ""
    time_limit: timedelta
    report_progress: ProgressCallback
    report_attempt: Callable[[SearchAttempt], None]
    usage: WebUsage = field(default_factory=WebUsage)


class WebSearch:
    """Searches where the settings allow it. `fetcher` None: the polite one, for public addresses alone."""

    def __init__(
        self,
        *,
        settings: WebSearchSettings,
        store: WebPageStore,
        index_opener: IndexOpener,
        open_scratch_folder: ScratchFolderOpener,
        extractor: "Extractor",
        analysers: Callable[[str], Analyser],
        embedder: TextEmbedder | None,
        log: FilteringBoundLogger,
        observer: OperationObserver,
        fetcher: "WebPageFetcher | None" = None,
    ) -> None:
        self.settings = settings
        self._store, self._index_opener, self._open_scratch_folder = store, index_opener, open_scratch_folder
        self._extractor, self._analysers, self._meanings = extractor, analysers, WordMeanings(embedder)
        self._log, self._observer, self._fetcher = log, observer, fetcher

    async def search_pages(self, request: WebRequest, ask_with_pages: AskWithPages) -> WebSearchReport:
        """Raises what the index, the database and `ask_with_pages` raise. A server that fails is in the report."""
        async with self._open_collection(request, request.report_attempt) as collection:
            run = _WebSearchRun(
                collection=collection,
                subject=request.subject,
                ask_with_pages=ask_with_pages,
                settings=self.settings,
            )
            report = await run.run_rounds()
        self.report_measurement(report)
        return report

    @asynccontextmanager
    async def open_tool(self, request: WebRequest) -> AsyncGenerator[WebSearchTool]:
        """Opens a search for the tools of a model. Nothing is opened or sent before it is used."""
        async with AsyncExitStack() as stack:
            collection = self._open_collection(request, _ignore_attempt)  # the tools record their calls
            yield WebSearchTool(
                open_collection=lambda: stack.enter_async_context(collection),
                subject=request.subject if self.settings.web_hints else "",
                settings=self.settings,
            )

    def offers_tool(self, question: str, language: str) -> bool:
        """Whether a model may search the web for the question: without a click, where the settings allow that."""
        return self.settings.web is WebUse.AUTO and self.is_searchable(question, language)

    def is_searchable(self, question: str, language: str) -> bool:
        """Whether the web may be searched for the question: it is allowed, and there are words to search for."""
        analyser = self._analysers(language)
        return self.settings.is_allowed and bool(read_web_question(question, analyser, language).words)

    def searches_at_once(self, question: str, outcome: Outcome) -> bool:
        """Whether the web is searched without a click, after this outcome over the documents."""
        return may_search_at_once(self.settings, outcome) and self.is_searchable(question, outcome.language)

    @asynccontextmanager
    async def _open_collection(
        self, request: WebRequest, report_attempt: Callable[[SearchAttempt], None]
    ) -> AsyncGenerator[WebPageCollection]:
        from bot.web_search.searxng_client import open_searxng_client

        analyser = self._analysers(request.language)
        question = read_web_question(request.question, analyser, request.language, request.gap_words)
        async with open_searxng_client(self.settings.searxng_url or "") as client, self._open_pages(request) as pages:
            yield WebPageCollection(
                question=await question.weigh_words(self._meanings),
                client=client,
                pages=pages,
                meanings=self._meanings,
                language=request.language,
                time_limit=request.time_limit,
                report_progress=request.report_progress,
                report_attempt=report_attempt,
                usage=request.usage,
            )

    @asynccontextmanager
    async def _open_pages(self, request: WebRequest) -> AsyncGenerator[WebPageIndex]:
        from storage.ingest.sources.web_page import WebPageFetcher

        async with (
            self._open_scratch_folder() as folder,
            open_web_page_index(
                self._index_opener,
                folder,
                store=self._store,
                fetcher=self._fetcher
                or WebPageFetcher(is_allowed_address=self.settings.is_allowed_address, clock=self._store.utc_now),
                extractor=self._extractor,
                lifetime=self.settings.page_lifetime,
                language=request.language,
                usage=request.usage,
            ) as pages,
        ):
            yield pages

    def report_measurement(self, report: WebSearchReport) -> None:
        if report.failure:
            self._log.warning("web search failed", reason=report.failure)
        self._observer(
            WebSearchMeasurement(
                outcome=report.status.value,
                rounds=len(report.rounds),
                completeness=report.completeness.score,
                urls_found=report.found_count,
                urls_crawled=report.crawled_count,
                server_requests=report.request_count,
                bytes_read=report.byte_count,
            )
        )


@dataclass(slots=True, kw_only=True)
class _WebSearchRun:
    collection: WebPageCollection
    subject: str
    ask_with_pages: AskWithPages
    settings: WebSearchSettings
    rounds: list[WebRound] = field(default_factory=list[WebRound])
    answer: Answer | None = None
    is_sure: bool = False  # the agent answered; otherwise the answer consists of the sentences that come closest
    best: EvidenceCompleteness | None = None

    async def run_rounds(self) -> WebSearchReport:
        collection = self.collection
        queries = first_queries(self.question, self.subject if self.settings.web_hints else "")
        while (queries or collection.waiting) and len(self.rounds) < self.settings.web_rounds:
            if collection.remaining_time <= timedelta():
                break
            await self._run_round(queries)
            if collection.failure or self._is_complete:
                break
            queries = refine_queries(self.question, self._completeness.gaps, collection.asked_queries)
        return WebSearchReport(
            rounds=tuple(self.rounds),
            status=self._status,
            completeness=self._completeness,
            answer=self.answer,
            is_sure=self.is_sure,
            pages=tuple(collection.pages.pages.values()),
            attempts=tuple(collection.attempts),
            failure=collection.failure,
        )

    @property
    def question(self) -> WebQuestion:
        return self.collection.question

    @property
    def meanings(self) -> WordMeanings:
        return self.collection.meanings

    @property
    def _completeness(self) -> EvidenceCompleteness:
        gaps = tuple(word.text for word in self.question.words)
        return self.best or EvidenceCompleteness(score=0.0, reason="no promising page was found", gaps=gaps)

    @property
    def _is_complete(self) -> bool:
        return self.is_sure and self._completeness.score >= self.settings.web_completeness

    @property
    def _status(self) -> WebSearchStatus:
        if self._is_complete:
            return WebSearchStatus.COMPLETE
        if self.answer is not None:
            return WebSearchStatus.BEST_AVAILABLE
        return WebSearchStatus.UNAVAILABLE if self.collection.failure else WebSearchStatus.NOTHING_FOUND

    async def _run_round(self, queries: Sequence[str]) -> None:
        """Adds a round. After a failure of the server, what earlier rounds found stays."""
        web_round = await self.collection.collect_pages(queries)
        has_pages = any(url.page is not None for url in web_round.loaded)
        completeness = await self._ask_again() if has_pages else 0.0
        self.rounds.append(replace(web_round, completeness=completeness))

    async def _ask_again(self) -> float:
        """Asks over all pages so far; keeps the answer if it is more complete than those before."""
        outcome = await self.ask_with_pages(self.collection.pages.scoped_index())
        texts = web_texts_of(outcome)
        completeness = await measure_completeness(texts, self.question, self.meanings)
        is_sure, answer = False, None
        if isinstance(outcome, Answer) and is_web_answer(outcome):
            is_sure, answer = await self._is_supported(outcome), outcome
        elif isinstance(outcome, Clarify):
            answer = await self._answer_of_closest(outcome)
        is_better = self.best is None or completeness.score > self.best.score
        if (answer is not None, is_sure, is_better) > (self.answer is not None, self.is_sure, False):
            self.answer, self.is_sure, self.best = answer, is_sure, completeness
        return completeness.score

    async def _is_supported(self, answer: Answer) -> bool:
        """Whether the answer is sure of itself, and some sentence of it is about the question.

        The sentence, with the title of its page, holds some word beside the names; its passage holds all names.
        """
        if not all(leg.is_sure for leg in answer.legs):
            return False
        for citation in answer.citations:
            sentence = await self.question.cover_words(f"{citation.title}\n{citation.text}", self.meanings)
            passage = await self.question.cover_words(_passage_of(citation, answer.hits), self.meanings)
            names = {name.text for name in self.question.names}
            is_about_more = not {word.text for word in self.question.words} - names or {*sentence.held_words} - names
            if is_about_more and names.isdisjoint(passage.missing_words):
                return True
        return False

    async def _answer_of_closest(self, outcome: Clarify) -> Answer | None:
        """Returns an answer of the sentences that come closest, if one of them is complete and holds all names.

        The title of its page counts as a part of a sentence.
        """
        for citation in outcome.citations:
            if not is_web_doc_id(citation.doc_id):
                return None
            coverage = await self.question.cover_words(f"{citation.title}\n{citation.text}", self.meanings)
            lacks_name = any(name.text in coverage.missing_words for name in self.question.names)
            if coverage.share >= self.settings.web_completeness and not lacks_name:
                return quote_closest(outcome)
        return None


def _ignore_attempt(attempt: SearchAttempt) -> None:
    """Does nothing."""


def _passage_of(citation: Citation, hits: Sequence[FoundPassage]) -> str:
    """Returns the passages that hold the citation, with the title; the citation alone if no hit holds it."""
    texts = [
        found.hit.text
        for found in hits
        if found.hit.doc_id == citation.doc_id and found.hit.start <= citation.start < found.hit.end
    ]
    return "\n".join((citation.title, *(texts or [citation.text])))


def quote_closest(outcome: Clarify) -> Answer:
    """Returns an answer of the paragraphs of the clarification that quote a source."""
    text = "\n\n".join(part for part in outcome.text.split("\n\n") if _MARKER.search(part))
    legs = tuple(replace(leg, kind=OutcomeKind.ANSWER, text=text) for leg in outcome.legs)
    return Answer(
        plan=outcome.plan,
        text=text,
        legs=legs,
        citations=outcome.citations,
        hits=outcome.hits,
        trace=outcome.trace,
        generation=outcome.generation,
    )

"""The web as a tool of a model: with the guard, the bounds and the provenance of every other search of the web."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from agent.errors import UnusableToolCall
from agent.outcome import Answer, Citation, FoundPassage, Outcome
from agent.retrieval.fusion import fuse_hits
from agent.web_search.asked_words import read_web_question
from agent.web_search.completeness import EvidenceCompleteness, measure_completeness
from agent.web_search.query_refinement import MAX_QUERY_CHARACTERS, keep_own_words
from bot.web_search.page_collection import WebPageCollection
from bot.web_search.settings import WebSearchSettings
from bot.web_search.web_outcomes import cites_web, web_texts_of
from bot.web_search.web_pages import WEB_BUCKET, WebPageIndex
from bot.web_search.web_report import WebRound, WebSearchReport, WebSearchStatus
from storage.search.index import KeywordPassageRequest, SemanticPassageRequest
from storage.search.plan import unfiltered_search_of

_FETCHED_PASSAGES: Final = 40
_RETURNED_PASSAGES: Final = 8


@dataclass(slots=True, kw_only=True)
class WebSearchTool:
    """Implements `WebPassageSearch` for one question. `subject`: of the pages that answered the question before.

    `open_collection` opens the client of the server and the index of the pages, at the first search.
    """

    open_collection: Callable[[], Awaitable[WebPageCollection]]
    subject: str
    settings: WebSearchSettings
    rounds: list[WebRound] = field(default_factory=list[WebRound])
    _collection: WebPageCollection | None = None

    async def find_passages(self, query: str) -> tuple[FoundPassage, ...]:
        if self._collection is None:
            self._collection = await self.open_collection()
        collection = self._collection
        own_query = keep_own_words(query[: 4 * MAX_QUERY_CHARACTERS], collection.question, self.subject)
        self._check_call(own_query, collection)
        asked = read_web_question(own_query, collection.question.analyser, collection.language)
        web_round = await collection.collect_pages([own_query], asked)
        found = await _rank_passages(own_query, collection.pages)
        texts = [f"{passage.hit.title}\n{passage.hit.text}" for passage in found]
        completeness = await measure_completeness(texts, asked, collection.meanings)
        self.rounds.append(replace(web_round, completeness=completeness.score))
        if collection.failure and not found:
            raise UnusableToolCall("The web cannot be searched at the moment.")
        return found

    def _check_call(self, own_query: str, collection: WebPageCollection) -> None:
        """Raises `UnusableToolCall`."""
        if not own_query:
            raise UnusableToolCall("The query needs words of the question; others are not sent.")
        if own_query in collection.asked_queries:
            raise UnusableToolCall("The web was searched for these words; others of the question may find more.")
        if collection.failure or collection.remaining_time <= timedelta():
            raise UnusableToolCall("The web cannot be searched at the moment.")
        if len(self.rounds) >= self.settings.web_rounds:
            raise UnusableToolCall("The web was searched often enough for this question.")

    async def build_report(self, outcome: Outcome) -> WebSearchReport | None:
        """What the model's searches found, and the outcome if it cites their pages; None if it has not searched."""
        collection = self._collection
        if collection is None or not self.rounds:
            return None
        answer = outcome if isinstance(outcome, Answer) and cites_web(outcome) else None
        texts = web_texts_of(outcome) if answer is None else [_text_of(citation) for citation in answer.citations]
        completeness = await measure_completeness(texts, collection.question, collection.meanings)
        return WebSearchReport(
            rounds=tuple(self.rounds),
            status=self._status_for(answer, completeness, collection),
            completeness=completeness,
            answer=answer,
            pages=tuple(collection.pages.pages.values()),
            failure=collection.failure,
        )

    def _status_for(
        self, answer: Answer | None, completeness: EvidenceCompleteness, collection: WebPageCollection
    ) -> WebSearchStatus:
        if answer is None:
            is_unavailable = collection.failure and not collection.pages.pages
            return WebSearchStatus.UNAVAILABLE if is_unavailable else WebSearchStatus.NOTHING_FOUND
        is_complete = completeness.score >= self.settings.web_completeness
        return WebSearchStatus.COMPLETE if is_complete else WebSearchStatus.BEST_AVAILABLE


def _text_of(citation: Citation) -> str:
    return f"{citation.title}\n{citation.text}"


async def _rank_passages(query: str, pages: WebPageIndex) -> tuple[FoundPassage, ...]:
    """Returns the best passages of all pages so far."""
    if not pages.pages:
        return ()
    search = unfiltered_search_of(WEB_BUCKET)
    by_words = KeywordPassageRequest(search, query, _FETCHED_PASSAGES)
    by_meaning = SemanticPassageRequest(search, query, _FETCHED_PASSAGES)
    answers = await pages.scoped_index().answer_requests(by_words, by_meaning)
    fused = fuse_hits({"text": answers[by_words], "semantic": answers[by_meaning]})
    return tuple(fused[:_RETURNED_PASSAGES])

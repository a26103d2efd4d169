"""The rounds of one web search: each asks the server, ranks the URLs that it finds, and reads the promising pages."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agent.evidence.word_meanings import WordMeanings
from agent.outcome import SearchAttempt
from agent.web_search.asked_words import WebQuestion
from agent.web_search.url_ranking import MIN_URL_SCORE, choose_promising, rank_urls, score_of_url
from agent.web_search.web_results import RankedUrl, WebResult
from agent.web_search.web_usage import WebUsage
from bot.progress import ProgressCallback
from bot.translation import translate_message
from bot.web_search.errors import WebSearchUnavailable
from bot.web_search.web_pages import LoadedUrl, WebPageIndex
from bot.web_search.web_report import WebRound

if TYPE_CHECKING:
    from bot.web_search.searxng_client import SearxngClient

_TIME_SHARE: Final = 0.6  # of the time for a question, after which no further round begins


@dataclass(slots=True, kw_only=True)
class WebPageCollection:
    """The pages of one search, and what was asked and seen for them. A URL is ranked and read once.

    `failure`: why the server could not be asked; empty if it could.
    """

    question: WebQuestion
    client: "SearxngClient"
    pages: WebPageIndex
    meanings: WordMeanings
    language: str
    time_limit: timedelta  # for the whole question
    report_progress: ProgressCallback
    report_attempt: Callable[[SearchAttempt], None]
    usage: WebUsage = field(default_factory=WebUsage)
    asked_queries: list[str] = field(default_factory=list[str])
    seen_urls: set[str] = field(default_factory=set[str])
    waiting: list[RankedUrl] = field(default_factory=list[RankedUrl])  # promising, not read yet
    attempts: list[SearchAttempt] = field(default_factory=list[SearchAttempt])
    started: float = field(default_factory=time.monotonic)
    failure: str = ""

    @property
    def remaining_time(self) -> timedelta:
        """What is left for searching and reading; the rest of the time is for answering."""
        return self.time_limit * _TIME_SHARE - timedelta(seconds=time.monotonic() - self.started)

    async def collect_pages(self, queries: Sequence[str], asked: WebQuestion | None = None) -> WebRound:
        """Returns the round, not judged yet. `asked`: what the pages are to be about; None: the whole question.

        Raises what the index and the database raise, and `OSError`.
        """
        self.report_progress(translate_message("Searching the web …"))
        results = await self._ask_server(queries)
        new_results = [result for result in results if result.url not in self.seen_urls]
        self.seen_urls |= {result.url for result in new_results}
        ranked = await rank_urls(new_results, asked or self.question, self.meanings)
        candidates = sorted((*self.waiting, *ranked), key=score_of_url, reverse=True)
        promising = choose_promising(candidates)
        self.waiting = [url for url in candidates if url.score >= MIN_URL_SCORE and url not in promising]
        loaded: list[LoadedUrl] = []
        if promising:
            self.report_progress(translate_message("Reading pages of the web …"))
            urls = [url.result.url for url in promising]
            loaded = await self.pages.add_pages(urls, max(self.remaining_time, timedelta(seconds=1)))
        return WebRound(queries=tuple(queries), ranked=ranked, loaded=tuple(loaded))

    async def _ask_server(self, queries: Sequence[str]) -> list[WebResult]:
        results: list[WebResult] = []
        for query in queries:
            started = time.monotonic()
            self.asked_queries.append(query)
            self.usage.requests += 1
            try:
                found = await self.client.find_pages(query, self.language)
            except WebSearchUnavailable as exc:
                self.failure = exc.reason
                break
            results += found
            ms = round((time.monotonic() - started) * 1000, 1)
            attempt = SearchAttempt(tool="search_web", arguments={"query": query}, documents=len(found), ms=ms)
            self.attempts.append(attempt)
            self.report_attempt(attempt)
        return results

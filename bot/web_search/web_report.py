"""What a web search did and found: for the answer's note, the JSON of the result, and the metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any as Json

from agent.outcome import Answer, SearchAttempt
from agent.web_search.completeness import EvidenceCompleteness
from agent.web_search.web_results import RankedUrl
from bot.web_search.web_pages import LoadedUrl, WebPage


class WebSearchStatus(StrEnum):
    COMPLETE = "complete"
    BEST_AVAILABLE = "best_available"  # an answer, though less complete than the setting wants
    NOTHING_FOUND = "nothing_found"
    UNAVAILABLE = "unavailable"  # the search server did not answer, and no page was read before


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRound:
    """One round: its queries, the URLs that they found, best first, and what became of the promising ones."""

    queries: tuple[str, ...]
    ranked: tuple[RankedUrl, ...] = ()
    loaded: tuple[LoadedUrl, ...] = ()
    completeness: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearchReport:
    """`answer` is as the agent gave it over documents and pages; None: no page answers. `is_sure` False: it may not
    answer the question. `pages` are all that were read.

    `failure`: why the search server could not be asked; empty if it could.
    """

    rounds: tuple[WebRound, ...]
    status: WebSearchStatus
    completeness: EvidenceCompleteness
    answer: Answer | None = None
    is_sure: bool = True
    pages: Sequence[WebPage] = ()
    attempts: tuple[SearchAttempt, ...] = ()
    failure: str = ""

    @property
    def found_count(self) -> int:
        """URLs that the server found, each counted once."""
        return len({ranked.result.url for web_round in self.rounds for ranked in web_round.ranked})

    @property
    def crawled_count(self) -> int:
        """URLs that were fetched over the network."""
        return sum(loaded.is_fetched for web_round in self.rounds for loaded in web_round.loaded)

    @property
    def request_count(self) -> int:
        """Requests to the search server."""
        return sum(len(web_round.queries) for web_round in self.rounds)

    @property
    def byte_count(self) -> int:
        """Bytes of the pages that were fetched, uncompressed."""
        return sum(loaded.byte_count for web_round in self.rounds for loaded in web_round.loaded)

    def to_json(self) -> dict[str, Json]:
        return {
            "status": self.status.value,
            "iterations": len(self.rounds),
            "completeness": self.completeness.score,
            "reason": self.completeness.reason,
            "gaps": list(self.completeness.gaps),
            "urls_found": self.found_count,
            "urls_crawled": self.crawled_count,
            "requests": self.request_count,
            "bytes": self.byte_count,
            "search_history": [_round_to_json(web_round) for web_round in self.rounds],
        }


def report_of_timeout() -> WebSearchReport:
    """The report of a search that did not end in time."""
    reason = "the search took too long"
    return WebSearchReport(
        rounds=(),
        status=WebSearchStatus.UNAVAILABLE,
        completeness=EvidenceCompleteness(score=0.0, reason=reason, gaps=()),
        failure=reason,
    )


def _round_to_json(web_round: WebRound) -> dict[str, Json]:
    return {
        "queries": list(web_round.queries),
        "completeness": web_round.completeness,
        "urls": [
            {"url": ranked.result.url, "score": ranked.score, "reason": ranked.reason} for ranked in web_round.ranked
        ],
        "pages": [_loading_to_json(loaded) for loaded in web_round.loaded],
    }


def _loading_to_json(loaded: LoadedUrl) -> dict[str, Json]:
    if loaded.page is None:
        return {"url": loaded.url, "fetched": None, "problem": loaded.reason}
    return {"url": loaded.page.url, "fetched": loaded.page.fetched_at.isoformat(), "problem": None}

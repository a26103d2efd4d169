"""Ranks the URLs of a web search by title and snippet, so that only promising pages are fetched."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote, urlsplit

from agent.evidence.word_meanings import WordMeanings
from agent.web_search.asked_words import WebQuestion, WordCoverage
from agent.web_search.web_results import RankedUrl, WebResult

MIN_URL_SCORE: Final = 0.7
MAX_PROMISING_URLS: Final = 3
_NO_NAME_SCORE: Final = 0.5  # at most, of a page that names nothing that the question names
_TITLE_SHARE: Final = 0.1  # of the score: how much of the question the title and the address hold by themselves


async def rank_urls(
    results: Iterable[WebResult], question: WebQuestion, meanings: WordMeanings
) -> tuple[RankedUrl, ...]:
    """Returns each URL once, with its score from 0 to 1 and the reason for it, the best first; ties keep their order.

    The score is the share of the question's words that title and snippet hold. Names and the gaps weigh more.
    """
    first_by_url = {result.url: result for result in reversed(list(results))}
    ranked = [await _rank_result(result, question, meanings) for result in reversed(first_by_url.values())]
    return tuple(sorted(ranked, key=score_of_url, reverse=True))


def choose_promising(ranked: Iterable[RankedUrl]) -> tuple[RankedUrl, ...]:
    """Returns the best three of the ranked URLs, of those that score 0.7 or more."""
    return tuple(url for url in ranked if url.score >= MIN_URL_SCORE)[:MAX_PROMISING_URLS]


async def _rank_result(result: WebResult, question: WebQuestion, meanings: WordMeanings) -> RankedUrl:
    heading = f"{result.title} {_words_of_path(result.url)}"
    in_all = await question.cover_words(f"{heading} {result.snippet}", meanings)
    in_heading = await question.cover_words(heading, meanings)
    score = in_all.share * (1 - _TITLE_SHARE) + in_heading.share * _TITLE_SHARE
    if not in_all.holds_name:
        score = min(score, _NO_NAME_SCORE)
    return RankedUrl(result=result, score=round(score, 2), reason=_reason_for(in_all))


def _reason_for(coverage: WordCoverage) -> str:
    if not coverage.held_words:
        return "title and snippet hold no word of the question"
    held = f"title and snippet hold {', '.join(coverage.held_words)}"
    return f"{held}, not {', '.join(coverage.missing_words)}" if coverage.missing_words else held


def _words_of_path(url: str) -> str:
    try:
        return unquote(urlsplit(url).path).replace("_", " ").replace("-", " ").replace("/", " ")
    except ValueError:
        return ""


def score_of_url(ranked: RankedUrl) -> float:
    return ranked.score

"""How completely a result answers its question, for programs that decide whether to ask on."""

from collections.abc import Mapping, Sequence
from typing import Any as Json
from typing import Final

from agent.evidence.word_meanings import WordMeanings
from agent.rules.words.language_detection import choose_reply_language
from agent.web_search.asked_words import read_web_question
from agent.web_search.completeness import EvidenceCompleteness, measure_completeness
from bot.turns.turn_processor import FinishedTurn

COMPLETE_FROM: Final = 0.8
_STATUS_BY_OUTCOME: Final = {
    "no_results": "nothing_found",
    "overload": "needs_choice",
    "ambiguous": "needs_choice",
    "refused": "refused",
    "failed": "failed",
}
_VALUE_ROUTE: Final = "structured"


async def summarise_evidence(finished: FinishedTurn) -> dict[str, Json]:
    """Returns success, status, rounds of searching, and the completeness from 0 to 1 with its reason and gaps.

    The judge is the search of the web, else the model, where there was one; else the words of the question in the cited
    sentences. What was counted or computed from values is complete. Without an answer the completeness is 0.
    """
    result, is_success = finished.result, finished.result["outcome"] == "answer"
    completeness = await _judge_answer(finished) if is_success else _nothing_in(finished)
    answered = "complete" if completeness.score >= COMPLETE_FROM else "best_available"
    return {
        "success": is_success,
        "status": answered if is_success else _STATUS_BY_OUTCOME.get(result["outcome"], "failed"),
        "iterations": _rounds_of(finished),
        "completeness": completeness.score,
        "reason": completeness.reason,
        "gaps": list(completeness.gaps),
    }


def _nothing_in(finished: FinishedTurn) -> EvidenceCompleteness:
    web = _web_of(finished)
    gaps = tuple(web["gaps"]) if web is not None else ()
    return EvidenceCompleteness(score=0.0, reason="there is no answer yet", gaps=gaps)


def _rounds_of(finished: FinishedTurn) -> int:
    web = _web_of(finished)
    return len(_reviews_of(finished)) or 1 if web is None else web["iterations"]


async def _judge_answer(finished: FinishedTurn) -> EvidenceCompleteness:
    result = finished.result
    web, reviews = _web_of(finished), _reviews_of(finished)
    if web is not None and web["status"] in ("complete", "best_available"):
        return EvidenceCompleteness(score=web["completeness"], reason=web["reason"], gaps=tuple(web["gaps"]))
    if result["files"] or result["route"] is None:
        return EvidenceCompleteness(score=1.0, reason="it needs no evidence", gaps=())
    if result["route"] == _VALUE_ROUTE:
        return EvidenceCompleteness(score=1.0, reason="it is counted or computed from values", gaps=())
    if reviews:
        last = reviews[-1]
        gaps = tuple(map(str, last["missing"]))
        return EvidenceCompleteness(score=last["completeness"], reason=str(last["reasoning"]), gaps=gaps)
    return await _measure_citations(result)


async def _measure_citations(result: Mapping[str, Json]) -> EvidenceCompleteness:
    from storage.text.snowball_analyser import analyser_for

    language = choose_reply_language(result["question"], None)
    question = read_web_question(result["question"], analyser_for(language), language)
    texts = [f"{citation['title']}\n{citation['text']}" for citation in result["citations"]]
    return await measure_completeness(texts, question, WordMeanings(None))


def _web_of(finished: FinishedTurn) -> Mapping[str, Json] | None:
    return finished.result.get("web")


def _reviews_of(finished: FinishedTurn) -> Sequence[Mapping[str, Json]]:
    return finished.reasoning.get("reviews", ())

"""A reasoner that asks the answerer as the model reasoner does, and replies of a model to write in tests."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any as Json

from agent.model.answering.evidence_answerer import AnswerOptions, EvidenceAnswerer
from agent.reasoning_log import ReasoningLog
from agent.review.leg_review import Decision, LegReview, More
from agent.rules.reasoner import RuleReasoner
from storage.search.plan import LegCombination
from tests.agent.model.scripted_model import ScriptedModel


class AnsweringReasoner(RuleReasoner):
    """Takes the decisions of the rules, then has the answerer answer every leg."""

    def __init__(
        self,
        model: ScriptedModel,
        log: ReasoningLog,
        options: AnswerOptions | None = None,
        *,
        language: str = "en",
        summary: str = "",
    ) -> None:
        super().__init__()
        self._answerer = EvidenceAnswerer(model, options)
        self._log, self._language, self._summary = log, language, summary

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        decisions = await super().review_legs(reviews, combination, is_last_round=is_last_round)
        return [
            decision
            if isinstance(decision, More)
            else await self._answerer.answer_leg(
                self._in_language(review), decision, is_last_round=is_last_round, is_simple=len(reviews) == 1
            )
            for review, decision in zip(reviews, decisions, strict=True)
        ]

    def _in_language(self, review: LegReview) -> LegReview:
        """The review in the language, with the summary and the log of the test."""
        context = replace(review.question_context, reasoning_log=self._log, conversation_summary=self._summary)
        return replace(review, language=self._language, question_context=context)


def a_sentence(text: str, *evidence: int, quote: str = "") -> dict[str, Json]:
    return {"text": text, "evidence": list(evidence), "quote": quote}


def a_reply(
    *sentences: dict[str, Json],
    completeness: float = 1.0,
    missing: Sequence[str] = (),
    queries: Sequence[str] = (),
    verdict: str = "none",
    contradiction: dict[str, Json] | None = None,
    layout: str = "prose",
    columns: Sequence[str] = (),
) -> str:
    return json.dumps(
        {
            "completeness": completeness,
            "reasoning": "because",
            "missing": list(missing),
            "queries": list(queries),
            "verdict": verdict,
            "contradiction": contradiction,
            "layout": layout,
            "columns": list(columns),
            "sentences": list(sentences),
        },
        ensure_ascii=False,
    )

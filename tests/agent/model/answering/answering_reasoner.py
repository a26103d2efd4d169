"""A reasoner that asks the answerer as the model reasoner does, and replies of a model to write in tests."""

import json
from collections.abc import Sequence
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
        self._answerer, self._log, self._rounds = EvidenceAnswerer(model, options), log, 0
        self._language, self._summary = language, summary

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        self._rounds += 1
        decisions = await super().review_legs(reviews, combination, is_last_round=is_last_round)
        return [
            decision
            if isinstance(decision, More)
            else await self._answerer.answer_leg(
                review,
                decision,
                self._log,
                round_=self._rounds,
                is_last_round=is_last_round,
                language=self._language,
                summary=self._summary,
            )
            for review, decision in zip(reviews, decisions, strict=True)
        ]


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

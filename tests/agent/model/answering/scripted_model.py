"""A language model whose replies a test writes, and a reasoner that asks it as the model reasoner does."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any as Json

from agent.errors import StreamCut
from agent.gateway.messages import ModelReply, ModelRequest
from agent.model.answering.evidence_answerer import AnswerOptions, EvidenceAnswerer
from agent.reasoning_log import ModelCallRecord, ReasoningLog
from agent.review.leg_review import Decision, LegReview, More
from agent.rules.reasoner import RuleReasoner
from storage.search.plan import LegCombination


@dataclass(frozen=True, slots=True, kw_only=True)
class CutText:
    """The text that comes before a stream is cut."""

    text: str


@dataclass(slots=True)
class ScriptedModel:
    """Gives the replies in order. A text that is an exception is raised; a `CutText` ends in `StreamCut`."""

    replies: list[str | CutText | Exception]
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])
    streamed: list[bool] = field(default_factory=list[bool])
    piece_characters: int = 7

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        reply = self._take(request, log, is_streamed=False)
        if isinstance(reply, CutText):
            raise StreamCut("the model stopped")
        return ModelReply(text=reply, model="scripted")

    async def stream_text(self, request: ModelRequest, log: ReasoningLog) -> AsyncIterator[str]:
        reply = self._take(request, log, is_streamed=True)
        text = reply.text if isinstance(reply, CutText) else reply
        for start in range(0, len(text), self.piece_characters):
            await asyncio.sleep(0)
            yield text[start : start + self.piece_characters]
        if isinstance(reply, CutText):
            raise StreamCut("the model stopped")

    def _take(self, request: ModelRequest, log: ReasoningLog, *, is_streamed: bool) -> str | CutText:
        self.requests.append(request)
        self.streamed.append(is_streamed)
        reply = self.replies.pop(0)
        error = str(reply) if isinstance(reply, Exception) else ""
        log.calls.append(ModelCallRecord(prompt=request.prompt, model="scripted", ms=1.0, error=error))
        if isinstance(reply, Exception):
            raise reply
        return reply

    def user_text(self, call: int) -> str:
        """The data of a call."""
        return self.requests[call].messages[1].content


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

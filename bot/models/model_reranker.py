"""The reranker of `PARLEY_RERANKER` if that is the name of a reranking model: passages are scored by the gateway."""

import math
from collections.abc import Sequence
from typing import Protocol

from agent.errors import ModelUnavailable, RerankerUnavailable
from agent.reasoning_log import ReasoningLog, active_reasoning_log

_MAX_TEXT_CHARS = 20_000  # code points passed on; models read less


class PassageScoreSource(Protocol):
    """The part of `ModelGateway` that reranks."""

    async def score_passages(self, query: str, texts: Sequence[str], log: ReasoningLog) -> Sequence[float]:
        """Returns how relevant each text is to the query, in the order of the texts. Raises `ModelUnavailable`."""
        ...


class ModelReranker:
    """Implements `agent.retrieval.relevance.Reranker`. Blank texts are not sent: they get the lowest score."""

    def __init__(self, model: str, source: PassageScoreSource) -> None:
        self._model, self._source = model, source

    async def score_passages(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        sent_texts = [_sendable_text(text) for text in texts]
        distinct = [text for text in dict.fromkeys(sent_texts) if text.strip()]
        if not distinct:
            return [0.0] * len(texts)
        try:
            scores = await self._source.score_passages(_sendable_text(question), distinct, active_reasoning_log())
        except ModelUnavailable as exc:
            raise RerankerUnavailable(f"the model {self._model} does not answer ({exc})") from exc
        if len(scores) != len(distinct) or not all(map(math.isfinite, scores)):
            raise RerankerUnavailable(f"the model {self._model} returns something else than a number a text")
        score_by_text = dict(zip(distinct, map(float, scores), strict=True))
        return [score_by_text.get(text, min(score_by_text.values())) for text in sent_texts]


def _sendable_text(text: str) -> str:
    """Replaces lone surrogates, which JSON in UTF-8 cannot hold."""
    return text[:_MAX_TEXT_CHARS].encode(errors="replace").decode()

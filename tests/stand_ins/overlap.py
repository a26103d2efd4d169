"""A reranker without a model: the share of the question's words that a text holds."""

import re
from collections.abc import Sequence

_WORD = re.compile(r"[a-z]+")


class OverlapReranker:
    """Fulfils `agent.rerank.Reranker`, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append((question, tuple(texts)))
        wanted = set(_WORD.findall(question.lower()))
        return [len(wanted & set(_WORD.findall(text.lower()))) / max(len(wanted), 1) for text in texts]

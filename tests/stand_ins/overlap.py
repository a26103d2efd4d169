"""A reranker without a model: its score is the share of the question's words that a text contains."""

import re
from collections.abc import Sequence

_WORD = re.compile(r"[a-z]+")


class OverlapReranker:
    """Fulfils `agent.retrieval.relevance.Reranker` and records its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[str, ...]]] = []

    async def score_passages(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.calls.append((question, tuple(texts)))
        question_words = set(_WORD.findall(question.lower()))
        return [len(question_words & set(_WORD.findall(text.lower()))) / max(len(question_words), 1) for text in texts]

"""Sources of vectors, scores and replies in place of the gateway, which keep what they were asked for."""

from collections.abc import AsyncIterator, Callable, Sequence

from agent.errors import ModelUnavailable
from agent.gateway.messages import ModelReply, ModelRequest
from agent.reasoning_log import ModelCallRecord, ReasoningLog
from tests.stand_ins.overlap import OverlapReranker
from tests.stand_ins.word_vectors import ChecksumEmbedder


class ChecksumVectorSource:
    """Embeds as `ChecksumEmbedder`, times `scale`. Fails once `remaining_calls` are made."""

    def __init__(self, *, dimensions: int = 64, scale: float = 3.0, remaining_calls: int = 1_000) -> None:
        self.embedder, self.scale, self.remaining_calls = (
            ChecksumEmbedder(dimensions=dimensions),
            scale,
            remaining_calls,
        )
        self.batches = list[list[str]]()

    async def load(self) -> None: ...

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    async def embed_texts(self, texts: Sequence[str], log: ReasoningLog) -> Sequence[Sequence[float]]:
        if not self.remaining_calls:
            raise ModelUnavailable("unreachable")
        self.remaining_calls -= 1
        self.batches.append(list(texts))
        log.calls.append(ModelCallRecord(prompt="embed", model="vectors", ms=1.0, input_tokens=len(texts)))
        vectors = await self.embedder.embed_texts(texts)
        vectors[:, 0] += 0.01  # a text without words has a vector too
        return (vectors * self.scale).tolist()


class OverlapScoreSource:
    """Scores by common words. Fails while `is_failing`."""

    def __init__(self) -> None:
        self.is_failing = False
        self.queries = list[tuple[str, list[str]]]()

    async def score_passages(self, query: str, texts: Sequence[str], log: ReasoningLog) -> Sequence[float]:
        if self.is_failing:
            raise ModelUnavailable("unreachable")
        self.queries.append((query, list(texts)))
        log.calls.append(ModelCallRecord(prompt="rerank", model="scores", ms=1.0, input_tokens=len(texts)))
        return await OverlapReranker().score_passages(query, texts)


class AnsweringModel:
    """Implements `LanguageModel` by a function from the request to the reply's text.

    The function may raise `ModelUnavailable`.
    """

    def __init__(self, answer: Callable[[ModelRequest], str]) -> None:
        self._answer = answer
        self.requests = list[ModelRequest]()

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        self.requests.append(request)
        text = self._answer(request)
        log.calls.append(ModelCallRecord(prompt=request.prompt, model="scripted", ms=1.0, input_tokens=10))
        return ModelReply(text=text, model="scripted", input_tokens=10, output_tokens=5)

    async def stream_text(self, request: ModelRequest, log: ReasoningLog) -> AsyncIterator[str]:
        yield (await self.complete(request, log)).text

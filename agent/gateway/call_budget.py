"""A bound on how often one turn asks language models, whatever stage asks, and also where stages ask side by side."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from agent.errors import CallsUsedUp
from agent.gateway.language_model import LanguageModel
from agent.gateway.messages import ModelReply, ModelRequest
from agent.reasoning_log import ReasoningLog


class BudgetedModel:
    """Implements `LanguageModel`: asks `model` at most `max_calls` times for each log, then raises `CallsUsedUp`.

    A request counts once, with all its retries and fallback models. Embeddings and scores do not count.
    """

    def __init__(self, model: LanguageModel, max_calls: int) -> None:
        self._model, self._max_calls = model, max_calls

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        self._count_request(log)
        return await self._model.complete(request, log)

    async def stream_text(self, request: ModelRequest, log: ReasoningLog) -> AsyncGenerator[str]:
        self._count_request(log)
        texts = self._model.stream_text(request, log)
        if isinstance(texts, AsyncGenerator):  # it ends the request where it is not read to its end
            async with aclosing(cast(AsyncGenerator[str], texts)) as closed_texts:
                async for text in closed_texts:
                    yield text
        else:
            async for text in texts:
                yield text

    def _count_request(self, log: ReasoningLog) -> None:
        if log.model_requests >= self._max_calls:
            raise CallsUsedUp("no calls left")
        log.model_requests += 1

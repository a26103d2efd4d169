"""The gateway to language models: one object for all turns of a process."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from agent.gateway.messages import ModelReply, ModelRequest
from agent.gateway.model_client import ModelClient
from agent.gateway.options import GatewayOptions
from agent.gateway.spending import SpendingGuard
from agent.reasoning_log import ModelCallRecord, ReasoningLog

CallObserver = Callable[[ModelCallRecord], None]


class ModelGateway:
    """Sends requests to the model of their role, with retries, fallback models, a circuit for each model, bounds on
    calls at once, and a guard over what they cost. Implements `LanguageModel`.

    Each try of each model is a call of its own: it is appended to the log of its turn, and given to `observers`.
    `load` must have returned before the first call; `close` ends what is open.
    """

    def __init__(
        self,
        options: GatewayOptions,
        client: ModelClient,
        spending: SpendingGuard | None = None,
        *,
        observers: Sequence[CallObserver] = (),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None: ...

    async def load(self) -> None:
        """Loads the library of the client in a thread, which takes seconds."""

    async def close(self) -> None: ...

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        """Returns the whole reply. Raises `ModelUnavailable`; of it `SpendingCapReached` if the tenant may spend no
        more.
        """

    def stream_text(self, request: ModelRequest, log: ReasoningLog) -> AsyncIterator[str]:
        """Yields the text of the reply in pieces as it arrives. A failure before the first piece is retried and falls
        back like in `complete`. Raises `ModelUnavailable`; `StreamCut` if the stream ends early, after the pieces that
        came.
        """

    async def embed_texts(self, texts: Sequence[str], log: ReasoningLog) -> Sequence[Sequence[float]]:
        """Returns the vector of each text, in their order. Never falls back: vectors of another model differ. Raises
        `ModelUnavailable`.
        """

    async def score_passages(self, query: str, texts: Sequence[str], log: ReasoningLog) -> Sequence[float]:
        """Returns how relevant each text is to the query, in the order of the texts. Raises `ModelUnavailable`."""

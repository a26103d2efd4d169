"""The protocol of a language model, as the model reasoner uses it. `ModelGateway` implements it."""

from collections.abc import AsyncIterator
from typing import Protocol

from agent.gateway.messages import ModelReply, ModelRequest
from agent.reasoning_log import ReasoningLog


class LanguageModel(Protocol):
    """Answers requests with the model of their role. Each call is appended to the `ReasoningLog` of the turn."""

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        """Returns the whole reply. Raises `ModelUnavailable`."""
        ...

    def stream_text(self, request: ModelRequest, log: ReasoningLog) -> AsyncIterator[str]:
        """Yields the text of the reply in pieces as it arrives. Raises `ModelUnavailable`; `StreamCut` if the stream
        ends early, after the pieces that came.
        """
        ...

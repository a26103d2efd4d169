"""The protocol of a client that sends single requests to model servers, without retries. `LiteLlmClient` implements
it.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from agent.gateway.messages import ChatMessage, OutputSchema, ToolCall, ToolDefinition
from agent.gateway.options import ModelPrice, ModelServer


class FailureKind(StrEnum):
    """Why a call failed, as far as what to do next depends on it. The value is for operators."""

    REFUSED_REQUEST = "refused the request"  # 400, 413, 422: no other model would take it
    REFUSED_ACCESS = "refused access"  # 401, 402, 403: another model may answer
    NOT_FOUND = "no such model or address"  # 404
    NO_KEY = "no API key is set"  # the server was not asked
    NO_ADDRESS = "no API address is set"  # the server was not asked
    UNKNOWN_PROVIDER = "the name has no known provider"  # no server was asked
    BUSY = "too many requests"  # 429
    SERVER_ERROR = "server error"  # 408, 409, 5xx
    UNREACHABLE = "the connection failed"
    BROKEN_REPLY = "unreadable reply"  # the server answered, but not as the API says
    TIMED_OUT = "timed out"
    NO_PRICE = "its price is unknown, and spending is capped"  # the server was not asked
    NO_SLOT = "too many calls at once"  # of our own; the server was not asked
    CUT = "stopped in the middle"


class CallFailed(Exception):
    """One call to one model failed. The message is for operators: it may quote the server. `status` is None unless
    the server sent one.
    """

    def __init__(
        self, kind: FailureKind, message: str = "", *, status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """What the server counted."""

    input_tokens: int
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCall:
    """One request for one model. `output_schema` and `temperature` are None where they are not to be sent."""

    model: str
    server: ModelServer
    messages: tuple[ChatMessage, ...]
    max_output_tokens: int
    output_schema: OutputSchema | None = None
    tools: tuple[ToolDefinition, ...] = ()
    temperature: float | None = None
    asks_for_usage: bool = True  # at the end of a stream


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatResult:
    """The reply of one model. `usage` is None if the server counted nothing. `refusal`: why it declined to answer."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    is_truncated: bool = False
    refusal: str = ""
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPiece:
    """A piece of the text of a streamed reply, or the usage, which comes last."""

    text: str = ""
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingCall:
    """`dimensions` is None for the model's own."""

    model: str
    server: ModelServer
    texts: tuple[str, ...]
    dimensions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingResult:
    """One vector for each text, in their order."""

    vectors: tuple[tuple[float, ...], ...] = field(repr=False)
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankCall:
    """Asks how relevant each text is to the query."""

    model: str
    server: ModelServer
    query: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankResult:
    """One score for each text, in their order; higher is more relevant."""

    scores: tuple[float, ...]
    usage: TokenUsage | None = None


class ModelClient(Protocol):
    """Sends one request and returns what came. Each method raises `CallFailed`, and stops the request if cancelled."""

    async def load(self) -> None:
        """Makes the client ready. The other methods need it."""
        ...

    async def close(self) -> None: ...

    def price_of(self, model: str) -> ModelPrice | None:
        """Returns the price that the client knows. None: unknown; a model that costs nothing has a price of 0."""
        ...

    async def complete_chat(self, call: ChatCall) -> ChatResult: ...

    def stream_chat(self, call: ChatCall) -> AsyncGenerator[StreamPiece]:
        """Raises `CallFailed` also where the stream ends before the model says so. `aclose` stops the request."""
        ...

    async def embed_texts(self, call: EmbeddingCall) -> EmbeddingResult: ...

    async def score_texts(self, call: RerankCall) -> RerankResult: ...

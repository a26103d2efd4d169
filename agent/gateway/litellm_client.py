"""The one caller of litellm.

Its own retries, fallbacks and timeouts stay off: they wait as long as a server asks, and repeat what was refused. The
gateway has its own.
"""

import asyncio
import math
import os
import re
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, cast
from typing import Any as Json

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.gateway.messages import ChatMessage, MessageRole, OutputSchema, ToolCall, ToolDefinition
from agent.gateway.model_client import (
    CallFailed,
    ChatCall,
    ChatResult,
    EmbeddingCall,
    EmbeddingResult,
    FailureKind,
    RerankCall,
    RerankResult,
    StreamPiece,
    TokenUsage,
)
from agent.gateway.options import ModelPrice, ModelServer

# Read when litellm is imported: no request of its own, no `.env` of others, no log of prompts.
_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
}
_KINDS_WITHOUT_STATUS = frozenset(
    {FailureKind.UNKNOWN_PROVIDER, FailureKind.NO_KEY, FailureKind.UNREACHABLE, FailureKind.BROKEN_REPLY}
)
# Without an address, litellm sends what is meant for a server of one's own to api.openai.com.
_OWN_SERVER_VARIABLES = {"hosted_vllm": "HOSTED_VLLM_API_BASE", "lm_studio": "LM_STUDIO_API_BASE"}
# litellm keeps a client, with its connections, for each value: the deadlines are the gateway's.
_TIMEOUT_S = 600.0
_TOKENS_A_PRICE = 1_000_000
_REFUSED_REQUEST, _REFUSED_ACCESS = frozenset({400, 413, 422}), frozenset({401, 402, 403})
_NOT_FOUND, _BUSY = 404, 429
_UNKNOWN_PROVIDER_MESSAGES = ("LLM Provider NOT provided", "Unmapped LLM provider")
_MISSING_KEY_PATTERN = re.compile(r"Missing (?:credentials|\w+ API Key)", re.IGNORECASE)
_CONNECTION_MESSAGES = ("Connection error", "Cannot connect to host", "Name or service not known")


class LiteLlmClient:
    """Sends requests with litellm, which is loaded at the first of them, in a thread. Implements `ModelClient`."""

    def __init__(self) -> None:
        self._loading: asyncio.Task[Json] | None = None
        self._library: Json = None

    async def load(self) -> None:
        if self._library is None:
            self._loading = self._loading or asyncio.create_task(asyncio.to_thread(_import_library))
            self._library = await asyncio.shield(self._loading)

    async def close(self) -> None:
        if self._library is not None:
            await self._library.close_litellm_async_clients()
            self._library.in_memory_llm_clients_cache.flush_cache()  # else it gives the closed clients to the next

    def price_of(self, model: str) -> ModelPrice | None:
        """As litellm's own list has it. `load` must have returned."""
        provider, name = model.split("/", 1) if "/" in model else ("", model)
        costs = cast(Mapping[str, Mapping[str, Json]], self._library.model_cost)
        entry = costs.get(model) or costs.get(name, {})
        if not str(entry.get("litellm_provider", "")).startswith(provider):
            return None
        return _price_of_entry(entry)

    async def complete_chat(self, call: ChatCall) -> ChatResult:
        await self.load()
        with self._translated_errors():
            response = await self._library.acompletion(**_chat_arguments(call))
            reply = _ChatReply.model_validate(response, from_attributes=True)
        choice = reply.choices[0]
        return ChatResult(
            text=choice.message.content or "",
            tool_calls=tuple(_tool_calls_of(choice.message)),
            is_truncated=choice.finish_reason == "length",
            refusal=str((choice.message.provider_specific_fields or {}).get("refusal") or ""),
            usage=_usage_of(reply.usage),
        )

    async def stream_chat(self, call: ChatCall) -> AsyncGenerator[StreamPiece]:
        await self.load()
        options = {"stream_options": {"include_usage": True}} if call.asks_for_usage else {}
        with self._translated_errors():
            stream = await self._library.acompletion(**_chat_arguments(call), stream=True, **options)
        try:
            with self._translated_errors():
                async for chunk in stream:
                    piece = _StreamChunk.model_validate(chunk, from_attributes=True)
                    text = "".join(choice.delta.content or "" for choice in piece.choices)
                    yield StreamPiece(text=text, usage=_usage_of(piece.usage))
        finally:
            await stream.aclose()
        # litellm ends every stream with a "stop"; only this attribute says whether the server did.
        if stream.received_finish_reason is None and stream.intermittent_finish_reason is None:
            raise CallFailed(FailureKind.BROKEN_REPLY, "the stream ended early")

    async def embed_texts(self, call: EmbeddingCall) -> EmbeddingResult:
        await self.load()
        dimensions = {} if call.dimensions is None else {"dimensions": call.dimensions}
        with self._translated_errors():
            response = await self._library.aembedding(
                model=call.model,
                input=list(call.texts),
                allowed_openai_params=["dimensions"],
                **dimensions,
                **_server_arguments(call.model, call.server),
            )
            reply = _EmbeddingReply.model_validate(response, from_attributes=True)
        vectors = {vector.index: tuple(vector.embedding) for vector in reply.data}
        if sorted(vectors) != list(range(len(call.texts))):
            raise CallFailed(FailureKind.BROKEN_REPLY, "the reply has not one vector for each text")
        return EmbeddingResult(
            vectors=tuple(vectors[position] for position in range(len(call.texts))), usage=_usage_of(reply.usage)
        )

    async def score_texts(self, call: RerankCall) -> RerankResult:
        await self.load()
        with self._translated_errors():
            response = await self._library.arerank(
                model=call.model,
                query=call.query,
                documents=list(call.texts),
                return_documents=False,
                **_server_arguments(call.model, call.server),
            )
            reply = _RerankReply.model_validate(response, from_attributes=True)
        scores = {result.index: result.relevance_score for result in reply.results}
        if sorted(scores) != list(range(len(call.texts))) or not all(map(math.isfinite, scores.values())):
            raise CallFailed(FailureKind.BROKEN_REPLY, "the reply has not one score for each text")
        return RerankResult(scores=tuple(scores[position] for position in range(len(call.texts))))

    @contextmanager
    def _translated_errors(self) -> Generator[None]:
        """Raises `CallFailed` for each error of litellm, and for a reply that is not as the API says."""
        try:
            yield
        except ValidationError as exc:
            raise CallFailed(FailureKind.BROKEN_REPLY, f"{exc.error_count()} fields are not as they should be") from exc
        except self._library.exceptions.openai.OpenAIError as exc:  # the base of all
            raise _failure_of(exc) from exc


def _price_of_entry(entry: Mapping[str, Json]) -> ModelPrice | None:
    """Returns None for models that are paid by the query, the second or the image: their tokens have a price of 0."""
    is_embedding = entry.get("mode") == "embedding"  # with nothing to pay for but the input
    input_cost = entry.get("input_cost_per_token")
    output_cost = entry.get("output_cost_per_token", 0.0 if is_embedding else None)
    if input_cost is None or output_cost is None:
        return None
    other_costs = [value for key, value in entry.items() if "_cost_per_" in key and isinstance(value, (int, float))]
    if not input_cost and any(other_costs):
        return None
    return ModelPrice(input_usd=input_cost * _TOKENS_A_PRICE, output_usd=output_cost * _TOKENS_A_PRICE)


def _import_library() -> Json:
    os.environ.update(_ENVIRONMENT)
    import litellm

    library = cast(Json, litellm)
    library.suppress_debug_info = True
    library.DEFAULT_MAX_RETRIES = 0  # `aembedding` takes this where `max_retries` is 0
    _finish_import(library)
    return library


def _finish_import(library: Json) -> None:
    """Does here what openai and litellm put off until the first calls, where it would block the event loop."""
    openai = library.exceptions.openai
    openai.resources.chat.completions.AsyncCompletions  # noqa: B018 - imports what it names
    for reply_type in (openai.types.chat.ChatCompletion, openai.types.chat.ChatCompletionChunk):
        reply_type.model_rebuild()
    for reply_type in (library.ModelResponse, library.types.utils.ModelResponseStream, library.EmbeddingResponse):
        reply_type()


class _ReplyPart(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _UsageCounts(_ReplyPart):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _CalledFunction(_ReplyPart):
    name: str | None = None
    arguments: str | None = None


class _ToolCallPart(_ReplyPart):
    id: str | None = None
    function: _CalledFunction


class _MessagePart(_ReplyPart):
    content: str | None = None
    tool_calls: list[_ToolCallPart] | None = None
    provider_specific_fields: dict[str, Json] | None = None


class _ChoicePart(_ReplyPart):
    message: _MessagePart
    finish_reason: str | None = None


class _ChatReply(_ReplyPart):
    choices: Annotated[list[_ChoicePart], Field(min_length=1)]
    usage: _UsageCounts | None = None


class _DeltaPart(_ReplyPart):
    content: str | None = None


class _StreamChoice(_ReplyPart):
    delta: _DeltaPart


class _StreamChunk(_ReplyPart):
    choices: list[_StreamChoice]
    usage: _UsageCounts | None = None


class _VectorPart(_ReplyPart):
    index: int
    embedding: list[Annotated[float, Field(allow_inf_nan=False)]]


class _EmbeddingReply(_ReplyPart):
    data: list[_VectorPart]
    usage: _UsageCounts | None = None


class _ScorePart(_ReplyPart):
    index: int
    relevance_score: float


class _RerankReply(_ReplyPart):
    results: list[_ScorePart]


def _server_arguments(model: str, server: ModelServer) -> dict[str, Json]:
    """What all calls have. An absent address or key is the one that litellm finds in the environment. Raises
    `CallFailed` for a server of one's own without an address.
    """
    address_variable = _OWN_SERVER_VARIABLES.get(model.partition("/")[0])
    if address_variable and not server.api_base and not os.environ.get(address_variable):
        raise CallFailed(FailureKind.NO_ADDRESS, f"{model} needs an address")
    arguments = {"api_base": server.api_base, "api_key": server.api_key}
    present: dict[str, Json] = {name: value for name, value in arguments.items() if value}
    return present | {"timeout": _TIMEOUT_S, "num_retries": 0, "max_retries": 0}


def _chat_arguments(call: ChatCall) -> dict[str, Json]:
    arguments: dict[str, Json] = {
        "model": call.model,
        "messages": [_message_argument(message) for message in call.messages],
        "max_tokens": call.max_output_tokens,
    }
    if call.temperature is not None:
        arguments["temperature"] = call.temperature
    if call.output_schema is not None:
        arguments["response_format"] = _schema_argument(call.output_schema)
    if call.tools:
        arguments["tools"] = [_tool_argument(tool) for tool in call.tools]
        arguments["_skip_mcp_handler"] = True  # else the first call imports an MCP server, for half a second
    return arguments | _server_arguments(call.model, call.server)


def _message_argument(message: ChatMessage) -> dict[str, Json]:
    argument: dict[str, Json] = {"role": message.role.value, "content": message.content}
    if message.role is MessageRole.TOOL:
        argument["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        argument["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return argument


def _schema_argument(schema: OutputSchema) -> dict[str, Json]:
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.name, "schema": dict(schema.schema), "strict": True},
    }


def _tool_argument(tool: ToolDefinition) -> dict[str, Json]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _tool_calls_of(message: _MessagePart) -> Sequence[ToolCall]:
    return [
        ToolCall(
            id=call.id or f"call_{position}", name=call.function.name or "", arguments=call.function.arguments or ""
        )
        for position, call in enumerate(message.tool_calls or ())
    ]


def _usage_of(counts: _UsageCounts | None) -> TokenUsage | None:
    """Zeros are what litellm fills in where the server counted nothing."""
    if counts is None or not counts.prompt_tokens:
        return None
    return TokenUsage(input_tokens=counts.prompt_tokens, output_tokens=counts.completion_tokens or 0)


def _failure_of(error: Exception) -> CallFailed:
    status = cast(int | None, getattr(error, "status_code", None))
    headers = cast(Mapping[str, str] | None, getattr(error, "litellm_response_headers", None))
    message = str(error)
    kind = _kind_of(message, status, has_response=headers is not None)
    return CallFailed(
        kind,
        message,
        status=None if kind in _KINDS_WITHOUT_STATUS else status,
        retry_after_s=_seconds_of((headers or {}).get("retry-after")),
    )


def _kind_of(message: str, status: int | None, *, has_response: bool) -> FailureKind:
    """A failed connection, an unreadable reply and a missing key have status 500 in litellm (some missing keys 401),
    and an unknown provider has 400.
    """
    if any(text in message for text in _UNKNOWN_PROVIDER_MESSAGES):
        return FailureKind.UNKNOWN_PROVIDER
    if not has_response and _MISSING_KEY_PATTERN.search(message):
        return FailureKind.NO_KEY
    if status == _NOT_FOUND:
        return FailureKind.NOT_FOUND
    if status in _REFUSED_ACCESS:
        return FailureKind.REFUSED_ACCESS
    if status in _REFUSED_REQUEST:
        return FailureKind.REFUSED_REQUEST
    if status == _BUSY:
        return FailureKind.BUSY
    if any(text in message for text in _CONNECTION_MESSAGES):
        return FailureKind.UNREACHABLE
    return FailureKind.SERVER_ERROR if has_response or status != 500 else FailureKind.BROKEN_REPLY


def _seconds_of(retry_after: str | None) -> float | None:
    """Returns the seconds from now on, for a number of seconds as for an HTTP date (RFC 9110, 10.2.3); None for
    anything else.
    """
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return _seconds_until(retry_after or "")
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(http_date: str) -> float | None:
    try:
        date = parsedate_to_datetime(http_date)
    except ValueError:
        return None
    aware_date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max((aware_date - datetime.now(UTC)).total_seconds(), 0.0)

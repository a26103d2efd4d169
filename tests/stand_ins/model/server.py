"""A strict OpenAI-compatible server on 127.0.0.1 whose replies a test scripts.

It serves `POST /v1/chat/completions` (plain, tools, strict `response_format`, streaming), `POST /v1/embeddings`,
`POST /v1/rerank` and `GET /v1/models`, refuses what the API refuses, and records what it was sent.
"""

import asyncio
import base64
import hashlib
import json
import struct
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any as Json
from typing import TypeAlias, assert_never

from aiohttp import web

from tests.stand_ins.model.replies import (
    CutAnswer,
    HttpFault,
    RawAnswer,
    ServerReply,
    StalledAnswer,
    StreamedError,
    TextAnswer,
)
from tests.stand_ins.model.request_bodies import (
    ChatBody,
    EmbeddingBody,
    RefusedBody,
    RerankBody,
    SchemaFormatBody,
    parse_chat_body,
    parse_embedding_body,
    parse_rerank_body,
)

API_KEY = "sk-stand-in-key"
MODELS = ("main-model", "small-model", "other-model", "embedding-model", "rerank-model")
_DIMENSIONS = 8
_CREATED = 1_760_000_000

ChatScript: TypeAlias = Callable[[ChatBody], "ServerReply | str | Awaitable[ServerReply | str]"]


@dataclass
class ScriptedModelServer:
    """Used as `async with ScriptedModelServer() as server:`; `server.url` is the base address of the API.

    A chat request takes the next of `chat_replies`, and when they are used up what `answer_chat` returns for it; a text
    is short for a `TextAnswer`. A request for which nothing is scripted gets status 500 and is in
    `unexpected_requests`. Embeddings and scores are computed from the texts, so that equal texts get equal ones, unless
    `embedding_replies` or `rerank_replies` hold another reply.
    """

    chat_replies: list[ServerReply | str] = field(default_factory=list["ServerReply | str"])
    answer_chat: ChatScript | None = None
    embedding_replies: list[ServerReply] = field(default_factory=list["ServerReply"])
    rerank_replies: list[ServerReply] = field(default_factory=list["ServerReply"])
    api_key: str | None = API_KEY  # None: any key, and none
    models: Sequence[str] | None = MODELS  # None: any model
    refused_parameters: set[str] = field(default_factory=set[str])  # that this server does not know
    knows_json_schema: bool = True

    url: str = field(init=False, default="")
    chat_requests: list[ChatBody] = field(init=False, default_factory=list[ChatBody])
    embedding_requests: list[EmbeddingBody] = field(init=False, default_factory=list[EmbeddingBody])
    rerank_requests: list[RerankBody] = field(init=False, default_factory=list[RerankBody])
    refused_requests: list[tuple[int, str]] = field(init=False, default_factory=list[tuple[int, str]])
    unexpected_requests: list[ChatBody] = field(init=False, default_factory=list[ChatBody])
    cancelled_requests: int = field(init=False, default=0)  # whose client left before the reply was complete
    running_requests: int = field(init=False, default=0)
    most_running_requests: int = field(init=False, default=0)
    _runner: web.AppRunner = field(init=False)

    async def __aenter__(self) -> "ScriptedModelServer":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> None:
        """Serve on a port of 127.0.0.1; 0: a free one."""
        app = web.Application(client_max_size=64 * 2**20, middlewares=[self._count_request, self._refuse_request])
        app.router.add_post("/v1/chat/completions", self._serve_chat)
        app.router.add_post("/v1/embeddings", self._serve_embeddings)
        app.router.add_post("/v1/rerank", self._serve_rerank)
        app.router.add_get("/v1/models", self._serve_models)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def stop(self) -> None:
        await self._runner.cleanup()

    @web.middleware
    async def _count_request(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        self.running_requests += 1
        self.most_running_requests = max(self.most_running_requests, self.running_requests)
        try:
            return await handler(request)
        except (asyncio.CancelledError, ConnectionResetError):
            self.cancelled_requests += 1
            raise
        finally:
            self.running_requests -= 1

    @web.middleware
    async def _refuse_request(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if self.api_key is not None and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            return self._refuse(401, "Incorrect API key provided.", code="invalid_api_key")
        try:
            return await handler(request)
        except RefusedBody as exc:
            return self._refuse(400, str(exc), parameter=exc.parameter)

    def _refuse(
        self, status: int, message: str, *, parameter: str | None = None, code: str | None = None
    ) -> web.Response:
        self.refused_requests.append((status, message))
        return _error_response(HttpFault(status=status, message=message, parameter=parameter, code=code))

    def _refuse_model(self, model: str) -> web.Response | None:
        if self.models is None or model in self.models:
            return None
        return self._refuse(404, f"The model `{model}` does not exist.", parameter="model", code="model_not_found")

    async def _serve_models(self, _: web.Request) -> web.Response:
        models = [{"id": name, "object": "model", "created": _CREATED, "owned_by": "x"} for name in self.models or ()]
        return web.json_response({"object": "list", "data": models})

    async def _serve_chat(self, request: web.Request) -> web.StreamResponse:
        body = parse_chat_body(await request.read())
        if (refusal := self._refuse_model(body.model)) is not None:
            return refusal
        for parameter in sorted(self.refused_parameters & body.model_fields_set):
            raise RefusedBody(f"Unsupported parameter: '{parameter}' is not supported with this model.", parameter)
        if isinstance(body.response_format, SchemaFormatBody) and not self.knows_json_schema:
            raise RefusedBody("'response_format.type' must be one of 'text', 'json_object'.", "response_format")
        self.chat_requests.append(body)
        return await _send_chat_reply(request, body, await self._next_chat_reply(body))

    async def _next_chat_reply(self, body: ChatBody) -> ServerReply:
        if self.chat_replies:
            reply = self.chat_replies.pop(0)
        elif self.answer_chat is not None:
            scripted = self.answer_chat(body)
            reply = await scripted if isawaitable(scripted) else scripted
        else:
            self.unexpected_requests.append(body)
            return HttpFault(message="no reply is scripted for this request")
        return TextAnswer(text=reply) if isinstance(reply, str) else reply

    async def _serve_embeddings(self, request: web.Request) -> web.StreamResponse:
        body = parse_embedding_body(await request.read())
        if (refusal := self._refuse_model(body.model)) is not None:
            return refusal
        self.embedding_requests.append(body)
        if self.embedding_replies:
            return await _send_fault(request, self.embedding_replies.pop(0))
        data = [
            {"object": "embedding", "index": index, "embedding": _encode_vector(vector_of(text, body.dimensions), body)}
            for index, text in enumerate(body.texts)
        ]
        tokens = sum(count_tokens(text) for text in body.texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return web.json_response({"object": "list", "data": data, "model": body.model, "usage": usage})

    async def _serve_rerank(self, request: web.Request) -> web.StreamResponse:
        body = parse_rerank_body(await request.read())
        if (refusal := self._refuse_model(body.model)) is not None:
            return refusal
        self.rerank_requests.append(body)
        if self.rerank_replies:
            return await _send_fault(request, self.rerank_replies.pop(0))
        results: list[dict[str, Json]] = [
            {"index": index, "document": {"text": text}, "relevance_score": score_of(body.query, text)}
            for index, text in enumerate(body.documents)
        ]
        results.sort(key=lambda result: -result["relevance_score"])
        tokens = count_tokens(body.query) + sum(count_tokens(text) for text in body.documents)
        reply = {"id": "rerank-1", "model": body.model, "usage": {"total_tokens": tokens}}
        return web.json_response(reply | {"results": results[: body.top_n or None]})


def count_tokens(text: str) -> int:
    """The tokens that the server reports: words."""
    return len(text.split())


def vector_of(text: str, dimensions: int | None = None) -> list[float]:
    """A vector that the text determines; exact in 32 bits."""
    digest = hashlib.sha256(text.encode()).digest()
    return [digest[position % len(digest)] / 256 - 0.5 for position in range(dimensions or _DIMENSIONS)]


def score_of(query: str, text: str) -> float:
    """The share of the query's words that the text has."""
    words = query.lower().split()
    return sum(word in text.lower() for word in words) / len(words)


def _encode_vector(vector: list[float], body: EmbeddingBody) -> list[float] | str:
    if body.encoding_format == "float":
        return vector
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _error_response(fault: HttpFault) -> web.Response:
    error = {"message": fault.message, "type": "error", "param": fault.parameter, "code": fault.code}
    headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
    return web.json_response({"error": error}, status=fault.status, headers=headers)


async def _send_fault(request: web.Request, reply: ServerReply) -> web.StreamResponse:
    match reply:
        case HttpFault():
            await asyncio.sleep(reply.delay_s)
            return _error_response(reply)
        case RawAnswer():
            return web.Response(body=reply.body, content_type=reply.content_type)
        case StalledAnswer():
            await asyncio.sleep(reply.stall_s)
            return await _break_connection(request)
        case TextAnswer() | CutAnswer() | StreamedError():
            return await _break_connection(request)
        case _:
            assert_never(reply)


async def _break_connection(request: web.Request) -> web.StreamResponse:
    """Announces more bytes than it sends."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"id": "chatcmpl')
    _close_transport(request)
    return response


def _close_transport(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.close()


async def _send_chat_reply(request: web.Request, body: ChatBody, reply: ServerReply) -> web.StreamResponse:
    match reply:
        case TextAnswer():
            await asyncio.sleep(reply.delay_s)
            if body.stream:
                return await _stream_answer(request, body, reply)
            return web.json_response(_completion_of(body, reply))
        case CutAnswer() | StalledAnswer() | StreamedError() if body.stream:
            return await _stream_broken(request, body, reply)
        case StreamedError():
            return _error_response(HttpFault(message=reply.message))
        case HttpFault() | RawAnswer() | CutAnswer() | StalledAnswer():
            return await _send_fault(request, reply)
        case _:
            assert_never(reply)


def _completion_of(body: ChatBody, answer: TextAnswer) -> dict[str, Json]:
    message: dict[str, Json] = {"role": "assistant", "content": answer.text or None, "refusal": answer.refusal}
    if answer.tool_calls:
        message["tool_calls"] = [_tool_call_of(position, answer) for position in range(len(answer.tool_calls))]
    elif answer.refusal is None:
        message["content"] = answer.text
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason_of(answer)}
    completion: dict[str, Json] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": _CREATED,
        "model": body.model,
        "choices": [choice],
    }
    return completion | ({"usage": _usage_of(body, answer)} if answer.sends_usage else {})


def _tool_call_of(position: int, answer: TextAnswer) -> dict[str, Json]:
    call = answer.tool_calls[position]
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _finish_reason_of(answer: TextAnswer) -> str:
    return answer.finish_reason or ("tool_calls" if answer.tool_calls else "stop")


def _usage_of(body: ChatBody, answer: TextAnswer) -> dict[str, int]:
    sent = count_tokens(body.text_of("system", "developer", "user", "assistant", "tool"))
    received = count_tokens(answer.text)
    return {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}


async def _open_stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    return response


async def _stream_answer(request: web.Request, body: ChatBody, answer: TextAnswer) -> web.StreamResponse:
    response = await _open_stream(request)
    wants_usage = body.stream_options is not None and body.stream_options.include_usage
    for delta in _deltas_of(answer):
        await asyncio.sleep(answer.piece_delay_s)
        await _send_event(response, _chunk_of(body, delta, usage=wants_usage))
    await _send_event(response, _chunk_of(body, {}, _finish_reason_of(answer), usage=wants_usage))
    if wants_usage and answer.sends_usage:
        await _send_event(response, _chunk_of(body, None) | {"usage": _usage_of(body, answer)})
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


def _deltas_of(answer: TextAnswer) -> Iterator[dict[str, Json]]:
    yield {"role": "assistant", "content": ""}
    if answer.refusal is not None:
        yield {"refusal": answer.refusal}
    yield from ({"content": piece} for piece in pieces_of(answer.text, answer.piece_chars))
    for position in range(len(answer.tool_calls)):
        yield {"tool_calls": [{"index": position} | _tool_call_of(position, answer)]}


async def _stream_broken(
    request: web.Request, body: ChatBody, reply: CutAnswer | StalledAnswer | StreamedError
) -> web.StreamResponse:
    response = await _open_stream(request)
    for piece in pieces_of(reply.text, reply.piece_chars):
        await _send_event(response, _chunk_of(body, {"content": piece}))
    match reply:
        case StreamedError():
            await _send_event(response, {"error": {"message": reply.message, "type": "server_error", "code": 500}})
            await response.write_eof()
        case CutAnswer(closes_cleanly=True):
            await response.write_eof()
        case CutAnswer():
            _close_transport(request)
        case StalledAnswer():
            await asyncio.sleep(reply.stall_s)
            _close_transport(request)
        case _:
            assert_never(reply)
    return response


def pieces_of(text: str, piece_chars: int) -> list[str]:
    return [text[start : start + piece_chars] for start in range(0, len(text), piece_chars)]


def _chunk_of(
    body: ChatBody, delta: dict[str, Json] | None, finish_reason: str | None = None, *, usage: bool = False
) -> dict[str, Json]:
    """A chunk of a stream; without a delta, the one that brings only the usage."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}]
    chunk: dict[str, Json] = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": _CREATED,
        "model": body.model,
        "choices": choices,
    }
    return chunk | ({"usage": None} if usage else {})


async def _send_event(response: web.StreamResponse, event: dict[str, Json]) -> None:
    await response.write(f"data: {json.dumps(event)}\n\n".encode())

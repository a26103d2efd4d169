"""The gateway to language models: one object for all turns of a process."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from typing import TypeVar

from agent.errors import ModelUnavailable, StreamCut
from agent.gateway.circuit_breaker import CircuitBreaker
from agent.gateway.messages import ModelReply, ModelRequest, ModelRole
from agent.gateway.model_client import (
    CallFailed,
    ChatCall,
    ChatResult,
    EmbeddingCall,
    FailureKind,
    ModelClient,
    RerankCall,
    StreamPiece,
)
from agent.gateway.options import GatewayOptions, ModelPrice
from agent.gateway.prices import estimate_input_tokens
from agent.gateway.refused_parameters import RefusedParameters
from agent.gateway.running_call import CallAccount, CallObserver, RunningCall, account_for_call
from agent.gateway.spending import SpendingGuard, UnlimitedSpending
from agent.gateway.try_schedule import ModelTry, TrySchedule, WaitingTools, describe_failure
from agent.reasoning_log import ReasoningLog
from agent.token_counts import estimate_tokens

_EMBEDDING_PROMPT, _RERANK_PROMPT = "embed_texts", "score_passages"  # how their calls are named in the log
_MAX_CHARS_A_TOKEN = 20  # a reply with more ignores `max_output_tokens`

_Result = TypeVar("_Result")


class ModelGateway:
    """Sends requests to the model of their role, with retries, fallback models, a circuit for each model, bounds on
    calls at once, and a guard over what they cost. Implements `LanguageModel`.

    Each try of each model is a call of its own: it is appended to the log of its turn, and given to `observers`. `load`
    spares the first call the time that the client takes to load; `close` ends what is open.
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
    ) -> None:
        """Without a guard, spending is not limited. `sleep`, `clock` (monotonic, in seconds) and `jitter` (0 to 1) are
        of the pauses before retries and of the circuits.
        """
        self._options = options
        self._client = client
        self._spending = spending or UnlimitedSpending()
        self._observers = tuple(observers)
        self._tools = WaitingTools(sleep=sleep, clock=clock, jitter=jitter)
        self._circuits = {model: self._new_circuit() for model in options.models.all_names}
        self._slots = {model: asyncio.Semaphore(options.limits.concurrent_calls) for model in options.models.all_names}
        self._refused_parameters = RefusedParameters()

    def _new_circuit(self) -> CircuitBreaker:
        limits = self._options.limits
        return CircuitBreaker(
            max_failures=limits.circuit_failures, pause_s=limits.circuit_pause_s, clock=self._tools.clock
        )

    async def load(self) -> None:
        """Loads the library of the client, which takes seconds, in a thread."""
        await self._client.load()

    def price_of(self, model: str) -> ModelPrice | None:
        """Returns the price in the options, else the one that the client knows. `load` must have returned."""
        return self._options.prices.get(model) or self._client.price_of(model)

    async def close(self) -> None:
        """Closes the connections to the servers."""
        await self._client.close()

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        """Returns the whole reply; more text than `max_output_tokens` can hold is cut off. Raises `ModelUnavailable`;
        of it `SpendingCapReached` if the tenant may spend no more, and `PriceUnknown` if that cannot be told.
        """
        schedule = await self._schedule_for_chat(request)
        while (model_try := await schedule.next_try()) is not None:
            call = self._chat_call(model_try.model, request)
            try:
                async with self._account_for_chat(model_try, request, log) as running_call:
                    result = await self._within_time(model_try, self._client.complete_chat(call))
                    running_call.received_text, running_call.usage = _received_text(result), result.usage
                return _reply_of(model_try.model, request, result, running_call)
            except CallFailed as failure:
                self._learn_from_failure(schedule, call, failure)
        raise schedule.unavailability()

    async def stream_text(self, request: ModelRequest, log: ReasoningLog) -> AsyncGenerator[str]:
        """Yields the text of the reply in pieces as it arrives. A failure before the first piece is retried and falls
        back like in `complete`. Raises `ModelUnavailable`; `StreamCut` if the stream ends early, after the pieces that
        came. Closing the generator stops the request.
        """
        schedule = await self._schedule_for_chat(request)
        while (model_try := await schedule.next_try()) is not None:
            call = self._chat_call(model_try.model, request)
            running_call: RunningCall | None = None
            try:
                async with (
                    self._account_for_chat(model_try, request, log) as running_call,
                    aclosing(self._client.stream_chat(call)) as stream,
                    aclosing(self._receive_texts(stream, running_call, model_try, schedule, request)) as texts,
                ):
                    async for text in texts:
                        yield text
                return
            except CallFailed as failure:
                if running_call is not None and running_call.received_text:
                    raise StreamCut(f"{model_try.model}: {describe_failure(failure)}") from failure
                self._learn_from_failure(schedule, call, failure)
        raise schedule.unavailability()

    async def _receive_texts(
        self,
        stream: AsyncGenerator[StreamPiece],
        running_call: RunningCall,
        model_try: ModelTry,
        schedule: TrySchedule,
        request: ModelRequest,
    ) -> AsyncGenerator[str]:
        """Until the first text comes, the time is that of the try; then it is all that is left."""
        max_chars = request.max_output_tokens * _MAX_CHARS_A_TOKEN
        while True:
            timeout_s = schedule.time_left_s if running_call.received_text else self._time_left_s(model_try)
            try:
                piece = await _within_seconds(timeout_s, anext(stream, None))
            except CallFailed as failure:
                if running_call.received_text:
                    raise CallFailed(FailureKind.CUT, str(failure)) from failure
                raise
            if piece is None:
                return
            running_call.usage = piece.usage or running_call.usage
            running_call.received_text += piece.text
            if len(running_call.received_text) > max_chars:
                raise CallFailed(FailureKind.CUT, "the reply is longer than allowed")
            if piece.text:
                yield piece.text

    async def embed_texts(self, texts: Sequence[str], log: ReasoningLog) -> Sequence[Sequence[float]]:
        """Returns the vector of each text, in their order; no text may be empty. Never falls back: vectors of another
        model differ. Raises `ModelUnavailable`.
        """
        vectors: list[Sequence[float]] = []
        for start in range(0, len(texts), self._options.limits.embedding_batch):
            vectors += await self._embed_batch(tuple(texts[start : start + self._options.limits.embedding_batch]), log)
        return vectors

    async def _embed_batch(self, texts: tuple[str, ...], log: ReasoningLog) -> Sequence[Sequence[float]]:
        schedule = await self._schedule_for(
            self._options.models.models_of(ModelRole.EMBEDDING), self._options.limits.embedding_timeout_s
        )
        while (model_try := await schedule.next_try()) is not None:
            call = EmbeddingCall(
                model=model_try.model,
                server=self._options.server_of(model_try.model),
                texts=texts,
                dimensions=self._options.embedding_dimensions,
            )
            try:
                async with self._account_for_texts(model_try, _EMBEDDING_PROMPT, texts, log) as running_call:
                    result = await self._within_time(model_try, self._client.embed_texts(call))
                    running_call.usage = result.usage
                return result.vectors
            except CallFailed as failure:
                schedule.record_failure(failure)
        raise schedule.unavailability()

    async def score_passages(self, query: str, texts: Sequence[str], log: ReasoningLog) -> Sequence[float]:
        """Returns how relevant each text is to the query, in the order of the texts; higher is more relevant. Raises
        `ModelUnavailable`.
        """
        if not texts:
            return ()
        schedule = await self._schedule_for(
            self._options.models.models_of(ModelRole.RERANK), self._options.limits.rerank_timeout_s
        )
        while (model_try := await schedule.next_try()) is not None:
            server = self._options.server_of(model_try.model)
            call = RerankCall(model=model_try.model, server=server, query=query, texts=tuple(texts))
            try:
                async with self._account_for_texts(model_try, _RERANK_PROMPT, (query, *texts), log) as running_call:
                    result = await self._within_time(model_try, self._client.score_texts(call))
                    running_call.usage = result.usage
                return result.scores
            except CallFailed as failure:
                schedule.record_failure(failure)
        raise schedule.unavailability()

    async def _schedule_for_chat(self, request: ModelRequest) -> TrySchedule:
        timeout_s = self._options.limits.chat_timeout_s if request.timeout_s is None else request.timeout_s
        return await self._schedule_for(self._options.models.chat_models(request.role), timeout_s)

    async def _schedule_for(self, models: Sequence[str], timeout_s: float) -> TrySchedule:
        if not models:
            raise ModelUnavailable("no model is set for this role")
        schedule = TrySchedule(
            models, timeout_s=timeout_s, limits=self._options.limits, circuits=self._circuits, tools=self._tools
        )
        try:
            await _within_seconds(timeout_s, self._client.load())
        except CallFailed as failure:
            raise ModelUnavailable("the client of the models is still loading") from failure
        return schedule

    def _chat_call(self, model: str, request: ModelRequest) -> ChatCall:
        return self._refused_parameters.adapt_call(
            ChatCall(
                model=model,
                server=self._options.server_of(model),
                messages=request.messages,
                max_output_tokens=request.max_output_tokens,
                output_schema=request.output_schema,
                tools=request.tools,
                temperature=self._options.temperature,
            )
        )

    def _learn_from_failure(self, schedule: TrySchedule, call: ChatCall, failure: CallFailed) -> None:
        """A call that was refused for an optional parameter is repeated without it; others count as failed tries."""
        schedule.end_try()
        if not self._refused_parameters.learn_from(call, failure):
            schedule.record_failure(failure)

    def _account_for_chat(
        self, model_try: ModelTry, request: ModelRequest, log: ReasoningLog
    ) -> AbstractAsyncContextManager[RunningCall]:
        text = "\n\n".join(f"{message.role.value}: {message.content}" for message in request.messages)
        return self._account_for_call(
            model_try,
            request.prompt,
            log,
            request_text=text,
            input_tokens=estimate_input_tokens(request),
            max_output_tokens=request.max_output_tokens,
        )

    def _account_for_texts(
        self, model_try: ModelTry, prompt: str, texts: Sequence[str], log: ReasoningLog
    ) -> AbstractAsyncContextManager[RunningCall]:
        return self._account_for_call(
            model_try,
            prompt,
            log,
            request_text="\n".join(texts),
            input_tokens=sum(estimate_tokens(text) for text in texts),
            max_output_tokens=0,
        )

    def _account_for_call(
        self,
        model_try: ModelTry,
        prompt: str,
        log: ReasoningLog,
        *,
        request_text: str,
        input_tokens: int,
        max_output_tokens: int,
    ) -> AbstractAsyncContextManager[RunningCall]:
        account = CallAccount(
            prompt=prompt,
            log=log,
            observers=self._observers,
            spending=self._spending,
            price=self.price_of(model_try.model),
            input_tokens=input_tokens,
            max_output_tokens=max_output_tokens,
            request_text=request_text,
            keeps_texts=self._options.keeps_texts,
        )
        return account_for_call(
            model_try,
            account,
            circuit=self._circuits[model_try.model],
            slots=self._slots[model_try.model],
            tools=self._tools,
        )

    def _time_left_s(self, model_try: ModelTry) -> float:
        return model_try.ends_at_s - self._tools.clock()

    async def _within_time(self, model_try: ModelTry, result: Awaitable[_Result]) -> _Result:
        return await _within_seconds(self._time_left_s(model_try), result)


async def _within_seconds(timeout_s: float, result: Awaitable[_Result]) -> _Result:
    """Raises `CallFailed` if the time is over first; then what is awaited is cancelled."""
    try:
        async with asyncio.timeout(timeout_s):
            return await result
    except TimeoutError as exc:
        raise CallFailed(FailureKind.TIMED_OUT) from exc


def _received_text(result: ChatResult) -> str:
    return result.text + "".join(call.name + call.arguments for call in result.tool_calls)


def _reply_of(model: str, request: ModelRequest, result: ChatResult, call: RunningCall) -> ModelReply:
    max_chars = request.max_output_tokens * _MAX_CHARS_A_TOKEN
    return ModelReply(
        text=result.text[:max_chars],
        model=model,
        tool_calls=result.tool_calls,
        input_tokens=call.tokens.input_tokens,
        output_tokens=call.tokens.output_tokens,
        is_truncated=result.is_truncated or len(result.text) > max_chars,
        refusal=result.refusal,
    )

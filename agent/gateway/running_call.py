"""What every call to a model has around it: a slot, a reservation, its circuit, and its record."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agent.errors import SpendingCapReached
from agent.gateway.circuit_breaker import CircuitBreaker
from agent.gateway.model_client import CallFailed, FailureKind, TokenUsage
from agent.gateway.options import ModelPrice
from agent.gateway.prices import cost_of
from agent.gateway.spending import SpendingGuard
from agent.gateway.try_schedule import ModelTry, WaitingTools, describe_failure
from agent.reasoning_log import ModelCallRecord, ReasoningLog
from agent.token_counts import estimate_tokens

CallObserver = Callable[[ModelCallRecord], None]

_UNBILLED = frozenset(
    {
        FailureKind.REFUSED_REQUEST,
        FailureKind.REFUSED_ACCESS,
        FailureKind.NOT_FOUND,
        FailureKind.NO_KEY,
        FailureKind.NO_ADDRESS,
        FailureKind.UNKNOWN_PROVIDER,
        FailureKind.BUSY,
        FailureKind.SERVER_ERROR,
        FailureKind.UNREACHABLE,
    }
)


@dataclass(slots=True, kw_only=True)
class RunningCall:
    """What is known of a call so far. `usage` is what the server counted."""

    input_tokens: int  # estimated
    received_text: str = ""
    usage: TokenUsage | None = None
    is_billed: bool = True
    error: str = ""

    @property
    def tokens(self) -> TokenUsage:
        """As the server counted them, else estimated from the texts."""
        if not self.is_billed:
            return TokenUsage(input_tokens=0)
        estimate = TokenUsage(input_tokens=self.input_tokens, output_tokens=estimate_tokens(self.received_text))
        return self.usage or estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAccount:
    """Who is told of a call, and what it may cost."""

    prompt: str
    log: ReasoningLog
    observers: Sequence[CallObserver]
    spending: SpendingGuard
    price: ModelPrice | None
    input_tokens: int  # estimated
    max_output_tokens: int
    request_text: str  # empty, like the text of the reply in the record, unless texts are kept
    keeps_texts: bool


@asynccontextmanager
async def account_for_call(
    model_try: ModelTry,
    account: CallAccount,
    *,
    circuit: CircuitBreaker,
    slots: asyncio.Semaphore,
    tools: WaitingTools,
) -> AsyncGenerator[RunningCall]:
    """Waits for a slot and reserves the cost, and when the call is over settles it, tells the circuit and the log.

    Raises `SpendingCapReached`, and `CallFailed` if no slot becomes free in time or a price is missing; then there was
    no call.
    """
    most_usage = TokenUsage(input_tokens=account.input_tokens, output_tokens=account.max_output_tokens)
    call = RunningCall(input_tokens=account.input_tokens)
    has_slot = False
    try:
        await _wait_for_slot(slots, model_try.ends_at_s - tools.clock())
        has_slot = True
        reservation = await account.spending.reserve(cost_of(most_usage, account.price))
        if reservation is None and account.price is None:
            raise CallFailed(FailureKind.NO_PRICE)
        if reservation is None:
            raise SpendingCapReached("the spending cap is reached")
    except BaseException:
        circuit.abandon_call()
        if has_slot:
            slots.release()
        raise
    started = tools.clock()
    try:
        yield call
    except CallFailed as failure:
        call.error = describe_failure(failure)
        call.is_billed = failure.kind not in _UNBILLED
        _tell_circuit(circuit, failure)
        raise
    except BaseException:
        call.error = "cancelled"
        circuit.abandon_call()
        raise
    else:
        circuit.record_success()
    finally:
        slots.release()
        cost_usd = cost_of(call.tokens, account.price) if call.is_billed else 0.0
        _record_call(model_try, call, account, cost_usd=cost_usd, started_s=started, ended_s=tools.clock())
        await asyncio.shield(account.spending.settle(reservation, cost_usd))


async def _wait_for_slot(slots: asyncio.Semaphore, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            await slots.acquire()
    except TimeoutError as exc:
        raise CallFailed(FailureKind.NO_SLOT) from exc


def _tell_circuit(circuit: CircuitBreaker, failure: CallFailed) -> None:
    if failure.kind is FailureKind.REFUSED_REQUEST:
        circuit.record_success()  # the server works; it is the request that does not suit it
    else:
        circuit.record_failure()


def _record_call(
    model_try: ModelTry,
    call: RunningCall,
    account: CallAccount,
    *,
    cost_usd: float | None,
    started_s: float,
    ended_s: float,
) -> None:
    record = ModelCallRecord(
        prompt=account.prompt,
        model=model_try.model,
        ms=(ended_s - started_s) * 1000,
        waited_ms=(started_s - model_try.waiting_since_s) * 1000,
        input_tokens=call.tokens.input_tokens,
        output_tokens=call.tokens.output_tokens,
        cost_usd=cost_usd,
        error=call.error,
        request_text=account.request_text if account.keeps_texts else "",
        reply_text=call.received_text if account.keeps_texts else "",
    )
    account.log.calls.append(record)
    for observe in account.observers:
        observe(record)

"""Which model to try next, when, and for how long."""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.errors import ModelUnavailable, PriceUnknown
from agent.gateway.circuit_breaker import CircuitBreaker
from agent.gateway.model_client import CallFailed, FailureKind
from agent.gateway.options import CallLimits

_SHARE_BEFORE_FALLBACK = 0.6  # of the time left; a model that hangs leaves the rest to the next one
_RETRIED_KINDS = frozenset(
    {FailureKind.BUSY, FailureKind.SERVER_ERROR, FailureKind.UNREACHABLE, FailureKind.BROKEN_REPLY}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTools:
    """Time and chance, so that tests need not wait."""

    sleep: Callable[[float], Awaitable[None]]
    clock: Callable[[], float]  # seconds, monotonic
    jitter: Callable[[], float]  # 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTry:
    """The next call to make. Its circuit has been told of it, and waits for the result."""

    model: str
    ends_at_s: float  # on the clock of the schedule
    waiting_since_s: float  # on the same clock: when the request came, or the try before ended


class TrySchedule:
    """The tries of one request: some of each model, in their order, until the deadline.

    A request that a server refuses as such is not sent to another model. A pause that a server asks for is cut to the
    cap, and not waited for where another model can be asked instead.
    """

    def __init__(
        self,
        models: Sequence[str],
        *,
        timeout_s: float,
        limits: CallLimits,
        circuits: Mapping[str, CircuitBreaker],
        tools: WaitingTools,
    ) -> None:
        self._models = deque(models)
        self._waiting_since_s = tools.clock()
        self._deadline = self._waiting_since_s + timeout_s
        self._limits = limits
        self._circuits = circuits
        self._tools = tools
        self._failed_tries = 0  # of the model at the head
        self._pause_s = 0.0
        self._reasons: dict[str, str] = {}
        self._unpriced_models: list[str] = []

    @property
    def time_left_s(self) -> float:
        return self._deadline - self._tools.clock()

    async def next_try(self) -> ModelTry | None:
        """Waits for the pause that is due. Returns None if there is nothing left to try."""
        if self._pause_s:
            await self._tools.sleep(self._pause_s)
            self._pause_s = 0.0
        while self._models and self.time_left_s > 0:
            model = self._models[0]
            if self._circuits[model].start_call():
                share = _SHARE_BEFORE_FALLBACK if self._has_other_model() else 1.0
                ends_at_s = self._tools.clock() + self.time_left_s * share
                return ModelTry(model=model, ends_at_s=ends_at_s, waiting_since_s=self._waiting_since_s)
            self._reasons.setdefault(model, "not asked for now, after failures in a row")
            self._go_to_next_model()
        return None

    def end_try(self) -> None:
        """Notes that the try has ended without a reply."""
        self._waiting_since_s = self._tools.clock()

    def record_failure(self, failure: CallFailed) -> None:
        """Decides what comes after a failed try."""
        self.end_try()
        model = self._models[0]
        self._reasons[model] = describe_failure(failure)
        self._failed_tries += 1
        if failure.kind is FailureKind.NO_PRICE:
            self._unpriced_models.append(model)
        if failure.kind is FailureKind.REFUSED_REQUEST:
            self._models.clear()
        elif self._is_worth_a_retry(failure):
            self._pause_s = self._pause_before_retry(failure)
            if self._pause_s >= self.time_left_s:
                self._go_to_next_model()
        else:
            self._go_to_next_model()

    def unavailability(self) -> ModelUnavailable:
        """The error that says why no model answered: `PriceUnknown` if only missing prices kept them from it."""
        if self._unpriced_models and len(self._unpriced_models) == len(self._reasons):
            names = " and ".join(self._unpriced_models)
            return PriceUnknown(f"spending is capped, and the price of {names} is unknown")
        if not self._reasons:
            return ModelUnavailable("no time was left to ask a model")
        return ModelUnavailable("; ".join(f"{model}: {reason}" for model, reason in self._reasons.items()))

    def _is_worth_a_retry(self, failure: CallFailed) -> bool:
        if failure.kind not in _RETRIED_KINDS or self._failed_tries > self._limits.retries:
            return False
        if self._circuits[self._models[0]].is_open:
            return False
        waits_too_long = (failure.retry_after_s or 0.0) > self._limits.retry_after_cap_s
        return not (waits_too_long and self._has_other_model())

    def _pause_before_retry(self, failure: CallFailed) -> float:
        pause_s = self._limits.first_pause_s * 2 ** (self._failed_tries - 1) * (0.5 + self._tools.jitter())
        return max(pause_s, min(failure.retry_after_s or 0.0, self._limits.retry_after_cap_s))

    def _has_other_model(self) -> bool:
        return any(not self._circuits[model].is_open for model in list(self._models)[1:])

    def _go_to_next_model(self) -> None:
        self._models.popleft()
        self._failed_tries, self._pause_s = 0, 0.0


def describe_failure(failure: CallFailed) -> str:
    """A few words for operators, without the server's text, which may quote the prompt or the key."""
    return failure.kind.value if failure.status is None else f"{failure.kind.value} ({failure.status})"

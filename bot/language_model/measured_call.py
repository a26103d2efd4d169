"""What one model call reports to the metrics and to tracing."""

from dataclasses import dataclass

from agent.reasoning_log import ModelCallRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCall:
    """A model call without its texts. `cost_usd` is None if the price is unknown."""

    prompt: str  # name and version
    model: str
    is_failed: bool
    seconds: float
    ended_at: float  # in seconds since 1970, UTC
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


def measure_call(call: ModelCallRecord) -> MeasuredCall:
    return MeasuredCall(
        prompt=call.prompt,
        model=call.model,
        is_failed=bool(call.error),
        seconds=call.ms / 1000,
        ended_at=call.ended_at,
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        cost_usd=call.cost_usd,
    )

"""What one finished turn reports to the metrics and to tracing."""

from dataclasses import dataclass

from agent.outcome import TraceStage
from bot.language_model.measured_call import MeasuredCall


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMeasurement:
    """A turn without its texts, as measured in the attempt that ended it."""

    turn: str
    surface: str
    outcome: str
    seconds: float  # from its claim to its end
    latency_s: float = 0.0  # from its receipt to its end, with waits and earlier attempts
    ended_at: float  # in seconds since 1970, UTC
    stages: tuple[TraceStage, ...] = ()
    fallback_stages: tuple[str, ...] = ()  # those that rules took over
    completeness: tuple[float, ...] = ()  # 0 to 1, of the evidence at each review by a model
    calls: tuple[MeasuredCall, ...] = ()

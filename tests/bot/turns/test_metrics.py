"""The metrics of turns, stages and model calls, as Prometheus reads them."""

from prometheus_client.parser import text_string_to_metric_families

from agent.outcome import TraceStage
from bot.language_model.measured_call import MeasuredCall
from bot.turns.measurements import TurnMeasurement
from bot.turns.metrics import TurnMetrics


def a_call(*, is_failed: bool = False, cost_usd: float | None = None) -> MeasuredCall:
    return MeasuredCall(
        prompt="plan_question@3",
        model="openai/big",
        is_failed=is_failed,
        seconds=0.8,
        ended_at=1.9e9,
        input_tokens=1200,
        output_tokens=80,
        cost_usd=cost_usd,
    )


def samples_of(metrics: TurnMetrics) -> dict[tuple[str, ...], float]:
    """Values by name and labels, which are in the order of their names. Leaves out buckets and times of creation."""
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(metrics.render_text().decode())
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_created"))
    }


def test_turns_are_counted_with_their_stages_and_fallbacks() -> None:
    metrics = TurnMetrics()
    measurement = TurnMeasurement(
        turn="t1",
        surface="slack",
        outcome="answer",
        seconds=0.5,
        ended_at=1.9e9,
        stages=(TraceStage(name="decompose", ms=400.0), TraceStage(name="compose", ms=50.0)),
        fallback_stages=("compose",),
        completeness=(0.25, 1.0),
        calls=(a_call(),),
    )

    metrics.record_turn(measurement)
    metrics.record_turn(measurement)

    assert samples_of(metrics) == {
        ("parley_turns_total", "answer", "slack"): 2,
        ("parley_turn_seconds_count", "slack"): 2,
        ("parley_turn_seconds_sum", "slack"): 1.0,
        ("parley_stage_seconds_count", "decompose"): 2,
        ("parley_stage_seconds_sum", "decompose"): 0.8,
        ("parley_stage_seconds_count", "compose"): 2,
        ("parley_stage_seconds_sum", "compose"): 0.1,
        ("parley_stage_fallbacks_total", "compose"): 2,
        ("parley_evidence_completeness_count", "slack"): 4,
        ("parley_evidence_completeness_sum", "slack"): 2.5,
    }


def test_calls_are_counted_with_tokens_and_known_costs() -> None:
    metrics = TurnMetrics()

    metrics.record_calls([a_call(cost_usd=0.5), a_call(cost_usd=0.25), a_call(), a_call(is_failed=True)])

    assert samples_of(metrics) == {
        ("parley_model_calls_total", "openai/big", "ok", "plan_question@3"): 3,
        ("parley_model_calls_total", "openai/big", "failed", "plan_question@3"): 1,
        ("parley_model_tokens_total", "in", "openai/big"): 4800,
        ("parley_model_tokens_total", "out", "openai/big"): 320,
        ("parley_model_cost_usd_total", "openai/big"): 0.75,
        ("parley_model_unpriced_calls_total", "openai/big"): 1,
        ("parley_model_call_seconds_count", "openai/big"): 4,
        ("parley_model_call_seconds_sum", "openai/big"): 3.2,
    }

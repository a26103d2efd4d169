"""The metrics of a service, as Prometheus reads them."""

from prometheus_client.parser import text_string_to_metric_families

from agent.outcome import TraceStage
from bot.language_model.measured_call import MeasuredCall
from bot.metrics.job_runs import JobName
from bot.metrics.operation_measurements import (
    DeliveryMeasurement,
    DeliveryOperation,
    ExportMeasurement,
    IndexOperation,
    IndexRequestMeasurement,
    JobMeasurement,
    SyncMeasurement,
    WebSearchMeasurement,
)
from bot.metrics.service_metrics import ServiceMetrics
from bot.turns.measurements import TurnMeasurement
from storage.sql.service_state import ServiceState


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


def samples_of(metrics: ServiceMetrics) -> dict[tuple[str, ...], float]:
    """Values by name and labels, which are in the order of their names. Leaves out buckets, times of creation, the
    version, the figures of the process, and what is nothing so far.
    """
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(metrics.render_text().decode())
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_created", "_info")) and not sample.name.startswith("process_")
        if sample.value
    }


def test_turns_are_counted_with_their_stages_and_fallbacks() -> None:
    metrics = ServiceMetrics()
    measurement = TurnMeasurement(
        turn="t1",
        surface="slack",
        outcome="answer",
        seconds=0.5,
        latency_s=2.5,
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
        ("parley_turn_latency_seconds_count", "slack"): 2,
        ("parley_turn_latency_seconds_sum", "slack"): 5.0,
        ("parley_stage_seconds_count", "decompose"): 2,
        ("parley_stage_seconds_sum", "decompose"): 0.8,
        ("parley_stage_seconds_count", "compose"): 2,
        ("parley_stage_seconds_sum", "compose"): 0.1,
        ("parley_stage_fallbacks_total", "compose"): 2,
        ("parley_evidence_completeness_count", "slack"): 4,
        ("parley_evidence_completeness_sum", "slack"): 2.5,
    }


def test_calls_are_counted_with_tokens_and_known_costs() -> None:
    metrics = ServiceMetrics()

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


def test_index_requests_are_counted_by_outcome_and_timed_by_operation() -> None:
    metrics = ServiceMetrics()

    for outcome in ("ok", "ok", "timed_out"):
        metrics.record_operation(IndexRequestMeasurement(operation=IndexOperation.SEARCH, outcome=outcome, seconds=0.5))

    assert samples_of(metrics) == {
        ("parley_index_requests_total", "search", "ok"): 2,
        ("parley_index_requests_total", "search", "timed_out"): 1,
        ("parley_index_request_seconds_count", "search"): 3,
        ("parley_index_request_seconds_sum", "search"): 1.5,
    }


def test_deliveries_exports_and_syncs_are_counted() -> None:
    metrics = ServiceMetrics()

    metrics.record_operation(
        DeliveryMeasurement(surface="slack", operation=DeliveryOperation.POST, outcome="refused", seconds=0.25)
    )
    metrics.record_operation(ExportMeasurement(outcome="done", rows=1200, seconds=3.0))
    metrics.record_operation(ExportMeasurement(outcome="failed", seconds=1.0))
    metrics.record_operation(SyncMeasurement(outcome="incomplete", documents={"added": 7, "failed": 2}))

    assert samples_of(metrics) == {
        ("parley_deliveries_total", "post", "refused", "slack"): 1,
        ("parley_delivery_seconds_count", "post", "slack"): 1,
        ("parley_delivery_seconds_sum", "post", "slack"): 0.25,
        ("parley_exports_total", "done"): 1,
        ("parley_exports_total", "failed"): 1,
        ("parley_exported_rows_total",): 1200,
        ("parley_export_seconds_count",): 1,
        ("parley_export_seconds_sum",): 3.0,
        ("parley_source_syncs_total", "incomplete"): 1,
        ("parley_synced_documents_total", "added"): 7,
        ("parley_synced_documents_total", "failed"): 2,
    }


def test_runs_of_background_jobs_are_counted() -> None:
    metrics = ServiceMetrics()

    for outcome in ("ok", "failed", "ok"):
        metrics.record_operation(JobMeasurement(name=JobName.EXPIRE_TURNS, outcome=outcome, seconds=0.5))

    assert samples_of(metrics) == {
        ("parley_job_runs_total", "expire_turns", "ok"): 2,
        ("parley_job_runs_total", "expire_turns", "failed"): 1,
        ("parley_job_seconds_count", "expire_turns"): 3,
        ("parley_job_seconds_sum", "expire_turns"): 1.5,
    }


def test_searches_of_the_web_are_counted() -> None:
    metrics = ServiceMetrics()

    metrics.record_operation(
        WebSearchMeasurement(
            outcome="complete",
            rounds=2,
            completeness=0.9,
            urls_found=20,
            urls_crawled=3,
            server_requests=4,
            bytes_read=70_000,
        )
    )

    assert samples_of(metrics) == {
        ("parley_web_searches_total", "complete"): 1,
        ("parley_web_urls_total", "found"): 20,
        ("parley_web_urls_total", "crawled"): 3,
        ("parley_web_server_requests_total",): 4,
        ("parley_web_page_bytes_total",): 70_000,
        ("parley_web_completeness_count",): 1,
        ("parley_web_completeness_sum",): 0.9,
    }


def test_the_state_of_all_processes_is_shown_while_it_is_known() -> None:
    metrics = ServiceMetrics()
    state = ServiceState(
        waiting_turns=3,
        running_turns=2,
        paused_turns=1,
        oldest_waiting_s=12.5,
        export_counts={"running": 1},
        source_counts={"done": 4, "failed": 1},
    )

    metrics.set_service_state(state, is_ready=True)
    shown = samples_of(metrics)
    metrics.set_service_state(None, is_ready=False)

    assert shown == {
        ("parley_ready",): 1,
        ("parley_queue_turns", "waiting"): 3,
        ("parley_queue_turns", "running"): 2,
        ("parley_queue_turns", "paused"): 1,
        ("parley_queue_oldest_seconds",): 12.5,
        ("parley_export_jobs", "running"): 1,
        ("parley_sources", "done"): 4,
        ("parley_sources", "failed"): 1,
    }
    assert samples_of(metrics) == {}, "the last known state would look like the present one"


def test_requests_are_counted_by_the_pattern_of_their_path() -> None:
    metrics = ServiceMetrics()

    metrics.record_request(route="/download/{signed}", status=403, seconds=0.125)

    assert samples_of(metrics) == {
        ("parley_http_requests_total", "/download/{signed}", "403"): 1,
        ("parley_http_request_seconds_count", "/download/{signed}"): 1,
        ("parley_http_request_seconds_sum", "/download/{signed}"): 0.125,
    }


def test_slots_are_those_of_the_ready_processes() -> None:
    alone, with_workers = ServiceMetrics(turn_slots=8), ServiceMetrics(turn_slots=8)

    with_workers.set_configured_workers(2)
    with_workers.set_ready_workers(1)

    assert samples_of(alone) == {("parley_turn_slots",): 8}
    assert samples_of(with_workers) == {
        ("parley_turn_slots",): 8,
        ("parley_worker_processes", "configured"): 2,
        ("parley_worker_processes", "ready"): 1,
    }

"""The dashboard and the alert rules of `docs/operations/`: they ask for metrics and labels that the program has."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
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

ROOT: Final = Path(__file__).parents[3]
ALERTS: Final = ROOT / "docs" / "operations" / "alerts.yaml"
DASHBOARD: Final = ROOT / "docs" / "operations" / "grafana-dashboard.json"
PAGE: Final = ROOT / "docs" / "operations.md"
OF_PROMETHEUS: Final = {"job", "instance", "le"}  # labels that every series, or every histogram, has
_SELECTOR: Final = re.compile(r"\b((?:parley|process)_[a-z_]+)(?:\{([^}]*)\})?")
_GROUPING: Final = re.compile(r"\b(?:by|ignoring|without)\s*\(([^)]*)\)")


@cache
def labels_by_sample() -> Mapping[str, frozenset[str]]:
    """The labels of every sample that the program exposes, by the sample's name."""
    metrics, seconds = ServiceMetrics(turn_slots=8), 0.5
    call = MeasuredCall(
        prompt="plan_question@3",
        model="openai/big",
        is_failed=False,
        seconds=seconds,
        ended_at=1.9e9,
        input_tokens=1,
        output_tokens=1,
        cost_usd=None,
    )
    turn = TurnMeasurement(
        turn="t1",
        surface="slack",
        outcome="answer",
        seconds=seconds,
        ended_at=1.9e9,
        stages=(TraceStage(name="search", ms=1.0),),
        fallback_stages=("search",),
        completeness=(0.5,),
    )
    metrics.record_turn(turn)
    metrics.record_calls([call, replace(call, cost_usd=0.5)])
    for operation in (
        IndexRequestMeasurement(operation=IndexOperation.SEARCH, outcome="ok", seconds=seconds),
        DeliveryMeasurement(surface="slack", operation=DeliveryOperation.POST, outcome="ok", seconds=seconds),
        ExportMeasurement(outcome="done", rows=1, seconds=seconds),
        SyncMeasurement(outcome="done", documents={"added": 1}),
        JobMeasurement(name="sync_sources", outcome="ok", seconds=seconds),
        WebSearchMeasurement(outcome="complete", rounds=1, completeness=0.5, urls_found=1, urls_crawled=1),
    ):
        metrics.record_operation(operation)
    metrics.record_request(route="/", status=200, seconds=seconds)
    metrics.set_configured_workers(1)
    metrics.set_ready_workers(1)
    state = ServiceState(
        waiting_turns=0,
        running_turns=0,
        paused_turns=0,
        oldest_waiting_s=0.0,
        export_counts={},
        source_counts={"done": 1},
    )
    metrics.set_service_state(state, is_ready=True)
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(metrics.render_text().decode()):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    return {name: frozenset(names) for name, names in labels.items()}


def list_alerts() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]]


def list_panels() -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return panels


def all_expressions() -> Iterator[tuple[str, str]]:
    """The expressions, each with the name of its alert or the title of its panel."""
    for rule in list_alerts():
        yield rule["alert"], rule["expr"]
    for panel in list_panels():
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def label_names_in(selector: str) -> set[str]:
    return set(re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)", selector))


@pytest.mark.parametrize(("where", "expression"), list(all_expressions()))
def test_each_query_asks_for_metrics_and_labels_that_the_program_has(where: str, expression: str) -> None:
    selectors = _SELECTOR.findall(expression)
    asked_names = {name for name, _ in selectors}
    grouped = {label.strip() for labels in _GROUPING.findall(expression) for label in labels.split(",")}

    assert asked_names or expression.startswith("up{"), where
    assert asked_names <= labels_by_sample().keys(), where
    for name, selector in selectors:
        assert label_names_in(selector) <= labels_by_sample()[name] | OF_PROMETHEUS, (where, name)
    known_labels = {label for name in asked_names for label in labels_by_sample()[name]}
    assert grouped <= known_labels | OF_PROMETHEUS, where


def test_each_legend_uses_labels_that_its_query_keeps() -> None:
    for panel in list_panels():
        for target in panel.get("targets", ()):
            used = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            grouped = {
                label.strip() for labels in _GROUPING.findall(target["expr"]) for label in labels.split(",")
            } or OF_PROMETHEUS
            assert used <= grouped, panel["title"]


def test_counters_are_only_read_as_rates() -> None:
    for where, expression in all_expressions():
        bare = re.sub(r"\b(?:rate|increase)\((?:[^()]|\{[^}]*\})*\)", "", expression)
        assert not re.search(r"_(?:total|bucket|sum|count)\b", bare), where


def test_each_metric_that_the_program_has_is_explained() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = [name for name in labels_by_sample() if not name.endswith("_created")]
    families = {re.sub(r"_(?:bucket|sum|count)$", "", name) for name in names}

    assert sorted(name for name in families if name.startswith("parley_") and f"`{name}`" not in page) == []


def test_each_metric_that_the_program_has_is_on_the_dashboard() -> None:
    asked_names = {
        name
        for panel in list_panels()
        for target in panel.get("targets", ())
        for name, _ in _SELECTOR.findall(target["expr"])
    }
    asked_families = {re.sub(r"_(?:bucket|sum|count)$", "", name) for name in asked_names}
    families = {re.sub(r"_(?:bucket|sum|count|created)$", "", name) for name in labels_by_sample()}
    own_families = {name for name in families if name.startswith("parley_") and f"{name}_total" not in families}

    assert own_families - asked_families == {"parley_info"}


def test_each_named_job_is_one_that_the_program_has() -> None:
    asked_jobs = [
        (where, pattern)
        for where, expression in all_expressions()
        for name, selector in _SELECTOR.findall(expression)
        if name.startswith("parley_job_")
        for pattern in re.findall(r'\bname(?:=~|!=|=)"([^"]+)"', selector)
    ]

    assert asked_jobs
    for where, pattern in asked_jobs:
        for alternative in pattern.split("|"):
            assert any(re.fullmatch(alternative, job) for job in JobName), (where, alternative)


def test_each_alert_is_explained_where_it_points() -> None:
    headings = set(re.findall(r"^### (\w+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    alerts = list_alerts()

    assert {rule["alert"] for rule in alerts} == headings
    assert [rule["annotations"]["action"] for rule in alerts] == [
        f"docs/operations.md#{rule['alert'].lower()}" for rule in alerts
    ]
    assert {rule["labels"]["severity"] for rule in alerts} <= {"page", "ticket"}


def test_the_panels_have_ids_titles_and_places_of_their_own() -> None:
    panels = list_panels()
    cells = [
        (panel["gridPos"]["x"] + x, panel["gridPos"]["y"] + y)
        for panel in panels
        for x in range(panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["h"])
    ]

    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_prometheus_accepts_the_rules() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    checked = subprocess.run([promtool, "check", "rules", str(ALERTS)], capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout + checked.stderr

"""Traces of turns, received as a collector receives them."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from agent.errors import ModelUnavailable
from agent.outcome import TraceStage
from agent.reasoning_log import ModelCallRecord, ReasoningLog
from bot.bootstrap import open_application
from bot.settings import Settings, load_settings
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema

NOBODY = "http://127.0.0.1:9"


@dataclass
class TraceCollector:
    """A collector that keeps what it is sent."""

    url: str = ""
    requests: list[ExportTraceServiceRequest] = field(default_factory=list[ExportTraceServiceRequest])

    async def receive(self, request: web.Request) -> web.Response:
        received = ExportTraceServiceRequest()
        received.ParseFromString(await request.read())
        self.requests.append(received)
        return web.Response(body=b"", content_type="application/x-protobuf")

    def spans(self) -> Iterator[Span]:
        for request in self.requests:
            for resource_spans in request.resource_spans:
                for scope_spans in resource_spans.scope_spans:
                    yield from scope_spans.spans


@pytest.fixture
async def collector() -> AsyncIterator[TraceCollector]:
    collector, app = TraceCollector(), web.Application()
    app.router.add_post("/v1/traces", collector.receive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    collector.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield collector
    await runner.cleanup()


def settings_for(home: Path, endpoint: str) -> Settings:
    environ = {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}
    return load_settings(home, environ).settings


async def ask_traced_question(settings: Settings, agent: ListingAgent) -> str:
    async with open_application(settings, agent=agent, reasoner=NO_REASONER) as bot:
        await bot.index.set_schema(a_receipt_schema())
        await bot.index.put(RECEIPTS, [a_document("r1", "the secret of Acme")])
        return (await ConversationDriver(bot).ask_question("What is the secret?")).turn


def attributes_of(span: Span) -> dict[str, object]:
    return {
        attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value") or "")
        for attribute in span.attributes
    }


async def test_a_turn_is_traced_with_its_stages_and_calls_and_without_texts(
    tmp_path: Path, collector: TraceCollector
) -> None:
    def reason(log: ReasoningLog) -> None:
        call = ModelCallRecord(
            prompt="plan_question@3",
            model="openai/big",
            ms=20.0,
            input_tokens=1200,
            output_tokens=80,
            cost_usd=0.5,
            request_text="the secret prompt",
        )
        failed = ModelCallRecord(
            prompt="write@1", model="local", ms=5.0, error="the secret of the server", ended_at=1.0
        )
        log.calls += [call, failed]
        log.record_failure("compose", ModelUnavailable("secret"))
        log.stages.append(TraceStage(name="decompose", ms=40.0, ended_at=call.ended_at + 0.01))
        log.stages.append(TraceStage(name="compose", ms=1.0, fallback="secret"))

    agent = ListingAgent()
    agent.reason = reason
    turn = await ask_traced_question(settings_for(tmp_path, collector.url), agent)

    spans = {span.name: span for span in collector.spans()}
    assert set(spans) == {"turn", "stage decompose", "stage compose", "chat openai/big", "chat local"}
    turn_span, call_span = spans["turn"], spans["chat openai/big"]
    assert attributes_of(turn_span) == {
        "parley.turn.id": turn,
        "parley.turn.surface": "slack",
        "parley.turn.outcome": "answer",
    }
    assert turn_span.parent_span_id == b""
    assert {spans[name].parent_span_id for name in ("stage decompose", "stage compose", "chat local")} == {
        turn_span.span_id
    }
    assert call_span.parent_span_id == spans["stage decompose"].span_id
    assert len({span.trace_id for span in spans.values()}) == 1
    assert attributes_of(spans["stage compose"])["parley.stage.is_fallback"] is True
    assert attributes_of(call_span) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "openai/big",
        "gen_ai.prompt.name": "plan_question@3",
        "gen_ai.usage.input_tokens": 1200,
        "gen_ai.usage.output_tokens": 80,
        "parley.cost_usd": 0.5,
    }
    assert call_span.end_time_unix_nano - call_span.start_time_unix_nano == pytest.approx(20e6, rel=0.01)
    assert spans["chat local"].status.code == Span().status.code + 2  # STATUS_CODE_ERROR
    assert attributes_of(spans["chat local"])["error.type"] == "_OTHER"
    assert "secret" not in str(collector.requests)


async def test_a_collector_that_does_not_answer_changes_no_answer_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    await ask_traced_question(settings_for(tmp_path, NOBODY), ListingAgent())

    assert capfd.readouterr().err == ""
    assert "traces not sent" in (tmp_path / "logs" / "parley.log").read_text()


async def test_without_an_endpoint_nothing_is_sent(tmp_path: Path, collector: TraceCollector) -> None:
    settings = load_settings(tmp_path, {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none"}).settings
    await ask_traced_question(settings, ListingAgent())

    assert collector.requests == []

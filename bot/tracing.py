"""OpenTelemetry traces: a span for each turn, and in it spans for its stages and its model calls. They have no texts.

The names of attributes are OpenTelemetry's where it has some
(https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/). Needs `pip install 'parley[otel]'`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.util.types import AttributeValue
from structlog.typing import FilteringBoundLogger

from agent.outcome import TraceStage
from bot.language_model.measured_call import MeasuredCall
from bot.turns.measurements import TurnMeasurement

_NANO: Final = 1_000_000_000
_EXPORT_TIMEOUT_S: Final = 5.0
_OPERATION_BY_PROMPT: Final = {"embed_texts": "embeddings", "score_passages": "rerank"}  # else `chat`


@asynccontextmanager
async def open_turn_tracer(endpoint: str, tenant: str, log: FilteringBoundLogger) -> "AsyncGenerator[TurnTracer]":
    """Sends spans to the collector at `endpoint`, the base of its OTLP API over HTTP. The library reads its further
    settings from the variables that begin with `OTEL_`.

    Spans are sent in the background; at the end of the block those that are left. A collector that does not answer only
    fills the log.
    """
    resource = Resource({"service.name": "parley", "service.version": version("parley"), "parley.tenant": tenant})
    provider = TracerProvider(resource=resource.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", timeout=_EXPORT_TIMEOUT_S)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    logger, handler = logging.getLogger("opentelemetry"), _LogForwarder(log)
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield TurnTracer(provider.get_tracer("parley"))
    finally:
        await asyncio.to_thread(provider.shutdown)
        logger.removeHandler(handler)
        logger.propagate = True


class _LogForwarder(logging.Handler):
    """Puts the warnings of the library into the log of the application."""

    def __init__(self, log: FilteringBoundLogger) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.warning("traces not sent", reason=record.getMessage())


class TurnTracer:
    """Makes the spans of a turn when it has ended, from its measured times."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def record_turn(self, measurement: TurnMeasurement) -> None:
        """Fulfils `bot.turns.turn_processor.TurnObserver`."""
        attributes = {
            "parley.turn.id": measurement.turn,
            "parley.turn.surface": measurement.surface,
            "parley.turn.outcome": measurement.outcome,
        }
        turn_span = self._start_span(
            "turn", measurement.ended_at - measurement.seconds, attributes, kind=SpanKind.CONSUMER
        )
        turn_context = set_span_in_context(turn_span)
        stage_contexts = [(stage, self._record_stage(stage, turn_context)) for stage in measurement.stages]
        for call in measurement.calls:
            self._record_call(call, _context_of_call(call, stage_contexts) or turn_context)
        _end_span(turn_span, measurement.ended_at)

    def _record_stage(self, stage: TraceStage, turn_context: Context) -> Context:
        attributes = {"parley.stage.name": stage.name, "parley.stage.is_fallback": stage.fallback is not None}
        started_at = stage.ended_at - stage.ms / 1000
        span = self._start_span(f"stage {stage.name}", started_at, attributes, context=turn_context)
        _end_span(span, stage.ended_at)
        return set_span_in_context(span)

    def _record_call(self, call: MeasuredCall, context: Context) -> None:
        operation = _OPERATION_BY_PROMPT.get(call.prompt, "chat")
        provider, has_provider, _ = call.model.partition("/")
        attributes: dict[str, AttributeValue] = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": provider if has_provider else "_OTHER",
            "gen_ai.request.model": call.model,
            "gen_ai.prompt.name": call.prompt,
            "gen_ai.usage.input_tokens": call.input_tokens,
            "gen_ai.usage.output_tokens": call.output_tokens,
        }
        if call.cost_usd is not None:
            attributes["parley.cost_usd"] = call.cost_usd
        if call.is_failed:
            attributes["error.type"] = "_OTHER"
        started_at = call.ended_at - call.seconds
        span = self._start_span(f"{operation} {call.model}", started_at, attributes, context, kind=SpanKind.CLIENT)
        if call.is_failed:
            span.set_status(Status(StatusCode.ERROR))
        _end_span(span, call.ended_at)

    def _start_span(
        self,
        name: str,
        started_at: float,
        attributes: Mapping[str, AttributeValue],
        context: Context | None = None,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        return self._tracer.start_span(
            name, context or Context(), kind=kind, attributes=attributes, start_time=round(started_at * _NANO)
        )


def _context_of_call(call: MeasuredCall, stage_contexts: Sequence[tuple[TraceStage, Context]]) -> Context | None:
    """The context of the shortest stage that was running in the middle of the call; None if none was."""
    middle = call.ended_at - call.seconds / 2
    enclosing = [
        (stage.ms, position)
        for position, (stage, _) in enumerate(stage_contexts)
        if stage.ended_at - stage.ms / 1000 <= middle <= stage.ended_at
    ]
    return stage_contexts[min(enclosing)[1]][1] if enclosing else None


def _end_span(span: Span, ended_at: float) -> None:
    span.end(end_time=round(ended_at * _NANO))

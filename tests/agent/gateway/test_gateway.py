"""The gateway over real HTTP: retries, fallback models, circuits, bounds, costs, and what is recorded."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import pytest

from agent.errors import ModelUnavailable, PriceUnknown, SpendingCapReached, StreamCut
from agent.gateway.messages import (
    ChatMessage,
    MessageRole,
    ModelRole,
    OutputSchema,
    ToolCall,
    ToolDefinition,
)
from agent.gateway.options import CallLimits, ModelNames, ModelPrice, ModelServer
from agent.gateway.spending import ReservationId, SpendingReservation
from agent.reasoning_log import ModelCallRecord, ReasoningLog
from tests.agent.gateway.conftest import EMBEDDING, MAIN, OTHER, RERANK, SMALL, FakeTime, GatewayFactory, a_request
from tests.stand_ins.model.replies import (
    CalledTool,
    CutAnswer,
    HttpFault,
    RawAnswer,
    ServerReply,
    StalledAnswer,
    StreamedError,
    TextAnswer,
    closed_port_url,
)
from tests.stand_ins.model.server import ScriptedModelServer, score_of, vector_of

WITH_FALLBACK = ModelNames(main=MAIN, fallbacks=(OTHER,))
NO_RETRIES = CallLimits(retries=0)
SCHEMA = OutputSchema(
    name="count",
    schema={
        "type": "object",
        "properties": {"count": {"type": "integer"}},
        "required": ["count"],
        "additionalProperties": False,
    },
)
TRANSIENT_FAULTS: list[ServerReply] = [
    HttpFault(status=408),
    HttpFault(status=409),
    HttpFault(status=429),
    HttpFault(status=500),
    HttpFault(status=502),
    HttpFault(status=503),
    HttpFault(status=529),
    CutAnswer(),
    RawAnswer(body=b"<html>Bad gateway</html>"),
    RawAnswer(body=b"{}", content_type="application/json"),
    RawAnswer(body=b'{"choices": []}', content_type="application/json"),
    RawAnswer(body=b"", content_type="application/json"),
]


def models_asked(server: ScriptedModelServer) -> list[str]:
    return [request.model for request in server.chat_requests]


async def test_a_reply_comes_with_its_model_and_the_tokens_that_the_server_counted(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = ["There are 42."]

    reply = await open_gateway().complete(a_request(), ReasoningLog())

    assert (reply.text, reply.model, reply.input_tokens, reply.output_tokens) == ("There are 42.", MAIN, 4, 3)
    [sent] = model_server.chat_requests
    assert [(message.role, message.content) for message in sent.messages] == [
        ("system", "Be brief."),
        ("user", "How many?"),
    ]
    assert (sent.temperature, sent.token_limit) == (0.0, 2000)


async def test_the_small_role_has_a_model_of_its_own_or_the_main_model(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.answer_chat = lambda _: "ok"

    await open_gateway().complete(a_request(role=ModelRole.SMALL), ReasoningLog())
    await open_gateway(models=ModelNames(main=MAIN)).complete(a_request(role=ModelRole.SMALL), ReasoningLog())

    assert models_asked(model_server) == ["small-model", "main-model"]


@pytest.mark.parametrize("fault", TRANSIENT_FAULTS, ids=str)
async def test_a_transient_fault_is_retried(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, fake_time: FakeTime, fault: ServerReply
) -> None:
    model_server.chat_replies = [fault, fault, "ok"]
    log = ReasoningLog()

    reply = await open_gateway().complete(a_request(), log)

    assert reply.text == "ok"
    assert fake_time.pauses == [0.5, 1.0]
    assert [bool(call.error) for call in log.calls] == [True, True, False]


async def test_retries_are_bounded(open_gateway: GatewayFactory, model_server: ScriptedModelServer) -> None:
    model_server.answer_chat = lambda _: HttpFault()

    with pytest.raises(ModelUnavailable, match=r"openai/main-model: server error \(500\)"):
        await open_gateway().complete(a_request(), ReasoningLog())

    assert len(model_server.chat_requests) == 3


async def test_a_pause_that_the_server_asks_for_is_honoured(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, fake_time: FakeTime
) -> None:
    model_server.chat_replies = [HttpFault(status=429, retry_after="7"), "ok"]

    await open_gateway().complete(a_request(), ReasoningLog())

    assert fake_time.pauses == [7.0]


async def test_a_longer_pause_than_the_cap_is_cut_to_the_cap(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, fake_time: FakeTime
) -> None:
    model_server.chat_replies = [HttpFault(status=429, retry_after="120"), "ok"]

    await open_gateway().complete(a_request(), ReasoningLog())

    assert fake_time.pauses == [10.0]


async def test_a_longer_pause_than_the_cap_is_not_waited_for_where_another_model_can_be_asked(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, fake_time: FakeTime
) -> None:
    model_server.chat_replies = [HttpFault(status=429, retry_after="120"), "ok"]

    reply = await open_gateway(models=WITH_FALLBACK).complete(a_request(), ReasoningLog())

    assert reply.model == OTHER
    assert fake_time.pauses == []


async def test_no_pause_goes_past_the_deadline(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, fake_time: FakeTime
) -> None:
    model_server.answer_chat = lambda _: HttpFault(status=429, retry_after="7")

    with pytest.raises(ModelUnavailable):
        await open_gateway().complete(a_request(timeout_s=10.0), ReasoningLog())

    assert fake_time.pauses == [7.0]


async def test_a_refused_connection_is_retried_and_then_another_model_is_asked(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, fake_time: FakeTime
) -> None:
    model_server.chat_replies = ["ok"]
    log = ReasoningLog()
    gateway = open_gateway(models=WITH_FALLBACK, servers={MAIN: ModelServer(api_base=closed_port_url(), api_key="x")})

    reply = await gateway.complete(a_request(), log)

    assert reply.model == OTHER
    assert len(fake_time.pauses) == 2
    assert [call.error for call in log.calls] == ["the connection failed"] * 3 + [""]
    assert [call.waited_ms >= 250 for call in log.calls] == [False, True, True, False]


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_a_model_that_refuses_access_is_not_asked_again_but_the_next_one_is(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, status: int
) -> None:
    model_server.chat_replies = [HttpFault(status=status), "ok"]

    reply = await open_gateway(models=WITH_FALLBACK).complete(a_request(), ReasoningLog())

    assert (reply.model, models_asked(model_server)) == (OTHER, ["main-model", "other-model"])


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_request_that_is_refused_as_such_is_sent_to_no_other_model(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, status: int
) -> None:
    model_server.answer_chat = lambda _: HttpFault(status=status, message="this model's maximum context length is 10")

    with pytest.raises(ModelUnavailable, match="refused the request"):
        await open_gateway(models=WITH_FALLBACK).complete(a_request(), ReasoningLog())

    assert models_asked(model_server) == ["main-model"]


async def test_a_wrong_key_and_an_unknown_provider_make_the_model_unavailable(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    wrong_key = ModelServer(api_base=model_server.url, api_key="sk-wrong-secret")

    with pytest.raises(ModelUnavailable, match="refused access") as refused:
        await open_gateway(server=wrong_key).complete(a_request(), ReasoningLog())
    with pytest.raises(ModelUnavailable, match="no known provider"):
        await open_gateway(models=ModelNames(main="no-such-model")).complete(a_request(), ReasoningLog())

    assert "secret" not in str(refused.value)
    assert [status for status, _ in model_server.refused_requests] == [401]


async def test_fallback_models_are_asked_in_their_order(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.answer_chat = lambda request: "ok" if request.model == "small-model" else HttpFault()

    reply = await open_gateway(models=ModelNames(main=MAIN, fallbacks=(OTHER, SMALL)), limits=NO_RETRIES).complete(
        a_request(), ReasoningLog()
    )

    assert reply.model == SMALL
    assert models_asked(model_server) == ["main-model", "other-model", "small-model"]


async def test_a_model_that_hangs_leaves_time_for_the_next_one(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [TextAnswer(text="late", delay_s=60), "ok"]
    log = ReasoningLog()

    reply = await open_gateway(models=WITH_FALLBACK).complete(a_request(timeout_s=1.0), log)

    assert reply.model == OTHER
    assert [call.error for call in log.calls] == ["timed out", ""]
    await _until(lambda: model_server.cancelled_requests == 1)


async def test_a_single_model_that_hangs_ends_at_the_deadline(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [TextAnswer(text="late", delay_s=60)]

    with pytest.raises(ModelUnavailable, match="timed out"):
        await open_gateway().complete(a_request(timeout_s=0.2), ReasoningLog())

    assert len(model_server.chat_requests) == 1


async def test_after_failures_in_a_row_a_model_is_left_alone_until_one_trial_succeeds(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, fake_time: FakeTime
) -> None:
    gateway = open_gateway(limits=CallLimits(retries=1, circuit_failures=4, circuit_pause_s=30))
    model_server.answer_chat = lambda _: HttpFault()
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            await gateway.complete(a_request(), ReasoningLog())
    log = ReasoningLog()

    with pytest.raises(ModelUnavailable, match="not asked for now"):
        await gateway.complete(a_request(), log)
    assert (len(model_server.chat_requests), log.calls) == (4, [])

    fake_time.now_s += 30
    with pytest.raises(ModelUnavailable):
        await gateway.complete(a_request(), ReasoningLog())
    assert len(model_server.chat_requests) == 5

    fake_time.now_s += 30
    model_server.answer_chat = lambda _: "ok"
    assert [(await gateway.complete(a_request(), ReasoningLog())).text for _ in range(2)] == ["ok", "ok"]


async def test_while_a_model_is_left_alone_its_fallback_answers(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    gateway = open_gateway(models=WITH_FALLBACK, limits=CallLimits(retries=0, circuit_failures=1))
    model_server.answer_chat = lambda request: HttpFault() if request.model == "main-model" else "ok"

    replies = [await gateway.complete(a_request(), ReasoningLog()) for _ in range(2)]

    assert [reply.model for reply in replies] == [OTHER, OTHER]
    assert models_asked(model_server) == ["main-model", "other-model", "other-model"]


async def test_calls_at_once_are_bounded_for_each_model(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.answer_chat = lambda _: TextAnswer(text="ok", delay_s=0.05)
    gateway = open_gateway(limits=CallLimits(concurrent_calls=2))

    replies = await asyncio.gather(*(gateway.complete(a_request(), ReasoningLog()) for _ in range(6)))

    assert [reply.text for reply in replies] == ["ok"] * 6
    assert model_server.most_running_requests == 2


async def test_waiting_for_a_slot_counts_against_the_deadline_and_is_no_call(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.answer_chat = lambda _: TextAnswer(text="late", delay_s=60)
    gateway = open_gateway(limits=CallLimits(concurrent_calls=1))
    log = ReasoningLog()
    running = asyncio.create_task(gateway.complete(a_request(), ReasoningLog()))
    await _until(lambda: model_server.running_requests == 1)

    with pytest.raises(ModelUnavailable, match="too many calls at once"):
        await gateway.complete(a_request(timeout_s=0.1), log)

    assert log.calls == []
    running.cancel()
    await asyncio.wait([running])


async def test_a_cancelled_caller_stops_the_request_and_frees_its_slot(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [TextAnswer(text="late", delay_s=60), "ok"]
    gateway = open_gateway(limits=CallLimits(concurrent_calls=1))
    log = ReasoningLog()
    running = asyncio.create_task(gateway.complete(a_request(), log))
    await _until(lambda: model_server.running_requests == 1)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    await _until(lambda: model_server.cancelled_requests == 1)
    assert [call.error for call in log.calls] == ["cancelled"]
    assert (await gateway.complete(a_request(), log)).text == "ok"


async def _until(condition: Callable[[], bool]) -> None:
    """Waits until the server has noticed what the client did."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - the server has no event for each condition
            await asyncio.sleep(0.01)


async def test_cost_follows_the_settings_then_litellm_and_is_else_unknown(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.models = None
    model_server.answer_chat = lambda _: "one two three"
    logs: list[ReasoningLog] = []
    for model, prices in [
        (MAIN, {}),
        (MAIN, {MAIN: ModelPrice(input_usd=1.0, output_usd=10.0)}),
        (MAIN, {MAIN: ModelPrice(input_usd=0.0)}),
        ("openai/gpt-4o-mini", {}),
        ("openai/gpt-4o-mini", {"openai/gpt-4o-mini": ModelPrice(input_usd=1.0)}),
    ]:
        logs.append(log := ReasoningLog())
        await open_gateway(models=ModelNames(main=model), prices=prices).complete(a_request(), log)

    costs = [log.calls[0].cost_usd for log in logs]

    assert costs[0] is None
    assert costs[1:] == pytest.approx([34e-6, 0.0, 4 * 0.15e-6 + 3 * 0.6e-6, 4e-6])
    assert [log.usage.cost_usd for log in logs] == costs


async def test_a_call_that_the_server_refuses_costs_nothing_also_if_the_price_is_unknown(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [HttpFault(status=429), "ok"]
    log = ReasoningLog()

    await open_gateway().complete(a_request(), log)

    assert [call.cost_usd for call in log.calls] == [0.0, None]


async def test_tokens_are_estimated_where_the_server_counts_none(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [TextAnswer(text="x" * 400, sends_usage=False)]

    reply = await open_gateway().complete(a_request("y" * 4000), ReasoningLog())

    assert reply.output_tokens == 100
    assert 1000 <= reply.input_tokens <= 1020


class RecordingGuard:
    """Keeps what is reserved and settled, and refuses above its cap."""

    def __init__(self, cap_usd: float) -> None:
        self.cap_usd = cap_usd
        self.reserved: list[float | None] = []
        self.settled: list[float | None] = []

    async def reserve(self, estimated_usd: float | None) -> SpendingReservation | None:
        if estimated_usd is None or estimated_usd > self.cap_usd:
            return None
        self.reserved.append(estimated_usd)
        return SpendingReservation(id=ReservationId(str(len(self.reserved))), estimated_usd=estimated_usd)

    async def settle(self, reservation: SpendingReservation, actual_usd: float | None) -> None:
        self.settled.append(actual_usd)


async def test_the_highest_cost_is_reserved_before_a_call_and_the_true_one_settled_after_it(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [HttpFault(), "one two three"]
    guard = RecordingGuard(cap_usd=1.0)
    gateway = open_gateway(spending=guard, prices={MAIN: ModelPrice(input_usd=1.0, output_usd=10.0)})

    await gateway.complete(a_request(max_output_tokens=1000), ReasoningLog())

    assert guard.reserved == [pytest.approx(0.01, rel=0.01)] * 2
    assert guard.settled == pytest.approx([0.0, 34e-6])


async def test_past_the_cap_no_model_is_asked(open_gateway: GatewayFactory, model_server: ScriptedModelServer) -> None:
    gateway = open_gateway(spending=RecordingGuard(cap_usd=0.001), prices={MAIN: ModelPrice(input_usd=1, output_usd=1)})
    log = ReasoningLog()

    with pytest.raises(SpendingCapReached):
        await gateway.complete(a_request(max_output_tokens=100_000), log)

    assert (model_server.chat_requests, log.calls) == ([], [])


async def test_with_a_cap_a_model_without_a_price_is_not_asked(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    gateway = open_gateway(spending=RecordingGuard(cap_usd=1.0))
    log = ReasoningLog()

    with pytest.raises(PriceUnknown, match=f"the price of {MAIN} is unknown"):
        await gateway.complete(a_request(), log)

    assert (model_server.chat_requests, log.calls) == ([], [])


async def test_with_a_cap_a_fallback_with_a_price_is_asked_instead(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = ["from the fallback"]
    prices = {OTHER: ModelPrice(input_usd=1.0, output_usd=1.0)}
    gateway = open_gateway(spending=RecordingGuard(cap_usd=1.0), prices=prices, models=WITH_FALLBACK)

    reply = await gateway.complete(a_request(), ReasoningLog())

    assert (reply.text, reply.model) == ("from the fallback", OTHER)


async def test_a_cancelled_call_is_settled(open_gateway: GatewayFactory, model_server: ScriptedModelServer) -> None:
    model_server.chat_replies = [TextAnswer(text="late", delay_s=60)]
    guard = RecordingGuard(cap_usd=1.0)
    gateway = open_gateway(spending=guard, prices={MAIN: ModelPrice(input_usd=1.0)})
    running = asyncio.create_task(gateway.complete(a_request(), ReasoningLog()))
    await _until(lambda: model_server.running_requests == 1)

    running.cancel()
    await asyncio.wait([running])

    assert [actual_usd is not None and actual_usd > 0 for actual_usd in guard.settled] == [True]


async def test_texts_are_recorded_only_if_the_setting_says_so(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.answer_chat = lambda _: "There are 42."
    without, with_texts = ReasoningLog(), ReasoningLog()

    await open_gateway().complete(a_request(), without)
    await open_gateway(keeps_texts=True).complete(a_request(), with_texts)

    assert (without.calls[0].request_text, without.calls[0].reply_text) == ("", "")
    assert "How many?" in with_texts.calls[0].request_text
    assert with_texts.calls[0].reply_text == "There are 42."


async def test_observers_get_each_record(open_gateway: GatewayFactory, model_server: ScriptedModelServer) -> None:
    model_server.chat_replies = [HttpFault(status=503), "ok"]
    observed: list[ModelCallRecord] = []
    log = ReasoningLog()

    await open_gateway(observers=[observed.append]).complete(a_request(), log)

    assert observed == log.calls
    assert [(record.prompt, record.model) for record in observed] == [("count@1", MAIN)] * 2


async def test_tool_calls_pass_both_ways_as_they_are(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    tool = ToolDefinition(
        name="search_text",
        description="Searches.",
        parameters={"type": "object", "properties": {"query": {"type": "string"}}},
    )
    model_server.chat_replies = [TextAnswer(tool_calls=(CalledTool(name="no_such_tool", arguments="{broken"),)), "done"]
    gateway, request = open_gateway(), a_request(tools=(tool,))

    reply = await gateway.complete(request, ReasoningLog())
    answered = (
        *request.messages,
        ChatMessage(role=MessageRole.ASSISTANT, content=reply.text, tool_calls=reply.tool_calls),
        ChatMessage(role=MessageRole.TOOL, content="no such tool", tool_call_id=reply.tool_calls[0].id),
    )
    last = await gateway.complete(a_request(tools=(tool,), messages=answered), ReasoningLog())

    assert reply.tool_calls == (ToolCall(id="call_1", name="no_such_tool", arguments="{broken"),)
    assert last.text == "done"


async def test_an_output_schema_is_sent_as_a_strict_response_format(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = ['{"count": 42}']

    await open_gateway().complete(a_request(output_schema=SCHEMA), ReasoningLog())

    assert model_server.chat_requests[0].strict_schema == SCHEMA.schema


async def test_a_server_without_schemas_gets_it_in_the_system_text_from_then_on(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.knows_json_schema = False
    model_server.answer_chat = lambda _: '{"count": 42}'
    gateway = open_gateway()

    for _ in range(2):
        await gateway.complete(a_request(output_schema=SCHEMA), ReasoningLog())

    assert len(model_server.refused_requests) == 1
    texts = [request.text_of("system") for request in model_server.chat_requests]
    assert all(text.startswith("Be brief.") and '"count"' in text for text in texts)


async def test_a_server_that_refuses_a_temperature_gets_none_from_then_on(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.refused_parameters = {"temperature"}
    model_server.answer_chat = lambda _: "ok"
    gateway = open_gateway()

    for _ in range(2):
        await gateway.complete(a_request(), ReasoningLog())

    assert len(model_server.refused_requests) == 1


async def test_a_model_that_litellm_knows_to_refuse_a_temperature_gets_none(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.models = None
    model_server.chat_replies = ["ok"]

    reply = await open_gateway(models=ModelNames(main="openai/gpt-5-mini")).complete(a_request(), ReasoningLog())

    assert reply.text == "ok"
    assert (model_server.chat_requests[0].temperature, model_server.chat_requests[0].token_limit) == (None, 2000)


async def test_a_refusal_and_a_truncated_reply_are_told_apart_from_others(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [TextAnswer(refusal="I cannot help."), TextAnswer(text="so", finish_reason="length")]
    gateway = open_gateway()

    refused, truncated = [await gateway.complete(a_request(), ReasoningLog()) for _ in range(2)]

    assert (refused.refusal, refused.text) == ("I cannot help.", "")
    assert (truncated.is_truncated, refused.is_truncated) == (True, False)


async def test_an_empty_reply_is_a_reply(open_gateway: GatewayFactory, model_server: ScriptedModelServer) -> None:
    model_server.chat_replies = [""]

    assert (await open_gateway().complete(a_request(), ReasoningLog())).text == ""


async def test_a_megabyte_of_text_is_cut_off(open_gateway: GatewayFactory, model_server: ScriptedModelServer) -> None:
    model_server.chat_replies = ["x" * 2**20]

    reply = await open_gateway().complete(a_request(max_output_tokens=100), ReasoningLog())

    assert (len(reply.text), reply.is_truncated) == (2000, True)


async def receive_until_cut(pieces: AsyncIterator[str]) -> str:
    """Returns the text of a stream that must end early."""
    text = ""
    try:
        async for piece in pieces:
            text += piece
    except StreamCut:
        return text
    pytest.fail(f"the stream was not cut after {text[:100]!r}")


async def test_a_stream_brings_the_text_in_pieces_and_its_usage(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = ["There are 42 of them."]
    log = ReasoningLog()

    pieces = [piece async for piece in open_gateway().stream_text(a_request(), log)]

    assert "".join(pieces) == "There are 42 of them."
    assert len(pieces) == 3
    assert [(call.input_tokens, call.output_tokens, call.error) for call in log.calls] == [(4, 5, "")]


@pytest.mark.parametrize(
    "fault", [HttpFault(status=503), CutAnswer(), CutAnswer(closes_cleanly=True), StreamedError()], ids=str
)
async def test_a_stream_that_fails_before_its_first_piece_is_retried_and_falls_back(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, fault: ServerReply
) -> None:
    model_server.answer_chat = lambda request: fault if request.model == "main-model" else "It is 42."

    pieces = [piece async for piece in open_gateway(models=WITH_FALLBACK).stream_text(a_request(), ReasoningLog())]

    assert "".join(pieces) == "It is 42."
    assert models_asked(model_server) == ["main-model"] * 3 + ["other-model"]


@pytest.mark.parametrize(
    "fault",
    [
        CutAnswer(text="There are 4"),
        CutAnswer(text="There are 4", closes_cleanly=True),
        StreamedError(text="There are 4"),
    ],
    ids=str,
)
async def test_a_cut_stream_brings_its_pieces_and_then_says_so(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, fault: ServerReply
) -> None:
    model_server.chat_replies = [fault, "never sent"]
    log = ReasoningLog()

    assert await receive_until_cut(open_gateway().stream_text(a_request(), log)) == "There are 4"
    assert [call.error for call in log.calls] == ["stopped in the middle"]
    assert log.calls[0].output_tokens > 0


async def test_a_stream_that_hangs_is_cut_at_the_deadline(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [StalledAnswer(text="There are 4")]
    log = ReasoningLog()

    assert await receive_until_cut(open_gateway().stream_text(a_request(timeout_s=2.0), log)) == "There are 4"

    assert [call.error for call in log.calls] == ["stopped in the middle"]

    await _until(lambda: model_server.cancelled_requests == 1)


async def test_a_stream_of_a_megabyte_is_cut(open_gateway: GatewayFactory, model_server: ScriptedModelServer) -> None:
    model_server.chat_replies = [TextAnswer(text="x" * 2**20, piece_chars=1000)]
    pieces = open_gateway().stream_text(a_request(max_output_tokens=100), ReasoningLog())

    assert await receive_until_cut(pieces) == "x" * 2000


async def test_a_stream_that_is_left_stops_the_request(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [TextAnswer(text="There are 42.", piece_delay_s=0.05), "ok"]
    gateway = open_gateway(limits=CallLimits(concurrent_calls=1))
    log = ReasoningLog()

    async with aclosing(gateway.stream_text(a_request(), log)) as pieces:
        async for _ in pieces:
            break

    await _until(lambda: model_server.running_requests == 0)
    assert [call.error for call in log.calls] == ["cancelled"]
    assert (await gateway.complete(a_request(), log)).text == "ok"


async def test_texts_are_embedded_in_batches_in_their_order(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    texts = [f"passage {number}" for number in range(7)]
    log = ReasoningLog()

    vectors = await open_gateway(limits=CallLimits(embedding_batch=3), embedding_dimensions=16).embed_texts(texts, log)

    assert [list(vector) for vector in vectors] == [vector_of(text, 16) for text in texts]
    assert [len(request.texts) for request in model_server.embedding_requests] == [3, 3, 1]
    assert [(call.model, call.input_tokens) for call in log.calls] == [(EMBEDDING, 6), (EMBEDDING, 6), (EMBEDDING, 2)]


async def test_a_failed_batch_is_retried_alone(open_gateway: GatewayFactory, model_server: ScriptedModelServer) -> None:
    model_server.embedding_replies = [HttpFault(status=429), RawAnswer(body=b"<html>")]

    vectors = await open_gateway().embed_texts(["a text"], ReasoningLog())

    assert [list(vector) for vector in vectors] == [vector_of("a text")]
    assert len(model_server.embedding_requests) == 3


async def test_vectors_never_come_from_another_model(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.embedding_replies = [HttpFault()] * 3
    models = ModelNames(main=MAIN, embedding=EMBEDDING, fallbacks=(OTHER,))

    with pytest.raises(ModelUnavailable):
        await open_gateway(models=models).embed_texts(["a text"], ReasoningLog())

    assert {request.model for request in model_server.embedding_requests} == {"embedding-model"}


async def test_scores_are_in_the_order_of_the_texts(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    texts = ["nothing", "net weight of the box", "the weight"]
    model_server.rerank_replies = [HttpFault(status=503)]
    log = ReasoningLog()

    scores = await open_gateway().score_passages("net weight", texts, log)

    assert list(scores) == [score_of("net weight", text) for text in texts]
    assert [(call.model, bool(call.error)) for call in log.calls] == [(RERANK, True), (RERANK, False)]


async def test_a_role_without_a_model_is_unavailable(open_gateway: GatewayFactory) -> None:
    gateway = open_gateway(models=ModelNames(main=MAIN))

    with pytest.raises(ModelUnavailable):
        await gateway.embed_texts(["a text"], ReasoningLog())
    with pytest.raises(ModelUnavailable):
        await gateway.score_passages("a query", ["a text"], ReasoningLog())


def test_a_key_is_not_in_the_description_of_its_server() -> None:
    assert "secret" not in repr(ModelServer(api_base="http://x", api_key="sk-secret"))

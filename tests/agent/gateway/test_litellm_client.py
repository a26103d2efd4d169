"""The client over litellm: prices, errors, and loading."""

import asyncio
import inspect
import os
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from agent.errors import ModelUnavailable
from agent.gateway.gateway import ModelGateway
from agent.gateway.litellm_client import LiteLlmClient
from agent.gateway.messages import ToolDefinition
from agent.gateway.model_client import CallFailed, ChatCall, FailureKind
from agent.gateway.options import GatewayOptions, ModelNames, ModelServer
from agent.reasoning_log import ReasoningLog
from tests.agent.gateway.conftest import MAIN, GatewayFactory, a_request
from tests.stand_ins.model.replies import HttpFault
from tests.stand_ins.model.server import API_KEY, ScriptedModelServer

# Of parts of litellm that the client does not use: its proxy, guardrails, and vector stores.
UNUSED_ERRORS = {
    "BlockedPiiEntityError",
    "BudgetExceededError",
    "GuardrailInterventionNormalStringError",
    "GuardrailRaisedException",
    "ModelNotMappedError",
    "ModifyResponseException",
    "SensitiveDataRouteException",
}


def a_call(server: ScriptedModelServer) -> ChatCall:
    return ChatCall(
        model=MAIN,
        server=ModelServer(api_base=server.url, api_key=API_KEY),
        messages=a_request().messages,
        max_output_tokens=100,
    )


async def test_each_error_of_litellm_is_translated(litellm_client: LiteLlmClient) -> None:
    import litellm

    module: Any = litellm.exceptions
    errors = {
        name: error
        for name, error in inspect.getmembers(module, inspect.isclass)
        if issubclass(error, Exception) and error.__module__ == module.__name__
    }

    untranslated = {name for name, error in errors.items() if not issubclass(error, module.openai.OpenAIError)}

    assert untranslated == UNUSED_ERRORS & errors.keys()
    assert len(errors) > 20


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, FailureKind.REFUSED_REQUEST),
        (401, FailureKind.REFUSED_ACCESS),
        (404, FailureKind.NOT_FOUND),
        (408, FailureKind.SERVER_ERROR),
        (413, FailureKind.REFUSED_REQUEST),
        (429, FailureKind.BUSY),
        (500, FailureKind.SERVER_ERROR),
        (504, FailureKind.SERVER_ERROR),
        (529, FailureKind.SERVER_ERROR),
    ],
)
async def test_the_status_of_a_failure_says_its_kind(
    litellm_client: LiteLlmClient, model_server: ScriptedModelServer, status: int, kind: FailureKind
) -> None:
    model_server.chat_replies = [HttpFault(status=status, retry_after="2.5")]

    with pytest.raises(CallFailed) as failure:
        await litellm_client.complete_chat(a_call(model_server))

    assert (failure.value.kind, failure.value.status, failure.value.retry_after_s) == (kind, status, 2.5)
    assert len(model_server.chat_requests) == 1


@pytest.mark.parametrize(
    ("model", "api_base", "kind"),
    [
        ("nosuch/model", "", FailureKind.UNKNOWN_PROVIDER),
        ("some-model", "", FailureKind.UNKNOWN_PROVIDER),
        ("openai/main-model", "http://127.0.0.1:9/v1", FailureKind.NO_KEY),
        ("anthropic/main-model", "http://127.0.0.1:9", FailureKind.NO_KEY),
        ("gemini/main-model", "http://127.0.0.1:9", FailureKind.NO_KEY),
        ("hosted_vllm/main-model", "", FailureKind.NO_ADDRESS),
        ("lm_studio/main-model", "", FailureKind.NO_ADDRESS),
        ("hosted_vllm/main-model", "http://127.0.0.1:9/v1", FailureKind.UNREACHABLE),
    ],
)
async def test_a_call_that_cannot_be_made_says_what_is_missing(
    litellm_client: LiteLlmClient, monkeypatch: pytest.MonkeyPatch, model: str, api_base: str, kind: FailureKind
) -> None:
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_API_BASE"))]:
        monkeypatch.delenv(name)
    messages = a_request().messages
    call = ChatCall(model=model, server=ModelServer(api_base=api_base), messages=messages, max_output_tokens=9)

    with pytest.raises(CallFailed) as failure:
        await litellm_client.complete_chat(call)

    assert (failure.value.kind, failure.value.status) == (kind, None)


@pytest.mark.parametrize("retry_after", [None, "soon", "-1", "nan", "Wed, 42 Oct 2026 07:28:00 GMT"])
async def test_a_pause_that_is_no_number_of_seconds_is_none(
    litellm_client: LiteLlmClient, model_server: ScriptedModelServer, retry_after: str | None
) -> None:
    model_server.chat_replies = [HttpFault(status=429, retry_after=retry_after)]

    with pytest.raises(CallFailed) as failure:
        await litellm_client.complete_chat(a_call(model_server))

    assert failure.value.retry_after_s is None


@pytest.mark.parametrize(
    ("away", "least_s", "most_s"), [(timedelta(hours=1), 3_000.0, 3_600.0), (-timedelta(hours=1), 0.0, 0.0)]
)
async def test_a_pause_may_end_at_an_http_date(
    litellm_client: LiteLlmClient, model_server: ScriptedModelServer, away: timedelta, least_s: float, most_s: float
) -> None:
    date = format_datetime(datetime.now(UTC) + away, usegmt=True)
    model_server.chat_replies = [HttpFault(status=429, retry_after=date)]

    with pytest.raises(CallFailed) as failure:
        await litellm_client.complete_chat(a_call(model_server))

    assert failure.value.retry_after_s is not None
    assert least_s <= failure.value.retry_after_s <= most_s


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "gpt-4o-mini", "azure/gpt-4o-mini", "gemini/gemini-2.5-flash"])
async def test_the_price_of_a_known_model_is_above_zero(litellm_client: LiteLlmClient, model: str) -> None:
    price = litellm_client.price_of(model)

    assert price is not None
    assert 0 < price.input_usd < price.output_usd < 100


async def test_the_price_of_an_embedding_model_is_that_of_its_input(litellm_client: LiteLlmClient) -> None:
    price = litellm_client.price_of("openai/text-embedding-3-small")

    assert price is not None
    assert (price.input_usd > 0, price.output_usd) == (True, 0.0)


@pytest.mark.parametrize("model", ["openai/my-model", "hosted_vllm/gpt-4o-mini", "cohere/rerank-english-v3.0", "x", ""])
async def test_a_price_that_is_not_known_is_none(litellm_client: LiteLlmClient, model: str) -> None:
    assert litellm_client.price_of(model) is None


async def test_a_first_call_loads_the_library_itself(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = ["ok"]
    client = LiteLlmClient()
    options = GatewayOptions(
        models=ModelNames(main=MAIN), server=ModelServer(api_base=model_server.url, api_key=API_KEY)
    )

    reply = await ModelGateway(options, client).complete(a_request(), ReasoningLog())
    await client.close()

    assert reply.text == "ok"


async def test_a_call_with_tools_imports_no_server_of_the_library(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in _list_server_modules():
        monkeypatch.delitem(sys.modules, name)
    model_server.chat_replies = ["ok"]
    tool = ToolDefinition(name="count", description="Counts.", parameters={"type": "object", "properties": {}})

    await open_gateway().complete(a_request(tools=(tool,)), ReasoningLog())

    assert [sent.tools is None for sent in model_server.chat_requests] == [False]
    assert _list_server_modules() == []


def _list_server_modules() -> list[str]:
    return [name for name in sys.modules if name.startswith("litellm.responses.mcp.")]


class SlowClient(LiteLlmClient):
    """Never ends loading."""

    async def load(self) -> None:
        await asyncio.Event().wait()


async def test_a_library_that_loads_longer_than_the_deadline_makes_models_unavailable() -> None:
    gateway = ModelGateway(GatewayOptions(models=ModelNames(main=MAIN)), SlowClient())

    with pytest.raises(ModelUnavailable, match="loading"):
        await gateway.complete(a_request(timeout_s=0.05), ReasoningLog())

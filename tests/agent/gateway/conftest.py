"""A model server, and gateways that are built for it and closed again."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from agent.gateway.gateway import ModelGateway
from agent.gateway.litellm_client import LiteLlmClient
from agent.gateway.messages import ChatMessage, MessageRole, ModelRequest, ModelRole
from agent.gateway.options import CallLimits, GatewayOptions, ModelNames, ModelServer
from tests.stand_ins.model.server import ScriptedModelServer

MAIN, SMALL, OTHER = "openai/main-model", "openai/small-model", "openai/other-model"
EMBEDDING, RERANK = "openai/embedding-model", "hosted_vllm/rerank-model"


@dataclass
class FakeTime:
    """A clock that only moves when somebody sleeps on it."""

    now_s: float = 0.0
    pauses: list[float] = field(default_factory=list[float])

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now_s += seconds

    def clock(self) -> float:
        return self.now_s


@pytest.fixture
async def model_server() -> AsyncIterator[ScriptedModelServer]:
    async with ScriptedModelServer() as server:
        yield server


@pytest.fixture
async def litellm_client() -> AsyncIterator[LiteLlmClient]:
    client = LiteLlmClient()
    await client.load()
    yield client
    await client.close()


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


GatewayFactory = Callable[..., ModelGateway]


@pytest.fixture
def open_gateway(
    model_server: ScriptedModelServer, litellm_client: LiteLlmClient, fake_time: FakeTime
) -> GatewayFactory:
    def build(
        *,
        models: ModelNames | None = None,
        limits: CallLimits | None = None,
        spending: Any = None,
        observers: Any = (),
        **options: Any,
    ) -> ModelGateway:
        names = models or ModelNames(main=MAIN, small=SMALL, embedding=EMBEDDING, rerank=RERANK)
        server = ModelServer(api_base=model_server.url, api_key=model_server.api_key or "")
        return ModelGateway(
            replace(GatewayOptions(models=names, server=server, limits=limits or CallLimits()), **options),
            litellm_client,
            spending,
            observers=observers,
            sleep=fake_time.sleep,
            clock=fake_time.clock,
            jitter=lambda: 0.5,
        )

    return build


def a_request(text: str = "How many?", role: ModelRole = ModelRole.MAIN, **values: Any) -> ModelRequest:
    messages = (
        ChatMessage(role=MessageRole.SYSTEM, content="Be brief."),
        ChatMessage(role=MessageRole.USER, content=text),
    )
    return replace(ModelRequest(prompt="count@1", role=role, messages=messages), **values)

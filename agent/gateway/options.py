"""What a `ModelGateway` is built from: the models of each role, what they cost, and the limits of their calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from agent.gateway.messages import ModelRole


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """The address and the key of an API. Empty: the provider's own address, and the key in its own variable of the
    environment, as `OPENAI_API_KEY`.
    """

    api_base: str = ""  # as http://localhost:11434/v1
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelNames:
    """The models of each role, as litellm names them: `openai/gpt-5-mini`, `ollama_chat/qwen3`, `hosted_vllm/NAME`."""

    main: str = ""  # empty: only texts are embedded or scored
    small: str = ""  # empty: the main model
    embedding: str = ""  # empty: texts cannot be embedded
    rerank: str = ""  # empty: passages cannot be scored
    fallbacks: tuple[str, ...] = ()  # tried in this order after the main or the small model

    def chat_models(self, role: ModelRole) -> tuple[str, ...]:
        """The models to try for a role, in order."""
        return tuple(dict.fromkeys((*self.models_of(role), *self.fallbacks)))

    def models_of(self, role: ModelRole) -> tuple[str, ...]:
        """The model of a role; none if none is set."""
        match role:
            case ModelRole.MAIN:
                model = self.main
            case ModelRole.SMALL:
                model = self.small or self.main
            case ModelRole.EMBEDDING:
                model = self.embedding
            case ModelRole.RERANK:
                model = self.rerank
            case _:
                assert_never(role)
        return (model,) if model else ()

    @property
    def all_names(self) -> frozenset[str]:
        names = (self.main, self.small, self.embedding, self.rerank, *self.fallbacks)
        return frozenset(name for name in names if name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """US dollars per million tokens."""

    input_usd: float
    output_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """Bounds of the calls to one model. Durations are in seconds."""

    concurrent_calls: int = 8  # more wait; their waiting counts against their deadline
    retries: int = 2  # after the first try, for status 408, 409, 429 and 5xx, and for connections that fail
    first_pause_s: float = 0.5  # before the first retry; doubled for each further one, times a random 0.5 to 1.5
    retry_after_cap_s: float = 10.0  # a server that asks for a longer pause is asked again after this one
    circuit_failures: int = 5  # calls in a row that fail before a model is left alone
    circuit_pause_s: float = 30.0  # how long it is left alone before one call tries again
    chat_timeout_s: float = 30.0  # for a call with all its retries and fallbacks, if the request sets no other
    embedding_timeout_s: float = 60.0  # for a batch of texts, with its retries
    rerank_timeout_s: float = 10.0  # with its retries
    embedding_batch: int = 64  # texts a request


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayOptions:
    """`server` is the one of every model that is not in `servers`. `prices` go before those that litellm knows; a model
    with neither has an unknown price, which is not 0.
    """

    models: ModelNames
    server: ModelServer = field(default_factory=ModelServer)
    servers: Mapping[str, ModelServer] = field(default_factory=dict[str, ModelServer])  # by name of the model
    prices: Mapping[str, ModelPrice] = field(default_factory=dict[str, ModelPrice])  # by name of the model
    limits: CallLimits = field(default_factory=CallLimits)
    temperature: float | None = 0.0  # None: the model's own; not sent to models that refuse it
    embedding_dimensions: int | None = None  # None: the model's own
    keeps_texts: bool = False  # whether records of calls hold what was sent and received

    def server_of(self, model: str) -> ModelServer:
        return self.servers.get(model, self.server)

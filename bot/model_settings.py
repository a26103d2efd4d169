"""The settings of the language model: `PARLEY_MODEL` and the variables that begin with `PARLEY_MODEL_`."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import AfterValidator, AliasGenerator, ConfigDict, Field, SecretStr

from agent.gateway.options import CallLimits, GatewayOptions, ModelNames, ModelPrice, ModelServer
from agent.model.options import ModelMode, ModelOptions, ModelUse
from bot.settings_section import CommaSeparated, SettingsSection, validate_web_url

_NAME_FIELD = "name"
# Of calls to embedding and reranking models as well
_CALL_FIELDS = frozenset({"api_base", "api_key", "prices", "budget", "concurrency", "store_texts"})


def _variable_of(field: str) -> str:
    return "PARLEY_MODEL" if field == _NAME_FIELD else f"PARLEY_MODEL_{field.upper()}"


def _validate_price(text: str) -> str:
    _parse_price(text)
    return text


def _parse_price(text: str) -> tuple[str, ModelPrice]:
    """Returns the model and its price, of `NAME=IN/OUT`; models for embedding have only IN. Raises `ValueError`."""
    model, _, amounts = text.rpartition("=")
    try:
        per_token_kind = [float(amount) for amount in amounts.split("/", 1)]
    except ValueError:
        per_token_kind = []
    if not model.strip() or not per_token_kind or not all(0 <= amount < float("inf") for amount in per_token_kind):
        raise ValueError(f"{text!r} is not MODEL=IN/OUT, in US dollars for a million tokens, as gpt-x=0.5/1.5")
    return model.strip(), ModelPrice(input_usd=per_token_kind[0], output_usd=sum(per_token_kind[1:]))


class LanguageModelSettings(SettingsSection):
    """Which language model is used, when, and what it may cost. Without a name, the rules answer alone."""

    model_config = ConfigDict(alias_generator=AliasGenerator(validation_alias=_variable_of))

    name: str = ""
    small: str = ""
    fallbacks: Annotated[tuple[str, ...], CommaSeparated] = ()
    api_base: Annotated[str, AfterValidator(validate_web_url)] | None = None
    api_key: SecretStr | None = None
    when: ModelUse = ModelUse.NEEDED
    mode: ModelMode = ModelMode.STAGED
    timeout: Annotated[float, Field(gt=0, le=600)] = 30.0  # seconds
    prices: Annotated[tuple[Annotated[str, AfterValidator(_validate_price)], ...], CommaSeparated] = ()
    budget: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None  # US dollars, of a calendar month in UTC
    concurrency: Annotated[int, Field(ge=1, le=1000)] = 8
    store_texts: bool = False
    tool_calls: Annotated[int, Field(ge=1, le=50)] = 5
    completeness: Annotated[float, Field(ge=0, le=1)] = 0.8
    rounds: Annotated[int, Field(ge=1, le=3)] = 2  # of searches; a third found nothing in 100 questions (docs/eval.md)
    sub_queries: Annotated[int, Field(ge=2, le=20)] = 5
    chunk_context: bool = False  # says of the passages of sources what they are about

    @property
    def is_used(self) -> bool:
        return bool(self.name)

    @property
    def all_names(self) -> Sequence[str]:
        """The models that may be asked, each once, in the order in which they are asked."""
        return tuple(dict.fromkeys(filter(None, (self.name, self.small, *self.fallbacks))))

    @property
    def price_by_model(self) -> Mapping[str, ModelPrice]:
        return dict(map(_parse_price, self.prices))

    @property
    def gateway_options(self) -> GatewayOptions:
        key = self.api_key.get_secret_value() if self.api_key else ""
        return GatewayOptions(
            models=ModelNames(main=self.name, small=self.small, fallbacks=self.fallbacks),
            server=ModelServer(api_base=self.api_base or "", api_key=key),
            prices=self.price_by_model,
            limits=CallLimits(concurrent_calls=self.concurrency, chat_timeout_s=self.timeout),
            keeps_texts=self.store_texts,
        )

    @property
    def reasoner_options(self) -> ModelOptions:
        return ModelOptions(
            when=self.when,
            mode=self.mode,
            max_tool_calls=self.tool_calls,
            completeness=self.completeness,
            max_rounds=self.rounds,
            max_sub_queries=self.sub_queries,
            call_timeout_s=self.timeout,
        )

    def find_problems(self) -> list[str]:
        if self.is_used:
            same = "PARLEY_MODEL_FALLBACKS names the model of PARLEY_MODEL, which is not asked a second time"
            return [same] if self.name in self.fallbacks else []
        changed = self._changed_fields - _CALL_FIELDS
        return [
            f"{name} has no effect, since PARLEY_MODEL is not set"
            for name, field in self.fields_by_variable().items()
            if field in changed
        ]

    def find_unused_call_settings(self) -> list[str]:
        """A sentence about each setting of calls, for a process that makes none, to no model for any purpose."""
        return [
            f"{name} has no effect, since no model is set"
            for name, field in self.fields_by_variable().items()
            if field in self._changed_fields & _CALL_FIELDS
        ]

    @property
    def _changed_fields(self) -> frozenset[str]:
        return frozenset(self.model_fields_set - {_NAME_FIELD})

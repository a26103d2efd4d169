"""What calls of a model are expected to cost, said before they are made."""

from dataclasses import dataclass
from typing import Protocol

from agent.gateway.options import ModelPrice

CHARS_A_TOKEN = 4  # as `estimate_tokens`, of English; other languages have more tokens
_TOKENS_A_PRICE = 1_000_000


class PriceList(Protocol):
    """The part of `ModelGateway` that knows prices."""

    def price_of(self, model: str) -> ModelPrice | None:
        """Returns the price of a model; None if it is unknown, which is not 0."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWorkload:
    """Calls to one model. The tokens are estimates."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "ModelWorkload") -> "ModelWorkload":
        return ModelWorkload(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


def describe_estimate(workload: ModelWorkload, model: str, price: ModelPrice | None) -> str:
    """`some 1,200 calls of openai/x with 3,400,000 tokens in and 12,000 out, about $0.52`."""
    if not workload.calls:
        return f"no call of {model} is needed"
    output = f" and {workload.output_tokens:,} out" if workload.output_tokens else ""
    calls = f"{workload.calls:,} call{'' if workload.calls == 1 else 's'}"
    return (
        f"some {calls} of {model} with {workload.input_tokens:,} tokens in{output}, {_describe_cost(workload, price)}"
    )


def _describe_cost(workload: ModelWorkload, price: ModelPrice | None) -> str:
    if price is None:
        return "at an unknown price (PARLEY_MODEL_PRICES sets it)"
    usd = (workload.input_tokens * price.input_usd + workload.output_tokens * price.output_usd) / _TOKENS_A_PRICE
    return f"about ${usd:,.2f}" if usd >= 0.01 or not usd else "less than $0.01"

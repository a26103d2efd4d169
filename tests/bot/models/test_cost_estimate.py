"""The sentence about what calls will cost."""

import pytest

from agent.gateway.options import ModelPrice
from bot.models.cost_estimate import ModelWorkload, describe_estimate


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        (ModelPrice(input_usd=0.5, output_usd=1.5), "about $2.15"),
        (ModelPrice(input_usd=0.0), "about $0.00"),
        (ModelPrice(input_usd=0.0001), "less than $0.01"),
        (None, "at an unknown price (PARLEY_MODEL_PRICES sets it)"),
    ],
)
def test_a_price_that_is_unknown_is_not_zero(price: ModelPrice | None, cost: str) -> None:
    workload = ModelWorkload(calls=1_200, input_tokens=4_000_000, output_tokens=100_000)

    assert describe_estimate(workload, "m", price) == (
        f"some 1,200 calls of m with 4,000,000 tokens in and 100,000 out, {cost}"
    )


def test_workloads_add_up() -> None:
    total = ModelWorkload(calls=1, input_tokens=10) + ModelWorkload(calls=2, output_tokens=5)

    assert total == ModelWorkload(calls=3, input_tokens=10, output_tokens=5)
    assert describe_estimate(ModelWorkload(), "m", None) == "no call of m is needed"
    assert describe_estimate(ModelWorkload(calls=1, input_tokens=9), "m", None).startswith("some 1 call of m with 9 ")

"""The ratio by which the growth of costs is judged."""

import pytest

from tests.attack.growth_curves import slope_ratio


@pytest.mark.parametrize(
    ("costs", "ratio"),
    [
        ((11.0, 12.0, 14.0), 1.0),  # a constant, and one for each unit
        ((101.0, 104.0, 116.0), 1.0),  # grows by less than the machine's noise
        ((2.0, 5.0, 17.0), 2.0),  # with the square
        ((9.0, 9.0, 20.0), float("inf")),
    ],
)
def test_linear_costs_have_a_ratio_of_one(costs: tuple[float, float, float], ratio: float) -> None:
    assert slope_ratio((1, 2, 4), costs) == pytest.approx(ratio)

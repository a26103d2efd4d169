"""A storm of a hundred faults: every acknowledged message is answered once. `make faults` runs a thousand."""

from pathlib import Path

import pytest

from tests.faults.home import build_home
from tests.faults.products import STORM_PRODUCTS, open_storm_product
from tests.faults.storm import FaultKind, FaultStorm


@pytest.mark.parametrize("name", STORM_PRODUCTS)
async def test_every_message_is_answered_once_despite_faults(name: str, tmp_path: Path) -> None:
    async with open_storm_product(name) as product:
        storm = FaultStorm(home=build_home(tmp_path), seed=1, fault_target=100, product=product)
        outcome = await storm.run(settling_timeout_s=120)

    assert (outcome.lost, outcome.doubled, outcome.unfinished) == ((), (), ())
    assert outcome.accepted == outcome.answered
    assert sum(outcome.faults.values()) >= 100
    assert outcome.faults[FaultKind.KILL] > 0
    assert outcome.streamed > 0

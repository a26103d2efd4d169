"""A storm of a hundred faults: every acknowledged message is answered once. `make faults` runs a thousand."""

from pathlib import Path

from tests.faults.home import build_home
from tests.faults.storm import FaultKind, FaultStorm
from tests.stand_ins.slack.server import SlackServer


async def test_every_message_is_answered_once_despite_faults(tmp_path: Path) -> None:
    async with SlackServer() as slack:
        outcome = await FaultStorm(home=build_home(tmp_path), seed=1, fault_target=100, slack=slack).run(
            settling_timeout_s=120
        )

    assert (outcome.lost, outcome.doubled, outcome.unfinished) == ((), (), ())
    assert outcome.accepted == outcome.answered
    assert sum(outcome.faults.values()) >= 100
    assert outcome.faults[FaultKind.KILL] > 0
    assert outcome.streamed > 0

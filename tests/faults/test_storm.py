"""A hundred faults: every message that was acknowledged is answered once. `make faults` blows a thousand."""

from pathlib import Path

from tests.faults.home import a_home
from tests.faults.storm import Kind, Storm
from tests.stand_ins.slack.server import SlackServer


async def test_every_message_is_answered_once_whatever_fails(tmp_path: Path) -> None:
    async with SlackServer() as slack:
        outcome = await Storm(home=a_home(tmp_path), seed=1, faults=100, slack=slack).run(settling_s=120)

    assert (outcome.lost, outcome.doubled, outcome.unfinished) == ((), (), ())
    assert outcome.accepted == outcome.answered
    assert sum(outcome.faults.values()) >= 100
    assert outcome.faults[Kind.KILL] > 0
    assert outcome.streamed > 0

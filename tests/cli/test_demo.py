"""The demo's story, told by the real program, and its judgement of an end that is not the story's."""

from pathlib import Path
from typing import Any

import pytest

from bot.demo.corpus import generate
from bot.demo.story import Otherwise, Scene, play
from bot.ids import ConversationId, TurnId
from bot.inbound import Body
from bot.replies import Reply
from bot.turns import TurnDone
from tests.cli.conftest import run


def test_the_demo_ends_as_its_story_says_and_loads_once(tmp_path: Path) -> None:
    first = run(tmp_path, "demo")
    assert first.status == 0, first.err
    assert "1,042" in first.out
    assert "loading" in first.err

    again = run(tmp_path, "demo")

    assert again.status == 0, again.err
    assert "loading" not in again.err


async def test_a_step_that_ends_otherwise_is_named() -> None:
    class Wrong:
        """Whoever plays here finds one receipt too few."""

        async def turn(self, body: Body, shown: str) -> TurnDone:
            result: dict[str, Any] = {"question": shown, "outcome": "overload", "count": 1041, "choices": []}
            reply = Reply(turn=TurnId("t"), parts=())
            return TurnDone(turn=TurnId("t"), conversation=ConversationId("c"), reply=reply, result=result)

    def opened(scene: Scene) -> Wrong:
        return Wrong()

    with pytest.raises(Otherwise, match="1041 in place of 1042"):
        await play(generate(), opened)

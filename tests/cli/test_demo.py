"""The demo's story, played by the real program, and its error for an unexpected result."""

from pathlib import Path
from typing import Any

import pytest

from bot.demo.corpus import generate_corpus
from bot.demo.story import StoryMismatch, StoryScene, play_story
from bot.ids import ConversationId, TurnId
from bot.surface.inbound import InboundBody
from bot.surface.replies import Reply
from bot.turns.turn_processor import FinishedTurn
from tests.cli.conftest import run_parley


def test_the_demo_ends_as_its_story_expects_and_loads_once(tmp_path: Path) -> None:
    first_run = run_parley(tmp_path, "demo")
    assert first_run.status == 0, first_run.stderr
    assert "1,042" in first_run.stdout
    assert "loading" in first_run.stderr

    second_run = run_parley(tmp_path, "demo")

    assert second_run.status == 0, second_run.stderr
    assert "loading" not in second_run.stderr


async def test_an_unexpected_end_of_a_step_is_reported() -> None:
    class WrongScenePlayer:
        """A scene player that finds one receipt too few."""

        async def run_turn(self, body: InboundBody, display_text: str) -> FinishedTurn:
            result: dict[str, Any] = {"question": display_text, "outcome": "overload", "count": 1041, "choices": []}
            reply = Reply(turn=TurnId("t"), parts=())
            return FinishedTurn(turn=TurnId("t"), conversation=ConversationId("c"), reply=reply, result=result)

    def open_scene(scene: StoryScene) -> WrongScenePlayer:
        return WrongScenePlayer()

    with pytest.raises(StoryMismatch, match="1041 in place of 1042"):
        await play_story(generate_corpus(), open_scene)

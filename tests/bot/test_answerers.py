"""Processes that answer beside the one that receives: what they are told, and that there is always one."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
from structlog.typing import FilteringBoundLogger

from bot.answerers import Answerers, answering
from bot.ids import TurnId
from tests.bot.conftest import until

# Writes down what it is told; ends in the middle of its work where it is told to stop a turn.
DIARY = """
import json, sys
def report(**words): print(json.dumps(words), flush=True)
report(kind="ready")
for line in sys.stdin:
    with open(sys.argv[1], "a") as diary:
        diary.write(line)
    told = json.loads(line)
    if told["kind"] == "changed":
        report(kind="forgotten", number=told["number"])
    if told["kind"] == "stop":
        print('{"kind": "ended", "sur', end="", flush=True)
        sys.exit(3)
    if told["kind"] == "end":
        report(kind="ended", surface="slack", outcome="answer", seconds=0.5)
        break
"""


@dataclass
class Seen:
    """What the process that receives came to know."""

    diary: Path
    ready: list[int] = field(default_factory=list[int])
    ended: list[tuple[str, str, float]] = field(default_factory=list[tuple[str, str, float]])
    lines: list[MutableMapping[str, object]] = field(default_factory=list[MutableMapping[str, object]])

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.diary.read_text().splitlines()] if self.diary.exists() else []

    def turn(self, surface: str, outcome: str, seconds: float) -> None:
        self.ended.append((surface, outcome, seconds))

    @property
    def log(self) -> FilteringBoundLogger:
        wrapper = structlog.make_filtering_bound_logger("info")
        return structlog.wrap_logger(None, processors=[self._keep], wrapper_class=wrapper)

    def _keep(self, _: object, level: str, line: MutableMapping[str, object]) -> MutableMapping[str, object]:
        self.lines.append({"level": level, **line})
        raise structlog.DropEvent


@asynccontextmanager
async def beside(seen: Seen, script: str = DIARY, count: int = 1) -> AsyncGenerator[Answerers]:
    command = (sys.executable, "-c", script, str(seen.diary))
    async with answering(
        command, os.environ, count=count, stop=asyncio.Event(), log=seen.log, ended=seen.turn, ready=seen.ready.append
    ) as answerers:
        yield answerers


async def test_what_happens_here_is_told_there_in_order(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "diary")

    async with beside(seen) as answerers:
        answerers.wake()
        await answerers.tell("slack", {"type": "user_change", "user": "U1"})
        known_then = seen.told()

    news = {"type": "user_change", "user": "U1"}
    changed = {"kind": "changed", "number": 1, "surface": "slack", "news": news}
    assert known_then == [{"kind": "accepted"}, changed]
    assert seen.told() == [*known_then, {"kind": "end"}]


async def test_turns_that_end_there_are_counted_here_the_last_one_too(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "diary")

    async with beside(seen, count=2):
        assert seen.ready[-1] == 2

    assert seen.ended == [("slack", "answer", 0.5)] * 2
    assert seen.ready[-1] == 0


async def test_one_that_dies_in_its_work_is_followed_by_another(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "diary")

    async with beside(seen) as answerers:
        answerers.stop(TurnId("t1"))
        await until(lambda: seen.ready == [0, 1, 0, 1])
        answerers.wake()
        await until(lambda: seen.told()[-1] == {"kind": "accepted"})

    assert seen.told()[0] == {"kind": "stop", "turn": "t1"}
    assert [line["status"] for line in seen.lines if line["level"] == "error"] == [3]


async def test_one_that_cannot_start_holds_nothing_up(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "diary")

    async with beside(seen, "raise SystemExit(1)") as answerers:
        answerers.wake()
        answerers.stop(TurnId("t1"))
        await answerers.tell("slack", {"type": "user_change"})

    assert set(seen.ready) == {0}
    assert seen.told() == seen.ended == []


async def test_none_is_left_behind_where_the_block_fails(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "diary")

    class Fault(Exception):
        pass

    caught = False
    try:
        async with beside(seen):
            raise Fault
    except Fault:
        caught = True

    assert caught
    assert seen.ready == [0, 1, 0]

"""Worker processes: the commands that they receive, and the restart of one that dies."""

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
from pydantic import TypeAdapter
from structlog.typing import FilteringBoundLogger

from agent.outcome import TraceStage
from bot.ids import TurnId
from bot.language_model.measured_call import MeasuredCall
from bot.metrics.operation_measurements import IndexOperation, IndexRequestMeasurement, OperationMeasurement
from bot.turns.measurements import TurnMeasurement
from bot.turns.worker_processes import ChangeTimeouts, WorkerProcessPool, open_worker_pool
from tests.bot.conftest import wait_until

# Records the commands that it receives; dies in the middle of a report when it must stop a turn.
WORKER_SCRIPT = """
import json, sys
def report(**words): print(json.dumps(words), flush=True)
report(kind="ready")
for line in sys.stdin:
    with open(sys.argv[1], "a") as diary:
        diary.write(line)
    told = json.loads(line)
    if told["kind"] == "apply_change":
        report(kind="change_applied", number=told["number"])
    if told["kind"] == "stop":
        print('{"kind": "ended", "sur', end="", flush=True)
        sys.exit(3)
    if told["kind"] == "end":
        report(kind="ended", measurement=json.loads(sys.argv[2]))
        report(kind="model_calls", calls=json.loads(sys.argv[3]))
        report(kind="operation", operation=json.loads(sys.argv[4]))
        break
"""

CALL = MeasuredCall(
    prompt="plan_question@3",
    model="openai/big",
    is_failed=False,
    seconds=0.8,
    ended_at=1.9e9,
    input_tokens=1200,
    output_tokens=80,
    cost_usd=None,
)
MEASUREMENT = TurnMeasurement(
    turn="t1",
    surface="slack",
    outcome="answer",
    seconds=0.5,
    ended_at=1.9e9,
    stages=(TraceStage(name="decompose", ms=1.5, fallback="timed out"),),
    fallback_stages=("decompose",),
    calls=(CALL,),
)


OPERATION = IndexRequestMeasurement(operation=IndexOperation.SEARCH, outcome="timed_out", seconds=2.5)
PATIENT = ChangeTimeouts(waited_s=60, replaced_s=60)


@dataclass
class PoolObserver:
    """The observations of the receiving process."""

    diary: Path
    ready_counts: list[int] = field(default_factory=list[int])
    background_counts: list[int] = field(default_factory=list[int])
    ended_turns: list[TurnMeasurement] = field(default_factory=list[TurnMeasurement])
    model_calls: list[MeasuredCall] = field(default_factory=list[MeasuredCall])
    operations: list[OperationMeasurement] = field(default_factory=list[OperationMeasurement])
    log_lines: list[MutableMapping[str, object]] = field(default_factory=list[MutableMapping[str, object]])

    def received_commands(self, diary: Path | None = None) -> list[dict[str, Any]]:
        diary = diary or self.diary
        return [json.loads(line) for line in diary.read_text().splitlines()] if diary.exists() else []

    def background_commands(self) -> list[dict[str, Any]]:
        return self.received_commands(Path(f"{self.diary}-background"))

    @property
    def log(self) -> FilteringBoundLogger:
        wrapper = structlog.make_filtering_bound_logger("info")
        return structlog.wrap_logger(None, processors=[self._keep_line], wrapper_class=wrapper)

    def _keep_line(self, _: object, level: str, line: MutableMapping[str, object]) -> MutableMapping[str, object]:
        self.log_lines.append({"level": level, **line})
        raise structlog.DropEvent


@asynccontextmanager
async def open_test_pool(
    seen: PoolObserver,
    script: str = WORKER_SCRIPT,
    count: int = 1,
    *,
    awaits_ready: bool = True,
    change_timeouts: ChangeTimeouts = PATIENT,
    has_background: bool = False,
) -> AsyncGenerator[WorkerProcessPool]:
    measurement, calls = (TypeAdapter(object).dump_json(value).decode() for value in (MEASUREMENT, [CALL]))
    command = (sys.executable, "-c", script, str(seen.diary), measurement, calls, OPERATION.model_dump_json())
    async with open_worker_pool(
        command,
        os.environ,
        count=count,
        stop=asyncio.Event(),
        log=seen.log,
        on_turn_ended=seen.ended_turns.append,
        on_model_calls=seen.model_calls.extend,
        on_operation=seen.operations.append,
        on_ready_count=seen.ready_counts.append,
        awaits_ready=awaits_ready,
        change_timeouts=change_timeouts,
        on_background_count=seen.background_counts.append,
        background_command=(sys.executable, "-c", script, f"{seen.diary}-background", measurement, calls)
        if has_background
        else None,
    ) as pool:
        yield pool


async def test_commands_reach_the_worker_in_order(tmp_path: Path) -> None:
    observer = PoolObserver(tmp_path / "diary")

    async with open_test_pool(observer) as pool:
        assert pool.has_ready_worker
        pool.wake_workers()
        await pool.broadcast_change("slack", {"type": "user_change", "user": "U1"})
        received_before_the_end = observer.received_commands()

    change = {"type": "user_change", "user": "U1"}
    apply_command = {"kind": "apply_change", "number": 1, "surface": "slack", "change": change}
    assert received_before_the_end == [{"kind": "turn_stored"}, apply_command]
    assert observer.received_commands() == [*received_before_the_end, {"kind": "end"}]


async def test_a_change_that_a_worker_does_not_confirm_is_acknowledged_and_the_worker_is_replaced(
    tmp_path: Path,
) -> None:
    observer = PoolObserver(tmp_path / "diary")
    deaf_script = WORKER_SCRIPT.replace('"apply_change"', '"nothing"')
    timeouts = ChangeTimeouts(waited_s=0.01, replaced_s=0.05)

    async with open_test_pool(observer, deaf_script, change_timeouts=timeouts) as pool:
        await pool.broadcast_change("slack", {"type": "member_left_channel", "channel": "C1"})
        await pool.broadcast_change("slack", {"type": "member_left_channel", "channel": "C2"})
        await wait_until(lambda: observer.ready_counts == [0, 1, 0, 1])

    replaced = [line for line in observer.log_lines if line["event"] == "answering process replaced"]
    assert len(replaced) == 1


async def test_a_change_does_not_wait_for_a_worker_that_is_not_ready(tmp_path: Path) -> None:
    observer = PoolObserver(tmp_path / "diary")

    async with open_test_pool(observer, "import sys; sys.stdin.read()", awaits_ready=False) as pool:
        await pool.broadcast_change("slack", {"type": "member_left_channel", "channel": "C1"})
        assert not pool.has_ready_worker

    assert observer.ready_counts[-1] == 0


async def test_a_pool_that_does_not_wait_is_there_before_its_workers_are_ready(tmp_path: Path) -> None:
    observer = PoolObserver(tmp_path / "diary")
    waits_for_file = (
        "import pathlib, sys, time\nwhile not pathlib.Path(sys.argv[1] + '.go').exists(): time.sleep(0.01)\n"
    )

    async with open_test_pool(observer, waits_for_file + WORKER_SCRIPT, awaits_ready=False) as pool:
        ready_count_before = observer.ready_counts[-1]
        pool.wake_workers()
        await asyncio.to_thread((tmp_path / "diary.go").touch)
        await wait_until(lambda: observer.received_commands() == [{"kind": "turn_stored"}])
        await wait_until(lambda: observer.ready_counts[-1] == 1)
        assert ready_count_before == 0
        await pool.end_workers()
        assert observer.ended_turns == [MEASUREMENT]


async def test_a_worker_that_never_becomes_ready_does_not_hold_up_the_end(tmp_path: Path) -> None:
    observer = PoolObserver(tmp_path / "diary")

    async with open_test_pool(observer, "import time\ntime.sleep(600)", awaits_ready=False):
        pass

    assert observer.received_commands() == []


async def test_turns_that_end_in_workers_are_counted_including_the_last(tmp_path: Path) -> None:
    observer = PoolObserver(tmp_path / "diary")

    async with open_test_pool(observer, count=2):
        assert observer.ready_counts[-1] == 2

    assert observer.ended_turns == [MEASUREMENT] * 2
    assert observer.model_calls == [CALL] * 2
    assert observer.operations == [OPERATION] * 2
    assert observer.ready_counts[-1] == 0


async def test_a_worker_that_dies_is_restarted(tmp_path: Path) -> None:
    observer = PoolObserver(tmp_path / "diary")

    async with open_test_pool(observer) as pool:
        pool.stop_turn(TurnId("t1"))
        await wait_until(lambda: observer.ready_counts == [0, 1, 0, 1])
        pool.wake_workers()
        await wait_until(lambda: observer.received_commands()[-1] == {"kind": "turn_stored"})

    assert observer.received_commands()[0] == {"kind": "stop", "turn": "t1"}
    assert [line["status"] for line in observer.log_lines if line["level"] == "error"] == [3]


async def test_a_worker_that_cannot_start_blocks_nothing(tmp_path: Path) -> None:
    observer = PoolObserver(tmp_path / "diary")

    async with open_test_pool(observer, "raise SystemExit(1)") as pool:
        pool.wake_workers()
        pool.stop_turn(TurnId("t1"))
        await pool.broadcast_change("slack", {"type": "user_change"})

    assert set(observer.ready_counts) == {0}
    assert observer.received_commands() == observer.ended_turns == []


async def test_the_others_leave_the_background_turns_to_their_own_process_as_long_as_it_is_ready(
    tmp_path: Path,
) -> None:
    observer = PoolObserver(tmp_path / "diary")

    async with open_test_pool(observer, has_background=True) as pool:
        await wait_until(lambda: observer.background_counts == [1])
        pool.stop_turn(TurnId("t1"))  # ends both processes
        await wait_until(lambda: observer.background_counts == [1, 0, 1] and observer.ready_counts == [0, 1, 0, 1])
        pool.wake_workers()
        await wait_until(lambda: observer.background_commands()[-1] == {"kind": "turn_stored"})

    shared = [command["are_taken"] for command in observer.received_commands() if command["kind"] == "background_turns"]
    assert shared[:2] == [False, True]
    assert shared[-1] is True
    assert observer.ready_counts == [0, 1, 0, 1, 0]
    assert observer.background_commands()[-1] == {"kind": "end"}
    background_starts = [line.get("background") for line in observer.log_lines if "pid" in line]
    assert background_starts == [None, True, *background_starts[2:]]


async def test_a_pool_ends_while_its_background_process_waits_for_the_others(tmp_path: Path) -> None:
    observer = PoolObserver(tmp_path / "diary")

    async with open_test_pool(
        observer, "import time\ntime.sleep(600)", awaits_ready=False, has_background=True
    ) as pool:
        await pool.end_workers()

    assert observer.background_counts == []


async def test_no_worker_is_left_when_the_block_fails(tmp_path: Path) -> None:
    observer = PoolObserver(tmp_path / "diary")

    class BlockFailure(Exception):
        pass

    is_caught = False
    try:
        async with open_test_pool(observer):
            raise BlockFailure
    except BlockFailure:
        is_caught = True

    assert is_caught
    assert observer.ready_counts == [0, 1, 0]

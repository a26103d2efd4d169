"""Measures the receiving side of Teams: `parley serve` in its own process, and deliveries signed by the stand-in.

It measures how fast a message is acknowledged with its turn stored while others are answered. For the stalls of the
event loop, the same deliveries go to a server in this process, beside a task that measures how late it is woken.
"""

import asyncio
import gc
import itertools
import json
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientSession

from adapters.teams.receiving.http_endpoint import MESSAGES_PATH
from bench.figures import BenchmarkFigure, percentile_of
from tests.adapters.teams.office import environment_of, open_teams_office
from tests.adapters.web.serving import find_free_port
from tests.cli.conftest import RECEIPTS, environment_for, run_parley
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TenantPerson

_EVENTS_PER_SECOND, _RUN_S = 50, 4
_PEOPLE_COUNT: Final = 400
_TICK_S: Final = 0.001


async def measure_teams(folder: Path, runs: int) -> list[BenchmarkFigure]:
    home = await asyncio.to_thread(_create_home, folder / "teams")
    async with TeamsServer() as stand_in, _serve_parley(home, stand_in):
        deliverer = _TeamsDeliverer(stand_in)
        await deliverer.deliver_message()  # warms up what the process loads once
        timed_runs = [await deliverer.time_run() for _ in range(runs)]
        token_requests, answers = stand_in.tokens.requests, len(stand_in.calls_of("send"))
    bare_ms = [duration_ms for _, bare_run in timed_runs for duration_ms in bare_run]
    return [
        *(
            BenchmarkFigure(
                name=f"Teams: accepted with the turn stored while answering, {_EVENTS_PER_SECOND} a second, p{percent}",
                unit="ms",
                run_values=tuple(percentile_of(delivery_ms, percent) for delivery_ms, _ in timed_runs),
                target=50 if percent == 99 else None,
                baseline=percentile_of(bare_ms, percent),
                note=f"{len(timed_runs[0][0])} signed messages a run; bare: as many requests that do nothing"
                if percent == 50
                else "",
            )
            for percent in (50, 99)
        ),
        BenchmarkFigure(
            name="Teams: token requests for all answers",
            unit="",
            run_values=(float(token_requests),),
            target=2,
            note=f"{answers} activities sent; a receiving and an answering process",
        ),
        *await _measure_loop_stalls(folder / "teams-loop", runs),
    ]


async def _measure_loop_stalls(home: Path, runs: int) -> list[BenchmarkFigure]:
    """The longest time in which the event loop of a process that only receives woke nobody, per run."""
    async with TeamsServer() as stand_in, open_teams_office(stand_in, home, answers=False):
        deliverer = _TeamsDeliverer(stand_in)
        await deliverer.deliver_message()
        async with _watch_loop() as idle:
            await asyncio.sleep(_RUN_S)
        watches: list[_LoopWatch] = []
        for _ in range(runs):
            gc.collect()
            gc.freeze()
            async with _watch_loop() as watch:
                await deliverer.time_run(with_bare_requests=False)
            watches.append(watch)
    return [
        BenchmarkFigure(
            name="Teams: longest stall of the event loop",
            unit="ms",
            run_values=tuple(watch.longest_stall_ms for watch in watches),
            target=20,
            baseline=idle.longest_stall_ms,
            note="of a process that receives, with the load in the same loop; bare: an idle loop",
        ),
        BenchmarkFigure(
            name="Teams: most CPU time of the event loop between two tasks",
            unit="ms",
            run_values=tuple(watch.longest_work_ms for watch in watches),
            target=20,
            baseline=idle.longest_work_ms,
            note="the same without what other processes cost",
        ),
    ]


@dataclass(slots=True)
class _LoopWatch:
    """The longest times by which a task that sleeps for a millisecond was woken too late, and for which the loop's
    thread was working meanwhile.
    """

    longest_stall_ms: float = 0.0
    longest_work_ms: float = 0.0


@asynccontextmanager
async def _watch_loop() -> AsyncGenerator[_LoopWatch]:
    watch = _LoopWatch()

    async def measure_delays() -> None:
        while True:
            due_s, work_s = time.perf_counter() + _TICK_S, time.thread_time()
            await asyncio.sleep(_TICK_S)
            watch.longest_stall_ms = max(watch.longest_stall_ms, (time.perf_counter() - due_s) * 1000)
            watch.longest_work_ms = max(watch.longest_work_ms, (time.thread_time() - work_s) * 1000)

    task = asyncio.create_task(measure_delays())
    try:
        yield watch
    finally:
        task.cancel()


@dataclass(frozen=True, slots=True)
class _SignedDelivery:
    body: bytes
    headers: dict[str, str]


class _TeamsDeliverer:
    """Many people who write in their personal chats. Each delivery is signed before it is timed."""

    def __init__(self, stand_in: TeamsServer) -> None:
        self._stand_in = stand_in
        people = [stand_in.tenant.add_person(f"P{number}") for number in range(_PEOPLE_COUNT)]
        self._people = itertools.cycle(people)

    async def time_run(self, *, with_bare_requests: bool = True) -> tuple[list[float], list[float]]:
        """Milliseconds of each delivery, and of as many requests that do nothing."""
        signed = iter([self._sign_message(next(self._people)) for _ in range(_EVENTS_PER_SECOND * _RUN_S)])
        gc.collect()
        gc.freeze()

        async def deliver_next() -> None:
            await self._deliver(next(signed))

        delivery_ms = await _call_at_rate(deliver_next)
        return delivery_ms, await self._time_bare_requests() if with_bare_requests else []

    async def deliver_message(self) -> None:
        await self._deliver(self._sign_message(next(self._people)))

    async def _deliver(self, delivery: _SignedDelivery) -> None:
        status, _ = await self._stand_in.post_to_app(delivery.body, delivery.headers)
        if status != 202:
            raise RuntimeError(f"a delivery was answered with {status}")

    def _sign_message(self, person: TenantPerson) -> _SignedDelivery:
        stand_in = self._stand_in
        chat = stand_in.tenant.personal_chat_of(person)
        activity: dict[str, Any] = stand_in.base_activity(
            "message", person, chat, chat.id, stand_in.tenant.next_activity_id()
        )
        activity |= stand_in.text_fields(person, chat, "How many receipts from Kestrel?", mention=False)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {stand_in.sign_delivery()}"}
        return _SignedDelivery(json.dumps(activity).encode(), headers)

    async def _time_bare_requests(self) -> list[float]:
        async with ClientSession() as session:

            async def request_health() -> None:
                async with session.get(self._stand_in.app_url.replace(MESSAGES_PATH, "/healthz")) as answer:
                    await answer.read()

            return await _call_at_rate(request_health)


async def _call_at_rate(work: Callable[[], Awaitable[None]]) -> list[float]:
    """Milliseconds of each call. Calls start at fixed times, even if earlier calls are still running."""

    async def time_call() -> float:
        began = time.perf_counter()
        await work()
        return (time.perf_counter() - began) * 1000

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[float]] = []
        for number in range(_EVENTS_PER_SECOND * _RUN_S):
            await asyncio.sleep(max(0.0, began + number / _EVENTS_PER_SECOND - time.perf_counter()))
            tasks.append(group.create_task(time_call()))
    return [task.result() for task in tasks]


def _create_home(folder: Path) -> Path:
    """Create a home with a few documents that everyone may see."""
    folder.mkdir()
    source = folder / "receipts.jsonl"
    source.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    for words in (("ingest", str(source), "--bucket", "receipts"), ("grant", "receipts", "everyone")):
        if run_parley(folder, *words).status:
            raise RuntimeError(f"parley {words[0]} failed")
    return folder


@asynccontextmanager
async def _serve_parley(home: Path, stand_in: TeamsServer) -> AsyncGenerator[None]:
    """Run `parley serve` with its worker process."""
    port = find_free_port()
    stand_in.app_url = f"http://127.0.0.1:{port}{MESSAGES_PATH}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "serve", "--port", str(port)),
        env=environment_for(home, PARLEY_PORT=str(port), **environment_of(stand_in)),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        if process.stderr is None or b"listening" not in await process.stderr.readline():
            raise RuntimeError("parley serve did not start")
        yield
    finally:
        process.terminate()
        await process.wait()

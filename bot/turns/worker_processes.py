"""Worker processes, so that receiving an event never waits for answering another.

They are restarted when they die. They end when this process ends for any reason, because their pipe closes.
"""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.ids import TurnId
from bot.task_groups import lone_error
from bot.turns.stopping import DEFAULT_STOP_TIMEOUTS
from bot.turns.worker_protocol import (
    ApplyChangeCommand,
    BackgroundTurnsCommand,
    ChangeAppliedReport,
    EndWorkerCommand,
    ModelCallsReport,
    OperationReport,
    StopTurnCommand,
    TurnEndedReport,
    TurnStoredCommand,
    WorkerCommand,
    WorkerReadyReport,
    WorkerReport,
    encode_message,
    read_reports,
)

if TYPE_CHECKING:  # this module is loaded before most others, so that the processes start early
    from structlog.typing import FilteringBoundLogger

    from bot.language_model.call_archive import CallsObserver
    from bot.metrics.operation_measurements import OperationObserver
    from bot.surface.surface import DirectoryChange
    from bot.turns.turn_processor import TurnObserver

_READY_TIMEOUT_S: Final = 5.0  # after that the service starts anyway, and turns wait in the inbox
_STABLE_AFTER_S: Final = 60.0  # a process that ran so long did not fail at its start
_BACKOFF_S, _MAX_BACKOFF_S = 0.25, 30.0  # doubled with each early death
_MAX_BUFFERED_BYTES: Final = 4_096  # of unread commands: a worker that reads them looks for newer turns as well


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTimeouts:
    """How long a change of the directory waits for a worker to apply it, and when that worker is replaced."""

    waited_s: float = 2.0  # a chat product waits three seconds for the acknowledgement
    replaced_s: float = 10.0


class WorkerProcessPool:
    """The running worker processes; made by `open_worker_pool`."""

    def __init__(
        self,
        workers: "Sequence[_WorkerProcess]",
        background_workers: "Sequence[_WorkerProcess]",
        stop: asyncio.Event,
        change_timeouts: "ChangeTimeouts",
    ) -> None:
        self._prompt_workers, self._workers = workers, (*workers, *background_workers)
        self._stop, self._change_timeouts = stop, change_timeouts

    async def end_workers(self) -> None:
        """Ends the processes, which finish their current turns first. They are not restarted."""
        self._stop.set()
        for worker in self._workers:
            await worker.last_end.wait()

    @property
    def has_ready_worker(self) -> bool:
        """Whether a process takes every turn, or every turn but the background turns."""
        return any(worker.is_ready for worker in self._prompt_workers)

    def wake_workers(self) -> None:
        """Tells the workers that a turn was stored."""
        for worker in self._workers:
            worker.wake_worker()

    def stop_turn(self, turn: TurnId) -> None:
        """Tells the workers that a person asked to stop the turn."""
        for worker in self._workers:
            worker.send_command(StopTurnCommand(turn=turn))

    async def broadcast_change(self, surface: str, change: "DirectoryChange") -> None:
        """Returns when all workers have applied the change, or after a short time. A worker that has not applied it
        some seconds later is replaced by a process whose caches are empty.
        """
        timeouts = self._change_timeouts
        confirmations = [worker.send_change(surface, change, timeouts.replaced_s) for worker in self._workers]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeouts.waited_s):
                for applied in confirmations:
                    await applied.wait()


@asynccontextmanager
async def open_worker_pool(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    count: int,
    stop: asyncio.Event,
    log: "FilteringBoundLogger",
    on_turn_ended: "TurnObserver",
    on_model_calls: "CallsObserver",
    on_operation: "OperationObserver",
    on_ready_count: Callable[[int], None],
    on_background_count: Callable[[int], None] = lambda _: None,
    awaits_ready: bool = True,
    change_timeouts: ChangeTimeouts = ChangeTimeouts(),
    end_timeout: timedelta = DEFAULT_STOP_TIMEOUTS.worker_processes,
    background_command: Sequence[str] | None = None,
) -> AsyncGenerator[WorkerProcessPool]:
    """Starts `count` processes; with `awaits_ready`, waits a short time until they are ready. `on_turn_ended` is called
    for each of their turns, `on_model_calls` with the calls of each, `on_operation` for each operation, and
    `on_ready_count` with the number of ready processes. A turn that is stored before they are ready waits in the inbox.

    `background_command`: of one more process, which starts when the others have loaded, and answers the background
    turns. While it is not ready, the others answer these too. `on_background_count` is called with 1 when it is ready,
    with 0 when it has ended; `on_ready_count` does not count it.

    They end after `stop` is set, or with the block; they finish their current turns first, or give them back. A process
    that has not ended after `end_timeout` is killed.
    """

    def build_worker(
        command: Sequence[str], log: "FilteringBoundLogger", on_ready_changed: Callable[[_WorkerProcess, bool], None]
    ) -> _WorkerProcess:
        return _WorkerProcess(
            command,
            environ,
            log=log,
            on_turn_ended=on_turn_ended,
            on_model_calls=on_model_calls,
            on_operation=on_operation,
            on_ready_changed=on_ready_changed,
        )

    def handle_ready_change(worker: _WorkerProcess, is_ready: bool) -> None:
        on_ready_count(sum(worker.is_ready for worker in workers))
        if is_ready:
            share_turns_with(worker)

    def share_turns_with(worker: _WorkerProcess) -> None:
        for background_worker in background_workers:
            worker.send_command(BackgroundTurnsCommand(are_taken=background_worker.is_ready))

    def share_turns(_: _WorkerProcess, is_ready: bool) -> None:
        on_background_count(int(is_ready))
        for worker in workers:
            share_turns_with(worker)

    workers = [build_worker(command, log, handle_ready_change) for _ in range(count)]
    background_workers = (
        [build_worker(background_command, log.bind(background=True), share_turns)] if background_command else []
    )
    on_ready_count(0)
    with lone_error():
        async with asyncio.TaskGroup() as group:
            for worker_process in workers:
                group.create_task(worker_process.supervise_process())
            for worker_process in background_workers:
                start_after = [worker.first_start for worker in workers]
                group.create_task(worker_process.supervise_process(start_after=start_after))
            ending = group.create_task(_end_workers([*workers, *background_workers], stop, end_timeout))
            try:
                await _wait_for([worker.first_start if awaits_ready else worker.first_spawn for worker in workers])
                yield WorkerProcessPool(workers, background_workers, stop, change_timeouts)
            finally:
                stop.set()
                await ending


async def _end_workers(workers: "Sequence[_WorkerProcess]", stop: asyncio.Event, within: timedelta) -> None:
    await stop.wait()
    for worker in workers:
        worker.request_end()
    try:
        async with asyncio.timeout(within.total_seconds()):
            for worker in workers:
                await worker.last_end.wait()
    except TimeoutError:
        for worker in workers:
            worker.kill_process()


async def _wait_for(events: "Sequence[asyncio.Event]") -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READY_TIMEOUT_S):
            for event in events:
                await event.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class _PendingChange:
    applied: asyncio.Event
    deadline: asyncio.TimerHandle


class _WorkerProcess:
    """One slot of the pool: a process, and its replacement when it dies."""

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        *,
        log: "FilteringBoundLogger",
        on_turn_ended: "TurnObserver",
        on_model_calls: "CallsObserver",
        on_operation: "OperationObserver",
        on_ready_changed: "Callable[[_WorkerProcess, bool], None]",
    ) -> None:
        self._command, self._environ, self._log = command, environ, log
        self._on_turn_ended, self._on_model_calls = on_turn_ended, on_model_calls
        self._on_operation = on_operation
        self._on_ready_changed = on_ready_changed
        self.first_spawn = asyncio.Event()  # the first one exists, and loads its program
        self.first_start = asyncio.Event()  # the first one is ready, or has died
        self.last_end = asyncio.Event()  # it has ended, and is not restarted
        self._end_requested = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._stdin: asyncio.StreamWriter | None = None
        self._is_ready = False
        self._change_numbers = itertools.count(1)
        self._pending_changes: dict[int, _PendingChange] = {}  # by number; not confirmed yet

    @property
    def is_ready(self) -> bool:
        """Whether the process takes turns."""
        return self._is_ready

    # -- commands

    def send_command(self, command: WorkerCommand) -> None:
        """Does nothing while no process runs."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(encode_message(command))

    def wake_worker(self) -> None:
        if self._stdin is not None and self._stdin.transport.get_write_buffer_size() < _MAX_BUFFERED_BYTES:
            self.send_command(TurnStoredCommand())

    def send_change(self, surface: str, change: "DirectoryChange", replaced_s: float) -> asyncio.Event:
        """The event is set when the process has applied the change, or has been replaced. It is set at once unless the
        process is ready: a starting one reads the change before its first turn, and a dead one has no cache.
        """
        number, applied = next(self._change_numbers), asyncio.Event()
        self.send_command(ApplyChangeCommand(number=number, surface=surface, change=dict(change)))
        if not self._is_ready:
            applied.set()
            return applied
        deadline = asyncio.get_running_loop().call_later(replaced_s, self._replace_process)
        self._pending_changes[number] = _PendingChange(applied=applied, deadline=deadline)
        return applied

    def _replace_process(self) -> None:
        """Ends a process that may still know members who have left. Its turns are repeated when their leases expire."""
        for pending in self._pending_changes.values():
            pending.deadline.cancel()
        self._log.error("answering process replaced", reason="it did not confirm a change of the directory")
        self._kill_running()

    def kill_process(self) -> None:
        """Does nothing after its end. Its turns are claimed again when their leases expire."""
        if not self.last_end.is_set():
            self._log.error("answering process killed", reason="it did not end in time")
            self._kill_running()

    def _kill_running(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    def request_end(self) -> None:
        self._end_requested.set()
        self.send_command(EndWorkerCommand())
        if self._process is not None and not self._is_ready:  # it has no turn yet, and would read the command late
            self._process.terminate()

    # -- supervision

    async def supervise_process(self, *, start_after: "Sequence[asyncio.Event]" = ()) -> None:
        """Restarts the process until the pool ends. The pause before a restart grows with each early death."""
        try:
            for event in start_after:
                await event.wait()
            await self._restart_process()
        finally:
            self.first_start.set()
            self.last_end.set()

    async def _restart_process(self) -> None:
        clock, early_deaths = asyncio.get_running_loop().time, 0
        while not self._end_requested.is_set():
            started_s = clock()
            status = await self._run_process()
            self.first_spawn.set()
            self.first_start.set()
            if self._end_requested.is_set():
                return
            early_deaths = 1 if clock() - started_s > _STABLE_AFTER_S else early_deaths + 1
            pause_s = min(_BACKOFF_S * 2**early_deaths, _MAX_BACKOFF_S)
            self._log.error("answering process ended", status=status, restart_in_s=pause_s)
            await self._wait_before_restart(pause_s)

    async def _run_process(self) -> int:
        """Runs one process until it ends; returns its exit status."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._environ,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # so that Ctrl-C reaches the receiving process alone
        )
        self._process, self._stdin = process, process.stdin
        self.first_spawn.set()
        self._log.info("answering process started", pid=process.pid)
        if self._end_requested.is_set():
            self.request_end()
        try:
            if process.stdout is not None:
                async for report in read_reports(process.stdout):
                    self._handle_report(report)
            return await process.wait()
        finally:
            self._mark_dead()
            if process.returncode is None:
                process.kill()
                await process.wait()

    def _handle_report(self, report: WorkerReport) -> None:
        match report:
            case WorkerReadyReport():
                self._is_ready = True
                self.first_start.set()
                self._on_ready_changed(self, True)
            case TurnEndedReport(measurement=measurement):
                self._on_turn_ended(measurement)
            case ModelCallsReport(calls=calls):
                self._on_model_calls(calls)
            case OperationReport(operation=operation):
                self._on_operation(operation)
            case ChangeAppliedReport(number=number):
                self._end_pending_change(number)

    def _mark_dead(self) -> None:
        self._process, self._stdin, self._is_ready = None, None, False
        self._on_ready_changed(self, False)
        for number in tuple(self._pending_changes):
            self._end_pending_change(number)

    def _end_pending_change(self, number: int) -> None:
        if (pending := self._pending_changes.pop(number, None)) is not None:
            pending.deadline.cancel()
            pending.applied.set()

    async def _wait_before_restart(self, pause_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await self._end_requested.wait()

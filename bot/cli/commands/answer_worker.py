"""A worker process of `parley serve`: it answers turns and receives commands through a pipe."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, assert_never

import typer

from bot.cli.failures import CommandFailed
from bot.cli.options import DebugOption, HomeOption
from bot.cli.runtime import (
    StopSignals,
    build_surfaces,
    freeze_startup_objects,
    pause_garbage_collection,
    run_with_bot,
)
from bot.cli.speaker import TERMINAL_SURFACE

if TYPE_CHECKING:
    from bot.application import Application
    from bot.surface.surface import WorkerSupport
    from bot.turns.worker_protocol import ApplyChangeCommand, WorkerReport

# The receiving process has priority, because the chat product repeats a message that is not acknowledged in time.
_NICENESS: Final = 10
# Of background turns, beside the others. The lowest (19) would hardly get any time on a busy machine.
_BACKGROUND_NICENESS: Final = 15
# How long a thread that reads a long question or searches may keep the others waiting; Python's default is 5 ms, and a
# short question changes between threads many times.
_SWITCH_INTERVAL_S: Final = 0.001


def answer(
    home: HomeOption = None,
    debug: DebugOption = False,
    background: Annotated[bool, typer.Option("--background", help="Only long questions, and the like.")] = False,
) -> None:
    """Work on turns for `parley serve`, which starts this and ends it."""
    os.nice(_NICENESS)
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    process_turns = partial(_process_turns, is_background=background)
    run_with_bot(process_turns, home=home, debug=debug, answers_questions=True, tolerates_outage=True)


async def _process_turns(bot: "Application", *, is_background: bool) -> None:
    from bot.turns.worker_protocol import WorkerReadyReport

    stop = asyncio.Event()
    if is_background:
        bot.turn_workers.take_background_turns()
    pause_garbage_collection()  # until the surfaces are loaded
    async with AsyncExitStack() as stack:
        command_pipe, reports = await stack.enter_async_context(_open_pipes())
        worker_support = await _register_worker_surfaces(bot, stack)
        _report_measurements(bot, reports)
        stack.enter_context(StopSignals(stop))
        freeze_startup_objects()
        if is_background:
            os.nice(_BACKGROUND_NICENESS - _NICENESS)
        _write_report(reports, WorkerReadyReport())
        async with asyncio.TaskGroup() as group:
            work_task = group.create_task(bot.run_until_stopped(stop, warm_up=True, maintenance=not is_background))
            listen_task = group.create_task(
                _ParentListener(bot, worker_support, reports, stop, group).listen_to_pipe(command_pipe)
            )
            work_task.add_done_callback(lambda _: listen_task.cancel())


async def _register_worker_surfaces(bot: "Application", stack: AsyncExitStack) -> "dict[str, WorkerSupport]":
    """Register the surfaces to which this process can reply; the receiving process replies to the others."""
    worker_support: dict[str, WorkerSupport] = {}
    for surface in build_surfaces(bot, exclude=TERMINAL_SURFACE):
        if surface.worker_support is None:
            bot.register_receive_only(surface)
            continue
        await surface.worker_support.start()
        stack.push_async_callback(surface.close)
        bot.register_surface(surface)
        worker_support[surface.name] = surface.worker_support
    return worker_support


class _ParentListener:
    """Handles the commands of `parley serve` until that process ends."""

    def __init__(
        self,
        bot: "Application",
        worker_support: "dict[str, WorkerSupport]",
        reports: asyncio.WriteTransport,
        stop: asyncio.Event,
        task_group: asyncio.TaskGroup,
    ) -> None:
        self._bot, self._worker_support, self._reports, self._stop = bot, worker_support, reports, stop
        self._task_group = task_group

    async def listen_to_pipe(self, pipe: asyncio.StreamReader) -> None:
        """Handle commands until the pipe closes. The work then ends as it does after an `EndWorkerCommand`.

        The pipe also closes, without an `EndWorkerCommand`, when `parley serve` is killed.
        """
        from bot.ids import TurnId
        from bot.turns.worker_protocol import (
            ApplyChangeCommand,
            BackgroundTurnsCommand,
            EndWorkerCommand,
            StopTurnCommand,
            TurnStoredCommand,
            read_commands,
        )

        async for command in read_commands(pipe):
            match command:
                case TurnStoredCommand():
                    self._bot.turn_workers.check_inbox()
                case StopTurnCommand(turn=turn):
                    self._bot.stop_requests.wake_turn(TurnId(turn))
                case ApplyChangeCommand():
                    self._task_group.create_task(self._apply_change(command))
                case BackgroundTurnsCommand(are_taken=are_taken):
                    self._bot.turn_workers.leave_background_turns(are_taken)
                case EndWorkerCommand():
                    self._stop.set()
                case _:
                    assert_never(command)
        if not self._stop.is_set():
            self._bot.log.warning("receiving process is gone")
        self._stop.set()

    async def _apply_change(self, changed: "ApplyChangeCommand") -> None:
        """Apply a directory change and report it.

        A failed change is not reported. `parley serve` then replaces this process by one whose caches are empty.
        """
        from bot.turns.worker_protocol import ChangeAppliedReport
        from storage.sql.errors import SqlError

        try:
            if changed.surface in self._worker_support:
                await self._worker_support[changed.surface].apply_change(changed.change)
        except SqlError as exc:
            self._bot.log.warning("directory change not applied", surface=changed.surface, error=type(exc).__name__)
        else:
            _write_report(self._reports, ChangeAppliedReport(number=changed.number))


@asynccontextmanager
async def _open_pipes() -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.WriteTransport]]:
    """The pipe with commands (standard input) and the pipe for reports (standard output).

    Standard output then goes to standard error, so that a library's prints do not get into the reports.
    """
    if not _is_pipe(0) or not _is_pipe(1):
        raise CommandFailed("this command is started by `parley serve`; use that", exit_status=2)
    loop, command_pipe = asyncio.get_running_loop(), asyncio.StreamReader()
    report_file = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    input_transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(command_pipe), sys.stdin)
    reports, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, report_file)
    try:
        yield command_pipe, reports
    finally:
        input_transport.close()
        reports.close()


def _is_pipe(file_descriptor: int) -> bool:
    mode = os.fstat(file_descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _write_report(reports: asyncio.WriteTransport, message: "WorkerReport") -> None:
    from bot.turns.worker_protocol import encode_message

    reports.write(encode_message(message))


def _report_measurements(bot: "Application", reports: asyncio.WriteTransport) -> None:
    from bot.turns.worker_protocol import ModelCallsReport, OperationReport, TurnEndedReport

    bot.turn_processor.add_observer(
        lambda measurement: _write_report(reports, TurnEndedReport(measurement=measurement))
    )
    bot.model_calls.add_observer(lambda calls: _write_report(reports, ModelCallsReport(calls=tuple(calls))))
    bot.operations.add_observer(lambda operation: _write_report(reports, OperationReport(operation=operation)))

"""`parley serve`: serves every surface on one port and runs the worker processes."""

import asyncio
import errno
import os
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from bot.cli.failures import CommandFailed, exit_on_failure, print_to_stderr
from bot.cli.options import DebugOption, HomeOption
from bot.cli.runtime import (
    StopSignals,
    build_endpoints,
    build_surfaces,
    freeze_startup_objects,
    is_debug_on,
    pause_garbage_collection,
    settings_for_home,
)
from bot.cli.speaker import TERMINAL_SURFACE

if TYPE_CHECKING:
    from aiohttp import web
    from structlog.typing import FilteringBoundLogger

    from bot.application import Application
    from bot.http.listening_sockets import PausingSocket
    from bot.metrics.service_metrics import ServiceMetrics
    from bot.programs.endpoint import ProgramEndpoint
    from bot.settings import Settings
    from bot.surface.surface import Surface
    from bot.turns.worker_processes import WorkerProcessPool

SurfaceT = TypeVar("SurfaceT", bound="Surface | ProgramEndpoint")
ANSWER_COMMAND: Final = (sys.executable, "-m", "bot.cli", "answer")


def serve(
    host: Annotated[str | None, typer.Option(help="[default: PARLEY_HOST, else 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="[default: PARLEY_PORT, else 8080]")] = None,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Serve Slack, Teams, the web chat and downloads until the process is told to end."""

    def override_address(settings: "Settings") -> "Settings":
        address = {"host": host, "port": port}
        return settings.model_copy(update={name: value for name, value in address.items() if value is not None})

    command = (*ANSWER_COMMAND, *(["--debug"] if is_debug_on(debug) else []))
    pause_garbage_collection()
    with exit_on_failure(debug=is_debug_on(debug)):
        asyncio.run(_serve_home(override_address(settings_for_home(home).settings), command))


async def _serve_home(settings: "Settings", worker_command: Sequence[str]) -> None:
    """Listen and start the worker processes first, and load most of the program meanwhile.

    The system keeps connections until the server accepts them, and turns wait in the inbox for the workers.
    """
    from bot.metrics.service_metrics import ServiceMetrics
    from bot.turns.structured_log import open_log
    from bot.turns.worker_protocol import MAX_CONCURRENT_TURNS

    metrics, stop = ServiceMetrics(turn_slots=MAX_CONCURRENT_TURNS), asyncio.Event()
    async with AsyncExitStack() as stack:
        sockets = stack.enter_context(_listen_early(settings))
        log = open_log(settings.home, stack, to_stderr=settings.logs_to_stderr)
        worker_pool = None
        if settings.workers and any(section.has_worker_surface for section in settings.sections):
            metrics.set_configured_workers(settings.workers)
            worker_pool = await stack.enter_async_context(
                _open_answer_workers(settings, worker_command, metrics, stop, log)
            )
        from bot.bootstrap import open_application

        bot = await stack.enter_async_context(
            open_application(
                settings,
                log=log,
                defers_dialogue=worker_pool is not None,
                tolerates_outage=True,
                report_outage=lambda reason: print_to_stderr(f"{reason}; what people write meanwhile is stored"),
            )
        )
        if worker_pool is not None:
            stack.push_async_callback(worker_pool.end_workers)  # before the application is closed
        await _serve_surfaces(bot, sockets, worker_pool, metrics, stop)


async def _serve_surfaces(
    bot: "Application",
    sockets: "Sequence[PausingSocket]",
    worker_pool: "WorkerProcessPool | None",
    metrics: "ServiceMetrics",
    stop: asyncio.Event,
) -> None:
    from bot.http_server import build_web_app

    bot.turn_processor.add_observer(metrics.record_turn)
    bot.model_calls.add_observer(metrics.record_calls)
    bot.operations.add_observer(metrics.record_operation)
    async with AsyncExitStack() as stack:
        # Without the terminal: its turns belong to the process of the person who types there.
        surfaces = build_surfaces(bot, exclude=TERMINAL_SURFACE)
        started_surfaces = [await stack.enter_async_context(_open_surface(surface)) for surface in surfaces]
        worker_surfaces = [
            surface for surface in started_surfaces if surface.worker_support is not None and worker_pool
        ]
        for surface in started_surfaces:
            (bot.register_receive_only if surface in worker_surfaces else bot.register_surface)(surface)
        if worker_pool is not None:
            stack.push_async_callback(worker_pool.end_workers)
            _connect_workers(bot, worker_pool, worker_surfaces)
        endpoints = [await stack.enter_async_context(_open_surface(endpoint)) for endpoint in build_endpoints(bot)]
        app = build_web_app(
            bot,
            [*started_surfaces, *endpoints],
            metrics,
            can_answer=lambda: worker_pool is None or worker_pool.has_ready_worker,
            is_ending=stop.is_set,
        )
        port = await stack.enter_async_context(_serve_http(bot, app, [*started_surfaces, *endpoints], sockets))
        stack.enter_context(StopSignals(stop))
        freeze_startup_objects()
        print_to_stderr(f"listening on http://{_format_host(bot.settings.host)}:{port}; Ctrl-C ends")
        await bot.run_until_stopped(stop, warm_up=worker_pool is None, maintenance=not worker_surfaces)
        print_to_stderr("ending: what was begun is finished first")


def _open_answer_workers(
    settings: "Settings",
    worker_command: Sequence[str],
    metrics: "ServiceMetrics",
    stop: asyncio.Event,
    log: "FilteringBoundLogger",
) -> "AbstractAsyncContextManager[WorkerProcessPool]":
    """Start worker processes with this process's settings from the environment and the options."""
    from bot.turns.stopping import stop_timeouts_within
    from bot.turns.worker_processes import open_worker_pool

    environ = {"PARLEY_HOME": str(settings.home), "PARLEY_HOST": settings.host, "PARLEY_PORT": str(settings.port)}
    environ |= {"PYTHONPATH": os.pathsep.join(sys.path)}
    return open_worker_pool(
        worker_command,
        os.environ | environ,
        count=settings.workers,
        stop=stop,
        log=log,
        on_turn_ended=metrics.record_turn,
        on_model_calls=metrics.record_calls,
        on_operation=metrics.record_operation,
        on_ready_count=metrics.set_ready_workers,
        on_background_count=metrics.set_background_workers,
        awaits_ready=False,
        end_timeout=stop_timeouts_within(settings.stop_timeout).worker_processes,
        background_command=(*worker_command, "--background"),
    )


def _connect_workers(
    bot: "Application", worker_pool: "WorkerProcessPool", worker_surfaces: "Sequence[Surface]"
) -> None:
    bot.turn_workers.add_listener(worker_pool.wake_workers)
    bot.stop_requests.add_listener(worker_pool.stop_turn)
    for surface in worker_surfaces:
        if surface.worker_support is not None:
            surface.worker_support.forward_changes_to(partial(worker_pool.broadcast_change, surface.name))


@asynccontextmanager
async def _open_surface(surface: "SurfaceT") -> "AsyncGenerator[SurfaceT]":
    await surface.start()
    try:
        yield surface
    finally:
        await surface.close()


@asynccontextmanager
async def _serve_http(
    bot: "Application",
    app: "web.Application",
    surfaces: "Sequence[Surface | ProgramEndpoint]",
    sockets: "Sequence[PausingSocket]",
) -> AsyncGenerator[int]:
    """Serve the application on the sockets and yield the port."""
    from aiohttp import web

    from bot.http.listening import limits_for_process, start_sites_on
    from bot.http.quiet_log import forward_library_logs, quiet_log_for

    runner = web.AppRunner(app, access_log=None, shutdown_timeout=bot.stop_timeouts.requests.total_seconds())
    with forward_library_logs(quiet_log_for(bot.log)):
        await runner.setup()
        try:
            await start_sites_on(runner, sockets, limits_for_process())
            yield int(runner.addresses[0][1])
        finally:
            for surface in surfaces:
                await surface.close()  # ends the pages' event streams, so that the server can stop
            await runner.cleanup()


@contextmanager
def _listen_early(settings: "Settings") -> "Generator[Sequence[PausingSocket]]":
    """Raises `CommandFailed` if the port is in use or not allowed."""
    from bot.http.listening_sockets import listen_early

    with ExitStack() as stack:
        try:
            sockets = stack.enter_context(listen_early(settings.host, settings.port))
        except OSError as exc:
            raise CommandFailed(_bind_error_message_for(exc, settings.host, settings.port)) from exc
        yield sockets


def _bind_error_message_for(exc: OSError, host: str, port: int) -> str:
    if exc.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is taken; end what uses it, or choose another with --port"
    if exc.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} on {host} may not be used; choose one above 1023 with --port"
    return f"{host}:{port} cannot be listened on ({exc.strerror}); check PARLEY_HOST and PARLEY_PORT"


def _format_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host

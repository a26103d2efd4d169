"""`parley serve`: serves every surface on one port and runs the worker processes."""

import asyncio
import errno
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.failures import CommandFailed, print_to_stderr
from bot.cli.options import DebugOption, HomeOption
from bot.cli.runtime import StopSignals, build_surfaces, freeze_startup_objects, is_debug_on, run_with_bot
from bot.cli.speaker import TERMINAL_SURFACE

if TYPE_CHECKING:
    from aiohttp import web

    from bot.application import Application
    from bot.settings import Settings
    from bot.surface.surface import Surface
    from bot.turns.metrics import TurnMetrics

_SHUTDOWN_GRACE_S = 20.0  # for running requests and turns
_ANSWER_COMMAND: Final = (sys.executable, "-m", "bot.cli", "answer")


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

    command = (*_ANSWER_COMMAND, *(["--debug"] if is_debug_on(debug) else []))
    run_with_bot(
        partial(_serve_surfaces, worker_command=command), home=home, debug=debug, adjust_settings=override_address
    )


async def _serve_surfaces(bot: "Application", worker_command: Sequence[str]) -> None:
    from bot.http_server import build_web_app
    from bot.turns.metrics import TurnMetrics

    metrics, stop = TurnMetrics(), asyncio.Event()
    bot.turn_processor.add_observer(metrics.record_turn)
    bot.model_calls.add_observer(metrics.record_calls)
    async with AsyncExitStack() as stack:
        # Without the terminal: its turns belong to the process of the person who types there.
        surfaces = build_surfaces(bot, exclude=TERMINAL_SURFACE)
        started_surfaces = [await stack.enter_async_context(_open_surface(surface)) for surface in surfaces]
        worker_surfaces = [
            surface for surface in started_surfaces if surface.worker_support is not None and bot.settings.workers
        ]
        for surface in started_surfaces:
            (bot.register_receive_only if surface in worker_surfaces else bot.register_surface)(surface)
        if worker_surfaces:
            await stack.enter_async_context(_run_answer_workers(bot, worker_command, worker_surfaces, metrics, stop))
        port = await stack.enter_async_context(
            _listen_for_http(bot, build_web_app(bot, started_surfaces, metrics), started_surfaces)
        )
        stack.enter_context(StopSignals(stop))
        freeze_startup_objects()
        print_to_stderr(f"listening on http://{_format_host(bot.settings.host)}:{port}; Ctrl-C ends")
        await bot.run_until_stopped(stop, warm_up=True, maintenance=not worker_surfaces)
        print_to_stderr("ending: what was begun is finished first")


@asynccontextmanager
async def _run_answer_workers(
    bot: "Application",
    worker_command: Sequence[str],
    worker_surfaces: "Sequence[Surface]",
    metrics: "TurnMetrics",
    stop: asyncio.Event,
) -> AsyncGenerator[None]:
    """Run worker processes for these surfaces, with this process's settings from the environment and the options."""
    from bot.turns.worker_processes import open_worker_pool

    settings = bot.settings
    environ = {"PARLEY_HOME": str(settings.home), "PARLEY_HOST": settings.host, "PARLEY_PORT": str(settings.port)}
    environ |= {"PYTHONPATH": os.pathsep.join(sys.path)}
    async with open_worker_pool(
        worker_command,
        os.environ | environ,
        count=settings.workers,
        stop=stop,
        log=bot.log,
        on_turn_ended=metrics.record_turn,
        on_model_calls=metrics.record_calls,
        on_ready_count=metrics.set_ready_workers,
    ) as worker_pool:
        bot.turn_workers.add_listener(worker_pool.wake_workers)
        bot.stop_requests.add_listener(worker_pool.stop_turn)
        for surface in worker_surfaces:
            if surface.worker_support is not None:
                surface.worker_support.forward_changes_to(partial(worker_pool.broadcast_change, surface.name))
        yield


@asynccontextmanager
async def _open_surface(surface: "Surface") -> "AsyncGenerator[Surface]":
    await surface.start()
    try:
        yield surface
    finally:
        await surface.close()


@asynccontextmanager
async def _listen_for_http(
    bot: "Application", app: "web.Application", surfaces: "Sequence[Surface]"
) -> AsyncGenerator[int]:
    """Listen and yield the port. Raises `CommandFailed` if the port is in use or not allowed."""
    from aiohttp import web

    from bot.http.quiet_log import forward_library_logs, quiet_log_for

    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_GRACE_S)
    with forward_library_logs(quiet_log_for(bot.log)):
        await runner.setup()
        try:
            yield await _bind_port(runner, bot.settings.host, bot.settings.port)
        finally:
            for surface in surfaces:
                await surface.close()  # ends the pages' event streams, so that the server can stop
            await runner.cleanup()


async def _bind_port(runner: "web.AppRunner", host: str, port: int) -> int:
    from bot.http.listening import limits_for_process, start_sites

    try:
        await start_sites(runner, host, port, limits_for_process())
    except OSError as exc:
        raise CommandFailed(_bind_error_message_for(exc, host, port)) from exc
    return int(runner.addresses[0][1])


def _bind_error_message_for(exc: OSError, host: str, port: int) -> str:
    if exc.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is taken; end what uses it, or choose another with --port"
    if exc.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} on {host} may not be used; choose one above 1023 with --port"
    return f"{host}:{port} cannot be listened on ({exc.strerror}); check PARLEY_HOST and PARLEY_PORT"


def _format_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host

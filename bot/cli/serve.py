"""`parley serve`: every surface on one port, and the workers behind them."""

import asyncio
import errno
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.failures import Failed, complain
from bot.cli.options import Debug, Home
from bot.cli.running import Signals, is_debug, keep_for_good, surfaces, with_bot
from bot.cli.speaker import SURFACE

if TYPE_CHECKING:
    from aiohttp import web

    from bot.bootstrap import Bot
    from bot.metrics import Metrics
    from bot.settings import Settings
    from bot.surfaces import Surface

_FAREWELL_S = 20.0  # for requests and turns that have begun
_ANSWER: Final = (sys.executable, "-m", "bot.cli", "answer")


def serve(
    host: Annotated[str | None, typer.Option(help="[default: PARLEY_HOST, else 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="[default: PARLEY_PORT, else 8080]")] = None,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Serve Slack, the web chat and downloads until the process is told to end."""

    def changed(settings: "Settings") -> "Settings":
        given = {"host": host, "port": port}
        return settings.model_copy(update={name: value for name, value in given.items() if value is not None})

    command = (*_ANSWER, *(["--debug"] if is_debug(debug) else []))
    with_bot(partial(_serve, command=command), home=home, debug=debug, changed=changed)


async def _serve(bot: "Bot", command: Sequence[str]) -> None:
    from bot.http import application
    from bot.metrics import Metrics

    metrics, stop = Metrics(), asyncio.Event()
    bot.turns.observe(metrics.turn)
    async with AsyncExitStack() as stack:
        # Not the terminal: its turns belong to whoever sits there, not to this process's output.
        there = surfaces(bot, but=SURFACE)
        served = [await stack.enter_async_context(_opened(surface)) for surface in there]
        apart = [surface for surface in served if surface.apart is not None and bot.settings.workers]
        for surface in served:
            (bot.leave if surface in apart else bot.register)(surface)
        if apart:
            await stack.enter_async_context(_answering(bot, command, apart, metrics, stop))
        port = await stack.enter_async_context(_listening(bot, application(bot, served, metrics), served))
        stack.enter_context(Signals(stop))
        keep_for_good()
        complain(f"listening on http://{_shown(bot.settings.host)}:{port}; Ctrl-C ends")
        await bot.work(stop, prepare=True, chores=not apart)
        complain("ending: what was begun is finished first")


@asynccontextmanager
async def _answering(
    bot: "Bot", command: Sequence[str], apart: "Sequence[Surface]", metrics: "Metrics", stop: asyncio.Event
) -> AsyncGenerator[None]:
    """Processes that answer on these surfaces, with the settings of this one: the environment's, and its options."""
    from bot.answerers import answering

    settings = bot.settings
    environ = {"PARLEY_HOME": str(settings.home), "PARLEY_HOST": settings.host, "PARLEY_PORT": str(settings.port)}
    environ |= {"PYTHONPATH": os.pathsep.join(sys.path)}
    async with answering(
        command,
        os.environ | environ,
        count=settings.workers,
        stop=stop,
        log=bot.log,
        ended=metrics.turn,
        ready=metrics.answerers,
    ) as answerers:
        bot.workers.tell(answerers.wake)
        bot.stops.tell(answerers.stop)
        for surface in apart:
            if surface.apart is not None:
                surface.apart.tell(partial(answerers.tell, surface.name))
        yield


@asynccontextmanager
async def _opened(surface: "Surface") -> "AsyncGenerator[Surface]":
    await surface.start()
    try:
        yield surface
    finally:
        await surface.close()


@asynccontextmanager
async def _listening(bot: "Bot", app: "web.Application", served: "Sequence[Surface]") -> AsyncGenerator[int]:
    """The port. Raises `Failed` where it is taken or may not be had."""
    from aiohttp import web

    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_FAREWELL_S)
    await runner.setup()
    try:
        yield await _bound(runner, bot.settings.host, bot.settings.port)
    finally:
        for surface in served:
            await surface.close()  # streams that pages follow end, so that the server can
        await runner.cleanup()


async def _bound(runner: "web.AppRunner", host: str, port: int) -> int:
    from aiohttp import web

    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as exc:
        raise Failed(_why_not(exc, host, port)) from exc
    return int(runner.addresses[0][1])


def _why_not(exc: OSError, host: str, port: int) -> str:
    if exc.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is taken; end what uses it, or choose another with --port"
    if exc.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} on {host} may not be used; choose one above 1023 with --port"
    return f"{host}:{port} cannot be listened on ({exc.strerror}); check PARLEY_HOST and PARLEY_PORT"


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host

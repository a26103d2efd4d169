"""What commands do their work in: settings read, the bot opened and closed, failures told plainly."""

import asyncio
import gc
import signal
import sys
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.failures import Failed, plainly

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from bot.settings import Loaded, Settings
    from bot.surfaces import Surface


@dataclass(frozen=True, slots=True)
class Given:
    """Options that stood before the command."""

    home: Path | None = None
    debug: bool = False


given: ContextVar[Given] = ContextVar("given", default=Given())  # noqa: B039 - immutable


def is_debug(debug: bool) -> bool:
    return debug or given.get().debug


def settings_of(home: Path | None) -> "Loaded":
    """Raises `InvalidSettings`."""
    from bot.settings import load_settings

    return load_settings(home or given.get().home)


def with_bot(
    work: "Callable[[Bot], Awaitable[None]]",
    *,
    home: Path | None,
    debug: bool,
    changed: "Callable[[Settings], Settings]" = lambda settings: settings,
) -> None:
    """Runs `work` with the bot of this home; ends the process by `typer.Exit` where it fails."""
    with plainly(debug=is_debug(debug)):
        settings = changed(settings_of(home).settings)
        asyncio.run(_with(settings, work))


async def _with(settings: "Settings", work: "Callable[[Bot], Awaitable[None]]") -> None:
    from bot.bootstrap import build_bot

    async with build_bot(settings) as bot:
        await work(bot)


def surface_named(name: str, bot: "Bot") -> "Surface | None":
    """A surface found by its entry point; None when it is not configured. Raises `Failed` when it is not installed."""
    from importlib.metadata import entry_points

    for point in entry_points(group="parley.surfaces", name=name):
        return point.load()(bot)
    raise Failed(f"the surface {name!r} is not installed; install Parley anew")


def surfaces(bot: "Bot", *, but: str) -> "list[Surface]":
    """Every surface that is installed and configured, but one."""
    from importlib.metadata import entry_points

    built = [point.load()(bot) for point in sorted(entry_points(group="parley.surfaces")) if point.name != but]
    return [surface for surface in built if surface is not None]


def keep_for_good() -> None:
    """What there is when a service begins stays: walking it all again and again would stop everyone who waits, for a
    tenth of a second each time (https://docs.python.org/3/library/gc.html#gc.freeze).
    """
    gc.collect()
    gc.freeze()


class Signals:
    """SIGTERM and SIGINT end the work; a second one ends the process at once."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop, self._loop = stop, asyncio.get_running_loop()

    def __enter__(self) -> None:
        for one in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(one, self._heard)

    def __exit__(self, *_: object) -> None:
        for one in (signal.SIGTERM, signal.SIGINT):
            self._loop.remove_signal_handler(one)

    def _heard(self) -> None:
        self._stop.set()
        for one in (signal.SIGTERM, signal.SIGINT):
            self._loop.remove_signal_handler(one)


def say(text: str) -> None:
    """A line on stdout."""
    print(text)  # noqa: T201


def on_terminal() -> bool:
    """Whether a person is there to read and to type."""
    return sys.stdin.isatty() and sys.stdout.isatty()

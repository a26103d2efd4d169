"""Runs commands: reads the settings, opens and closes the bot, and reports failures."""

import asyncio
import gc
import signal
import sys
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.failures import CommandFailed, exit_on_failure
from bot.cli.terminal_text import escape_controls

if TYPE_CHECKING:
    from bot.application import Application
    from bot.programs.endpoint import ProgramEndpoint, ProgramEndpointFactory
    from bot.settings import LoadedSettings, Settings
    from bot.surface.surface import Surface, SurfaceFactory


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """Options given before the command."""

    home: Path | None = None
    debug: bool = False


global_options: ContextVar[GlobalOptions] = ContextVar("global_options", default=GlobalOptions())  # noqa: B039 - immutable


def is_debug_on(debug: bool) -> bool:
    return debug or global_options.get().debug


def settings_for_home(home: Path | None) -> "LoadedSettings":
    """Raises `InvalidSettings`."""
    from bot.settings import load_settings

    return load_settings(home or global_options.get().home)


def run_with_bot(
    work: "Callable[[Application], Awaitable[None]]",
    *,
    home: Path | None,
    debug: bool,
    adjust_settings: "Callable[[Settings], Settings]" = lambda settings: settings,
    tolerates_outage: bool = False,
    answers_questions: bool = False,
) -> None:
    """Run `work` with the bot of this home, also without an index that may recover if it `tolerates_outage`.

    What answers questions takes half of the start: it is loaded at the start if the command `answers_questions`, else
    with the first question. Raises `typer.Exit` when `work` fails.
    """
    pause_garbage_collection()
    with exit_on_failure(debug=is_debug_on(debug)):
        settings = adjust_settings(settings_for_home(home).settings)
        asyncio.run(
            _open_bot_and_run(settings, work, tolerates_outage=tolerates_outage, answers_questions=answers_questions)
        )


async def _open_bot_and_run(
    settings: "Settings",
    work: "Callable[[Application], Awaitable[None]]",
    *,
    tolerates_outage: bool,
    answers_questions: bool,
) -> None:
    from bot.bootstrap import open_application

    async with open_application(
        settings, tolerates_outage=tolerates_outage, defers_dialogue=not answers_questions
    ) as bot:
        freeze_startup_objects()
        await work(bot)


def build_surface(name: str, bot: "Application") -> "Surface | None":
    """Build a surface from its entry point; None if it is not configured.

    Raises `CommandFailed` if it is not installed.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group="parley.surfaces", name=name):
        factory: SurfaceFactory = point.load()
        return factory(bot)
    raise CommandFailed(f"the surface {name!r} is not installed; install Parley again")


def build_surfaces(bot: "Application", *, exclude: str) -> "list[Surface]":
    """Every surface that is installed and configured, except one."""
    from importlib.metadata import entry_points

    section_types = {point.name: point.load() for point in entry_points(group="parley.settings")}
    unconfigured = {
        name
        for name, section_type in section_types.items()
        for section in bot.settings.sections
        if isinstance(section, section_type) and not section.is_configured
    }
    factories: list[SurfaceFactory] = [
        point.load()
        for point in sorted(entry_points(group="parley.surfaces"))
        if point.name != exclude and point.name not in unconfigured
    ]
    return [surface for factory in factories if (surface := factory(bot)) is not None]


def build_endpoints(bot: "Application") -> "list[ProgramEndpoint]":
    """Everything installed that answers other programs over HTTP."""
    from importlib.metadata import entry_points

    factories: list[ProgramEndpointFactory] = [point.load() for point in sorted(entry_points(group="parley.endpoints"))]
    return [factory(bot) for factory in factories]


def pause_garbage_collection() -> None:
    """Collect no garbage until `freeze_startup_objects`: nearly everything that is loaded at the start stays.

    A seventh of the time of the imports would go into collections.
    """
    gc.disable()


def freeze_startup_objects() -> None:
    """Exclude all current objects from garbage collection, because the process keeps them until it ends.

    Each full collection over them would stop all turns for a tenth of a second
    (https://docs.python.org/3/library/gc.html#gc.freeze). A collection before that would take as long at the start,
    and find next to nothing.
    """
    gc.freeze()
    gc.enable()


class StopSignals:
    """Sets the stop event on SIGTERM and SIGINT. A second signal ends the process at once."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop, self._loop = stop, asyncio.get_running_loop()

    def __enter__(self) -> None:
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(signal_number, self._handle_signal)

    def __exit__(self, *_: object) -> None:
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            self._loop.remove_signal_handler(signal_number)

    def _handle_signal(self) -> None:
        self._stop.set()
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            self._loop.remove_signal_handler(signal_number)


def count_phrase_for(number: int, noun: str) -> str:
    """ "1 document", "1,042 documents"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_line(text: str) -> None:
    """Print a line to stdout, without control characters."""
    print(escape_controls(text))  # noqa: T201


def is_on_terminal() -> bool:
    """Whether both standard input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()

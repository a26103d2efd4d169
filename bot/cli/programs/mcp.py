"""`parley mcp`: answers a program that speaks the Model Context Protocol."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final, Protocol

import typer

from bot.cli.failures import CommandFailed, print_to_stderr
from bot.cli.options import DebugOption, HomeOption, SpeakerOption
from bot.cli.runtime import run_with_bot
from bot.cli.speaker import local_time_zone, speaker_for

if TYPE_CHECKING:
    from bot.application import Application
    from bot.ids import PersonId

_PROTOCOL: Final = "mcp"

app = typer.Typer(help="Answer programs that speak the Model Context Protocol (MCP).", invoke_without_command=True)


class StdioServer(Protocol):
    """The object of an entry point `parley.stdio`."""

    def __call__(self, bot: "Application", person: "PersonId", time_zone: str) -> Awaitable[None]: ...


@app.callback()
def serve_client(
    context: typer.Context, as_: SpeakerOption = None, home: HomeOption = None, debug: DebugOption = False
) -> None:
    """Answer a client of the Model Context Protocol over standard input and output, until it closes them."""
    if context.invoked_subcommand is not None:
        return

    async def serve_with_bot(bot: "Application") -> None:
        speaker = speaker_for(as_)
        print_to_stderr(f"answering an MCP client as {speaker.person}; Ctrl-D ends")
        await _load_server()(bot, speaker.person, local_time_zone())

    run_with_bot(serve_with_bot, home=home, debug=debug)


def _load_server() -> StdioServer:
    """Raises `CommandFailed` if it is not installed."""
    from importlib.metadata import entry_points

    for point in entry_points(group="parley.stdio", name=_PROTOCOL):
        return point.load()
    raise CommandFailed("the MCP server is not installed; install Parley again")

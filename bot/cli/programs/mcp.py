"""`parley mcp`: answers a program that speaks the Model Context Protocol."""

import json
from collections.abc import Awaitable
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final, Protocol

import typer

from bot.cli.failures import CommandFailed, print_to_stderr
from bot.cli.options import DebugOption, HomeOption, JsonOption, SpeakerOption
from bot.cli.runtime import print_line, run_with_bot
from bot.cli.speaker import local_time_zone, speaker_for
from bot.ids import OPERATOR

if TYPE_CHECKING:
    from datetime import datetime

    from bot.application import Application
    from bot.ids import PersonId

_PROTOCOL: Final = "mcp"

app = typer.Typer(help="Answer programs that speak the Model Context Protocol (MCP).", invoke_without_command=True)
token_app = typer.Typer(help="Tokens with which programs ask over HTTP.", no_args_is_help=True)
app.add_typer(token_app, name="token")


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

    run_with_bot(serve_with_bot, home=home, debug=debug, answers_questions=True)


@token_app.command("create")
def create_token(
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help="The person: local:NAME, slack:TEAM:USER or teams:TENANT:OBJECT.")
    ],
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="Valid so long. [default: until revoked]")] = None,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Make a token with which a program asks in the name of a person at /mcp; it is shown once."""

    async def issue_token(bot: "Application") -> None:
        from bot.programs.access_tokens import ProgramTokens, parse_token_person

        lifetime = None if days is None else timedelta(days=days)
        tokens = ProgramTokens(bot.database)
        issued = await tokens.create_token(parse_token_person(subject), lifetime=lifetime, by=OPERATOR)
        if json_:
            fields = {"id": issued.id, "token": issued.text, "person": issued.person}
            print_line(json.dumps(fields | {"expires_at": _format_time(issued.expires_at)}))
        else:
            print_to_stderr(f"the token of {issued.person}; it is not shown again:")
            print_line(issued.text)

    run_with_bot(issue_token, home=home, debug=debug)


@token_app.command("list")
def list_tokens(json_: JsonOption = False, home: HomeOption = None, debug: DebugOption = False) -> None:
    """The tokens, without their secrets."""

    async def print_tokens(bot: "Application") -> None:
        from bot.programs.access_tokens import ProgramTokens

        tokens = await ProgramTokens(bot.database).list_tokens()
        if json_:
            lines = [
                {"id": token.id, "person": token.person}
                | {"created_at": _format_time(token.created_at), "expires_at": _format_time(token.expires_at)}
                for token in tokens
            ]
            print_line(json.dumps(lines))
            return
        for token in tokens:
            end = "until revoked" if token.expires_at is None else f"until {token.expires_at:%Y-%m-%d %H:%M} UTC"
            print_line(f"{token.id}  {token.person}  {end}")

    run_with_bot(print_tokens, home=home, debug=debug)


@token_app.command("revoke")
def revoke_token(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="As parley mcp token list shows it.")],
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Let nobody in with a token any more."""

    async def remove_token(bot: "Application") -> None:
        from bot.programs.access_tokens import ProgramTokens

        if not await ProgramTokens(bot.database).revoke_token(token_id, by=OPERATOR):
            raise CommandFailed(f"there is no token {token_id!r}; parley mcp token list shows those there are")
        print_line(f"the token {token_id} lets nobody in any more")

    run_with_bot(remove_token, home=home, debug=debug)


def _format_time(time: "datetime | None") -> str | None:
    return None if time is None else time.isoformat()


def _load_server() -> StdioServer:
    """Raises `CommandFailed` if it is not installed."""
    from importlib.metadata import entry_points

    for point in entry_points(group="parley.stdio", name=_PROTOCOL):
        return point.load()
    raise CommandFailed("the MCP server is not installed; install Parley again")

"""The commands, and how the process ends."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import answer, ask, buckets, chat, demo, doctor, export, grants, ingest, serve, sources
from bot.cli import eval as evaluation
from bot.cli.failures import last_resort
from bot.cli.running import Given, given

app = typer.Typer(
    name="parley",
    help="Answers questions about your documents, and asks back with counted choices.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text, and rich is not imported for it
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("parley"))
        raise typer.Exit


@app.callback()
def options(
    home: Annotated[Path | None, typer.Option("--home", help="The folder that holds everything.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Tracebacks where something fails.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say it and end.")
    ] = False,
) -> None:
    """Answers questions about your documents, and asks back with counted choices."""
    given.set(Given(home, debug))


app.command()(demo.demo)
app.command()(chat.chat)
app.command()(serve.serve)
app.command(hidden=True)(answer.answer)
app.command()(ingest.ingest)
app.command()(ask.ask)
app.command()(export.export)
app.command("eval")(evaluation.evaluate)
app.add_typer(buckets.app, name="bucket")
app.add_typer(sources.app, name="source")
app.command()(grants.grant)
app.command()(grants.revoke)
app.command()(grants.grants)
app.add_typer(grants.group_app, name="group")
app.command()(doctor.doctor)


def main() -> None:
    """The entry point `parley`."""
    sys.excepthook = last_resort
    app()

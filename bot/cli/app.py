"""The `parley` command with its subcommands and global options."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.commands import (
    answer_worker,
    ask,
    buckets,
    chat,
    demo,
    doctor,
    export,
    grants,
    index,
    ingest,
    packages,
    prompts,
    serve,
)
from bot.cli.commands import eval as evaluation
from bot.cli.database import backup, schema
from bot.cli.failures import report_internal_error
from bot.cli.programs import mcp
from bot.cli.records import admin_link, expire, forget, report, saved, synonym
from bot.cli.runtime import GlobalOptions, global_options
from bot.cli.sources import source_commands

app = typer.Typer(
    name="parley",
    help="Answers questions about your documents, and asks back with counted choices.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text, so rich is not imported
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version

        typer.echo(version("parley"))
        raise typer.Exit


@app.callback()
def set_global_options(
    home: Annotated[Path | None, typer.Option("--home", help="The folder that holds everything.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Answers questions about your documents, and asks back with counted choices."""
    global_options.set(GlobalOptions(home, debug))


app.command()(demo.demo)
app.command()(chat.chat)
app.command()(serve.serve)
app.command(hidden=True)(answer_worker.answer)
app.command()(ingest.ingest)
app.command()(ask.ask)
app.command()(export.export)
app.command("eval")(evaluation.run_evaluation)
buckets.app.command("synonym")(synonym.add_synonym)
buckets.app.command("expire")(expire.expire_documents)
app.add_typer(buckets.app, name="bucket")
app.add_typer(source_commands.app, name="source")
app.add_typer(index.app, name="index")
app.add_typer(schema.app, name="db")
app.command("upgrade")(schema.upgrade_or_check)
app.command()(backup.backup)
app.command()(backup.restore)
app.command()(report.report)
app.command()(forget.forget)
app.add_typer(saved.app, name="saved")
app.command()(grants.grant)
app.command()(grants.revoke)
app.command()(grants.grants)
app.add_typer(grants.group_app, name="group")
app.command("admin-link")(admin_link.make_admin_link)
app.add_typer(mcp.app, name="mcp")
app.add_typer(prompts.app, name="prompts")
app.add_typer(packages.app, name="teams")
app.command()(doctor.doctor)


def main() -> None:
    """The entry point `parley`."""
    sys.excepthook = report_internal_error
    app()

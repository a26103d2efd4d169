"""`parley backup` and `parley restore`: the database as a file, for either engine."""

import asyncio
from pathlib import Path
from typing import Annotated, Final

import typer

from bot.cli.failures import exit_on_failure
from bot.cli.options import DebugOption, HomeOption
from bot.cli.runtime import count_phrase_for, is_debug_on, print_line, settings_for_home

_NOT_INCLUDED: Final = (
    "not in it: the index, parley.toml, secret.key or PARLEY_SECRET_KEY; keep the key in another place, without it the"
    " tokens of chat workspaces cannot be read"
)
_NEXT_STEP: Final = "the index is not in a backup: parley index rebuild loads the documents that are missing"
FileArgument = Annotated[Path, typer.Argument(metavar="FILE")]


def backup(file: FileArgument, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Write the database into a new file, readable by its owner alone. Parley may go on running meanwhile.

    The file holds questions, answers, attached files and grants in clear text.
    """
    from bot.health.database_upkeep import back_up_database

    with exit_on_failure(debug=is_debug_on(debug)):
        summary = asyncio.run(back_up_database(settings_for_home(home).settings, file))
        print_line(f"{file}: {count_phrase_for(summary.row_count, 'row')} of revision {summary.header.revision}")
        print_line(_NOT_INCLUDED)


def restore(file: FileArgument, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Restore a backup of SQLite or PostgreSQL into an empty database of either. Nothing else may use it meanwhile."""
    from bot.health.database_upkeep import restore_database

    with exit_on_failure(debug=is_debug_on(debug)):
        summary = asyncio.run(restore_database(settings_for_home(home).settings, file))
        header = summary.header
        print_line(
            f"{count_phrase_for(summary.row_count, 'row')} restored, as of {header.created_at} ({header.engine})"
        )
        print_line(_NEXT_STEP)

"""`parley db`: upgrades the tables of the database, and checks whether the database fits."""

import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed, exit_on_failure
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import is_debug_on, print_line, settings_for_home

if TYPE_CHECKING:
    from collections.abc import Sequence

    from storage.sql.inspection import DatabaseInspection
    from storage.sql.migrations.upgrade import PendingRevision

app = typer.Typer(help="Upgrade the tables of the database, and check whether it fits.", no_args_is_help=True)


@app.command()
def upgrade(home: HomeOption = None, debug: DebugOption = False) -> None:
    """Create or upgrade the tables, as every start of Parley does.

    If several processes do this at the same time, one of them does it and the others wait.
    """
    from bot.health.database_upkeep import upgrade_database

    with exit_on_failure(debug=is_debug_on(debug)):
        before, location = asyncio.run(upgrade_database(settings_for_home(home).settings))
        if not before:
            print_line(f"{location}: the tables are up to date")
        for line in _list_revisions(before):
            print_line(f"{location}: upgraded to {line}")


@app.command()
def check(json_: JsonOption = False, home: HomeOption = None, debug: DebugOption = False) -> None:
    """Say which revision the tables have, what an upgrade would do, and what does not fit, with its fix.

    Changes nothing.
    """
    from bot.health.database_upkeep import check_database

    with exit_on_failure(debug=is_debug_on(debug)):
        inspection = asyncio.run(check_database(settings_for_home(home).settings))
        if json_:
            print_line(json.dumps(asdict(inspection) | {"faults": inspection.faults}, ensure_ascii=False))
        else:
            _print_inspection(inspection)
        if faults := inspection.faults:
            raise CommandFailed("\n  - ".join([f"{inspection.location} does not fit:", *faults]))


def upgrade_or_check(
    is_check: Annotated[
        bool, typer.Option("--check", help="Change nothing: say what an upgrade would do, and what does not fit.")
    ] = False,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Upgrade the tables of an earlier Parley, as `parley db upgrade` does; --check is `parley db check`."""
    with exit_on_failure(debug=is_debug_on(debug)):
        if json_ and not is_check:
            raise CommandFailed("--json is for what --check finds; nothing was upgraded", exit_status=2)
    if is_check:
        check(json_, home, debug)
    else:
        upgrade(home, debug)


def _print_inspection(inspection: "DatabaseInspection") -> None:
    print_line(inspection.location)
    width = max(len(finding.name) for finding in inspection.findings)
    for finding in inspection.findings:
        print_line(f"{finding.name:<{width}}  {finding.value}")
    for line in _list_revisions(inspection.pending):
        print_line(f"{'pending':<{width}}  {line}")


def _list_revisions(revisions: "Sequence[PendingRevision]") -> list[str]:
    return [f"{revision.number}: {revision.title.rstrip('.')}" for revision in revisions]

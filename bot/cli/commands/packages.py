"""`parley teams package`: writes the package with which an admin installs the Teams app."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.failures import CommandFailed, exit_on_failure
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import is_debug_on, print_line, settings_for_home

if TYPE_CHECKING:
    from bot.surface.checkup import AppPackager

_TEAMS: Final = "teams"

app = typer.Typer(help="The app for Microsoft Teams.", no_args_is_help=True)


@app.callback()
def describe_group() -> None:
    """The app for Microsoft Teams."""


@app.command()
def package(
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the package goes. [default: parley-teams.zip]")
    ] = None,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Write the package with which an admin installs the app: its manifest and icons, from the settings."""
    with exit_on_failure(debug=is_debug_on(debug)):
        settings = settings_for_home(home).settings
        built = _load_packager(_TEAMS)(settings)
        path = out or Path(built.file_name)
        path.write_bytes(built.content)
        if json_:
            print_line(json.dumps({"path": str(path), "notes": built.notes}, ensure_ascii=False))
        else:
            for line in (f"{path}  {len(built.content):,} bytes", *built.notes):
                print_line(line)


def _load_packager(product: str) -> "AppPackager":
    """Raises `CommandFailed` where the product's adapter is not installed."""
    from importlib.metadata import entry_points

    for point in entry_points(group="parley.packages", name=product):
        packager: AppPackager = point.load()
        return packager
    raise CommandFailed(f"the surface {product!r} is not installed; install Parley again")

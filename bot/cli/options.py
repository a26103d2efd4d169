"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path | None,
    typer.Option("--home", help="The folder that holds everything. [default: PARLEY_HOME, else your data folder]"),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show how it came about, and tracebacks.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON value on stdout and nothing else.")]
As = Annotated[
    str | None,
    typer.Option("--as", metavar="USER", help="Speak as local:NAME, slack:TEAM:USER or teams:TENANT:OBJECT."),
]
Buckets = Annotated[
    list[str] | None, typer.Option("--bucket", metavar="BUCKET", help="Only in this bucket; may be repeated.")
]

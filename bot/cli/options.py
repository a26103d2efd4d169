"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

HomeOption = Annotated[
    Path | None,
    typer.Option("--home", help="The folder that holds everything. [default: PARLEY_HOME, else your data folder]"),
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show how it came about, and tracebacks.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON value on stdout and nothing else.")]
DecomposeOption = Annotated[bool, typer.Option(help="Search the topics of a question too.")]
SpeakerOption = Annotated[
    str | None,
    typer.Option("--as", metavar="USER", help="Speak as local:NAME, slack:TEAM:USER or teams:TENANT:OBJECT."),
]
BucketsOption = Annotated[
    list[str] | None, typer.Option("--bucket", metavar="BUCKET", help="Only in this bucket; may be repeated.")
]

"""What commands share that have a model read many documents: consent to the cost, and a progress bar."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated

import typer

from bot.cli.failures import CommandFailed, print_to_stderr

ConsentOption = Annotated[bool, typer.Option("--yes", help="Do not ask whether the model may be used.")]
_WITHOUT_CONSENT = "no model was used; give --yes to use it without being asked"


def ask_for_consent(estimate: str, *, yes: bool) -> None:
    """Print the estimate to stderr; without `yes`, ask whether to go on. Raises `CommandFailed` unless agreed."""
    print_to_stderr(estimate)
    if not yes and not (sys.stdin.isatty() and typer.confirm("Go on?", err=True)):
        raise CommandFailed(_WITHOUT_CONSENT)


@contextmanager
def open_count_bar(title: str, total: int) -> Generator[Callable[[int], None]]:
    """A progress bar on stderr, if that is a terminal; yields the function that takes the count so far."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.update(task, completed=count)

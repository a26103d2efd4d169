"""Progress of a turn: a line for people about what Parley is doing at the moment."""

from collections.abc import Callable
from typing import TypeAlias

ProgressCallback: TypeAlias = Callable[[str], None]


def ignore_progress(text: str) -> None:
    """A `ProgressCallback` where nobody waits."""

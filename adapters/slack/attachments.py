"""Files in a message. Parley does not read them; whoever attached one is told so."""

from collections.abc import Iterable
from typing import Final

from pydantic import BaseModel

_GONE: Final = "tombstone"  # deleted since


class AttachedFile(BaseModel):
    """In channels shared between organisations, Slack tells of the id alone."""

    name: str | None = None
    mode: str | None = None


def names_of(files: Iterable[AttachedFile]) -> tuple[str, ...]:
    """Empty for one without a name."""
    return tuple(file.name or "" for file in files if file.mode != _GONE)

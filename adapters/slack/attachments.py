"""Files in a message, as deliveries tell of them."""

from collections.abc import Iterable
from typing import Final

from pydantic import BaseModel

from bot.attachments import kind_of
from bot.inbound import AttachedFile

_GONE: Final = "tombstone"  # deleted since
_ELSEWHERE: Final = "external"  # a link to another service
_OTHER: Final = "other"  # a kind that is not read


class SlackFile(BaseModel):
    """In channels shared between organisations, Slack tells of the id alone (`file_access`: `check_file_info`)."""

    id: str
    name: str | None = None
    mimetype: str | None = None
    mode: str | None = None
    size: int | None = None
    permalink: str | None = None


def attached(files: Iterable[SlackFile]) -> tuple[AttachedFile, ...]:
    """Those that are still there. Slack hands out what people open by a link that asks who they are."""
    return tuple(described(file) for file in files if file.mode != _GONE)


def described(file: SlackFile) -> AttachedFile:
    if not file.name:
        return AttachedFile(id=file.id)
    kind = _OTHER if file.mode == _ELSEWHERE else kind_of(file.name, file.mimetype or "") or _OTHER
    return AttachedFile(id=file.id, name=file.name, kind=kind, size=file.size, link=file.permalink)

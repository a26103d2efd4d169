"""Reads the files attached to a message from a delivery."""

from collections.abc import Iterable
from typing import Final

from adapters.slack.payloads.objects import SlackFile
from bot.surface.attachments import file_kind_of
from bot.surface.inbound import AttachedFile

_DELETED_MODE: Final = "tombstone"
_EXTERNAL_MODE: Final = "external"  # a link to another service
_UNREADABLE_KIND: Final = "other"  # a kind of file that Parley does not read


def attached_files_of(files: Iterable[SlackFile]) -> tuple[AttachedFile, ...]:
    """Returns the files that are not deleted. Their links open only for people who may see the file in Slack."""
    return tuple(describe_attached_file(file) for file in files if file.mode != _DELETED_MODE)


def describe_attached_file(file: SlackFile) -> AttachedFile:
    if not file.name:
        return AttachedFile(id=file.id)
    kind = (
        _UNREADABLE_KIND
        if file.mode == _EXTERNAL_MODE
        else file_kind_of(file.name, file.mimetype or "") or _UNREADABLE_KIND
    )
    return AttachedFile(id=file.id, name=file.name, kind=kind, size=file.size, link=file.permalink)

"""What people attach in Slack, fetched with the token of the workspace. Fulfils `bot.attachments.Files`.

Slack answers a token that may not read a file with its login page, and status 200
(https://docs.slack.dev/messaging/working-with-files).
"""

from pathlib import Path
from typing import Final

from pydantic import BaseModel

from adapters.slack.api import DENIED, TOO_LARGE, SlackApi
from adapters.slack.attachments import SlackFile, attached
from adapters.slack.errors import SlackFailed, SlackRefused
from adapters.slack.workspaces import Workspaces, place_in
from bot import attachments
from bot.attachments import Described, FileUnread
from bot.inbound import AttachedFile, Inbound

_NOT_ALLOWED: Final = "an admin of this workspace has to allow me to read files first (the scope files:read)"
_DELETED: Final = "it was deleted"
_NOT_THERE: Final = "it is not where I can read it"
_NOT_IN_SLACK: Final = "its content is not in Slack"
_NOT_GIVEN: Final = "Slack did not hand it over; attach it again a little later"
_REASONS: Final = {
    "access_denied": _NOT_THERE,
    "file_deleted": _DELETED,
    "file_not_found": _NOT_THERE,
    "missing_scope": _NOT_ALLOWED,
    DENIED: _NOT_ALLOWED,
    TOO_LARGE: attachments.TOO_LARGE,
}


class _File(SlackFile):
    url_private: str | None = None
    url_private_download: str | None = None


class _Info(BaseModel):
    file: _File


class SlackFiles:
    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def described(self, inbound: Inbound, file: AttachedFile) -> Described:
        api = await self._api(inbound)
        try:
            told = (await api.call(_Info, "files.info", {"file": file.id})).file
        except SlackFailed as exc:
            raise _unread(exc) from exc
        here = attached([told])
        if not here:
            raise FileUnread(_DELETED)
        where = told.url_private_download or told.url_private
        if where is None:
            raise FileUnread(_NOT_IN_SLACK, name=here[0].name)
        return Described(file=here[0], where=where)

    async def fetch(self, inbound: Inbound, file: Described, to: Path, *, most: int) -> None:
        api = await self._api(inbound)
        try:
            await api.download(file.where, to, most=most, is_page=file.file.kind == "html")
        except SlackFailed as exc:
            raise _unread(exc, file.file.name) from exc

    async def _api(self, inbound: Inbound) -> SlackApi:
        try:
            workspace = await self._workspaces.of(place_in(inbound.address))
        except SlackFailed as exc:
            raise _unread(exc) from exc
        if workspace is None:
            raise FileUnread(_NOT_THERE)
        return workspace.api


def _unread(exc: SlackFailed, name: str = "") -> FileUnread:
    reason = _REASONS.get(exc.error, _NOT_GIVEN) if isinstance(exc, SlackRefused) else _NOT_GIVEN
    return FileUnread(reason, name=name)

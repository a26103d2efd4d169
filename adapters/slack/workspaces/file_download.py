"""Downloads attached files with the token of the workspace. Fulfils `bot.surface.attachments.AttachmentSource`.

If the token may not read a file, Slack answers with its login page and status 200
(https://docs.slack.dev/messaging/working-with-files).
"""

from pathlib import Path
from typing import Final

from adapters.slack.errors import SlackError, SlackRefusal
from adapters.slack.events.attachments import attached_files_of
from adapters.slack.payloads.responses import FileInfoResponse
from adapters.slack.posting.api import DENIED, TOO_LARGE, SlackApi
from adapters.slack.workspaces.workspace_registry import WorkspaceRegistry, installation_key_in
from bot.surface import attachments
from bot.surface.attachments import DescribedFile, FileUnavailable
from bot.surface.inbound import AttachedFile, Inbound

_SCOPE_MISSING_REASON: Final = "an admin of this workspace has to allow me to read files first (the scope files:read)"
_DELETED_REASON: Final = "it was deleted"
_NOT_FOUND_REASON: Final = "it is not where I can read it"
_NOT_IN_SLACK_REASON: Final = "its content is not in Slack"
_UNAVAILABLE_REASON: Final = "Slack did not hand it over; attach it again a little later"
_REASON_BY_ERROR: Final = {
    "access_denied": _NOT_FOUND_REASON,
    "file_deleted": _DELETED_REASON,
    "file_not_found": _NOT_FOUND_REASON,
    "missing_scope": _SCOPE_MISSING_REASON,
    DENIED: _SCOPE_MISSING_REASON,
}


class SlackFiles:
    def __init__(self, workspaces: WorkspaceRegistry) -> None:
        self._workspaces = workspaces

    async def describe_file(self, inbound: Inbound, file: AttachedFile) -> DescribedFile:
        api = await self._api_for(inbound)
        try:
            file_info = (await api.call_method(FileInfoResponse, "files.info", {"file": file.id})).file
        except SlackError as exc:
            raise _unread_error(exc) from exc
        attached = attached_files_of([file_info])
        if not attached:
            raise FileUnavailable(_DELETED_REASON)
        location = file_info.url_private_download or file_info.url_private
        if location is None:
            raise FileUnavailable(_NOT_IN_SLACK_REASON, name=attached[0].name)
        return DescribedFile(file=attached[0], location=location)

    async def fetch_file(self, inbound: Inbound, file: DescribedFile, destination: Path, *, max_bytes: int) -> None:
        api = await self._api_for(inbound)
        try:
            await api.download_file(file.location, destination, max_bytes=max_bytes, is_page=file.file.kind == "html")
        except SlackError as exc:
            raise _unread_error(exc, file.file.name) from exc

    async def _api_for(self, inbound: Inbound) -> SlackApi:
        try:
            workspace = await self._workspaces.workspace_for(installation_key_in(inbound.address))
        except SlackError as exc:
            raise _unread_error(exc) from exc
        if workspace is None:
            raise FileUnavailable(_NOT_FOUND_REASON)
        return workspace.api


def _unread_error(exc: SlackError, name: str = "") -> FileUnavailable:
    error = exc.error if isinstance(exc, SlackRefusal) else ""
    if error == TOO_LARGE:
        return FileUnavailable(attachments.reason_for_large_file(), name=name)
    return FileUnavailable(_REASON_BY_ERROR.get(error, _UNAVAILABLE_REASON), name=name)

"""`files.*` and the addresses of files: the app's upload in three steps, and downloads with a token."""

from typing import Any
from urllib.parse import quote

from aiohttp import web

from tests.stand_ins.slack.faults import fault_response
from tests.stand_ins.slack.messages import add_message, clear_status_after_post
from tests.stand_ins.slack.methods import ApiError, MethodCaller, MethodTable
from tests.stand_ins.slack.oauth import caller_with
from tests.stand_ins.slack.state import SlackState
from tests.stand_ins.slack.workspace import StoredFile

METHODS = MethodTable()


@METHODS.register_method("files.getUploadURLExternal", "files:write", reads=True, tier=4)
def get_upload_url(caller: MethodCaller, filename: str, length: int, alt_txt: str = "") -> dict[str, Any]:
    if length <= 0 or not filename:
        raise ApiError("invalid_arguments")
    if len(alt_txt) > 1_000:
        raise ApiError("alt_txt_too_large")
    file = StoredFile(id=f"F{caller.slack.next_id()}", name=filename, length=length, alternative_text=alt_txt)
    caller.workspace.files[file.id] = file
    return {"file_id": file.id, "upload_url": f"{caller.slack.origin}/upload/v1/{file.id}"}


@METHODS.register_method("files.completeUploadExternal", "files:write", tier=4)
def complete_upload(
    caller: MethodCaller,
    files: list[dict[str, str]],
    channel_id: str,
    thread_ts: str | None = None,
    initial_comment: str = "",
) -> dict[str, Any]:
    caller.writable_channel(channel_id)
    stored = [caller.workspace.files.get(file["id"]) for file in files]
    if any(file is None or file.content is None for file in stored):
        raise ApiError("file_not_found")
    clear_status_after_post(caller.workspace, channel_id, thread_ts)
    unshared = [
        (fields, file) for fields, file in zip(files, stored, strict=True) if file is not None and not file.shared
    ]
    if unshared:
        message = add_message(caller.workspace, channel_id, thread_ts, {"text": initial_comment})
        message.files += [file.id for _, file in unshared]
    for fields, file in unshared:
        file.title, file.shared = fields.get("title", file.name), True
        file.channels.append(channel_id)
    return {"files": files}


@METHODS.register_method("files.info", "files:read", reads=True, tier=4)
def file_info(caller: MethodCaller, file: str) -> dict[str, Any]:
    stored = caller.workspace.files.get(file)
    if stored is None or not _is_visible(caller, stored):
        raise ApiError("file_not_found")
    if stored.mode == "tombstone":
        raise ApiError("file_deleted")
    return {"file": stored.describe_file()}


@METHODS.register_method("files.delete", "files:write")
def delete_file(caller: MethodCaller, file: str) -> dict[str, Any]:
    """Delete a file. A bot token deletes only the app's own files; their messages stay."""
    stored = caller.workspace.files.get(file)
    if stored is None or not stored.shared:
        raise ApiError("file_not_found")
    if stored.user is not None:
        raise ApiError("cant_delete_file")
    if stored.mode == "tombstone":
        raise ApiError("file_deleted")
    stored.mode, stored.content = "tombstone", None
    return {}


class FileRoutes:
    """The routes for uploads and downloads."""

    def __init__(self, slack: SlackState) -> None:
        self._slack = slack

    def server_routes(self) -> list[web.RouteDef]:
        return [
            web.post("/upload/v1/{file}", self._upload),
            web.get("/files-pri/{file}/{name}", self._download),
            web.get("/login", self._login),
        ]

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        fault = self._slack.faults.next_fault("upload")
        if fault is not None and fault.released_by is not None:
            await fault.released_by.wait()
        elif fault is not None:
            return await fault_response(request, fault)
        workspaces = (
            workspace for workspace in self._slack.workspaces if request.match_info["file"] in workspace.files
        )
        workspace_of_file = next(workspaces, self._slack.workspace)
        file = workspace_of_file.files.get(request.match_info["file"])
        content = await request.read()
        if file is None or len(content) != file.length:
            return web.Response(status=400, text="wrong length")
        file.content = content
        return web.Response(text=f"OK - {len(content)}")

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """Serve a file. A caller that may not read it is redirected to the login page, which has status 200."""
        fault = self._slack.faults.next_fault("download")
        if fault is not None:
            return await fault_response(request, fault)
        file = self._readable_file(request)
        if file is None or file.content is None:
            raise web.HTTPFound("/login")
        if file.redirect_url:
            raise web.HTTPFound(file.redirect_url)
        attachment_header = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}"}
        headers = attachment_header if "download" in request.query else {}
        return web.Response(body=file.content, content_type=file.mimetype, headers=headers)

    async def _login(self, _: web.Request) -> web.Response:
        return web.Response(text="<!DOCTYPE html><title>Sign in</title>", content_type="text/html")

    def _readable_file(self, request: web.Request) -> StoredFile | None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            caller = caller_with(self._slack, token)
        except ApiError:
            return None
        file = caller.workspace.files.get(request.match_info["file"])
        if file is None or "files:read" not in caller.scopes or not _is_visible(caller, file):
            return None
        return file if file.mode == "hosted" else None


def _is_visible(caller: MethodCaller, file: StoredFile) -> bool:
    """Whether the file is shared in a channel of the app."""
    channels = (caller.workspace.channels.get(channel) for channel in file.channels)
    return any(
        shared_channel is not None and caller.workspace.bot_user in shared_channel.members
        for shared_channel in channels
    )

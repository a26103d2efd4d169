"""`files.*` and the addresses of files: three steps for the app's own, a token to read what people uploaded."""

from typing import Any
from urllib.parse import quote

from aiohttp import web

from tests.stand_ins.slack.faults import failed
from tests.stand_ins.slack.messages import added, posted
from tests.stand_ins.slack.methods import ApiError, Caller, Methods
from tests.stand_ins.slack.oauth import caller_with
from tests.stand_ins.slack.state import State
from tests.stand_ins.slack.workspace import StoredFile

METHODS = Methods()


@METHODS.method("files.getUploadURLExternal", "files:write", reads=True, tier=4)
def get_upload_url(caller: Caller, filename: str, length: int) -> dict[str, Any]:
    if length <= 0 or not filename:
        raise ApiError("invalid_arguments")
    file = StoredFile(id=f"F{caller.slack.next_id()}", name=filename, length=length)
    caller.workspace.files[file.id] = file
    return {"file_id": file.id, "upload_url": f"{caller.slack.origin}/upload/v1/{file.id}"}


@METHODS.method("files.completeUploadExternal", "files:write", tier=4)
def complete_upload(
    caller: Caller,
    files: list[dict[str, str]],
    channel_id: str,
    thread_ts: str | None = None,
    initial_comment: str = "",
) -> dict[str, Any]:
    caller.writable(channel_id)
    stored = [caller.workspace.files.get(file["id"]) for file in files]
    if any(file is None or file.content is None for file in stored):
        raise ApiError("file_not_found")
    posted(caller.workspace, channel_id, thread_ts)
    for given, file in zip(files, stored, strict=True):
        if file is not None and not file.shared:
            file.title, file.shared = given.get("title", file.name), True
            file.channels.append(channel_id)
            message = added(caller.workspace, channel_id, thread_ts, {"text": initial_comment})
            message.files.append(file.id)
    return {"files": files}


@METHODS.method("files.info", "files:read", reads=True, tier=4)
def info(caller: Caller, file: str) -> dict[str, Any]:
    known = caller.workspace.files.get(file)
    if known is None or not _is_visible(caller, known):
        raise ApiError("file_not_found")
    if known.mode == "tombstone":
        raise ApiError("file_deleted")
    return {"file": known.told()}


@METHODS.method("files.delete", "files:write")
def delete(caller: Caller, file: str) -> dict[str, Any]:
    """With a bot's token, only what the app uploaded itself. The messages that hold it stay."""
    known = caller.workspace.files.get(file)
    if known is None or not known.shared:
        raise ApiError("file_not_found")
    if known.user is not None:
        raise ApiError("cant_delete_file")
    if known.mode == "tombstone":
        raise ApiError("file_deleted")
    known.mode, known.content = "tombstone", None
    return {}


class Files:
    """Where the bytes of a file go, and where they come from."""

    def __init__(self, slack: State) -> None:
        self._slack = slack

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/upload/v1/{file}", self._upload),
            web.get("/files-pri/{file}/{name}", self._download),
            web.get("/login", self._login),
        ]

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        fault = self._slack.faults.next("upload")
        if fault is not None and fault.late is not None:
            await fault.late.wait()
        elif fault is not None:
            return await failed(request, fault)
        places = (one for one in self._slack.workspaces if request.match_info["file"] in one.files)
        place = next(places, self._slack.workspace)
        file = place.files.get(request.match_info["file"])
        content = await request.read()
        if file is None or len(content) != file.length:
            return web.Response(status=400, text="wrong length")
        file.content = content
        return web.Response(text=f"OK - {len(content)}")

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """Who may not read it is sent to the login page, with status 200 at the end, as browsers are."""
        fault = self._slack.faults.next("download")
        if fault is not None:
            return await failed(request, fault)
        file = self._readable(request)
        if file is None or file.content is None:
            raise web.HTTPFound("/login")
        if file.moved:
            raise web.HTTPFound(file.moved)
        as_file = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}"}
        named = as_file if "download" in request.query else {}
        return web.Response(body=file.content, content_type=file.mimetype, headers=named)

    async def _login(self, _: web.Request) -> web.Response:
        return web.Response(text="<!DOCTYPE html><title>Sign in</title>", content_type="text/html")

    def _readable(self, request: web.Request) -> StoredFile | None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            caller = caller_with(self._slack, token)
        except ApiError:
            return None
        file = caller.workspace.files.get(request.match_info["file"])
        if file is None or "files:read" not in caller.scopes or not _is_visible(caller, file):
            return None
        return file if file.mode == "hosted" else None


def _is_visible(caller: Caller, file: StoredFile) -> bool:
    """Shared where the app is."""
    places = (caller.workspace.channels.get(channel) for channel in file.channels)
    return any(place is not None and caller.workspace.bot_user in place.members for place in places)

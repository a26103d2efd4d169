"""`files.*` and the addresses that files are sent to: three steps for the app's own."""

from typing import Any

from aiohttp import web

from tests.stand_ins.slack.faults import failed
from tests.stand_ins.slack.messages import added
from tests.stand_ins.slack.methods import ApiError, Caller, Methods
from tests.stand_ins.slack.state import State
from tests.stand_ins.slack.workspace import StoredFile

METHODS = Methods()


@METHODS.method("files.getUploadURLExternal", "files:write", reads=True)
def get_upload_url(caller: Caller, filename: str, length: int) -> dict[str, Any]:
    if length <= 0 or not filename:
        raise ApiError("invalid_arguments")
    file = StoredFile(id=f"F{caller.slack.next_id()}", name=filename, length=length)
    caller.workspace.files[file.id] = file
    return {"file_id": file.id, "upload_url": f"{caller.slack.origin}/upload/v1/{file.id}"}


@METHODS.method("files.completeUploadExternal", "files:write")
def complete_upload(
    caller: Caller, files: list[dict[str, str]], channel_id: str, thread_ts: str | None = None
) -> dict[str, Any]:
    caller.writable(channel_id)
    stored = [caller.workspace.files.get(file["id"]) for file in files]
    if any(file is None or file.content is None for file in stored):
        raise ApiError("file_not_found")
    for given, file in zip(files, stored, strict=True):
        if file is not None and not file.shared:
            file.title, file.shared = given.get("title", file.name), True
            message = added(caller.workspace, channel_id, thread_ts, {"text": ""})
            message.files.append(file.id)
    return {"files": files}


class Uploads:
    """Where the bytes of a file go."""

    def __init__(self, slack: State) -> None:
        self._slack = slack

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/upload/v1/{file}", self._upload)]

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        fault = self._slack.faults.next("upload")
        if fault is not None:
            return await failed(request, fault)
        file = self._slack.workspace.files.get(request.match_info["file"])
        content = await request.read()
        if file is None or len(content) != file.length:
            return web.Response(status=400, text="wrong length")
        file.content = content
        return web.Response(text=f"OK - {len(content)}")

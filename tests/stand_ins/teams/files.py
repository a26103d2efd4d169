"""Files: uploads that a person has consented to, and the addresses of files that people send.

https://learn.microsoft.com/microsoftteams/platform/bots/how-to/bots-filesv4
https://learn.microsoft.com/graph/api/driveitem-createuploadsession
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from aiohttp import web

from tests.stand_ins.teams.faults import PlannedTeamsFaults, teams_fault_response
from tests.stand_ins.teams.refusals import ConnectorRefused

UPLOAD_S: Final = 15 * 60.0  # seconds that an upload may take
DOWNLOAD_S: Final = 15 * 60.0  # seconds that the address of a person's file is valid
PIECE: Final = 320 * 1024  # bytes: all pieces but the last are multiples of this
LARGEST_PIECE: Final = 60 * 2**20
_RANGE: Final = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


@dataclass(kw_only=True)
class UploadSession:
    """An upload into a person's files. `size`: bytes in all, known from the first piece on."""

    unique_id: str
    name: str
    content_url: str
    expires_at_s: float
    content: bytes = b""
    size: int | None = None
    pieces: int = 0
    is_cancelled: bool = False

    @property
    def is_complete(self) -> bool:
        return self.size is not None and len(self.content) == self.size


@dataclass(frozen=True, kw_only=True)
class SentFile:
    """A file that a person sends. `is_image`: pasted into the message, and read with the app's token."""

    name: str
    content: bytes
    media_type: str
    expires_at_s: float
    is_image: bool = False


@dataclass(kw_only=True)
class FileStore:
    uploads: dict[str, UploadSession] = field(default_factory=dict[str, UploadSession])
    sent: dict[str, SentFile] = field(default_factory=dict[str, SentFile])
    download_count: int = 0  # of people's files that were handed out

    def find_finished(self, unique_id: str) -> UploadSession | None:
        session = self.uploads.get(unique_id)
        return session if session is not None and session.is_complete else None

    def uploaded_files(self) -> dict[str, bytes]:
        """Returns the contents of all finished uploads by the names of the files."""
        return {session.name: session.content for session in self.uploads.values() if session.is_complete}


@dataclass(frozen=True, kw_only=True)
class TeamsFileRoutes:
    """The routes for uploads and downloads. The faults are called `upload`, `upload_state`, `upload_cancel` (with which
    only the answer is lost) and `download`.
    """

    store: FileStore
    faults: PlannedTeamsFaults
    clock: Callable[[], float]
    accepts_token: Callable[[str], bool]
    notify_waiters: Callable[[], Any]

    def server_routes(self) -> list[web.RouteDef]:
        return [
            web.put("/upload/{key}", self._upload),
            web.get("/upload/{key}", self._show_upload),
            web.delete("/upload/{key}", self._cancel_upload),
            web.get("/download/{key}/{name}", self._download),
            web.get("/{region}/v3/attachments/{key}/views/{view}", self._download_image),
        ]

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        fault = self.faults.next_fault("upload")
        if fault is not None and fault.released_by is not None:
            await fault.released_by.wait()
        elif fault is not None and not fault.takes_effect:
            return await teams_fault_response(request, fault)
        content = await request.read()
        response = self._answer(lambda: self._take_piece(request, content))
        await self.notify_waiters()
        if fault is not None and fault.takes_effect:
            return await teams_fault_response(request, fault)
        return response

    async def _show_upload(self, request: web.Request) -> web.StreamResponse:
        fault = self.faults.next_fault("upload_state")
        if fault is not None:
            return await teams_fault_response(request, fault)
        return self._answer(lambda: (200, _describe_rest(self._session_of(request))))

    async def _cancel_upload(self, request: web.Request) -> web.StreamResponse:
        def cancel() -> tuple[int, Any]:
            self._session_of(request).is_cancelled = True
            return 204, None

        fault, response = self.faults.next_fault("upload_cancel"), self._answer(cancel)
        await self.notify_waiters()
        return response if fault is None else await teams_fault_response(request, fault)

    def _take_piece(self, request: web.Request, content: bytes) -> tuple[int, Any]:
        """Take a piece: it begins where the last one ended, and all name the same size."""
        session = self._session_of(request)
        match = _RANGE.fullmatch(request.headers.get("Content-Range", ""))
        if match is None:
            raise ConnectorRefused(400, "invalidRequest", "Content-Range")
        first, last, size = (int(number) for number in match.groups())
        if last - first + 1 != len(content) or last >= size or len(content) > LARGEST_PIECE:
            raise ConnectorRefused(400, "invalidRequest", "the range is not that of the content")
        if first != len(session.content) or session.size not in {None, size}:
            raise ConnectorRefused(416, "invalidRange", "the range is not the next one")
        if last + 1 < size and len(content) % PIECE:
            raise ConnectorRefused(400, "invalidRequest", "the piece is no multiple of 320 KiB")
        session.size, session.content = size, session.content + content
        session.pieces += 1
        if not session.is_complete:
            return 202, _describe_rest(session)
        return 201, {"id": session.unique_id, "name": session.name, "size": size, "webUrl": session.content_url}

    def _session_of(self, request: web.Request) -> UploadSession:
        if "Authorization" in request.headers:
            raise ConnectorRefused(401, "unauthenticated", "the address is signed already")
        session = self.store.uploads.get(request.match_info["key"])
        if session is None or session.is_cancelled or session.is_complete:
            raise ConnectorRefused(404, "itemNotFound", "no such upload")
        if self.clock() > session.expires_at_s:
            raise ConnectorRefused(404, "itemNotFound", "the upload has expired")
        return session

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """Serve a person's file. The address is signed: it takes no token, and expires."""
        fault = self.faults.next_fault("download")
        if fault is not None:
            return await teams_fault_response(request, fault)
        if "Authorization" in request.headers:
            return web.Response(status=401)
        file = self.store.sent.get(request.match_info["key"])
        if file is None or file.is_image:
            return web.Response(status=404)
        if self.clock() > file.expires_at_s:
            return web.Response(status=403)
        self.store.download_count += 1
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"}
        return web.Response(body=file.content, content_type=file.media_type, headers=headers)

    async def _download_image(self, request: web.Request) -> web.StreamResponse:
        fault = self.faults.next_fault("download")
        if fault is not None:
            return await teams_fault_response(request, fault)
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or not self.accepts_token(token):
            return web.Response(status=401)
        file = self.store.sent.get(request.match_info["key"])
        if file is None or not file.is_image:
            return web.Response(status=404)
        return web.Response(body=file.content, content_type=file.media_type)

    def _answer(self, work: Callable[[], tuple[int, Any]]) -> web.Response:
        try:
            status, body = work()
        except ConnectorRefused as exc:
            error = {"error": {"code": exc.code, "message": exc.detail}}
            return web.json_response(error, status=exc.status)
        return web.Response(status=status) if body is None else web.json_response(body, status=status)


def _describe_rest(session: UploadSession) -> dict[str, Any]:
    expires_at = datetime.fromtimestamp(session.expires_at_s, UTC).isoformat(timespec="seconds")
    return {"nextExpectedRanges": [f"{len(session.content)}-"], "expirationDateTime": expires_at}

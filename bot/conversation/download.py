"""Signed links to files, and the HTTP route that serves them. A link holds an id; the stored row decides on access."""

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from itsdangerous import BadSignature, Signer

from bot.errors import LinkExpired, LinkForged, LinkRefused
from bot.ids import ExportId

if TYPE_CHECKING:
    from aiohttp import web

_PIECE_BYTES: Final = 256 * 1024
_SALT = b"parley download link, version 2"


class LinkSigner:
    """Signs links with HMAC-SHA256 and a key ring: the first key signs, every key verifies."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        keys_in_reverse = [*reversed(keys)]  # itsdangerous signs with the last key
        self._signer = Signer(keys_in_reverse, salt=_SALT, key_derivation="hmac", digest_method=hashlib.sha256)

    def sign_link(self, export: ExportId, expires: datetime) -> str:
        """The last part of the link's path: letters, digits, `-`, `_`, `.`."""
        return self._signer.sign(f"{export}.{int(expires.timestamp())}").decode()

    def verify_link(self, signed: str, now: datetime) -> ExportId:
        """The export that the link names. Raises `LinkForged`, `LinkExpired`."""
        try:
            payload = self._signer.unsign(signed.encode(errors="replace")).decode()
        except BadSignature as exc:
            raise LinkForged() from exc
        export, _, expires = payload.rpartition(".")
        if now >= datetime.fromtimestamp(int(expires), UTC):
            raise LinkExpired()
        return ExportId(export)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFile:
    """A file that may be downloaded now."""

    path: Path
    name: str


def download_route_for(find: Callable[[str], Awaitable[ServedFile]]) -> "web.RouteDef":
    """`GET /download/{signed}`. `find` checks the link and the current rights; it raises `LinkRefused`."""
    from aiohttp import web

    from bot.http.connections import protect_connection

    async def serve_file(request: web.Request) -> web.StreamResponse:
        try:
            file = await find(request.match_info["signed"])
        except LinkRefused as exc:
            return web.Response(status=exc.status, text=f"{exc}\n", headers={"Cache-Control": "no-store"})
        protect_connection(request)
        return await _send_file(request, file)

    return web.get("/download/{signed}", serve_file)


async def _send_file(request: "web.Request", file: ServedFile) -> "web.StreamResponse":
    """Sends the file piece by piece.

    Not by `loop.sendfile`, which `web.FileResponse` uses: if its connection is closed meanwhile, asyncio keeps watching
    the number of the closed socket, and the next socket with this number hangs.
    """
    from aiohttp import web

    response = web.StreamResponse(
        headers={
            "Content-Type": "text/csv; charset=utf-8",
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }
    )
    with await asyncio.to_thread(file.path.open, "rb") as content:
        response.content_length = os.fstat(content.fileno()).st_size
        await response.prepare(request)
        while request.method != "HEAD" and (piece := await asyncio.to_thread(content.read, _PIECE_BYTES)):
            await response.write(piece)
    return response

"""Signed links to files, and the HTTP route that serves them. A link holds an id; the stored row decides on access."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from itsdangerous import BadSignature, Signer

from bot.errors import LinkExpired, LinkForged, LinkRefused
from bot.ids import ExportId

if TYPE_CHECKING:
    from aiohttp import web

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
        return web.FileResponse(
            file.path,
            headers={
                "Content-Type": "text/csv; charset=utf-8",
                "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}",
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer",
            },
        )

    return web.get("/download/{signed}", serve_file)

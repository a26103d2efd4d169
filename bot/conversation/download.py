"""Signed links to files, and the HTTP route that serves them. A link holds an id; the stored row decides on access."""

import base64
import hashlib
import hmac
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.errors import LinkExpired, LinkForged, LinkRefused
from bot.ids import ExportId

if TYPE_CHECKING:
    from aiohttp import web

_MAC_PREFIX = b"parley download link, version 1\n"


class LinkSigner:
    """Signs links with HMAC-SHA256 and a key ring: the first key signs, every key verifies."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = tuple(keys)

    def sign_link(self, export: ExportId, expires: datetime) -> str:
        """The last part of the link's path: letters, digits, `-`, `_`, `.`."""
        payload = f"{export}.{int(expires.timestamp())}"
        return f"{payload}.{_mac_of(self._keys[0], payload)}"

    def verify_link(self, signed: str, now: datetime) -> ExportId:
        """The export that the link names. Raises `LinkForged`, `LinkExpired`."""
        payload, _, mac = signed.rpartition(".")
        export, _, expires = payload.rpartition(".")
        # Compare bytes: compare_digest raises for strings with characters other than ASCII.
        if not any(
            hmac.compare_digest(_mac_of(key, payload).encode(), mac.encode(errors="replace")) for key in self._keys
        ):
            raise LinkForged()
        if now >= datetime.fromtimestamp(int(expires), UTC):
            raise LinkExpired()
        return ExportId(export)


def _mac_of(key: bytes, payload: str) -> str:
    digest = hmac.new(key, _MAC_PREFIX + payload.encode(errors="replace"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFile:
    """A file that may be downloaded now."""

    path: Path
    name: str


def download_route_for(find: Callable[[str], Awaitable[ServedFile]]) -> "web.RouteDef":
    """`GET /download/{signed}`. `find` checks the link and the current rights; it raises `LinkRefused`."""
    from aiohttp import web

    async def serve_file(request: web.Request) -> web.StreamResponse:
        try:
            file = await find(request.match_info["signed"])
        except LinkRefused as exc:
            return web.Response(status=exc.status, text=f"{exc}\n", headers={"Cache-Control": "no-store"})
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

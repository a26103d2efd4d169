"""Signed links to files, and the one HTTP route that serves them. A link says nothing; the row behind it decides."""

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

_PURPOSE = b"parley download link, version 1\n"


class LinkSigner:
    """HMAC-SHA256 with a ring of keys: the first signs, every one verifies."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = tuple(keys)

    def signed(self, export: ExportId, expires: datetime) -> str:
        """The last part of the link: letters, digits, `-`, `_`, `.`."""
        said = f"{export}.{int(expires.timestamp())}"
        return f"{said}.{_mac(self._keys[0], said)}"

    def verified(self, text: str, now: datetime) -> ExportId:
        """Raises `LinkForged`, `LinkExpired`."""
        said, _, mac = text.rpartition(".")
        export, _, expires = said.rpartition(".")
        # Compared as bytes: strings with other than ASCII characters are refused by compare_digest.
        if not any(hmac.compare_digest(_mac(key, said).encode(), mac.encode(errors="replace")) for key in self._keys):
            raise LinkForged()
        if now >= datetime.fromtimestamp(int(expires), UTC):
            raise LinkExpired()
        return ExportId(export)


def _mac(key: bytes, said: str) -> str:
    digest = hmac.new(key, _PURPOSE + said.encode(errors="replace"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A file that may be handed over now."""

    path: Path
    name: str


def download_route(find: Callable[[str], Awaitable[Download]]) -> "web.RouteDef":
    """`GET /download/{signed}`. `find` checks the link and the rights anew, and raises `LinkRefused`."""
    from aiohttp import web

    async def serve(request: web.Request) -> web.StreamResponse:
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

    return web.get("/download/{signed}", serve)

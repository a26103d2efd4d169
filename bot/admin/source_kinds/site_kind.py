"""Web sites as sources."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.admin.source_kinds.source_kind import (
    CheckedSource,
    SourceRequest,
    allows_private,
    private_network_option,
    source_name_of,
)
from bot.errors import InvalidSource
from storage.sql.stores.sources import StoredSource

if TYPE_CHECKING:
    from storage.ingest.sources.source import DocumentSource

SITE_KIND: Final = "site"


class SiteKind:
    name = SITE_KIND

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock

    def check_request(self, request: SourceRequest) -> CheckedSource:
        location = check_web_address(request.location)
        host = (urlsplit(location).hostname or "").removeprefix("www.")
        return CheckedSource(
            name=source_name_of(host, self.name), location=location, options=private_network_option(request)
        )

    @asynccontextmanager
    async def open_source(self, source: StoredSource, secret: SecretStr | None) -> AsyncGenerator["DocumentSource"]:
        from storage.ingest.sources.site import open_site

        async with open_site(source.location, allow_private=allows_private(source), clock=self._clock) as site:
            yield site


def check_web_address(location: str) -> str:
    """Returns the normalized address. Raises `InvalidSource`."""
    from storage.ingest.sources.urls import normalize_url

    try:
        parts = urlsplit(location.strip())
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        parts, is_address = None, False
    if parts is None or not is_address:
        raise InvalidSource(f"{location!r} is no address of a site, such as https://www.example.com/")
    if parts.username is not None or parts.password is not None:
        raise InvalidSource("an address with a user or a password in it is not taken: it would be shown")
    return normalize_url(location)

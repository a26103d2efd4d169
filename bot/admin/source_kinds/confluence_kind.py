"""Spaces of Confluence Cloud as sources."""

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.admin.source_kinds.principal_options import parse_principal_options, principal_mapping_of
from bot.admin.source_kinds.rest_kind import check_secret_address, header_credential_of
from bot.admin.source_kinds.source_kind import (
    CheckedSource,
    SourceRequest,
    allows_private,
    private_network_option,
    source_name_of,
)
from bot.errors import InvalidSource
from storage.ingest.errors import SourceUnavailable
from storage.sql.stores.sources import StoredSource

if TYPE_CHECKING:
    from storage.ingest.sources.rest.confluence_source import ConfluenceSite
    from storage.ingest.sources.source import DocumentSource

CONFLUENCE_KIND: Final = "confluence"
_SPACE_KEY: Final = re.compile(r"~?[\w.-]{1,255}")
_MAX_SPACES: Final = 100


class ConfluenceKind:
    name = CONFLUENCE_KIND

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock

    def check_request(self, request: SourceRequest) -> CheckedSource:
        location = check_secret_address(request).rstrip("/")
        if urlsplit(location).query or not location.endswith("/wiki"):
            raise InvalidSource("the address of a Confluence site ends with /wiki: https://example.atlassian.net/wiki")
        if request.secret is None:
            raise InvalidSource("Confluence needs a token: give it with --secret-env VARIABLE or --ask-secret")
        spaces = list(dict.fromkeys(cast("Sequence[str]", request.options.get("spaces") or ())))
        if len(spaces) > _MAX_SPACES or not all(map(_SPACE_KEY.fullmatch, spaces)):
            raise InvalidSource(f"--space is the key of a space, such as HR; a source has {_MAX_SPACES} at most")
        user = {"user": request.options["user"]} if "user" in request.options else {}
        options = user | ({"spaces": spaces} if spaces else {}) | parse_principal_options(request)
        name = " ".join(spaces[:3]) or (urlsplit(location).hostname or "")
        return CheckedSource(
            name=source_name_of(name, self.name), location=location, options=options | private_network_option(request)
        )

    @asynccontextmanager
    async def open_source(self, source: StoredSource, secret: SecretStr | None) -> AsyncGenerator["DocumentSource"]:
        from storage.ingest.sources.rest.confluence_source import open_confluence

        credential = header_credential_of(source.options, secret)
        if credential is None:
            raise SourceUnavailable(f"it has no token; give it: parley source secret {source.id} --ask-secret")
        async with open_confluence(
            _site_of(source.location, source.options),
            credential,
            allow_private=allows_private(source),
            clock=self._clock,
        ) as confluence:
            yield confluence


def _site_of(location: str, options: Mapping[str, object]) -> "ConfluenceSite":
    from storage.ingest.sources.rest.confluence_source import ConfluenceSite

    return ConfluenceSite(
        url=location,
        spaces=tuple(cast("Sequence[str]", options.get("spaces") or ())),
        principals=principal_mapping_of(options, takes_subjects=False),
    )

"""List interfaces (REST, JSON) as sources."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.admin.source_kinds.principal_options import parse_principal_options, principal_mapping_of
from bot.admin.source_kinds.site_kind import check_web_address
from bot.admin.source_kinds.source_kind import (
    CheckedSource,
    SourceRequest,
    allows_private,
    check_private_host,
    private_network_option,
    source_name_of,
)
from bot.errors import InvalidSource
from storage.sql.stores.sources import StoredSource

if TYPE_CHECKING:
    from storage.ingest.sources.rest.json_client import HeaderCredential
    from storage.ingest.sources.rest.paging import Paging
    from storage.ingest.sources.rest.rest_source import RestList
    from storage.ingest.sources.source import DocumentSource

REST_KIND: Final = "rest"
_PORT_BY_SCHEME: Final = {"http": 80, "https": 443}
FORMATS: Final = ("txt", "html", "md")
_REQUIRED_PATHS: Final = ("items", "id", "text")
_OPTIONAL_PATHS: Final = ("title", "updated", "readers", "link", "content_url", "next")
_NAMES: Final = ("cursor_param", "offset_param", "header", "user", "format")
_TOKEN_CHARACTERS: Final = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class RestKind:
    name = REST_KIND

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock

    def check_request(self, request: SourceRequest) -> CheckedSource:
        location = check_secret_address(request)
        known = {
            name: request.options[name]
            for name in (*_REQUIRED_PATHS, *_OPTIONAL_PATHS, *_NAMES)
            if name in request.options
        }
        options = known | parse_principal_options(request) | private_network_option(request)
        _check_options(options)
        _rest_list_of(location, options)
        host = (urlsplit(location).hostname or "").removeprefix("www.")
        return CheckedSource(name=source_name_of(host, self.name), location=location, options=options)

    @asynccontextmanager
    async def open_source(self, source: StoredSource, secret: SecretStr | None) -> AsyncGenerator["DocumentSource"]:
        from storage.ingest.sources.rest.rest_source import open_rest_list

        async with open_rest_list(
            _rest_list_of(source.location, source.options),
            header_credential_of(source.options, secret),
            allow_private=allows_private(source),
            clock=self._clock,
        ) as rest_list:
            yield rest_list


def check_secret_address(request: SourceRequest) -> str:
    """Returns the normalized address; refuses to send a secret unencrypted. Raises `InvalidSource`."""
    location = check_web_address(request.location)
    if request.secret is not None and not location.startswith("https:") and not request.allow_private:
        raise InvalidSource("a password or token is sent to https:// addresses alone, unless --allow-private is given")
    parts = urlsplit(location)
    check_private_host(request, parts.hostname or "", parts.port or _PORT_BY_SCHEME[parts.scheme])
    return location


def header_credential_of(options: Mapping[str, object], secret: SecretStr | None) -> "HeaderCredential | None":
    from storage.ingest.sources.rest.json_client import HeaderCredential

    if secret is None:
        return None
    user = options.get("user")
    return HeaderCredential(
        secret=secret,
        user=None if user is None else str(user),
        header=str(options.get("header", "Authorization")),
    )


def _check_options(options: Mapping[str, object]) -> None:
    """Raises `InvalidSource`."""
    if missing := [name for name in _REQUIRED_PATHS if not options.get(name)]:
        raise InvalidSource(f"--{missing[0]} is missing: where the answers have the {missing[0]}")
    if options.get("format", "txt") not in FORMATS:
        raise InvalidSource(f"--format is one of {', '.join(FORMATS)}")
    if "next" in options and "offset_param" in options:
        raise InvalidSource("--next and --offset-param exclude each other")
    if not _TOKEN_CHARACTERS.issuperset(str(options.get("header", "x"))):
        raise InvalidSource(f"{options['header']!r} is no name of an HTTP header")


def _rest_list_of(location: str, options: Mapping[str, object]) -> "RestList":
    """Raises `InvalidSource` for a path that cannot be read."""
    from storage.ingest.sources.rest.item_paths import InvalidPath, ItemPaths, ListPath, ValuePath
    from storage.ingest.sources.rest.rest_source import RestList

    def optional_path(name: str) -> ValuePath | None:
        return ValuePath(str(options[name])) if name in options else None

    try:
        return RestList(
            url=location,
            items=ListPath(str(options["items"])),
            paths=ItemPaths(
                id=ValuePath(str(options["id"])),
                text=ValuePath(str(options["text"])),
                title=optional_path("title"),
                updated=optional_path("updated"),
                readers=optional_path("readers"),
                link=optional_path("link"),
                content_url=optional_path("content_url"),
            ),
            suffix=f".{options.get('format', 'txt')}",
            paging=_paging_of(options),
            principals=principal_mapping_of(options, takes_subjects=True),
        )
    except InvalidPath as exc:
        raise InvalidSource(exc.reason) from exc


def _paging_of(options: Mapping[str, object]) -> "Paging":
    """Raises `InvalidPath`."""
    from storage.ingest.sources.rest.item_paths import ValuePath
    from storage.ingest.sources.rest.paging import LinkPaging, OffsetPaging, PathPaging

    if "offset_param" in options:
        return OffsetPaging(parameter=str(options["offset_param"]))
    if "next" not in options:
        return LinkPaging()
    parameter = options.get("cursor_param")
    return PathPaging(path=ValuePath(str(options["next"])), parameter=None if parameter is None else str(parameter))

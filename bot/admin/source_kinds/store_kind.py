"""Stores of files as sources: S3, Google Cloud Storage, Azure Blob Storage, SFTP, SMB and WebDAV."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, unquote

from pydantic import SecretStr

from bot.admin.source_kinds.principal_options import (
    PRINCIPALS_OPTION,
    READERS_OPTION,
    parse_principal_options,
    principal_mapping_of,
)
from bot.admin.source_kinds.source_kind import (
    CheckedSource,
    SourceRequest,
    allows_private,
    check_private_host,
    private_network_option,
    source_name_of,
    split_plain_url,
)
from bot.errors import InvalidSource
from storage.sql.stores.sources import StoredSource

if TYPE_CHECKING:
    from storage.ingest.sources.principals import PrincipalMapping
    from storage.ingest.sources.source import DocumentSource
    from storage.ingest.sources.stores.open_store import StoreLocation

_EXAMPLES: Final = {
    "s3": "s3://documents/contracts",
    "gs": "gs://documents/contracts",
    "abfs": "abfs://documents/contracts --user ACCOUNT",
    "sftp": "sftp://files.example.com/srv/documents",
    "smb": "smb://files.example.com/share/documents",
    "webdav": "webdav+https://files.example.com/documents",
}
STORE_KINDS: Final = tuple(_EXAMPLES)
_BUCKET_KINDS: Final = ("s3", "gs", "abfs")
_DEFAULT_PORTS: Final = {"sftp": 22, "smb": 445, "webdav+http": 80, "webdav+https": 443}
_ACCESS_OPTIONS: Final = (READERS_OPTION, PRINCIPALS_OPTION)
_OPTIONS_BY_KIND: Final[Mapping[str, tuple[str, ...]]] = {
    "s3": ("user", "endpoint", "region", "anonymous", *_ACCESS_OPTIONS),
    "gs": ("user", "endpoint", "anonymous", *_ACCESS_OPTIONS),
    "abfs": ("user", "endpoint", "anonymous"),
    "sftp": ("user", "host_key", *_ACCESS_OPTIONS),
    "smb": ("user", *_ACCESS_OPTIONS),
    "webdav": ("user",),
}


class StoreKind:
    """The stores whose URLs have one scheme."""

    def __init__(self, name: str, clock: Callable[[], datetime]) -> None:
        self.name, self._clock = name, clock

    def check_request(self, request: SourceRequest) -> CheckedSource:
        from storage.ingest.sources.stores.open_store import missing_extra_reason

        if (reason := missing_extra_reason(self.name)) is not None:
            raise InvalidSource(reason)
        parts = split_plain_url(request.location, _EXAMPLES[self.name])
        options = self._check_options(request, parts)
        location = self._location_of(parts)
        if self.name not in _BUCKET_KINDS:
            default_port = _DEFAULT_PORTS[parts.scheme]
            check_private_host(request, parts.hostname or "", parts.port or default_port)
        last_name = PurePosixPath(unquote(parts.path)).name or parts.hostname or ""
        return CheckedSource(
            name=source_name_of(last_name, self.name),
            location=location,
            options=options | private_network_option(request),
        )

    def _location_of(self, parts: SplitResult) -> str:
        """The URL without the user, who is an option."""
        expected = ("webdav+http", "webdav+https") if self.name == "webdav" else (self.name,)
        if parts.scheme not in expected or (self.name == "smb" and not parts.path.strip("/")):
            raise InvalidSource(f"this is no address such as {_EXAMPLES[self.name]}")
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"

    def _check_options(self, request: SourceRequest, parts: SplitResult) -> dict[str, object]:
        known = _OPTIONS_BY_KIND[self.name]
        if unknown := [name for name in request.options if name not in known]:
            if unknown[0] in _ACCESS_OPTIONS:
                raise InvalidSource(_missing_access_lists_reason(self.name))
            raise InvalidSource(f"{self.name}:// takes no --{unknown[0].replace('_', '-')}")
        options = dict(request.options)
        if parts.username is not None:
            if self.name in _BUCKET_KINDS:
                raise InvalidSource(f"this is no address such as {_EXAMPLES[self.name]}; give the user with --user")
            options.setdefault("user", unquote(parts.username))
        if isinstance(endpoint := options.get("endpoint"), str):
            _check_endpoint(endpoint)
        is_anonymous = bool(options.get("anonymous"))
        if request.secret is not None and is_anonymous:
            raise InvalidSource("a source is read without a password, key or token, or with one; not both")
        needs_user = self.name != "gs" and (request.secret is not None or self.name == "abfs")
        if needs_user and not options.get("user"):
            raise InvalidSource("say with --user whose password or key that is")
        principals = parse_principal_options(request)
        if principals and not options.get(READERS_OPTION):
            raise InvalidSource("--principal says who the readers are; add --readers to take them from access lists")
        if options.pop(READERS_OPTION, None):
            options[READERS_OPTION] = "access lists"  # as the admin page shows it
        return options | principals

    @asynccontextmanager
    async def open_source(self, source: StoredSource, secret: SecretStr | None) -> AsyncGenerator["DocumentSource"]:
        from storage.ingest.sources.stores.open_store import open_file_store
        from storage.ingest.sources.stores.store_source import StoreSource

        opened = open_file_store(_store_location_of(source, secret))
        store = await asyncio.to_thread(opened.__enter__)
        try:
            yield StoreSource(store, source.location, clock=self._clock, principals=_principals_of(source))
        finally:
            await asyncio.to_thread(opened.__exit__, None, None, None)


def _principals_of(source: StoredSource) -> "PrincipalMapping | None":
    """Returns None for a source whose access lists are not read."""
    if not source.options.get(READERS_OPTION):
        return None
    return principal_mapping_of(source.options, takes_subjects=False)


def _missing_access_lists_reason(kind: str) -> str:
    return (
        f"{kind}:// takes no --readers, since Parley reads no access lists there: grant the bucket to those who may"
        " read all of it, and add each folder that others may read as a source with a bucket of its own"
    )


def _check_endpoint(endpoint: str) -> None:
    parts = split_plain_url(endpoint, "https://s3.example.com")
    if parts.scheme not in ("http", "https") or parts.username is not None:
        raise InvalidSource("--endpoint is no address such as https://s3.example.com")


def _store_location_of(source: StoredSource, secret: SecretStr | None) -> "StoreLocation":
    from storage.ingest.sources.stores.open_store import StoreLocation

    texts = {name: str(source.options.get(name, "")) for name in ("user", "endpoint", "region", "host_key")}
    return StoreLocation(
        url=source.location,
        secret=secret.get_secret_value() if secret is not None else "",
        is_anonymous=bool(source.options.get("anonymous")),
        allow_private=allows_private(source),
        **texts,
    )

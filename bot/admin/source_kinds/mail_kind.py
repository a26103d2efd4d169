"""Folders of mail servers as sources."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from pydantic import SecretStr

from bot.admin.source_kinds.principal_options import READERS_OPTION, parse_principal_options, principal_mapping_of
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
from storage.ingest.errors import SourceUnavailable
from storage.sql.stores.sources import StoredSource

if TYPE_CHECKING:
    from storage.ingest.sources.mail.mail_connection import MailAddress
    from storage.ingest.sources.source import DocumentSource

MAIL_KIND: Final = "imap"
_EXAMPLE: Final = "imaps://mara%40example.com@imap.example.com/INBOX"
_PORT_BY_SCHEME: Final = {"imap": 143, "imaps": 993}


class MailKind:
    name = MAIL_KIND

    def check_request(self, request: SourceRequest) -> CheckedSource:
        location = _normalize_location(request.location)
        if request.secret is None:
            raise InvalidSource("a mail folder needs a password: give it with --secret-env VARIABLE or --ask-secret")
        address = _address_of(location)
        check_private_host(request, address.host, address.port)
        return CheckedSource(
            name=source_name_of(f"{address.user.partition('@')[0]} {address.folder}", self.name),
            location=location,
            options=_readers_option_of(request) | private_network_option(request),
        )

    @asynccontextmanager
    async def open_source(self, source: StoredSource, secret: SecretStr | None) -> AsyncGenerator["DocumentSource"]:
        from storage.ingest.sources.mail.mailbox_source import open_mailbox

        if secret is None:
            raise SourceUnavailable(f"it has no password; give it: parley source secret {source.id} --ask-secret")
        address = _address_of(source.location)
        principals = (
            principal_mapping_of(source.options, takes_subjects=False) if source.options.get(READERS_OPTION) else None
        )
        async with open_mailbox(
            address, secret, allow_private=allows_private(source), principals=principals
        ) as mailbox:
            yield mailbox


def _readers_option_of(request: SourceRequest) -> dict[str, object]:
    """Raises `InvalidSource`."""
    principals = parse_principal_options(request)
    if request.options.get(READERS_OPTION):
        return {READERS_OPTION: "access list"} | principals  # as the admin page shows it
    if principals:
        raise InvalidSource("--principal says who the readers are; add --readers to take them from the access list")
    return {}


def _normalize_location(location: str) -> str:
    """Returns the URL with its user and folder. Raises `InvalidSource`."""
    parts = split_plain_url(location, _EXAMPLE)
    if parts.scheme not in _PORT_BY_SCHEME or not parts.username:
        raise InvalidSource(f"a mail folder has an address such as {_EXAMPLE}")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = f":{parts.port}" if parts.port not in (None, _PORT_BY_SCHEME[parts.scheme]) else ""
    folder = unquote(parts.path.strip("/")) or "INBOX"
    if any(not character.isprintable() for character in folder + unquote(parts.username)):
        raise InvalidSource("the user and the folder of a mail server have no control characters")
    return f"{parts.scheme}://{quote(unquote(parts.username), safe='')}@{host}{port}/{quote(folder)}"


def _address_of(location: str) -> "MailAddress":
    from storage.ingest.sources.mail.mail_connection import MailAddress

    parts = split_plain_url(location, _EXAMPLE)
    return MailAddress(
        host=parts.hostname or "",
        port=parts.port or _PORT_BY_SCHEME[parts.scheme],
        uses_tls=parts.scheme == "imaps",
        user=unquote(parts.username or ""),
        folder=unquote(parts.path.removeprefix("/")),
    )

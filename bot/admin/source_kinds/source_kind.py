"""The kinds of sources: what a kind checks when a source is added, and how it opens the source for a sync.

A kind keeps what it needs in the location and the options, which people see. The password, key or token is apart from
them: `SourceOperations` seals it, and gives it to the kind only to open the source.
"""

import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from bot.errors import InvalidSource
from storage.sql.stores.sources import StoredSource

if TYPE_CHECKING:
    from storage.ingest.sources.source import DocumentSource

ALLOW_PRIVATE_OPTION: Final = "allow_private"
"""The option of a source that may lie on a private network."""
_UNSAFE_CHARACTERS = re.compile(r"[^\w.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRequest:
    """A source to add. `location` is a path or a URL; `sync_interval` None: synced only by hand. `options` are those of
    the kind; their values are JSON.
    """

    kind: str
    location: str
    bucket: str
    sync_interval: timedelta | None = None
    allow_private: bool = False
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    secret: SecretStr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSource:
    """What is stored of a request: the short name of the source, its full location, and its options. No secrets."""

    name: str
    location: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])


class SourceKind(Protocol):
    @property
    def name(self) -> str:
        """The word after `parley source add`, or the scheme of its URLs."""
        ...

    def check_request(self, request: SourceRequest) -> CheckedSource:
        """Checks what needs no connection. Runs in a thread. Raises `InvalidSource`."""
        ...

    def open_source(
        self, source: StoredSource, secret: SecretStr | None
    ) -> AbstractAsyncContextManager["DocumentSource"]:
        """Opens the source for one sync. Raises `SourceUnavailable`, with no secret in its reason."""
        ...


def private_network_option(request: SourceRequest) -> dict[str, object]:
    return {ALLOW_PRIVATE_OPTION: True} if request.allow_private else {}


def allows_private(source: StoredSource) -> bool:
    return bool(source.options.get(ALLOW_PRIVATE_OPTION))


def check_private_host(request: SourceRequest, host: str, port: int) -> None:
    """Refuses a host on a private network, unless that is allowed. A host that cannot be looked up now is left to the
    first sync, which checks again. Raises `InvalidSource`.
    """
    from storage.ingest.sources.addresses import AddressRefused, require_allowed_host

    if request.allow_private:
        return
    try:
        require_allowed_host(host, port, allow_private=False)
    except AddressRefused:
        raise InvalidSource(
            f"{host} is on this machine or a private network; add it with --allow-private if that is right"
        ) from None
    except (OSError, UnicodeError):
        return


def split_plain_url(location: str, example: str) -> SplitResult:
    """Raises `InvalidSource` if it is no URL with a host, or if it holds a password, which would be shown."""
    try:
        parts = urlsplit(location.strip())
        is_url = bool(parts.scheme and parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        raise InvalidSource(f"this is no address such as {example}") from None
    if parts.password is not None or parts.query or parts.fragment:
        raise InvalidSource(
            "an address with a password, ? or # in it is not taken: it would be shown; "
            "give a password with --secret-env VARIABLE or --ask-secret"
        )
    if not is_url:
        raise InvalidSource(f"{location!r} is no address such as {example}")
    return parts


def source_name_of(text: str, kind: str) -> str:
    """A short name without characters that have a meaning in ids and shells."""
    return _UNSAFE_CHARACTERS.sub("-", text.casefold()).strip("-.")[:40] or kind

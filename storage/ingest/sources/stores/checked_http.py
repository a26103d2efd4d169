"""An HTTP transport for WebDAV: its connections go to checked addresses, with the certificate of the name."""

from collections.abc import Iterable
from typing import Any, Final

import httpcore
import httpx

from storage.ingest.sources.addresses import require_allowed_host

_KEEPALIVE_S: Final = 5.0


class CheckedHttpTransport(httpx.HTTPTransport):
    """Uses no proxy: one would resolve the name itself."""

    def __init__(self, *, allow_private: bool) -> None:
        super().__init__(trust_env=False)
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            keepalive_expiry=_KEEPALIVE_S,
            network_backend=_CheckedBackend(allow_private=allow_private),
        )


class _CheckedBackend(httpcore.NetworkBackend):
    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private, self._backend = allow_private, httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connects to the first address that answers. Raises `AddressRefused`, and what httpcore raises."""
        try:
            addresses = require_allowed_host(host, port, allow_private=self._allow_private)
        except UnicodeError as exc:
            raise httpcore.ConnectError(str(exc)) from exc
        failure: Exception = httpcore.ConnectError("it has no address")
        for *_, address in addresses:
            try:
                return self._backend.connect_tcp(str(address[0]), port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as exc:
                failure = exc
        raise failure

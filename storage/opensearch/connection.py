"""The only sender of requests: deadlines, bounded retries, and the translation of the library's exceptions.

The library's own retries are off, because they come without a pause and skip status 429. A request that timed out is
never sent again here, because the server may have executed it.
"""

import asyncio
import json
import random
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any as Json
from typing import TypeAlias, TypeVar, cast
from urllib.parse import urlsplit

import aiohttp
from opensearchpy import AsyncOpenSearch
from opensearchpy import exceptions as library

from storage.opensearch.cluster_credentials import ClusterCredentials, client_options_for
from storage.opensearch.request_slots import RequestSlots
from storage.search.errors import IndexTimedOut, IndexUnavailable

JsonObject: TypeAlias = dict[str, Json]
T = TypeVar("T")

READ_TIMEOUT_S = 10.0
WRITE_TIMEOUT_S = 60.0
_MAX_ATTEMPTS = 4
_FIRST_BACKOFF_S = 0.1
_TRANSIENT_STATUSES = frozenset({429, 502, 503, 504})
# Another attempt does not help: a full disk, a write block, more bins than the server allows.
_PERMANENT_ERROR_TYPES = frozenset({"cluster_block_exception", "too_many_buckets_exception"})


class RequestRefused(IndexUnavailable):
    """OpenSearch answered with an error. `error_type` is its type, `status` the HTTP status."""

    def __init__(self, location: str, status: int, error_type: str, reason: str) -> None:
        super().__init__(location, f"{error_type or 'error'} ({status}): {reason}"[:500])
        self.status, self.error_type = status, error_type
        self.may_be_own = False  # a conflict with a write that was sent before, without an answer

    @property
    def is_transient(self) -> bool:
        return self.status in _TRANSIENT_STATUSES and self.error_type not in _PERMANENT_ERROR_TYPES


class NoConnection(IndexUnavailable):
    """The request or its response was lost."""


def may_recover(error: IndexUnavailable) -> bool:
    """Whether the same request may succeed later: the cluster was down, too slow or too busy, and not misconfigured."""
    if isinstance(error, RequestRefused):
        return error.is_transient
    return isinstance(error, (NoConnection, IndexTimedOut))


def translate_client_error(error: Exception, location: str) -> IndexUnavailable:
    """Returns the project's error for an exception of the library. Raises any other exception again."""
    match error:
        case library.ConnectionTimeout():
            return IndexTimedOut(location)
        case library.SSLError():
            return IndexUnavailable(location, f"its certificate is not trusted ({error.error})")
        case library.ConnectionError(info=aiohttp.ClientConnectorCertificateError(certificate_error=fault)):
            reason = getattr(fault, "verify_message", "") or str(fault)
            advice = "PARLEY_INDEX_CA names the file of the authority that signed it"
            return IndexUnavailable(location, f"its certificate is not trusted ({reason}); {advice}")
        case library.ConnectionError():
            return NoConnection(location, f"no connection ({error.error})")
        case library.AuthenticationException():
            return IndexUnavailable(location, "it refuses this user, password or key")
        case library.TransportError():
            return _refusal_from_error(error, location)
        case library.SerializationError():
            return IndexUnavailable(location, "its answer is not OpenSearch's")
        case library.ImproperlyConfigured() | library.OpenSearchException() | library.OpenSearchDslException():
            return IndexUnavailable(location, str(error))
        case _:
            raise error


def _refusal_from_error(error: library.TransportError, location: str) -> RequestRefused:
    status = error.status_code if isinstance(error.status_code, int) else 0
    raw_info = cast(Json, error.info)
    info = cast(JsonObject, raw_info) if isinstance(raw_info, dict) else {}
    return parse_error_detail(location, status, info.get("error") or info.get("message") or error.error)


def parse_error_detail(location: str, status: int, detail: Json) -> RequestRefused:
    """Returns the refusal for the `error` of a response or of one item of a response."""
    if not isinstance(detail, dict):
        return RequestRefused(location, status, "", str(detail))
    error = cast(JsonObject, detail)
    # A failure while the answers of several shards are put together has no root cause in any of them.
    causes = cast(list[JsonObject], error.get("root_cause") or [error.get("caused_by") or error])
    cause = causes[0] if error.get("type") == "search_phase_execution_exception" else error
    return RequestRefused(location, status, str(cause.get("type", "")), str(cause.get("reason", "")))


class ClusterConnection:
    """A pool of connections to one cluster, for one event loop."""

    def __init__(
        self, urls: Sequence[str], *, credentials: ClusterCredentials | None = None, ca_file: str | None = None
    ) -> None:
        """Raises `IndexUnavailable` for an invalid address or an unreadable certificate file."""
        self.location = ", ".join(map(_redact_credentials, urls))
        try:
            ssl_context = ssl.create_default_context(cafile=ca_file) if self.location.startswith("https:") else None
        except OSError as exc:
            raise IndexUnavailable(self.location, f"the certificate {ca_file!r} cannot be read ({exc})") from exc
        self._client = AsyncOpenSearch(
            hosts=list(urls),
            ssl_context=ssl_context,
            max_retries=0,
            timeout=READ_TIMEOUT_S,
            **client_options_for(credentials, self.location),
        )
        self.bulk_slots, self.claim_slots = RequestSlots(), RequestSlots()
        self._random = random.Random()  # noqa: S311 - only spreads retries

    async def send_request(
        self,
        method: str,
        path: str,
        body: Json = None,
        params: Mapping[str, str] | None = None,
        timeout_s: float = READ_TIMEOUT_S,
    ) -> JsonObject:
        """Returns the response's JSON; retries transient failures.

        Raises `IndexUnavailable`, and `RequestRefused` if the server answered with an error.
        """
        return await self.retry_transient_failures(
            lambda: self.send_without_retry(method, path, body, params, timeout_s)
        )

    async def retry_transient_failures(self, send: Callable[[], Awaitable[T]]) -> T:
        """Call `send`; call it again, after growing pauses, while the connection breaks or the server is too busy."""
        for attempt in range(_MAX_ATTEMPTS - 1):
            try:
                return await send()
            except NoConnection:
                pass
            except RequestRefused as exc:
                if not exc.is_transient:
                    raise
            await self.pause_with_jitter(_FIRST_BACKOFF_S * 2**attempt)
        return await send()

    async def pause_with_jitter(self, seconds: float) -> None:
        """Sleep for 0.5 to 1.5 times `seconds`."""
        await asyncio.sleep(seconds * (0.5 + self._random.random()))

    async def send_without_retry(
        self,
        method: str,
        path: str,
        body: Json = None,
        params: Mapping[str, str] | None = None,
        timeout_s: float = READ_TIMEOUT_S,
    ) -> JsonObject:
        """Like `send_request`, without a second attempt. A `body` that is a string is JSON lines already."""
        request_params = {**(params or {}), "request_timeout": timeout_s}
        transport = cast(Json, self._client.transport)
        try:
            response = await transport.perform_request(method, path, params=request_params, body=body)
        except (library.OpenSearchException, library.ImproperlyConfigured) as exc:
            raise translate_client_error(exc, self.location) from exc
        if not isinstance(response, dict):
            raise IndexUnavailable(self.location, "its answer is not OpenSearch's")
        return cast(JsonObject, response)

    async def close(self) -> None:
        # The library closes those addresses alone that answered last.
        pool = cast(Json, self._client.transport).connection_pool
        for connection in getattr(pool, "orig_connections", ()):
            await connection.close()
        await self._client.close()


def json_lines_of(objects: Sequence[JsonObject]) -> str:
    """Returns the objects as JSON lines, the format of `_msearch` and `_bulk`."""
    return "".join(f"{json.dumps(item, allow_nan=False)}\n" for item in objects)


def _redact_credentials(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError as exc:
        raise IndexUnavailable(url.rpartition("@")[2], f"that is not an address ({exc})") from exc
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise IndexUnavailable(url.rpartition("@")[2], "an address begins with http:// or https:// and names a host")
    return f"{parts.scheme}://{parts.hostname}{port}"

"""The one caller of opensearch-py: deadlines, bounded retries, and the translation of its exceptions.

The library's own retries are off: they come at once and skip 429. A timed-out request is never sent again here, since
it may have happened.
"""

import asyncio
import json
import random
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any as Json
from typing import TypeAlias, TypeVar, cast
from urllib.parse import urlsplit

from opensearchpy import AsyncOpenSearch
from opensearchpy import exceptions as library

from storage.search.errors import IndexTimedOut, IndexUnavailable

Object: TypeAlias = dict[str, Json]
T = TypeVar("T")

READ_S = 10.0
WRITE_S = 60.0
_ATTEMPTS = 4
_FIRST_PAUSE_S = 0.1
_RETRIED = frozenset({429, 502, 503, 504})
# What another attempt does not help: a full disk, a block, more cells than the server gives.
_FINAL = frozenset({"cluster_block_exception", "too_many_buckets_exception"})


class Refused(IndexUnavailable):
    """OpenSearch answered with an error. `kind` is its type, `status` the HTTP status."""

    def __init__(self, where: str, status: int, kind: str, reason: str) -> None:
        super().__init__(where, f"{kind or 'error'} ({status}): {reason}"[:500])
        self.status, self.kind = status, kind

    @property
    def is_transient(self) -> bool:
        return self.status in _RETRIED and self.kind not in _FINAL


class NoConnection(IndexUnavailable):
    """The request did not arrive, or its answer did not."""


def translated(error: Exception, where: str) -> IndexUnavailable:
    """What an exception of the library means. Raises it again if it is none of the library's."""
    match error:
        case library.ConnectionTimeout():
            return IndexTimedOut(where)
        case library.SSLError():
            return IndexUnavailable(where, f"its certificate is not trusted ({error.error})")
        case library.ConnectionError():
            return NoConnection(where, f"no connection ({error.error})")
        case library.AuthenticationException() | library.AuthorizationException():
            return IndexUnavailable(where, "it refuses this user or password")
        case library.TransportError():
            return _refused(error, where)
        case library.SerializationError():
            return IndexUnavailable(where, "its answer is not OpenSearch's")
        case library.ImproperlyConfigured() | library.OpenSearchException() | library.OpenSearchDslException():
            return IndexUnavailable(where, str(error))
        case _:
            raise error


def _refused(error: library.TransportError, where: str) -> Refused:
    status = error.status_code if isinstance(error.status_code, int) else 0
    said = cast(Json, error.info)
    info = cast(Object, said) if isinstance(said, dict) else {}
    return refusal(where, status, info.get("error", error.error))


def refusal(where: str, status: int, detail: Json) -> Refused:
    """Of the `error` of an answer, or of one item of an answer."""
    if not isinstance(detail, dict):
        return Refused(where, status, "", str(detail))
    found = cast(Object, detail)
    causes = cast(list[Object], found.get("root_cause") or [found])
    cause = causes[0] if found.get("type") == "search_phase_execution_exception" else found
    return Refused(where, status, str(cause.get("type", "")), str(cause.get("reason", "")))


class Connection:
    """A pool of connections to one cluster, for one event loop."""

    def __init__(self, urls: Sequence[str], *, user: str | None, password: str | None, ca: str | None) -> None:
        """Raises `IndexUnavailable` for what is no address, or a certificate file that is none."""
        self.where = ", ".join(map(_without_secrets, urls))
        try:
            trusted = ssl.create_default_context(cafile=ca) if self.where.startswith("https:") else None
        except OSError as exc:
            raise IndexUnavailable(self.where, f"the certificate {ca!r} cannot be read ({exc})") from exc
        self._client = AsyncOpenSearch(
            hosts=list(urls),
            http_auth=(user, password or "") if user else None,
            ssl_context=trusted,
            max_retries=0,
            timeout=READ_S,
        )
        self._random = random.Random()  # noqa: S311 - spreads retries

    async def call(
        self,
        method: str,
        path: str,
        body: Json = None,
        params: Mapping[str, str] | None = None,
        timeout_s: float = READ_S,
    ) -> Object:
        """The answer's JSON. Retries what is worth it. Raises `IndexUnavailable`, as `Refused` where it answered."""
        return await self.retried(lambda: self.once(method, path, body, params, timeout_s))

    async def retried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Again, after growing pauses, when the connection broke or the server was too busy."""
        for number in range(_ATTEMPTS - 1):
            try:
                return await attempt()
            except NoConnection:
                pass
            except Refused as refused:
                if not refused.is_transient:
                    raise
            await self.pause(_FIRST_PAUSE_S * 2**number)
        return await attempt()

    async def pause(self, seconds: float) -> None:
        """About so long: half of it to one and a half."""
        await asyncio.sleep(seconds * (0.5 + self._random.random()))

    async def once(
        self,
        method: str,
        path: str,
        body: Json = None,
        params: Mapping[str, str] | None = None,
        timeout_s: float = READ_S,
    ) -> Object:
        """As `call`, without a second attempt. A `body` of lines is JSON already."""
        asked = {**(params or {}), "request_timeout": timeout_s}
        transport = cast(Json, self._client.transport)
        try:
            answer = await transport.perform_request(method, path, params=asked, body=body)
        except (library.OpenSearchException, library.ImproperlyConfigured) as exc:
            raise translated(exc, self.where) from exc
        if not isinstance(answer, dict):
            raise IndexUnavailable(self.where, "its answer is not OpenSearch's")
        return cast(Object, answer)

    async def close(self) -> None:
        await self._client.close()


def lines_of(objects: Sequence[Object]) -> str:
    """As `_msearch` and `_bulk` take them."""
    return "".join(f"{json.dumps(one, allow_nan=False)}\n" for one in objects)


def _without_secrets(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError as exc:
        raise IndexUnavailable(url.rpartition("@")[2], f"that is no address ({exc})") from exc
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise IndexUnavailable(url.rpartition("@")[2], "an address begins with http:// or https:// and names a host")
    return f"{parts.scheme}://{parts.hostname}{port}"

"""Calls to the hosts of files, at addresses that Teams names in activities.

An address is its own key: whoever has it may read or write the file. It is never logged, and called without the bot's
token. It may have been forged, so only https on the public internet is called.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeVar
from urllib.parse import urljoin

import aiohttp

from adapters.teams.files.errors import FileHostRefusal, FileHostUnreachable
from bot.public_network import AddressRefused, is_secure_url, open_public_connector

MAX_ATTEMPTS: Final = 3  # calls without progress, one after the other
LONGEST_WAIT_S: Final = 15.0  # a longer `Retry-After` fails the call
READ_TIMEOUT_S: Final = 20.0
_MAX_REDIRECTS: Final = 3
_REDIRECT_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
_BUSY_STATUSES: Final = frozenset({408, 425, 429})  # and all from 500

T = TypeVar("T")


class FileHosts:
    """Opens its connections when they are first needed. Call `close` once."""

    def __init__(
        self,
        *,
        allows_loopback: bool = False,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """`allows_loopback`: also calls http on this machine, for stand-ins."""
        self._allows_loopback, self._sleep, self._jitter = allows_loopback, sleep, jitter
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    @asynccontextmanager
    async def open_response(
        self, method: str, url: str, *, timeout_s: float, headers: Mapping[str, str] | None = None, data: bytes = b""
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """The response of any status that is neither busy nor a failure of the host. Sends `data` once, and follows no
        redirect.

        Raises `FileHostError`, also for a connection that breaks within the block.
        """
        if not is_secure_url(url, allows_loopback=self._allows_loopback):
            raise FileHostRefusal("the address is not https")
        timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=READ_TIMEOUT_S, sock_read=READ_TIMEOUT_S)
        sent_headers = {**(headers or {}), **({"Content-Length": str(len(data))} if data else {})}
        request = self._open_session().request(
            method,
            url,
            headers=sent_headers,
            data=_stream_once(data) if data else None,
            allow_redirects=False,
            timeout=timeout,
        )
        try:
            async with request as response:
                _check_availability(response)
                yield response
        except aiohttp.InvalidURL as exc:
            raise FileHostRefusal("the address is not valid") from exc
        except aiohttp.ClientConnectorError as exc:
            if isinstance(exc.os_error, AddressRefused):
                raise FileHostRefusal("the address is on a private network") from exc
            raise FileHostUnreachable(type(exc).__name__) from exc
        except (aiohttp.ClientError, TimeoutError) as exc:
            raise FileHostUnreachable(type(exc).__name__) from exc

    @asynccontextmanager
    async def open_download(
        self, url: str, *, timeout_s: float, is_header_only: bool = False
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """The content behind the URL and a few redirects, each checked like the first; or its header alone.

        Raises `FileHostError`.
        """
        method = "HEAD" if is_header_only else "GET"
        for _ in range(_MAX_REDIRECTS + 1):
            async with self.open_response(method, url, timeout_s=timeout_s) as response:
                if response.status not in _REDIRECT_STATUSES:
                    if response.status != 200:
                        raise FileHostRefusal(f"status {response.status}", status=response.status)
                    yield response
                    return
                url = urljoin(url, response.headers.get("Location", ""))
        raise FileHostRefusal("too many redirects")

    async def call_with_retries(self, call: Callable[[], Awaitable[T]]) -> T:
        """Repeats the call while the host is busy or does not answer. Raises `FileHostError`."""
        for attempt in range(1, MAX_ATTEMPTS):
            try:
                return await call()
            except FileHostUnreachable as exc:
                await self.wait_before_retry(attempt, exc)
        return await call()

    async def wait_before_retry(self, attempt: int, error: FileHostUnreachable) -> None:
        """Waits longer after each attempt, and at least as long as the host asks. Raises `error` if that is too long.

        `attempt` counts from 1.
        """
        requested_s = error.retry_after_s or 0.0
        if requested_s > LONGEST_WAIT_S:
            raise error
        await self._sleep(max(requested_s, 2 ** (attempt - 1) * (0.5 + self._jitter() / 2)))

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = open_public_connector(allows_loopback=self._allows_loopback)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return self._session


async def _stream_once(data: bytes) -> AsyncGenerator[bytes]:
    """After a cut, aiohttp sends a `PUT` of bytes again by itself, and hides that the first one may have arrived."""
    yield data


def _check_availability(response: aiohttp.ClientResponse) -> None:
    """Raises `FileHostUnreachable` for a host that is busy or has failed."""
    if response.status in _BUSY_STATUSES or response.status >= 500:
        retry_after = response.headers.get("Retry-After", "")
        seconds = float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None
        raise FileHostUnreachable(f"status {response.status}", retry_after_s=seconds)

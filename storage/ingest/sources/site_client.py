"""The HTTP client for a web site: limits sizes, times and request rate, and connects only to allowed addresses."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from typing import Final, Protocol
from urllib.parse import urljoin, urlsplit

import aiohttp

from storage.ingest.sources.addresses import AddressRefused, is_public_address, socket_factory_for

ROBOT_NAME: Final = "Parley"
"""The name of our robot in a robots.txt."""
USER_AGENT: Final = f"{ROBOT_NAME}/{version('parley')} (syncs documents into a search index)"
_MAX_CONCURRENT_REQUESTS: Final = 2
_MAX_REDIRECTS: Final = 5
_MAX_TRIES: Final = 3
_MAX_PAUSE_S: Final = 60.0  # the longest `Retry-After` that is obeyed
_TOTAL_TIMEOUT_S: Final = 120.0  # for a complete response
_SOCKET_TIMEOUT_S: Final = 20.0
_CHUNK_BYTES: Final = 1 << 16
_RETRIED_STATUSES: Final = frozenset({429, 500, 502, 503, 504})
_REDIRECT_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
TRANSLATED_ERRORS: Final = (aiohttp.ClientError, TimeoutError, OSError, ValueError)
"""The exceptions that a request may raise. An invalid URL raises ValueError, as does one that IDNA cannot encode."""


class UnreachableUrl(Exception):
    """A URL cannot be fetched. `reason` is shown to people; `status` is that of the last response, if any."""

    def __init__(self, reason: str, *, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status


class ByteSink(Protocol):
    def write(self, data: bytes, /) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebResponse:
    """The response of `url`, which is the target of the redirects, if any. Header names are lower case."""

    url: str
    status: int
    headers: Mapping[str, str]


UrlCheck = Callable[[str], Awaitable[str | None]]
"""Returns why a URL may not be requested; None if it may."""


class SiteClient:
    """The client of one site. Sends at most two requests at once, and obeys the crawl delay of the site."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        clock: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._session, self._clock, self._sleep = session, clock, sleep
        self._slots, self._pace_lock = asyncio.Semaphore(_MAX_CONCURRENT_REQUESTS), asyncio.Lock()
        self._delay_s, self._has_requested = 0.0, False
        self._pause_error: UnreachableUrl | None = None

    def set_min_delay(self, delay_s: float) -> None:
        """Sets the least number of seconds between two requests; a smaller value than before has no effect."""
        self._delay_s = max(self._delay_s, delay_s)

    async def fetch_url(
        self,
        url: str,
        make_sink: Callable[[], ByteSink],
        *,
        max_bytes: int,
        check_url: UrlCheck,
        headers: Mapping[str, str],
    ) -> WebResponse:
        """Returns the response; writes the body of a 200 into a new sink. Follows redirects that `check_url` allows.

        Raises `UnreachableUrl` for a refused URL, a response that is too large or too slow, a status other than 200 and
        304, and after three tries for temporary failures. After a site has asked for a long pause, every later request
        fails.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            if (reason := await check_url(url)) is not None:
                raise UnreachableUrl(reason)
            response = await self._fetch_with_retries(url, make_sink, max_bytes, headers)
            if response.status not in _REDIRECT_STATUSES:
                return response
            url = _resolve_redirect(url, response.headers.get("location", ""))
        raise UnreachableUrl(f"it leads through more than {_MAX_REDIRECTS} redirects")

    async def _fetch_with_retries(
        self, url: str, make_sink: Callable[[], ByteSink], max_bytes: int, headers: Mapping[str, str]
    ) -> WebResponse:
        for remaining_tries in range(_MAX_TRIES - 1, -1, -1):
            pause_s = random.uniform(0.5, 1.5) * (_MAX_TRIES - remaining_tries)  # noqa: S311 - jitter
            try:
                response = await self._fetch_at_pace(url, make_sink, max_bytes, headers)
            except UnreachableUrl as exc:
                if (
                    not remaining_tries
                    or exc.status is not None
                    or isinstance(exc.__cause__, AddressRefused | ValueError)
                ):
                    raise
            else:
                if response.status not in _RETRIED_STATUSES:
                    return _check_status(response)
                pause_s = self._requested_pause_s(response) or pause_s
                if not remaining_tries:
                    raise UnreachableUrl(f"the site answers {response.status}", status=response.status)
            await self._sleep(pause_s)
        raise AssertionError("the last try returns or raises")

    def _requested_pause_s(self, response: WebResponse) -> float | None:
        """Returns the seconds of the `Retry-After` header, if any.

        Raises `UnreachableUrl` if it is more than `_MAX_PAUSE_S`; all later requests then raise it too.
        """
        seconds = _retry_after_s(response.headers.get("retry-after", ""), self._clock())
        if seconds is not None and seconds > _MAX_PAUSE_S:
            reason = f"the site answers {response.status} and asks for {seconds:.0f} seconds of rest"
            self._pause_error = UnreachableUrl(reason, status=response.status)
            raise self._pause_error
        return seconds

    async def _fetch_at_pace(
        self, url: str, make_sink: Callable[[], ByteSink], max_bytes: int, headers: Mapping[str, str]
    ) -> WebResponse:
        async with self._slots:
            await self._wait_crawl_delay()
            if self._pause_error is not None:
                raise UnreachableUrl(self._pause_error.reason, status=self._pause_error.status)
            return await self._request_once(url, make_sink, max_bytes, headers)

    async def _wait_crawl_delay(self) -> None:
        if self._delay_s:
            async with self._pace_lock:
                if self._has_requested:
                    await self._sleep(self._delay_s)
                self._has_requested = True

    async def _request_once(
        self, url: str, make_sink: Callable[[], ByteSink], max_bytes: int, headers: Mapping[str, str]
    ) -> WebResponse:
        try:
            if urlsplit(url).scheme not in ("http", "https"):
                raise UnreachableUrl("its address is not of the web")
            async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                if response.status == 200:
                    await _stream_body(response, make_sink(), max_bytes)
                decoded = {name.lower(): _decode_header(value) for name, value in response.headers.items()}
                return WebResponse(url=url, status=response.status, headers=decoded)
        except TRANSLATED_ERRORS as exc:
            raise _translate_error(exc) from _root_cause(exc)


@asynccontextmanager
async def open_site_client(
    *,
    is_allowed_address: Callable[[str], bool] = is_public_address,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> AsyncGenerator[SiteClient]:
    """Opens a client that connects only to addresses that `is_allowed_address` allows.

    It uses no cookies, proxies or credentials.
    """
    timeout = aiohttp.ClientTimeout(total=_TOTAL_TIMEOUT_S, sock_connect=_SOCKET_TIMEOUT_S, sock_read=_SOCKET_TIMEOUT_S)
    connector = aiohttp.TCPConnector(
        limit=_MAX_CONCURRENT_REQUESTS, socket_factory=socket_factory_for(is_allowed_address)
    )
    async with aiohttp.ClientSession(
        connector=connector,
        timeout=timeout,
        headers={"User-Agent": USER_AGENT},
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        yield SiteClient(session, clock=clock, sleep=sleep)


async def _stream_body(response: aiohttp.ClientResponse, sink: ByteSink, max_bytes: int) -> None:
    received = 0
    async for data in response.content.iter_chunked(_CHUNK_BYTES):
        received += len(data)
        if received > max_bytes:
            response.close()
            raise UnreachableUrl(f"it is larger than {max_bytes // 1024**2} MB", status=response.status)
        sink.write(data)


def _decode_header(value: str) -> str:
    """Returns a header as text that can be stored: aiohttp decodes bytes that are not UTF-8 to lone surrogates."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _resolve_redirect(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError as exc:
        raise UnreachableUrl("it leads to an address that cannot be read") from exc


def _check_status(response: WebResponse) -> WebResponse:
    if response.status in (200, 304) or response.status in _REDIRECT_STATUSES:
        return response
    raise UnreachableUrl(f"the site answers {response.status}", status=response.status)


def _retry_after_s(retry_after: str, now: datetime) -> float | None:
    """Parses a `Retry-After` header, in seconds or as a date; None if it is neither."""
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - now).total_seconds())
    except (TypeError, ValueError):  # not a date, or a date without a time zone
        return None


def _root_cause(exc: Exception) -> Exception:
    """Returns the operating system's error of a failed connection, else the error itself."""
    return exc.os_error if isinstance(exc, aiohttp.ClientConnectorError) else exc


def _translate_error(exc: Exception) -> UnreachableUrl:
    match _root_cause(exc):
        case AddressRefused() as refused:
            return UnreachableUrl(str(refused.strerror))
        case TimeoutError():
            return UnreachableUrl("it does not answer in time")
        case aiohttp.InvalidURL() | ValueError():
            return UnreachableUrl("its address cannot be read")
        case OSError() as failed:
            return UnreachableUrl(f"it cannot be reached: {failed.strerror or failed}")
        case other:
            return UnreachableUrl(f"its answer cannot be read: {other or type(other).__name__}")

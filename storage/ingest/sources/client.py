"""Getting things from a web site: within limits, politely, and never from a machine that may not be reached."""

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

from storage.ingest.sources.addresses import AddressRefused, is_public, sockets_for

ROBOT: Final = "Parley"
"""What a robots.txt calls us."""
USER_AGENT: Final = f"{ROBOT}/{version('parley')} (syncs documents into a search index)"
_AT_ONCE: Final = 2
_HOPS: Final = 5
_TRIES: Final = 3
_PATIENCE_S: Final = 60.0  # for one pause that the site asks for
_ANSWER_S: Final = 120.0  # for all of one answer
_SILENCE_S: Final = 20.0
_CHUNK: Final = 1 << 16
_AGAIN: Final = frozenset({429, 500, 502, 503, 504})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
TRANSLATED: Final = (aiohttp.ClientError, TimeoutError, OSError, ValueError)
"""What may come out of a request; a URL that cannot be read is a ValueError, one that IDNA cannot write as well."""


class Unreachable(Exception):
    """A URL that gives nothing. `reason` is for people; `status` that of the last answer, if there was one."""

    def __init__(self, reason: str, *, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status


class Sink(Protocol):
    def write(self, data: bytes, /) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Of `url`, which is where the redirects led to. Header names are lower case."""

    url: str
    status: int
    headers: Mapping[str, str]


Allowed = Callable[[str], Awaitable[str | None]]
"""Why a URL may not be asked for; None where it may."""


class Client:
    """One site's pace: at most two requests at once, and where the site asks for it one each so many seconds."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        clock: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._session, self._clock, self._sleep = session, clock, sleep
        self._slots, self._pacing = asyncio.Semaphore(_AT_ONCE), asyncio.Lock()
        self._delay_s, self._asked = 0.0, False
        self._tired: Unreachable | None = None

    def slow_down(self, delay_s: float) -> None:
        """From now on so many seconds between two requests, at least."""
        self._delay_s = max(self._delay_s, delay_s)

    async def get(
        self, url: str, sink: Callable[[], Sink], *, largest: int, allowed: Allowed, headers: Mapping[str, str]
    ) -> Answer:
        """The answer; the body of a 200 goes into a new sink. Redirects are followed where `allowed`.

        Raises `Unreachable` for what is refused, too large or too slow, for every other status but 304, and after
        three tries for what could be better later. A site that asks for a long pause is not asked again.
        """
        for _ in range(_HOPS + 1):
            if (reason := await allowed(url)) is not None:
                raise Unreachable(reason)
            answer = await self._tried(url, sink, largest, headers)
            if answer.status not in _REDIRECTS:
                return answer
            url = _joined(url, answer.headers.get("location", ""))
        raise Unreachable(f"it leads through more than {_HOPS} redirects")

    async def _tried(self, url: str, sink: Callable[[], Sink], largest: int, headers: Mapping[str, str]) -> Answer:
        for once_more in range(_TRIES - 1, -1, -1):
            pause = random.uniform(0.5, 1.5) * (_TRIES - once_more)  # noqa: S311 - so that not all come back at once
            try:
                answer = await self._paced(url, sink, largest, headers)
            except Unreachable as exc:
                if not once_more or exc.status is not None or isinstance(exc.__cause__, AddressRefused | ValueError):
                    raise
            else:
                if answer.status not in _AGAIN:
                    return _expected(answer)
                pause = self._asked_pause(answer) or pause
                if not once_more:
                    raise Unreachable(f"the site answers {answer.status}", status=answer.status)
            await self._sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _asked_pause(self, answer: Answer) -> float | None:
        """The seconds to wait that the site asks for. Raises `Unreachable`, now and from then on, if they are many."""
        seconds = _seconds(answer.headers.get("retry-after", ""), self._clock())
        if seconds is not None and seconds > _PATIENCE_S:
            reason = f"the site answers {answer.status} and asks for {seconds:.0f} seconds of rest"
            self._tired = Unreachable(reason, status=answer.status)
            raise self._tired
        return seconds

    async def _paced(self, url: str, sink: Callable[[], Sink], largest: int, headers: Mapping[str, str]) -> Answer:
        async with self._slots:
            await self._wait()
            if self._tired is not None:
                raise Unreachable(self._tired.reason, status=self._tired.status)
            return await self._got(url, sink, largest, headers)

    async def _wait(self) -> None:
        if self._delay_s:
            async with self._pacing:
                if self._asked:
                    await self._sleep(self._delay_s)
                self._asked = True

    async def _got(self, url: str, sink: Callable[[], Sink], largest: int, headers: Mapping[str, str]) -> Answer:
        try:
            if urlsplit(url).scheme not in ("http", "https"):
                raise Unreachable("its address is not of the web")
            async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                if response.status == 200:
                    await _received(response, sink(), largest)
                kept = {name.lower(): _text(value) for name, value in response.headers.items()}
                return Answer(url=url, status=response.status, headers=kept)
        except TRANSLATED as exc:
            raise _unreachable(exc) from _cause(exc)


@asynccontextmanager
async def web_client(
    *,
    reaches: Callable[[str], bool] = is_public,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> AsyncGenerator[Client]:
    """A client that connects to the addresses alone that `reaches` says. No cookies, no proxies, no credentials."""
    timeout = aiohttp.ClientTimeout(total=_ANSWER_S, sock_connect=_SILENCE_S, sock_read=_SILENCE_S)
    connector = aiohttp.TCPConnector(limit=_AT_ONCE, socket_factory=sockets_for(reaches))
    async with aiohttp.ClientSession(
        connector=connector,
        timeout=timeout,
        headers={"User-Agent": USER_AGENT},
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        yield Client(session, clock=clock, sleep=sleep)


async def _received(response: aiohttp.ClientResponse, sink: Sink, largest: int) -> None:
    received = 0
    async for data in response.content.iter_chunked(_CHUNK):
        received += len(data)
        if received > largest:
            response.close()
            raise Unreachable(f"it is larger than {largest // 1024**2} MB", status=response.status)
        sink.write(data)


def _text(value: str) -> str:
    """A header as text that can be written down: aiohttp keeps bytes that are no UTF-8 as lone surrogates."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError as exc:
        raise Unreachable("it leads to an address that cannot be read") from exc


def _expected(answer: Answer) -> Answer:
    if answer.status in (200, 304) or answer.status in _REDIRECTS:
        return answer
    raise Unreachable(f"the site answers {answer.status}", status=answer.status)


def _seconds(retry_after: str, now: datetime) -> float | None:
    """Of a Retry-After, in seconds or as a date; None where it is neither."""
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - now).total_seconds())
    except (TypeError, ValueError):  # no date, or one without a zone
        return None


def _cause(exc: Exception) -> Exception:
    """What lies behind a failed connection."""
    return exc.os_error if isinstance(exc, aiohttp.ClientConnectorError) else exc


def _unreachable(exc: Exception) -> Unreachable:
    match _cause(exc):
        case AddressRefused() as refused:
            return Unreachable(str(refused.strerror))
        case TimeoutError():
            return Unreachable("it does not answer in time")
        case aiohttp.InvalidURL() | ValueError():
            return Unreachable("its address cannot be read")
        case OSError() as failed:
            return Unreachable(f"it cannot be reached: {failed.strerror or failed}")
        case other:
            return Unreachable(f"its answer cannot be read: {other or type(other).__name__}")

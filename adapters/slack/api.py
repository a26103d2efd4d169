"""The one caller of Slack's Web API: deadlines, bounded retries, `Retry-After`, and Slack's errors as ours."""

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, cast
from urllib.parse import urljoin, urlsplit

import aiohttp
from pydantic import BaseModel, ValidationError
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import SlackBusy, SlackFailed, SlackRefused, SlackUnreachable

ATTEMPTS: Final = 3
LONGEST_WAIT_S: Final = 15.0  # a longer `Retry-After` is the caller's to wait for
CALL_S: Final = 10.0
UPLOAD_S: Final = 20.0
DOWNLOAD_S: Final = 40.0
TOO_LARGE: Final = "too_large"  # as `SlackRefused` says it of a download
DENIED: Final = "denied"

_OFFICIAL: Final = {("https", "slack.com"), ("https", "slack-gov.com")}
_FILES: Final = {("https", "files.slack.com"), ("https", "files.slack-gov.com")}  # where it has what people attach
_PIECE: Final = 1 << 20  # bytes
_MOVES: Final = 3
_BY_CHANNEL: Final = "chat.postMessage"

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
Pause = Callable[[float], Awaitable[None]]


class _Response(Protocol):
    """As much of slack_sdk's response as is read here."""

    data: object
    status_code: int
    headers: Mapping[str, str]


class SlackApi:
    """Slack's methods, called with patience. `start` and `close` once each, in the loop that calls."""

    def __init__(
        self,
        *,
        token: str | None,
        base_url: str,
        headers: Mapping[str, str] | None = None,
        pause: Pause = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`headers` go with every call of a method; where there is no token they may say who calls."""
        self.client = AsyncWebClient(token=token, base_url=base_url, headers=dict(headers or {}), retry_handlers=[])
        self.client.proxy = None  # the session reads the environment instead, NO_PROXY included
        self.pause, self.clock, self._chance = pause, clock, chance
        self._origin = urlsplit(base_url)[:2]
        self._closed_until: dict[str, float] = {}  # what Slack asked to wait for, by the clock
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        self._session = aiohttp.ClientSession(trust_env=True, timeout=aiohttp.ClientTimeout(total=CALL_S))
        self.client.session = self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def call(
        self,
        model: type[M],
        method: str,
        /,
        arguments: Mapping[str, Any] | None = None,
        *,
        repeat: bool = True,
        attempts: int = ATTEMPTS,
    ) -> M:
        """The answer, parsed. With `repeat` False, what Slack may have done already is not asked again.

        Once Slack asked for patience, nobody here calls the method before that is over (to that channel, where Slack
        counts by channel); with one attempt, nobody waits for it either. Raises `SlackFailed`.
        """
        return await self._patiently(
            _counted_as(method, arguments or {}),
            lambda: self._answer(model, method, dict(arguments or {})),
            repeat=repeat,
            attempts=attempts,
        )

    async def identity(self, model: type[M]) -> tuple[M, frozenset[str]]:
        """Who the token is (`auth.test`), and its scopes, which the answer's head alone tells. Raises `SlackFailed`."""
        response = await self._patiently("auth.test", lambda: self._response("auth.test", {}))
        scopes = response.headers.get("x-oauth-scopes", "")
        return _parsed(model, response), frozenset(one.strip() for one in scopes.split(",") if one.strip())

    def use(self, token: str) -> None:
        """From now on, in place of the one before."""
        self.client.token = token

    async def respond(self, url: str, message: Mapping[str, Any]) -> None:
        """To the `response_url` of a click, which needs no token. Raises `SlackFailed`.

        What takes the place of the message may be said again; anything else would stand there twice.
        """
        is_same = message.get("replace_original") is True
        await self._patiently(url, lambda: self._sent(url, json=dict(message), timeout_s=CALL_S), repeat=is_same)

    async def breathe(self, number: int) -> None:
        """The wait before the attempt after the `number`th."""
        await self.pause(number * (0.5 + self._chance()))

    async def upload(self, url: str, path: Path) -> None:
        """The bytes of a file to the address that Slack gave for it. Raises `SlackFailed` and `OSError`."""
        await self._patiently(urlsplit(url).netloc, lambda: self._uploaded(url, path))

    async def download(self, url: str, to: Path, *, most: int, is_page: bool) -> None:
        """What Slack has at an address of its own, into a file, with the token: it goes nowhere else.

        `is_page`: HTML is awaited; else it is Slack's login page, which says no. Raises `SlackFailed` (`TOO_LARGE`
        beyond `most` bytes, `DENIED`) and `OSError`.
        """
        await self._patiently("download", lambda: self._downloaded(url, to, most, is_page=is_page))

    async def _patiently(
        self, closed: str, attempt: Callable[[], Awaitable[T]], *, repeat: bool = True, attempts: int = ATTEMPTS
    ) -> T:
        longest_s = LONGEST_WAIT_S if attempts > 1 else 0.0
        for number in range(1, attempts):
            try:
                return await self._in_time(closed, attempt, longest_s)
            except SlackBusy as busy:
                if busy.after_s > LONGEST_WAIT_S:
                    raise
            except SlackUnreachable:
                if not repeat:
                    raise
                await self.breathe(number)
        return await self._in_time(closed, attempt, longest_s)

    async def _in_time(self, closed: str, attempt: Callable[[], Awaitable[T]], longest_s: float) -> T:
        """Not before Slack said, for whoever calls; each a little later, or they would all come at once.

        `closed`: what Slack counts together.
        """
        left_s = self._closed_until.get(closed, 0.0) - self.clock()
        if left_s > longest_s:
            raise SlackBusy(left_s)
        if left_s > 0:
            await self.pause(left_s + self._chance())
        try:
            return await attempt()
        except SlackBusy as busy:
            self._close(closed, self.clock() + busy.after_s)
            raise

    def _close(self, closed: str, until: float) -> None:
        now = self.clock()
        self._closed_until = {one: end for one, end in self._closed_until.items() if end > now}
        self._closed_until[closed] = max(self._closed_until.get(closed, 0.0), until)

    async def _answer(self, model: type[M], method: str, arguments: dict[str, Any]) -> M:
        return _parsed(model, await self._response(method, arguments))

    async def _response(self, method: str, arguments: dict[str, Any]) -> _Response:
        try:
            return cast(_Response, await cast(Any, self.client).api_call(method, **_encoded(method, arguments)))
        except SlackApiError as exc:
            raise _translated(exc) from exc
        except (SlackClientError, aiohttp.ClientError, TimeoutError) as exc:
            raise SlackUnreachable(f"no answer from Slack: {type(exc).__name__}") from exc

    async def _uploaded(self, url: str, path: Path) -> None:
        file = await asyncio.to_thread(path.open, "rb")
        try:
            await self._sent(url, data=file, timeout_s=UPLOAD_S)
        finally:
            await asyncio.to_thread(file.close)

    async def _downloaded(self, url: str, to: Path, most: int, *, is_page: bool) -> None:
        """Follows Slack from one of its own addresses to another."""
        try:
            async with asyncio.timeout(DOWNLOAD_S):
                for _ in range(_MOVES):
                    moved = await self._saved(url, to, most, is_page=is_page)
                    if moved is None:
                        return
                    url, is_page = moved, False  # a page that we are sent to is no file
        except (aiohttp.ClientError, TimeoutError) as exc:
            raise SlackUnreachable(f"no answer from Slack: {type(exc).__name__}") from exc
        raise SlackRefused(DENIED)

    async def _saved(self, url: str, to: Path, most: int, *, is_page: bool) -> str | None:
        """Where else it is, if so."""
        if self._session is None or self._session.closed:
            raise SlackUnreachable("the connection to Slack is not open")
        if not self._is_slacks(url):
            raise SlackRefused(DENIED)
        held = {"Authorization": f"Bearer {self.client.token}"}
        patience = aiohttp.ClientTimeout(total=DOWNLOAD_S, sock_read=CALL_S)
        async with self._session.get(url, headers=held, allow_redirects=False, timeout=patience) as response:
            if response.status in (301, 302, 303, 307, 308):
                return urljoin(url, response.headers.get("Location", ""))
            _check(response.status, response.headers.get("Retry-After"))
            if response.content_type == "text/html" and not (is_page and _is_attachment(response)):
                raise SlackRefused(DENIED)
            await _save(response, to, most)
        return None

    def _is_slacks(self, url: str) -> bool:
        """Its hosts for files; where Slack is reached through another host, that one as well."""
        origin = urlsplit(url)[:2]
        return origin in _FILES or (origin == self._origin and origin not in _OFFICIAL)

    async def _sent(self, url: str, *, timeout_s: float, json: object = None, data: object = None) -> None:
        if self._session is None or self._session.closed:
            raise SlackUnreachable("the connection to Slack is not open")
        timeout = aiohttp.ClientTimeout(total=timeout_s)
        try:
            async with self._session.post(url, json=json, data=data, timeout=timeout) as response:
                _check(response.status, response.headers.get("Retry-After"))
        except (aiohttp.ClientError, TimeoutError) as exc:
            raise SlackUnreachable(f"no answer from Slack: {type(exc).__name__}") from exc


def _counted_as(method: str, arguments: Mapping[str, Any]) -> str:
    """New messages are counted in each channel, all other calls by method in the whole workspace."""
    return f"{method} {arguments['channel']}" if method == _BY_CHANNEL else method


def _is_attachment(response: aiohttp.ClientResponse) -> bool:
    disposition = response.content_disposition
    return disposition is not None and disposition.type == "attachment"


async def _save(response: aiohttp.ClientResponse, to: Path, most: int) -> None:
    if (response.content_length or 0) > most:
        raise SlackRefused(TOO_LARGE)
    file, size = await asyncio.to_thread(to.open, "wb"), 0
    try:
        async for piece in response.content.iter_chunked(_PIECE):
            size += len(piece)
            if size > most:
                raise SlackRefused(TOO_LARGE)
            await asyncio.to_thread(file.write, piece)
    finally:
        await asyncio.to_thread(file.close)


def _parsed(model: type[M], response: _Response) -> M:
    try:
        return model.model_validate(response.data)
    except ValidationError as exc:
        raise SlackUnreachable("Slack's answer makes no sense") from exc


def _translated(exc: SlackApiError) -> SlackFailed:
    """`exc.response` is slack_sdk's, or aiohttp's own where the body was not JSON."""
    response = cast(_Response, exc.response)
    if not hasattr(response, "status_code"):
        return SlackUnreachable("Slack's answer makes no sense")
    if response.status_code == 429:
        return SlackBusy(_seconds(response.headers.get("Retry-After")))
    data: object = response.data
    if response.status_code >= 500 or not isinstance(data, dict):
        return SlackUnreachable(f"Slack answered {response.status_code}")
    error = str(cast(dict[str, object], data).get("error", f"status {response.status_code}"))
    return SlackUnreachable(error) if error in _PASSING else SlackRefused(error)


def _encoded(method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Methods that read take a form only; those that write take JSON too, which keeps blocks as they are."""
    if method.startswith("chat."):
        return {"json": arguments}
    return {"data": {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}}


# Slack's own troubles, told in a 200.
_PASSING = {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}


def _check(status: int, retry_after: str | None) -> None:
    if status == 429:
        raise SlackBusy(_seconds(retry_after))
    if status >= 500:
        raise SlackUnreachable(f"Slack answered {status}")
    if status >= 400:
        raise SlackRefused(f"status {status}")


def _seconds(retry_after: str | None) -> float:
    """Slack sends whole seconds; anything else counts as one."""
    return float(retry_after) if retry_after and retry_after.isascii() and retry_after.isdigit() else 1.0

"""The client of Slack's Web API: timeouts, bounded retries, `Retry-After`, and translation of errors.

All calls to Slack go through this module.
"""

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

from adapters.slack.errors import SlackError, SlackRateLimited, SlackRefusal, SlackUnreachable

MAX_ATTEMPTS: Final = 3
LONGEST_WAIT_S: Final = 15.0  # a longer `Retry-After` is raised to the caller
CALL_TIMEOUT_S: Final = 10.0
UPLOAD_TIMEOUT_S: Final = 20.0
DOWNLOAD_TIMEOUT_S: Final = 40.0
TOO_LARGE: Final = "too_large"  # error codes of `SlackRefusal` for a download
DENIED: Final = "denied"

_OFFICIAL_ORIGINS: Final = {("https", "slack.com"), ("https", "slack-gov.com")}
_FILE_ORIGINS: Final = {("https", "files.slack.com"), ("https", "files.slack-gov.com")}  # hosts of attached files
_CHUNK_BYTES: Final = 1 << 20
_MAX_REDIRECTS: Final = 3
_CHANNEL_LIMITED_METHOD: Final = "chat.postMessage"

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]


class _SdkResponse(Protocol):
    """The attributes of slack_sdk's response that are used here."""

    data: object
    status_code: int
    headers: Mapping[str, str]


class SlackApi:
    """Calls Slack's methods with retries. Call `start` and `close` once each, in the event loop of the calls."""

    def __init__(
        self,
        *,
        token: str | None,
        base_url: str,
        headers: Mapping[str, str] | None = None,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`headers` are sent with every method call; without a token they may identify the caller."""
        self.client = AsyncWebClient(token=token, base_url=base_url, headers=dict(headers or {}), retry_handlers=[])
        self.client.proxy = None  # the session reads the proxy from the environment, with NO_PROXY
        self.sleep, self.clock, self._jitter = sleep, clock, jitter
        self._origin = urlsplit(base_url)[:2]
        self._blocked_until: dict[str, float] = {}  # rate key -> time on the clock until which Slack asks to wait
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        self._session = aiohttp.ClientSession(trust_env=True, timeout=aiohttp.ClientTimeout(total=CALL_TIMEOUT_S))
        self.client.session = self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def call_method(
        self,
        model: type[M],
        method: str,
        /,
        arguments: Mapping[str, Any] | None = None,
        *,
        repeat: bool = True,
        attempts: int = MAX_ATTEMPTS,
    ) -> M:
        """Call a method and return the parsed answer. Raises `SlackError`.

        With `repeat` False, a call that may have taken effect is not repeated. After Slack asks to wait, all calls of
        the method wait (or all calls for the channel, where Slack limits by channel). With one attempt, the call fails
        instead of waiting.
        """
        return await self._call_with_retries(
            _rate_key_of(method, arguments or {}),
            lambda: self._call_and_parse(model, method, dict(arguments or {})),
            repeat=repeat,
            attempts=attempts,
        )

    async def fetch_token_identity(self, model: type[M]) -> tuple[M, frozenset[str]]:
        """Returns the token's identity (`auth.test`) and its scopes, from the response headers. Raises `SlackError`."""
        response = await self._call_with_retries("auth.test", lambda: self._call_sdk_method("auth.test", {}))
        scopes = response.headers.get("x-oauth-scopes", "")
        return _parse_response_as(model, response), frozenset(
            scope.strip() for scope in scopes.split(",") if scope.strip()
        )

    def replace_access_token(self, token: str) -> None:
        """Use this token for all later calls."""
        self.client.token = token

    async def post_to_response_url(self, url: str, message: Mapping[str, Any]) -> None:
        """Post to the `response_url` of a click, which needs no token. Raises `SlackError`.

        Only a message that replaces the original is retried; any other could be posted twice.
        """
        replaces_original = message.get("replace_original") is True
        await self._call_with_retries(
            url,
            lambda: self._post_http_body(url, json=dict(message), timeout_s=CALL_TIMEOUT_S),
            repeat=replaces_original,
        )

    async def wait_before_retry(self, attempt_number: int) -> None:
        """Wait after the failed attempt `attempt_number`, before the next one."""
        await self.sleep(attempt_number * (0.5 + self._jitter()))

    async def upload_file(self, url: str, path: Path) -> None:
        """Upload a file to the address that Slack gave for it. Raises `SlackError` and `OSError`."""
        await self._call_with_retries(urlsplit(url).netloc, lambda: self._upload_file_once(url, path))

    async def download_file(self, url: str, target: Path, *, max_bytes: int, is_page: bool) -> None:
        """Download from one of Slack's own addresses into a file. The token is sent to no other host.

        `is_page`: the file is HTML; otherwise HTML is Slack's login page, which means that access is denied. Raises
        `SlackRefusal` with `TOO_LARGE` beyond `max_bytes` or with `DENIED`, other `SlackError`s, and `OSError`.
        """
        await self._call_with_retries(
            "download", lambda: self._download_following_redirects(url, target, max_bytes, is_page=is_page)
        )

    async def _call_with_retries(
        self, rate_key: str, attempt: Callable[[], Awaitable[T]], *, repeat: bool = True, attempts: int = MAX_ATTEMPTS
    ) -> T:
        longest_s = LONGEST_WAIT_S if attempts > 1 else 0.0
        for number in range(1, attempts):
            try:
                return await self._call_within_limit(rate_key, attempt, longest_s)
            except SlackRateLimited as exc:
                if exc.retry_after_s > LONGEST_WAIT_S:
                    raise
            except SlackUnreachable:
                if not repeat:
                    raise
                await self.wait_before_retry(number)
        return await self._call_within_limit(rate_key, attempt, longest_s)

    async def _call_within_limit(self, rate_key: str, attempt: Callable[[], Awaitable[T]], max_wait_s: float) -> T:
        """Attempt the call once, after the wait that Slack asked for. Raises `SlackError`.

        All calls with one `rate_key` share Slack's limit. Jitter spreads the waiting calls.
        """
        wait_s = self._blocked_until.get(rate_key, 0.0) - self.clock()
        if wait_s > max_wait_s:
            raise SlackRateLimited(wait_s)
        if wait_s > 0:
            await self.sleep(wait_s + self._jitter())
        try:
            return await attempt()
        except SlackRateLimited as exc:
            self._block_rate_key(rate_key, self.clock() + exc.retry_after_s)
            raise

    def _block_rate_key(self, rate_key: str, until: float) -> None:
        now = self.clock()
        self._blocked_until = {
            key: blocked_until for key, blocked_until in self._blocked_until.items() if blocked_until > now
        }
        self._blocked_until[rate_key] = max(self._blocked_until.get(rate_key, 0.0), until)

    async def _call_and_parse(self, model: type[M], method: str, arguments: dict[str, Any]) -> M:
        return _parse_response_as(model, await self._call_sdk_method(method, arguments))

    async def _call_sdk_method(self, method: str, arguments: dict[str, Any]) -> _SdkResponse:
        try:
            return cast(
                _SdkResponse,
                await cast(Any, self.client).api_call(method, **_encode_method_arguments(method, arguments)),
            )
        except SlackApiError as exc:
            raise _translate_sdk_error(exc) from exc
        except (SlackClientError, aiohttp.ClientError, TimeoutError) as exc:
            raise SlackUnreachable(f"no answer from Slack: {type(exc).__name__}") from exc

    async def _upload_file_once(self, url: str, path: Path) -> None:
        file = await asyncio.to_thread(path.open, "rb")
        try:
            await self._post_http_body(url, data=file, timeout_s=UPLOAD_TIMEOUT_S)
        finally:
            await asyncio.to_thread(file.close)

    async def _download_following_redirects(self, url: str, target: Path, max_bytes: int, *, is_page: bool) -> None:
        """Download a file, following redirects between Slack's own addresses."""
        try:
            async with asyncio.timeout(DOWNLOAD_TIMEOUT_S):
                for _ in range(_MAX_REDIRECTS):
                    redirect_url = await self._download_file_once(url, target, max_bytes, is_page=is_page)
                    if redirect_url is None:
                        return
                    url, is_page = redirect_url, False  # a page behind a redirect is not the file
        except (aiohttp.ClientError, TimeoutError) as exc:
            raise SlackUnreachable(f"no answer from Slack: {type(exc).__name__}") from exc
        raise SlackRefusal(DENIED)

    async def _download_file_once(self, url: str, target: Path, max_bytes: int, *, is_page: bool) -> str | None:
        """Download the file, or return the redirect target if there is one."""
        if self._session is None or self._session.closed:
            raise SlackUnreachable("the connection to Slack is not open")
        if not self._is_slack_host(url):
            raise SlackRefusal(DENIED)
        headers = {"Authorization": f"Bearer {self.client.token}"}
        timeout = aiohttp.ClientTimeout(total=DOWNLOAD_TIMEOUT_S, sock_read=CALL_TIMEOUT_S)
        async with self._session.get(url, headers=headers, allow_redirects=False, timeout=timeout) as response:
            if response.status in (301, 302, 303, 307, 308):
                return urljoin(url, response.headers.get("Location", ""))
            _check_http_status(response.status, response.headers.get("Retry-After"))
            if response.content_type == "text/html" and not (is_page and _is_attachment(response)):
                raise SlackRefusal(DENIED)
            await _save_response_body(response, target, max_bytes)
        return None

    def _is_slack_host(self, url: str) -> bool:
        """Whether the address is on a Slack file host, or on the configured host when that is not Slack's own."""
        origin = urlsplit(url)[:2]
        return origin in _FILE_ORIGINS or (origin == self._origin and origin not in _OFFICIAL_ORIGINS)

    async def _post_http_body(self, url: str, *, timeout_s: float, json: object = None, data: object = None) -> None:
        if self._session is None or self._session.closed:
            raise SlackUnreachable("the connection to Slack is not open")
        timeout = aiohttp.ClientTimeout(total=timeout_s)
        try:
            async with self._session.post(url, json=json, data=data, timeout=timeout) as response:
                _check_http_status(response.status, response.headers.get("Retry-After"))
        except (aiohttp.ClientError, TimeoutError) as exc:
            raise SlackUnreachable(f"no answer from Slack: {type(exc).__name__}") from exc


def _rate_key_of(method: str, arguments: Mapping[str, Any]) -> str:
    """Returns the key of Slack's rate limit: per channel for new messages, per method for all other calls."""
    return f"{method} {arguments['channel']}" if method == _CHANNEL_LIMITED_METHOD else method


def _is_attachment(response: aiohttp.ClientResponse) -> bool:
    disposition = response.content_disposition
    return disposition is not None and disposition.type == "attachment"


async def _save_response_body(response: aiohttp.ClientResponse, target: Path, max_bytes: int) -> None:
    if (response.content_length or 0) > max_bytes:
        raise SlackRefusal(TOO_LARGE)
    file, size = await asyncio.to_thread(target.open, "wb"), 0
    try:
        async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
            size += len(chunk)
            if size > max_bytes:
                raise SlackRefusal(TOO_LARGE)
            await asyncio.to_thread(file.write, chunk)
    finally:
        await asyncio.to_thread(file.close)


def _parse_response_as(model: type[M], response: _SdkResponse) -> M:
    try:
        return model.model_validate(response.data)
    except ValidationError as exc:
        raise SlackUnreachable("Slack's answer makes no sense") from exc


def _translate_sdk_error(exc: SlackApiError) -> SlackError:
    """Translate an error of slack_sdk. `exc.response` is aiohttp's own where the body was not JSON."""
    response = cast(_SdkResponse, exc.response)
    if not hasattr(response, "status_code"):
        return SlackUnreachable("Slack's answer makes no sense")
    if response.status_code == 429:
        return SlackRateLimited(_retry_after_seconds(response.headers.get("Retry-After")))
    data: object = response.data
    if response.status_code >= 500 or not isinstance(data, dict):
        return SlackUnreachable(f"Slack answered {response.status_code}")
    error = str(cast(dict[str, object], data).get("error", f"status {response.status_code}"))
    return SlackUnreachable(error) if error in _TRANSIENT_ERRORS else SlackRefusal(error)


def _encode_method_arguments(method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Encode the arguments: JSON for `chat.*`, which keeps blocks unchanged; a form for all other methods."""
    if method.startswith("chat."):
        return {"json": arguments}
    return {"data": {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}}


# Slack's own failures, which it reports with status 200.
_TRANSIENT_ERRORS = {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}


def _check_http_status(status: int, retry_after: str | None) -> None:
    if status == 429:
        raise SlackRateLimited(_retry_after_seconds(retry_after))
    if status >= 500:
        raise SlackUnreachable(f"Slack answered {status}")
    if status >= 400:
        raise SlackRefusal(f"status {status}")


def _retry_after_seconds(retry_after: str | None) -> float:
    """Parse Slack's whole seconds; any other value counts as one second."""
    return float(retry_after) if retry_after and retry_after.isascii() and retry_after.isdigit() else 1.0

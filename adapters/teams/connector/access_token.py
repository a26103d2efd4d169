"""The app's access token for the connector: one for all calls, asked for once and refreshed before it expires.

A call takes the cached token. A refresh runs beside the calls while the token is still valid, and only one at a time
(https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication).
"""

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import aiohttp
from pydantic import SecretStr, ValidationError

from adapters.teams.errors import TeamsSignInFailed
from adapters.teams.payloads.responses import TokenErrorResponse, TokenResponse
from adapters.teams.settings import MICROSOFT_LOGIN_URL, AppType, TeamsSettings

CONNECTOR_RESOURCE: Final = "https://api.botframework.com"
MULTI_TENANT_AUTHORITY: Final = "botframework.com"
MANAGED_IDENTITY_URL: Final = "http://169.254.169.254/metadata/identity/oauth2/token"
MANAGED_IDENTITY_VERSION: Final = "2018-02-01"
REQUEST_TIMEOUT_S: Final = 5.0
MAX_TRIES: Final = 3  # of one refresh
REFRESH_AHEAD_S: Final = 600.0  # before a token expires; at half of its life if that is later
LAST_USE_S: Final = 60.0  # a token that expires sooner is not used any more
RETRY_REFRESH_S: Final = 30.0  # after a refresh that failed while the old token is still valid
_ENTRA_CODE: Final = re.compile(r"\bAADSTS\d{3,9}\b")
_PLAIN_CODE: Final = re.compile(r"[a-z_]{1,40}")


class TokenSource(Protocol):
    """Each method raises `TeamsSignInFailed`."""

    async def get_token(self) -> str:
        """A valid token, from the cache where there is one."""
        ...

    async def replace_token(self, rejected: str) -> str:
        """A token other than the one that the connector has rejected."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """One request of a token. A form is posted; without one, the address is got."""

    url: str
    form: Mapping[str, SecretStr] | None = None
    query: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    uses_proxy: bool = True  # that of the environment, where there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class _CachedToken:
    """Times are seconds of the cache's clock. Its `repr` shows no token."""

    value: SecretStr
    refresh_at_s: float
    unusable_at_s: float


def token_request_for(settings: TeamsSettings) -> TokenRequest:
    """The request that the app's type calls for. The settings have an app id, and what `find_problems` asks for."""
    app_id = settings.app_id or ""
    if settings.app_type is AppType.MANAGED_IDENTITY:
        return TokenRequest(
            url=settings.token_url or MANAGED_IDENTITY_URL,
            query={"api-version": MANAGED_IDENTITY_VERSION, "resource": CONNECTOR_RESOURCE, "client_id": app_id},
            headers={"Metadata": "true"},
            uses_proxy=False,  # the endpoint knows this machine by the connection
        )
    authority = MULTI_TENANT_AUTHORITY if settings.app_type is AppType.MULTI_TENANT else settings.app_tenant
    return TokenRequest(
        url=settings.token_url or f"{MICROSOFT_LOGIN_URL}/{authority}/oauth2/v2.0/token",
        form={
            "grant_type": SecretStr("client_credentials"),
            "client_id": SecretStr(app_id),
            "client_secret": settings.app_password or SecretStr(""),
            "scope": SecretStr(f"{CONNECTOR_RESOURCE}/.default"),
        },
    )


class AccessTokenCache:
    """Fulfils `TokenSource`. Call `start` and `close` once each, in the event loop of the calls."""

    def __init__(
        self,
        request: TokenRequest,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._request, self._clock, self._sleep, self._jitter = request, clock, sleep, jitter
        self._session: aiohttp.ClientSession | None = None
        self._token: _CachedToken | None = None
        self._refresh: asyncio.Task[None] | None = None  # without a result, which its `repr` would show
        self._may_refresh_at_s = 0.0

    async def start(self) -> None:
        self._session = aiohttp.ClientSession(
            trust_env=self._request.uses_proxy,
            timeout=aiohttp.ClientTimeout(total=REQUEST_TIMEOUT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        if self._refresh is not None:
            self._refresh.cancel()
            await asyncio.wait([self._refresh])
        if self._session is not None:
            await self._session.close()

    async def get_token(self) -> str:
        token, now = self._token, self._clock()
        if token is None or now >= token.unusable_at_s:
            return await self._wait_for_refresh()
        if now >= token.refresh_at_s and now >= self._may_refresh_at_s:
            self._join_refresh()
        return token.value.get_secret_value()

    async def replace_token(self, rejected: str) -> str:
        if self._token is not None and self._token.value.get_secret_value() != rejected:
            return await self.get_token()
        return await self._wait_for_refresh()

    async def _wait_for_refresh(self) -> str:
        """The refresh goes on for the other callers where this one is cancelled."""
        await asyncio.shield(self._join_refresh())
        if self._token is None:
            raise TeamsSignInFailed("the token service gave no token")
        return self._token.value.get_secret_value()

    def _join_refresh(self) -> asyncio.Task[None]:
        """The refresh in progress; begins one where there is none."""
        if self._refresh is None or self._refresh.done():
            self._refresh = asyncio.create_task(self._refresh_token())
            self._refresh.add_done_callback(_note_outcome)
        return self._refresh

    async def _refresh_token(self) -> None:
        self._may_refresh_at_s = self._clock() + RETRY_REFRESH_S
        for number in range(1, MAX_TRIES):
            try:
                return await self._request_token()
            except _TokenServiceDown:
                await self._sleep(number * (0.5 + self._jitter()))
        return await self._request_token()

    async def _request_token(self) -> None:
        if self._session is None or self._session.closed:
            raise TeamsSignInFailed("the connection to the token service is not open")
        request = self._request
        form = {name: value.get_secret_value() for name, value in request.form.items()} if request.form else None
        asked_at_s = self._clock()
        try:
            async with self._session.request(
                "GET" if form is None else "POST",
                request.url,
                params=request.query,
                data=form,
                headers=request.headers,
                allow_redirects=False,
            ) as response:
                status, body = response.status, await response.read()
        except (aiohttp.ClientError, TimeoutError) as exc:
            raise _TokenServiceDown(f"the token service does not answer: {type(exc).__name__}") from exc
        if status == 429 or status >= 500:
            raise _TokenServiceDown(f"the token service answered {status}")
        if status != 200:
            raise TeamsSignInFailed(_describe_refusal(status, body))
        self._store_token(body, asked_at_s)

    def _store_token(self, body: bytes, asked_at_s: float) -> None:
        try:
            response = TokenResponse.model_validate_json(body)
        except ValidationError:
            raise _TokenServiceDown("the token service's answer makes no sense") from None  # it may hold a token
        life_s = response.expires_in
        self._token = _CachedToken(
            value=SecretStr(response.access_token),
            refresh_at_s=asked_at_s + max(life_s - REFRESH_AHEAD_S, life_s / 2),
            unusable_at_s=asked_at_s + max(life_s - LAST_USE_S, life_s / 2),
        )


class _TokenServiceDown(TeamsSignInFailed):
    """Asking again may help."""


class OneToken:
    """Fulfils `TokenSource` with one given token, for tools and tests."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def get_token(self) -> str:
        return self._token

    async def replace_token(self, rejected: str) -> str:
        return self._token


def _note_outcome(refresh: asyncio.Task[None]) -> None:
    """Reads the exception of a refresh that nobody waits for; a later call begins the next refresh."""
    if not refresh.cancelled():
        refresh.exception()


def _describe_refusal(status: int, body: bytes) -> str:
    """A sentence for the log with Microsoft's code of the error. Nothing else of the answer is repeated."""
    try:
        response = TokenErrorResponse.model_validate_json(body)
    except ValidationError:
        response = TokenErrorResponse()
    entra_code = _ENTRA_CODE.search(str(response.error_description))
    plain_code = _PLAIN_CODE.fullmatch(str(response.error))
    code = entra_code[0] if entra_code else plain_code[0] if plain_code else "no code"
    return (
        f"Microsoft gives the app no token ({status}, {code}): check MICROSOFT_APP_ID, MICROSOFT_APP_PASSWORD, "
        "MICROSOFT_APP_TENANT_ID and MICROSOFT_APP_TYPE"
    )

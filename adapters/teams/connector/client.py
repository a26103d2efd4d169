"""The client of the Bot Connector's REST API: deadlines, bounded retries, order and rate per conversation.

All calls to Teams but those of the token go through this module
(https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-api-reference).
"""

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Final, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
from pydantic import BaseModel, ValidationError

from adapters.teams.connector.access_token import TokenSource
from adapters.teams.connector.activity_schema import ActivityChecker, BotbuilderSchema
from adapters.teams.connector.calls import MAX_ATTEMPTS, TeamsMember
from adapters.teams.connector.conversation_queue import ConversationQueue
from adapters.teams.errors import InvalidActivity, TeamsRefusal, TeamsSignInFailed, TeamsThrottled, TeamsUnreachable
from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.payloads.responses import (
    ConnectorAnswer,
    ConnectorErrorDetail,
    ConnectorErrorResponse,
    MemberAccount,
    MembersPage,
    SentResource,
)

CALL_TIMEOUT_S: Final = 8.0  # of one attempt
LONGEST_WAIT_S: Final = 15.0  # a longer `Retry-After` is raised to the caller
MAX_BODY_BYTES: Final = 1 << 20  # of an answer
MAX_MEMBER_PAGES: Final = 50
_MEMBERS_PER_PAGE: Final = 500
_MAX_CODE_CHARACTERS: Final = 100  # of an error code
_BACKOFF_S: Final = 0.5  # doubled at each attempt
_MEMBER_MISSING: Final = "MemberNotFoundInConversation"
_REPEATED_STATUSES: Final = frozenset({412, 502, 504})  # Microsoft asks to repeat these, new messages as well
_BROKEN_ADDRESS: Final = "the service URL is neither https nor http to this machine"

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConnectorRequest:
    """`is_repeatable`: a second call changes nothing, so that it is repeated also where the first may have worked."""

    method: str
    url: str
    body: bytes | None = None
    is_repeatable: bool = True
    query: Mapping[str, str] | None = None


class _CallMayBeRepeated(TeamsUnreachable):
    """The call had no effect, or a second call changes nothing."""


class TeamsConnectorClient:
    """Fulfils `ConnectorCalls` and `PostingCalls`. Call `start` and `close` once each, in the event loop of the calls.

    The token's source is opened and closed by its owner.
    """

    def __init__(
        self,
        tokens: TokenSource | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Without `tokens` only a service on this machine is called, such as a local test client."""
        self._tokens, self._clock, self._sleep, self._jitter = tokens, clock, sleep, jitter
        self._queue = ConversationQueue(sleep, clock)
        self._session: aiohttp.ClientSession | None = None
        self._checker: ActivityChecker | None = None

    async def start(self) -> None:
        self._session = aiohttp.ClientSession(
            trust_env=True, timeout=aiohttp.ClientTimeout(total=CALL_TIMEOUT_S), cookie_jar=aiohttp.DummyCookieJar()
        )
        self._checker = await BotbuilderSchema.load_schema()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def send_activity(
        self, service_url: str, conversation: str, activity: JsonObject, *, attempts: int = MAX_ATTEMPTS
    ) -> str:
        request = _ConnectorRequest(
            method="POST",
            url=self._address(service_url, "conversations", conversation, "activities"),
            body=self._encode(activity),
            is_repeatable=False,
        )
        async with self._queue.exclusive_turn(conversation):
            return (await self._call_in_conversation(SentResource, conversation, request, attempts)).id

    async def update_activity(
        self,
        service_url: str,
        conversation: str,
        activity_id: str,
        activity: JsonObject,
        *,
        attempts: int = MAX_ATTEMPTS,
    ) -> None:
        url = self._address(service_url, "conversations", conversation, "activities", activity_id)
        request = _ConnectorRequest(method="PUT", url=url, body=self._encode(activity))
        async with self._queue.exclusive_turn(conversation):
            await self._call_in_conversation(ConnectorAnswer, conversation, request, attempts)

    async def delete_activity(self, service_url: str, conversation: str, activity_id: str) -> None:
        url = self._address(service_url, "conversations", conversation, "activities", activity_id)
        async with self._queue.exclusive_turn(conversation):
            request = _ConnectorRequest(method="DELETE", url=url)
            await self._call_in_conversation(ConnectorAnswer, conversation, request, MAX_ATTEMPTS)

    async def create_conversation(self, service_url: str, *, tenant: str, bot_id: str, member: str) -> str:
        parameters = {
            "bot": {"id": bot_id},
            "members": [{"id": member}],
            "isGroup": False,
            "tenantId": tenant,
            "channelData": {"tenant": {"id": tenant}},
        }
        request = _ConnectorRequest(
            method="POST", url=self._address(service_url, "conversations"), body=_encode_json(parameters)
        )
        created = await self._call_with_retries(lambda: self._call_once(SentResource, request), MAX_ATTEMPTS)
        if not created.id:
            raise TeamsUnreachable("the new conversation has no id")
        return created.id

    async def get_member(self, service_url: str, conversation: str, member: str) -> TeamsMember | None:
        request = _ConnectorRequest(
            method="GET", url=self._address(service_url, "conversations", conversation, "members", member)
        )
        try:
            account = await self._call_with_retries(lambda: self._call_once(MemberAccount, request), MAX_ATTEMPTS)
        except TeamsRefusal as exc:
            if exc.code == _MEMBER_MISSING:  # any other 404 says nothing about the person
                return None
            raise
        return _member_of(account)

    async def list_members(self, service_url: str, conversation: str) -> Sequence[TeamsMember]:
        url = self._address(service_url, "conversations", conversation, "pagedmembers")
        members: list[TeamsMember] = []
        continuation: str | None = None
        for _ in range(MAX_MEMBER_PAGES):
            page = await self._load_member_page(url, continuation)
            members += map(_member_of, page.members)
            continuation = page.continuation_token
            if not continuation:
                return members
        raise TeamsUnreachable("the list of members does not end")

    # Calls

    async def _load_member_page(self, url: str, continuation: str | None) -> MembersPage:
        query = {"pageSize": str(_MEMBERS_PER_PAGE), **({"continuationToken": continuation} if continuation else {})}
        request = _ConnectorRequest(method="GET", url=url, query=query)
        return await self._call_with_retries(lambda: self._call_once(MembersPage, request), MAX_ATTEMPTS)

    async def _call_in_conversation(
        self, model: type[M], conversation: str, request: _ConnectorRequest, attempts: int
    ) -> M:
        max_wait_s = LONGEST_WAIT_S if attempts > 1 else 0.0

        async def attempt() -> M:
            await self._queue.wait_for_rate(conversation, max_wait_s)
            try:
                return await self._call_once(model, request)
            except TeamsThrottled as exc:
                self._queue.block_conversation(conversation, exc.retry_after_s)
                raise

        return await self._call_with_retries(attempt, attempts)

    async def _call_with_retries(self, attempt: Callable[[], Awaitable[T]], attempts: int) -> T:
        """Repeats what may be repeated, with exponential backoff and jitter."""
        for number in range(1, attempts):
            pause_s = _BACKOFF_S * 2 ** (number - 1) * (0.5 + self._jitter())
            try:
                return await attempt()
            except TeamsThrottled as exc:
                if exc.retry_after_s > LONGEST_WAIT_S:
                    raise
                pause_s = max(pause_s, exc.retry_after_s + self._jitter())
            except _CallMayBeRepeated:
                pass
            await self._sleep(pause_s)
        return await attempt()

    async def _call_once(self, model: type[M], request: _ConnectorRequest) -> M:
        """One call with the cached token; after a 401 once more with a new one."""
        token = await self._tokens.get_token() if self._tokens is not None else None
        try:
            return _parse_body(model, await self._request_with_token(request, token))
        except TeamsRefusal as exc:
            if exc.status != 401 or self._tokens is None or token is None:
                raise
        new_token = await self._tokens.replace_token(token)
        try:
            return _parse_body(model, await self._request_with_token(request, new_token))
        except TeamsRefusal as exc:
            if exc.status != 401:
                raise
            raise TeamsSignInFailed("Teams does not accept the app's token (401): check MICROSOFT_APP_ID") from exc

    async def _request_with_token(self, request: _ConnectorRequest, token: str | None) -> bytes:
        async with _translate_connection_errors(is_repeatable=request.is_repeatable):
            session = self._open_session()
            headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
            if request.body is not None:
                headers["Content-Type"] = "application/json; charset=utf-8"
            async with session.request(
                request.method,
                request.url,
                params=request.query,
                data=request.body,
                headers=headers,
                allow_redirects=False,
            ) as response:
                body = await _read_body(response)
                _check_status(response.status, response.headers, body, is_repeatable=request.is_repeatable)
        return body

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            raise TeamsUnreachable("the connection to Teams is not open")
        return self._session

    def _encode(self, activity: JsonObject) -> bytes:
        if self._checker is None:
            raise TeamsUnreachable("the connection to Teams is not open")
        return self._checker.encode_activity(activity)

    def _address(self, service_url: str, *path: str) -> str:
        check_service_url(service_url, only_this_machine=self._tokens is None)
        quoted_path = "/".join(quote(segment, safe="") for segment in path)
        return f"{service_url.rstrip('/')}/v3/{quoted_path}"


def check_service_url(service_url: str, *, only_this_machine: bool = False) -> None:
    """Raises `InvalidActivity` for an address to which no token may be sent: it is https, or http to this machine."""
    try:
        parts = urlsplit(service_url)
        host = parts.hostname or ""
    except ValueError as exc:
        raise InvalidActivity(_BROKEN_ADDRESS) from exc
    is_local = _is_this_machine(host)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_local)
    is_plain = host and not (parts.username or parts.password or parts.query or parts.fragment)
    if not is_safe or not is_plain or (only_this_machine and not is_local):
        raise InvalidActivity(_BROKEN_ADDRESS)


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def _translate_connection_errors(*, is_repeatable: bool) -> AsyncGenerator[None]:
    try:
        yield
    except aiohttp.ClientConnectorError as exc:  # nothing was sent
        raise _CallMayBeRepeated(f"Teams cannot be reached: {type(exc).__name__}") from exc
    except (aiohttp.ClientError, TimeoutError) as exc:
        reason = f"no answer from Teams: {type(exc).__name__}"
        raise (_CallMayBeRepeated(reason) if is_repeatable else TeamsUnreachable(reason)) from exc


async def _read_body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise aiohttp.ClientPayloadError("the answer is too long")
    return bytes(body)


def _check_status(status: int, headers: Mapping[str, str], body: bytes, *, is_repeatable: bool) -> None:
    if 200 <= status < 300:
        return
    if status == 429:
        raise TeamsThrottled(_retry_after_seconds(headers.get("Retry-After")))
    if status in _REPEATED_STATUSES or (status >= 500 and is_repeatable):
        if "Retry-After" in headers:
            raise TeamsThrottled(_retry_after_seconds(headers["Retry-After"]))
        raise _CallMayBeRepeated(f"Teams answered {status}")
    if status >= 500:
        raise TeamsUnreachable(f"Teams answered {status}")
    error = _read_error(body)
    raise TeamsRefusal(status, error.code[:_MAX_CODE_CHARACTERS] or f"status {status}", error.message)


def _retry_after_seconds(retry_after: str | None) -> float:
    """Seconds or a date, as HTTP allows; anything else counts as one second."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return 1.0


def _read_error(body: bytes) -> ConnectorErrorDetail:
    """Empty where the answer is not an error in the connector's form."""
    try:
        return ConnectorErrorResponse.model_validate_json(body).error
    except ValidationError:
        return ConnectorErrorDetail()


def _parse_body(model: type[M], body: bytes) -> M:
    """An empty answer counts as an empty object."""
    try:
        return model.model_validate_json(body.strip() or b"{}")
    except ValidationError as exc:
        raise TeamsUnreachable("Teams's answer makes no sense") from exc


def _encode_json(value: JsonObject) -> bytes:
    return json.dumps(value).encode()


def _member_of(account: MemberAccount) -> TeamsMember:
    return TeamsMember(
        id=account.id,
        object_id=account.object_id,
        tenant=account.tenant_id,
        name=account.name or "",
        email=account.email or "",  # not the sign-in name: it need not be a mailbox of the person
        role=account.user_role or "",
    )

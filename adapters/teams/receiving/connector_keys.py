"""The keys with which the Bot Connector signs: fetched from its OpenID metadata, and kept through an outage.

https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import aiohttp
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from pydantic import BaseModel, ValidationError
from structlog.typing import FilteringBoundLogger

from adapters.teams.receiving.errors import KeysUnavailable
from bot.public_network import is_secure_url

SIGNING_ALGORITHM: Final[Literal["RS256"]] = "RS256"
REFETCH_INTERVAL_S: Final = 60.0  # at least, between two fetches
_FIRST_FETCH_INTERVAL_S: Final = 5.0  # the same, as long as nothing was ever loaded
_MAX_AGE_S: Final = 24 * 3600.0  # then the keys are fetched again, and used meanwhile
_FETCH_TIMEOUT_S: Final = 8.0  # of metadata and keys together; Teams waits 15 s for a response
_MAX_DOCUMENT_BYTES: Final = 1024 * 1024
_MIN_KEY_BITS: Final = 2048


@dataclass(frozen=True, slots=True)
class ConnectorKey:
    """`endorsements`: the channels whose activities may be signed with it, such as `msteams`."""

    public_key: RSAPublicKey
    endorsements: frozenset[str]


class _OpenIdMetadata(BaseModel):
    jwks_uri: str


class _KeyDocument(BaseModel):
    keys: list[dict[str, Any]]


class _RsaKeyFields(BaseModel):
    """The fields of a key that may sign activities (RFC 7517), and the channels that it is endorsed for."""

    kid: str
    kty: Literal["RSA"]
    use: Literal["sig"] = "sig"
    alg: Literal["RS256"] = SIGNING_ALGORITHM
    n: str
    e: str
    endorsements: frozenset[str]


class _FetchFailed(Exception):
    """The metadata or the keys could not be loaded."""


class ConnectorKeys:
    """The current keys by id. One fetch at a time, which all waiting requests share."""

    def __init__(
        self, openid_url: str, log: FilteringBoundLogger, monotonic_clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._openid_url, self._log, self._clock = openid_url, log, monotonic_clock
        self._keys: Mapping[str, ConnectorKey] = MappingProxyType({})
        self._fetched_at_s, self._attempted_at_s = -_MAX_AGE_S, -_MAX_AGE_S
        self._session: aiohttp.ClientSession | None = None
        self._fetch: asyncio.Task[None] | None = None
        self._is_closed = False
        self._failure = "not asked for"  # why there are no keys, as long as nothing was ever loaded

    async def start(self) -> None:
        """Fetches the keys. An outage is logged, and the fetch repeated when a request needs a key."""
        await self._refetch_when_allowed()

    async def close(self) -> None:
        """The keys can still be found; nothing is fetched any more."""
        self._is_closed = True
        if self._fetch is not None:
            self._fetch.cancel()
            await asyncio.wait((self._fetch,))
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def find_key(self, key_id: str) -> ConnectorKey | None:
        """The key; None for an id that the Bot Connector does not use (or not yet). Raises `KeysUnavailable`."""
        if (key := self._keys.get(key_id)) is not None:
            if self._clock() - self._fetched_at_s > _MAX_AGE_S:
                self._begin_fetch_when_allowed()  # nobody waits for it
            return key
        await self._refetch_when_allowed()
        if not self._keys:
            raise KeysUnavailable(f"no signing keys yet: {self._failure}")
        return self._keys.get(key_id)

    async def _refetch_when_allowed(self) -> None:
        fetch = self._begin_fetch_when_allowed()
        if fetch is not None:
            await asyncio.wait((fetch,))

    def _begin_fetch_when_allowed(self) -> asyncio.Task[None] | None:
        """The fetch in progress, else a new one; None where the last one is too recent."""
        if self._fetch is not None and not self._fetch.done():
            return self._fetch
        now_s, interval_s = self._clock(), REFETCH_INTERVAL_S if self._keys else _FIRST_FETCH_INTERVAL_S
        if self._is_closed or now_s - self._attempted_at_s < interval_s:
            return None
        self._attempted_at_s = now_s
        self._fetch = asyncio.create_task(self._fetch_and_replace_keys())
        return self._fetch

    async def _fetch_and_replace_keys(self) -> None:
        try:
            async with asyncio.timeout(_FETCH_TIMEOUT_S):
                keys = await self._fetch_keys()
        except (_FetchFailed, TimeoutError) as exc:
            self._failure = str(exc) or "no answer"
            self._log.warning("teams signing keys not loaded", reason=self._failure, known=len(self._keys))
            return
        self._keys, self._fetched_at_s = MappingProxyType(keys), self._clock()
        self._log.info("teams signing keys loaded", keys=len(keys))

    async def _fetch_keys(self) -> dict[str, ConnectorKey]:
        try:
            metadata = _OpenIdMetadata.model_validate_json(await self._fetch_document(self._openid_url))
            if not is_secure_url(metadata.jwks_uri, allows_loopback=True):
                raise _FetchFailed("the metadata names an unsafe address")
            document = _KeyDocument.model_validate_json(await self._fetch_document(metadata.jwks_uri))
        except ValidationError as exc:
            raise _FetchFailed("not in the form of OpenID") from exc
        keys = dict(filter(None, map(_read_connector_key, document.keys)))
        if not keys:
            raise _FetchFailed("no usable key")
        return keys

    async def _fetch_document(self, url: str) -> bytes:
        self._session = self._session or aiohttp.ClientSession()
        try:
            async with self._session.get(url, allow_redirects=False) as response:
                if response.status != 200:
                    raise _FetchFailed(f"status {response.status}")
                body = bytearray()
                async for chunk in response.content.iter_any():
                    body += chunk
                    if len(body) > _MAX_DOCUMENT_BYTES:
                        raise _FetchFailed("too long")
                return bytes(body)
        except aiohttp.ClientError as exc:
            raise _FetchFailed(type(exc).__name__) from exc


def _read_connector_key(fields: Mapping[str, Any]) -> tuple[str, ConnectorKey] | None:
    """The key and its id; None for a key of another kind, which no token of the Bot Connector uses."""
    try:
        key = _RsaKeyFields.model_validate(fields)
        public_key = jwt.PyJWK.from_dict({"kty": key.kty, "n": key.n, "e": key.e}, algorithm=SIGNING_ALGORITHM).key
    except (ValidationError, jwt.PyJWTError, ValueError):
        return None
    if not isinstance(public_key, RSAPublicKey) or public_key.key_size < _MIN_KEY_BITS:
        return None
    return key.kid, ConnectorKey(public_key, key.endorsements)

"""Checks the token that comes with each activity: that the Bot Connector issued it, for this bot and this activity.

https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication#connector-to-bot
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final

import jwt
from pydantic import BaseModel, Field, ValidationError

from adapters.teams.payloads.activities import InboundActivity
from adapters.teams.receiving.connector_keys import SIGNING_ALGORITHM, ConnectorKeys
from adapters.teams.receiving.errors import UnprovenSender

CLOCK_SKEW: Final = timedelta(minutes=5)
_BEARER_TOKEN: Final = re.compile(r"(?i:bearer) +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)")
_Seconds = Annotated[float, Field(allow_inf_nan=False, strict=True)]  # since 1970


class _ConnectorClaims(BaseModel):
    iss: str
    aud: str
    exp: _Seconds
    nbf: _Seconds = 0
    service_url: Annotated[str, Field(validation_alias="serviceurl")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenToken:
    """A valid token of the Bot Connector for this bot. It does not yet say that it belongs to an activity."""

    service_url: str
    endorsements: frozenset[str]

    def check_activity(self, activity: InboundActivity) -> None:
        """Raises `UnprovenSender` for an activity that the token was not issued for."""
        if activity.service_url != self.service_url:
            raise UnprovenSender("a token for another service URL")
        if activity.channel_id not in self.endorsements:
            raise UnprovenSender("a key that is not endorsed for the channel")


class TokenCheck:
    def __init__(self, *, keys: ConnectorKeys, issuer: str, app_id: str, clock: Callable[[], datetime]) -> None:
        self._keys, self._issuer, self._app_id, self._clock = keys, issuer, app_id, clock
        self._signatures = jwt.PyJWS(algorithms=[SIGNING_ALGORITHM])

    async def check_authorization(self, header: str) -> ProvenToken:
        """`header`: the value of `Authorization`, empty where there is none.

        Raises `UnprovenSender`, `KeysUnavailable`.
        """
        match = _BEARER_TOKEN.fullmatch(header)
        if match is None:
            raise UnprovenSender("no bearer token")
        try:
            return await self._check_token(match[1])
        except jwt.PyJWTError as exc:
            raise UnprovenSender(type(exc).__name__) from None
        except ValidationError:
            raise UnprovenSender("claims of another form") from None

    async def _check_token(self, token: str) -> ProvenToken:
        header = self._signatures.get_unverified_header(token)
        key_id = header.get("kid")
        if header.get("alg") != SIGNING_ALGORITHM or not isinstance(key_id, str):
            raise UnprovenSender("another algorithm, or no key id")
        key = await self._keys.find_key(key_id)
        if key is None:
            raise UnprovenSender("an unknown key")
        payload = self._signatures.decode(token, key.public_key, algorithms=[SIGNING_ALGORITHM])
        claims = _ConnectorClaims.model_validate_json(payload)
        self._check_claims(claims)
        return ProvenToken(service_url=claims.service_url, endorsements=key.endorsements)

    def _check_claims(self, claims: _ConnectorClaims) -> None:
        now_s, skew_s = self._clock().timestamp(), CLOCK_SKEW.total_seconds()
        if claims.iss != self._issuer or claims.aud != self._app_id:
            raise UnprovenSender("another issuer or audience")
        if now_s > claims.exp + skew_s or now_s < claims.nbf - skew_s:
            raise UnprovenSender("not valid at this time")

"""The keys that sign deliveries: OpenID metadata, published keys with endorsements, rotation, and forged tokens."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.stand_ins.teams.faults import PlannedTeamsFaults, teams_fault_response

ISSUER: Final = "https://api.botframework.com"
OPENID_PATH: Final = "/v1/.well-known/openidconfiguration"
KEYS_PATH: Final = "/v1/.well-known/keys"
TOKEN_S: Final = 3600


@cache
def _private_key(number: int) -> rsa.RSAPrivateKey:
    """Returns a key, kept for all servers of the process: making one takes long."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass(kw_only=True)
class StandInKey:
    """A signing key. `endorsements`: the channels that it may sign for; None publishes none."""

    number: int
    endorsements: tuple[str, ...] | None = ("msteams",)

    @property
    def kid(self) -> str:
        return f"parley-key-{self.number}"

    @property
    def private(self) -> rsa.RSAPrivateKey:
        return _private_key(self.number)

    def describe_key(self) -> dict[str, Any]:
        """Describe the public key as the JWKS does."""
        numbers = self.private.public_key().public_numbers()
        endorsed = {} if self.endorsements is None else {"endorsements": list(self.endorsements)}
        parts = {"n": _encode_number(numbers.n), "e": _encode_number(numbers.e)}
        return {"kty": "RSA", "use": "sig", "kid": self.kid, "x5t": self.kid, **parts, **endorsed}


@dataclass(kw_only=True)
class SigningKeys:
    """The keys, of which the last signs. Requests for metadata and keys are counted."""

    published: list[StandInKey] = field(default_factory=lambda: [StandInKey(number=0)])
    metadata_requests: int = 0
    key_requests: int = 0
    made: int = 1

    @property
    def current(self) -> StandInKey:
        return self.published[-1]

    def create_key(self, **fields: Any) -> StandInKey:
        """Create a key that is not published."""
        self.made += 1
        return StandInKey(number=self.made - 1, **fields)

    def rotate_keys(self, *, keep: bool = False) -> StandInKey:
        """Sign with a new key from now on. `keep`: the old ones stay published."""
        key = self.create_key()
        self.published = [*(self.published if keep else []), key]
        return key


def sign_claims(claims: Mapping[str, Any], key: StandInKey, *, kid: str | None = None, algorithm: str = "RS256") -> str:
    """`kid`: another key id than the key's. `algorithm`: `RS256`, `none`, or `HS256` with a secret of no worth."""
    headers = {"kid": key.kid if kid is None else kid, "x5t": key.kid}
    if algorithm == "none":
        return jwt.encode(dict(claims), key="", algorithm="none", headers=headers)
    if algorithm == "HS256":
        return jwt.encode(dict(claims), key=key.kid.ljust(32, "-"), algorithm="HS256", headers=headers)
    return jwt.encode(dict(claims), key.private, algorithm=algorithm, headers=headers)


@dataclass(frozen=True, kw_only=True)
class OpenIdRoutes:
    """The routes of the metadata and of the keys. The faults are called `openid` and `keys`."""

    keys: SigningKeys
    faults: PlannedTeamsFaults
    origin: Callable[[], str]

    def server_routes(self) -> list[web.RouteDef]:
        return [web.get(OPENID_PATH, self._show_metadata), web.get(KEYS_PATH, self._show_keys)]

    async def _show_metadata(self, request: web.Request) -> web.StreamResponse:
        self.keys.metadata_requests += 1
        fault = self.faults.next_fault("openid")
        if fault is not None:
            return await teams_fault_response(request, fault)
        return web.json_response(
            {
                "issuer": ISSUER,
                "authorization_endpoint": "https://invalid.botframework.com",
                "jwks_uri": self.origin() + KEYS_PATH,
                "id_token_signing_alg_values_supported": ["RS256"],
                "token_endpoint_auth_methods_supported": ["private_key_jwt"],
            }
        )

    async def _show_keys(self, request: web.Request) -> web.StreamResponse:
        self.keys.key_requests += 1
        fault = self.faults.next_fault("keys")
        if fault is not None:
            return await teams_fault_response(request, fault)
        return web.json_response({"keys": [key.describe_key() for key in self.keys.published]})


def _encode_number(number: int) -> str:
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

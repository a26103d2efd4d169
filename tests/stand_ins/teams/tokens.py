"""The token endpoint: client credentials of an app of one tenant or of many, and a managed identity."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

from aiohttp import web

from tests.stand_ins.teams.faults import PlannedTeamsFaults, TeamsFault, teams_fault_response
from tests.stand_ins.teams.tenancy import APP_ID, TENANT

_TOKENS = itertools.count(1)
SCOPE: Final = "https://api.botframework.com/.default"
RESOURCE: Final = "https://api.botframework.com"
SHARED_TENANT: Final = "botframework.com"  # where apps of many tenants get their tokens
IDENTITY_PATH: Final = "/metadata/identity/oauth2/token"


class TokenRefused(Exception):
    """`error`: the error of OAuth; `code`: the number that Microsoft adds."""

    def __init__(self, status: int, error: str, code: int) -> None:
        super().__init__(error)
        self.status, self.error, self.code = status, error, code


@dataclass(kw_only=True)
class AppRegistration:
    """How the app is registered. `kind`: `SingleTenant`, `MultiTenant` or `UserAssignedMSI`."""

    app_id: str = APP_ID
    secret: str = "parley-app-secret"
    tenant: str = TENANT
    kind: str = "SingleTenant"

    @property
    def token_tenant(self) -> str:
        return SHARED_TENANT if self.kind == "MultiTenant" else self.tenant


@dataclass(kw_only=True)
class IssuedTokens:
    """The tokens with their times of expiry in seconds, and the number of requests."""

    lifetime_s: float = 3600
    expiries: dict[str, float] = field(default_factory=dict[str, float])
    requests: int = 0

    def issue_token(self, now: float) -> str:
        token = f"parley-token-{next(_TOKENS):06d}"
        self.expiries[token] = now + self.lifetime_s
        return token

    def is_valid(self, token: str, now: float) -> bool:
        return self.expiries.get(token, 0) > now

    def revoke_tokens(self) -> None:
        """End the validity of all tokens at once."""
        self.expiries.clear()


@dataclass(frozen=True, kw_only=True)
class TokenRoutes:
    """The routes of the token endpoint and of the managed identity. The faults are called `token`."""

    app: AppRegistration
    tokens: IssuedTokens
    faults: PlannedTeamsFaults
    clock: Callable[[], float]

    def server_routes(self) -> list[web.RouteDef]:
        return [
            web.post("/{tenant}/oauth2/v2.0/token", self._serve_credentials),
            web.get(IDENTITY_PATH, self._serve_identity),
        ]

    async def _serve_credentials(self, request: web.Request) -> web.StreamResponse:
        if request.content_type != "application/x-www-form-urlencoded":
            return _refusal_response(TokenRefused(400, "invalid_request", 900144))
        fields = dict(parse_qsl(await request.text(), keep_blank_values=True))
        return await self._serve(request, lambda: self._check_credentials(request.match_info["tenant"], fields))

    async def _serve_identity(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, lambda: self._check_identity(request), expiry_as_text=True)

    async def _serve(
        self, request: web.Request, check: Callable[[], None], *, expiry_as_text: bool = False
    ) -> web.StreamResponse:
        self.tokens.requests += 1
        fault = self.faults.next_fault("token")
        if fault is not None and fault.released_by is not None:
            await fault.released_by.wait()
        elif fault is not None:
            return await _token_fault_response(request, fault)
        try:
            check()
        except TokenRefused as exc:
            return _refusal_response(exc)
        return web.json_response(self._describe_token(expiry_as_text))

    def _describe_token(self, expiry_as_text: bool) -> dict[str, Any]:
        seconds = int(self.tokens.lifetime_s)
        token = self.tokens.issue_token(self.clock())
        if expiry_as_text:  # a managed identity answers with texts
            expires_on = str(int(self.clock()) + seconds)
            lifetime = {"expires_in": str(seconds), "expires_on": expires_on, "resource": RESOURCE}
        else:
            lifetime = {"expires_in": seconds, "ext_expires_in": seconds}
        return {"token_type": "Bearer", "access_token": token, **lifetime}

    def _check_credentials(self, tenant: str, fields: Mapping[str, str]) -> None:
        """Check a request as Entra ID does: tenant, grant, app, secret, scope."""
        if self.app.kind == "UserAssignedMSI" or fields.get("client_id") != self.app.app_id:
            raise TokenRefused(400, "unauthorized_client", 700016)
        if tenant != self.app.token_tenant:
            raise TokenRefused(400, "unauthorized_client", 700016)
        if fields.get("grant_type") != "client_credentials":
            raise TokenRefused(400, "unsupported_grant_type", 70003)
        if fields.get("client_secret") != self.app.secret:
            raise TokenRefused(401, "invalid_client", 7000215)
        if fields.get("scope") != SCOPE:
            raise TokenRefused(400, "invalid_scope", 70011)

    def _check_identity(self, request: web.Request) -> None:
        """Check a request as the metadata service of a virtual machine does."""
        if request.headers.get("Metadata", "").lower() != "true":
            raise TokenRefused(400, "bad_request_102", 102)
        query = request.query
        if not query.get("api-version") or query.get("resource", "").rstrip("/") != RESOURCE:
            raise TokenRefused(400, "invalid_resource", 101)
        if self.app.kind != "UserAssignedMSI" or query.get("client_id") != self.app.app_id:
            raise TokenRefused(400, "identity_not_found", 100)


def _refusal_response(refusal: TokenRefused) -> web.Response:
    body = {"error": refusal.error, "error_description": f"AADSTS{refusal.code}", "error_codes": [refusal.code]}
    return web.json_response(body, status=refusal.status)


async def _token_fault_response(request: web.Request, fault: TeamsFault) -> web.StreamResponse:
    if fault.code:
        return _refusal_response(TokenRefused(fault.status or 400, fault.code, 0))
    return await teams_fault_response(request, fault)

"""Installs the app in several workspaces (OAuth v2): redirects to Slack, and exchanges the returned code for tokens.

https://docs.slack.dev/authentication/installing-with-oauth
"""

import base64
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from aiohttp import web
from pydantic import SecretStr
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError
from adapters.slack.events.messages import SURFACE
from adapters.slack.payloads.responses import OAuthAccessResponse, RevokeResponse
from adapters.slack.posting.api import SlackApi
from adapters.slack.workspaces.scopes import OPTIONAL_SCOPES, REQUIRED_SCOPES
from bot.http.callers import caller_address_of
from bot.http.rate_limit import SlidingWindowLimiter
from bot.surface.installations import (
    INSTALL_TIMEOUT,
    AccessTokens,
    AppInstallations,
    NewAppInstallation,
    PendingInstall,
)

INSTALL_PATH: Final = "/slack/install"
REDIRECT_PATH: Final = "/slack/oauth_redirect"
INSTALL_COOKIE: Final = "parley_slack_install"


class OAuthClient:
    """Slack's OAuth methods, called with the app's id and secret. Call `start` and `close` once each."""

    def __init__(self, *, client_id: str, client_secret: str, base_url: str, clock: Callable[[], datetime]) -> None:
        credentials = base64.b64encode(f"{client_id}:{client_secret}".encode()).decode("ascii")
        self._api = SlackApi(token=None, base_url=base_url, headers={"Authorization": f"Basic {credentials}"})
        self._client_id, self._base_url, self._clock = client_id, base_url, clock

    async def start(self) -> None:
        await self._api.start()

    async def close(self) -> None:
        await self._api.close()

    def authorization_url(self, redirect_uri: str, state: str) -> str:
        """Returns Slack's approval page. It also lists the optional scopes, which the person may decline."""
        scopes = ",".join(sorted(REQUIRED_SCOPES | OPTIONAL_SCOPES))
        query = {"client_id": self._client_id, "scope": scopes, "redirect_uri": redirect_uri, "state": state}
        return f"{self._base_url.removesuffix('api/')}oauth/v2/authorize?{urlencode(query)}"

    async def exchange_code_for_installation(self, code: str, redirect_uri: str) -> NewAppInstallation:
        """Exchange a code, which works once. Raises `SlackError`."""
        arguments = {"code": code, "redirect_uri": redirect_uri}
        return self._installation_from_response(
            await self._api.call_method(OAuthAccessResponse, "oauth.v2.access", arguments, repeat=False)
        )

    async def exchange_refresh_token(self, refresh_token: SecretStr) -> AccessTokens:
        """Exchange a refresh token, which works once. Raises `SlackError`."""
        arguments = {"grant_type": "refresh_token", "refresh_token": refresh_token.get_secret_value()}
        return self._tokens_from_response(
            await self._api.call_method(OAuthAccessResponse, "oauth.v2.access", arguments, repeat=False)
        )

    async def revoke_access_tokens(self, tokens: AccessTokens) -> None:
        """Revoke the tokens of a rejected installation. Raises `SlackError`."""
        api = SlackApi(token=tokens.access.get_secret_value(), base_url=self._base_url)
        await api.start()
        try:
            await api.call_method(RevokeResponse, "auth.revoke")
        finally:
            await api.close()

    def _tokens_from_response(self, response: OAuthAccessResponse) -> AccessTokens:
        lifetime = None if response.expires_in is None else timedelta(seconds=response.expires_in)
        return AccessTokens(
            access=SecretStr(response.access_token),
            refresh=SecretStr(response.refresh_token) if response.refresh_token else None,
            expires_at=None if lifetime is None else self._clock() + lifetime,
        )

    def _installation_from_response(self, response: OAuthAccessResponse) -> NewAppInstallation:
        team = None if response.is_enterprise_install or response.team is None else response.team.id
        enterprise = response.enterprise.id if response.enterprise else None
        account = response.enterprise if team is None else response.team
        account_id, user = enterprise or team, response.authed_user.id if response.authed_user else "unknown"
        return NewAppInstallation(
            product=SURFACE,
            team=team,
            enterprise=enterprise,
            name=account.name if account else "",
            bot_user=response.bot_user_id,
            scopes=tuple(sorted(scope for scope in response.scope.split(",") if scope)),
            tokens=self._tokens_from_response(response),
            installed_by=f"{SURFACE}:{account_id}:{user}",
        )


class AllowedAccounts:
    """The workspaces and organisations that may use this Parley, as `PARLEY_ACCOUNTS` names them."""

    def __init__(self, accounts: Sequence[str]) -> None:
        self._accounts = frozenset(accounts)

    def is_allowed(self, installation: NewAppInstallation) -> bool:
        """Whether the installation's account is allowed. An organisation allows all its workspaces."""
        return (
            installation.account in self._accounts
            or f"{installation.product}:{installation.enterprise}" in self._accounts
        )


class OAuthRoutes:
    """The routes that begin and finish an installation.

    Only the browser that began an installation can finish it, once, within `INSTALL_TIMEOUT`.
    """

    def __init__(
        self,
        *,
        oauth: OAuthClient,
        installations: AppInstallations,
        allowed_accounts: AllowedAccounts,
        link_base: str,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._rate_limit = SlidingWindowLimiter(clock)
        self._oauth, self._installations, self._allowed_accounts, self._log = (
            oauth,
            installations,
            allowed_accounts,
            log,
        )
        self._redirect_uri, self._is_https = f"{link_base}{REDIRECT_PATH}", link_base.startswith("https:")

    def installation_routes(self) -> list[web.RouteDef]:
        return [
            web.get(INSTALL_PATH, self._begin_installation, allow_head=False),
            web.get(REDIRECT_PATH, self._finish_installation, allow_head=False),
        ]

    async def _begin_installation(self, request: web.Request) -> web.StreamResponse:
        wait_time = self._rate_limit.wait_time_for(caller_address_of(request))
        pending = await self._installations.begin_install() if wait_time is None else None
        if pending is None:
            return _too_many_response(wait_time or INSTALL_TIMEOUT)
        response = web.HTTPFound(self._oauth.authorization_url(self._redirect_uri, pending.state))
        response.set_cookie(
            INSTALL_COOKIE,
            pending.browser_token,
            max_age=int(INSTALL_TIMEOUT.total_seconds()),
            path=REDIRECT_PATH,
            httponly=True,
            secure=self._is_https,
            samesite="Lax",
        )
        raise response

    async def _finish_installation(self, request: web.Request) -> web.StreamResponse:
        pending = PendingInstall(
            state=request.query.get("state", ""), browser_token=request.cookies.get(INSTALL_COOKIE, "")
        )
        if not await self._installations.complete_install(pending):
            return _plain_text_response(
                400, "This installation was not started in this browser, or too long ago. Please start again."
            )
        if "code" not in request.query:
            return _plain_text_response(400, "Nothing was installed, since Slack says that it was not approved.")
        try:
            installation = await self._oauth.exchange_code_for_installation(request.query["code"], self._redirect_uri)
        except SlackError as exc:
            self._log.warning("slack installation failed", reason=str(exc))
            return _plain_text_response(502, f"Nothing was installed: {exc}. Please start again.")
        return await self._store_installation(installation)

    async def _store_installation(self, installation: NewAppInstallation) -> web.StreamResponse:
        if not self._allowed_accounts.is_allowed(installation):
            self._log.warning(
                "slack installation not allowed", account=installation.account, by=installation.installed_by
            )
            await self._revoke_unwanted_tokens(installation)
            return _plain_text_response(
                403, f"Parley does not serve {installation.account}: its operator can add that to PARLEY_ACCOUNTS."
            )
        await self._installations.save_installation(installation)
        self._log.info(
            "slack installed",
            account=installation.account,
            by=installation.installed_by,
            scopes=",".join(installation.scopes),
        )
        return _plain_text_response(
            200, f"Parley is installed in {installation.name or installation.account}. Open it under Apps in Slack."
        )

    async def _revoke_unwanted_tokens(self, installation: NewAppInstallation) -> None:
        try:
            await self._oauth.revoke_access_tokens(installation.tokens)
        except SlackError as exc:
            self._log.warning("slack token not revoked", account=installation.account, reason=str(exc))


def _too_many_response(retry_after: timedelta) -> web.Response:
    response = web.Response(
        status=429, text="Too many installations are being started at the moment. Please try again later.\n"
    )
    response.headers["Retry-After"] = str(max(-(-retry_after // timedelta(seconds=1)), 1))
    return response


def _plain_text_response(status: int, sentence: str) -> web.Response:
    """Returns a plain text page, in which Slack's data cannot be markup, and delete the cookie."""
    response = web.Response(status=status, text=f"{sentence}\n")
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.del_cookie(INSTALL_COOKIE, path=REDIRECT_PATH)
    return response

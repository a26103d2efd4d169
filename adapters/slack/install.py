"""Installing in several workspaces (OAuth v2): to Slack's page and back with a code, which is worth a token.

https://docs.slack.dev/authentication/installing-with-oauth
"""

import base64
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from aiohttp import web
from pydantic import BaseModel, SecretStr
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.errors import SlackFailed
from adapters.slack.inbound import SURFACE
from adapters.slack.knocking import Knocks
from adapters.slack.scopes import OPTIONAL, REQUIRED
from bot.installations import MAY_TAKE, Begun, Installations, NewInstallation, Tokens

INSTALL: Final = "/slack/install"
REDIRECT: Final = "/slack/oauth_redirect"
COOKIE: Final = "parley_slack_install"


class _Ids(BaseModel):
    id: str
    name: str = ""


class _Person(BaseModel):
    id: str


class Granted(BaseModel):
    """`oauth.v2.access`, for a code or a refresh token. Of a whole organisation, it names no team."""

    access_token: str
    refresh_token: str | None = None
    expires_in: int | None = None
    scope: str = ""
    bot_user_id: str
    team: _Ids | None = None
    enterprise: _Ids | None = None
    is_enterprise_install: bool = False
    authed_user: _Person | None = None


class _Revoked(BaseModel):
    revoked: bool


class OAuth:
    """The app's own doings at Slack, with its id and secret. `start` and `close` once each."""

    def __init__(self, *, client_id: str, client_secret: str, base_url: str, clock: Callable[[], datetime]) -> None:
        who = base64.b64encode(f"{client_id}:{client_secret}".encode()).decode("ascii")
        self._api = SlackApi(token=None, base_url=base_url, headers={"Authorization": f"Basic {who}"})
        self._client_id, self._base_url, self._clock = client_id, base_url, clock

    async def start(self) -> None:
        await self._api.start()

    async def close(self) -> None:
        await self._api.close()

    def page(self, redirect_uri: str, state: str) -> str:
        """Where a person approves. Optional scopes are asked for as well: Slack lets them be left out."""
        scopes = ",".join(sorted(REQUIRED | OPTIONAL))
        asked = {"client_id": self._client_id, "scope": scopes, "redirect_uri": redirect_uri, "state": state}
        return f"{self._base_url.removesuffix('api/')}oauth/v2/authorize?{urlencode(asked)}"

    async def granted(self, code: str, redirect_uri: str) -> NewInstallation:
        """For a code, once. Raises `SlackFailed`."""
        asked = {"code": code, "redirect_uri": redirect_uri}
        return self._installation(await self._api.call(Granted, "oauth.v2.access", asked, repeat=False))

    async def refreshed(self, refresh: SecretStr) -> Tokens:
        """For a refresh token, once: it is dead then. Raises `SlackFailed`."""
        asked = {"grant_type": "refresh_token", "refresh_token": refresh.get_secret_value()}
        return self._tokens(await self._api.call(Granted, "oauth.v2.access", asked, repeat=False))

    async def give_back(self, tokens: Tokens) -> None:
        """Of an installation that is not wanted. Raises `SlackFailed`."""
        api = SlackApi(token=tokens.access.get_secret_value(), base_url=self._base_url)
        await api.start()
        try:
            await api.call(_Revoked, "auth.revoke")
        finally:
            await api.close()

    def _tokens(self, granted: Granted) -> Tokens:
        lasts = None if granted.expires_in is None else timedelta(seconds=granted.expires_in)
        return Tokens(
            access=SecretStr(granted.access_token),
            refresh=SecretStr(granted.refresh_token) if granted.refresh_token else None,
            expires_at=None if lasts is None else self._clock() + lasts,
        )

    def _installation(self, granted: Granted) -> NewInstallation:
        team = None if granted.is_enterprise_install or granted.team is None else granted.team.id
        enterprise = granted.enterprise.id if granted.enterprise else None
        named = granted.enterprise if team is None else granted.team
        home, user = enterprise or team, granted.authed_user.id if granted.authed_user else "unknown"
        return NewInstallation(
            product=SURFACE,
            team=team,
            enterprise=enterprise,
            name=named.name if named else "",
            bot_user=granted.bot_user_id,
            scopes=tuple(sorted(one for one in granted.scope.split(",") if one)),
            tokens=self._tokens(granted),
            installed_by=f"{SURFACE}:{home}:{user}",
        )


class Allowed:
    """The workspaces and organisations that may use this Parley, as `PARLEY_ACCOUNTS` names them."""

    def __init__(self, accounts: Sequence[str]) -> None:
        self._accounts = frozenset(accounts)

    def serve(self, one: NewInstallation) -> bool:
        """A workspace counts as named where its organisation is."""
        return one.account in self._accounts or f"{one.product}:{one.enterprise}" in self._accounts


class Installing:
    """The two addresses. What a browser has begun only that browser ends, once, within `MAY_TAKE`."""

    def __init__(
        self,
        *,
        oauth: OAuth,
        installations: Installations,
        allowed: Allowed,
        link_base: str,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._knocks = Knocks(clock)
        self._oauth, self._installations, self._allowed, self._log = oauth, installations, allowed, log
        self._redirect_uri, self._is_https = f"{link_base}{REDIRECT}", link_base.startswith("https:")

    def routes(self) -> list[web.RouteDef]:
        return [web.get(INSTALL, self._begin, allow_head=False), web.get(REDIRECT, self._end, allow_head=False)]

    async def _begin(self, request: web.Request) -> web.StreamResponse:
        wait = self._knocks.wait(_caller(request))
        begun = await self._installations.begin() if wait is None else None
        if begun is None:
            return _later(wait or MAY_TAKE)
        answer = web.HTTPFound(self._oauth.page(self._redirect_uri, begun.state))
        answer.set_cookie(
            COOKIE,
            begun.browser,
            max_age=int(MAY_TAKE.total_seconds()),
            path=REDIRECT,
            httponly=True,
            secure=self._is_https,
            samesite="Lax",
        )
        raise answer

    async def _end(self, request: web.Request) -> web.StreamResponse:
        begun = Begun(state=request.query.get("state", ""), browser=request.cookies.get(COOKIE, ""))
        if not await self._installations.end(begun):
            return _said(400, "This installation was not begun in this browser, or too long ago. Please begin anew.")
        if "code" not in request.query:
            return _said(400, "Nothing was installed, since Slack says that it was not approved.")
        try:
            new = await self._oauth.granted(request.query["code"], self._redirect_uri)
        except SlackFailed as exc:
            self._log.warning("slack installation failed", reason=str(exc))
            return _said(502, f"Nothing was installed: {exc}. Please begin anew.")
        return await self._kept(new)

    async def _kept(self, new: NewInstallation) -> web.StreamResponse:
        if not self._allowed.serve(new):
            self._log.warning("slack installation not allowed", account=new.account, by=new.installed_by)
            await self._given_back(new)
            return _said(403, f"Parley does not serve {new.account}: its operator can add that to PARLEY_ACCOUNTS.")
        await self._installations.put(new)
        self._log.info("slack installed", account=new.account, by=new.installed_by, scopes=",".join(new.scopes))
        return _said(200, f"Parley is installed in {new.name or new.account}. Open it under Apps in Slack.")

    async def _given_back(self, new: NewInstallation) -> None:
        try:
            await self._oauth.give_back(new.tokens)
        except SlackFailed as exc:
            self._log.warning("slack token not revoked", account=new.account, reason=str(exc))


def _caller(request: web.Request) -> str:
    """A proxy on this machine says for whom it asks; others are whom they come from."""
    peer = request.remote or ""
    told = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    return told if told and peer in {"127.0.0.1", "::1"} else peer


def _later(wait: timedelta) -> web.Response:
    answer = web.Response(status=429, text="Too many installations are begun at the moment. Please try again later.\n")
    answer.headers["Retry-After"] = str(max(-(-wait // timedelta(seconds=1)), 1))
    return answer


def _said(status: int, sentence: str) -> web.Response:
    """As plain text, in which nothing that Slack sent can be markup; the cookie has done its work."""
    answer = web.Response(status=status, text=f"{sentence}\n")
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.del_cookie(COOKIE, path=REDIRECT)
    return answer

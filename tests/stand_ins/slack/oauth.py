"""`oauth.v2.access` and `auth.*`: codes exchanged once, tokens that rotate, and whose a token is."""

from dataclasses import replace
from typing import Any, Final

from tests.stand_ins.slack.methods import ApiError, Caller, Methods
from tests.stand_ins.slack.sockets import CONNECTIONS
from tests.stand_ins.slack.state import APP_TOKEN, Installation, State
from tests.stand_ins.slack.workspace import APP, BOT_ID, Workspace

METHODS = Methods()
CODE_S: Final = 600
TOKEN_S: Final = 43_200


@METHODS.method("oauth.v2.access", holds="nothing", tier=4)
def access(
    caller: Caller,
    client_id: str = "",
    client_secret: str = "",
    code: str = "",
    redirect_uri: str = "",
    grant_type: str = "authorization_code",
    refresh_token: str = "",
) -> dict[str, Any]:
    slack = caller.slack
    if client_id != slack.client_id:
        raise ApiError("invalid_client_id")
    if client_secret != slack.client_secret:
        raise ApiError("bad_client_secret")
    match grant_type:
        case "authorization_code":
            return _installed(slack, code, redirect_uri)
        case "refresh_token":
            return _rotated(slack, refresh_token)
        case _:
            raise ApiError("invalid_grant_type")


@METHODS.method("auth.test", reads=True, tier=0)
def test(caller: Caller) -> dict[str, Any]:
    """Of an installation for a whole organisation, the team is the organisation."""
    place, installed = caller.workspace, caller.installation
    team = installed.enterprise if installed.is_org_wide else place.team
    found = {"team_id": team, "team": place.name, "user_id": place.bot_user, "bot_id": BOT_ID}
    kind = {"enterprise_id": place.enterprise, "is_enterprise_install": installed.is_org_wide}
    return {**found, "url": caller.slack.origin, **kind}


@METHODS.method("auth.revoke", reads=True)
def revoke(caller: Caller, test: bool = False) -> dict[str, Any]:
    caller.installation.revoked = not test
    return {"revoked": not test}


@METHODS.method("apps.connections.open", holds="app", tier=1)
def open_connection(caller: Caller) -> dict[str, Any]:
    slack = caller.slack
    if not slack.socket_mode:
        raise ApiError("socket_mode_not_enabled")
    if len(slack.sockets.connections) >= CONNECTIONS:
        raise ApiError("too_many_websockets")
    return {"url": f"{slack.origin.replace('http', 'ws', 1)}/link?ticket={slack.sockets.ticket()}&app_id={APP}"}


def caller_with(slack: State, token: str, arguments: dict[str, Any] | None = None) -> Caller:
    """Of a bot's token, in the workspace that the arguments are about. Raises `ApiError`."""
    if not token:
        raise ApiError("not_authed")
    installed = slack.installations.get(token)
    if installed is None:
        raise ApiError("not_allowed_token_type" if token == APP_TOKEN else "invalid_auth")
    if installed.revoked:
        raise ApiError("token_revoked")
    if installed.expires is not None and slack.clock() >= installed.expires:
        raise ApiError("token_expired")
    place = _meant(slack, installed, arguments or {})
    scopes = slack.scopes if installed.scopes is None else installed.scopes
    return Caller(slack=slack, workspace=place, scopes=scopes, installation=installed)


def caller_for_app(slack: State, token: str) -> Caller:
    """Of the app's own token, which is good for connections only."""
    if not token:
        raise ApiError("not_authed")
    if token != APP_TOKEN:
        raise ApiError("not_allowed_token_type" if token in slack.installations else "invalid_auth")
    return nobody(slack)


def nobody(slack: State) -> Caller:
    empty = Installation(place=slack.workspace)
    return Caller(slack=slack, workspace=slack.workspace, scopes=frozenset(), installation=empty)


def _meant(slack: State, installed: Installation, arguments: dict[str, Any]) -> Workspace:
    if not installed.is_org_wide:
        return installed.place
    places = [one for one in slack.workspaces if one.enterprise == installed.enterprise]
    named = {str(arguments[name]) for name in _NAMING if name in arguments}
    for place in places:
        known = {place.team, *place.channels, *place.users, *place.groups, *place.files}
        if named & known:
            return place
    return installed.place


_NAMING: Final = ("team_id", "channel", "channel_id", "user", "users", "user_id", "usergroup", "file")


def _installed(slack: State, code: str, redirect_uri: str) -> dict[str, Any]:
    given = slack.codes.get(code)
    if given is None or slack.clock() > given.made + CODE_S:
        raise ApiError("invalid_code")
    if given.used:
        raise ApiError("code_already_used")
    if redirect_uri != given.redirect_uri:
        raise ApiError("bad_redirect_uri")
    given.used = True
    return _issued(slack, replace(given.grants))


def _rotated(slack: State, refresh_token: str) -> dict[str, Any]:
    """The old token lives on until it expires; the old refresh token is dead at once."""
    found = [one for one in slack.installations.values() if one.refresh == refresh_token]
    if not refresh_token or not found or found[0].revoked:
        raise ApiError("invalid_refresh_token")
    [old] = found
    fresh = replace(old)
    old.refresh = None
    return _issued(slack, fresh)


def _issued(slack: State, installed: Installation) -> dict[str, Any]:
    number, place = slack.next_id(), installed.place
    token, rotation = f"xoxb-{place.team}-{number}", {}
    if slack.rotation:
        token = f"xoxe.{token}"
        installed.refresh, installed.expires = f"xoxe-1-{number}", slack.clock() + TOKEN_S
        rotation = {"refresh_token": installed.refresh, "expires_in": TOKEN_S}
    slack.installations[token] = installed
    grid = {"id": installed.enterprise, "name": "Grid"} if installed.enterprise else None
    return {
        "access_token": token,
        "token_type": "bot",
        "scope": ",".join(sorted(installed.scopes or slack.scopes)),
        "bot_user_id": place.bot_user,
        "app_id": APP,
        "team": None if installed.is_org_wide else {"id": place.team, "name": place.name},
        "enterprise": grid,
        "is_enterprise_install": installed.is_org_wide,
        "authed_user": {"id": installed.user},
        **rotation,
    }

"""`oauth.v2.access`, `auth.*` and `apps.connections.open`: single-use codes, rotating tokens, and identities."""

from dataclasses import replace
from typing import Any, Final

from tests.stand_ins.slack.methods import ApiError, MethodCaller, MethodTable
from tests.stand_ins.slack.sockets import CONNECTIONS
from tests.stand_ins.slack.state import APP_TOKEN, SlackState, TokenInstallation
from tests.stand_ins.slack.workspace import APP, BOT_ID, StandInWorkspace

METHODS = MethodTable()
CODE_S: Final = 600
TOKEN_S: Final = 43_200


@METHODS.register_method("oauth.v2.access", holds="nothing", tier=4)
def exchange_token(
    caller: MethodCaller,
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
            return _install_with_code(slack, code, redirect_uri)
        case "refresh_token":
            return _rotate_token(slack, refresh_token)
        case _:
            raise ApiError("invalid_grant_type")


@METHODS.register_method("auth.test", reads=True, tier=0)
def test_token(caller: MethodCaller) -> dict[str, Any]:
    """Returns the identity of a token. An organisation-wide installation has the organisation as team."""
    workspace, installation = caller.workspace, caller.installation
    team = installation.enterprise if installation.is_org_wide else workspace.team
    identity = {"team_id": team, "team": workspace.name, "user_id": workspace.bot_user, "bot_id": BOT_ID}
    account_fields = {"enterprise_id": workspace.enterprise, "is_enterprise_install": installation.is_org_wide}
    return {**identity, "url": caller.slack.origin, **account_fields}


@METHODS.register_method("auth.revoke", reads=True)
def revoke_token(caller: MethodCaller, test: bool = False) -> dict[str, Any]:
    caller.installation.revoked = not test
    return {"revoked": not test}


@METHODS.register_method("apps.connections.open", holds="app", tier=1)
def open_connection(caller: MethodCaller) -> dict[str, Any]:
    slack = caller.slack
    if not slack.socket_mode:
        raise ApiError("socket_mode_not_enabled")
    if len(slack.sockets.connections) >= CONNECTIONS:
        raise ApiError("too_many_websockets")
    return {"url": f"{slack.origin.replace('http', 'ws', 1)}/link?ticket={slack.sockets.create_ticket()}&app_id={APP}"}


def caller_with(slack: SlackState, token: str, arguments: dict[str, Any] | None = None) -> MethodCaller:
    """Returns the caller of a bot token, in the workspace that the arguments name. Raises `ApiError`."""
    if not token:
        raise ApiError("not_authed")
    installation = slack.installations.get(token)
    if installation is None:
        raise ApiError("not_allowed_token_type" if token == APP_TOKEN else "invalid_auth")
    if installation.revoked:
        raise ApiError("token_revoked")
    if installation.expires is not None and slack.clock() >= installation.expires:
        raise ApiError("token_expired")
    workspace = _workspace_meant_by(slack, installation, arguments or {})
    scopes = slack.scopes if installation.scopes is None else installation.scopes
    return MethodCaller(slack=slack, workspace=workspace, scopes=scopes, installation=installation)


def caller_for_app(slack: SlackState, token: str) -> MethodCaller:
    """Returns the caller of the app-level token, which is valid for connections only. Raises `ApiError`."""
    if not token:
        raise ApiError("not_authed")
    if token != APP_TOKEN:
        raise ApiError("not_allowed_token_type" if token in slack.installations else "invalid_auth")
    return caller_without_token(slack)


def caller_without_token(slack: SlackState) -> MethodCaller:
    empty = TokenInstallation(workspace=slack.workspace)
    return MethodCaller(slack=slack, workspace=slack.workspace, scopes=frozenset(), installation=empty)


def _workspace_meant_by(slack: SlackState, installed: TokenInstallation, arguments: dict[str, Any]) -> StandInWorkspace:
    if not installed.is_org_wide:
        return installed.workspace
    candidates = [workspace for workspace in slack.workspaces if workspace.enterprise == installed.enterprise]
    ids = {str(arguments[name]) for name in _NAMING if name in arguments}
    for candidate in candidates:
        known_ids = {candidate.team, *candidate.channels, *candidate.users, *candidate.groups, *candidate.files}
        if ids & known_ids:
            return candidate
    return installed.workspace


_NAMING: Final = ("team_id", "channel", "channel_id", "user", "users", "user_id", "usergroup", "file")


def _install_with_code(slack: SlackState, code: str, redirect_uri: str) -> dict[str, Any]:
    stored_code = slack.codes.get(code)
    if stored_code is None or slack.clock() > stored_code.created_at_s + CODE_S:
        raise ApiError("invalid_code")
    if stored_code.used:
        raise ApiError("code_already_used")
    if redirect_uri != stored_code.redirect_uri:
        raise ApiError("bad_redirect_uri")
    stored_code.used = True
    return _issue_token(slack, replace(stored_code.installation))


def _rotate_token(slack: SlackState, refresh_token: str) -> dict[str, Any]:
    """Exchange a refresh token, which becomes invalid at once. The old access token stays valid until it expires."""
    matching = [installation for installation in slack.installations.values() if installation.refresh == refresh_token]
    if not refresh_token or not matching or matching[0].revoked:
        raise ApiError("invalid_refresh_token")
    [previous] = matching
    successor = replace(previous)
    previous.refresh = None
    return _issue_token(slack, successor)


def _issue_token(slack: SlackState, installed: TokenInstallation) -> dict[str, Any]:
    number, workspace = slack.next_id(), installed.workspace
    token, rotation = f"xoxb-{workspace.team}-{number}", {}
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
        "bot_user_id": workspace.bot_user,
        "app_id": APP,
        "team": None if installed.is_org_wide else {"id": workspace.team, "name": workspace.name},
        "enterprise": grid,
        "is_enterprise_install": installed.is_org_wide,
        "authed_user": {"id": installed.user},
        **rotation,
    }

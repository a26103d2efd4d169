"""`users.*`: descriptions of people."""

from typing import Any, Final

from tests.stand_ins.slack.messages import page_of
from tests.stand_ins.slack.methods import ApiError, MethodCaller, MethodTable
from tests.stand_ins.slack.workspace import SlackMember, StandInWorkspace

METHODS = MethodTable()
EMAIL_SCOPE: Final = "users:read.email"


@METHODS.register_method("users.info", "users:read", reads=True, tier=4)
def user_info(caller: MethodCaller, user: str, include_locale: bool = False) -> dict[str, Any]:
    person = _find_user(caller.workspace, user)
    if person is None:
        raise ApiError("user_not_found")
    with_email = EMAIL_SCOPE in caller.scopes
    return {"user": describe_user(caller.workspace, person, with_locale=include_locale, with_email=with_email)}


@METHODS.register_method("users.list", "users:read", reads=True, tier=2)
def list_users(
    caller: MethodCaller, limit: int = 100, cursor: str = "", include_locale: bool = False, team_id: str | None = None
) -> dict[str, Any]:
    """List all people, including the app's own user and deactivated ones."""
    workspace, with_email = caller.workspace, EMAIL_SCOPE in caller.scopes
    people = [*workspace.users.values(), workspace.bot_member()]
    described = [describe_user(workspace, user, with_locale=include_locale, with_email=with_email) for user in people]
    return page_of(described, "members", limit, cursor)


def describe_user(
    workspace: StandInWorkspace, user: SlackMember, *, with_locale: bool = False, with_email: bool = False
) -> dict[str, Any]:
    email = {"email": user.email} if with_email and user.email else {}
    fields: dict[str, Any] = {
        "id": user.id,
        "team_id": user.team,
        "name": user.name,
        "tz": user.time_zone,
        "is_bot": user.id == workspace.bot_user,
        "deleted": user.deleted,
        "is_restricted": user.is_guest,
        "is_ultra_restricted": False,
        "is_stranger": user.is_stranger,
        "is_email_confirmed": user.has_confirmed_email,
        "profile": {"display_name": user.name, "real_name": user.name, **email},
    }
    locale = {"locale": user.locale} if with_locale else {}
    grid = (
        {"enterprise_user": {"id": user.id, "enterprise_id": user.enterprise, "teams": [user.team]}}
        if user.enterprise
        else {}
    )
    return {**fields, **locale, **grid}


def _find_user(workspace: StandInWorkspace, user: str) -> SlackMember | None:
    return workspace.bot_member() if user == workspace.bot_user else workspace.users.get(user)

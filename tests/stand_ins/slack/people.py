"""`users.*`: descriptions of people."""

from typing import Any

from tests.stand_ins.slack.messages import page_of
from tests.stand_ins.slack.methods import ApiError, MethodCaller, MethodTable
from tests.stand_ins.slack.workspace import SlackMember, StandInWorkspace

METHODS = MethodTable()


@METHODS.register_method("users.info", "users:read", reads=True, tier=4)
def user_info(caller: MethodCaller, user: str, include_locale: bool = False) -> dict[str, Any]:
    person = _find_user(caller.workspace, user)
    if person is None:
        raise ApiError("user_not_found")
    return {"user": describe_user(caller.workspace, person, with_locale=include_locale)}


@METHODS.register_method("users.list", "users:read", reads=True, tier=2)
def list_users(
    caller: MethodCaller, limit: int = 100, cursor: str = "", include_locale: bool = False, team_id: str | None = None
) -> dict[str, Any]:
    """List all people, including the app's own user and deactivated ones."""
    workspace = caller.workspace
    people = [*workspace.users.values(), workspace.bot_member()]
    return page_of(
        [describe_user(workspace, user, with_locale=include_locale) for user in people], "members", limit, cursor
    )


def describe_user(workspace: StandInWorkspace, user: SlackMember, *, with_locale: bool = False) -> dict[str, Any]:
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
        "profile": {"display_name": user.name, "real_name": user.name},
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

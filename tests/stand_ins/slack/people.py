"""`users.*`: who somebody is."""

from typing import Any

from tests.stand_ins.slack.messages import page
from tests.stand_ins.slack.methods import ApiError, Caller, Methods
from tests.stand_ins.slack.workspace import User, Workspace

METHODS = Methods()


@METHODS.method("users.info", "users:read", reads=True, tier=4)
def info(caller: Caller, user: str, include_locale: bool = False) -> dict[str, Any]:
    known = _known(caller.workspace, user)
    if known is None:
        raise ApiError("user_not_found")
    return {"user": described(caller.workspace, known, with_locale=include_locale)}


@METHODS.method("users.list", "users:read", reads=True, tier=2)
def every(
    caller: Caller, limit: int = 100, cursor: str = "", include_locale: bool = False, team_id: str | None = None
) -> dict[str, Any]:
    """The app's own user among them, and those who are gone."""
    place = caller.workspace
    people = [*place.users.values(), place.bot()]
    return page([described(place, one, with_locale=include_locale) for one in people], "members", limit, cursor)


def described(workspace: Workspace, user: User, *, with_locale: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {
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
    return {**found, **locale, **grid}


def _known(workspace: Workspace, user: str) -> User | None:
    return workspace.bot() if user == workspace.bot_user else workspace.users.get(user)

"""`usergroups.*`: groups of people, and who is in them."""

from typing import Any

from tests.stand_ins.slack.methods import ApiError, Caller, Methods
from tests.stand_ins.slack.workspace import Usergroup, Workspace

METHODS = Methods()


@METHODS.method("usergroups.list", "usergroups:read", reads=True, tier=2)
def every(
    caller: Caller,
    include_count: bool = False,
    include_disabled: bool = False,
    include_users: bool = False,
    team_id: str | None = None,
) -> dict[str, Any]:
    place = caller.workspace
    groups = [one for one in place.groups.values() if include_disabled or not one.disabled]
    return {"usergroups": [described(place, one, with_users=include_users) for one in groups]}


@METHODS.method("usergroups.users.list", "usergroups:read", reads=True, tier=2)
def members(
    caller: Caller, usergroup: str, include_disabled: bool = False, team_id: str | None = None
) -> dict[str, Any]:
    group = caller.workspace.groups.get(usergroup)
    if group is None or (group.disabled and not include_disabled):
        raise ApiError("no_such_subteam")
    return {"users": list(group.members)}


def described(workspace: Workspace, group: Usergroup, *, with_users: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": group.id,
        "team_id": workspace.team,
        "is_usergroup": True,
        "name": group.name,
        "handle": group.handle,
        "is_external": False,
        "date_delete": 1 if group.disabled else 0,
        "user_count": len(group.members),
    }
    return {**found, **({"users": list(group.members)} if with_users else {})}

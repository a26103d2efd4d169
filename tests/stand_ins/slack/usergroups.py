"""`usergroups.*`: user groups and their members."""

from typing import Any

from tests.stand_ins.slack.methods import ApiError, MethodCaller, MethodTable
from tests.stand_ins.slack.workspace import SlackUsergroup, StandInWorkspace

METHODS = MethodTable()


@METHODS.register_method("usergroups.list", "usergroups:read", reads=True, tier=2)
def list_usergroups(
    caller: MethodCaller,
    include_count: bool = False,
    include_disabled: bool = False,
    include_users: bool = False,
    team_id: str | None = None,
) -> dict[str, Any]:
    workspace = caller.workspace
    groups = [group for group in workspace.groups.values() if include_disabled or not group.disabled]
    return {"usergroups": [describe_usergroup(workspace, group, with_users=include_users) for group in groups]}


@METHODS.register_method("usergroups.users.list", "usergroups:read", reads=True, tier=2)
def list_usergroup_members(
    caller: MethodCaller, usergroup: str, include_disabled: bool = False, team_id: str | None = None
) -> dict[str, Any]:
    group = caller.workspace.groups.get(usergroup)
    if group is None or (group.disabled and not include_disabled):
        raise ApiError("no_such_subteam")
    return {"users": list(group.members)}


def describe_usergroup(
    workspace: StandInWorkspace, group: SlackUsergroup, *, with_users: bool = False
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": group.id,
        "team_id": workspace.team,
        "is_usergroup": True,
        "name": group.name,
        "handle": group.handle,
        "is_external": False,
        "date_delete": 1 if group.disabled else 0,
        "user_count": len(group.members),
    }
    return {**fields, **({"users": list(group.members)} if with_users else {})}

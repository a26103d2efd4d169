"""`conversations.*`: channels, who is in them, what was said there."""

from typing import Any

from tests.stand_ins.slack.messages import page, shown
from tests.stand_ins.slack.methods import ABOUT, HISTORY, ApiError, Caller, Methods

METHODS = Methods()


@METHODS.method("conversations.open", "im:write")
def open_direct(caller: Caller, users: str) -> dict[str, Any]:
    if "," in users:
        raise ApiError("missing_scope")  # mpim:write, which Parley has no use for
    if users == caller.workspace.bot_user:
        raise ApiError("cannot_dm_bot")
    if users not in caller.workspace.users:
        raise ApiError("user_not_found")
    if caller.workspace.users[users].deleted:
        raise ApiError("user_disabled")
    return {"channel": {"id": caller.workspace.direct(users).id}}


@METHODS.method("conversations.info", *ABOUT.values(), reads=True)
def info(
    caller: Caller, channel: str, include_locale: bool = False, include_num_members: bool = False
) -> dict[str, Any]:
    place = caller.readable(channel, ABOUT)
    found: dict[str, Any] = {
        "id": channel,
        f"is_{place.kind}": True,
        "is_private": place.kind != "channel",
        "is_archived": place.is_archived,
        "is_ext_shared": place.is_ext_shared,
        "is_pending_ext_shared": place.is_pending_ext_shared,
        "is_member": caller.workspace.bot_user in place.members,
    }
    named = {"user": place.members[0]} if place.kind == "im" else {"name": place.name}
    counted = {"num_members": len(place.members)} if include_num_members else {}
    return {"channel": {**found, **named, **counted}}


@METHODS.method("conversations.members", *ABOUT.values(), reads=True, tier=4)
def members(caller: Caller, channel: str, limit: int = 100, cursor: str = "") -> dict[str, Any]:
    return page(caller.readable(channel, ABOUT).members, "members", limit, cursor)


@METHODS.method("conversations.replies", *HISTORY.values(), reads=True)
def replies(
    caller: Caller,
    channel: str,
    ts: str,
    oldest: str = "0",
    inclusive: bool = False,
    include_all_metadata: bool = False,
    limit: int = 100,
    cursor: str = "",
) -> dict[str, Any]:
    caller.readable(channel, HISTORY)
    thread = caller.workspace.thread(channel, ts)
    if not thread:
        raise ApiError("thread_not_found")
    lasting = [one for one in thread if one.only_for is None]  # what one person was told is kept nowhere
    found = [one for one in lasting if one.ts > oldest or (inclusive and one.ts == oldest)]
    told = [shown(caller.workspace, one, with_metadata=include_all_metadata) for one in found]
    return page(told, "messages", limit, cursor)


@METHODS.method("conversations.history", *HISTORY.values(), reads=True)
def history(
    caller: Caller, channel: str, include_all_metadata: bool = False, limit: int = 100, cursor: str = ""
) -> dict[str, Any]:
    caller.readable(channel, HISTORY)
    newest_first = reversed(caller.workspace.messages)
    found = [one for one in newest_first if one.channel == channel and one.thread_ts is None]
    told = [shown(caller.workspace, one, with_metadata=include_all_metadata) for one in found]
    return page(told, "messages", limit, cursor)

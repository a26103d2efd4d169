"""`conversations.*`: channels, who is in them, what was said there."""

from typing import Any

from tests.stand_ins.slack.messages import page, shown
from tests.stand_ins.slack.methods import ABOUT, HISTORY, ApiError, Caller, Methods

METHODS = Methods()


@METHODS.method("conversations.open", "im:write")
def open_direct(caller: Caller, users: str) -> dict[str, Any]:
    if users not in caller.workspace.users:
        raise ApiError("user_not_found")
    return {"channel": {"id": caller.workspace.direct(users).id}}


@METHODS.method("conversations.info", *ABOUT.values(), reads=True)
def info(caller: Caller, channel: str, include_locale: bool = False) -> dict[str, Any]:
    place = caller.readable(channel, ABOUT)
    return {"channel": {"id": channel, f"is_{place.kind}": True, "is_ext_shared": place.is_ext_shared}}


@METHODS.method("conversations.members", *ABOUT.values(), reads=True)
def members(caller: Caller, channel: str, limit: int = 100, cursor: str = "0") -> dict[str, Any]:
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
    cursor: str = "0",
) -> dict[str, Any]:
    caller.readable(channel, HISTORY)
    thread = caller.workspace.thread(channel, ts)
    if not thread:
        raise ApiError("thread_not_found")
    found = [one for one in thread if one.ts > oldest or (inclusive and one.ts == oldest)]
    told = [shown(caller.workspace, one, with_metadata=include_all_metadata) for one in found]
    return page(told, "messages", limit, cursor)


@METHODS.method("conversations.history", *HISTORY.values(), reads=True)
def history(
    caller: Caller, channel: str, include_all_metadata: bool = False, limit: int = 100, cursor: str = "0"
) -> dict[str, Any]:
    caller.readable(channel, HISTORY)
    newest_first = reversed(caller.workspace.messages)
    found = [one for one in newest_first if one.channel == channel and one.thread_ts is None]
    told = [shown(caller.workspace, one, with_metadata=include_all_metadata) for one in found]
    return page(told, "messages", limit, cursor)

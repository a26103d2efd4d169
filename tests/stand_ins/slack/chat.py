"""`chat.*`: messages posted and changed."""

from typing import Any

from tests.stand_ins.slack.checker import check_message
from tests.stand_ins.slack.messages import added, pace, posted, rewrite
from tests.stand_ins.slack.methods import ApiError, Caller, Methods

METHODS = Methods()


@METHODS.method("chat.postMessage", "chat:write", tier=0)
def post_message(
    caller: Caller,
    channel: str,
    thread_ts: str | None = None,
    unfurl_links: bool = True,
    unfurl_media: bool = True,
    **content: Any,
) -> dict[str, Any]:
    caller.writable(channel)
    if thread_ts is not None and not caller.workspace.thread(channel, thread_ts):
        raise ApiError("thread_not_found")
    if unfurl_links or unfurl_media:
        raise ApiError("unfurls_not_switched_off")  # Parley's own rule
    check_message(content)
    pace(caller, channel)
    posted(caller.workspace, channel, thread_ts)
    message = added(caller.workspace, channel, thread_ts, content)
    return {"channel": channel, "ts": message.ts}


@METHODS.method("chat.postEphemeral", "chat:write", tier=4)
def post_ephemeral(
    caller: Caller, channel: str, user: str, thread_ts: str | None = None, **content: Any
) -> dict[str, Any]:
    place = caller.writable(channel)
    if user not in place.members:
        raise ApiError("user_not_in_channel")
    check_message(content)
    message = added(caller.workspace, channel, thread_ts, content)
    message.only_for = user
    return {"message_ts": message.ts}


@METHODS.method("chat.update", "chat:write")
def update(caller: Caller, channel: str, ts: str, **content: Any) -> dict[str, Any]:
    caller.writable(channel)
    message = caller.workspace.message(channel, ts)
    if message is None or message.only_for is not None:
        raise ApiError("message_not_found")
    if message.user != caller.workspace.bot_user:
        raise ApiError("cant_update_message")
    if message.stream is not None:
        raise ApiError("streaming_state_conflict")
    check_message(content)
    rewrite(message, content)
    return {"channel": channel, "ts": ts}


@METHODS.method("chat.delete", "chat:write")
def delete(caller: Caller, channel: str, ts: str) -> dict[str, Any]:
    caller.writable(channel)
    message = caller.workspace.message(channel, ts)
    if message is None or message.only_for is not None:
        raise ApiError("message_not_found")
    if message.user != caller.workspace.bot_user:
        raise ApiError("cant_delete_message")
    caller.workspace.messages.remove(message)
    return {"channel": channel, "ts": ts}

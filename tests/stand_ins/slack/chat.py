"""`chat.*`: posts, updates and deletes messages."""

from typing import Any

from tests.stand_ins.slack.checker import check_message
from tests.stand_ins.slack.messages import add_message, clear_status_after_post, enforce_post_interval, rewrite_message
from tests.stand_ins.slack.methods import ApiError, MethodCaller, MethodTable

METHODS = MethodTable()


@METHODS.register_method("chat.postMessage", "chat:write", tier=0)
def post_message(
    caller: MethodCaller,
    channel: str,
    thread_ts: str | None = None,
    unfurl_links: bool = True,
    unfurl_media: bool = True,
    **content: Any,
) -> dict[str, Any]:
    caller.writable_channel(channel)
    if thread_ts is not None and not caller.workspace.messages_of_thread(channel, thread_ts):
        raise ApiError("thread_not_found")
    if unfurl_links or unfurl_media:
        raise ApiError("unfurls_not_switched_off")  # Parley's own rule
    check_message(content)
    enforce_post_interval(caller, channel)
    clear_status_after_post(caller.workspace, channel, thread_ts)
    message = add_message(caller.workspace, channel, thread_ts, content)
    return {"channel": channel, "ts": message.ts}


@METHODS.register_method("chat.postEphemeral", "chat:write", tier=4)
def post_ephemeral(
    caller: MethodCaller, channel: str, user: str, thread_ts: str | None = None, **content: Any
) -> dict[str, Any]:
    conversation = caller.writable_channel(channel)
    if user not in conversation.members:
        raise ApiError("user_not_in_channel")
    check_message(content)
    message = add_message(caller.workspace, channel, thread_ts, content)
    message.visible_to = user
    return {"message_ts": message.ts}


@METHODS.register_method("chat.update", "chat:write")
def update(caller: MethodCaller, channel: str, ts: str, **content: Any) -> dict[str, Any]:
    caller.writable_channel(channel)
    message = caller.workspace.find_message(channel, ts)
    if message is None or message.visible_to is not None:
        raise ApiError("message_not_found")
    if message.user != caller.workspace.bot_user:
        raise ApiError("cant_update_message")
    if message.stream is not None:
        raise ApiError("streaming_state_conflict")
    check_message(content)
    rewrite_message(message, content)
    return {"channel": channel, "ts": ts}


@METHODS.register_method("chat.delete", "chat:write")
def delete(caller: MethodCaller, channel: str, ts: str) -> dict[str, Any]:
    caller.writable_channel(channel)
    message = caller.workspace.find_message(channel, ts)
    if message is None or message.visible_to is not None:
        raise ApiError("message_not_found")
    if message.user != caller.workspace.bot_user:
        raise ApiError("cant_delete_message")
    caller.workspace.messages.remove(message)
    return {"channel": channel, "ts": ts}

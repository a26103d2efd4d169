"""`conversations.*`: channels, their members and their messages."""

from typing import Any

from tests.stand_ins.slack.messages import describe_message, page_of
from tests.stand_ins.slack.methods import ABOUT, HISTORY, ApiError, MethodCaller, MethodTable

METHODS = MethodTable()


@METHODS.register_method("conversations.open", "im:write")
def open_direct_conversation(caller: MethodCaller, users: str) -> dict[str, Any]:
    if "," in users:
        raise ApiError("missing_scope")  # mpim:write, which Parley does not need
    if users == caller.workspace.bot_user:
        raise ApiError("cannot_dm_bot")
    if users not in caller.workspace.users:
        raise ApiError("user_not_found")
    if caller.workspace.users[users].deleted:
        raise ApiError("user_disabled")
    return {"channel": {"id": caller.workspace.direct_channel_of(users).id}}


@METHODS.register_method("conversations.info", *ABOUT.values(), reads=True)
def conversation_info(
    caller: MethodCaller, channel: str, include_locale: bool = False, include_num_members: bool = False
) -> dict[str, Any]:
    conversation = caller.readable_channel(channel, ABOUT)
    fields: dict[str, Any] = {
        "id": channel,
        f"is_{conversation.kind}": True,
        "is_private": conversation.kind != "channel",
        "is_archived": conversation.is_archived,
        "is_ext_shared": conversation.is_ext_shared,
        "is_pending_ext_shared": conversation.is_pending_ext_shared,
        "is_member": caller.workspace.bot_user in conversation.members,
    }
    name_fields = {"user": conversation.members[0]} if conversation.kind == "im" else {"name": conversation.name}
    count_fields = {"num_members": len(conversation.members)} if include_num_members else {}
    return {"channel": {**fields, **name_fields, **count_fields}}


@METHODS.register_method("conversations.members", *ABOUT.values(), reads=True, tier=4)
def conversation_members(caller: MethodCaller, channel: str, limit: int = 100, cursor: str = "") -> dict[str, Any]:
    return page_of(caller.readable_channel(channel, ABOUT).members, "members", limit, cursor)


@METHODS.register_method("conversations.replies", *HISTORY.values(), reads=True)
def conversation_replies(
    caller: MethodCaller,
    channel: str,
    ts: str,
    oldest: str = "0",
    inclusive: bool = False,
    include_all_metadata: bool = False,
    limit: int = 100,
    cursor: str = "",
) -> dict[str, Any]:
    caller.readable_channel(channel, HISTORY)
    thread = caller.workspace.messages_of_thread(channel, ts)
    if not thread:
        raise ApiError("thread_not_found")
    stored = [message for message in thread if message.visible_to is None]  # ephemeral messages are not stored
    messages = [message for message in stored if message.ts > oldest or (inclusive and message.ts == oldest)]
    described = [
        describe_message(caller.workspace, message, with_metadata=include_all_metadata) for message in messages
    ]
    return page_of(described, "messages", limit, cursor)


@METHODS.register_method("conversations.history", *HISTORY.values(), reads=True)
def conversation_history(
    caller: MethodCaller, channel: str, include_all_metadata: bool = False, limit: int = 100, cursor: str = ""
) -> dict[str, Any]:
    caller.readable_channel(channel, HISTORY)
    newest_first = reversed(caller.workspace.messages)
    messages = [message for message in newest_first if message.channel == channel and message.thread_ts is None]
    described = [
        describe_message(caller.workspace, message, with_metadata=include_all_metadata) for message in messages
    ]
    return page_of(described, "messages", limit, cursor)

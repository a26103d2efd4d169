"""Messages of the app: made, changed, shown."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.stand_ins.slack.methods import ApiError, Caller
from tests.stand_ins.slack.workspace import APP, BOT_ID, Message, Workspace

MOST: Final = 1_000
_CURSOR: Final = "bmV4dDox"


def added(workspace: Workspace, channel: str, thread_ts: str | None, content: Mapping[str, Any]) -> Message:
    message = Message(ts=workspace.next_ts(), channel=channel, user=workspace.bot_user, text="", thread_ts=thread_ts)
    rewrite(message, content)
    message.edits = 0
    workspace.messages.append(message)
    return message


def rewrite(message: Message, content: Mapping[str, Any]) -> None:
    """Metadata that is not given stays as it was; tasks that a stream told of go with what the message said."""
    unknown = content.keys() - {"text", "blocks", "metadata", "link_names", "parse", "mrkdwn"}
    if unknown:
        raise ApiError(f"invalid_arguments: {sorted(unknown)}")
    message.text, message.blocks = content["text"], list(content.get("blocks") or [])
    message.metadata = content.get("metadata", message.metadata)
    message.tasks = []
    message.edits += 1


def pace(caller: Caller, channel: str) -> None:
    """New messages, one a second in each channel."""
    slack, now = caller.slack, caller.slack.clock()
    if slack.one_a_second and now - slack.last_post.get(channel, 0) < 1:
        raise ApiError("ratelimited")
    slack.last_post[channel] = now


def posted(workspace: Workspace, channel: str, thread_ts: str | None) -> None:
    """What the app says ends what it is shown to be doing there."""
    workspace.shown.pop((channel, thread_ts or ""), None)


def shown(workspace: Workspace, message: Message, *, with_metadata: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "message", "ts": message.ts, "user": message.user, "text": message.text}
    if message.user == workspace.bot_user:
        found |= {"bot_id": BOT_ID, "app_id": APP}
    if message.blocks:
        found["blocks"] = message.blocks
    if message.thread_ts:
        found["thread_ts"] = message.thread_ts
    if message.files:
        found["files"] = [workspace.files[one].told() for one in message.files]
    if with_metadata and message.metadata:
        found["metadata"] = message.metadata
    return found


def page(items: Sequence[Any], name: str, limit: int, cursor: str) -> dict[str, Any]:
    """A page of a list. The cursor of the last page is empty; cursors are ours to read, nobody else's."""
    if not 1 <= limit <= MOST:
        raise ApiError("invalid_limit")
    start = _start(cursor)
    after = f"{_CURSOR}{start + limit}=" if start + limit < len(items) else ""
    return {name: list(items[start : start + limit]), "response_metadata": {"next_cursor": after}}


def _start(cursor: str) -> int:
    number = cursor.removeprefix(_CURSOR).removesuffix("=")
    if cursor and not number.isdigit():
        raise ApiError("invalid_cursor")
    return int(number or 0)

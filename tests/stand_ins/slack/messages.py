"""Creates, changes and describes messages of the app."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.stand_ins.slack.methods import ApiError, MethodCaller
from tests.stand_ins.slack.workspace import APP, BOT_ID, SlackMessage, StandInWorkspace

MOST: Final = 1_000
_CURSOR: Final = "bmV4dDox"


def add_message(
    workspace: StandInWorkspace, channel: str, thread_ts: str | None, content: Mapping[str, Any]
) -> SlackMessage:
    message = SlackMessage(
        ts=workspace.next_ts(), channel=channel, user=workspace.bot_user, text="", thread_ts=thread_ts
    )
    rewrite_message(message, content)
    message.edits = 0
    workspace.messages.append(message)
    return message


def rewrite_message(message: SlackMessage, content: Mapping[str, Any]) -> None:
    """Replace a message's content. Metadata remains unless given; the tasks of a stream are removed."""
    unknown = content.keys() - {"text", "blocks", "metadata", "link_names", "parse", "mrkdwn"}
    if unknown:
        raise ApiError(f"invalid_arguments: {sorted(unknown)}")
    message.text, message.blocks = content["text"], list(content.get("blocks") or [])
    message.metadata = content.get("metadata", message.metadata)
    message.tasks = []
    message.edits += 1


def enforce_post_interval(caller: MethodCaller, channel: str) -> None:
    """Enforce one new message per second and channel. Raises `ApiError`."""
    slack, now = caller.slack, caller.slack.clock()
    if slack.limits_posts and now - slack.last_post.get(channel, 0) < 1:
        raise ApiError("ratelimited")
    slack.last_post[channel] = now


def clear_status_after_post(workspace: StandInWorkspace, channel: str, thread_ts: str | None) -> None:
    """Clear the thread's status, as each new message of the app does."""
    workspace.status_lines.pop((channel, thread_ts or ""), None)


def describe_message(
    workspace: StandInWorkspace, message: SlackMessage, *, with_metadata: bool = False
) -> dict[str, Any]:
    described: dict[str, Any] = {"type": "message", "ts": message.ts, "user": message.user, "text": message.text}
    if message.user == workspace.bot_user:
        described |= {"bot_id": BOT_ID, "app_id": APP}
    if message.blocks:
        described["blocks"] = message.blocks
    if message.thread_ts:
        described["thread_ts"] = message.thread_ts
    if message.files:
        described["files"] = [workspace.files[file_id].describe_file() for file_id in message.files]
    if with_metadata and message.metadata:
        described["metadata"] = message.metadata
    return described


def page_of(items: Sequence[Any], name: str, limit: int, cursor: str) -> dict[str, Any]:
    """Returns a page of a list with an opaque cursor, which is empty on the last page."""
    if not 1 <= limit <= MOST:
        raise ApiError("invalid_limit")
    start = _start_of_page(cursor)
    next_cursor = f"{_CURSOR}{start + limit}=" if start + limit < len(items) else ""
    return {name: list(items[start : start + limit]), "response_metadata": {"next_cursor": next_cursor}}


def _start_of_page(cursor: str) -> int:
    number = cursor.removeprefix(_CURSOR).removesuffix("=")
    if cursor and not number.isdigit():
        raise ApiError("invalid_cursor")
    return int(number or 0)

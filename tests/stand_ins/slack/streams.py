"""`chat.startStream`, `chat.appendStream` and `chat.stopStream`: messages that grow."""

from collections.abc import Sequence
from typing import Any, Final, cast

from tests.stand_ins.slack.checker import BLOCKS, MARKDOWN, check_blocks, check_metadata, check_sums
from tests.stand_ins.slack.messages import clear_status_after_post, enforce_post_interval
from tests.stand_ins.slack.methods import ApiError, MethodCaller, MethodTable
from tests.stand_ins.slack.refusing import PayloadRefused, is_text, utf16_length
from tests.stand_ins.slack.sessions import STATUSES
from tests.stand_ins.slack.workspace import AgentSession, MessageStream, SlackChannel, SlackMessage, StandInWorkspace

METHODS = MethodTable()
TITLE: Final = 255
IDLE_S: Final = 300  # not documented; a measurement showed that a stream has ended after five minutes
_TASK: Final = {"id", "title", "status"}
_OF_TASKS: Final = {*_TASK, "type", "details", "output", "sources"}


@METHODS.register_method("chat.startStream", "chat:write", tier=2)
def start_stream(
    caller: MethodCaller,
    channel: str,
    thread_ts: str,
    markdown_text: str | None = None,
    chunks: list[dict[str, Any]] | None = None,
    recipient_user_id: str | None = None,
    recipient_team_id: str | None = None,
    task_display_mode: str = "timeline",
) -> dict[str, Any]:
    conversation = caller.writable_channel(channel)
    if not caller.workspace.messages_of_thread(channel, thread_ts):
        raise ApiError("thread_not_found")
    _check_recipient(caller, conversation, recipient_user_id, recipient_team_id)
    if task_display_mode not in {"timeline", "plan"}:
        raise ApiError("invalid_arguments")
    stream = MessageStream(mode=task_display_mode, touched_at_s=caller.slack.clock())
    received = _chunks_from(markdown_text, chunks)
    _apply_chunks(stream, received)
    enforce_post_interval(caller, channel)
    clear_status_after_post(caller.workspace, channel, thread_ts)
    bot_user = caller.workspace.bot_user
    message = SlackMessage(ts=caller.workspace.next_ts(), channel=channel, user=bot_user, text="", thread_ts=thread_ts)
    message.stream = stream
    _show_stream(message, [])
    caller.workspace.messages.append(message)
    return {"channel": channel, "ts": message.ts}


@METHODS.register_method("chat.appendStream", "chat:write", tier=4)
def append_stream(
    caller: MethodCaller,
    channel: str,
    ts: str,
    markdown_text: str | None = None,
    chunks: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    message, stream = _open_stream_of(caller, channel, ts)
    received = _chunks_from(markdown_text, chunks)
    if not received:
        raise ApiError("no_text")
    _apply_chunks(stream, received)
    stream.touched_at_s = caller.slack.clock()
    _show_stream(message, [])
    message.edits += 1
    return {"channel": channel, "ts": ts}


@METHODS.register_method("chat.stopStream", "chat:write", tier=2)
def stop_stream(
    caller: MethodCaller,
    channel: str,
    ts: str,
    markdown_text: str | None = None,
    chunks: list[dict[str, Any]] | None = None,
    blocks: list[dict[str, Any]] | None = None,
    metadata: dict[str, Any] | None = None,
    session_status: str | None = None,
) -> dict[str, Any]:
    message, stream = _open_stream_of(caller, channel, ts)
    if session_status is not None and session_status not in STATUSES:
        raise ApiError("invalid_arguments")
    if metadata is not None:
        check_metadata(metadata)
    final_blocks = blocks or []
    check_blocks(final_blocks)
    _apply_chunks(stream, _chunks_from(markdown_text, chunks))
    _show_stream(message, final_blocks)
    if not message.blocks:
        raise ApiError("no_text")
    check_sums(message.blocks)
    message.stream, message.metadata = None, metadata
    message.edits += 1
    if session_status is not None:
        key = (channel, message.thread_ts or "")
        caller.workspace.sessions.setdefault(key, AgentSession(status=session_status)).status = session_status
    return {"channel": channel, "ts": ts, "message": {"text": message.text, "blocks": message.blocks, "ts": ts}}


def end_thread_streams(place: StandInWorkspace, channel: str, thread_ts: str) -> list[str]:
    """End all streams of a thread as Slack does; return their timestamps."""
    streaming = [message for message in place.messages_of_thread(channel, thread_ts) if message.stream is not None]
    for message in streaming:
        message.stream = None
    return [message.ts for message in streaming]


def _open_stream_of(caller: MethodCaller, channel: str, ts: str) -> tuple[SlackMessage, MessageStream]:
    caller.writable_channel(channel)
    message = caller.workspace.find_message(channel, ts)
    if message is None:
        raise ApiError("message_not_found")
    if message.user != caller.workspace.bot_user:
        raise ApiError("message_not_owned_by_app")
    if message.stream is not None and caller.slack.clock() - message.stream.touched_at_s > IDLE_S:
        message.stream = None
    if message.stream is None:
        raise ApiError("message_not_in_streaming_state")
    return message, message.stream


def _check_recipient(caller: MethodCaller, channel: SlackChannel, user: str | None, team: str | None) -> None:
    """Check that a stream in a channel names its recipient."""
    if channel.kind == "im":
        return
    if not team:
        raise ApiError("missing_recipient_team_id")
    if not user:
        raise ApiError("missing_recipient_user_id")
    if user not in channel.members:
        raise ApiError("user_not_in_channel")
    recipient = caller.workspace.users.get(user)
    if recipient is not None and recipient.team != team:
        raise ApiError("invalid_arguments")  # the person is of another workspace


def _chunks_from(markdown_text: str | None, chunks: Sequence[dict[str, Any]] | None) -> list[dict[str, Any]]:
    if markdown_text is not None and chunks:
        raise ApiError("invalid_arguments")  # one or the other
    if markdown_text is not None:
        return [{"type": "markdown_text", "text": markdown_text}]
    return list(chunks or [])


def _apply_chunks(stream: MessageStream, chunks: Sequence[dict[str, Any]]) -> None:
    """Apply all chunks, or none if one is invalid."""
    updated = MessageStream(mode=stream.mode, touched_at_s=stream.touched_at_s, text=stream.text, plan=stream.plan)
    updated.tasks, updated.blocks = dict(stream.tasks), list(stream.blocks)
    for chunk in chunks:
        _apply_chunk(updated, chunk)
    if utf16_length(updated.text) > MARKDOWN:
        raise ApiError("msg_too_long")
    stream.text, stream.plan, stream.tasks, stream.blocks = updated.text, updated.plan, updated.tasks, updated.blocks


def _apply_chunk(stream: MessageStream, chunk: dict[str, Any]) -> None:
    match chunk.get("type"):
        case "markdown_text" if chunk.keys() == {"type", "text"} and isinstance(chunk["text"], str) and chunk["text"]:
            stream.text += chunk["text"]
        case "plan_update" if chunk.keys() == {"type", "title"} and is_text(chunk["title"], TITLE):
            stream.plan = chunk["title"]
        case "task_update" if _is_task(chunk):
            stream.tasks[chunk["id"]] = {**stream.tasks.get(chunk["id"], {}), **chunk}
        case "blocks" if chunk.keys() == {"type", "blocks"}:
            _apply_blocks(stream, chunk["blocks"])
        case _:
            raise ApiError("invalid_chunks")


def _apply_blocks(stream: MessageStream, blocks: object) -> None:
    check_blocks(blocks)
    stream.blocks += cast(list[dict[str, Any]], blocks)
    if len(stream.blocks) > BLOCKS:
        raise PayloadRefused("invalid_blocks", f"{len(stream.blocks)} blocks in chunks")


def _is_task(chunk: dict[str, Any]) -> bool:
    has_known_keys = chunk.keys() <= _OF_TASKS and chunk.keys() >= _TASK
    has_texts = has_known_keys and all(is_text(chunk[name], TITLE) for name in ("id", "title"))
    return has_texts and chunk["status"] in {"pending", "in_progress", "complete", "error"}


def _show_stream(message: SlackMessage, final_blocks: Sequence[dict[str, Any]]) -> None:
    """Update the message: first the text, then the blocks of its chunks, then the final blocks."""
    stream = message.stream
    if stream is not None:
        text = [{"type": "markdown", "text": stream.text}] if stream.text.strip() else []
        message.text, message.blocks = stream.text, [*text, *stream.blocks, *final_blocks]
        message.tasks = list(stream.tasks.values())

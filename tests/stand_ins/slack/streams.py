"""`chat.startStream`, `appendStream`, `stopStream`: one message that grows while it is read."""

from collections.abc import Sequence
from typing import Any, Final, cast

from tests.stand_ins.slack.checker import BLOCKS, MARKDOWN, check_blocks, check_metadata, check_sums
from tests.stand_ins.slack.messages import pace, posted
from tests.stand_ins.slack.methods import ApiError, Caller, Methods
from tests.stand_ins.slack.refusing import Refused, is_text, length
from tests.stand_ins.slack.sessions import STATUSES
from tests.stand_ins.slack.workspace import Channel, Message, Session, Stream, Workspace

METHODS = Methods()
TITLE: Final = 255
IDLE_S: Final = 300  # nobody tells how long exactly; somebody measured that five minutes are too many
_TASK: Final = {"id", "title", "status"}
_OF_TASKS: Final = {*_TASK, "type", "details", "output", "sources"}


@METHODS.method("chat.startStream", "chat:write", tier=2)
def start(
    caller: Caller,
    channel: str,
    thread_ts: str,
    markdown_text: str | None = None,
    chunks: list[dict[str, Any]] | None = None,
    recipient_user_id: str | None = None,
    recipient_team_id: str | None = None,
    task_display_mode: str = "timeline",
) -> dict[str, Any]:
    place = caller.writable(channel)
    if not caller.workspace.thread(channel, thread_ts):
        raise ApiError("thread_not_found")
    _check_recipient(caller, place, recipient_user_id, recipient_team_id)
    if task_display_mode not in {"timeline", "plan"}:
        raise ApiError("invalid_arguments")
    stream = Stream(mode=task_display_mode, touched=caller.slack.clock())
    told = _chunks(markdown_text, chunks)
    _take(stream, told)
    pace(caller, channel)
    posted(caller.workspace, channel, thread_ts)
    own = caller.workspace.bot_user
    message = Message(ts=caller.workspace.next_ts(), channel=channel, user=own, text="", thread_ts=thread_ts)
    message.stream = stream
    _show(message, [])
    caller.workspace.messages.append(message)
    return {"channel": channel, "ts": message.ts}


@METHODS.method("chat.appendStream", "chat:write", tier=4)
def append(
    caller: Caller,
    channel: str,
    ts: str,
    markdown_text: str | None = None,
    chunks: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    message, stream = _streaming(caller, channel, ts)
    told = _chunks(markdown_text, chunks)
    if not told:
        raise ApiError("no_text")
    _take(stream, told)
    stream.touched = caller.slack.clock()
    _show(message, [])
    message.edits += 1
    return {"channel": channel, "ts": ts}


@METHODS.method("chat.stopStream", "chat:write", tier=2)
def stop(
    caller: Caller,
    channel: str,
    ts: str,
    markdown_text: str | None = None,
    chunks: list[dict[str, Any]] | None = None,
    blocks: list[dict[str, Any]] | None = None,
    metadata: dict[str, Any] | None = None,
    session_status: str | None = None,
) -> dict[str, Any]:
    message, stream = _streaming(caller, channel, ts)
    if session_status is not None and session_status not in STATUSES:
        raise ApiError("invalid_arguments")
    if metadata is not None:
        check_metadata(metadata)
    below = blocks or []
    check_blocks(below)
    _take(stream, _chunks(markdown_text, chunks))
    _show(message, below)
    if not message.blocks:
        raise ApiError("no_text")
    check_sums(message.blocks)
    message.stream, message.metadata = None, metadata
    message.edits += 1
    if session_status is not None:
        key = (channel, message.thread_ts or "")
        caller.workspace.sessions.setdefault(key, Session(status=session_status)).status = session_status
    return {"channel": channel, "ts": ts, "message": {"text": message.text, "blocks": message.blocks, "ts": ts}}


def ended(place: Workspace, channel: str, thread_ts: str) -> list[str]:
    """Ends all streams of a thread on Slack's side. Their timestamps."""
    streaming = [one for one in place.thread(channel, thread_ts) if one.stream is not None]
    for message in streaming:
        message.stream = None
    return [message.ts for message in streaming]


def _streaming(caller: Caller, channel: str, ts: str) -> tuple[Message, Stream]:
    caller.writable(channel)
    message = caller.workspace.message(channel, ts)
    if message is None:
        raise ApiError("message_not_found")
    if message.user != caller.workspace.bot_user:
        raise ApiError("message_not_owned_by_app")
    if message.stream is not None and caller.slack.clock() - message.stream.touched > IDLE_S:
        message.stream = None
    if message.stream is None:
        raise ApiError("message_not_in_streaming_state")
    return message, message.stream


def _check_recipient(caller: Caller, place: Channel, user: str | None, team: str | None) -> None:
    """Where several read, the one it is for is named."""
    if place.kind == "im":
        return
    if not team:
        raise ApiError("missing_recipient_team_id")
    if not user:
        raise ApiError("missing_recipient_user_id")
    if user not in place.members:
        raise ApiError("user_not_in_channel")
    known = caller.workspace.users.get(user)
    if known is not None and known.team != team:
        raise ApiError("invalid_arguments")  # the person is of another workspace


def _chunks(markdown_text: str | None, chunks: Sequence[dict[str, Any]] | None) -> list[dict[str, Any]]:
    if markdown_text is not None and chunks:
        raise ApiError("invalid_arguments")  # one or the other
    if markdown_text is not None:
        return [{"type": "markdown_text", "text": markdown_text}]
    return list(chunks or [])


def _take(stream: Stream, chunks: Sequence[dict[str, Any]]) -> None:
    """All of them, or none."""
    grown = Stream(mode=stream.mode, touched=stream.touched, text=stream.text, plan=stream.plan)
    grown.tasks, grown.blocks = dict(stream.tasks), list(stream.blocks)
    for chunk in chunks:
        _take_one(grown, chunk)
    if length(grown.text) > MARKDOWN:
        raise ApiError("msg_too_long")
    stream.text, stream.plan, stream.tasks, stream.blocks = grown.text, grown.plan, grown.tasks, grown.blocks


def _take_one(stream: Stream, chunk: dict[str, Any]) -> None:
    match chunk.get("type"):
        case "markdown_text" if chunk.keys() == {"type", "text"} and isinstance(chunk["text"], str) and chunk["text"]:
            stream.text += chunk["text"]
        case "plan_update" if chunk.keys() == {"type", "title"} and is_text(chunk["title"], TITLE):
            stream.plan = chunk["title"]
        case "task_update" if _is_task(chunk):
            stream.tasks[chunk["id"]] = {**stream.tasks.get(chunk["id"], {}), **chunk}
        case "blocks" if chunk.keys() == {"type", "blocks"}:
            _take_blocks(stream, chunk["blocks"])
        case _:
            raise ApiError("invalid_chunks")


def _take_blocks(stream: Stream, blocks: object) -> None:
    check_blocks(blocks)
    stream.blocks += cast(list[dict[str, Any]], blocks)
    if len(stream.blocks) > BLOCKS:
        raise Refused("invalid_blocks", f"{len(stream.blocks)} blocks in chunks")


def _is_task(chunk: dict[str, Any]) -> bool:
    known = chunk.keys() <= _OF_TASKS and chunk.keys() >= _TASK
    named = known and all(is_text(chunk[name], TITLE) for name in ("id", "title"))
    return named and chunk["status"] in {"pending", "in_progress", "complete", "error"}


def _show(message: Message, below: Sequence[dict[str, Any]]) -> None:
    """The text first, then blocks that came with it, then those of the end."""
    stream = message.stream
    if stream is not None:
        text = [{"type": "markdown", "text": stream.text}] if stream.text.strip() else []
        message.text, message.blocks = stream.text, [*text, *stream.blocks, *below]
        message.tasks = list(stream.tasks.values())

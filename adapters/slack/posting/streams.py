"""Message streams: a long turn shows its progress in a message that later becomes the answer.

Only progress is streamed, because answers are checked before they are shown. Each progress update is a task, and the
end of the stream brings the blocks of the answer (https://docs.slack.dev/reference/methods/chat.startStream). A stream
begins only where Slack's own button can stop the work and where the app can read the thread: a stream carries no turn
id before its end, so the app must be able to find it again in the thread.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cachetools import FIFOCache
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError, SlackRateLimited, SlackRefusal
from adapters.slack.payloads.responses import OkResponse, PostedMessageResponse
from adapters.slack.posting.api import SlackApi
from adapters.slack.posting.token_bucket import TokenBucket
from bot.ids import PersonId
from bot.surface.markdown import strip_control_characters

MAX_OPEN_STREAMS: Final = 8  # together with `per_minute`, fewer than the 20 stream ends that Slack allows in a minute
APPENDS_PER_MINUTE, APPENDS_BURST = 60, 20
NOT_STREAMING: Final = "message_not_in_streaming_state"  # the stream timed out or was ended already
STILL_STREAMING: Final = "streaming_state_conflict"
IDLE_TIMEOUT_S: Final = 300.0  # Slack ends an idle stream after this time
REFUSAL_TTL_S: Final = 3_600.0  # how long a refusal is remembered
_MAX_TITLE_CHARACTERS, _MAX_TASKS, _MAX_REMEMBERED = 250, 30, 1_000
_NUMBER = re.compile(r"\d[\d.,]*")
_CHANNEL_REFUSALS: Final = {  # refusals that apply to one channel or one person only
    "channel_not_found",
    "channel_type_not_supported",
    "is_archived",
    "missing_recipient_team_id",
    "missing_recipient_user_id",
    "not_in_channel",
    "not_in_thread",
    "restricted_action",
    "thread_not_found",
    "user_not_in_channel",
    "user_not_found",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPace:
    """How often streams begin.

    A turn answered within `patience_s` needs no stream. `per_minute` streams may begin, up to `burst` of them at once.
    """

    patience_s: float = 2.0
    per_minute: int = 6
    burst: int = 4


class _TaskTimeline:
    """The tasks that a stream shows. `all_known`: no other process has added tasks to the stream."""

    def __init__(self, now: float, *, all_known: bool = True) -> None:
        self.touched_at_s, self.all_known = now, all_known
        self._last_title, self._task_ids = "", set[str]()
        self._open_titles: dict[str, str] = {}  # task id -> title, of tasks that may be shown as in progress

    def completion_chunks(self) -> list[dict[str, str]]:
        return [_task_update_chunk(id_, title, "complete") for id_, title in self._open_titles.items()]

    def chunks_for_task(self, text: str) -> list[dict[str, str]]:
        """Returns the chunks that show a progress text as the current task.

        Returns none for a repeated text or beyond the task limit. Texts that differ only in their numbers are one task.
        `mark_delivered` records that the chunks arrived.
        """
        title: str = (
            " ".join(strip_control_characters(text).replace("<", "‹").replace(">", "›").split())[:_MAX_TITLE_CHARACTERS]
            or "…"
        )
        id_ = _NUMBER.sub("#", title)
        if title == self._last_title or (id_ not in self._task_ids and len(self._task_ids) >= _MAX_TASKS):
            return []
        self._task_ids.add(id_)
        completed_chunks = [
            _task_update_chunk(other_id, other_title, "complete")
            for other_id, other_title in self._open_titles.items()
            if other_id != id_
        ]
        self._open_titles[id_] = title
        return [*completed_chunks, _task_update_chunk(id_, title, "in_progress")]

    def mark_delivered(self, now: float, chunks: Sequence[Mapping[str, str]]) -> None:
        last_chunk = chunks[-1]
        self.touched_at_s, self._last_title, self._open_titles = (
            now,
            last_chunk["title"],
            {last_chunk["id"]: last_chunk["title"]},
        )


class MessageStreams:
    """The streams of one workspace that this process has begun or taken over."""

    def __init__(self, api: SlackApi, log: FilteringBoundLogger, pace: StreamPace) -> None:
        self.patience_s = pace.patience_s
        self._api, self._log = api, log
        self._timelines: FIFOCache[tuple[str, str], _TaskTimeline] = FIFOCache(_MAX_REMEMBERED)
        self._begin_limit = TokenBucket(per_minute=pace.per_minute, burst=pace.burst, clock=api.clock)
        self._append_limit = TokenBucket(per_minute=APPENDS_PER_MINUTE, burst=APPENDS_BURST, clock=api.clock)
        # channel -> time; the empty channel stands for all
        self._refused_until: FIFOCache[str, float] = FIFOCache(_MAX_REMEMBERED)
        self._readable_channels: FIFOCache[str, bool] = FIFOCache(_MAX_REMEMBERED)

    def may_begin_stream(self, address: Mapping[str, str], person: PersonId) -> bool:
        """Whether nothing known in this process prevents a stream. Does not call Slack."""
        now, channel = self._api.clock(), address["channel"]
        is_refused = any(self._refused_until.get(scope, now) > now for scope in ("", channel))
        has_room = (
            sum(timeline.touched_at_s > now - IDLE_TIMEOUT_S for timeline in self._timelines.values())
            < MAX_OPEN_STREAMS
        )
        return (
            has_room
            and not is_refused
            and self._readable_channels.get(channel, True)
            and _recipient_arguments(address, person) is not None
        )

    async def is_thread_readable(self, address: Mapping[str, str]) -> bool:
        """Whether the app can read the thread's messages. Calls Slack once per channel."""
        channel = address["channel"]
        if channel not in self._readable_channels:
            request = {"channel": channel, "ts": address["thread_ts"], "limit": 1}
            try:
                await self._api.call_method(OkResponse, "conversations.replies", request, attempts=1)
            except SlackRefusal:
                self._note_readable_channel(channel, is_channel_readable=False)
            except SlackError:
                return False
            else:
                self._note_readable_channel(channel, is_channel_readable=True)
        return self._readable_channels[channel]

    async def begin_stream(self, address: Mapping[str, str], person: PersonId, text: str) -> str | None:
        """Begin a stream with its first task and return its message; None where Slack allows none.

        Raises `SlackUnreachable` when it is unknown whether the stream began.
        """
        if not self._begin_limit.try_take_token():
            return None
        timeline = _TaskTimeline(self._api.clock())
        chunks = timeline.chunks_for_task(text)
        arguments = {
            "channel": address["channel"],
            "thread_ts": address["thread_ts"],
            "task_display_mode": "timeline",
            "chunks": chunks,
            **(_recipient_arguments(address, person) or {}),
        }
        try:
            response = await self._api.call_method(
                PostedMessageResponse, "chat.startStream", arguments, repeat=False, attempts=1
            )
        except SlackRateLimited:
            return None
        except SlackRefusal as exc:
            self._note_refused_stream(address["channel"], exc.error)
            return None
        timeline.mark_delivered(self._api.clock(), chunks)
        self._remember_stream(address["channel"], response.ts, timeline)
        return response.ts

    def has_open_stream(self, channel: str, message: str) -> bool:
        return (channel, message) in self._timelines

    def adopt_stream(self, channel: str, message: str) -> None:
        """Track a stream that another process began, or that this process began without receiving the answer."""
        self._remember_stream(channel, message, _TaskTimeline(self._api.clock(), all_known=False))

    def forget_stream(self, channel: str, message: str) -> None:
        self._timelines.pop((channel, message), None)

    async def append_stream_task(self, channel: str, message: str, text: str) -> None:
        """Add the next task to the stream. Raises `SlackError`."""
        timeline = self._timelines[(channel, message)]
        chunks = timeline.chunks_for_task(text)
        if not chunks:
            return
        if not self._append_limit.try_take_token():
            raise SlackRateLimited(1.0)
        arguments = {"channel": channel, "ts": message, "chunks": chunks}
        await self._api.call_method(OkResponse, "chat.appendStream", arguments, repeat=False, attempts=1)
        timeline.mark_delivered(self._api.clock(), chunks)

    async def end_stream(self, channel: str, message: str, blocks: Sequence[Any], metadata: Mapping[str, Any]) -> bool:
        """End a stream with the blocks below its tasks and forget it.

        Returns False where some tasks may still be shown as in progress. Raises `SlackError`.
        """
        timeline = self._timelines[(channel, message)]
        chunks = timeline.completion_chunks()
        arguments: dict[str, Any] = {"channel": channel, "ts": message, "blocks": list(blocks), "metadata": metadata}
        await self._api.call_method(OkResponse, "chat.stopStream", arguments | ({"chunks": chunks} if chunks else {}))
        self.forget_stream(channel, message)
        return timeline.all_known

    def _remember_stream(self, channel: str, message: str, timeline: _TaskTimeline) -> None:
        self._timelines[(channel, message)] = timeline

    def _note_refused_stream(self, channel: str, error: str) -> None:
        self._log.warning("slack stream refused", reason=error)
        scope = channel if error in _CHANNEL_REFUSALS else ""
        self._refused_until[scope] = self._api.clock() + REFUSAL_TTL_S

    def _note_readable_channel(self, channel: str, *, is_channel_readable: bool) -> None:
        self._readable_channels[channel] = is_channel_readable


def _recipient_arguments(address: Mapping[str, str], person: PersonId) -> dict[str, str] | None:
    """Returns the recipient of a stream, which Slack requires in channels. None where the recipient is unknown."""
    if address["channel"].startswith("D"):
        return {}
    _, team, user = ("", *person.rsplit(":", 2)[-2:]) if person.count(":") >= 2 else ("", "", "")
    team = team if team.startswith("T") else address.get("team", "")
    return {"recipient_user_id": user, "recipient_team_id": team} if user and team else None


def _task_update_chunk(id_: str, title: str, status: str) -> dict[str, str]:
    return {"type": "task_update", "id": id_, "title": title, "status": status}

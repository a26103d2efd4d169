"""Message streams of personal chats: a long turn shows its progress, and what is written of its answer, in a message
that then becomes the answer.

A stream begins with informative updates; text may follow, and each text extends the one before. Teams allows one stream
in a chat, about one request a second, and two minutes. It answers 403 once the person has stopped the stream, and for
other reasons, which its message alone distinguishes
(https://learn.microsoft.com/microsoftteams/platform/bots/streaming-ux#error-codes).
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from cachetools import FIFOCache
from structlog.typing import FilteringBoundLogger

from adapters.teams.connector.calls import PostingCalls
from adapters.teams.errors import TeamsError, TeamsRefusal, TeamsThrottled
from adapters.teams.payloads.json_values import Json, JsonObject
from adapters.teams.posting.markdown import format_italic
from adapters.teams.posting.protocols import StreamStopListener
from bot.ids import ConversationId, PersonId, TurnId

_STREAM_REFUSED_STATUS: Final = 403
_STOPPED_BY_PERSON: Final = re.compile(r"\bcancel{1,2}ed by (?:the )?user\b", re.IGNORECASE)
_MAX_REMEMBERED: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamsStreamPace:
    """A turn that is answered within `patience_s` needs no stream. Updates are `buffer_s` apart. After `longest_s` a
    stream becomes a message, which is then updated.
    """

    patience_s: float = 1.0
    buffer_s: float = 1.5
    longest_s: float = 105.0  # Teams ends it after 120
    tick_s: float = 0.5  # between two looks at the streams
    refusal_s: float = 3_600.0  # how long a chat without streams is remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOwner:
    """The turn whose message streams, and its place in Teams."""

    turn: TurnId
    conversation: ConversationId
    person: PersonId
    chat: str  # the conversation's id in Teams
    service_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamContent:
    """`activity`: what the turn does now, in plain words. `written`: the answer so far, in Teams's Markdown."""

    activity: str
    written: str = ""


@dataclass(slots=True, kw_only=True)
class _OpenStream:
    """Times are seconds of the clock."""

    owner: StreamOwner
    id: str  # of the stream and of its message
    begun_at_s: float
    shown: StreamContent
    sent_at_s: float
    pending: StreamContent | None = None
    sequence: int = 1
    is_open: bool = True
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def key(self) -> tuple[str, str]:
        """The chat and the message."""
        return self.owner.chat, self.id


class ChatStreams:
    """The streams that this process has begun. Call `start` and `close` once each."""

    def __init__(
        self,
        calls: PostingCalls,
        on_stop: StreamStopListener,
        log: FilteringBoundLogger,
        *,
        pace: TeamsStreamPace | None = None,
        clock: Callable[[], float],
        wait_for_tick: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.pace = pace or TeamsStreamPace()
        self._calls, self._on_stop, self._log, self._clock = calls, on_stop, log, clock
        self._wait_for_tick = wait_for_tick
        self._streams: dict[tuple[str, str], _OpenStream] = {}  # by chat and message
        self._tending_tasks: dict[tuple[str, str], asyncio.Task[None]] = {}  # at most one of each stream
        self._refused_until_s: FIFOCache[str, float] = FIFOCache(_MAX_REMEMBERED)
        self._has_streams = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._watch = asyncio.create_task(self._watch_streams())

    async def close(self) -> None:
        """Ends the calls in progress. What streams here becomes a message when its turn is answered."""
        tasks = [*self._tending_tasks.values(), *([self._watch] if self._watch is not None else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def may_begin_stream(self, chat: str) -> bool:
        """Whether nothing known in this process prevents a stream in the personal chat."""
        is_refused = self._refused_until_s.get(chat, 0.0) > self._clock()
        return not is_refused and not any(stream.owner.chat == chat for stream in self._streams.values())

    def has_open_stream(self, chat: str, message: str) -> bool:
        return (chat, message) in self._streams

    async def begin_stream(self, owner: StreamOwner, content: StreamContent) -> str | None:
        """The id of the stream's message; None where Teams allows none here. Raises `TeamsError`."""
        first = _typing_activity("informative", content.activity, 1, "")
        try:
            message = await self._calls.send_activity(owner.service_url, owner.chat, first)
        except TeamsRefusal as exc:
            self._log.info("teams stream refused", turn_id=owner.turn, reason=exc.code)
            self._refused_until_s[owner.chat] = self._clock() + self.pace.refusal_s
            return None
        if not message:
            return None
        now = self._clock()
        stream = _OpenStream(owner=owner, id=message, begun_at_s=now, shown=content, sent_at_s=now)
        self._streams[stream.key] = stream
        self._has_streams.set()
        return message

    async def show_content(self, chat: str, message: str, content: StreamContent) -> bool:
        """Shows the content, now or after the buffer's time. False where the stream is not open any more.

        Raises `TeamsError`.
        """
        stream = self._streams.get((chat, message))
        if stream is None:
            return False
        async with stream.lock:
            if not stream.is_open:
                return False
            stream.pending = content
            if self._clock() >= stream.sent_at_s + self.pace.buffer_s:
                await self._send_pending(stream)
        return True

    async def end_stream(self, chat: str, message: str, activity: JsonObject) -> bool:
        """The stream's message becomes the activity. False where the message has to be updated to show it: the stream
        was over, or had shown a text that the activity's does not extend. Raises `TeamsError`.
        """
        stream = self._streams.get((chat, message))
        if stream is None:
            return False
        async with stream.lock:
            if not stream.is_open:
                return False
            return await self._end_with(stream, activity)

    async def end_unknown_stream(self, service_url: str, chat: str, message: str, activity: JsonObject) -> None:
        """Ends a stream that another process has begun. Raises `TeamsError`, a refusal where it had shown text."""
        await self._calls.send_activity(service_url, chat, _final_activity(activity, message))

    async def tend_streams(self) -> None:
        """Sends what is due, and turns streams that have lasted too long into messages. Waits until that is done."""
        if tasks := self._begin_tending():
            await asyncio.wait(tasks)

    async def _watch_streams(self) -> None:
        while True:
            await self._has_streams.wait()
            await self._wait_for_tick(self.pace.tick_s)
            self._begin_tending()
            if not self._streams:
                self._has_streams.clear()

    def _begin_tending(self) -> Collection[asyncio.Task[None]]:
        """Each stream has a task of its own, so that a slow chat holds up no other, and never two at a time."""
        for key, stream in self._streams.items():
            if key not in self._tending_tasks:
                task = asyncio.create_task(self._tend_stream(stream))
                self._tending_tasks[key] = task
                task.add_done_callback(partial(self._finish_tending, stream))
        return list(self._tending_tasks.values())

    def _finish_tending(self, stream: _OpenStream, task: asyncio.Task[None]) -> None:
        """After an unforeseen error the stream is left alone: the turn's answer takes it over."""
        del self._tending_tasks[stream.key]
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("teams stream given up", turn_id=stream.owner.turn, error=type(error).__name__)
            self._forget_stream(stream)

    async def _tend_stream(self, stream: _OpenStream) -> None:
        async with stream.lock:
            now = self._clock()
            if not stream.is_open:
                return
            try:
                if now >= stream.begun_at_s + self.pace.longest_s:
                    await self._make_message_of(stream)
                elif stream.pending is not None and now >= stream.sent_at_s + self.pace.buffer_s:
                    await self._send_pending(stream)
            except TeamsError as exc:
                self._log.info("teams stream not updated", turn_id=stream.owner.turn, reason=type(exc).__name__)

    async def _send_pending(self, stream: _OpenStream) -> None:
        pending, stream.pending, shown = stream.pending, None, stream.shown
        if pending is None:
            return
        extends = pending.written.startswith(shown.written) and pending.written != shown.written
        if extends:
            kind, text = "streaming", pending.written
        elif not shown.written and pending.activity != shown.activity:
            kind, text = "informative", pending.activity
        else:
            return
        stream.sent_at_s = self._clock()
        part = _typing_activity(kind, text, stream.sequence + 1, stream.id)
        try:
            await self._calls.send_activity(stream.owner.service_url, stream.owner.chat, part, attempts=1)
        except TeamsThrottled:
            stream.pending = pending
            raise
        except TeamsRefusal as exc:
            await self._handle_refusal(stream, exc)
        except TeamsError:
            stream.sequence += 1  # Teams may have taken the number
            raise
        else:
            stream.sequence += 1
            stream.shown = StreamContent(activity=pending.activity, written=pending.written if extends else "")

    async def _handle_refusal(self, stream: _OpenStream, exc: TeamsRefusal) -> None:
        """The stream has ended. If the person has stopped it, the turn is stopped as well."""
        self._forget_stream(stream)
        self._log.info("teams stream ended by teams", turn_id=stream.owner.turn, reason=exc.code)
        if _is_stopped_by_person(exc):
            await self._on_stop(stream.owner.turn, stream.owner.conversation, stream.owner.person)

    async def _make_message_of(self, stream: _OpenStream) -> None:
        """A message with the progress so far; the turn goes on, and updates it."""
        content = stream.pending or stream.shown
        try:
            await self._send_final(stream, _interim_activity(stream.shown.written, content.activity))
        except TeamsRefusal as exc:
            await self._handle_refusal(stream, exc)
        self._forget_stream(stream)

    async def _end_with(self, stream: _OpenStream, activity: JsonObject) -> bool:
        """False where the activity's text does not extend what was shown, or where Teams has ended the stream."""
        written = stream.shown.written
        extends = str(activity["text"]).startswith(written)
        last = activity if extends else {"type": "message", "textFormat": "markdown", "text": written}
        try:
            await self._send_final(stream, last)
        except TeamsRefusal as exc:
            self._log.info("teams stream not ended", turn_id=stream.owner.turn, reason=exc.code)
            extends = False
        self._forget_stream(stream)
        return extends

    async def _send_final(self, stream: _OpenStream, activity: JsonObject) -> None:
        last = _final_activity(activity, stream.id)
        await self._calls.send_activity(stream.owner.service_url, stream.owner.chat, last)

    def _forget_stream(self, stream: _OpenStream) -> None:
        stream.is_open = False
        self._streams.pop(stream.key, None)


def _is_stopped_by_person(exc: TeamsRefusal) -> bool:
    """Microsoft documents "canceled"; other clients also expect "cancelled"."""
    return exc.status == _STREAM_REFUSED_STATUS and _STOPPED_BY_PERSON.search(exc.message) is not None


def _interim_activity(written: str, activity: str) -> JsonObject:
    text = f"{written}\n\n{format_italic(activity)}" if written else format_italic(activity)
    return {"type": "message", "textFormat": "markdown", "text": text}


def _typing_activity(kind: str, text: str, sequence: int, stream_id: str) -> JsonObject:
    info: dict[str, Json] = {"type": "streaminfo", "streamType": kind, "streamSequence": sequence}
    return {"type": "typing", "text": text, "entities": [info | ({"streamId": stream_id} if stream_id else {})]}


def _final_activity(activity: JsonObject, stream_id: str) -> JsonObject:
    entities = activity.get("entities", ())
    others = list(entities) if isinstance(entities, Sequence) and not isinstance(entities, str) else []
    return {**activity, "entities": [{"type": "streaminfo", "streamType": "final", "streamId": stream_id}, *others]}

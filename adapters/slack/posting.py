"""Puts a Reply into its thread of one workspace, once: a placeholder, its updates, files beside it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import ATTEMPTS, SlackApi
from adapters.slack.budget import Budget
from adapters.slack.errors import SlackBusy, SlackFailed, SlackRefused, SlackUnreachable
from adapters.slack.files import share, share_text
from adapters.slack.queue import Queue
from adapters.slack.render import message_for, settled, whole_text
from adapters.slack.status import Status
from adapters.slack.streams import NOT_GROWING, STILL_GROWING, Pace, Streams
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.outbox import MessageGone, Opened, Opening, OutboxFailed
from bot.replies import Chosen, File, Handle, Handles, Progress, Reply, Whole

METADATA: Final = "parley_turn"
FILE_MB: Final = 1_000  # Slack takes files up to 1 GB
HAND_OVER_S: Final = 20.0  # what takes longer to upload is shown as a link
PROGRESS_A_MINUTE, PROGRESS_AT_ONCE = 30, 10  # of some fifty updates, the rest of which are kept for answers
_PAGE: Final = 200
_WHOLE_TITLE: Final = "The whole answer"
_REMEMBERED: Final = 1_000  # messages whose files are known to be there
_REFUSED_BLOCKS: Final = "invalid_blocks"  # where a workspace has no data tables yet, they are shown as text
_ENDING: Final = "Here is what I found:"  # for the moment between the end of a stream and the answer
_GONE: Final = "message_not_found"
_NO_LOOK_UP: Final = {"missing_scope", "not_in_channel", "channel_not_found", "thread_not_found"}


class _Posted(BaseModel):
    ts: str


class _Whispered(BaseModel):
    message_ts: str


class _Metadata(BaseModel):
    event_type: str = ""
    event_payload: dict[str, Any] = {}


class _SharedFile(BaseModel):
    name: str | None = None


class _ThreadMessage(BaseModel):
    ts: str
    metadata: _Metadata = Field(default_factory=_Metadata)
    files: list[_SharedFile] = []
    user: str | None = None


class _Ours(BaseModel):
    user_id: str


class _Cursor(BaseModel):
    next_cursor: str = ""


class _Thread(BaseModel):
    messages: list[_ThreadMessage]
    response_metadata: _Cursor = Field(default_factory=_Cursor)


class Posting:
    """Fulfils `bot.outbox.Outbox` in one workspace. Messages to one channel go out in the order they were given.

    An address holds `channel` and `thread_ts`, `ts` of what is answered, and `response_url` after a click.
    """

    def __init__(
        self, api: SlackApi, log: FilteringBoundLogger, *, file_mb: int = FILE_MB, pace: Pace | None = None
    ) -> None:
        """`file_mb`: larger files are shown as links. `pace`: of what is streamed."""
        self._api, self._log, self._file_mb = api, log, file_mb
        self.queue = Queue(api.pause, api.clock)
        self._status, self._streams = Status(api, log), Streams(api, log, pace or Pace())
        self._user = ""  # our own, once Slack was asked for it
        self._progress = Budget(a_minute=PROGRESS_A_MINUTE, at_once=PROGRESS_AT_ONCE, clock=api.clock)
        self._handed_over: dict[tuple[str, str], frozenset[str]] = {}

    async def post(self, conversation: ConversationId, address: Mapping[str, str], reply: Reply) -> MessageId:
        async with self._sending(address["channel"], posts=True):
            return MessageId(await self._posted(address, reply))

    async def open(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, opening: Opening
    ) -> Opened | None:
        """What waits in line says what it has to say when it is its turn: an answer that is ready by then stands in the
        place of its progress. Where progress can be streamed, that has some time to come; elsewhere progress is posted.
        """
        may_stream = self._streams.may_begin(address, person) and await self._streams.is_readable(address)
        if may_stream:
            await opening.settled(self._streams.patience_s)
        async with self._sending(address["channel"], posts=True):
            words = await opening.words()
            if words is None:
                return None
            begun = await self._begun(address, person, words) if may_stream and _is_progress(words) else None
            message = MessageId(begun or await self._posted(address, words))
        if not _is_progress(words):
            await self._status.end(address)
        return Opened(message=message, says=words)

    async def update(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        streams = self._streams.holds(address["channel"], message)
        if _is_progress(reply) and not streams and not self._progress.spend():
            raise OutboxFailed("too much progress in the workspace", retry=True)
        async with self._sending(address["channel"]):
            await self._updated(address["channel"], message, reply)
        if _is_stoppable(reply):
            await self._status.stoppable(address)
        elif not _is_progress(reply):
            await self._status.end(address)

    async def hand_over(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply
    ) -> None:
        async with _as_outbox_failed():
            await self._hand_over(address, message, reply, there=await self._names_in_thread(address, message, reply))

    async def whisper(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, reply: Reply
    ) -> None:
        content = {**_content(reply), "thread_ts": address["thread_ts"]}
        del content["metadata"]  # nobody looks for it again
        async with _as_outbox_failed():
            if "response_url" in address:
                answer = {"response_type": "ephemeral", "replace_original": False}
                await self._api.respond(address["response_url"], answer | content)
                return
            where = {"channel": address["channel"], "user": person.rpartition(":")[2]}
            await self._api.call(_Whispered, "chat.postEphemeral", where | content, repeat=False)

    async def attend(self, conversation: ConversationId, address: Mapping[str, str]) -> None:
        await self._status.begin(address)

    async def find(
        self,
        conversation: ConversationId,
        address: Mapping[str, str],
        turn: TurnId,
        *,
        others: Collection[MessageId] | None = None,
    ) -> MessageId | None:
        """A stream carries no turn before its end. One that was begun, and then lost with the answer to that or with
        its process, is known by this: it is ours, stands behind what is answered, has neither a turn nor a file (all
        our other messages in threads have one), and belongs to none of the `others`.
        """
        async with _as_outbox_failed():
            return await self._found(address, turn, others)

    async def settle(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply, chosen: Chosen
    ) -> None:
        outcome = settled(reply, chosen)
        async with self._sending(address["channel"]):
            try:
                await self._updated(address["channel"], message, outcome)
            except SlackRefused:
                if "response_url" not in address:
                    raise
                await self._api.respond(address["response_url"], {"replace_original": True, **_content(outcome)})

    # Messages

    @asynccontextmanager
    async def _sending(self, channel: str, *, posts: bool = False) -> AsyncGenerator[None]:
        async with self.queue.at_head(channel, posts=posts), _as_outbox_failed():
            yield

    async def _posted(self, address: Mapping[str, str], reply: Reply) -> str:
        """The new message's id. An answer that was lost on the way is looked for before the message is sent again."""
        message = {
            "channel": address["channel"],
            "thread_ts": address["thread_ts"],
            "unfurl_links": False,
            "unfurl_media": False,
        }
        try:
            return await self._sent(address, reply, message | _content(reply))
        except SlackRefused as exc:
            if exc.error != _REFUSED_BLOCKS:
                raise
            return await self._sent(address, reply, message | _content(reply, grids=False))

    async def _sent(self, address: Mapping[str, str], reply: Reply, message: Mapping[str, Any]) -> str:
        for number in range(1, ATTEMPTS):
            try:
                return (await self._api.call(_Posted, "chat.postMessage", message, repeat=False)).ts
            except SlackUnreachable:
                await self._api.breathe(number)
            if found := await self._found(address, reply.turn):
                return found
        return (await self._api.call(_Posted, "chat.postMessage", message, repeat=False)).ts

    async def _begun(self, address: Mapping[str, str], person: PersonId, words: Reply) -> str | None:
        """A stream in place of a message with a button to stop, where Slack has that button itself."""
        if not await self._status.stoppable(address):
            return None
        return await self._streams.begin(address, person, _news(words))

    async def _updated(self, channel: str, message: str, reply: Reply, linked: frozenset[str] = frozenset()) -> None:
        if self._streams.holds(channel, message) and await self._streamed(channel, message, reply):
            return
        try:
            await self._rewritten(channel, message, reply, linked)
        except SlackRefused as exc:
            if exc.error != STILL_GROWING:
                raise
            self._streams.take(channel, message)
            if not await self._streamed(channel, message, reply):
                await self._rewritten(channel, message, reply, linked)

    async def _streamed(self, channel: str, message: str, reply: Reply) -> bool:
        """Within the stream that the message is. False once it is none any more."""
        try:
            if _is_progress(reply):
                await self._streams.grow(channel, message, _news(reply))
            else:
                await self._ended(channel, message, reply)
        except SlackRefused as exc:
            self._streams.drop(channel, message)
            if exc.error == NOT_GROWING:
                return False
            raise
        return True

    async def _ended(self, channel: str, message: str, reply: Reply) -> None:
        """The stream ends with the reply. Whatever Slack does not take there is tried as a change of the message."""
        try:
            is_all = await self._stopped(channel, message, reply)
        except SlackFailed as exc:
            if isinstance(exc, SlackRefused) and exc.error in {NOT_GROWING, _GONE}:
                raise
            self._log.warning("slack stream not ended", turn=reply.turn, reason=str(exc))
            await self._rewritten_though(exc, channel, message, reply)
            self._streams.drop(channel, message)
        else:
            if not is_all:
                await self._rewritten(channel, message, reply)

    async def _stopped(self, channel: str, message: str, reply: Reply) -> bool:
        content = _content(reply)
        try:
            return await self._streams.end(channel, message, content["blocks"], content["metadata"])
        except SlackRefused as exc:
            if exc.error in {NOT_GROWING, _GONE}:
                raise
        ending = message_for(Reply(turn=reply.turn, parts=(Progress(text=_ENDING),))).blocks
        await self._streams.end(channel, message, ending, content["metadata"])
        return False

    async def _rewritten_though(self, exc: SlackFailed, channel: str, message: str, reply: Reply) -> None:
        """Of a stream that did not end, as far as is known."""
        try:
            await self._rewritten(channel, message, reply)
        except SlackRefused as refused:
            if refused.error != STILL_GROWING:
                raise
            if isinstance(exc, SlackRefused):
                raise SlackUnreachable("the stream goes on until Slack ends it") from exc
            raise exc from refused

    async def _rewritten(self, channel: str, message: str, reply: Reply, linked: frozenset[str] = frozenset()) -> None:
        """What is only progress is not worth waiting for: the next one, or the answer, comes instead."""
        attempts = 1 if _is_progress(reply) else ATTEMPTS
        where = {"channel": channel, "ts": message}
        try:
            await self._api.call(_Posted, "chat.update", where | _content(reply, linked), attempts=attempts)
        except SlackRefused as exc:
            if exc.error != _REFUSED_BLOCKS:
                raise
            plain = _content(reply, linked, grids=False)
            await self._api.call(_Posted, "chat.update", where | plain, attempts=attempts)

    async def _found(
        self, address: Mapping[str, str], turn: TurnId, others: Collection[MessageId] | None = None
    ) -> MessageId | None:
        unmarked: MessageId | None = None
        async for message in self._thread(address, since=address.get("ts", address["thread_ts"])):
            if message.metadata.event_type == METADATA and message.metadata.event_payload.get("turn") == turn:
                return MessageId(message.ts)
            if others is not None and unmarked is None and message.ts not in others and await self._is_bare(message):
                unmarked = MessageId(message.ts)
        return unmarked

    async def _is_bare(self, message: _ThreadMessage) -> bool:
        """Ours, and neither marked nor a file."""
        if message.metadata.event_type or message.files or message.user is None:
            return False
        self._user = self._user or (await self._api.call(_Ours, "auth.test")).user_id
        return message.user == self._user

    async def _thread(self, address: Mapping[str, str], since: str) -> AsyncIterator[_ThreadMessage]:
        """The thread from `since` on, where the app may read it; else nothing."""
        request = {
            "channel": address["channel"],
            "ts": address["thread_ts"],
            "oldest": since,
            "inclusive": True,
            "include_all_metadata": True,
            "limit": _PAGE,
        }
        cursor = None
        while cursor != "":
            try:
                page = await self._api.call(
                    _Thread, "conversations.replies", request | ({"cursor": cursor} if cursor else {})
                )
            except SlackRefused as exc:
                if exc.error in _NO_LOOK_UP:
                    return
                raise
            for message in page.messages:
                yield message
            cursor = page.response_metadata.next_cursor

    # Files

    async def _hand_over(self, address: Mapping[str, str], ts: str, reply: Reply, there: frozenset[str]) -> None:
        """Uploads the files that are not in the thread yet; those that Slack does not take are shown as links."""
        key = (address["channel"], ts)
        refused: set[str] = set()
        for file in _files(reply):
            if file.name in there or file.path in self._handed_over.get(key, frozenset()):
                continue
            try:
                async with asyncio.timeout(HAND_OVER_S):
                    await self._check_size(file)
                    await share(self._api, address, Path(file.path), name=file.name, title=file.title)
            except (SlackFailed, TimeoutError, OSError) as exc:
                self._log.warning("slack upload failed", turn=reply.turn, reason=type(exc).__name__)
                refused.add(file.path)
            else:
                self._remember(key, file.path)
        if refused:
            await self._updated(address["channel"], ts, reply, frozenset(refused))
        for whole in _wholes(reply):
            if whole.name not in there | self._handed_over.get(key, frozenset()):
                await self._hand_over_whole(address, whole)
                self._remember(key, whole.name)

    async def _hand_over_whole(self, address: Mapping[str, str], whole: Whole) -> None:
        """Nothing stands in for it: the turn is tried again. Raises `SlackFailed`, `OutboxFailed`."""
        try:
            async with asyncio.timeout(HAND_OVER_S):
                await share_text(self._api, address, whole_text(whole.said), name=whole.name, title=_WHOLE_TITLE)
        except (TimeoutError, OSError) as exc:
            raise OutboxFailed(f"the file was not uploaded: {type(exc).__name__}", retry=True) from exc

    async def _names_in_thread(self, address: Mapping[str, str], ts: str, reply: Reply) -> frozenset[str]:
        """Names of files shared since the message: another process may have uploaded them before it died."""
        known = self._handed_over.get((address["channel"], ts), frozenset())
        if all(file.path in known for file in _files(reply)) and all(one.name in known for one in _wholes(reply)):
            return frozenset()
        messages = [message async for message in self._thread(address, since=ts)]
        return frozenset(file.name for message in messages for file in message.files if file.name)

    async def _check_size(self, file: File) -> None:
        """Raises `SlackRefused` for what Slack would not take, before anything is sent."""
        if (await asyncio.to_thread(Path(file.path).stat)).st_size > self._file_mb * 1_000_000:
            raise SlackRefused("file_too_large")

    def _remember(self, key: tuple[str, str], path: str) -> None:
        self._handed_over[key] = self._handed_over.pop(key, frozenset()) | {path}
        while len(self._handed_over) > _REMEMBERED:
            del self._handed_over[next(iter(self._handed_over))]


def _is_progress(reply: Reply) -> bool:
    return any(isinstance(part, Progress) for part in reply.parts)


def _news(progress: Reply) -> str:
    return " ".join(part.text for part in progress.parts if isinstance(part, Progress))


def _is_stoppable(reply: Reply) -> bool:
    return any(isinstance(part, Handles) and Handle.STOP in part.handles for part in reply.parts)


def _files(reply: Reply) -> Sequence[File]:
    return [part for part in reply.parts if isinstance(part, File)]


def _wholes(reply: Reply) -> Sequence[Whole]:
    return [part for part in reply.parts if isinstance(part, Whole)]


def _content(reply: Reply, linked: frozenset[str] = frozenset(), *, grids: bool = True) -> dict[str, Any]:
    message = message_for(reply, linked, grids=grids)
    return {
        "text": message.text,
        "blocks": list(message.blocks),
        "metadata": {"event_type": METADATA, "event_payload": {"turn": reply.turn}},
    }


@asynccontextmanager
async def _as_outbox_failed() -> AsyncGenerator[None]:
    try:
        yield
    except SlackBusy as exc:
        raise OutboxFailed(str(exc), retry=True, after_s=exc.after_s) from exc
    except SlackRefused as exc:
        raise MessageGone() if exc.error == _GONE else OutboxFailed(str(exc), retry=False) from exc
    except SlackFailed as exc:
        raise OutboxFailed(str(exc), retry=True) from exc

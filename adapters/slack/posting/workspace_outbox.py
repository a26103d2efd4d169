"""Posts the replies of one workspace, each exactly once: the first message, its updates and its files."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError, SlackRateLimited, SlackRefusal, SlackUnreachable
from adapters.slack.payloads.responses import (
    BotIdentity,
    EphemeralMessageResponse,
    MessagesResponse,
    PostedMessageResponse,
    ThreadMessage,
)
from adapters.slack.posting.api import MAX_ATTEMPTS, SlackApi
from adapters.slack.posting.channel_queue import ChannelQueue
from adapters.slack.posting.file_upload import (
    PictureFile,
    share_file_in_thread,
    share_pictures_in_thread,
    share_text_in_thread,
)
from adapters.slack.posting.render import full_text_of, slack_message_for, with_choices_settled
from adapters.slack.posting.status import ThreadStatus
from adapters.slack.posting.streams import NOT_STREAMING, STILL_STREAMING, MessageStreams, StreamPace
from adapters.slack.posting.token_bucket import TokenBucket
from bot.errors import PictureFailed
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.pictures.picture_look import CHAT_LOOK
from bot.pictures.rendering import render_picture
from bot.surface.outbox import MessageGone, OpenedMessage, OpeningContent, OutboxFailed
from bot.surface.replies import (
    ChosenPart,
    FilePart,
    FullTextPart,
    PicturePart,
    ProgressPart,
    Reply,
    TurnAction,
    TurnActionsPart,
)

TURN_METADATA: Final = "parley_turn"
MAX_FILE_MB: Final = 1_000  # Slack takes files up to 1 GB
UPLOAD_BUDGET_S: Final = 20.0  # a file that takes longer to upload is shown as a link
PICTURE_BUDGET_S: Final = 10.0  # a picture that takes longer to upload is left out
PROGRESS_PER_MINUTE, PROGRESS_BURST = 30, 10  # Slack allows about 50 updates a minute; the rest is for answers
_PAGE_SIZE: Final = 200
_FULL_TEXT_TITLE: Final = "The whole answer"
_MAX_REMEMBERED_MESSAGES: Final = 1_000  # messages whose shared files are remembered
_INVALID_BLOCKS: Final = "invalid_blocks"  # a workspace without data tables; they are shown as text instead
_STREAM_ENDING: Final = "Here is what I found:"  # shown between the end of a stream and the answer
_MESSAGE_NOT_FOUND: Final = "message_not_found"
_UNREADABLE_THREAD_ERRORS: Final = {"missing_scope", "not_in_channel", "channel_not_found", "thread_not_found"}


@dataclass(slots=True, kw_only=True)
class _SharedPosting:
    """What the threads of one workspace share: limits, streams and what is remembered of messages."""

    api: SlackApi
    log: FilteringBoundLogger
    file_mb: int
    channel_queue: ChannelQueue
    status: ThreadStatus
    streams: MessageStreams
    progress_limit: TokenBucket
    own_user_id: str = ""  # the bot user's id; empty until it is needed
    shared_files: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict[tuple[str, str], frozenset[str]])


class WorkspaceOutbox:
    """Fulfils `bot.surface.outbox.Outbox` for one workspace. Messages to one channel are sent in order."""

    def __init__(
        self, api: SlackApi, log: FilteringBoundLogger, *, file_mb: int = MAX_FILE_MB, pace: StreamPace | None = None
    ) -> None:
        """`file_mb`: larger files are shown as links. `pace`: how often streams begin."""
        self.channel_queue = ChannelQueue(api.sleep, api.clock)
        self._posting = _SharedPosting(
            api=api,
            log=log,
            file_mb=file_mb,
            channel_queue=self.channel_queue,
            status=ThreadStatus(api, log),
            streams=MessageStreams(api, log, pace or StreamPace()),
            progress_limit=TokenBucket(per_minute=PROGRESS_PER_MINUTE, burst=PROGRESS_BURST, clock=api.clock),
        )

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> "WorkspaceThread":
        return WorkspaceThread(self._posting, address)


class WorkspaceThread:
    """A thread of a channel. An address holds `channel` and `thread_ts`, the `ts` of the message to answer, and
    `response_url` after a click.
    """

    def __init__(self, posting: _SharedPosting, address: Mapping[str, str]) -> None:
        self._posting, self._address, self._channel = posting, address, address["channel"]
        self._api, self._log, self._shared_files = posting.api, posting.log, posting.shared_files
        self._status, self._streams = posting.status, posting.streams

    async def post_message(self, reply: Reply) -> MessageId:
        async with self._exclusive_channel_slot(posts_message=True):
            return MessageId(await self._post_with_fallback(reply))

    async def open_message(self, person: PersonId, opening: OpeningContent) -> OpenedMessage | None:
        """Post the first message of a turn once the channel is free.

        The content is read at that moment, so an answer that is ready by then replaces the progress. Where progress can
        be streamed, the answer gets some time to become ready first; elsewhere the progress is posted at once.
        """
        may_stream = self._streams.may_begin_stream(self._address, person) and await self._streams.is_thread_readable(
            self._address
        )
        if may_stream:
            await opening.wait_for_reply(self._streams.patience_s)
        async with self._exclusive_channel_slot(posts_message=True):
            reply = await opening.get_current_reply()
            if reply is None:
                return None
            stream_message = (
                await self._begin_progress_stream(person, reply) if may_stream and _is_progress(reply) else None
            )
            message = MessageId(stream_message or await self._post_with_fallback(reply))
        if not _is_progress(reply):
            await self._status.clear_thread_status(self._address)
        return OpenedMessage(message=message, reply=reply)

    async def update_message(self, message: MessageId, reply: Reply) -> None:
        is_streaming = self._streams.has_open_stream(self._channel, message)
        if _is_progress(reply) and not is_streaming and not self._posting.progress_limit.try_take_token():
            raise OutboxFailed("too much progress in the workspace", retry=True)
        async with self._exclusive_channel_slot():
            await self._update_or_stream(message, reply)
        if _is_stoppable(reply):
            await self._status.show_stop_button(self._address)
        elif not _is_progress(reply):
            await self._status.clear_thread_status(self._address)

    async def attach_files(self, message: MessageId, reply: Reply) -> None:
        if _file_parts_in(reply) or _full_text_parts_in(reply):
            async with _translate_slack_errors():
                await self._share_missing_files(
                    message, reply, names_in_thread=await self._file_names_in_thread(message, reply)
                )
        await self._share_pictures(message, reply)

    async def post_privately(self, person: PersonId, reply: Reply) -> None:
        content = {**_message_content_of(reply), "thread_ts": self._address["thread_ts"]}
        del content["metadata"]  # an ephemeral message is never searched for
        async with _translate_slack_errors():
            if "response_url" in self._address:
                response_fields = {"response_type": "ephemeral", "replace_original": False}
                await self._api.post_to_response_url(self._address["response_url"], response_fields | content)
                return
            recipient = {"channel": self._channel, "user": person.rpartition(":")[2]}
            await self._api.call_method(
                EphemeralMessageResponse, "chat.postEphemeral", recipient | content, repeat=False
            )

    async def show_activity(self) -> None:
        await self._status.show_thread_status(self._address)

    async def find_message(
        self, turn: TurnId, *, other_messages: Collection[MessageId] | None = None
    ) -> MessageId | None:
        """Find the message of a turn in its thread.

        A stream carries no turn id before its end, so it can be lost with Slack's answer or with its process. With
        `other_messages`, a lost stream is recognised: it is the bot's own, follows the message to answer, has neither a
        turn id nor a file (all other messages of the bot have one), and is not among `other_messages`.
        """
        async with _translate_slack_errors():
            return await self._find_message_of_turn(turn, other_messages)

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None:
        settled_reply = with_choices_settled(reply, chosen)
        async with self._exclusive_channel_slot():
            try:
                await self._update_or_stream(message, settled_reply)
            except SlackRefusal:
                if "response_url" not in self._address:
                    raise
                await self._api.post_to_response_url(
                    self._address["response_url"], {"replace_original": True, **_message_content_of(settled_reply)}
                )

    # Messages

    @asynccontextmanager
    async def _exclusive_channel_slot(self, *, posts_message: bool = False) -> AsyncGenerator[None]:
        async with (
            self._posting.channel_queue.exclusive_channel_slot(self._channel, posts_message=posts_message),
            _translate_slack_errors(),
        ):
            yield

    async def _post_with_fallback(self, reply: Reply) -> str:
        """Post the reply, as text tables where Slack refuses data tables; return the new message's id."""
        message = {
            "channel": self._channel,
            "thread_ts": self._address["thread_ts"],
            "unfurl_links": False,
            "unfurl_media": False,
        }
        try:
            return await self._post_without_duplicates(reply, message | _message_content_of(reply))
        except SlackRefusal as exc:
            if exc.error != _INVALID_BLOCKS:
                raise
            return await self._post_without_duplicates(
                reply, message | _message_content_of(reply, allow_data_tables=False)
            )

    async def _post_without_duplicates(self, reply: Reply, message: Mapping[str, Any]) -> str:
        for attempt in range(1, MAX_ATTEMPTS):
            try:
                return await self._send_new_message(message)
            except SlackUnreachable:
                await self._api.wait_before_retry(attempt)
            if existing_ts := await self._find_message_of_turn(reply.turn):
                return existing_ts
        return await self._send_new_message(message)

    async def _send_new_message(self, message: Mapping[str, Any]) -> str:
        return (await self._api.call_method(PostedMessageResponse, "chat.postMessage", message, repeat=False)).ts

    async def _begin_progress_stream(self, person: PersonId, progress: Reply) -> str | None:
        """Begin a stream if Slack shows its own stop button; return its message, or None."""
        if not await self._status.show_stop_button(self._address):
            return None
        return await self._streams.begin_stream(self._address, person, _progress_text_of(progress))

    async def _update_or_stream(self, message: str, reply: Reply, linked_paths: frozenset[str] = frozenset()) -> None:
        if self._streams.has_open_stream(self._channel, message) and await self._update_open_stream(message, reply):
            return
        try:
            await self._rewrite_message_blocks(message, reply, linked_paths)
        except SlackRefusal as exc:
            if exc.error != STILL_STREAMING:
                raise
            self._streams.adopt_stream(self._channel, message)
            if not await self._update_open_stream(message, reply):
                await self._rewrite_message_blocks(message, reply, linked_paths)

    async def _update_open_stream(self, message: str, reply: Reply) -> bool:
        """Add the reply to the message's open stream. Returns False when Slack has ended the stream."""
        try:
            if _is_progress(reply):
                await self._streams.append_stream_task(self._channel, message, _progress_text_of(reply))
            else:
                await self._end_stream_with_reply(message, reply)
        except SlackRefusal as exc:
            self._streams.forget_stream(self._channel, message)
            if exc.error == NOT_STREAMING:
                return False
            raise
        return True

    async def _end_stream_with_reply(self, message: str, reply: Reply) -> None:
        """End the stream with the reply. If Slack refuses that, update the message instead."""
        try:
            is_complete = await self._stop_stream_with_blocks(message, reply)
        except SlackError as exc:
            if isinstance(exc, SlackRefusal) and exc.error in {NOT_STREAMING, _MESSAGE_NOT_FOUND}:
                raise
            self._log.warning("slack stream not ended", turn_id=reply.turn, reason=str(exc))
            await self._rewrite_unended_stream(exc, message, reply)
            self._streams.forget_stream(self._channel, message)
        else:
            if not is_complete:
                await self._rewrite_message_blocks(message, reply)

    async def _stop_stream_with_blocks(self, message: str, reply: Reply) -> bool:
        content = _message_content_of(reply)
        try:
            return await self._streams.end_stream(self._channel, message, content["blocks"], content["metadata"])
        except SlackRefusal as exc:
            if exc.error in {NOT_STREAMING, _MESSAGE_NOT_FOUND}:
                raise
        ending = slack_message_for(Reply(turn=reply.turn, parts=(ProgressPart(text=_STREAM_ENDING),))).blocks
        await self._streams.end_stream(self._channel, message, ending, content["metadata"])
        return False

    async def _rewrite_unended_stream(self, stream_error: SlackError, message: str, reply: Reply) -> None:
        """Rewrite the message of a stream that probably did not end. Raises `SlackError`."""
        try:
            await self._rewrite_message_blocks(message, reply)
        except SlackRefusal as exc:
            if exc.error != STILL_STREAMING:
                raise
            if isinstance(stream_error, SlackRefusal):
                raise SlackUnreachable("the stream goes on until Slack ends it") from stream_error
            raise stream_error from exc

    async def _rewrite_message_blocks(
        self, message: str, reply: Reply, linked_paths: frozenset[str] = frozenset()
    ) -> None:
        """Update the message. Progress is tried only once, because newer progress or the answer follows."""
        attempts = 1 if _is_progress(reply) else MAX_ATTEMPTS
        target = {"channel": self._channel, "ts": message}
        try:
            await self._api.call_method(
                PostedMessageResponse,
                "chat.update",
                target | _message_content_of(reply, linked_paths),
                attempts=attempts,
            )
        except SlackRefusal as exc:
            if exc.error != _INVALID_BLOCKS:
                raise
            content = _message_content_of(reply, linked_paths, allow_data_tables=False)
            await self._api.call_method(PostedMessageResponse, "chat.update", target | content, attempts=attempts)

    async def _find_message_of_turn(
        self, turn: TurnId, other_messages: Collection[MessageId] | None = None
    ) -> MessageId | None:
        unmarked: MessageId | None = None
        async for message in self._read_thread_messages(oldest_ts=self._address.get("ts", self._address["thread_ts"])):
            if message.metadata.event_type == TURN_METADATA and message.metadata.event_payload.get("turn") == turn:
                return MessageId(message.ts)
            if (
                other_messages is not None
                and unmarked is None
                and message.ts not in other_messages
                and await self._is_unmarked_own_message(message)
            ):
                unmarked = MessageId(message.ts)
        return unmarked

    async def _is_unmarked_own_message(self, message: ThreadMessage) -> bool:
        """Whether the bot wrote the message, without a turn id and without files."""
        if message.metadata.event_type or message.files or message.user is None:
            return False
        self._posting.own_user_id = (
            self._posting.own_user_id or (await self._api.call_method(BotIdentity, "auth.test")).user_id
        )
        return message.user == self._posting.own_user_id

    async def _read_thread_messages(self, oldest_ts: str) -> AsyncIterator[ThreadMessage]:
        """Yield the thread's messages from `oldest_ts` on; nothing where the app may not read the thread."""
        request = {
            "channel": self._channel,
            "ts": self._address["thread_ts"],
            "oldest": oldest_ts,
            "inclusive": True,
            "include_all_metadata": True,
            "limit": _PAGE_SIZE,
        }
        cursor = None
        while cursor != "":
            try:
                page = await self._api.call_method(
                    MessagesResponse, "conversations.replies", request | ({"cursor": cursor} if cursor else {})
                )
            except SlackRefusal as exc:
                if exc.error in _UNREADABLE_THREAD_ERRORS:
                    return
                raise
            for message in page.messages:
                yield message
            cursor = page.next_cursor

    # Files

    async def _share_missing_files(self, ts: str, reply: Reply, names_in_thread: frozenset[str]) -> None:
        """Upload the files that are not in the thread yet; files that Slack refuses are shown as links."""
        key = (self._channel, ts)
        refused: set[str] = set()
        for file in _file_parts_in(reply):
            if file.name in names_in_thread or file.path in self._shared_files.get(key, frozenset()):
                continue
            try:
                async with asyncio.timeout(UPLOAD_BUDGET_S):
                    await self._check_file_size(file)
                    await share_file_in_thread(
                        self._api, self._address, Path(file.path), name=file.name, title=file.title
                    )
            except (SlackError, TimeoutError, OSError) as exc:
                self._log.warning("slack upload failed", turn_id=reply.turn, reason=type(exc).__name__)
                refused.add(file.path)
            else:
                self._remember_shared_file(key, file.path)
        if refused:
            await self._update_or_stream(ts, reply, frozenset(refused))
        for full_text in _full_text_parts_in(reply):
            if full_text.name not in names_in_thread | self._shared_files.get(key, frozenset()):
                await self._share_full_text(full_text)
                self._remember_shared_file(key, full_text.name)

    async def _share_full_text(self, full_text: FullTextPart) -> None:
        """Upload the full text. It has no link as a fallback, so the turn is retried on failure.

        Raises `SlackError` and `OutboxFailed`.
        """
        try:
            async with asyncio.timeout(UPLOAD_BUDGET_S):
                await share_text_in_thread(
                    self._api,
                    self._address,
                    full_text_of(full_text.reply),
                    name=full_text.name,
                    title=_FULL_TEXT_TITLE,
                )
        except (TimeoutError, OSError) as exc:
            raise OutboxFailed(f"the file was not uploaded: {type(exc).__name__}", retry=True) from exc

    async def _share_pictures(self, ts: str, reply: Reply) -> None:
        """Upload the pictures that are not in the thread yet. The reply stands without those that fail."""
        key = (self._channel, ts)
        missing = {
            name: picture
            for name, picture in reply.pictures_by_name.items()
            if name not in self._shared_files.get(key, frozenset())
        }
        if not missing:
            return
        try:
            async with asyncio.timeout(PICTURE_BUDGET_S):
                names_in_thread = await self._list_files_since(ts)
                drawn = [
                    await self._draw_picture_file(name, picture, reply.turn)
                    for name, picture in missing.items()
                    if name not in names_in_thread
                ]
                if files := [file for file in drawn if file is not None]:
                    await share_pictures_in_thread(self._api, self._address, files)
        except (SlackError, TimeoutError, OSError) as exc:
            self._log.warning("slack picture not shown", turn_id=reply.turn, reason=type(exc).__name__)
        else:
            self._shared_files[key] = self._shared_files.get(key, frozenset()) | missing.keys()

    async def _draw_picture_file(self, name: str, picture: PicturePart, turn: TurnId) -> PictureFile | None:
        try:
            content = await render_picture(picture, CHAT_LOOK)
        except PictureFailed as exc:
            self._log.warning("slack picture not drawn", turn_id=turn, reason=type(exc.__cause__).__name__)
            return None
        title = picture.title or name
        return PictureFile(name=name, title=title, alternative_text=picture.description, content=content)

    async def _file_names_in_thread(self, ts: str, reply: Reply) -> frozenset[str]:
        """Returns the names of files shared since the message: another process may have uploaded them and died."""
        shared_names = self._shared_files.get((self._channel, ts), frozenset())
        if all(file.path in shared_names for file in _file_parts_in(reply)) and all(
            full_text.name in shared_names for full_text in _full_text_parts_in(reply)
        ):
            return frozenset()
        return await self._list_files_since(ts)

    async def _list_files_since(self, ts: str) -> frozenset[str]:
        messages = [message async for message in self._read_thread_messages(oldest_ts=ts)]
        return frozenset(file.name for message in messages for file in message.files if file.name)

    async def _check_file_size(self, file: FilePart) -> None:
        """Raises `SlackRefusal` for a file that is too large for Slack, before it is sent."""
        if (await asyncio.to_thread(Path(file.path).stat)).st_size > self._posting.file_mb * 1_000_000:
            raise SlackRefusal("file_too_large")

    def _remember_shared_file(self, key: tuple[str, str], name_or_path: str) -> None:
        self._shared_files[key] = self._shared_files.get(key, frozenset()) | {name_or_path}


def _is_progress(reply: Reply) -> bool:
    return any(isinstance(part, ProgressPart) for part in reply.parts)


def _progress_text_of(progress: Reply) -> str:
    return " ".join(part.text for part in progress.parts if isinstance(part, ProgressPart))


def _is_stoppable(reply: Reply) -> bool:
    return any(isinstance(part, TurnActionsPart) and TurnAction.STOP in part.handles for part in reply.parts)


def _file_parts_in(reply: Reply) -> Sequence[FilePart]:
    return [part for part in reply.parts if isinstance(part, FilePart)]


def _full_text_parts_in(reply: Reply) -> Sequence[FullTextPart]:
    return [part for part in reply.parts if isinstance(part, FullTextPart)]


def _message_content_of(
    reply: Reply, linked_paths: frozenset[str] = frozenset(), *, allow_data_tables: bool = True
) -> dict[str, Any]:
    message = slack_message_for(reply, linked_paths, allow_data_tables=allow_data_tables)
    return {
        "text": message.text,
        "blocks": list(message.blocks),
        "metadata": {"event_type": TURN_METADATA, "event_payload": {"turn": reply.turn}},
    }


@asynccontextmanager
async def _translate_slack_errors() -> AsyncGenerator[None]:
    try:
        yield
    except SlackRateLimited as exc:
        raise OutboxFailed(str(exc), retry=True, retry_after_s=exc.retry_after_s) from exc
    except SlackRefusal as exc:
        raise MessageGone() if exc.error == _MESSAGE_NOT_FOUND else OutboxFailed(str(exc), retry=False) from exc
    except SlackError as exc:
        raise OutboxFailed(str(exc), retry=True) from exc

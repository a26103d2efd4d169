"""One turn's message in the chat. It is posted once, found again after a worker is killed, and updated until it shows
the reply.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from bot.conversation.notices import INITIAL_PROGRESS
from bot.ids import MessageId, PersonId, TurnId
from bot.metrics.measured_operations import measured_delivery
from bot.metrics.operation_measurements import DeliveryOperation, OperationObserver, ignore_operation
from bot.progress import ProgressCallback, ignore_progress
from bot.surface.outbox import ChatThread, MessageGone, OutboxFailed, open_message, post_privately, show_activity
from bot.surface.replies import (
    ChosenPart,
    FilePart,
    FullTextPart,
    PicturePart,
    ProgressPart,
    Reply,
    TextPart,
    TurnAction,
    TurnActionsPart,
)
from bot.task_groups import lone_error
from bot.translation import translate_message
from storage.search.ids import LegId
from storage.sql.stores.inbox import ClaimedTurn, TurnInbox

TURN_LEASE: Final = timedelta(seconds=30)
_OUTBOX_TIMEOUT_S: Final = 30.0  # a chat product that does not answer in time counts as down
_UPDATE_INTERVAL_S: Final = 1.0  # between two updates of a message: products limit their rate
_STOPPABLE_AFTER_S: Final = 2.0  # a turn that takes longer shows a stop button


class LeaseLost(Exception):
    """Another worker has the turn: this process must not act or post for it any more."""


class ProgressFeed:
    """The latest progress text, from the agent to one reader, and the answer as far as it is written; at the end, the
    final reply. `report_progress` hears each text too.
    """

    def __init__(self, report_progress: ProgressCallback = ignore_progress) -> None:
        self._report_progress = report_progress
        self._changed, self._over = asyncio.Event(), asyncio.Event()
        self._text = ""
        self._partial_answers = dict[LegId, str]()
        self._reply: Reply | None = None

    @property
    def latest_text(self) -> str:
        """Empty before the first progress text."""
        return self._text

    def publish_progress(self, text: str) -> None:
        self._text = text
        self._changed.set()
        self._report_progress(text)

    @property
    def partial_answer(self) -> str:
        """The Markdown of the answer as far as it is written; empty before its first sentence."""
        return "\n\n".join(text for _, text in sorted(self._partial_answers.items()) if text)

    def publish_partial_answer(self, leg: LegId, markdown: str) -> None:
        """Replaces what was published for the leg."""
        self._partial_answers[leg] = markdown
        self._changed.set()

    @property
    def final_reply(self) -> Reply | None:
        """None before the end, and where the work ended without a reply."""
        return self._reply

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def close_feed(self, reply: Reply | None = None) -> None:
        """Ends the feed with `reply`. Only the first call counts."""
        if not self.is_over:
            self._reply = reply
        self._over.set()
        self._changed.set()

    async def next_text(self, within_s: float | None = None) -> str | None:
        """Waits for a new text and returns it; after `within_s`, returns the latest one. None once the feed is over."""
        try:
            async with asyncio.timeout(within_s):
                await self._changed.wait()
        except TimeoutError:
            return self._text
        self._changed.clear()
        return None if self._over.is_set() else self._text

    async def run_until_over(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Runs `work`, and cancels it when the feed is over."""
        async with asyncio.TaskGroup() as group:
            work_task, end_task = group.create_task(work()), group.create_task(self._over.wait())
            await asyncio.wait((work_task, end_task), return_when=asyncio.FIRST_COMPLETED)
            work_task.cancel()
            end_task.cancel()

    async def wait_until_over(self, within_s: float = _UPDATE_INTERVAL_S) -> None:
        """Pauses for `within_s`, or until the feed is over."""
        try:
            async with asyncio.timeout(within_s):
                await self._over.wait()
        except TimeoutError:
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProgressOpening:
    """Fulfils `bot.surface.outbox.OpeningContent`."""

    feed: ProgressFeed
    format_progress: Callable[[ProgressFeed], Reply]
    check_lease: Callable[[], Awaitable[None]]

    async def wait_for_reply(self, within_s: float) -> None:
        await self.feed.wait_until_over(within_s)

    async def get_current_reply(self) -> Reply | None:
        await self.check_lease()
        if self.feed.is_over:
            return self.feed.final_reply
        return self.format_progress(self.feed)


class NullDelivery:
    """The delivery of a turn whose reply is only returned to its caller."""

    async def report_progress(self, feed: ProgressFeed) -> None: ...

    async def deliver_reply(self, reply: Reply) -> None: ...

    async def deliver_privately(self, reply: Reply) -> None: ...

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None: ...

    async def find_message(self, turn: TurnId) -> MessageId | None: ...


class TurnDelivery:
    """Delivers one claimed turn. It checks the lease right before each effect outside: `LeaseLost` when it is gone."""

    def __init__(
        self,
        claimed: ClaimedTurn,
        asker: PersonId,
        thread: ChatThread,
        inbox: TurnInbox,
        *,
        now: Callable[[], datetime],
        log: FilteringBoundLogger,
        stoppable_after_s: float = _STOPPABLE_AFTER_S,
        observer: OperationObserver = ignore_operation,
    ) -> None:
        """Reports each call of the chat product to `observer`."""
        self._observer = observer
        self._stoppable_after_s = stoppable_after_s
        self._lease_until, self._now = claimed.lease_until, now
        self._claimed, self._asker, self._thread, self._inbox, self._log = claimed, asker, thread, inbox, log
        self._message = MessageId(claimed.turn.placeholder) if claimed.turn.placeholder else None
        self._opening_reply: Reply | None = None
        # Before the first attempt nothing can have been posted.
        self._is_message_known = self._message is not None or claimed.fence <= 1
        self._lock = asyncio.Lock()

    async def report_progress(self, feed: ProgressFeed) -> None:
        """Shows activity at once, posts a first message, then updates it with the progress until the feed is over. A
        failure to show progress does not fail the turn. A turn without attempts left shows no progress.
        """
        if self._claimed.is_exhausted:
            return
        with lone_error():
            async with asyncio.TaskGroup() as group:
                activity_task = group.create_task(feed.run_until_over(self._show_activity))
                await self._open_message(feed)
                activity_task.cancel()
        if not feed.is_over:
            await feed.run_until_over(self._show_activity)  # the posted message ended the first activity sign
        started_s, has_stop_button = time.monotonic(), False
        while await feed.next_text(None if has_stop_button else self._stoppable_after_s) is not None:
            is_stoppable = time.monotonic() - started_s >= self._stoppable_after_s
            is_shown = await self._show_progress(self._progress_reply(feed, is_stoppable=is_stoppable))
            has_stop_button = has_stop_button or (is_stoppable and is_shown)
            await feed.wait_until_over()

    async def deliver_reply(self, reply: Reply) -> None:
        """The message now shows `reply`, and its files are attached. Raises `OutboxFailed`, `LeaseLost`."""
        await self._write_reply(reply)
        if self._message is not None and any(
            isinstance(part, FilePart | FullTextPart | PicturePart) for part in reply.parts
        ):
            await self._attach_files(self._message, reply)

    async def deliver_privately(self, reply: Reply) -> None:
        """Posts to the person alone. Everyone sees the reply where that fails, or where the chat already shows a
        message of this turn.

        Raises `OutboxFailed`, `LeaseLost`.
        """
        await self._recover_message()
        if self._message is None:
            await self.check_lease()
            try:
                async with self._outbox_call(DeliveryOperation.POST):
                    await post_privately(self._thread, self._asker, reply)
            except OutboxFailed as exc:
                self._log.info("private reply not posted", turn=self._claimed.turn.id, reason=exc.reason)
            else:
                return
        await self._write_reply(reply)

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None:
        """An earlier message of this conversation shows the selected choice. Raises `OutboxFailed`, `LeaseLost`."""
        await self.check_lease()
        async with self._outbox_call(DeliveryOperation.UPDATE):
            await self._thread.show_chosen(message, reply, chosen)

    async def find_message(self, turn: TurnId) -> MessageId | None:
        """The message of a turn of this conversation, if the chat has one. Raises `OutboxFailed`."""
        other_messages = None
        if self._claimed.is_sole_in_conversation:
            other_messages = [MessageId(message) for message in await self._inbox.list_other_reply_messages(turn)]
        async with self._outbox_call(DeliveryOperation.FIND):
            return await self._thread.find_message(turn, other_messages=other_messages)

    async def check_lease(self) -> None:
        """Raises `LeaseLost`. Asks the database only when the lease is no longer fresh: no other worker can claim the
        turn before that.

        A turn without attempts left asks every time, because an edit of its question ends it.
        """
        if self._lease_until - self._now() > TURN_LEASE * 2 / 3 and not self._claimed.is_exhausted:
            return
        lease_until = self._now() + TURN_LEASE
        if not await self._inbox.renew_lease(self._claimed, TURN_LEASE):
            raise LeaseLost()
        self._lease_until = lease_until

    async def _show_activity(self) -> None:
        await show_activity(self._thread)

    async def _open_message(self, feed: ProgressFeed) -> None:
        """Posts the first message, unless there is one: the progress, or the reply if that is ready sooner. If this
        fails, the next update posts the message.
        """
        try:
            async with self._lock:
                await self._recover_message()
                if self._message is None:
                    await self._post_opening(
                        _ProgressOpening(feed=feed, format_progress=self._progress_reply, check_lease=self.check_lease)
                    )
        except OutboxFailed as exc:
            self._log.info("first message not posted", turn=self._claimed.turn.id, reason=exc.reason)

    async def _post_opening(self, opening: _ProgressOpening) -> None:
        self._is_message_known = False  # if the next call fails, the chat may have posted the message anyway
        async with self._outbox_call(DeliveryOperation.OPEN):
            opened = await open_message(self._thread, self._asker, opening)
        self._is_message_known = True
        if opened is not None:
            self._opening_reply = opened.reply
            await self._record_message(opened.message)

    async def _show_progress(self, progress: Reply) -> bool:
        """False when this progress could not be shown. It is skipped, because a later one replaces it."""
        try:
            await self._write_reply(progress)
        except OutboxFailed as exc:
            self._log.info("progress not shown", turn=self._claimed.turn.id, reason=exc.reason)
            return False
        return True

    async def _write_reply(self, reply: Reply) -> None:
        async with self._lock:
            await self._recover_message()
            if self._message is None:
                await self._post_message(reply)
            elif self._opening_reply != reply:
                self._opening_reply = None
                await self._update_message(self._message, reply)

    async def _update_message(self, message: MessageId, reply: Reply) -> None:
        """Posts a new message if a person has deleted this one meanwhile, so that the asker still gets the answer."""
        await self.check_lease()
        try:
            async with self._outbox_call(DeliveryOperation.UPDATE):
                await self._thread.update_message(message, reply)
        except MessageGone:
            await self._post_message(reply)

    async def _attach_files(self, message: MessageId, reply: Reply) -> None:
        await self.check_lease()
        async with self._outbox_call(DeliveryOperation.ATTACH):
            await self._thread.attach_files(message, reply)

    async def _recover_message(self) -> None:
        """If a worker was killed between posting a message and recording it, the chat has a message that the inbox does
        not know.
        """
        if self._is_message_known:
            return
        self._message = await self.find_message(TurnId(self._claimed.turn.id))
        self._is_message_known = True
        if self._message is not None:
            await self._inbox.note_placeholder(self._claimed, self._message)

    async def _post_message(self, reply: Reply) -> None:
        await self.check_lease()
        self._is_message_known = False  # if the next call fails, the chat may have posted the message anyway
        async with self._outbox_call(DeliveryOperation.POST):
            message = await self._thread.post_message(reply)
        self._is_message_known = True
        await self._record_message(message)

    async def _record_message(self, message: MessageId) -> None:
        self._message = message
        if not await self._inbox.note_placeholder(self._claimed, message):
            raise LeaseLost()

    def _progress_reply(self, feed: ProgressFeed, *, is_stoppable: bool = False) -> Reply:
        """Returns the sentences of the answer that are written already, then the progress."""
        written = (TextPart(markdown=feed.partial_answer),) if feed.partial_answer else ()
        progress = ProgressPart(text=feed.latest_text or translate_message(INITIAL_PROGRESS))
        actions = (TurnActionsPart(handles=(TurnAction.STOP,)),) if is_stoppable else ()
        return Reply(turn=TurnId(self._claimed.turn.id), parts=(*written, progress, *actions))

    @asynccontextmanager
    async def _outbox_call(self, operation: DeliveryOperation) -> AsyncGenerator[None]:
        """Raises `OutboxFailed` (to be retried) for a chat product that does not answer in time."""
        with measured_delivery(self._observer, self._claimed.turn.surface, operation):
            try:
                async with asyncio.timeout(_OUTBOX_TIMEOUT_S):
                    yield
            except TimeoutError as exc:
                raise OutboxFailed("it did not answer in time", retry=True) from exc

"""One turn's message in the chat: posted once, found again after a kill, rewritten until it says the reply."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from bot.ids import MessageId, TurnId
from bot.inbound import Inbound
from bot.outbox import MessageGone, Outbox, OutboxFailed
from bot.replies import Chosen, File, Handle, Handles, Progress, Reply, Whole
from bot.tasks import lone_error
from storage.sql.inbox import ClaimedTurn, Inbox

LEASE: Final = timedelta(seconds=30)
_OUTBOX_S: Final = 30.0  # a chat product that does not answer is a chat product that is down
_PAUSE_S: Final = 1.0  # between two rewritings of a message: products limit them
_FIRST: Final = "Looking …"
_PATIENCE_S: Final = 2.0  # what takes longer can be stopped


class LeaseLost(Exception):
    """Another worker has the turn: nothing more may be done or said for it here."""


class News:
    """The latest progress, as the agent tells it and one reader hears it; then what it came to."""

    def __init__(self) -> None:
        self._changed, self._over = asyncio.Event(), asyncio.Event()
        self._text = ""
        self._reply: Reply | None = None

    @property
    def text(self) -> str:
        """The latest; empty before the first."""
        return self._text

    def tell(self, text: str) -> None:
        self._text = text
        self._changed.set()

    @property
    def reply(self) -> Reply | None:
        """None before the end, and where the work came to nothing."""
        return self._reply

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def end(self, reply: Reply | None = None) -> None:
        """The first end counts."""
        if not self.is_over:
            self._reply = reply
        self._over.set()
        self._changed.set()

    async def next(self, within_s: float | None = None) -> str | None:
        """Waits for something new, or so long for what is known; None once it is over."""
        try:
            async with asyncio.timeout(within_s):
                await self._changed.wait()
        except TimeoutError:
            return self._text
        self._changed.clear()
        return None if self._over.is_set() else self._text

    async def unless_over(self, doing: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Does it, and leaves it where it is once this is over."""
        async with asyncio.TaskGroup() as group:
            task, over = group.create_task(doing()), group.create_task(self._over.wait())
            await asyncio.wait((task, over), return_when=asyncio.FIRST_COMPLETED)
            task.cancel()
            over.cancel()

    async def rest(self, within_s: float = _PAUSE_S) -> None:
        """A pause, cut short when it is over."""
        try:
            async with asyncio.timeout(within_s):
                await self._over.wait()
        except TimeoutError:
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """Fulfils `bot.outbox.Opening`."""

    news: News
    progress: Callable[[str], Reply]
    check: Callable[[], Awaitable[None]]

    async def settled(self, within_s: float) -> None:
        await self.news.rest(within_s)

    async def words(self) -> Reply | None:
        await self.check()
        if self.news.is_over:
            return self.news.reply
        return self.progress(self.news.text or _FIRST)


class Silence:
    """The delivery of a turn whose reply is only handed back to whoever runs it."""

    async def report(self, news: News) -> None: ...

    async def deliver(self, reply: Reply) -> None: ...

    async def whisper(self, reply: Reply) -> None: ...

    async def settle(self, message: MessageId, reply: Reply, chosen: Chosen) -> None: ...

    async def found(self, turn: TurnId) -> MessageId | None: ...


class Delivery:
    """Of one claimed turn. The lease is checked right before each effect outside: `LeaseLost` when it is gone."""

    def __init__(
        self,
        claimed: ClaimedTurn,
        inbound: Inbound,
        outbox: Outbox,
        inbox: Inbox,
        *,
        now: Callable[[], datetime],
        log: FilteringBoundLogger,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._patience_s = patience_s
        self._until, self._now = claimed.lease_until, now
        self._claimed, self._inbound, self._outbox, self._inbox, self._log = claimed, inbound, outbox, inbox, log
        self._message = MessageId(claimed.turn.placeholder) if claimed.turn.placeholder else None
        self._opened_with: Reply | None = None
        self._asked_for = self._message is not None or claimed.fence <= 1  # nothing can have been posted before
        self._lock = asyncio.Lock()

    async def report(self, news: News) -> None:
        """A sign at once and a first message, then what is being done, until it is over. A failure here is none of the
        turn's. A dead turn does nothing but say its word.
        """
        if self._claimed.is_dead:
            return
        with lone_error():
            async with asyncio.TaskGroup() as group:
                sign = group.create_task(news.unless_over(self._attend))
                await self._open(news)
                sign.cancel()
        if not news.is_over:
            await news.unless_over(self._attend)  # what was posted ended the first
        began, can_be_stopped = time.monotonic(), False
        while (text := await news.next(None if can_be_stopped else self._patience_s)) is not None:
            is_long = time.monotonic() - began >= self._patience_s
            is_shown = await self._shown(self._progress(text or _FIRST, stoppable=is_long))
            can_be_stopped = can_be_stopped or (is_long and is_shown)
            await news.rest()

    async def deliver(self, reply: Reply) -> None:
        """The message now says `reply`, and its files are beside it. Raises `OutboxFailed`, `LeaseLost`."""
        await self._say(reply)
        if self._message is not None and any(isinstance(part, File | Whole) for part in reply.parts):
            await self._hand_over(self._message, reply)

    async def whisper(self, reply: Reply) -> None:
        """To the person alone; to all where that cannot be, or where they see already that something is done.

        Raises `OutboxFailed`, `LeaseLost`.
        """
        inbound = self._inbound
        await self._find()
        if self._message is None:
            await self.check()
            try:
                async with _deadline():
                    await self._outbox.whisper(inbound.conversation, inbound.address, inbound.person, reply)
            except OutboxFailed as exc:
                self._log.info("not whispered", turn=self._claimed.turn.id, reason=exc.reason)
            else:
                return
        await self._say(reply)

    async def settle(self, message: MessageId, reply: Reply, chosen: Chosen) -> None:
        """An earlier message of this conversation shows what was chosen. Raises `OutboxFailed`, `LeaseLost`."""
        await self.check()
        async with _deadline():
            await self._outbox.settle(self._inbound.conversation, self._inbound.address, message, reply, chosen)

    async def found(self, turn: TurnId) -> MessageId | None:
        """The message of a turn of this conversation, if the chat knows one. Raises `OutboxFailed`."""
        inbound, others = self._inbound, None
        if self._claimed.is_alone:
            others = [MessageId(one) for one in await self._inbox.messages_but(turn)]
        async with _deadline():
            return await self._outbox.find(inbound.conversation, inbound.address, turn, others=others)

    async def check(self) -> None:
        """Raises `LeaseLost`. Asks the database once the lease is not fresh: till then nobody can have it, but that a
        dead turn ends when its question is edited.
        """
        if self._until - self._now() > LEASE * 2 / 3 and not self._claimed.is_dead:
            return
        until = self._now() + LEASE
        if not await self._inbox.renew(self._claimed, LEASE):
            raise LeaseLost()
        self._until = until

    async def _attend(self) -> None:
        await self._outbox.attend(self._inbound.conversation, self._inbound.address)

    async def _open(self, news: News) -> None:
        """The first message, unless one is there: progress, or the reply where that is sooner. Without it the next one
        opens.
        """
        try:
            async with self._lock:
                await self._find()
                if self._message is None:
                    await self._begin(_Opening(news=news, progress=self._progress, check=self.check))
        except OutboxFailed as exc:
            self._log.info("nothing shown yet", turn=self._claimed.turn.id, reason=exc.reason)

    async def _begin(self, opening: _Opening) -> None:
        inbound = self._inbound
        self._asked_for = False  # if this fails, the chat may have it all the same
        async with _deadline():
            opened = await self._outbox.open(inbound.conversation, inbound.address, inbound.person, opening)
        self._asked_for = True
        if opened is not None:
            self._opened_with = opened.says
            await self._note(opened.message)

    async def _shown(self, progress: Reply) -> bool:
        """False for one that cannot be shown, and is left out: the next one says more."""
        try:
            await self._say(progress)
        except OutboxFailed as exc:
            self._log.info("progress not shown", turn=self._claimed.turn.id, reason=exc.reason)
            return False
        return True

    async def _say(self, reply: Reply) -> None:
        async with self._lock:
            await self._find()
            if self._message is None:
                await self._post(reply)
            elif self._opened_with != reply:
                self._opened_with = None
                await self._rewrite(self._message, reply)

    async def _rewrite(self, message: MessageId, reply: Reply) -> None:
        """A message that somebody has deleted meanwhile is posted anew: nobody asked in vain."""
        await self.check()
        try:
            async with _deadline():
                await self._outbox.update(self._inbound.conversation, self._inbound.address, message, reply)
        except MessageGone:
            await self._post(reply)

    async def _hand_over(self, message: MessageId, reply: Reply) -> None:
        await self.check()
        async with _deadline():
            await self._outbox.hand_over(self._inbound.conversation, self._inbound.address, message, reply)

    async def _find(self) -> None:
        """After a kill between posting and noting, the chat may know the message that the inbox does not."""
        if self._asked_for:
            return
        self._message = await self.found(TurnId(self._claimed.turn.id))
        self._asked_for = True
        if self._message is not None:
            await self._inbox.note_placeholder(self._claimed, self._message)

    async def _post(self, reply: Reply) -> None:
        await self.check()
        self._asked_for = False  # if this fails, the chat may have it all the same
        async with _deadline():
            message = await self._outbox.post(self._inbound.conversation, self._inbound.address, reply)
        self._asked_for = True
        await self._note(message)

    async def _note(self, message: MessageId) -> None:
        self._message = message
        if not await self._inbox.note_placeholder(self._claimed, message):
            raise LeaseLost()

    def _progress(self, text: str, *, stoppable: bool = False) -> Reply:
        ways = (Handles(handles=(Handle.STOP,)),) if stoppable else ()
        return Reply(turn=TurnId(self._claimed.turn.id), parts=(Progress(text=text), *ways))


@asynccontextmanager
async def _deadline() -> AsyncGenerator[None]:
    """A chat product that does not answer in time: `OutboxFailed`, to be tried again."""
    try:
        async with asyncio.timeout(_OUTBOX_S):
            yield
    except TimeoutError as exc:
        raise OutboxFailed("it did not answer in time", retry=True) from exc

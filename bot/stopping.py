"""Work that people may stop: asked for in the database, so that it is heard wherever the turn is worked on."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from structlog.typing import FilteringBoundLogger

from agent.outcome import Attempt
from bot.dialogue import Spoken, failed
from bot.ids import ConversationId, TurnId
from bot.inbound import Inbound
from bot.result import attempts_json
from bot.tasks import lone_error
from storage.sql.errors import SqlError
from storage.sql.inbox import Inbox

STOPPED: Final = "stopped"  # how the turn ended
_LOOK_S: Final = 1.0  # between two looks at what other processes were asked
_SHOWN: Final = 5  # attempts, the last ones
_FOUND: Final = {
    "annotations_search": "the fields",
    "annotations_aggregate": "the values",
    "search_text": "the text",
    "search_semantic": "the text by its meaning",
}

T = TypeVar("T")


class Stopped(Exception):
    """Somebody did not want to wait: `by` their name."""

    def __init__(self, by: str) -> None:
        super().__init__("stopped")
        self.by = by


class Stops:
    def __init__(self, inbox: Inbox, log: FilteringBoundLogger) -> None:
        self._inbox, self._log = inbox, log
        self._here: dict[TurnId, asyncio.Event] = {}
        self._others: list[Callable[[TurnId], None]] = []

    def tell(self, other: Callable[[TurnId], None]) -> None:
        """From now on, who works on turns beside this process is told at once, too."""
        self._others.append(other)

    async def ask(self, turn: TurnId, by: str) -> bool:
        """False when the turn is over. Heard at once here and where `tell` tells, within a second elsewhere."""
        heard = await self._inbox.ask_to_stop(turn, by)
        self.look(turn)
        for tell in self._others:
            tell(turn)
        return heard

    def look(self, turn: TurnId) -> None:
        """Somebody may have asked to stop it."""
        if turn in self._here:
            self._here[turn].set()

    async def ask_all(self, conversation: ConversationId, by: str) -> None:
        """Whatever is being worked on in the conversation."""
        for turn in await self._inbox.in_work(conversation):
            await self.ask(TurnId(turn), by)

    async def unless_stopped(self, turn: TurnId, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What the work comes to. Raises what it raises, and `Stopped`, with the work cancelled."""
        here = self._here[turn] = asyncio.Event()
        try:
            with lone_error():
                async with asyncio.TaskGroup() as group:
                    working, asked = group.create_task(work()), group.create_task(self._asked(turn, here))
                    await asyncio.wait((working, asked), return_when=asyncio.FIRST_COMPLETED)
                    working.cancel()
                    asked.cancel()
        finally:
            if self._here.get(turn) is here:  # else the lease was lost, and the turn is worked on anew
                del self._here[turn]
        if working.cancelled():
            raise Stopped(asked.result())
        return working.result()

    async def _asked(self, turn: TurnId, here: asyncio.Event) -> str:
        """By whom, once somebody has."""
        while True:
            try:
                async with asyncio.timeout(_LOOK_S):
                    await here.wait()
            except TimeoutError:
                pass
            here.clear()
            try:
                if (by := await self._inbox.asked_to_stop(turn)) is not None:
                    return by
            except SqlError as exc:
                self._log.warning("nobody asked whether to stop", error=type(exc).__name__)


def stopped(inbound: Inbound, turn: TurnId, by: str, so_far: Sequence[Attempt], *, doing: str = "") -> Spoken:
    """What the turn says instead of an answer: by whom it was stopped, and what had been found till then.

    `doing`: what it was at, for work that finds nothing, as the writing of a file.
    """
    sentence = f"Stopped by {by}. " if by else "Stopped. "
    spoken = failed(inbound, turn, sentence + _found(so_far, doing))
    return replace(spoken, result=spoken.result | {"attempts": attempts_json(so_far)}, ending=STOPPED)


def _found(so_far: Sequence[Attempt], doing: str) -> str:
    if not so_far:
        return f"It had come to this: {doing}" if doing else "Nothing had been found yet."
    left_out = len(so_far) - _SHOWN
    counts = [
        f"{attempt.documents:,} {'document' if attempt.documents == 1 else 'documents'} in {_FOUND[attempt.tool]}"
        for attempt in so_far[-_SHOWN:]
    ]
    earlier = f"{left_out:,} earlier {'search' if left_out == 1 else 'searches'}; " if left_out > 0 else ""
    return f"Found till then: {earlier}{', '.join(counts)}."

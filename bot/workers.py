"""Who claims turns: the workers of a service, several conversations at once, or one command that waits for its own."""

import asyncio
from collections.abc import Callable
from typing import Final

from structlog.typing import FilteringBoundLogger

from agent.context import Limits
from bot.delivery import LEASE
from bot.ids import TurnId
from bot.turns import TurnDone, Turns
from storage.sql.errors import SqlError
from storage.sql.inbox import ClaimedTurn, Inbox

_IDLE_S: Final = 0.5  # between two looks at an inbox that other processes fill too
_WAITING_S: Final = 0.05


class Workers:
    """`name` is this process, as the database knows it; `at_once` bounds the turns in work."""

    def __init__(self, turns: Turns, inbox: Inbox, *, name: str, log: FilteringBoundLogger, at_once: int = 8) -> None:
        self._turns, self._inbox, self._name, self._log, self._at_once = turns, inbox, name, log, at_once
        self._wake = asyncio.Event()
        self._others: list[Callable[[], None]] = []

    def tell(self, other: Callable[[], None]) -> None:
        """From now on, who works on other processes' turns is told of them at once."""
        self._others.append(other)

    def wake(self, surface: str) -> None:
        """There is a turn of this surface to work on."""
        if surface in self._turns.surfaces:
            self._wake.set()
            return
        for tell in self._others:
            tell()

    def look(self) -> None:
        """There may be something to do."""
        self._wake.set()

    async def work(self, stop: asyncio.Event) -> None:
        """Claims and works until `stop`; then ends what it has begun."""
        running: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._wake_at(stop))
            while not stop.is_set():
                self._wake.clear()
                claimed = await self._claimed(self._at_once - len(running))
                for one in claimed:
                    task = group.create_task(self._worked(one))
                    running.add(task)
                    task.add_done_callback(running.discard)
                if not claimed:
                    await self._idle()

    async def run(self, turn: TurnId, *, limits: Limits | None = None) -> TurnDone:
        """Works on this turn here and now, and on those before it in its conversation; failures are not tried again.

        Raises `UnknownTurn`, and what the database raises.
        """
        while True:
            claimed = await self._inbox.claim(self._name, LEASE, up_to=turn)
            for one in claimed:
                is_this = one.turn.id == turn
                done = await self._turns.held(one, limits=limits if is_this else None, last=True)
                if is_this and done is not None:
                    return done
            if not claimed:
                if (ended := await self._turns.done(turn)) is not None:
                    return ended
                await asyncio.sleep(_WAITING_S)  # another process has it

    async def _claimed(self, free: int) -> list[ClaimedTurn]:
        surfaces = self._turns.surfaces
        if free <= 0 or not surfaces:
            return []
        try:
            return await self._inbox.claim(self._name, LEASE, limit=free, surfaces=surfaces)
        except SqlError as exc:
            self._log.warning("no turns claimed", error=type(exc).__name__)
            return []

    async def _worked(self, claimed: ClaimedTurn) -> None:
        try:
            await self._turns.held(claimed)
        except SqlError as exc:  # the lease runs out, and the turn is claimed again
            self._log.warning("turn left", turn=claimed.turn.id, error=type(exc).__name__)
        finally:
            self._wake.set()  # the next of its conversation may be due

    async def _idle(self) -> None:
        try:
            async with asyncio.timeout(_IDLE_S):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _wake_at(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()

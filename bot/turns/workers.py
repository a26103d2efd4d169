"""Claims turns: for the workers of a service, several conversations at once, or for one command that waits for its own
turn.
"""

import asyncio
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from agent.limits import AnswerLimits
from bot.ids import TurnId
from bot.progress import ProgressCallback, ignore_progress
from bot.turns.delivery import TURN_LEASE
from bot.turns.stopping import DEFAULT_STOP_TIMEOUTS
from bot.turns.turn_processor import FinishedTurn, TurnProcessor
from bot.turns.worker_protocol import MAX_CONCURRENT_TURNS
from storage.sql.errors import SqlError
from storage.sql.stores.inbox import ClaimedTurn, TurnInbox, TurnShare

_POLL_INTERVAL_S: Final = 0.5  # pauses and leases end without notice, and on SQLite other processes add turns so
_RECHECK_INTERVAL_S: Final = 0.05


class TurnWorkers:
    """`name` is this process in the database; `max_concurrent` bounds the turns that run at once.

    One person has at most a quarter as many turns in progress, over all processes: the others are for other people.
    """

    def __init__(
        self,
        turn_processor: TurnProcessor,
        inbox: TurnInbox,
        *,
        name: str,
        log: FilteringBoundLogger,
        max_concurrent: int = MAX_CONCURRENT_TURNS,
    ) -> None:
        self._turn_processor, self._inbox, self._name, self._log, self._max_concurrent = (
            turn_processor,
            inbox,
            name,
            log,
            max_concurrent,
        )
        self._share = TurnShare.ALL
        self._wake = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Calls `listener` at once when a turn is stored that another process must work on."""
        self._listeners.append(listener)

    def wake_for(self, surface: str) -> None:
        """Reports a stored turn of this surface to the process that works on it."""
        if surface in self._turn_processor.surfaces:
            self._wake.set()
            return
        for notify_listener in self._listeners:
            notify_listener()

    def take_background_turns(self) -> None:
        """From now on claims the background turns alone."""
        self._share = TurnShare.BACKGROUND

    def leave_background_turns(self, are_taken: bool) -> None:
        """Whether another process takes the background turns from now on."""
        self._share = TurnShare.PROMPT if are_taken else TurnShare.ALL
        self._wake.set()

    def check_inbox(self) -> None:
        """Looks for due turns now."""
        self._wake.set()

    async def run_until_stopped(
        self, stop: asyncio.Event, *, turn_timeout: timedelta = DEFAULT_STOP_TIMEOUTS.turns
    ) -> None:
        """Claims and processes turns until `stop`; then finishes the turns in progress.

        A turn that is not finished `turn_timeout` later is given back without counting the attempt.
        """
        running: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._wake_on_stop(stop))
            watch_task = group.create_task(self._watch_inbox())
            while not stop.is_set():
                self._wake.clear()
                claimed = await self._claim_turns(self._max_concurrent - len(running))
                for claimed_turn in claimed:
                    task = group.create_task(self._process_claimed(claimed_turn))
                    running.add(task)
                    task.add_done_callback(running.discard)
                if not claimed:
                    await self._wait_for_turns()
            watch_task.cancel()
            await _end_tasks(running, turn_timeout)

    async def run_turn(
        self, turn: TurnId, *, limits: AnswerLimits | None = None, report_progress: ProgressCallback = ignore_progress
    ) -> FinishedTurn:
        """Runs this turn here and now, and the turns before it in its conversation; failures are not retried.

        Raises `UnknownTurn`, and what the database raises.
        """
        while True:
            claimed = await self._inbox.claim_due_turns(self._name, TURN_LEASE, up_to_turn=turn)
            for claimed_turn in claimed:
                is_requested = claimed_turn.turn.id == turn
                finished_turn = await self._turn_processor.process_turn(
                    claimed_turn,
                    limits=limits if is_requested else None,
                    is_last_attempt=True,
                    report_progress=report_progress,
                )
                if is_requested and finished_turn is not None:
                    return finished_turn
            if not claimed:
                if (earlier_finish := await self._turn_processor.load_finished_turn(turn)) is not None:
                    return earlier_finish
                await asyncio.sleep(_RECHECK_INTERVAL_S)  # another process works on it

    async def _claim_turns(self, max_turns: int) -> list[ClaimedTurn]:
        surfaces = self._turn_processor.surfaces
        if max_turns <= 0 or not surfaces:
            return []
        try:
            return await self._inbox.claim_due_turns(
                self._name,
                TURN_LEASE,
                limit=max_turns,
                surfaces=surfaces,
                limit_per_person=max(self._max_concurrent // 4, 1),
                share=self._share,
            )
        except SqlError as exc:
            self._log.warning("no turns claimed", error=type(exc).__name__)
            return []

    async def _process_claimed(self, claimed: ClaimedTurn) -> None:
        try:
            await self._turn_processor.process_turn(claimed)
        except SqlError as exc:  # the lease expires, and the turn is claimed again
            self._log.warning("turn left unfinished", turn=claimed.turn.id, error=type(exc).__name__)
        finally:
            self._wake.set()  # the next turn of the conversation may be due

    async def _wait_for_turns(self) -> None:
        try:
            async with asyncio.timeout(_POLL_INTERVAL_S):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _watch_inbox(self) -> None:
        """Looks for due turns as soon as another process has stored one, where the database tells."""
        if self._turn_processor.surfaces:
            await self._inbox.watch_arrivals(self._wake.set)

    async def _wake_on_stop(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()


async def _end_tasks(tasks: Collection[asyncio.Task[None]], within: timedelta) -> None:
    """Waits for the tasks, and cancels those that are not done in time."""
    if tasks:
        _, late_tasks = await asyncio.wait(tasks, timeout=within.total_seconds())
        for task in late_tasks:
            task.cancel()

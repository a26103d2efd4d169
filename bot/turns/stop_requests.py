"""Stop requests. They go through the database, so that they reach the process that works on the turn."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from structlog.typing import FilteringBoundLogger

from agent.compose.phrases.nouns import format_count
from agent.compose.phrases.values import format_number
from agent.outcome import SearchAttempt
from agent.translation.message_catalogues import mark_message
from bot.conversation.json_result import attempts_to_json
from bot.conversation.turn_result import TurnResult, failed_turn_result
from bot.ids import ConversationId, TurnId
from bot.surface.inbound import Inbound
from bot.task_groups import lone_error
from bot.translation import translate_message, translate_plural
from storage.sql.errors import SqlError
from storage.sql.stores.inbox import TurnInbox

STOPPED: Final = "stopped"  # ending of a stopped turn
_POLL_INTERVAL_S: Final = 1.0  # between two looks for requests that other processes stored
_MAX_ATTEMPTS_SHOWN: Final = 5  # the latest ones
_SEARCHED_BY_TOOL: Final = {
    "annotations_search": mark_message("the fields"),
    "annotations_aggregate": mark_message("the values"),
    "search_text": mark_message("the text"),
    "search_semantic": mark_message("the text by its meaning"),
}

T = TypeVar("T")


class TurnStopped(Exception):
    """A person stopped the turn. `stopped_by` is their name."""

    def __init__(self, stopped_by: str) -> None:
        super().__init__("stopped")
        self.stopped_by = stopped_by


class StopRequests:
    def __init__(self, inbox: TurnInbox, log: FilteringBoundLogger) -> None:
        self._inbox, self._log = inbox, log
        self._local_events: dict[TurnId, asyncio.Event] = {}
        self._listeners: list[Callable[[TurnId], None]] = []

    def add_listener(self, listener: Callable[[TurnId], None]) -> None:
        """Calls `listener` at once for each stop request, for workers outside this process."""
        self._listeners.append(listener)

    async def request_stop(self, turn: TurnId, by: str) -> bool:
        """False when the turn is over. This process and the listeners learn of it at once, other processes within a
        second.
        """
        is_requested = await self._inbox.request_turn_stop(turn, by)
        self.wake_turn(turn)
        for notify_listener in self._listeners:
            notify_listener(turn)
        return is_requested

    def wake_turn(self, turn: TurnId) -> None:
        """Makes the turn look for a stop request now."""
        if turn in self._local_events:
            self._local_events[turn].set()

    async def stop_conversation(self, conversation: ConversationId, by: str) -> None:
        """Requests a stop for each turn in progress in the conversation."""
        for turn in await self._inbox.list_turns_in_progress(conversation):
            await self.request_stop(TurnId(turn), by)

    async def run_unless_stopped(self, turn: TurnId, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `work`. Raises what `work` raises, and `TurnStopped` after it has cancelled the work."""
        local_event = self._local_events[turn] = asyncio.Event()
        try:
            with lone_error():
                async with asyncio.TaskGroup() as group:
                    work_task, stop_task = (
                        group.create_task(work()),
                        group.create_task(self._wait_for_request(turn, local_event)),
                    )
                    await asyncio.wait((work_task, stop_task), return_when=asyncio.FIRST_COMPLETED)
                    work_task.cancel()
                    stop_task.cancel()
        finally:
            if self._local_events.get(turn) is local_event:  # else the lease was lost, and a new attempt listens
                del self._local_events[turn]
        if work_task.cancelled():
            raise TurnStopped(stop_task.result())
        return work_task.result()

    async def _wait_for_request(self, turn: TurnId, local_event: asyncio.Event) -> str:
        """Waits for a stop request; returns the name of the person who asked."""
        while True:
            try:
                async with asyncio.timeout(_POLL_INTERVAL_S):
                    await local_event.wait()
            except TimeoutError:
                pass
            local_event.clear()
            try:
                if (by := await self._inbox.find_stop_request(turn)) is not None:
                    return by
            except SqlError as exc:
                self._log.warning("stop requests not read", error=type(exc).__name__)


def stopped_turn_result(
    inbound: Inbound, turn: TurnId, by: str, attempts: Sequence[SearchAttempt], *, activity: str = ""
) -> TurnResult:
    """The result of a stopped turn. Its text says who stopped it, and what the searches had found by then.

    `activity`: the current activity, for work that finds nothing, such as writing a file.
    """
    sentence = translate_message("Stopped by {name}.", name=by) if by else translate_message("Stopped.")
    turn_result = failed_turn_result(inbound, turn, f"{sentence} {_describe_attempts(attempts, activity)}")
    return replace(turn_result, result=turn_result.result | {"attempts": attempts_to_json(attempts)}, ending=STOPPED)


def _describe_attempts(attempts: Sequence[SearchAttempt], activity: str) -> str:
    if not attempts:
        if activity:
            return translate_message("It had come to this: {activity}", activity=activity)
        return translate_message("Nothing had been found yet.")
    left_out = len(attempts) - _MAX_ATTEMPTS_SHOWN
    counts = [
        translate_message(
            "{documents} in {place}",
            documents=format_count(attempt.documents),
            place=translate_message(_SEARCHED_BY_TOOL[attempt.tool]),
        )
        for attempt in attempts[-_MAX_ATTEMPTS_SHOWN:]
    ]
    earlier = (
        translate_plural(
            "{count} earlier search; ", "{count} earlier searches; ", left_out, count=format_number(left_out)
        )
        if left_out > 0
        else ""
    )
    return translate_message("Found till then: {counts}.", counts=f"{earlier}{', '.join(counts)}")

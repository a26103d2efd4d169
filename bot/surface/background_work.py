"""Work that may take longer than a chat product waits for an answer to a click."""

import asyncio
from collections.abc import Awaitable
from typing import Final

from structlog.typing import FilteringBoundLogger

from storage.search.errors import SearchError
from storage.sql.errors import SqlError

_TIMEOUT_S: Final = 60.0


class BackgroundWork:
    """A failure is only logged: the person sees that nothing came, and can try again."""

    def __init__(self, log: FilteringBoundLogger, *, message: str, failures: tuple[type[Exception], ...]) -> None:
        """`message`: what the log says of a failure. `failures`: those of the chat product."""
        self._log, self._message = log, message
        self._failures = (*failures, SearchError, SqlError, TimeoutError)
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Awaitable[None]) -> None:
        task = asyncio.create_task(self._run_in_time(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def close(self) -> None:
        """Cancel what is running, and wait for it."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run_in_time(self, work: Awaitable[None]) -> None:
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                await work
        except self._failures as exc:
            self._log.warning(self._message, error=type(exc).__name__, reason=str(exc))

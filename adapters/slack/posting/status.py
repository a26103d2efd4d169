"""The status line of a thread: Slack's own line beside the messages, with rotating texts.

The status is only a hint to the reader. A failure to show it changes nothing else.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, Final

from cachetools import FIFOCache
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError
from adapters.slack.payloads.responses import OkResponse
from adapters.slack.posting.api import SlackApi

STATUS_TEXT: Final = "is looking through the documents …"
LOADING_MESSAGES: Final = (
    "Reading your question …",
    "Looking through the documents …",
    "Counting what fits …",
    "Checking what the answer rests on …",
)
CALL_TIMEOUT_S: Final = 1.0
_MAX_REMEMBERED_THREADS: Final = 1_000


class ThreadStatus:
    """The status lines of one workspace's threads. No method raises."""

    def __init__(self, api: SlackApi, log: FilteringBoundLogger) -> None:
        self._api, self._log = api, log
        self._stoppable_by_thread: FIFOCache[tuple[str, str], bool] = FIFOCache(_MAX_REMEMBERED_THREADS)

    async def show_thread_status(self, address: Mapping[str, str]) -> None:
        """Show the status until the app posts in the thread, for two minutes at most."""
        key = (address["channel"], address["thread_ts"])
        self._stoppable_by_thread[key] = False
        await self._set_thread_status(key, status=STATUS_TEXT, loading_messages=list(LOADING_MESSAGES))

    async def show_stop_button(self, address: Mapping[str, str]) -> bool:
        """Show Slack's own stop button, which exists for agent apps only. Returns whether it is shown."""
        key = (address["channel"], address["thread_ts"])
        if not self._stoppable_by_thread.get(key):
            self._stoppable_by_thread[key] = True
            return await self._set_session_status(key, "processing")
        return True

    async def clear_thread_status(self, address: Mapping[str, str]) -> None:
        """Clear the status and the stop button. Slack clears them for a new message, but not for an update."""
        key = (address["channel"], address["thread_ts"])
        was_stoppable = self._stoppable_by_thread.pop(key, None)
        if was_stoppable is not None:
            await self._set_thread_status(key, status="")
        if was_stoppable:
            await self._set_session_status(key, "active")

    async def _set_thread_status(self, thread_key: tuple[str, str], **status_arguments: Any) -> None:
        arguments = {"channel_id": thread_key[0], "thread_ts": thread_key[1], **status_arguments}
        await self._call_without_raising(
            self._api.call_method(OkResponse, "assistant.threads.setStatus", arguments, repeat=False)
        )

    async def _set_session_status(self, thread_key: tuple[str, str], status: str) -> bool:
        arguments = {"channel_id": thread_key[0], "thread_ts": thread_key[1], "status": status}
        return await self._call_without_raising(
            self._api.call_method(OkResponse, "agents.sessions.setStatus", arguments, repeat=False)
        )

    async def _call_without_raising(self, call: Coroutine[Any, Any, OkResponse]) -> bool:
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                await call
        except (SlackError, TimeoutError) as exc:
            self._log.info("slack status not shown", reason=type(exc).__name__)
            return False
        return True

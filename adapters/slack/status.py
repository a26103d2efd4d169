"""What Parley is shown to be doing in a thread: Slack's own line beside the messages, with texts that take turns.

A sign and no more: where Slack does not take it, or not at once, everything else goes on as it would.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, Final

from pydantic import BaseModel
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.errors import SlackFailed

STATUS: Final = "is looking through the documents …"
LOADING: Final = (
    "Reading your question …",
    "Looking through the documents …",
    "Counting what fits …",
    "Checking what the answer rests on …",
)
PATIENCE_S: Final = 1.0
_MOST: Final = 1_000  # threads remembered


class _Done(BaseModel):
    ok: bool


class Status:
    """Of the threads of one workspace. No method raises."""

    def __init__(self, api: SlackApi, log: FilteringBoundLogger) -> None:
        self._api, self._log = api, log
        self._shown: dict[tuple[str, str], bool] = {}  # whether it can be stopped

    async def begin(self, address: Mapping[str, str]) -> None:
        """Until the app says something new in the thread, for two minutes at most."""
        key = (address["channel"], address["thread_ts"])
        self._shown[key] = False
        while len(self._shown) > _MOST:
            del self._shown[next(iter(self._shown))]
        await self._set(key, status=STATUS, loading_messages=list(LOADING))

    async def stoppable(self, address: Mapping[str, str]) -> bool:
        """With Slack's own button to stop it, where the app is an agent. Whether it is there."""
        key = (address["channel"], address["thread_ts"])
        if not self._shown.get(key):
            self._shown[key] = True
            return await self._session(key, "processing")
        return True

    async def end(self, address: Mapping[str, str]) -> None:
        """A message that is rewritten is nothing new: Slack has to be told."""
        key = (address["channel"], address["thread_ts"])
        was_stoppable = self._shown.pop(key, None)
        if was_stoppable is not None:
            await self._set(key, status="")
        if was_stoppable:
            await self._session(key, "active")

    async def _set(self, key: tuple[str, str], **shown: Any) -> None:
        arguments = {"channel_id": key[0], "thread_ts": key[1], **shown}
        await self._told(self._api.call(_Done, "assistant.threads.setStatus", arguments, repeat=False))

    async def _session(self, key: tuple[str, str], status: str) -> bool:
        arguments = {"channel_id": key[0], "thread_ts": key[1], "status": status}
        return await self._told(self._api.call(_Done, "agents.sessions.setStatus", arguments, repeat=False))

    async def _told(self, call: Coroutine[Any, Any, _Done]) -> bool:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await call
        except (SlackFailed, TimeoutError) as exc:
            self._log.info("slack status not shown", reason=type(exc).__name__)
            return False
        return True

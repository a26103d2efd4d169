"""Progress notifications of a call, for a client that asked for them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from mcp.server.session import ServerSession

from bot.progress import ProgressCallback
from bot.task_groups import lone_error

_MAX_WAITING_TEXTS: Final = 50  # of a client that reads slowly; further ones are dropped


@asynccontextmanager
async def progress_notifications(session: ServerSession) -> AsyncGenerator[ProgressCallback]:
    """Sends each text that the callback gets, numbered from 1, and has sent them all when the block ends."""
    texts: asyncio.Queue[str | None] = asyncio.Queue()

    def report_progress(text: str) -> None:
        if texts.qsize() < _MAX_WAITING_TEXTS:
            texts.put_nowait(text)

    async def send_texts() -> None:
        number = 0
        while (text := await texts.get()) is not None:
            number += 1
            await session.report_progress(number, message=text)

    with lone_error():
        async with asyncio.TaskGroup() as group:
            group.create_task(send_texts())
            yield report_progress
            texts.put_nowait(None)

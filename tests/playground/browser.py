"""A page of a headless Chromium, driven by playwright-core in a process of node's."""

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.playground.installation import FOLDER, PlaygroundTools

_ANSWER_S: Final = 60.0
_MAX_LINE_BYTES: Final = 2**24


class BrowserFailed(Exception):
    """The page does not do what was asked, in the words of the driver."""


@dataclass(kw_only=True)
class BrowserPage:
    process: Process
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def call(self, command: str, **fields: Any) -> Any:
        """Raises `BrowserFailed`, `TimeoutError`."""
        assert self.process.stdin is not None
        async with self.turn:
            self.process.stdin.write(json.dumps({"command": command, **fields}).encode() + b"\n")
            return await self.read_answer()

    async def read_answer(self) -> Any:
        assert self.process.stdout is not None
        async with asyncio.timeout(_ANSWER_S):
            line = await self.process.stdout.readline()
        if not line:
            raise BrowserFailed("the browser has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise BrowserFailed(answer["error"])
        return answer["result"]

    async def click_role(self, role: str, name: str, **options: bool) -> None:
        await self.call("click", target={"role": role, "name": name, **options})

    async def click_selector(self, selector: str, **options: bool) -> None:
        await self.call("click", target={"selector": selector, **options})

    async def evaluate(self, script: str) -> Any:
        return await self.call("evaluate", script=script)

    async def wait_for(self, script: str) -> None:
        await self.call("wait", script=script)

    async def wait_for_text(self, text: str) -> None:
        """Waits until the text stands in the page."""
        await self.wait_for(f"document.body.innerText.includes({json.dumps(text)})")

    async def save_picture(self, path: Path, **options: Any) -> None:
        await self.call("picture", path=str(path), **options)


@asynccontextmanager
async def open_page(tools: PlaygroundTools) -> AsyncGenerator[BrowserPage]:
    process = await asyncio.create_subprocess_exec(
        tools.node,
        str(FOLDER / "driver.js"),
        tools.chromium,
        stdin=PIPE,
        stdout=PIPE,
        env={"NODE_PATH": str(tools.packages), "PATH": "/usr/bin:/bin", "HOME": str(tools.packages.parent)},
        limit=_MAX_LINE_BYTES,
    )
    page = BrowserPage(process=process)
    try:
        await page.read_answer()
        yield page
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()

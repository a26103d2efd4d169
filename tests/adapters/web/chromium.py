"""A headless Chromium driven over its DevTools protocol (https://chromedevtools.github.io/devtools-protocol/)."""

import asyncio
import base64
import contextlib
import itertools
import os
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import aiohttp

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
_KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, " ": 32}


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self.complaints: list[str] = []  # what the page's console and its security policy said

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command; its result."""
        id_ = next(self._ids)
        await self._socket.send_json({"id": id_, "method": method, "params": params})
        while True:
            message = await self._socket.receive_json(timeout=30)
            self._note(message)
            if message.get("id") == id_:
                assert "error" not in message, message
                return message["result"]

    async def open(self, address: str) -> None:
        await self.call("Page.navigate", url=address)
        await self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    async def value(self, expression: str) -> Any:
        """What an expression of JavaScript gives."""
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, expression: str) -> None:
        """Raises `TimeoutError` when the expression does not become true."""
        look = f"const look = () => ({expression}) ? done(true) : late() ? done(false) : setTimeout(look, 20)"
        late = "const end = Date.now() + 30000, late = () => Date.now() > end"
        if not await self.value(f"new Promise(done => {{ {late}; {look}; look(); }})"):
            raise TimeoutError(expression)

    async def type(self, text: str) -> None:
        await self.call("Input.insertText", text=text)

    async def press(self, key: str) -> None:
        text = {"Enter": "\r", " ": " "}.get(key)
        common = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        await self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    async def look(self, *, width: int = 1100, height: int = 800, dark: bool = False) -> None:
        """The size of the window and the colours the person prefers."""
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])

    async def picture(self, path: Path) -> None:
        shot = await self.call("Page.captureScreenshot", format="png")
        await asyncio.to_thread(path.write_bytes, base64.b64decode(shot["data"]))

    def _note(self, message: dict[str, Any]) -> None:
        match message.get("method"):
            case "Log.entryAdded":
                self.complaints.append(message["params"]["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(message["params"]["exceptionDetails"]))
            case _:
                pass


@contextlib.asynccontextmanager
async def browsing(profile: Path, downloads: Path) -> AsyncGenerator[Page]:
    """A browser of its own, with an empty profile, closed at the end."""
    assert PROGRAM is not None
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        "--headless=new",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        *("--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        *sandbox,
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        port = await _port(profile)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json") as answer:
                targets = await answer.json()
            address = next(one["webSocketDebuggerUrl"] for one in targets if one["type"] == "page")
            async with session.ws_connect(address, max_msg_size=0) as socket:
                page = Page(socket)
                for domain in ("Page", "Runtime", "Log", "Network"):
                    await page.call(f"{domain}.enable")
                await page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
                yield page
    finally:
        process.terminate()
        await process.wait()


async def _port(profile: Path) -> int:
    """The browser writes it once it listens."""
    file = profile / "DevToolsActivePort"
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(FileNotFoundError, IndexError, ValueError):
                return int(file.read_text().splitlines()[0])
            await asyncio.sleep(0.05)

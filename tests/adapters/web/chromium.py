"""Drives a headless Chromium over its DevTools protocol (https://chromedevtools.github.io/devtools-protocol/)."""

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

CHROMIUM_PATH = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
_KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, " ": 32, "ArrowDown": 40}


class BrowserTab:
    """One browser tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self.page_errors: list[str] = []  # errors of the page's console and of its security policy

    async def call_devtools(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command and return its result."""
        id_ = next(self._ids)
        await self._socket.send_json({"id": id_, "method": method, "params": params})
        while True:
            message = await self._socket.receive_json(timeout=30)
            self._note_page_error(message)
            if message.get("id") == id_:
                assert "error" not in message, message
                return message["result"]

    async def open_address(self, address: str) -> None:
        await self.call_devtools("Page.navigate", url=address)
        await self.wait_until_true("document.readyState === 'complete' && location.href !== 'about:blank'")

    async def evaluate_script(self, expression: str) -> Any:
        """Evaluate a JavaScript expression and return its value."""
        result = await self.call_devtools(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def wait_until_true(self, expression: str) -> None:
        """Wait until the expression is true. Raises `TimeoutError` after 30 seconds."""
        poll_script = f"const look = () => ({expression}) ? done(true) : late() ? done(false) : setTimeout(look, 20)"
        deadline_script = "const end = Date.now() + 30000, late = () => Date.now() > end"
        if not await self.evaluate_script(f"new Promise(done => {{ {deadline_script}; {poll_script}; look(); }})"):
            raise TimeoutError(expression)

    async def type_text(self, text: str) -> None:
        await self.call_devtools("Input.insertText", text=text)

    async def press_key(self, key: str) -> None:
        text = {"Enter": "\r", " ": " "}.get(key)
        key_fields = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        await self.call_devtools(
            "Input.dispatchKeyEvent", type="keyDown", **key_fields, **({"text": text} if text else {})
        )
        await self.call_devtools("Input.dispatchKeyEvent", type="keyUp", **key_fields)

    async def click_element(self, selector: str) -> None:
        """Click with the mouse in the middle of the element."""
        box = await self.evaluate_script(
            f"(element => {{ element.scrollIntoView({{block: 'center'}}); const box = element.getBoundingClientRect();"
            f" return [box.x + box.width / 2, box.y + box.height / 2]; }})(document.querySelector({selector!r}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            await self.call_devtools(
                "Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1
            )

    async def set_appearance(self, *, width: int = 1100, height: int = 800, dark: bool = False) -> None:
        """Set the window size and the preferred colour scheme."""
        await self.call_devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call_devtools("Emulation.setEmulatedMedia", features=[scheme])

    async def save_screenshot(self, path: Path) -> None:
        shot = await self.call_devtools("Page.captureScreenshot", format="png")
        await asyncio.to_thread(path.write_bytes, base64.b64decode(shot["data"]))

    def _note_page_error(self, message: dict[str, Any]) -> None:
        match message.get("method"):
            case "Log.entryAdded":
                self.page_errors.append(message["params"]["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.page_errors.append(str(message["params"]["exceptionDetails"]))
            case _:
                pass


@contextlib.asynccontextmanager
async def open_browser(profile: Path, downloads: Path) -> AsyncGenerator[BrowserTab]:
    """Run a browser with an empty profile and close it at the end."""
    assert CHROMIUM_PATH is not None
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    process = await asyncio.create_subprocess_exec(
        CHROMIUM_PATH,
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
        port = await _devtools_port_of(profile)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json") as response:
                targets = await response.json()
            address = next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
            async with session.ws_connect(address, max_msg_size=0) as socket:
                page = BrowserTab(socket)
                for domain in ("Page", "Runtime", "Log", "Network"):
                    await page.call_devtools(f"{domain}.enable")
                await page.call_devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
                yield page
    finally:
        process.terminate()
        await process.wait()


async def _devtools_port_of(profile: Path) -> int:
    """Returns the browser's port, which it writes to a file once it listens."""
    file = profile / "DevToolsActivePort"
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(FileNotFoundError, IndexError, ValueError):
                return int(file.read_text().splitlines()[0])
            await asyncio.sleep(0.05)

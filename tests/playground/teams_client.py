"""What a person does in the page of the Playground, and what they see there."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.playground.office import PlaygroundOffice
from tests.playground.signing_proxy import PlaygroundCall

_EDITOR: Final = "[role=textbox][contenteditable=true]"
_WAITING_S: Final = 40.0
_WIDTH: Final = 1300  # pixels, as all below
_CONVERSATION_LEFT: Final = 330  # beside the list of conversations
_CONVERSATION_TOP: Final = 50  # below the Playground's own bar


@dataclass(frozen=True, kw_only=True)
class PlaygroundClient:
    """Ada's. `pictures`: the folder for pictures of the page."""

    office: PlaygroundOffice
    pictures: Path

    async def open_client(self) -> None:
        page = self.office.page
        await page.call("open", url=self.office.url)
        await page.wait_for("document.querySelector('[role=treeitem][aria-label=\"Personal Chat\"]') !== null")
        await page.click_role("button", "Toggle Log Panel")

    async def open_place(self, name: str) -> None:
        """`name`: of a chat, or `team - channel`."""
        await self.office.page.click_role("treeitem", name)
        await self.office.page.wait_for(f"document.querySelector('{_EDITOR}') !== null")

    async def say(self, text: str, *, mention: bool = False) -> None:
        """Writes in the chat that is open."""
        await self._write(text, mention=mention)
        await self.office.page.call("press", key="Enter")

    async def post_in_channel(self, text: str) -> None:
        """Begins a thread with a mention of Parley."""
        await self._write(text, mention=True)
        await self.office.page.click_role("button", "Post")

    async def click_button(self, title: str) -> None:
        """Clicks the newest button whose title begins so."""
        await self.office.page.click_selector(f'button[title^="{title}"]', last=True)

    async def wait_for_sent(self, condition: Callable[[], bool]) -> None:
        """Waits until Parley has called what it should. Raises `TimeoutError`."""
        async with asyncio.timeout(_WAITING_S):
            while not condition():  # noqa: ASYNC110 - the recorded calls set no event
                await asyncio.sleep(0.05)

    async def wait_for_text(self, text: str) -> None:
        await self.office.page.wait_for_text(text)

    async def wait_for_selector(self, selector: str) -> None:
        await self.office.page.wait_for(f"document.querySelector({json.dumps(selector)}) !== null")

    async def wait_for_button(self, title: str) -> None:
        """Waits until there is a button whose title begins so."""
        await self.wait_for_selector(f'button[title^="{title}"]')

    async def wait_for_delivery(self, name: str) -> None:
        """Waits until the client has delivered an invoke of the name."""
        await self.wait_for_sent(lambda: any(part.get("name") == name for part in self.office.proxy.activities))

    def messages_sent(self) -> list[PlaygroundCall]:
        return self.office.proxy.messages_sent()

    def sent_kinds(self) -> set[str]:
        """The content types of attachments that Parley has sent."""
        return {
            str(part["contentType"]) for call in self.messages_sent() for part in call.activity.get("attachments", [])
        }

    async def count_table_rows(self) -> int:
        """Rows of the newest table, with its header."""
        script = "[...document.querySelectorAll('[role=table]')].at(-1).querySelectorAll('[role=row]').length"
        return int(await self.office.page.evaluate(script))

    async def read_text(self) -> str:
        return str(await self.office.page.evaluate("document.body.innerText"))

    async def list_button_titles(self) -> list[str]:
        """The titles of buttons of cards, from top to bottom."""
        script = "[...document.querySelectorAll('.ac-adaptiveCard button[title]')].map(button => button.title)"
        return list(await self.office.page.evaluate(script))

    async def rate_newest_answer(self, reason: str) -> None:
        page = self.office.page
        await page.click_selector('button[aria-label="Like"]', last=True)
        await page.call("fill", target={"selector": "[role=dialog] textarea"}, text=reason)
        await page.click_role("button", "Submit")

    async def take_picture(self, name: str, *, height: int = 800) -> None:
        """A picture of the conversation; `height` in pixels of the page."""
        page = self.office.page
        await page.call("resize", width=_WIDTH, height=height)
        clip = {
            "x": _CONVERSATION_LEFT,
            "y": _CONVERSATION_TOP,
            "width": _WIDTH - _CONVERSATION_LEFT,
            "height": height - _CONVERSATION_TOP,
        }
        await page.call("picture", path=str(self.pictures / f"{name}.png"), clip=clip)

    async def _write(self, text: str, *, mention: bool) -> None:
        page = self.office.page
        await page.click_selector(_EDITOR)
        if mention:
            await page.call("type", text="@Par")
            await page.click_selector("#typeahead-menu [role=menuitem]")
            await page.call("type", text=" ")
        await page.call("type", text=text)

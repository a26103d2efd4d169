"""A person with a keyboard at the web chat of a running `parley serve`, in a real browser."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.adapters.web.chromium import PROGRAM, Page, browsing
from tests.adapters.web.serving import serving
from tests.cli.conftest import RECEIPTS, run

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed (apt-get install chromium)"),
]


def home_with_receipts(folder: Path) -> Path:
    source = folder / "receipts.jsonl"
    source.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    assert run(folder, "ingest", str(source), "--bucket", "receipts").status == 0
    return folder


async def tab_to(page: Page, selector: str) -> tuple[str, str]:
    """Tab from the top of the page to the first such button; its label and count."""
    await page.value("document.querySelector('header .new').focus()")
    for _ in range(20):
        await page.press("Tab")
        if await page.value(f"document.activeElement.matches({selector!r})"):
            label, count = str(await page.value("document.activeElement.innerText")).split("\n")
            return label, count
    raise AssertionError(f"{selector} is not reached by Tab")


async def test_ask_choose_and_download_by_keyboard_alone(tmp_path: Path) -> None:
    home, downloads = tmp_path / "home", tmp_path / "downloads"
    home.mkdir()
    await asyncio.to_thread(home_with_receipts, home)
    async with serving(home) as address, browsing(tmp_path / "profile", downloads) as page:
        await page.open(address)
        await page.until("document.activeElement.id === 'text'")
        await page.type("List all receipts")
        await page.press("Enter")
        await page.until("document.querySelectorAll('.counted button').length > 1")

        counts = "[...document.querySelectorAll('.counted .count')].map(one => Number(one.innerText))"
        assert sum(await page.value(counts)) == 120

        label, count = await tab_to(page, ".counted button")
        await page.press("Enter")
        await page.until("document.querySelector('.chosen') && document.querySelector('table')")
        assert label in await page.value("document.querySelector('.chosen').innerText")
        assert f"{count} receipts" in await page.value("document.getElementById('log').innerText")

        await page.until("document.activeElement.id === 'text'")
        await page.type("export")
        await page.press("Enter")
        await page.until("document.querySelector('.file a')")
        await page.value("document.querySelector('.file a').focus()")
        await page.press("Enter")
        rows = await downloaded(downloads)
        assert len(rows) == int(count) + 1

        before = await page.value("document.querySelectorAll('article').length")
        await page.call("Page.reload")
        await page.until(f"document.querySelectorAll('article').length === {before}")
        assert page.complaints == []


async def downloaded(folder: Path) -> list[str]:
    """The lines of the file, once the browser has finished it."""
    async with asyncio.timeout(30):
        while not (files := await asyncio.to_thread(lambda: list(folder.glob("*.csv")))):  # noqa: ASYNC110 - a folder
            await asyncio.sleep(0.05)
    text = await asyncio.to_thread(files[0].read_text, encoding="utf-8-sig")
    return text.splitlines()

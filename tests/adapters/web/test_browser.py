"""Uses the web chat of a running `parley serve` with the keyboard, in a real browser."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.adapters.web.chromium import CHROMIUM_PATH, BrowserTab, open_browser
from tests.adapters.web.serving import serve_parley
from tests.cli.conftest import RECEIPTS, run_parley

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM_PATH is None, reason="Chromium is not installed (apt-get install chromium)"),
]


def ingest_receipts(folder: Path) -> Path:
    source = folder / "receipts.jsonl"
    source.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")
    assert run_parley(folder, "ingest", str(source), "--bucket", "receipts").status == 0
    return folder


async def tab_to_button(page: BrowserTab, selector: str) -> tuple[str, str]:
    """Press Tab from the top of the page to the first button of the selector. Returns its label and count."""
    await page.evaluate_script("document.querySelector('header .new').focus()")
    for _ in range(20):
        await page.press_key("Tab")
        if await page.evaluate_script(f"document.activeElement.matches({selector!r})"):
            label, count = str(await page.evaluate_script("document.activeElement.innerText")).split("\n")
            return label, count
    raise AssertionError(f"{selector} is not reached by Tab")


async def test_an_example_on_the_empty_page_is_asked_with_the_keyboard(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    await asyncio.to_thread(ingest_receipts, home)
    async with serve_parley(home) as address, open_browser(tmp_path / "profile", tmp_path / "downloads") as page:
        await page.open_address(address)
        await page.wait_until_true("document.querySelector('.welcome button')")
        example = await page.evaluate_script("document.querySelector('.welcome button').innerText")
        await page.evaluate_script("document.querySelector('.welcome button').focus()")
        await page.press_key("Enter")
        await page.wait_until_true("document.querySelector('#log table') || document.querySelector('#log .counted')")

        log = await page.evaluate_script("document.getElementById('log').innerText")
        assert example in log
        assert "120 receipts" in log
        assert not await page.evaluate_script("Boolean(document.querySelector('.welcome'))")
        assert page.page_errors == []


async def test_a_person_can_ask_choose_and_download_with_the_keyboard_alone(tmp_path: Path) -> None:
    home, downloads = tmp_path / "home", tmp_path / "downloads"
    home.mkdir()
    await asyncio.to_thread(ingest_receipts, home)
    async with serve_parley(home) as address, open_browser(tmp_path / "profile", downloads) as page:
        await page.open_address(address)
        await page.wait_until_true("document.activeElement.id === 'text'")
        await page.type_text("List all receipts")
        await page.press_key("Enter")
        await page.wait_until_true("document.querySelectorAll('.counted button').length > 1")

        counts = "[...document.querySelectorAll('.counted .count')].map(one => Number(one.innerText))"
        assert sum(await page.evaluate_script(counts)) == 120

        label, count = await tab_to_button(page, ".counted button")
        await page.press_key("Enter")
        await page.wait_until_true("document.querySelector('.chosen') && document.querySelector('table')")
        assert label in await page.evaluate_script("document.querySelector('.chosen').innerText")
        assert f"{count} receipts" in await page.evaluate_script("document.getElementById('log').innerText")

        await page.wait_until_true("document.activeElement.id === 'text'")
        await page.type_text("export")
        await page.press_key("Enter")
        await page.wait_until_true("document.querySelector('.file a')")
        await page.evaluate_script("document.querySelector('.file a').focus()")
        await page.press_key("Enter")
        rows = await wait_for_download(downloads)
        assert len(rows) == int(count) + 1

        article_count = await page.evaluate_script("document.querySelectorAll('article').length")
        await page.call_devtools("Page.reload")
        await page.wait_until_true(f"document.querySelectorAll('article').length === {article_count}")
        assert page.page_errors == []


async def wait_for_download(folder: Path) -> list[str]:
    """Returns the lines of the downloaded file, once the browser has finished it."""
    async with asyncio.timeout(30):
        while not (files := await asyncio.to_thread(lambda: list(folder.glob("*.csv")))):  # noqa: ASYNC110 - a folder
            await asyncio.sleep(0.05)
    text = await asyncio.to_thread(files[0].read_text, encoding="utf-8-sig")
    return text.splitlines()

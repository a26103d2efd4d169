"""Uses the admin page of a running `parley serve` with the keyboard on a narrow screen, in a real browser."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from tests.adapters.web.chromium import CHROMIUM_PATH, BrowserTab, open_browser
from tests.adapters.web.serving import serve_parley
from tests.adapters.web.test_browser import ingest_receipts
from tests.cli.conftest import run_parley

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM_PATH is None, reason="Chromium is not installed (apt-get install chromium)"),
]
NARROW = 360
PAGES = (
    "/admin",
    "/admin/bucket?b=receipts",
    "/admin/documents?b=receipts",
    "/admin/document?b=receipts&id=r-001",
    "/admin/review?b=receipts",
    "/admin/schema?b=receipts",
    "/admin/schema/entry?b=receipts&f=vendor",
    "/admin/grants",
    "/admin/sources",
    "/admin/report",
    "/admin/synonym?b=receipts&field=vendor&word=hawk&value=Kestrel",
)


async def tab_to(page: BrowserTab, selector: str) -> None:
    """Press Tab until the element of the selector has the focus."""
    for _ in range(60):
        if await page.evaluate_script(f"document.activeElement.matches({selector!r})"):
            return
        await page.press_key("Tab")
    raise AssertionError(f"{selector} is not reached by Tab")


async def wait_for_text(page: BrowserTab, text: str) -> None:
    """Wait for the text, also while one page gives way to the next."""
    condition = f"document.readyState === 'complete' && document.body.innerText.includes({text!r})"
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(AssertionError):  # the page that was asked is gone
                await page.wait_until_true(condition)
                return


async def test_an_admin_grants_revokes_and_edits_a_schema_with_the_keyboard_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    await asyncio.to_thread(ingest_receipts, home)
    failed = await asyncio.to_thread(run_parley, home, "ask", "how many receipts of the hawker Kestrel?", "--json")
    async with serve_parley(home) as address, open_browser(tmp_path / "profile", tmp_path / "downloads") as page:
        await page.set_appearance(width=NARROW, height=740)
        await page.open_address(f"{address}/admin")
        await tab_to(page, "nav a[href='/admin/grants']")
        await page.press_key("Enter")
        await wait_for_text(page, "Let somebody see")

        await tab_to(page, "#grant-subject")
        await page.type_text("user:local:ann")
        await tab_to(page, "button.main")
        await page.press_key("Enter")
        await wait_for_text(page, "It is granted")
        assert run_parley(home, "grants", "--json").json[0]["subject"] == "user:local:ann"

        await tab_to(page, ".confirm summary")
        await page.press_key("Enter")
        await tab_to(page, ".confirm button")
        await page.press_key("Enter")
        await wait_for_text(page, "The grant is revoked")
        assert run_parley(home, "grants", "--json").json == []

        await page.open_address(f"{address}/admin/schema/entry?b=receipts&f=vendor")
        await tab_to(page, "#synonyms")
        await page.type_text("hawker")
        await page.press_key("Enter")  # ends the line; the other synonyms follow
        await wait_for_text(page, "“hawker” appears in 1 question")
        await tab_to(page, "#preview button")
        await page.press_key("Enter")
        await wait_for_text(page, "The schema is saved")
        assert page.page_errors == []
    assert failed.status == 0
    assert "- hawker\n" in run_parley(home, "bucket", "schema", "receipts").stdout


async def test_every_page_fits_a_narrow_screen_and_breaks_no_rule_of_its_policy(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    await asyncio.to_thread(ingest_receipts, home)
    for question in ("how many receipts?", "list the zeppelins"):
        await asyncio.to_thread(run_parley, home, "ask", question)
    report = (await asyncio.to_thread(run_parley, home, "report", "--json")).json
    async with serve_parley(home) as address, open_browser(tmp_path / "profile", tmp_path / "downloads") as page:
        await page.set_appearance(width=NARROW, height=740)
        widths: dict[str, int] = {}
        for path in PAGES:
            await page.open_address(address + path)
            await wait_for_text(page, "Parley admin")
            widths[path] = int(await page.evaluate_script("document.documentElement.scrollWidth"))
        await page.open_address(f"{address}/admin/report")
        text = str(await page.evaluate_script("document.body.innerText"))
        pictures = "[...document.querySelectorAll('.picture img')]"
        await page.wait_until_true(
            f"{pictures}.length > 0 && {pictures}.every(one => one.complete && one.naturalWidth)"
        )

        assert {path: width for path, width in widths.items() if width > NARROW} == {}
        assert page.page_errors == []
    counts = report["counts"]
    assert f"{counts['asked']} questions" in text
    assert f"{counts['answered']} answered" in text
    assert f"{counts['nothing_found']} nothing found" in text

"""Uses the admin page of a running `parley serve` with the keyboard on a narrow screen, in a real browser."""

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from bot.bootstrap import open_application
from bot.settings import load_settings
from storage.search.documents import FieldAnnotation
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from tests.adapters.web.chromium import CHROMIUM_PATH, BrowserTab, open_browser
from tests.adapters.web.serving import find_free_port, serve_parley
from tests.adapters.web.test_browser import ingest_receipts
from tests.builders import a_document
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
    "/admin/admins",
    "/admin/limits",
    "/admin/sources",
    "/admin/retention?b=receipts&field=@loaded&days=30",
    "/admin/report",
    "/admin/synonym?b=receipts&field=vendor&word=hawk&value=Kestrel",
    "/admin/synonym/choose?b=receipts&field=vendor&word=hawk",
)


async def tab_to(page: BrowserTab, selector: str) -> None:
    """Press Tab until the element of the selector has the focus."""
    for _ in range(120):
        if await page.evaluate_script(f"document.activeElement.matches({selector!r})"):
            return
        await page.press_key("Tab")
    raise AssertionError(f"{selector} is not reached by Tab")


async def choose_option(page: BrowserTab, selector: str, value: str) -> None:
    """Go to the menu with Tab, and to its option with the arrow keys."""
    await tab_to(page, selector)
    for key in ["ArrowDown"] * 30:
        if await page.evaluate_script("document.activeElement.value") == value:
            return
        await page.press_key(key)
    raise AssertionError(f"{value} is not reached in {selector}")


async def press_on(page: BrowserTab, selector: str) -> None:
    """Go to the element with Tab, also while its page is still coming, and press Enter there."""
    await wait_for_condition(page, f"document.querySelector({selector!r}) !== null")
    await tab_to(page, selector)
    await page.press_key("Enter")


async def wait_for_text(page: BrowserTab, text: str) -> None:
    await wait_for_condition(page, f"document.body.innerText.includes({text!r})")


async def wait_for_condition(page: BrowserTab, condition: str) -> None:
    """Wait for the condition, also while one page gives way to the next."""
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(AssertionError):  # the page that was asked is gone
                await page.wait_until_true(f"document.readyState === 'complete' && {condition}")
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


async def test_an_operator_names_an_admin_and_sets_a_limit_with_the_keyboard_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with serve_parley(home) as address, open_browser(tmp_path / "profile", tmp_path / "downloads") as page:
        await page.set_appearance(width=NARROW, height=740)
        await page.open_address(f"{address}/admin")
        await press_on(page, "nav a[href='/admin/admins']")
        await wait_for_text(page, "Make somebody an admin")
        for person in ("ann", "local:bob"):
            await tab_to(page, "#admin-person")
            await page.type_text(person)
            await press_on(page, "button.main")
            await wait_for_text(page, "The person is an admin now")
        await wait_for_text(page, "2 admins")

        await press_on(page, ".confirm summary")
        await press_on(page, ".confirm button")
        await wait_for_text(page, "no longer an admin")
        await wait_for_text(page, "1 admin")
        await press_on(page, ".confirm summary")
        await press_on(page, ".confirm button")
        await wait_for_text(page, "This is the last admin")

        await press_on(page, "nav a[href='/admin/limits']")
        await wait_for_text(page, "Questions per person in an hour")
        await tab_to(page, "#person-hour")
        await page.type_text("20")
        await page.press_key("Enter")
        await wait_for_text(page, "it holds from the next question on")
        value = await page.evaluate_script("document.getElementById('person-hour').value")
        assert value == "20"
        assert [error for error in page.page_errors if "422" not in error] == []  # the last admin was refused


async def test_a_document_is_found_and_its_value_corrected_with_the_keyboard_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    await asyncio.to_thread(ingest_receipts, home)
    async with serve_parley(home) as address, open_browser(tmp_path / "profile", tmp_path / "downloads") as page:
        await page.set_appearance(width=NARROW, height=740)
        await page.open_address(f"{address}/admin/documents?b=receipts")
        await press_on(page, "nav.pages a[href*='after=']")
        await wait_for_text(page, "First page")
        await tab_to(page, "#words")
        await page.type_text("Receipt 7")
        await page.press_key("Enter")
        await wait_for_text(page, "that mention")
        await press_on(page, "tbody th a")
        await wait_for_condition(page, "document.querySelector('#value-0') !== null")

        await press_on(page, ".correct summary")
        await tab_to(page, "#value-0")
        await page.type_text("Windrose")
        await press_on(page, "button[value='correct']")
        await wait_for_text(page, "The value is corrected")
        counted = await asyncio.to_thread(run_parley, home, "ask", "how many receipts of Windrose?", "--json")
        await press_on(page, "form[action='/admin/value/withdraw'] button")
        await wait_for_text(page, "What was read before is there again")
        assert page.page_errors == []
    assert counted.json["count"] == 1


async def test_sources_are_synced_and_paused_and_a_synonym_added_with_the_keyboard_alone(tmp_path: Path) -> None:
    home, notes = tmp_path / "home", tmp_path / "notes"
    home.mkdir()
    notes.mkdir()
    (notes / "mast.txt").write_text("The mast is of spruce.", encoding="utf-8")
    await asyncio.to_thread(ingest_receipts, home)
    add_source = ("source", "add", "folder", str(notes), "--bucket", "notes", "--every", "1d")
    assert (await asyncio.to_thread(run_parley, home, *add_source)).status == 0
    (tmp_path / "logs").mkdir()
    by_hand = ("source", "add", "folder", str(tmp_path / "logs"), "--bucket", "logs")
    assert (await asyncio.to_thread(run_parley, home, *by_hand)).status == 0
    await asyncio.to_thread(run_parley, home, "ask", "how many receipts of the hawk?")
    async with serve_parley(home) as address, open_browser(tmp_path / "profile", tmp_path / "downloads") as page:
        await page.set_appearance(width=NARROW, height=740)
        await page.open_address(f"{address}/admin")
        await press_on(page, "nav a[href='/admin/sources']")
        await press_on(page, "form[action='/admin/source/pause'] button")
        await wait_for_text(page, "The source is paused")
        await press_on(page, "form[action='/admin/source/resume'] button")
        await wait_for_text(page, "The source is synced again")

        await press_on(page, "form[action='/admin/source/sync'] button[aria-label='Sync now: logs']")
        await wait_for_text(page, "The sync begins within a minute")
        await wait_for_condition(page, "document.querySelector(\"button[aria-label='Sync now: logs']\") === null")

        await press_on(page, "nav a[href='/admin/report']")
        await press_on(page, "nav a[href='/admin/report?days=7']")
        await wait_for_text(page, "The last 7 days: 1 question")
        await page.open_address(f"{address}/admin/synonym?b=receipts&field=vendor&word=hawk&value=Kestrel")
        await press_on(page, "a[href*='ask=yes']")
        await wait_for_text(page, "Asked again, 1 of 1 question of the last 30 days")
        await press_on(page, "main button.main")
        await wait_for_text(page, "The synonym is added")
        assert page.page_errors == []


async def test_how_long_a_bucket_is_kept_is_counted_set_and_ended_with_the_keyboard_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    await asyncio.to_thread(ingest_receipts, home)
    async with serve_parley(home) as address, open_browser(tmp_path / "profile", tmp_path / "downloads") as page:
        await page.set_appearance(width=NARROW, height=740)
        await page.open_address(f"{address}/admin/bucket?b=receipts")
        await press_on(page, "#retention a")
        await wait_for_condition(page, "document.querySelector('#days') !== null")
        await choose_option(page, "#field", "@loaded")
        await tab_to(page, "#days")
        await page.type_text("30")
        await page.press_key("Enter")
        await wait_for_text(page, "none of 120 documents is older now")
        before = str(await page.evaluate_script("document.body.innerText"))
        preview_width = int(await page.evaluate_script("document.documentElement.scrollWidth"))

        await press_on(page, "#preview button.main")
        await wait_for_text(page, "Saved; what is older is deleted within the hour.")
        await page.open_address(f"{address}/admin/bucket?b=receipts")
        await wait_for_text(page, "kept 30 days after loading")
        await press_on(page, "#retention a")
        await press_on(page, "form[action='/admin/retention/end'] button")
        await wait_for_text(page, "The rule is ended")
        await wait_for_text(page, "Its documents are kept without an end.")
        assert page.page_errors == []
    assert ("Its documents are kept without an end." in before, preview_width <= NARROW) == (True, True)


async def put_unsure_vessels(home: Path) -> None:
    """Two voyages whose vessels were read from their texts and are not sure."""
    bucket, vessel = BucketId("voyages"), FieldName("vessel")
    async with open_application(load_settings(home, {}).settings) as bot:
        await bot.index.set_schema(
            Schema(bucket=bucket, fields=(SchemaField(name=vessel, type=FieldType.CATEGORY, title="Vessel"),))
        )
        for number, (name, confidence) in enumerate((("Tern", 0.52), ("Dunl1n", 0.61))):
            text = f"Sailed at dawn with the {name}, as told by the harbour master."
            start = text.index(name)
            read = FieldAnnotation(field=vessel, value=name, confidence=confidence, start=start, end=start + len(name))
            voyage = a_document(f"v-{number}", text, title=f"Voyage {number}", vessel=name)
            await bot.index.put(bucket, [replace(voyage, annotations=(read,))])


async def test_unsure_values_are_accepted_and_corrected_in_the_review_with_the_keyboard_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    await put_unsure_vessels(home)
    async with serve_parley(home) as address, open_browser(tmp_path / "profile", tmp_path / "downloads") as page:
        await page.set_appearance(width=NARROW, height=740)
        await page.open_address(f"{address}/admin/review?b=voyages")
        await wait_for_text(page, "Dunl1n")
        width = int(await page.evaluate_script("document.documentElement.scrollWidth"))
        await press_on(page, ".reviews button[aria-label='Accept Vessel Tern']")
        await wait_for_text(page, "The value is accepted")
        remaining = int(await page.evaluate_script("document.querySelectorAll('.reviews li').length"))

        await press_on(page, ".reviews .correct summary")
        await tab_to(page, ".reviews input[name='text']")
        await page.type_text("Dunlin")  # in the place of what was read
        await press_on(page, ".reviews button[value='correct']")
        await wait_for_text(page, "The value is corrected")
        await wait_for_text(page, "No value is less sure than 0.7.")
        counted = await asyncio.to_thread(run_parley, home, "ask", "how many voyages of the vessel Dunlin?", "--json")
        decided_width = int(await page.evaluate_script("document.documentElement.scrollWidth"))
        assert page.page_errors == []
    assert (width <= NARROW, remaining, decided_width <= NARROW, counted.json["count"]) == (True, 1, True, 1)


async def test_an_admin_enters_by_a_link_and_leaves_with_the_keyboard_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    port = find_free_port()
    admins = {"PARLEY_ADMINS": "local:ann", "PARLEY_WEB_TOKEN": "open sesame"}
    async with (
        serve_parley(home, admins, port=port) as address,
        open_browser(tmp_path / "profile", tmp_path / "downloads") as page,
    ):
        await page.set_appearance(width=NARROW, height=740)
        making = await asyncio.to_thread(run_parley, home, "admin-link", "local:ann", PARLEY_PORT=str(port), **admins)
        await page.open_address(making.stdout.strip())
        await wait_for_text(page, "This link lets local:ann in, once.")
        await page.press_key("Enter")  # the button has the focus
        await wait_for_text(page, "There are no buckets here")
        await press_on(page, ".leave button")
        await wait_for_text(page, "You have left the admin page")
        assert page.page_errors == []
        await page.open_address(f"{address}/admin")
        await wait_for_condition(page, "document.querySelector('input[name=token]') !== null")


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

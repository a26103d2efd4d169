"""A question fails, an admin presses “Add as synonym” in a browser, and the question is answered."""

import asyncio
from pathlib import Path

import pytest

from tests.adapters.web.admin.test_browser import wait_for_condition
from tests.adapters.web.chromium import CHROMIUM_PATH, BrowserTab, open_browser
from tests.adapters.web.serving import serve_parley
from tests.shown.transcripts import RecordedShell, RecordedTranscript

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM_PATH is None, reason="Chromium is not installed (apt-get install chromium)"),
]
_WORDS = "#words"


async def read_text(page: BrowserTab, selector: str) -> str:
    return " ".join(str(await page.evaluate_script(f"document.querySelector({selector!r}).innerText")).split())


async def read_row(page: BrowserTab, selector: str) -> str:
    """The cells of a row of a table, with a button in brackets."""
    cells = f"[...document.querySelectorAll('{selector} > *')]"
    read = await page.evaluate_script(f"{cells}.map(cell => [cell.innerText, cell.querySelector('button') !== null])")
    texts = [(" ".join(text.split()), is_button) for text, is_button in read]
    return " | ".join(f"[{text}]" if is_button else text for text, is_button in texts)


async def read_chosen(page: BrowserTab, name: str) -> str:
    """The label of a menu and what is chosen in it."""
    chosen = await page.evaluate_script(f"document.querySelector('#choice-{name}').selectedOptions[0].text")
    return f"{await read_text(page, f'label[for=choice-{name}]')}: {chosen}"


async def test_what_was_not_understood_today_is_understood_tomorrow(tmp_path: Path) -> None:
    rows = "\n".join(f"HH-{n:03},{('truck', 'van')[n % 2]},{n}" for n in range(40))
    (tmp_path / "vehicles.csv").write_text(f"plate,kind,mileage\n{rows}\n", encoding="utf-8")
    transcript = RecordedTranscript("synonym")
    shell = RecordedShell(tmp_path, transcript)
    question = "parley ask 'How many lorries are there?'"
    await asyncio.to_thread(shell.run_unshown, "parley ingest vehicles.csv --bucket vehicles")

    failed = await asyncio.to_thread(shell.run, question)
    async with (
        serve_parley(tmp_path / "home") as address,
        open_browser(tmp_path / "profile", tmp_path / "downloads") as page,
    ):
        await page.open_address(f"{address}/admin/report")
        reported = await read_row(page, f"{_WORDS} tbody tr")
        transcript.add_lines(
            "# an admin opens the report at /admin in a browser",
            await read_text(page, f"{_WORDS} h2"),
            await read_row(page, f"{_WORDS} thead tr"),
            reported,
            "",
            "# and presses [Add as synonym]",
        )
        await follow_click(page, f"{_WORDS} tbody button", "/admin/synonym/choose")
        transcript.add_lines(await read_text(page, "h1"), await read_chosen(page, "b"))
        await choose(page, "#choice-field", "kind")
        transcript.add_lines(await read_chosen(page, "field"))
        await follow_click(page, "form:has(#choice-field) button", "field=kind")
        await choose(page, "#choice-value", "truck")
        transcript.add_lines(await read_chosen(page, "value"), "", "# and presses [Count]")
        await follow_click(page, "form:has(#choice-value) button", "value=truck")
        counted = await read_text(page, "h1 + p")
        transcript.add_lines(counted, "", "# and presses [Add as synonym]")
        await follow_click(page, "main button.main", "/admin/report?done=synonym")
        transcript.add_lines(await read_text(page, "p.done"), "")
        remaining = str(await page.evaluate_script("document.body.innerText"))
        assert page.page_errors == []
    answered = await asyncio.to_thread(shell.run, question)

    assert "20" not in failed
    assert "“lorries”" in reported
    assert "would find 20 documents" in counted
    assert "Words that no bucket knows" not in remaining
    assert "20 vehicles of kind truck" in answered
    transcript.check_page()


async def follow_click(page: BrowserTab, selector: str, target: str) -> None:
    """Click, and wait for the page whose address has `target` in it."""
    await page.click_element(selector)
    await wait_for_condition(page, f"location.href.includes({target!r})")


async def choose(page: BrowserTab, selector: str, value: str) -> None:
    """Choose the option in the menu with the keys of arrows, as a person does."""
    await page.evaluate_script(f"document.querySelector({selector!r}).focus()")
    for _ in range(await page.evaluate_script(f"document.querySelector({selector!r}).options.length")):
        if await page.evaluate_script(f"document.querySelector({selector!r}).value") == value:
            return
        await page.press_key("ArrowDown")
    raise AssertionError(f"{value} is not in {selector}")

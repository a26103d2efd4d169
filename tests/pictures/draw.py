"""Draws pictures of the admin page for docs/admin.md, and of an admin's Home tab in Slack: `make pictures`.

What is drawn is what Parley shows: its own admin page in Chromium, and its own blocks for Slack as a likeness.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path
from typing import Any, Final

from adapters.slack.home.home_tab import QUESTIONS_SHOWN, HomePages, home_tab_view
from adapters.slack.home.report_blocks import REPORT_DAYS_SHOWN
from bot.application import Application
from bot.bootstrap import open_application
from bot.cli.speaker import new_conversation_id, speaker_for
from bot.demo.corpus import generate_corpus, write_corpus
from bot.ids import OPERATOR, BucketId, PersonId, Subject
from bot.settings import load_settings
from bot.surface.inbound import PrivateAudience, TextMessage
from storage.ingest.pipeline import ingest_files
from tests.adapters.web.chromium import BrowserTab, open_browser
from tests.adapters.web.serving import serve_parley
from tests.cli.conftest import run_parley
from tests.pictures.slack_page import page_of_view

DOCS: Final = Path(__file__).parents[2] / "docs"
ADA, BEN = PersonId("slack:T1:U1ADA"), PersonId("slack:T1:U2BEN")
NAMES: Final = {"U1ADA": "Ada", "U2BEN": "Ben", "C1BUYING": "buying"}
GRANTS: Final = {
    "receipts": (f"user:{ADA}", f"user:{BEN}", "channel:slack:T1:C1BUYING"),
    "contracts": (f"user:{ADA}", "group:lawyers"),
    "manuals": ("everyone",),
    "repairs": (f"user:{ADA}", "group:lawyers"),
    "parts": ("everyone",),
}
QUESTIONS: Final = {
    ADA: (
        "List every tire purchase receipt",
        "How often must the air filter of the battery cabinet B-120 be replaced?",
        "How many contracts per contract type?",
        "Contracts with ACME for 2031",
        "how many repairs are issued by Pillar Rigging?",
        "list the repairs of the flagship Tern",
        "list the bills of the flagship",
    ),
    BEN: (
        "How many receipts per vendor?",
        "list the repairs of the flagship Tern",
        "which receipts are above 900 dollars?",
        "list the zeppelins",
    ),
}
_ADMIN_PAGES: Final = {
    "buckets": "/admin",
    "grants": "/admin/grants",
    "admins": "/admin/admins",
    "limits": "/admin/limits",
    "report": "/admin/report",
}
_WORKS: Final = ("hull repair", "engine service", "new rigging", "mast repair")
_BOATS: Final = ("Tern", "Osprey", "Petrel", "Dunlin")


def write_invoices(folder: Path) -> None:
    """Invoices whose fields stand in their texts; in every third, the total stands in a sentence."""
    folder.mkdir()
    for number in range(16):
        total, boat, work = f"{700 + 263 * number:,}.00", _BOATS[number % 4], _WORKS[number % 3]
        head = [
            f"Invoice no.: R-{1000 + number}",
            f"Issued by: {'Pillar Rigging' if number % 2 else 'Quay Boatworks'}",
            f"Boat: {boat}",
            f"Date: {1 + number} November 2031",
            f"Work: {work}",
        ]
        is_plain = number % 3 == 0
        head += [] if is_plain else [f"Total: EUR {total}"]
        sentence = f"The sum of EUR {total} is payable within 30 days." if is_plain else "Payable within 30 days."
        text = "\n".join([*head, "", f"We carried out {work} on the {boat}. {sentence}", "Thank you for your order."])
        (folder / f"invoice-{1000 + number}.txt").write_text(text, encoding="utf-8")


async def fill_home(home: Path) -> None:
    corpus = await asyncio.to_thread(generate_corpus)
    await asyncio.to_thread(write_corpus, corpus, home / "demo")
    async with open_application(load_settings(home, {"PARLEY_ADMINS": ADA}).settings) as bot:
        for bucket in corpus.buckets.values():
            files = [home / "demo" / f"{bucket.schema.bucket}.jsonl"]
            await ingest_files(bot.index, files, extractor=bot.extractor, schema=bucket.schema)
        await bot.groups.create_group("lawyers", "Lawyers", by=OPERATOR)


async def use_parley(bot: Application) -> None:
    """Grants, questions and clicks, as people make them."""
    for bucket, subjects in GRANTS.items():
        for subject in subjects:
            await bot.administration.grant_bucket(BucketId(bucket), Subject(subject), by=ADA)
    await bot.administration.add_admin(BEN, by=ADA)
    for person, questions in QUESTIONS.items():
        for question in questions:
            inbound = speaker_for(person).inbound_for(TextMessage(question), new_conversation_id())
            turn = await bot.accept_inbound(inbound)
            assert turn is not None
            await bot.run_turn(turn)


async def load_home_view(bot: Application) -> Mapping[str, Any]:
    audience = PrivateAudience(person=ADA, is_guest=True)
    history = await bot.personal_history.load_overview(audience, max_buckets=10)
    overview = await bot.administration.load_overview(ADA, max_questions=QUESTIONS_SHOWN)
    report = await bot.admin_reports.load_report(REPORT_DAYS_SHOWN, ADA)
    return home_tab_view(history, overview, HomePages(), UTC, frozenset({"T1"}), report=report)


async def draw_view(page: BrowserTab, view: Mapping[str, Any], path: Path) -> None:
    """Saves the whole view, however long it is."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "view.html"
        await asyncio.to_thread(file.write_text, page_of_view(view, NAMES), encoding="utf-8")
        await page.set_appearance(width=720, height=200)
        await page.open_address(file.as_uri())
        height = int(await page.evaluate_script("document.documentElement.scrollHeight"))
        await page.set_appearance(width=720, height=height)
        await page.save_screenshot(path)


async def draw_admin_page(page: BrowserTab, address: str, folder: Path) -> None:
    await page.set_appearance(width=1000, height=640)
    for name, path in _ADMIN_PAGES.items():
        await page.open_address(address + path)
        await page.wait_until_true("[...document.images].every(picture => picture.complete)")
        await page.save_screenshot(folder / f"{name}.png")
    assert page.page_errors == []


async def draw_pictures(target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        await fill_home(home)
        invoices = Path(folder) / "repairs"
        await asyncio.to_thread(write_invoices, invoices)
        ingested = await asyncio.to_thread(run_parley, home, "ingest", str(invoices), "--bucket", "repairs")
        assert ingested.status == 0, ingested
        async with open_application(load_settings(home, {"PARLEY_ADMINS": ADA}).settings) as bot:
            await use_parley(bot)
            view = json.loads(json.dumps(await load_home_view(bot)))
        async with (
            serve_parley(home, {"PARLEY_ADMINS": ADA}) as address,
            open_browser(Path(folder) / "profile", Path(folder) / "downloads") as page,
        ):
            await draw_admin_page(page, address, target / "admin")
            await draw_view(page, view, target / "slack" / "admin.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="?", type=Path, default=DOCS, help="a folder for admin/ and slack/")
    target: Path = parser.parse_args().target
    for name in ("admin", "slack"):
        (target / name).mkdir(exist_ok=True, parents=True)
    asyncio.run(draw_pictures(target))


if __name__ == "__main__":
    main()

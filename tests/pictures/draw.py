"""Draws the pictures of docs/admin.md and docs/slack.md: `make pictures`.

With `--all FOLDER`, draws every admin page, also on a narrow screen, every modal of Slack, every card of Teams, and the
messages of the golden files.

What is drawn is what Parley shows: its own pages in Chromium, Adaptive Cards by Microsoft's renderer, and its own
blocks for Slack as a likeness.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from adapters.slack.posting.render import slack_message_for
from bot.bootstrap import open_application
from bot.settings import load_settings
from tests.adapters.web.chromium import BrowserTab, open_browser
from tests.adapters.web.serving import serve_parley
from tests.pictures.card_page import page_of_activity
from tests.pictures.conversation import play_conversation
from tests.pictures.example_home import ADMINS, NAMES, WITH_MEANINGS, fill_home, use_parley
from tests.pictures.slack_page import page_of_message, page_of_view
from tests.pictures.slack_views import (
    load_home_view,
    load_modals,
    load_newcomer_view,
    load_turn_modals,
    messages_of,
)
from tests.pictures.teams_cards import load_admin_cards, load_messages
from tests.playground.installation import prepare_tools

DOCS: Final = Path(__file__).parents[2] / "docs"
GOLDEN: Final = Path(__file__).parents[1] / "golden"
WIDE, NARROW = 1000, 360  # pixels
_PAGE_HEIGHT: Final = 640  # of the pictures in docs/, whose lower part may be cut
# Shown in docs/admin.md.
_DOCS_PAGES: Final = (
    *("buckets", "grants", "admins", "limits", "sources", "report", "document", "review", "schema"),
    *("retention", "synonym"),
)
_NARROW_DOCS_PAGES: Final = ("buckets", "review")
_PAGES: Final = {
    "buckets": "/admin",
    "bucket": "/admin/bucket?b=repairs",
    "documents": "/admin/documents?b=repairs",
    "documents-found": "/admin/documents?b=repairs&q=rigging",
    "review": "/admin/review?b=repairs",
    "schema-list": "/admin/schema?b=repairs",
    "schema-entry": "/admin/schema/entry?b=repairs&f=Total",
    "grants": "/admin/grants",
    "admins": "/admin/admins",
    "limits": "/admin/limits",
    "sources": "/admin/sources",
    "retention": "/admin/retention?b=repairs&field=Date&days=30",
    "report": "/admin/report",
    "synonym-choice": "/admin/synonym/choose?b=repairs&field=Boat&word=flagship",
    "synonym": "/admin/synonym?b=repairs&field=Boat&word=flagship&value=Tern",
}
_CONTENT_HEIGHT: Final = "Math.ceil(document.body.getBoundingClientRect().bottom) + 8"
_LISTS: Final = ("prompts", "prompts-of-a-newcomer")  # golden files that are no message
_SHOWN_DOCUMENT: Final = "[...document.links].find(link => link.text === 'invoice-1014').getAttribute('href')"
# The folder of a source is that of this run; /srv stands for it.
_HIDE_SCRATCH: Final = (
    "document.querySelectorAll('.place').forEach(e => e.textContent = e.textContent.replace({}, '/srv'))"
)


@dataclass(frozen=True, kw_only=True)
class PictureSet:
    """Pages without a server, by name: of the Home tab and modals, of messages of Slack, and of messages of Teams."""

    views: Mapping[str, Mapping[str, Any]]
    slack_messages: Mapping[str, Mapping[str, Any]]
    teams_messages: Mapping[str, Mapping[str, Any]]


async def load_pictures(home: Path, *, is_whole: bool) -> PictureSet:
    async with open_application(load_settings(home, ADMINS).settings) as bot:
        turns = await use_parley(bot)
        views = {"admin": await load_home_view(bot), "home": await load_newcomer_view(bot)}
        replies = await play_conversation(bot)
        messages = {name: {"blocks": slack_message_for(reply).blocks} for name, reply in replies.items()}
        if not is_whole:
            return PictureSet(views=views, slack_messages=messages, teams_messages={})
        views |= await load_modals(bot)
        views |= await load_turn_modals(bot, turns)
        messages |= {f"message-{name}": message for name, message in messages_of(turns).items()}
        cards = await load_admin_cards(bot) | await load_messages(bot, turns)
        return PictureSet(views=views, slack_messages=messages, teams_messages=cards)


async def open_page(page: BrowserTab, address: str, width: int, scratch: Path | None = None) -> None:
    """Opens the page as pictures show it. `scratch`: the folder that sources are in."""
    await page.set_appearance(width=width, height=_PAGE_HEIGHT)
    await page.call_devtools("Emulation.setScrollbarsHidden", hidden=True)
    await page.open_address(address)
    await page.wait_until_true("[...document.images].every(picture => picture.complete)")
    if scratch is not None:
        await page.evaluate_script(_HIDE_SCRATCH.format(json.dumps(str(scratch))))


async def draw_whole_page(page: BrowserTab, address: str, path: Path, width: int, scratch: Path | None = None) -> None:
    """Saves the whole page, however long it is."""
    await open_page(page, address, width, scratch)
    height = int(await page.evaluate_script(_CONTENT_HEIGHT))
    await page.set_appearance(width=width, height=height)
    await page.save_screenshot(path)


async def draw_html(page: BrowserTab, text: str, path: Path, width: int = 720) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "view.html"
        await asyncio.to_thread(file.write_text, text, encoding="utf-8")
        await draw_whole_page(page, file.as_uri(), path, width)


async def find_pages(page: BrowserTab, address: str) -> dict[str, str]:
    """Returns the paths of all admin pages by name, with that of one document, and of a schema with two more words."""
    await page.open_address(address + _PAGES["documents"])
    document = await page.evaluate_script(_SHOWN_DOCUMENT)
    await page.open_address(address + _PAGES["schema-entry"])
    synonyms = str(await page.evaluate_script("document.getElementById('synonyms').value")).rstrip("\n")
    edited = {
        "edited": "yes",
        "title": "Total",
        "synonyms": f"{synonyms}\nbill\nsum",
        "facet": "yes",
        "bare": "nearest",
    }
    return {**_PAGES, "document": document, "schema": f"{_PAGES['schema-entry']}&{urlencode(edited)}"}


async def draw_admin_pages(page: BrowserTab, address: str, target: Path, scratch: Path, *, is_whole: bool) -> None:
    paths = await find_pages(page, address)
    for name in paths if is_whole else _DOCS_PAGES:
        if is_whole:
            for folder, width in (("admin", WIDE), ("narrow", NARROW)):
                await draw_whole_page(page, address + paths[name], target / folder / f"{name}.png", width, scratch)
            continue
        await open_page(page, address + paths[name], WIDE, scratch)
        await page.save_screenshot(target / "admin" / f"{name}.png")
    for name in () if is_whole else _NARROW_DOCS_PAGES:
        await open_page(page, address + paths[name], NARROW, scratch)
        await page.save_screenshot(target / "admin" / f"narrow-{name}.png")
    assert page.page_errors == []


async def draw_golden_files(page: BrowserTab, target: Path, packages: Path) -> None:
    def page_of_slack(content: Mapping[str, Any]) -> str:
        return page_of_view(content, NAMES) if "type" in content else page_of_message(content, NAMES)

    def page_of_teams(content: Mapping[str, Any]) -> str:
        return page_of_activity(content, packages)

    pages: Mapping[str, Callable[[Mapping[str, Any]], str]] = {"slack": page_of_slack, "teams": page_of_teams}
    for product, page_of in pages.items():
        for file in sorted((GOLDEN / product).glob("*.json")):
            content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            if file.stem not in _LISTS and {"blocks", "attachments", "text"} & content.keys():
                await draw_html(page, page_of(content), target / f"golden-{product}" / f"{file.stem}.png")


async def draw_pictures(target: Path, *, is_whole: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        await fill_home(home, Path(folder))
        pictures = await load_pictures(home, is_whole=is_whole)
        async with (
            serve_parley(home, ADMINS | WITH_MEANINGS) as address,
            open_browser(Path(folder) / "profile", Path(folder) / "downloads") as page,
        ):
            await draw_admin_pages(page, address, target, Path(folder), is_whole=is_whole)
            for name, view in pictures.views.items():
                await draw_html(page, page_of_view(view, NAMES), target / "slack" / f"{name}.png")
            for name, message in pictures.slack_messages.items():
                await draw_html(page, page_of_message(message, NAMES), target / "slack" / f"{name}.png")
            if is_whole:
                packages = prepare_tools().packages
                for name, message in pictures.teams_messages.items():
                    await draw_html(page, page_of_activity(message, packages), target / "teams" / f"{name}.png")
                await draw_golden_files(page, target, packages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="?", type=Path, default=DOCS, help="a folder for admin/ and slack/")
    parser.add_argument(
        "--all", action="store_true", help="what docs/ does not show, too; needs a folder, node and npm"
    )
    arguments = parser.parse_args()
    target: Path = arguments.target
    if arguments.all and target == DOCS:
        parser.error("--all needs a folder, such as build/pictures")
    folders = ("admin", "slack", *(("narrow", "teams", "golden-slack", "golden-teams") if arguments.all else ()))
    for name in folders:
        (target / name).mkdir(exist_ok=True, parents=True)
    asyncio.run(draw_pictures(target, is_whole=arguments.all))


if __name__ == "__main__":
    main()

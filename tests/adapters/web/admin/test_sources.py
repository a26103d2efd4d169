"""The page about sources: what it shows of each kind, and the buttons to sync, pause and resume."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.admin.source_kinds.source_kind import SourceRequest
from bot.ids import OPERATOR
from tests.adapters.web.admin.conftest import ANN, LETTERS, OpenedSite

TOKEN = "tok-2f9c41"


async def add_notes(site: OpenedSite, tmp_path: Path, *, every: timedelta | None = timedelta(days=1)) -> str:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("The mast is of spruce.", encoding="utf-8")
    request = SourceRequest(kind="folder", location=str(folder), bucket=LETTERS, sync_interval=every)
    return (await site.bot.sources.add_source(request)).id


async def test_sync_now_makes_the_source_due_and_tells_what_came_of_it(site: OpenedSite, tmp_path: Path) -> None:
    source = await add_notes(site, tmp_path, every=None)
    await site.enter_as(ANN)
    _, before = await site.get("/admin/sources")

    answer = await site.submit("/admin/source/sync", source=source)
    _, waiting = await site.get("/admin/sources")
    await site.bot.sources.sync_due_sources()
    _, after = await site.get("/admin/sources")

    assert ("only by hand" in before, f'aria-label="Sync now: {source}"' in before) == (True, True)
    assert (answer[0], answer[2]) == (303, "/admin/sources?done=source-sync")
    assert ("at once" in waiting, "Sync now:" in waiting) == (True, False)
    assert ("complete" in after, "1 added" in after, "Sync now:" in after) == (True, True, True)


async def test_a_paused_source_is_not_synced_until_it_is_resumed(site: OpenedSite, tmp_path: Path) -> None:
    source = await add_notes(site, tmp_path)
    await site.enter_as(ANN)
    await site.submit("/admin/source/pause", source=source)
    await site.bot.sources.sync_due_sources()
    _, paused = await site.get("/admin/sources")

    await site.submit("/admin/source/resume", source=source)
    await site.bot.sources.sync_due_sources()
    _, resumed = await site.get("/admin/sources")
    changes = await site.bot.administration.list_changes(OPERATOR, 2)

    assert (">paused<" in paused, "not yet" in paused, f'"Resume: {source}"' in paused) == (True, True, True)
    assert ("1 added" in resumed, f'"Pause: {source}"' in resumed) == (True, True)
    assert [(change.action, change.by) for change in changes] == [("source.resume", ANN), ("source.pause", ANN)]


async def test_why_a_sync_failed_is_said_at_the_top(site: OpenedSite, tmp_path: Path) -> None:
    source = await add_notes(site, tmp_path)
    (tmp_path / "notes" / "a.txt").unlink()
    (tmp_path / "notes").rmdir()
    await site.bot.sources.sync_due_sources()

    _, page = await site.get("/admin/sources")

    assert page.index(f"<li>{source}: ") < page.index("<table>")


async def test_no_secret_is_on_the_page(site: OpenedSite) -> None:
    rest = {"items": "$.items", "id": "$.id", "text": "$.text"}
    requests: list[tuple[str, str, Mapping[str, object]]] = [
        ("rest", f"https://198.51.100.7/list?api_key={TOKEN}", rest),
        ("sql", "postgresql://198.51.100.7/shop", {"query": "SELECT id FROM products", "key": "id", "user": "reader"}),
        ("confluence", "https://198.51.100.7/wiki", {"spaces": ["HR"]}),
        ("imap", "imaps://mara@198.51.100.7/INBOX", {}),
    ]
    for kind, location, options in requests:
        await site.bot.sources.add_source(
            SourceRequest(
                kind=kind, location=location, bucket="letters", options=options, secret=SecretStr(TOKEN),
                allow_private=True,
            )
        )  # fmt: skip

    _, page = await site.get("/admin/sources")

    assert (TOKEN in page, "https://198.51.100.7/list?…" in page) == (False, True)
    shown = ("as reader", "query SELECT id FROM products", "spaces HR", "imaps://mara@198.51.100.7/INBOX")
    assert [text for text in shown if text not in page] == []


@pytest.mark.parametrize(("action", "source", "status"), [("sync", "nowhere", 404), ("forget", "nowhere", 404)])
async def test_an_unknown_source_or_action_is_not_found(
    site: OpenedSite, action: str, source: str, status: int
) -> None:
    assert (await site.submit(f"/admin/source/{action}", source=source))[0] == status


async def test_nobody_else_steers_a_source(site: OpenedSite, tmp_path: Path) -> None:
    source = await add_notes(site, tmp_path)

    answers = [await site.post(f"/admin/source/{action}", {"source": source}) for action in ("sync", "pause", "resume")]

    assert [answer[0] for answer in answers] == [403, 403, 403]

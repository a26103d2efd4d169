"""Pages of the web that were fetched, on every database."""

from dataclasses import replace
from datetime import timedelta

from storage.sql.database import SqlDatabase
from storage.sql.web_page_store import StoredWebPage, WebPageStore
from tests.contracts.sql.databases import SetClock

DAY = timedelta(days=1)


def a_page(database: SqlDatabase, page: str, content: bytes = b"\x00text\xff") -> StoredWebPage:
    return StoredWebPage(
        page=page,
        url=f"https://a.example/{page}",
        kind=".html",
        outline={"title": "NUL \0", "keywords": ["a"]},
        content=content,
        fetched_at=database.utc_now(),
        expires_at=database.utc_now() + DAY,
    )


async def test_a_page_is_kept_until_it_expires(database: SqlDatabase, clock: SetClock) -> None:
    store = WebPageStore(database)
    page = a_page(database, "p1")
    await store.store_page(page)
    await store.store_page(a_page(database, "p2"))

    assert await store.load_pages(["p1", "unknown"]) == [page]
    clock.forward(days=1)
    assert await store.load_pages(["p1"]) == []


async def test_a_page_that_is_fetched_again_replaces_the_first(database: SqlDatabase, clock: SetClock) -> None:
    store = WebPageStore(database)
    await store.store_page(a_page(database, "p1"))
    clock.forward(days=1)
    newer = replace(a_page(database, "p1", b"new"), kind=".pdf")
    await store.store_page(newer)

    assert await store.load_pages(["p1"]) == [newer]


async def test_only_expired_pages_are_deleted(database: SqlDatabase, clock: SetClock) -> None:
    store = WebPageStore(database)
    await store.store_page(a_page(database, "p1"))
    clock.forward(hours=12)
    await store.store_page(a_page(database, "p2"))
    clock.forward(hours=12)

    assert await store.delete_expired_pages() == 1
    assert [page.page for page in await store.load_pages(["p1", "p2"])] == ["p2"]

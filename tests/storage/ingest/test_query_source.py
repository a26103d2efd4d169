"""The rows of a query as a source, of SQLite and of a real PostgreSQL."""

import json
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Protocol

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from storage.ingest.errors import ListingFailed
from storage.ingest.sources.databases.query_reader import DatabaseLocation, QueryReader
from storage.ingest.sources.databases.query_source import QuerySource, RowQuery
from storage.ingest.sources.source import FetchedItem, SourceItem, UnchangedItem
from storage.search.subjects import NOBODY, email_subject_for
from tests.servers.postgres import fresh_database

CREATE_TABLE = """CREATE TABLE products (
    id INTEGER PRIMARY KEY, title TEXT, price NUMERIC(12, 2), added DATE, sold BOOLEAN, changed INTEGER NOT NULL)"""


class ProductDatabase(Protocol):
    """A database with the table `products`."""

    location: DatabaseLocation

    async def execute(self, *statements: str) -> None: ...


class FileDatabase:
    def __init__(self, file: Path) -> None:
        self.location = DatabaseLocation(file=file)

    async def execute(self, *statements: str) -> None:
        assert self.location.file is not None
        with closing(sqlite3.connect(self.location.file)) as connection, connection:
            for statement in statements:
                connection.execute(statement)


class ServerDatabase:
    def __init__(self, url: str) -> None:
        self._url, parts = url, make_url(url)
        self.location = DatabaseLocation(
            host=parts.host or "",
            port=parts.port or 5432,
            database=parts.database or "",
            user=parts.username or "",
            password=str(parts.password or "hush-hush"),
            allow_private=True,
        )

    async def execute(self, *statements: str) -> None:
        engine = create_async_engine(self._url, poolclass=NullPool)
        async with engine.begin() as connection:
            for statement in statements:
                await connection.execute(text(statement))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.servers)])
def server_url(request: pytest.FixtureRequest) -> str:
    """The address of a PostgreSQL server; empty for SQLite."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def products(server_url: str, tmp_path: Path) -> AsyncGenerator[ProductDatabase]:
    """A database with 300 products."""
    async with AsyncExitStack() as stack:
        database: ProductDatabase = FileDatabase(tmp_path / "shop.db")
        if server_url:
            database = ServerDatabase(await stack.enter_async_context(fresh_database(server_url)))
        await fill_products(database)
        yield database


async def fill_products(database: ProductDatabase) -> None:
    rows = (f"({number}, 'Product {number}', {number}.5, '2026-01-02', TRUE, 1)" for number in range(1, 301))
    await database.execute(CREATE_TABLE, f"INSERT INTO products VALUES {', '.join(rows)}")


class OpenedQueries:
    """Opens sources over a database, each with a folder of its own."""

    def __init__(self, location: DatabaseLocation, folder: Path) -> None:
        self._location, self._folder, self._count = location, folder, 0

    def open_source(self, query: str = "SELECT * FROM products", **options: object) -> QuerySource:
        row_query = RowQuery(query=query, **({"key": "id"} | options))  # pyright: ignore[reportArgumentType]
        return QuerySource(
            QueryReader(self._location), row_query, table="products", link="db", folder=self.make_folder()
        )

    def make_folder(self) -> Path:
        self._count += 1
        folder = self._folder / f"f{self._count}"
        folder.mkdir(parents=True)
        return folder


@pytest.fixture
def queries(products: ProductDatabase, tmp_path: Path) -> OpenedQueries:
    return OpenedQueries(products.location, tmp_path / "spool")


async def list_versions(source: QuerySource) -> dict[str, str]:
    return {item.id: item.version async for item in source.list_items()}


async def read_records(source: QuerySource, folder: Path) -> dict[str, dict[str, object]]:
    """The records of all items, by id."""
    records: dict[str, dict[str, object]] = {}
    for item in [item async for item in source.list_items()]:
        fetched = await source.fetch_item(item, "", folder)
        assert isinstance(fetched, FetchedItem)
        assert fetched.has_rows
        for line in fetched.path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            assert record["doc_id"] not in records
            records[record["doc_id"]] = record
    return records


@pytest.mark.parametrize("cursor", ["", "changed"])
async def test_every_row_is_a_record_with_typed_values(queries: OpenedQueries, cursor: str) -> None:
    records = await read_records(queries.open_source(cursor=cursor), queries.make_folder())

    assert len(records) == 300
    record = records["7"]
    assert (record["title"], record["doc_id"]) == ("Product 7", "7")
    metadata = record["metadata"]
    expected = {"price": 7.5, "added": "2026-01-02", "sold": True}
    assert isinstance(metadata, dict)
    assert metadata | expected == metadata
    assert "price: 7.5" in str(record["text"])


@pytest.mark.parametrize("cursor", ["", "changed"])
async def test_a_changed_added_or_deleted_row_changes_the_version_of_its_item_alone(
    queries: OpenedQueries, products: ProductDatabase, cursor: str
) -> None:
    before = await list_versions(queries.open_source(cursor=cursor))

    again = await list_versions(queries.open_source(cursor=cursor))
    await products.execute("UPDATE products SET price = 1, changed = 2 WHERE id = 7")
    after = await list_versions(queries.open_source(cursor=cursor))
    await products.execute("DELETE FROM products WHERE id = 7")
    without = await list_versions(queries.open_source(cursor=cursor))

    assert before == again
    [changed] = [item for item, version in after.items() if version != before[item]]
    assert [item for item in before if without.get(item) != after[item]] == [changed]


async def test_an_item_of_the_known_version_is_not_read(queries: OpenedQueries) -> None:
    source = queries.open_source(cursor="changed")
    item = await anext(source.list_items())

    assert isinstance(await source.fetch_item(item, item.version, queries.make_folder()), UnchangedItem)


@pytest.mark.parametrize(
    ("query", "options", "reason"),
    [
        ("SELECT * FROM products", {"key": "number"}, "has no column 'number'; it has id, title"),
        ("SELECT * FROM products", {"cursor": "version"}, "column ['\\\"]version"),
        ("SELECT * FROM products", {"key": "added"}, "is no key"),
        ("SELECT NULL AS id", {}, "'id' is empty"),
        ("SELECT id, NULL AS changed FROM products", {"cursor": "changed"}, "'changed' is empty"),
        ("SELECT * FROM products", {"max_rows": 299}, "more than 299 rows"),
        ("SELECT * FROM nowhere", {}, "refuses the query: .*nowhere"),
    ],
)
async def test_a_query_that_does_not_fit_lists_nothing(
    queries: OpenedQueries, query: str, options: dict[str, object], reason: str
) -> None:
    source, items = queries.open_source(query, **options), list[SourceItem]()

    async def collect_items() -> None:
        async for item in source.list_items():
            items.append(item)

    with pytest.raises(ListingFailed, match=reason) as failed:
        await collect_items()
    assert (items, "hush" in failed.value.reason) == ([], False)


async def test_a_query_with_colons_percent_signs_and_a_comment_is_taken_as_written(queries: OpenedQueries) -> None:
    query = "SELECT id, 'a:b %s \\ :c' AS title, changed FROM products WHERE title LIKE 'Product 1%' -- :all"

    for cursor in ("", "changed"):
        records = await read_records(queries.open_source(query, cursor=cursor), queries.make_folder())
        assert {record["title"] for record in records.values()} == {"a:b %s \\ :c"}


async def test_a_statement_that_writes_is_refused(queries: OpenedQueries, products: ProductDatabase) -> None:
    if products.location.file is not None:
        query = "SELECT 1 AS id); DELETE FROM products; --"
    else:
        query = "WITH gone AS (DELETE FROM products RETURNING id) SELECT id FROM gone"

    with pytest.raises(ListingFailed):
        await list_versions(queries.open_source(query))

    assert len(await list_versions(queries.open_source())) > 0


async def test_a_database_that_is_not_there_is_a_reason_to_read(tmp_path: Path) -> None:
    locations: Sequence[tuple[DatabaseLocation, str]] = [
        (DatabaseLocation(file=tmp_path / "gone.db"), "unable to open"),
        (DatabaseLocation(host="127.0.0.1", port=9, database="d", user="u", allow_private=True), "cannot be reached"),
        (DatabaseLocation(host="127.0.0.1", port=9, database="d", user="u"), "--allow-private"),
    ]
    for location, reason in locations:
        with pytest.raises(ListingFailed, match=reason):
            await list_versions(OpenedQueries(location, tmp_path / location.database / reason[:3]).open_source())


async def test_a_column_names_who_may_read_a_row_and_doubt_closes(
    products: ProductDatabase, queries: OpenedQueries
) -> None:
    query = """SELECT id, title, CASE id WHEN 1 THEN 'group:staff, mara@example.com' WHEN 2 THEN 'strangers'
        WHEN 3 THEN '' WHEN 4 THEN NULL WHEN 5 THEN 'strangers; everyone' ELSE 'group:staff' END AS who FROM products"""

    records = await read_records(queries.open_source(query, readers="who"), queries.make_folder())

    readers = [records[str(number)]["readers"] for number in range(1, 7)]
    nobody = [NOBODY]
    assert readers == [
        sorted([email_subject_for("mara@example.com"), "group:staff"]), nobody, nobody, nobody, ["everyone"],
        ["group:staff"],
    ]  # fmt: skip
    assert "who" not in json.dumps([records["1"]["metadata"], records["1"]["text"]])


async def test_a_changed_reader_is_seen_though_the_cursor_stays(
    products: ProductDatabase, queries: OpenedQueries
) -> None:
    await products.execute("ALTER TABLE products ADD COLUMN who TEXT")
    before = await list_versions(queries.open_source(cursor="changed", readers="who"))

    await products.execute("UPDATE products SET who = 'everyone' WHERE id = 7")
    after = await list_versions(queries.open_source(cursor="changed", readers="who"))

    assert len({item for item in before if before[item] != after[item]}) == 1

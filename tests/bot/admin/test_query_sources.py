"""The rows of a query as a source of a bucket: typed, changed, deleted, guarded and refused."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import structlog
from pydantic import SecretStr
from sqlalchemy.engine import make_url
from structlog.testing import LogCapture

from bot.admin.source_kinds.source_kind import SourceRequest
from bot.admin.source_kinds.sql_kind import SQL_KIND, QueryKind
from bot.admin.sources import SourceOperations, sync_counts_of, sync_outcome_of
from bot.errors import InvalidSource
from bot.surface.secret_sealing import SecretSeal
from storage.embedded.index import EmbeddedIndex
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.search.ids import BucketId
from storage.search.schema import FieldType
from storage.sql.database import SqlDatabase

ROW_COUNT = 40
ORDERS = BucketId("orders")


@pytest.fixture
def logged() -> LogCapture:
    return LogCapture()


@pytest.fixture
def sources(database: SqlDatabase, index: EmbeddedIndex, tmp_path: Path, logged: LogCapture) -> SourceOperations:
    return SourceOperations(
        database=database,
        index=index,
        kinds=[QueryKind()],
        seal=SecretSeal([b"k1"]),
        extractor=RuleExtractor(),
        schemas=tmp_path / "schemas",
        worker="w1",
        log=structlog.wrap_logger(None, processors=[logged]),
    )


class ShopFile:
    """An SQLite file with forty orders."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.execute(
            "CREATE TABLE orders (number INTEGER PRIMARY KEY, town TEXT, price REAL, ordered DATE, changed INT)"
        )
        for number in range(ROW_COUNT):
            town = ("Oslo", "Bergen")[number % 2]
            self.execute(
                f"INSERT INTO orders VALUES ({number}, '{town}', {number}.5, '2026-03-{number % 28 + 1:02}', 1)"
            )

    def execute(self, statement: str) -> None:
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute(statement)

    def request(self, **options: object) -> SourceRequest:
        values = {"query": "SELECT * FROM orders;", "key": "number", "name": "orders"} | options
        return SourceRequest(
            kind=SQL_KIND,
            location=f"sqlite:///{self.file}",
            bucket=ORDERS,
            options={name: value for name, value in values.items() if value != ""},
        )


@pytest.fixture
def shop(tmp_path: Path) -> ShopFile:
    return ShopFile(tmp_path / "shop.db")


async def test_the_columns_become_typed_fields_of_rows(
    sources: SourceOperations, index: EmbeddedIndex, shop: ShopFile
) -> None:
    added = await sources.add_source(shop.request())

    synced = await sources.sync_source("orders")

    assert (added.id, added.location) == ("orders", f"sqlite:///{shop.file}")
    assert (synced.added, sync_outcome_of(synced)) == (ROW_COUNT, "done")
    schema = (await index.load_bucket_sizes())[ORDERS].schema
    types = {str(field.name): field.type for field in schema.fields}
    assert (types["price"], types["ordered"], types["town"]) == (FieldType.NUMBER, FieldType.DATE, FieldType.CATEGORY)
    assert set(await index.load_digests(ORDERS)) == {f"orders:{number}" for number in range(ROW_COUNT)}


@pytest.mark.parametrize("cursor", ["", "changed"])
async def test_changed_and_deleted_rows_are_followed(sources: SourceOperations, shop: ShopFile, cursor: str) -> None:
    await sources.add_source(shop.request(cursor=cursor))
    await sources.sync_source("orders")
    shop.execute("UPDATE orders SET town = 'Tromsø', changed = 2 WHERE number = 3")
    shop.execute("DELETE FROM orders WHERE number IN (5, 6)")
    shop.execute(f"INSERT INTO orders VALUES ({ROW_COUNT}, 'Bodø', 1, '2026-04-01', 1)")

    counts = sync_counts_of(await sources.sync_source("orders"))
    unchanged = sync_counts_of(await sources.sync_source("orders"))

    assert (counts["replaced"], counts["deleted"], counts["added"]) == (1, 2, 1)
    assert (unchanged["replaced"], unchanged["deleted"], unchanged["unchanged"]) == (0, 0, unchanged["items"])


async def test_large_deletions_and_broken_queries_delete_nothing(sources: SourceOperations, shop: ShopFile) -> None:
    await sources.add_source(shop.request())
    await sources.sync_source("orders")

    shop.execute("DELETE FROM orders WHERE number < 20")
    refused = await sources.sync_source("orders")
    shop.execute("ALTER TABLE orders RENAME TO other_orders")
    broken = await sources.sync_source("orders", sweep_anyway=True)
    shop.execute("ALTER TABLE other_orders RENAME TO orders")
    confirmed = await sources.sync_source("orders", sweep_anyway=True)

    assert [sync_outcome_of(synced) for synced in (refused, broken, confirmed)] == ["refused", "incomplete", "done"]
    assert [sync_counts_of(synced)["deleted"] for synced in (refused, broken, confirmed)] == [0, 0, 20]


@pytest.mark.servers
async def test_a_refused_user_is_told_without_the_password(
    sources: SourceOperations, postgres_url: str, logged: LogCapture
) -> None:
    url = make_url(postgres_url)
    request = SourceRequest(
        kind=SQL_KIND,
        location=f"postgresql://nobody_here@{url.host}:{url.port}/{url.database}",
        bucket=ORDERS,
        allow_private=True,
        options={"query": "SELECT 1 AS id", "key": "id", "name": "orders"},
        secret=SecretStr("hush-hush"),
    )
    await sources.add_source(request)

    await sources.sync_source("orders")

    [source] = await sources.list_sources()
    assert source.failure is not None
    assert "refuses the user or the password" in source.failure
    assert "hush" not in repr((source, logged.entries))


@pytest.mark.parametrize(
    ("location", "options", "reason"),
    [
        ("postgresql://u:hush@db.example.com/shop", {}, "a password"),
        ("postgresql://db.example.com/shop", {}, "--user"),
        ("postgresql://u@db.example.com", {}, "postgresql://reader@"),
        ("mysql://u@db.example.com/shop", {}, "postgresql://reader@"),
        ("sqlite:////no/such/file.db", {}, "there is no file"),
        ("postgresql://u@db.example.com/shop", {"query": "DELETE FROM orders"}, "SELECT"),
        ("postgresql://u@db.example.com/shop", {"key": ""}, "--key"),
        ("postgresql://u@db.example.com/shop", {"cursor": "number"}, "--cursor"),
        ("postgresql://u@db.example.com/shop", {"max_rows": 2_000_000}, "--max-rows"),
        ("postgresql://u@db.example.com/shop", {"tls": "maybe"}, "--tls"),
    ],
)
async def test_an_invalid_query_source_is_refused_with_a_reason(
    sources: SourceOperations, shop: ShopFile, location: str, options: dict[str, object], reason: str
) -> None:
    request = replace(shop.request(**options), location=location)

    with pytest.raises(InvalidSource, match=reason) as refused:
        await sources.add_source(request)

    assert "hush" not in str(refused.value)


async def test_two_queries_of_one_database_are_two_sources(sources: SourceOperations, shop: ShopFile) -> None:
    await sources.add_source(shop.request())
    other = await sources.add_source(shop.request(query="SELECT number, town FROM orders"))

    assert other.id == "orders-2"
    with pytest.raises(InvalidSource, match="already"):
        await sources.add_source(shop.request())

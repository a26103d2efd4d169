"""Google Cloud Storage and Azure Blob Storage as sources, against their emulators."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from storage.ingest.errors import ListingFailed
from storage.ingest.sources.source import FetchedItem, SourceItem, VanishedItem
from storage.ingest.sources.stores.open_store import StoreLocation, open_file_store
from storage.ingest.sources.stores.store_source import StoreSource
from tests.servers.cloud_stores import CloudBucket, azure_container, google_bucket
from tests.servers.missing import ServerMissing, skip_or_fail

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@pytest.fixture(params=["gs", "abfs"])
def bucket(request: pytest.FixtureRequest) -> Iterator[CloudBucket]:
    try:
        with google_bucket() if request.param == "gs" else azure_container() as opened:
            yield opened
    except ServerMissing as exc:
        skip_or_fail(exc)


async def list_items(location: StoreLocation) -> dict[str, SourceItem]:
    with open_file_store(location) as store:
        source = StoreSource(store, location.url, clock=lambda: NOW)
        return {item.id: item async for item in source.list_items()}


async def test_blobs_are_listed_and_fetched_until_they_vanish(bucket: CloudBucket, tmp_path: Path) -> None:
    bucket.write("a.txt", "one")
    bucket.write("b/c.txt", "two")

    with open_file_store(bucket.location) as store:
        source = StoreSource(store, bucket.location.url, clock=lambda: NOW)
        items = {item.id: item async for item in source.list_items()}
        fetched = await source.fetch_item(items["b/c.txt"], "", tmp_path)
        bucket.remove("a.txt")
        vanished = await source.fetch_item(items["a.txt"], "", tmp_path)

    assert sorted(items) == ["a.txt", "b/c.txt"]
    assert items["a.txt"].location == f"{bucket.location.url}/a.txt"
    assert isinstance(fetched, FetchedItem)
    assert fetched.path.read_text() == "two"
    assert vanished == VanishedItem()


async def test_a_changed_blob_has_a_new_version_and_a_deleted_one_is_not_listed(bucket: CloudBucket) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        bucket.write(name, "one")
    before = await list_items(bucket.location)

    again = await list_items(bucket.location)
    bucket.write("a.txt", "another")
    bucket.remove("b.txt")
    after = await list_items(bucket.location)

    assert before == again
    assert all(item.version for item in before.values())
    assert [*after] == ["a.txt", "c.txt"]
    assert after["a.txt"].version != before["a.txt"].version
    assert after["c.txt"] == before["c.txt"]


async def test_a_bucket_that_is_not_there_makes_the_listing_incomplete(bucket: CloudBucket) -> None:
    location = replace(bucket.location, url=bucket.location.url.replace("://b", "://no"))

    with pytest.raises(ListingFailed, match="does not exist"):
        await list_items(location)


async def test_a_wrong_key_of_azure_is_told_without_it() -> None:
    try:
        with azure_container() as container:
            wrong_key = "QUJD" + container.location.secret[4:]
            with pytest.raises(ListingFailed, match="key or token is wrong") as failed:
                await list_items(replace(container.location, secret=wrong_key))
            assert wrong_key not in failed.value.reason
    except ServerMissing as exc:
        skip_or_fail(exc)

"""Points in time cost the cluster memory and disk: each is deleted, however the reading ends."""

import asyncio
import base64
import json
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from storage.opensearch.index import OpenSearchIndex
from storage.search.errors import SnapshotGone
from storage.search.index import SNAPSHOT_IDLE_LIFETIME, CountRequest, RecordPage, RecordPageRequest
from storage.search.record_pages import load_pages_ahead
from storage.search.schema import FieldType
from tests.builders import RECEIPTS, a_document, a_field, a_receipt_schema, a_scope, a_search
from tests.storage.opensearch.conftest import IndexOpener

pytestmark = pytest.mark.servers
_BUCKETS = frozenset({RECEIPTS})


class CountingPoints:
    """Counts the points in time of one installation on a server that others may use as well."""

    def __init__(self, url: str, installation: str, index: OpenSearchIndex) -> None:
        self.index, self.scoped = index, index.within_scope(a_scope())
        self._url, self._name = url, installation.encode()

    async def count(self) -> int:
        return len(await self.list_keep_alives())

    async def list_keep_alives(self) -> list[timedelta]:
        """How long the server keeps each point after its last use."""

        def load_points() -> list[dict[str, Any]]:
            with urllib.request.urlopen(f"{self._url}/_search/point_in_time/_all") as response:
                return json.load(response).get("pits", [])

        return [
            timedelta(milliseconds=point["keep_alive"])
            for point in await asyncio.to_thread(load_points)
            if self._name in base64.urlsafe_b64decode(f"{point['pit_id']}===")
        ]

    async def expire_all(self) -> None:
        """Delete the installation's points, as the server does when their time is over."""

        def delete_points() -> None:
            with urllib.request.urlopen(f"{self._url}/_search/point_in_time/_all") as response:
                ids = [point["pit_id"] for point in json.load(response).get("pits", [])]
            own_ids = [name for name in ids if self._name in base64.urlsafe_b64decode(f"{name}===")]
            body, headers = json.dumps({"pit_id": own_ids}).encode(), {"content-type": "application/json"}
            request = urllib.request.Request(
                f"{self._url}/_search/point_in_time", data=body, headers=headers, method="DELETE"
            )
            urllib.request.urlopen(request).close()

        await asyncio.to_thread(delete_points)


async def collect_pages(pages: AsyncGenerator[RecordPage]) -> list[RecordPage]:
    async with aclosing(pages):
        return [page async for page in pages]


@pytest.fixture
async def points(open_index: IndexOpener, opensearch_url: str, installation: str) -> CountingPoints:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document(f"d{number}") for number in range(3)])
    return CountingPoints(opensearch_url, installation, index)


async def test_the_end_of_the_block_deletes_its_points(points: CountingPoints) -> None:
    async with points.scoped.open_snapshot(_BUCKETS):
        assert await points.count() == 1

    assert await points.count() == 0


async def test_the_server_deletes_points_soon_that_nobody_reads(points: CountingPoints) -> None:
    """A killed process cannot delete its points, and nobody can delete the point of a lost response."""
    async with points.scoped.open_snapshot(_BUCKETS) as snapshot:
        assert await points.list_keep_alives() == [SNAPSHOT_IDLE_LIFETIME]
        await snapshot.answer_requests(CountRequest(a_search()))
        assert await points.list_keep_alives() == [SNAPSHOT_IDLE_LIFETIME]


async def test_an_exception_in_the_block_deletes_its_points(points: CountingPoints) -> None:
    with pytest.raises(ZeroDivisionError):
        async with points.scoped.open_snapshot(_BUCKETS):
            raise ZeroDivisionError

    assert await points.count() == 0


async def test_a_cancelled_reading_deletes_its_points(points: CountingPoints) -> None:
    is_open = asyncio.Event()

    async def read() -> None:
        async with points.scoped.open_snapshot(_BUCKETS) as snapshot:
            await snapshot.answer_requests(CountRequest(a_search()))
            is_open.set()
            await asyncio.Event().wait()

    reading = asyncio.create_task(read())
    await is_open.wait()
    reading.cancel()
    await asyncio.wait({reading})

    assert await points.count() == 0


async def test_a_reading_that_is_cancelled_while_it_opens_leaves_no_point(points: CountingPoints) -> None:
    async def read() -> None:
        async with points.scoped.open_snapshot(_BUCKETS):
            pass

    for steps in range(0, 60, 3):  # of the event loop, before the cancellation
        reading = asyncio.create_task(read())
        for _ in range(steps):
            await asyncio.sleep(0.0005)
        reading.cancel()
        await asyncio.wait({reading})

    assert await points.count() == 0


async def test_points_of_a_killed_process_are_deleted_by_the_one_that_resumes(
    points: CountingPoints, open_index: IndexOpener
) -> None:
    async with points.scoped.open_snapshot(_BUCKETS) as killed:
        resumed = (await open_index()).within_scope(a_scope())
        async with resumed.open_snapshot(_BUCKETS, killed.token):
            assert await points.count() == 1

        assert await points.count() == 0


async def test_a_page_of_a_point_that_has_expired_is_no_empty_page(points: CountingPoints) -> None:
    async with points.scoped.open_snapshot(_BUCKETS) as snapshot:
        request = RecordPageRequest(a_search(), limit=1)
        pages = load_pages_ahead(snapshot, request)
        assert [record.doc_id for record in (await anext(pages)).records] == ["d0"]
        await points.expire_all()
        with pytest.raises(SnapshotGone):
            await collect_pages(pages)

    async with points.scoped.open_snapshot(_BUCKETS) as snapshot:
        later_pages = await collect_pages(load_pages_ahead(snapshot, request))
    assert [record.doc_id for page in later_pages for record in page.records] == ["d0", "d1", "d2"]


async def test_points_that_do_not_fit_the_schema_any_more_are_deleted(points: CountingPoints) -> None:
    async with points.scoped.open_snapshot(_BUCKETS) as killed:
        schema = a_receipt_schema()
        await points.index.set_schema(replace(schema, fields=(*schema.fields, a_field("colour", FieldType.CATEGORY))))
        with pytest.raises(SnapshotGone):
            async with points.scoped.open_snapshot(_BUCKETS, killed.token):
                pass

        assert await points.count() == 0

"""A snapshot of buckets: a point in time of each of their indexes, which the cluster keeps while it is read."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from storage.opensearch.catalogue import combine_generations
from storage.opensearch.connection import ClusterConnection, RequestRefused
from storage.opensearch.mapping import IndexLayout
from storage.opensearch.reading.query_steps import (
    POINT_KEEP_ALIVE,
    OpenSearchRequest,
    QuerySteps,
    build_search_request,
    run_side_by_side,
)
from storage.opensearch.reading.requests import IndexReader, raise_if_too_large
from storage.opensearch.responses import OpenSearchResponse
from storage.search.errors import IndexUnavailable, SnapshotGone
from storage.search.ids import BucketId, Generation

T = TypeVar("T")
_MAX_TRIES = 5  # to open points in time while buckets are reindexed
# The errors of a search whose point in time has expired, was deleted, or is of a deleted index.
_GONE_ERRORS = frozenset({"search_context_missing_exception", "index_not_found_exception", "shard_not_found_exception"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketPoint:
    """The point in time of a bucket's index."""

    layout_digest: str
    point_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketPoints:
    """The points in time of several buckets. `generation` is the one at which they were opened."""

    generation: Generation
    by_bucket: Mapping[BucketId, BucketPoint]

    def to_token(self) -> str:
        points = {bucket: [point.layout_digest, point.point_id] for bucket, point in self.by_bucket.items()}
        return json.dumps([self.generation, points], sort_keys=True)

    @classmethod
    def from_token(cls, token: str) -> "BucketPoints":
        """Raises `SnapshotGone` for a token that is none of this engine."""
        try:
            generation, points = cast(tuple[str, dict[str, list[str]]], json.loads(token))
            by_bucket = {
                BucketId(bucket): BucketPoint(layout_digest=layout_digest, point_id=point_id)
                for bucket, (layout_digest, point_id) in points.items()
            }
        except (ValueError, TypeError, AttributeError) as exc:
            raise SnapshotGone from exc
        return cls(generation=Generation(generation), by_bucket=by_bucket)


@dataclass(kw_only=True)
class SnapshotReader(IndexReader):
    """Reads the state of the points in time. Writes and schema changes do not show."""

    points: BucketPoints
    layouts: Mapping[BucketId, IndexLayout]
    asks_each_index: bool = True

    @property
    def known_layouts(self) -> Mapping[BucketId, IndexLayout]:
        return self.layouts

    async def load_layouts(self) -> Mapping[BucketId, IndexLayout]:
        return self.layouts

    async def read_consistent_state(
        self,
        buckets: frozenset[BucketId],
        steps_for: Callable[[Mapping[BucketId, IndexLayout]], list[QuerySteps[T]]],
        *,
        merges: bool = True,
    ) -> tuple[Generation, list[T]]:
        """Returns the results of the steps, and the generation of the snapshot. Raises `SnapshotGone`."""
        layouts = {bucket: layout for bucket, layout in self.layouts.items() if bucket in buckets}
        steps = run_side_by_side(steps_for(layouts))
        try:
            searches = next(steps)
            while True:
                searches = steps.send(await self._send_searches(searches, merges=merges))
        except StopIteration as stop:
            return self.points.generation, cast(list[T], stop.value)

    async def check_points(self) -> None:
        """Raises `SnapshotGone` unless all points in time still exist."""
        await self._send_searches(
            [build_search_request(layout.index, {"match_all": {}}) for layout in self.layouts.values()], merges=False
        )

    async def _send_searches(self, searches: Sequence[OpenSearchRequest], *, merges: bool) -> list[OpenSearchResponse]:
        try:
            if not merges:
                return await self._send_to_points(searches)
            return await self.merger.send_merged(self._send_to_points, searches, across_indexes=False)
        except RequestRefused as exc:
            if exc.error_type in _GONE_ERRORS:
                raise SnapshotGone from exc
            raise_if_too_large(exc)
            raise

    async def _send_to_points(self, searches: Sequence[OpenSearchRequest]) -> list[OpenSearchResponse]:
        point_ids = {layout.index: self.points.by_bucket[bucket].point_id for bucket, layout in self.layouts.items()}
        return await self.catalogue.run_multi_search(
            [replace(search, point_in_time=point_ids[search.indexes[0]]) for search in searches]
        )


@asynccontextmanager
async def open_snapshot_reader(
    reader: IndexReader, buckets: frozenset[BucketId], token: str | None
) -> AsyncGenerator[SnapshotReader]:
    """Open the points in time of the existing buckets; or those of the token. Deletes them at the end of the block, and
    those of a token also if it raises.

    Raises `SnapshotGone`, `IndexUnavailable`.
    """
    if token is not None:
        points = BucketPoints.from_token(token)
        try:
            yield await _reopen_points(reader, buckets, points)
        finally:
            await asyncio.shield(_delete_points(reader.catalogue.connection, points.by_bucket.values()))
        return
    points, layouts = await _open_points(reader, buckets)
    try:
        yield SnapshotReader(catalogue=reader.catalogue, embedder=reader.embedder, points=points, layouts=layouts)
    finally:
        await asyncio.shield(_delete_points(reader.catalogue.connection, points.by_bucket.values()))


async def _reopen_points(reader: IndexReader, buckets: frozenset[BucketId], points: BucketPoints) -> SnapshotReader:
    """Raises `SnapshotGone`."""
    layouts = await _load_layouts_of(reader, buckets)
    digests = {bucket: point.layout_digest for bucket, point in points.by_bucket.items()}
    if digests != {bucket: layout.layout_digest for bucket, layout in layouts.items()}:
        raise SnapshotGone
    snapshot = SnapshotReader(catalogue=reader.catalogue, embedder=reader.embedder, points=points, layouts=layouts)
    await snapshot.check_points()
    return snapshot


async def _load_layouts_of(reader: IndexReader, buckets: frozenset[BucketId]) -> Mapping[BucketId, IndexLayout]:
    return {bucket: layout for bucket, layout in (await reader.load_layouts()).items() if bucket in buckets}


async def _open_points(
    reader: IndexReader, buckets: frozenset[BucketId]
) -> tuple[BucketPoints, Mapping[BucketId, IndexLayout]]:
    """Open a point in time of each bucket; again if a bucket is reindexed or dropped meanwhile."""
    for _ in range(_MAX_TRIES):
        layouts, by_bucket = await _load_layouts_of(reader, buckets), dict[BucketId, BucketPoint]()
        (registry,) = await reader.catalogue.run_multi_search([reader.catalogue.registry_search_for(layouts)])
        generation = combine_generations(reader.catalogue.parse_registry_entries(registry))
        opening = asyncio.ensure_future(_open_each_point(reader.catalogue.connection, layouts, by_bucket))
        try:
            await asyncio.shield(opening)  # a request that is cancelled would leave a point that nobody can delete
        except BaseException as exc:
            await asyncio.shield(_delete_points_of(opening, reader.catalogue.connection, by_bucket))
            if isinstance(exc, RequestRefused) and exc.error_type in _GONE_ERRORS:
                continue
            raise
        return BucketPoints(generation=generation, by_bucket=by_bucket), layouts
    raise SnapshotGone


async def _open_each_point(
    connection: ClusterConnection, layouts: Mapping[BucketId, IndexLayout], by_bucket: dict[BucketId, BucketPoint]
) -> None:
    """Extends `by_bucket`."""
    for bucket, layout in layouts.items():
        by_bucket[bucket] = await _open_point(connection, layout)


async def _delete_points_of(
    opening: asyncio.Future[None], connection: ClusterConnection, by_bucket: Mapping[BucketId, BucketPoint]
) -> None:
    await asyncio.wait({opening})
    if not opening.cancelled():
        opening.exception()  # the caller has it, or was cancelled
    await _delete_points(connection, by_bucket.values())


async def _open_point(connection: ClusterConnection, layout: IndexLayout) -> BucketPoint:
    # A point without a shard would hide the documents of that shard from searches that look complete.
    params = {"keep_alive": POINT_KEEP_ALIVE, "allow_partial_pit_creation": "false"}
    response = await connection.send_request("POST", f"/{layout.index}/_search/point_in_time", params=params)
    return BucketPoint(layout_digest=layout.layout_digest, point_id=response["pit_id"])


async def _delete_points(connection: ClusterConnection, points: Collection[BucketPoint]) -> None:
    if points:
        with suppress(IndexUnavailable):  # the cluster deletes them when their time is over
            body = {"pit_id": [point.point_id for point in points]}
            await connection.send_request("DELETE", "/_search/point_in_time", body)

"""Faults of the OpenSearch nodes and of PostgreSQL, which the storm makes and mends again."""

import asyncio
import contextlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from tests.servers.opensearch_cluster import ClusterNode
from tests.servers.postgres import RestartableServer

_INDEXES: Final = "parley-*"
_START_TIMEOUT_S: Final = 180.0


@dataclass
class ServerFaults:
    """Each fault returns when it is over. One at a time happens to OpenSearch, and one to PostgreSQL."""

    nodes: Sequence[ClusterNode]
    database: RestartableServer
    database_url: str
    rng: random.Random

    def __post_init__(self) -> None:
        self._index_lock, self._database_lock = asyncio.Lock(), asyncio.Lock()

    # -- OpenSearch

    async def kill_node(self) -> None:
        async with self._index_lock:
            node = self.rng.choice(self.nodes)
            await asyncio.to_thread(node.kill)
            await asyncio.sleep(self.rng.uniform(0.0, 2.0))
            node.launch()
            await self.wait_for_cluster()

    async def stop_node(self, longest_s: float) -> None:
        async with self._index_lock:
            node = self.rng.choice(self.nodes)
            node.pause()
            try:
                await asyncio.sleep(self.rng.uniform(1.0, longest_s))
            finally:
                node.resume()
            await self.wait_for_cluster()

    async def fill_disk(self) -> None:
        """Block the indexes, as OpenSearch does above the flood stage of the watermarks."""
        async with self._index_lock:
            await self._set_block("true")
            try:
                await asyncio.sleep(self.rng.uniform(0.5, 4.0))
            finally:
                await self._set_block(None)

    async def _set_block(self, value: str | None) -> None:
        settings = {"index.blocks.read_only_allow_delete": value}
        await self.call_cluster("PUT", f"/{_INDEXES}/_settings", settings)

    async def lose_alias(self) -> None:
        """Remove an alias of a bucket, or all of them, and put them back later."""
        async with self._index_lock:
            found = await self.call_cluster("GET", f"/{_INDEXES}/_alias")
            aliases = [(index, alias) for index, entry in found.items() for alias in entry["aliases"]]
            if not aliases:
                return
            lost = self.rng.choice([[alias] for alias in aliases] + [aliases])
            await self._change_aliases("remove", lost)
            try:
                await asyncio.sleep(self.rng.uniform(1.0, 8.0))
            finally:
                await self._change_aliases("add", lost)

    async def _change_aliases(self, change: str, aliases: Sequence[tuple[str, str]]) -> None:
        actions = [{change: {"index": index, "alias": alias}} for index, alias in aliases]
        await self.call_cluster("POST", "/_aliases", {"actions": actions})

    async def call_cluster(self, method: str, path: str, body: Any = None) -> Any:
        """Ask until a node answers, without the proxy."""
        async with asyncio.timeout(_START_TIMEOUT_S), aiohttp.ClientSession() as session:
            while True:
                for node in self.nodes:
                    with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                        timeout = aiohttp.ClientTimeout(total=15)
                        async with session.request(method, f"{node.url}{path}", json=body, timeout=timeout) as response:
                            if response.status < 400:
                                return await response.json()
                await asyncio.sleep(0.3)

    async def wait_for_cluster(self) -> None:
        """Until every index can be searched."""
        await self.call_cluster("GET", "/_cluster/health?wait_for_status=yellow&timeout=10s")

    async def list_open_points(self) -> list[str]:
        found = await self.call_cluster("GET", "/_search/point_in_time/_all")
        return [str(point["pit_id"]) for point in found.get("pits", ())]

    # -- PostgreSQL

    async def kill_database(self) -> None:
        async with self._database_lock:
            await asyncio.to_thread(self.database.stop)
            await asyncio.sleep(self.rng.uniform(0.0, 2.0))
            self.database.launch()
            await self.wait_for_database()

    async def wait_for_database(self) -> None:
        async with asyncio.timeout(_START_TIMEOUT_S):
            while True:
                with contextlib.suppress(OSError, SQLAlchemyError):
                    await self.load_rows("SELECT 1")
                    return
                await asyncio.sleep(0.2)

    async def load_rows(self, query: str) -> list[Any]:
        """Raises `OSError` and `SQLAlchemyError` while the database is down."""
        engine = create_async_engine(self.database_url, poolclass=NullPool)
        try:
            async with engine.connect() as connection:
                return list((await connection.execute(text(query))).all())
        finally:
            await engine.dispose()

"""The lease of the process that builds a version of a bucket's index.

It is an entry of the registry. Its holder changes it every few seconds. Another process that sees no change for some
time takes the lease over, because the holder has died, and goes on with the build. No clocks are compared.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import JsonObject, RequestRefused
from storage.opensearch.mapping import digest_of
from storage.opensearch.writing.refusals import VersionSuperseded, is_conflict
from storage.search.errors import IndexUnavailable
from storage.search.ids import BucketId

_BUILD_KIND = "build"  # of registry entries
_RENEWAL_S = 2.0
_POLL_S = 1.0
_MAX_STALLED_POLLS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class _LeaseEntry:
    """The lease as it is stored. `renewal_count` grows with each renewal."""

    holder: str
    renewal_count: int
    conditions: dict[str, str]  # parameters of a write that hold as long as the entry is unchanged


@dataclass(frozen=True, kw_only=True)
class BuildLease:
    """The lease of a bucket, as this process claims it."""

    catalogue: BucketCatalogue
    bucket: BucketId
    holder: str = field(default_factory=lambda: uuid.uuid4().hex)

    async def run_holding(self, is_wanted: Callable[[], Awaitable[bool]], work: Callable[[], Awaitable[None]]) -> bool:
        """Wait for the lease, then run `work` with it; False if `is_wanted` says no before that.

        Raises what `work` raises, and `VersionSuperseded` if another process took the lease over meanwhile.
        """
        if not await self._acquire(is_wanted):
            return False
        try:
            async with asyncio.TaskGroup() as group:
                renewal = group.create_task(self._renew_repeatedly())
                await work()
                renewal.cancel()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        finally:
            await asyncio.shield(self._release())
        return True

    async def _acquire(self, is_wanted: Callable[[], Awaitable[bool]]) -> bool:
        while await is_wanted():
            entry = await self._load_entry()
            if entry is None or await self._is_stalled(entry, is_wanted):
                with suppress(VersionSuperseded):  # another process was faster
                    await self._write_entry(0, {"op_type": "create"} if entry is None else entry.conditions)
                    return True
        return False

    async def _is_stalled(self, entry: _LeaseEntry, is_wanted: Callable[[], Awaitable[bool]]) -> bool:
        """Wait until the holder changes the lease, which gives False, or has not done so for long."""
        for _ in range(_MAX_STALLED_POLLS):
            await self.catalogue.connection.pause_with_jitter(_POLL_S)
            if await self._load_entry() != entry or not await is_wanted():
                return False
        return True

    async def _renew_repeatedly(self) -> None:
        """Raises `VersionSuperseded` when another process has the lease."""
        while True:
            await asyncio.sleep(_RENEWAL_S)
            with suppress(IndexUnavailable):
                entry = await self._load_entry()
                if entry is None or entry.holder != self.holder:
                    raise VersionSuperseded
                await self._write_entry(entry.renewal_count + 1, entry.conditions)

    async def _release(self) -> None:
        with suppress(IndexUnavailable):  # then it is taken over after a while
            entry = await self._load_entry()
            if entry is not None and entry.holder == self.holder:
                await self.catalogue.connection.send_request("DELETE", self._path, params=entry.conditions)

    @property
    def _path(self) -> str:
        return f"/{self.catalogue.names.registry_write_alias}/_doc/{_BUILD_KIND}:{digest_of(self.bucket)}"

    async def _load_entry(self) -> _LeaseEntry | None:
        try:
            found = await self.catalogue.connection.send_request("GET", self._path)
        except RequestRefused as exc:
            if exc.status != 404:
                raise
            return None
        stored = cast(JsonObject, found["_source"]["stored"])
        conditions = {"if_seq_no": str(found["_seq_no"]), "if_primary_term": str(found["_primary_term"])}
        return _LeaseEntry(holder=stored["holder"], renewal_count=stored["renewals"], conditions=conditions)

    async def _write_entry(self, renewal_count: int, conditions: dict[str, str]) -> None:
        """Raises `VersionSuperseded` if the entry has changed."""
        stored = {"holder": self.holder, "renewals": renewal_count}
        body = {"kind": _BUILD_KIND, "bucket": digest_of(self.bucket), "stored": stored}
        params = {"require_alias": "true", **conditions}
        try:
            await self.catalogue.connection.send_request("PUT", self._path, body, params)
        except RequestRefused as exc:
            if is_conflict(exc):
                raise VersionSuperseded from exc
            raise

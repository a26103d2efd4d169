"""The index of a service that outlives it: the service starts without it, and opens it when it is there again."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from storage.search.errors import IndexDamaged, IndexUnavailable
from storage.search.forwarding_index import ForwardingIndex, IndexMethod
from storage.search.ids import TenantId
from storage.search.index import ScopedIndex, SearchIndex
from storage.search.scope import Scope

OpenedIndex = TypeVar("OpenedIndex", bound=SearchIndex)


class ReopeningIndex(ForwardingIndex, Generic[OpenedIndex]):
    """Implements `SearchIndex`. While the index cannot be opened, each method raises the failure, and all but
    `within_scope` try to open it first. Create it with `open`.
    """

    def __init__(
        self,
        opener: Callable[[], Awaitable[OpenedIndex]],
        tenant: TenantId,
        *,
        may_recover: Callable[[IndexUnavailable], bool],
        is_replaced: Callable[[OpenedIndex], bool],
    ) -> None:
        self._opener, self._tenant, self._lock = opener, tenant, asyncio.Lock()
        self._may_recover, self._is_replaced = may_recover, is_replaced
        self._index: OpenedIndex | None = None
        self._failure: IndexUnavailable | None = None
        self._failure_count = 0

    @classmethod
    async def open(
        cls,
        opener: Callable[[], Awaitable[OpenedIndex]],
        tenant: TenantId,
        *,
        may_recover: Callable[[IndexUnavailable], bool],
        is_replaced: Callable[[OpenedIndex], bool] = lambda _: False,
    ) -> "ReopeningIndex[OpenedIndex]":
        """`is_replaced`: whether the open index is no longer the one that `opener` would open.

        Raises `IndexUnavailable`, unless the failure `may_recover` while the service runs.
        """
        index = cls(opener, tenant, may_recover=may_recover, is_replaced=is_replaced)
        try:
            index._index = await opener()
        except IndexUnavailable as exc:
            if not may_recover(exc):
                raise
            index._failure = exc
        return index

    @property
    def failure(self) -> IndexUnavailable | None:
        """Why the index could not be opened last; None once it is open."""
        return self._failure

    @property
    def tenant(self) -> TenantId:
        return self._tenant

    def within_scope(self, scope: Scope) -> ScopedIndex:
        """Raises `IndexUnavailable`."""
        if self._index is None:
            raise self._copy_failure()
        return self._index.within_scope(scope)

    @asynccontextmanager
    async def enter_call(self, method: IndexMethod) -> AsyncGenerator[SearchIndex]:
        """Raises `IndexUnavailable`."""
        yield await self._open_current()

    async def close(self) -> None:
        if self._index is not None:
            await self._index.close()

    async def _open_current(self) -> OpenedIndex:
        """The index that is there now. Raises `IndexUnavailable`."""
        failure_count = self._failure_count
        async with self._lock:
            if self._index is None and self._failure_count > failure_count:  # another call has just tried
                raise self._copy_failure()
            if self._index is None or self._is_replaced(self._index):
                try:
                    index = await self._opener()
                except IndexUnavailable as exc:
                    self._failure, self._failure_count = exc, self._failure_count + 1
                    raise
                if self._index is not None:  # a question that it still answers is asked again
                    await self._index.close()
                self._index, self._failure = index, None
        return self._index

    def _copy_failure(self) -> IndexUnavailable:
        """A new exception, because several tasks raise it."""
        if self._failure is None:
            return IndexUnavailable("the index", "it is not open")
        kind = IndexDamaged if isinstance(self._failure, IndexDamaged) else IndexUnavailable
        return kind(self._failure.location, self._failure.reason)

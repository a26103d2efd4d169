"""An index that passes every call on to another index; what a test wants otherwise is overridden."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from storage.search.forwarding_index import ForwardingIndex, IndexMethod
from storage.search.ids import TenantId
from storage.search.index import ScopedIndex, SearchIndex
from storage.search.scope import Scope


class WrappedIndex(ForwardingIndex):
    """Implements `SearchIndex` by the calls of `wrapped`."""

    def __init__(self, wrapped: SearchIndex) -> None:
        self.wrapped = wrapped

    @property
    def tenant(self) -> TenantId:
        return self.wrapped.tenant

    def within_scope(self, scope: Scope) -> ScopedIndex:
        return self.wrapped.within_scope(scope)

    async def close(self) -> None:
        await self.wrapped.close()

    @asynccontextmanager
    async def enter_call(self, method: IndexMethod) -> AsyncGenerator[SearchIndex]:
        yield self.wrapped

"""An OpenSearch index whose requests are recorded, so that what a question asks of the cluster can be counted."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any as Json

from storage.embedder import Embedder
from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import READ_TIMEOUT_S, ClusterConnection, JsonObject
from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.mapping import IndexNames
from storage.search.ids import TenantId
from storage.text.snowball_analyser import analyser_for

_MULTI_SEARCH_PATH = "/_msearch"


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that was sent to the cluster. `body` is JSON lines, or an object, or None."""

    method: str
    path: str
    body: Json

    @property
    def searches(self) -> int:
        """The number of searches, of which an `_msearch` holds any number."""
        return self.body.count("\n") // 2 if self.path == _MULTI_SEARCH_PATH else 0


class RecordedConnection(ClusterConnection):
    """A connection that keeps what it sends, in order."""

    def __init__(self, urls: Sequence[str]) -> None:
        super().__init__(urls)
        self.sent_requests: list[SentRequest] = []

    async def send_without_retry(
        self,
        method: str,
        path: str,
        body: Json = None,
        params: Mapping[str, str] | None = None,
        timeout_s: float = READ_TIMEOUT_S,
    ) -> JsonObject:
        self.sent_requests.append(SentRequest(method, path, body))
        return await super().send_without_retry(method, path, body, params, timeout_s)

    def take_requests(self) -> list[SentRequest]:
        """Returns the requests since the last call."""
        taken, self.sent_requests = self.sent_requests, []
        return taken


@dataclass(frozen=True, slots=True)
class RecordedIndex:
    index: OpenSearchIndex
    connection: RecordedConnection


@asynccontextmanager
async def open_recorded_index(
    url: str, *, tenant: TenantId, installation: str, embedder: Embedder | None, shared_from: int | None = None
) -> AsyncGenerator[RecordedIndex]:
    """An index at `url` with its recorded connection. The indexes of `installation` are deleted at the end.

    `shared_from`: with so many other buckets, a small one shares an index.
    """
    connection, names = RecordedConnection([url]), IndexNames(tenant, installation)
    try:
        catalogue = BucketCatalogue(connection=connection, names=names, analysers=analyser_for)
        await catalogue.open()
        try:
            index = OpenSearchIndex(catalogue, tenant=tenant, embedder=embedder, shared_from=shared_from)
            yield RecordedIndex(index, connection)
        finally:
            await connection.send_request("DELETE", f"/{installation}-*")
    finally:
        await connection.close()

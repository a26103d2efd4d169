"""The OpenSearch engine: a SearchIndex in a cluster of OpenSearch 3, for several hosts and millions of passages."""

from collections.abc import Callable, Mapping, Sequence

from storage.embedder import Embedder
from storage.opensearch.asking import Steps, one_search, side_by_side, total
from storage.opensearch.catalogue import Catalogue
from storage.opensearch.compile import both
from storage.opensearch.connection import Connection
from storage.opensearch.layout import DOCUMENT, PASSAGE, Layout, Names
from storage.opensearch.reading import Reader, ScopedOpenSearchIndex
from storage.opensearch.terms import key
from storage.opensearch.versions import Versions
from storage.opensearch.vocabulary import Presence, presence
from storage.opensearch.writing import Fate, Writer
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.index import BucketState, Put
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.search.text import Analyser

_PAGE = 10_000


class OpenSearchIndex:
    """Implements `SearchIndex`. Made by `open`; belongs to one event loop."""

    def __init__(self, catalogue: Catalogue, *, tenant: TenantId, embedder: Embedder | None) -> None:
        self._catalogue, self._tenant = catalogue, tenant
        self._writer = Writer(catalogue=catalogue, embedder=embedder)
        self._versions = Versions(catalogue=catalogue, writer=self._writer)
        self._reader = Reader(catalogue=catalogue, embedder=embedder)

    @classmethod
    async def open(
        cls,
        urls: Sequence[str],
        *,
        tenant: TenantId,
        analysers: Callable[[str], Analyser],
        embedder: Embedder | None,
        user: str | None = None,
        password: str | None = None,
        ca: str | None = None,
        installation: str = "parley",
    ) -> "OpenSearchIndex":
        """The tenant's index in the cluster at `urls`. `analysers` gives the analyser of a language.

        `installation` begins the names of all indexes: lower-case letters, digits and hyphens, a letter first.
        Without an embedder passages are put without vectors. Buckets whose terms another version of the analyser made,
        and those that an earlier Parley made without outlines, are indexed anew. Raises `IndexUnavailable` (no answer,
        not OpenSearch 3, user or certificate refused) and `IndexTooNew`.
        """
        connection = Connection(urls, user=user, password=password, ca=ca)
        catalogue = Catalogue(connection=connection, names=Names(tenant, installation), analysers=analysers)
        try:
            await catalogue.open()
            index = cls(catalogue, tenant=tenant, embedder=embedder)
            await index._renew_terms()
        except BaseException:
            await connection.close()
            raise
        return index

    async def _renew_terms(self) -> None:
        for layout in list(self._catalogue.layouts.values()):
            if layout.analyser.version != layout.analyser_version or not layout.outlined:
                await self._versions.set_schema(layout.schema)

    @property
    def tenant(self) -> TenantId:
        return self._tenant

    # -- writing

    async def set_schema(self, schema: Schema) -> None:
        await self._versions.set_schema(schema)

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> Put:
        layout = await self._versions.with_embedder(bucket)
        fates = await self._writer.put(layout, documents)
        return Put(**{fate.value: tuple(doc_id for doc_id, mine in fates.items() if mine is fate) for fate in Fate})

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        return await self._writer.delete(doc_ids)

    async def drop_bucket(self, bucket: BucketId) -> None:
        await self._versions.drop(bucket)

    # -- knowing

    async def buckets(self) -> Mapping[BucketId, BucketState]:
        await self._catalogue.reload()
        states = [await self._state(bucket) for bucket in sorted(self._catalogue.layouts)]
        return {state.schema.bucket: state for state in states if state is not None}

    async def _state(self, bucket: BucketId) -> BucketState | None:
        """None for a bucket that was dropped just now."""

        def questions(layouts: Mapping[BucketId, Layout]) -> list[Steps[tuple[Presence, int]]]:
            return [_counted(layout) for layout in layouts.values()]

        generation, found = await self._reader.settled(frozenset({bucket}), questions)
        layout = self._catalogue.layouts.get(bucket)
        if layout is None or not found:
            return None
        ((documents, fields), passages) = found[0]
        return BucketState(
            schema=layout.schema, documents=documents, passages=passages, generation=generation, fields=fields
        )

    async def digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        layout = await self._catalogue.fresh(bucket)
        digests, after = dict[DocId, str](), ""
        while True:
            query = both({"term": {"kind": DOCUMENT}}, {"range": {"doc_id": {"gt": after}}})
            shown = ["stored.doc_id", "stored.digest"]
            ask = one_search(layout.index, query, None, size=_PAGE, sort=[{"doc_id": "asc"}], _source=shown)
            (found,) = await self._catalogue.search([ask])
            digests |= {DocId(hit.stored["doc_id"]): hit.stored["digest"] for hit in found.hits}
            if len(found.hits) < _PAGE:
                return digests
            after = key(found.hits[-1].stored["doc_id"])

    def within(self, scope: Scope) -> ScopedOpenSearchIndex:
        if scope.tenant != self._tenant:
            raise ValueError("the scope is of another tenant")
        return ScopedOpenSearchIndex(self._reader, scope)

    async def ping(self) -> None:
        await self._catalogue.connection.call("GET", f"/{self._catalogue.names.registry}/_count")

    async def close(self) -> None:
        await self._catalogue.connection.close()


def _counted(layout: Layout) -> Steps[tuple[Presence, int]]:
    passages = total([one_search(layout.index, {"term": {"kind": PASSAGE}})])
    return side_by_side(presence(layout), passages)

"""The OpenSearch engine: a `SearchIndex` in an OpenSearch 3 cluster, for several hosts and millions of passages."""

import uuid
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import cast

from storage.embedder import Embedder
from storage.opensearch import vectors
from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.cluster_credentials import ClusterCredentials
from storage.opensearch.connection import ClusterConnection, JsonObject, RequestRefused
from storage.opensearch.mapping import DOCUMENT, PASSAGE, IndexLayout, IndexNames
from storage.opensearch.reading.compile import all_of
from storage.opensearch.reading.query_steps import (
    QuerySteps,
    build_search_request,
    count_matching_documents,
    run_pair_side_by_side,
)
from storage.opensearch.reading.requests import IndexReader
from storage.opensearch.reading.scoped_index import ScopedOpenSearchIndex
from storage.opensearch.reading.vocabulary import FieldPresence, count_field_presence
from storage.opensearch.terms import keyword_term_of
from storage.opensearch.writing.documents import DocumentWriter
from storage.opensearch.writing.versions import MAX_SCANNED_PASSAGES, IndexVersions
from storage.search.analyser import Analyser
from storage.search.documents import Document
from storage.search.errors import IndexDamaged, NotInScope, UnknownBucket
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.index import (
    BucketSize,
    BucketState,
    DocumentRecord,
    EarlierIndexes,
    PassageVolume,
    PutResult,
    RebuildPlan,
    RebuildProgress,
    RecordPageRequest,
    VectorState,
)
from storage.search.plan import unfiltered_search_of
from storage.search.schema import Schema
from storage.search.scope import Scope

_PAGE_SIZE = 10_000
_SCANNED_RECORDS = 1_000  # of a round trip
_WRITE_CHECK_KIND = "check"  # of the registry's entries that `ping` writes


class OpenSearchIndex:
    """Implements `SearchIndex`. Created by `open`; belongs to one event loop."""

    def __init__(
        self,
        catalogue: BucketCatalogue,
        *,
        tenant: TenantId,
        embedder: Embedder | None,
        shard_count: int = 1,
        max_scanned_passages: int = MAX_SCANNED_PASSAGES,
        shared_from: int | None = None,
    ) -> None:
        self._catalogue, self._tenant = catalogue, tenant
        self._writer = DocumentWriter(catalogue=catalogue, embedder=embedder)
        self._versions = IndexVersions(
            catalogue=catalogue,
            writer=self._writer,
            shard_count=shard_count,
            max_scanned_passages=max_scanned_passages,
            shared_from=shared_from,
        )
        self._reader = IndexReader(catalogue=catalogue, embedder=embedder)

    @classmethod
    async def open(
        cls,
        urls: Sequence[str],
        *,
        tenant: TenantId,
        analysers: Callable[[str], Analyser],
        embedder: Embedder | None,
        credentials: ClusterCredentials | None = None,
        ca_file: str | None = None,
        installation: str = "parley",
        shard_count: int = 1,
        max_scanned_passages: int = MAX_SCANNED_PASSAGES,
        shared_from: int | None = None,
    ) -> "OpenSearchIndex":
        """Open the tenant's index in the cluster at `urls`. `analysers` returns the analyser of a language.

        `installation` is the prefix of all index names: lower-case letters, digits and hyphens, a letter first.
        `shard_count`: of the index of a new bucket. `max_scanned_passages`: a rebuild of a bucket with more passages
        stores their vectors in a graph. `shared_from`: with so many other buckets, a bucket that is small when it is
        created or rebuilt shares an index; None: never. Without an embedder passages are stored without vectors.
        Buckets with terms of another analyser version, and buckets that an earlier Parley created without outlines,
        are reindexed. Raises `IndexUnavailable` (no response, not OpenSearch 3, user or certificate refused) and
        `IndexTooNew`.
        """
        connection = ClusterConnection(urls, credentials=credentials, ca_file=ca_file)
        catalogue = BucketCatalogue(connection=connection, names=IndexNames(tenant, installation), analysers=analysers)
        try:
            await catalogue.open()
            index = cls(
                catalogue,
                tenant=tenant,
                embedder=embedder,
                shard_count=shard_count,
                max_scanned_passages=max_scanned_passages,
                shared_from=shared_from,
            )
            await index._reindex_outdated_buckets()
        except BaseException:
            await connection.close()
            raise
        return index

    async def _reindex_outdated_buckets(self) -> None:
        for layout in list(self._catalogue.layouts.values()):
            if layout.analyser.version != layout.analyser_version or layout.is_of_earlier_parley:
                await self._versions.set_schema(layout.schema)

    @property
    def tenant(self) -> TenantId:
        return self._tenant

    # -- writing

    async def set_schema(self, schema: Schema) -> None:
        await self._versions.set_schema(schema)

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        layout = await self._versions.ensure_current_embedder(bucket)
        return await self._writer.put(layout, documents)

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        return await self._writer.delete(doc_ids)

    async def drop_bucket(self, bucket: BucketId) -> None:
        await self._versions.drop_bucket(bucket)

    # -- vectors

    async def load_vector_states(self) -> Mapping[BucketId, VectorState]:
        await self._catalogue.reload_layouts()
        layouts = [layout for _, layout in sorted(self._catalogue.layouts.items())]
        states = await vectors.load_vector_states(self._catalogue, layouts, self._writer.embedder)
        return {layout.bucket: state for layout, state in zip(layouts, states, strict=True)}

    async def measure_outdated_passages(self, bucket: BucketId) -> PassageVolume:
        layout, embedder = await self._catalogue.reload_bucket_layout(bucket), self._writer.embedder
        if embedder is None:
            return PassageVolume(passage_count=0, character_count=0)
        return await vectors.measure_outdated_passages(self._catalogue, layout, embedder)

    async def update_vectors(self, bucket: BucketId, report_progress: Callable[[int], None]) -> int:
        passage_count, embedder = (await self.measure_outdated_passages(bucket)).passage_count, self._writer.embedder
        if embedder is None or not passage_count:
            return 0
        await self._versions.update_vectors(
            bucket, embedder, lambda embedded_count: report_progress(min(embedded_count, passage_count))
        )
        report_progress(passage_count)
        return passage_count

    # -- rebuilding

    async def plan_rebuild(self, bucket: BucketId, *, shard_count: int | None = None) -> RebuildPlan:
        needed_bytes, free_bytes, planned_shards = await self._versions.plan_rebuild(bucket, shard_count)
        size = await self._load_bucket_size(bucket)
        document_count = 0 if size is None else size.document_count
        return RebuildPlan(
            document_count=document_count,
            needed_bytes=needed_bytes,
            free_bytes=free_bytes,
            shard_count=planned_shards,
        )

    async def rebuild_bucket(
        self,
        bucket: BucketId,
        report_progress: Callable[[RebuildProgress], None],
        *,
        shard_count: int | None = None,
    ) -> int:
        await self._versions.rebuild_bucket(bucket, report_progress, shard_count)
        size = await self._load_bucket_size(bucket)
        return 0 if size is None else size.document_count

    async def clean_up_bucket(self, bucket: BucketId) -> EarlierIndexes:
        return await self._versions.clean_up_bucket(bucket)

    # -- bucket states

    async def load_bucket_states(self) -> Mapping[BucketId, BucketState]:
        await self._catalogue.reload_layouts()
        states = [await self._load_bucket_state(bucket) for bucket in sorted(self._catalogue.layouts)]
        return {state.schema.bucket: state for state in states if state is not None}

    async def _load_bucket_state(self, bucket: BucketId) -> BucketState | None:
        """Returns the state of a bucket; None if it was dropped meanwhile."""

        def count_bucket_steps(layouts: Mapping[BucketId, IndexLayout]) -> list[QuerySteps[tuple[FieldPresence, int]]]:
            return [_count_bucket_contents(layout) for layout in layouts.values()]

        generation, contents = await self._reader.read_consistent_state(frozenset({bucket}), count_bucket_steps)
        layout = self._catalogue.layouts.get(bucket)
        if layout is None or not contents:
            return None
        ((document_count, field_counts), passage_count) = contents[0]
        return BucketState(
            schema=layout.schema,
            document_count=document_count,
            passage_count=passage_count,
            generation=generation,
            field_counts=field_counts,
        )

    async def load_bucket_names(self) -> frozenset[BucketId]:
        await self._catalogue.reload_layouts()
        return frozenset(self._catalogue.layouts)

    async def load_bucket_sizes(self) -> Mapping[BucketId, BucketSize]:
        await self._catalogue.reload_layouts()
        sizes = {bucket: await self._load_bucket_size(bucket) for bucket in sorted(self._catalogue.layouts)}
        return {bucket: size for bucket, size in sizes.items() if size is not None}

    async def _load_bucket_size(self, bucket: BucketId) -> BucketSize | None:
        """Returns the size of a bucket; None if it was dropped meanwhile."""

        def count_document_steps(layouts: Mapping[BucketId, IndexLayout]) -> list[QuerySteps[int]]:
            requests = [build_search_request(layout.index, {"term": {"kind": DOCUMENT}}) for layout in layouts.values()]
            return [count_matching_documents(requests)] if requests else []

        generation, counts = await self._reader.read_consistent_state(frozenset({bucket}), count_document_steps)
        layout = self._catalogue.layouts.get(bucket)
        if layout is None or not counts:
            return None
        return BucketSize(schema=layout.schema, document_count=counts[0], generation=generation)

    async def load_digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        return await self._load_stored_texts(bucket, "digest")

    async def load_ingestion_days(self, bucket: BucketId) -> Mapping[DocId, str]:
        return await self._load_stored_texts(bucket, "loaded_on")

    async def _load_stored_texts(self, bucket: BucketId, key: str) -> Mapping[DocId, str]:
        """Return what is stored under the key of each document; empty where nothing is."""
        layout = await self._catalogue.reload_bucket_layout(bucket)
        texts, after = dict[DocId, str](), ""
        while True:
            query = all_of({"term": {"kind": DOCUMENT}}, {"range": {"doc_id": {"gt": after}}})
            source_fields = ["stored.doc_id", f"stored.{key}"]
            request = build_search_request(
                layout.index, query, None, size=_PAGE_SIZE, sort=[{"doc_id": "asc"}], _source=source_fields
            )
            (response,) = await self._catalogue.run_multi_search([request])
            texts |= {DocId(hit.stored_entry["doc_id"]): hit.stored_entry.get(key, "") for hit in response.hits}
            if len(response.hits) < _PAGE_SIZE:
                return texts
            after = keyword_term_of(response.hits[-1].stored_entry["doc_id"])

    async def scan_records(self, bucket: BucketId) -> AsyncGenerator[Sequence[DocumentRecord]]:
        layout = await self._catalogue.reload_bucket_layout(bucket)
        scope = Scope(tenant=self._tenant, buckets=frozenset({bucket}), ignores_readers=True)
        search, cursor = unfiltered_search_of(layout.bucket), None
        while True:
            request = RecordPageRequest(search, cursor=cursor, limit=_SCANNED_RECORDS, order_by_id=True)
            try:
                page = (await self.within_scope(scope).answer_requests(request))[request]
            except NotInScope as exc:  # it was dropped meanwhile
                raise UnknownBucket(bucket) from exc
            if page.records:
                yield page.records
            if (cursor := page.cursor) is None:
                return

    def within_scope(self, scope: Scope) -> ScopedOpenSearchIndex:
        if scope.tenant != self._tenant:
            raise ValueError("the scope is of another tenant")
        return ScopedOpenSearchIndex(self._reader, scope)

    async def ping(self, *, thorough: bool = False) -> None:
        connection, token = self._catalogue.connection, uuid.uuid4().hex
        path = f"/{self._catalogue.names.registry_write_alias}/_doc/{_WRITE_CHECK_KIND}:{token[0]}"
        body = {"kind": _WRITE_CHECK_KIND, "stored": {"token": token}}
        try:
            await connection.send_request("PUT", path, body, {"require_alias": "true"})
        except RequestRefused:
            await self._catalogue.require_registry()
            raise
        entry = cast(JsonObject, (await connection.send_request("GET", path)).get("_source") or {})
        if entry.get("kind") != _WRITE_CHECK_KIND:  # the token may be another process's
            raise IndexDamaged(connection.location, "it does not keep what is written")

    async def close(self) -> None:
        await self._catalogue.connection.close()


def _count_bucket_contents(layout: IndexLayout) -> QuerySteps[tuple[FieldPresence, int]]:
    passage_count_steps = count_matching_documents([build_search_request(layout.index, {"term": {"kind": PASSAGE}})])
    return run_pair_side_by_side(count_field_presence(layout), passage_count_steps)

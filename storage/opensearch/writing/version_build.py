"""Builds a version of a bucket's index beside the one in use, while searches and writes go on.

The steps are: copy, compare and bring up to date, check, swap the alias. Each may be repeated, so that a build whose
process died is finished by another process: documents that are the same in both versions are not copied again. Writers
mirror their changes into the version as long as it has the alias of versions being built, also while no process works
on it. All aliases change in one request: from then on, writers write to the new version only.

A process of an earlier Parley that still runs does not mirror. What it has written between the comparison and the swap
is put into the new version after the swap, which refuses its writes.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import WRITE_TIMEOUT_S, JsonObject
from storage.opensearch.mapping import DOCUMENT, PASSAGE, IndexLayout
from storage.opensearch.reading.compile import all_of
from storage.opensearch.reading.query_steps import build_search_request
from storage.opensearch.responses import OpenSearchHit
from storage.opensearch.terms import keyword_term_of
from storage.opensearch.writing.passage_vectors import VectorPolicy
from storage.opensearch.writing.small_buckets import adds_alias, removes_alias
from storage.opensearch.writing.version_mirror import (
    MIRRORED_BATCH_SIZE,
    VersionMirror,
    copied_version_of,
)
from storage.search.documents import Document
from storage.search.errors import IndexDamaged, IndexUnavailable
from storage.search.ids import DocId
from storage.search.index import RebuildProgress, RebuildStage

_PAGE_SIZE = 5_000
_MAX_COMPARED = 50_000  # documents of the copy in the range of a page
_BATCHES_IN_FLIGHT = 2
_MAX_COMPARISONS, _COMPARISON_PAUSE_S = 20, 0.2  # until the counts agree under writes
_SAMPLE_SIZE = 200

ProgressReporter = Callable[[RebuildProgress], None]


def ignore_progress(progress: RebuildProgress) -> None:
    """Reports to nobody."""


@dataclass(frozen=True, kw_only=True)
class VersionBuild:
    """The build of `target` from `source`."""

    catalogue: BucketCatalogue
    mirror: VersionMirror
    source: IndexLayout
    target: IndexLayout
    policy: VectorPolicy
    report_progress: ProgressReporter
    sample: random.Random = field(default_factory=random.Random)  # chooses documents to compare

    async def build_and_switch(self) -> list[Document]:
        """Returns the documents that are to be put into the version: an earlier Parley wrote them meanwhile.

        Raises `VersionSuperseded` if one of the versions is gone, `IndexDamaged` if the copy differs.

        The version is unfinished then; `EmbedderUnavailable` and `IndexUnavailable` too.
        """
        total = (await self._count_entries(self.source))[0]
        self._report(RebuildStage.COPYING, 0, total)
        await self._mirror_differences(RebuildStage.COPYING, total)
        self._report(RebuildStage.COMPARING, 0, total)
        compared_until = await self._load_last_change(self.source)
        await self._mirror_differences(RebuildStage.COMPARING, total)
        await self._add_missing_vectors()
        await self._check_counts()
        await self._check_sample()
        switched_at = await self._load_last_change(self.target)
        self._report(RebuildStage.SWITCHING, 0, total)
        await self._swap_aliases()
        self._report(RebuildStage.PUBLISHING, 0, total)
        await self.publish()
        return await self._load_late_documents(compared_until, switched_at) if self.source.is_of_earlier_parley else []

    async def publish(self) -> None:
        """Make readers use the version that has the alias of the bucket."""
        if not self.target.is_shared:
            settings = {"index.gc_deletes": None}  # it was long for the build
            await self.catalogue.connection.send_request("PUT", f"/{self.target.index}/_settings", settings)
        await self.catalogue.refresh_version(self.target)
        layout = await self.catalogue.reload_bucket_layout(self.target.bucket)
        await self.catalogue.publish_generations([layout])

    def _report(self, stage: RebuildStage, done: int, total: int) -> None:
        self.report_progress(RebuildProgress(stage=stage, done=done, total=max(done, total)))

    # -- copying

    async def _mirror_differences(self, stage: RebuildStage, total: int) -> None:
        """Mirror the documents in which the two versions differ as searches see them."""
        await self._refresh()
        seen_count = 0
        async for page_count, differing_ids in self._find_differences():
            batches = [
                differing_ids[start : start + MIRRORED_BATCH_SIZE]
                for start in range(0, len(differing_ids), MIRRORED_BATCH_SIZE)
            ]
            for start in range(0, len(batches), _BATCHES_IN_FLIGHT):
                await self._mirror_side_by_side(batches[start : start + _BATCHES_IN_FLIGHT])
                done = seen_count + MIRRORED_BATCH_SIZE * (start + _BATCHES_IN_FLIGHT)
                self._report(stage, min(done, seen_count + page_count), total)
            seen_count += page_count
            self._report(stage, seen_count, total)

    async def _mirror_side_by_side(self, batches: Sequence[Sequence[DocId]]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for batch in batches:
                    group.create_task(self.mirror.mirror_documents(self.source, self.target, batch, self.policy))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors

    async def _find_differences(self) -> AsyncIterator[tuple[int, list[DocId]]]:
        """Yields, for each page of documents in order of id, their number and the ids of those that differ."""
        after = ""
        while True:
            originals = await self._read_page(self.source, {"gt": after}, _PAGE_SIZE)
            is_last = len(originals) < _PAGE_SIZE
            last = "" if is_last else keyword_term_of(originals[-1].stored_entry["doc_id"])
            id_range = {"gt": after} if is_last else {"gt": after, "lte": last}
            copies = await self._read_page(self.target, id_range, _MAX_COMPARED)
            versions = {DocId(hit.stored_entry["doc_id"]): hit.version for hit in copies}
            expected = {DocId(hit.stored_entry["doc_id"]): copied_version_of(hit.seq_no) for hit in originals}
            differing = [doc_id for doc_id in {**expected, **versions} if expected.get(doc_id) != versions.get(doc_id)]
            yield len(originals), differing
            if is_last:
                return
            after = last

    async def _read_page(self, layout: IndexLayout, id_range: JsonObject, size: int) -> list[OpenSearchHit]:
        request = build_search_request(
            layout.index,
            all_of({"term": {"kind": DOCUMENT}}, {"range": {"doc_id": id_range}}),
            None,
            size=size,
            sort=[{"doc_id": "asc"}],
            _source=["stored.doc_id"],
            version=True,
            seq_no_primary_term=True,
        )
        (response,) = await self.catalogue.run_multi_search([request])
        return response.hits

    async def _add_missing_vectors(self) -> None:
        """Embed passages that a writer with another embedder has mirrored, or one whose embedder did not answer.

        A passage without words has no vector either, so each document is tried once.
        """
        if self.policy is not VectorPolicy.REQUIRE or not self.mirror.vectors.can_embed_for(self.target):
            return
        await self._refresh()
        lacks_vector: JsonObject = {"bool": {"must_not": [{"exists": {"field": "vector"}}]}}
        after = ""
        while True:
            request = build_search_request(
                self.target.index,
                all_of({"term": {"kind": PASSAGE}}, lacks_vector, {"range": {"doc_id": {"gt": after}}}),
                None,
                size=_PAGE_SIZE,
                sort=[{"doc_id": "asc"}],
                _source=["stored.doc_id"],
            )
            (response,) = await self.catalogue.run_multi_search([request])
            doc_ids = list(dict.fromkeys(DocId(hit.stored_entry["doc_id"]) for hit in response.hits))
            if not doc_ids:
                return
            await self.mirror.rewrite_documents(self.source, self.target, doc_ids)
            after = keyword_term_of(doc_ids[-1])

    async def _refresh(self) -> None:
        names = f"{self.source.index},{self.target.index}"
        await self.catalogue.connection.send_request("POST", f"/{names}/_refresh", timeout_s=WRITE_TIMEOUT_S)

    async def _load_last_change(self, layout: IndexLayout) -> int:
        """Returns the position of the last change that searches see; -1 for none."""
        request = build_search_request(
            layout.index, {"match_all": {}}, None, size=1, sort=[{"_seq_no": "desc"}], seq_no_primary_term=True
        )
        (response,) = await self.catalogue.run_multi_search([request])
        return response.hits[0].seq_no if response.hits else -1

    async def _load_late_documents(self, compared_until: int, switched_at: int) -> list[Document]:
        """Returns what was written into `source` after the change at `compared_until`, without documents that were
        written into `target` after that at `switched_at`.
        """
        await self.catalogue.refresh_version(self.source)
        is_late: JsonObject = {"range": {"_seq_no": {"gt": compared_until}}}
        request = build_search_request(
            self.source.index,
            all_of({"term": {"kind": DOCUMENT}}, is_late),
            None,
            size=_MAX_COMPARED,
            _source=["stored.doc_id"],
        )
        (response,) = await self.catalogue.run_multi_search([request])
        doc_ids = [DocId(hit.stored_entry["doc_id"]) for hit in response.hits]
        changes = await self.mirror.load_sequence_numbers(self.target, doc_ids)
        late_ids = [doc_id for doc_id in doc_ids if changes.get(doc_id, -1) <= switched_at]
        stored = await self.mirror.read_documents(self.source, late_ids)
        return [entry.document for entry in stored.values()]

    # -- checking

    async def _check_counts(self) -> None:
        """Raises `IndexDamaged` if the versions have different numbers of documents or passages all the time."""
        for _ in range(_MAX_COMPARISONS):
            await self._refresh()
            originals, copies = await self._count_entries(self.source), await self._count_entries(self.target)
            if originals == copies:
                return
            async for _, differing_ids in self._find_differences():
                await self.mirror.mirror_documents(self.source, self.target, differing_ids, self.policy)
            await self.catalogue.connection.pause_with_jitter(_COMPARISON_PAUSE_S)
        raise IndexDamaged(
            self.catalogue.connection.location,
            f"the copy of {self.source.bucket!r} has other documents than the original; it was given up",
        )

    async def _count_entries(self, layout: IndexLayout) -> tuple[int, int]:
        """Returns the numbers of documents and of passages that searches see."""
        kinds = DOCUMENT, PASSAGE
        documents, passages = await self.catalogue.run_multi_search(
            [build_search_request(layout.index, {"term": {"kind": kind}}) for kind in kinds]
        )
        return documents.total, passages.total

    async def _check_sample(self) -> None:
        """Compare the content of some documents in both versions. Raises `IndexDamaged` if one differs."""
        doc_ids = await self._choose_sample()
        for start in range(0, len(doc_ids), MIRRORED_BATCH_SIZE):
            batch = doc_ids[start : start + MIRRORED_BATCH_SIZE]
            originals = await self.mirror.read_documents(self.source, batch)
            copies = await self.mirror.read_documents(self.target, batch)
            for doc_id, original in originals.items():
                document_copy = copies.get(doc_id)
                if document_copy is None or document_copy.entry_version != copied_version_of(original.sequence_number):
                    continue  # it was changed between the two reads, and its writer mirrors it
                if original.content_digest != document_copy.content_digest:
                    raise IndexDamaged(
                        self.catalogue.connection.location,
                        f"the copy of {doc_id!r} differs from the original; the copy was given up",
                    )

    async def _choose_sample(self) -> list[DocId]:
        request = build_search_request(
            self.source.index,
            {
                "function_score": {
                    "query": {"term": {"kind": DOCUMENT}},
                    "random_score": {"seed": self.sample.getrandbits(31), "field": "_seq_no"},
                }
            },
            None,
            size=_SAMPLE_SIZE,
            _source=["stored.doc_id"],
        )
        (response,) = await self.catalogue.run_multi_search([request])
        return [DocId(hit.stored_entry["doc_id"]) for hit in response.hits]

    # -- coming into use

    async def _swap_aliases(self) -> None:
        """Bring the version into use, in one request. Raises `VersionSuperseded` if it is no longer being built."""
        names, old, new = self.catalogue.names, self.source, self.target
        bucket_alias, build_alias = names.bucket_alias_for(new.bucket), names.build_alias_for(new.bucket)
        actions: list[JsonObject] = [
            removes_alias(old, bucket_alias),
            removes_alias(old, names.write_alias_for(old.index)),
            removes_alias(new, build_alias),
            removes_alias(new, names.copy_alias_for(new.index)),
            adds_alias(new, bucket_alias),
            adds_alias(new, names.write_alias_for(new.index)),
        ]
        try:
            await self.catalogue.connection.send_without_retry(
                "POST", "/_aliases", {"actions": actions}, timeout_s=WRITE_TIMEOUT_S
            )
        except IndexUnavailable:
            versions = await self.catalogue.load_versions(self.target.bucket)
            if versions is None or versions.current.index != new.index:  # otherwise only the answer was lost
                raise

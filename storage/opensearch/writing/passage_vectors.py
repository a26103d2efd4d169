"""The vectors that passages get in a version of an index: embedded, or copied from another version."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from storage.embedder import Embedder, embed_passages
from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import PASSAGE, IndexLayout
from storage.opensearch.reading.compile import all_of, any_term_query
from storage.opensearch.reading.query_steps import build_search_request
from storage.opensearch.terms import keyword_term_of
from storage.search.documents import Document
from storage.search.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from storage.embedder import Vectors

_PAGE_SIZE = 5_000
# The vector is not in `_source`, so only a script can read it. It copies the numbers, because the server uses the same
# array for the bytes of each hit.
_READ_VECTOR = {
    "vector": {
        "script": {
            "lang": "painless",
            "source": "List numbers = new ArrayList(); if (doc['vector'].size() == 0) { return numbers; }"
            " for (def number : doc['vector'].value) { numbers.add(number); } return numbers;",
        }
    }
}


class VectorPolicy(Enum):
    """What a copy does about passages whose vectors the original lacks."""

    KEEP = auto()  # embed them only if that costs nothing
    FILL = auto()  # embed them if the embedder answers
    REQUIRE = auto()  # embed them; fail if the embedder does not answer


@dataclass(frozen=True, kw_only=True)
class LayoutVectors:
    catalogue: BucketCatalogue
    embedder: Embedder | None

    def can_embed_for(self, layout: IndexLayout) -> bool:
        """Whether the vectors of the layout are those of the embedder."""
        return self.embedder is not None and self.embedder.name == layout.embedder_name

    async def embed_for_layout(self, layout: IndexLayout, documents: Sequence[Document]) -> "list[Vectors] | None":
        """Returns, for each document, the vectors of its passages.

        Returns None without an embedder, or if the layout has another embedder's vectors. Raises
        `EmbedderUnavailable`.
        """
        if self.embedder is None or not self.can_embed_for(layout):
            return None
        return await embed_passages(self.embedder, documents)

    async def load_for_copy(
        self, source: IndexLayout, target: IndexLayout, documents: Sequence[Document], policy: VectorPolicy
    ) -> "list[Vectors] | None":
        """Returns, for each document, the vectors of its passages in `target`, a zero vector where there is none.

        Vectors that cost something are copied from `source` where it has them. None: there are no vectors. Raises
        `EmbedderUnavailable` if the policy requires vectors.
        """
        if not target.embedder_name:
            return None
        is_free = self.embedder is not None and not self.embedder.is_metered
        may_embed = self.can_embed_for(target) and (is_free or policy is not VectorPolicy.KEEP)
        is_kept = (source.embedder_name, source.dimensions) == (target.embedder_name, target.dimensions)
        if is_kept and not (is_free and may_embed):
            return await self._copy_vectors(source, target, documents, policy if may_embed else None)
        return await self._embed_by_policy(target, documents, policy) if may_embed else None

    async def _embed_by_policy(
        self, layout: IndexLayout, documents: Sequence[Document], policy: VectorPolicy
    ) -> "list[Vectors] | None":
        try:
            return await self.embed_for_layout(layout, documents)
        except EmbedderUnavailable:
            if policy is VectorPolicy.REQUIRE:
                raise
            return None

    async def _copy_vectors(
        self, source: IndexLayout, target: IndexLayout, documents: Sequence[Document], policy: VectorPolicy | None
    ) -> "list[Vectors]":
        """Returns the stored vectors; with a policy, embeds documents that lack some."""
        import numpy as np

        stored = await self._read_stored_vectors(source, documents)
        rows = [np.zeros((len(document.passages), target.dimensions), dtype=np.float32) for document in documents]
        incomplete = list[int]()
        for index, document in enumerate(documents):
            entry_ids = [f"{source.entry_id_of(document.doc_id)}.{place}" for place in range(len(document.passages))]
            for place, entry_id in enumerate(entry_ids):
                if entry_id in stored:
                    rows[index][place] = stored[entry_id]
            if any(entry_id not in stored for entry_id in entry_ids):
                incomplete.append(index)
        if policy is not None and incomplete:
            embedded = await self._embed_by_policy(target, [documents[index] for index in incomplete], policy)
            for index, vectors in zip(incomplete, embedded or (), strict=False):
                rows[index] = vectors
        return rows

    async def _read_stored_vectors(
        self, layout: IndexLayout, documents: Sequence[Document]
    ) -> Mapping[str, Sequence[float]]:
        """Returns the vectors that searches can see, by the ids of the passages' entries."""
        id_terms = [keyword_term_of(document.doc_id) for document in documents]
        vectors, after = dict[str, Sequence[float]](), ""
        while True:
            later: JsonObject = {"range": {"chunk": {"gt": after}}}
            query = all_of({"term": {"kind": PASSAGE}}, any_term_query("doc_id", id_terms), later)
            request = build_search_request(
                layout.index,
                query,
                None,
                size=_PAGE_SIZE,
                sort=[{"chunk": "asc"}],
                _source=["stored.chunk_id"],
                script_fields=_READ_VECTOR,
            )
            (response,) = await self.catalogue.run_multi_search([request])
            for hit in response.hits:
                if numbers := hit.fields.get("vector"):
                    vectors[hit.entry_id] = numbers
            if len(response.hits) < _PAGE_SIZE:
                return vectors
            after = keyword_term_of(response.hits[-1].stored_entry["chunk_id"])

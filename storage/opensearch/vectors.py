"""Which passages of a bucket have no vector of the index's embedder."""

from collections.abc import Sequence

from storage.embedder import Embedder
from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import PASSAGE, IndexLayout
from storage.opensearch.reading.compile import all_of
from storage.opensearch.reading.query_steps import OpenSearchRequest, build_search_request
from storage.opensearch.terms import keyword_term_of
from storage.search.index import PassageVolume, VectorState

_PAGE_SIZE = 10_000
_PASSAGES: JsonObject = {"term": {"kind": PASSAGE}}
_VOLUME_FIELDS = ["stored.chunk_id", "stored.title", "stored.start", "stored.end"]


async def load_vector_states(
    catalogue: BucketCatalogue, layouts: Sequence[IndexLayout], embedder: Embedder | None
) -> list[VectorState]:
    """Returns the state of each layout, in one round trip."""
    responses = await catalogue.run_multi_search([_outdated_passages_request(layout, embedder) for layout in layouts])
    return [
        VectorState(embedder=layout.embedder_name, is_current=embedder is None or response.total == 0)
        for layout, response in zip(layouts, responses, strict=True)
    ]


async def measure_outdated_passages(
    catalogue: BucketCatalogue, layout: IndexLayout, embedder: Embedder
) -> PassageVolume:
    """Raises `EmbedderUnavailable`."""
    needs_vectors = _outdated_passages_query(layout, embedder)
    if layout.dimensions != await embedder.load_dimensions():
        needs_vectors = _PASSAGES
    passage_count = character_count = 0
    after = ""
    while True:
        later_passages: JsonObject = {"range": {"chunk": {"gt": after}}}
        query = all_of(needs_vectors, later_passages)
        request = build_search_request(
            layout.index, query, None, size=_PAGE_SIZE, sort=[{"chunk": "asc"}], _source=_VOLUME_FIELDS
        )
        (response,) = await catalogue.run_multi_search([request])
        entries = [hit.stored_entry for hit in response.hits]
        passage_count += len(entries)
        character_count += sum(len(entry["title"]) + 1 + entry["end"] - entry["start"] for entry in entries)
        if len(entries) < _PAGE_SIZE:
            return PassageVolume(passage_count=passage_count, character_count=character_count)
        after = keyword_term_of(entries[-1]["chunk_id"])


def _outdated_passages_request(layout: IndexLayout, embedder: Embedder | None) -> OpenSearchRequest:
    return build_search_request(layout.index, _outdated_passages_query(layout, embedder))


def _outdated_passages_query(layout: IndexLayout, embedder: Embedder | None) -> JsonObject:
    """Returns a query for the passages that need a vector.

    If the vectors are of the embedder, those are the passages without a vector. Only a metered embedder leaves some;
    the others give no vector to a passage without words.
    """
    if embedder is None or layout.embedder_name != embedder.name:
        return _PASSAGES
    if not embedder.is_metered:
        return {"match_none": {}}
    return all_of(_PASSAGES, {"bool": {"must_not": [{"exists": {"field": "vector"}}]}})

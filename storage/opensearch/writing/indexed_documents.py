"""What a version of an index has of documents, including writes that no search can see yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storage.opensearch.connection import ClusterConnection, JsonObject
from storage.opensearch.mapping import IndexLayout
from storage.opensearch.writing.refusals import look_up_entries
from storage.search.ids import DocId

_MAX_LOOKUPS = 5_000  # in one request


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedDocument:
    """A document as the index has it."""

    digest: str
    revision: str
    loaded_on: str
    passage_count: int
    sequence_number: int  # of the last change of its main entry, in the order of changes of the index
    primary_term: int

    @property
    def write_conditions(self) -> Mapping[str, int]:
        """Conditions that hold as long as the main entry is unchanged."""
        return {"if_seq_no": self.sequence_number, "if_primary_term": self.primary_term}


async def load_indexed_documents(
    connection: ClusterConnection, layout: IndexLayout, doc_ids: Sequence[DocId]
) -> dict[DocId, IndexedDocument]:
    """Returns the documents that exist. Raises what `look_up_entries` raises."""
    return parse_indexed_documents(doc_ids, await look_up_entries(connection, document_lookups_for(layout, doc_ids)))


def document_lookups_for(layout: IndexLayout, doc_ids: Sequence[DocId]) -> list[JsonObject]:
    source_fields = ["stored.digest", "stored.revision", "stored.loaded_on", "stored.passages"]
    return [_lookup_of(layout, doc_id, source=source_fields) for doc_id in doc_ids]


def parse_indexed_documents(doc_ids: Sequence[DocId], entries: Sequence[JsonObject]) -> dict[DocId, IndexedDocument]:
    """Returns the documents that exist; `entries` answer the `document_lookups_for` these ids."""
    return {
        doc_id: _parse_indexed_document(entry) for doc_id, entry in zip(doc_ids, entries, strict=True) if entry["found"]
    }


async def find_incomplete_documents(
    connection: ClusterConnection, layout: IndexLayout, indexed: Mapping[DocId, IndexedDocument]
) -> set[DocId]:
    """Returns the documents that lack their text or a passage, since a writer died between two writes.

    A writer writes the main entry first, so whatever belongs to it has a later sequence number.
    """
    parts = [
        (doc_id, suffix)
        for doc_id, document in indexed.items()
        for suffix in (".text", *(f".{position}" for position in range(document.passage_count)))
    ]
    incomplete = set[DocId]()
    for start in range(0, len(parts), _MAX_LOOKUPS):
        batch = parts[start : start + _MAX_LOOKUPS]
        entries = await look_up_entries(connection, [_lookup_of(layout, doc_id, suffix) for doc_id, suffix in batch])
        incomplete |= {
            doc_id
            for (doc_id, _), entry in zip(batch, entries, strict=True)
            if not entry["found"] or entry["_seq_no"] < indexed[doc_id].sequence_number
        }
    return incomplete


async def are_documents_visible(
    connection: ClusterConnection, layout: IndexLayout, indexed: Mapping[DocId, IndexedDocument]
) -> bool:
    """Whether searches can see the last change of each document."""
    lookups = [_lookup_of(layout, doc_id) for doc_id in indexed]
    entries = await look_up_entries(connection, lookups, only_visible=True)
    return all(
        entry["found"] and entry["_seq_no"] >= document.sequence_number
        for entry, document in zip(entries, indexed.values(), strict=True)
    )


def _lookup_of(
    layout: IndexLayout, doc_id: DocId, suffix: str = "", *, source: Sequence[str] | bool = False
) -> JsonObject:
    main_entry_id = layout.entry_id_of(doc_id)
    return {"_index": layout.index, "_id": main_entry_id + suffix, "routing": main_entry_id, "_source": source}


def _parse_indexed_document(entry: JsonObject) -> IndexedDocument:
    stored = entry["_source"]["stored"]
    return IndexedDocument(
        digest=stored["digest"],
        revision=stored["revision"],
        loaded_on=stored.get("loaded_on", ""),
        passage_count=len(stored["passages"]),
        sequence_number=entry["_seq_no"],
        primary_term=entry["_primary_term"],
    )

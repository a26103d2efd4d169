"""The writes that put or remove one document: its main entry, its text, its passages."""

from dataclasses import replace
from typing import TYPE_CHECKING

from storage.opensearch.mapping import IndexLayout
from storage.opensearch.writing import bulk
from storage.opensearch.writing.bulk import BulkAction
from storage.opensearch.writing.encode import encode_index_entries
from storage.opensearch.writing.indexed_documents import IndexedDocument
from storage.search.documents import Document
from storage.search.ids import DocId

if TYPE_CHECKING:
    from storage.embedder import Vectors


def actions_for_document(
    write_alias: str,
    document: Document,
    revision: str,
    layout: IndexLayout,
    vectors: "Vectors | None",
    indexed: IndexedDocument | None,
) -> list[BulkAction]:
    """Returns the writes of a document, the main entry first: if that is refused, another writer was faster."""
    main_entry_id = layout.entry_id_of(document.doc_id)
    if indexed is not None and indexed.loaded_on and document.digest and document.digest == indexed.digest:
        document = replace(document, loaded_on=indexed.loaded_on)
    (entry_id, source), *other_entries = encode_index_entries(document, revision, layout, vectors)
    main_action = (
        bulk.create_entry_action(write_alias, entry_id, source, routing=main_entry_id)
        if indexed is None
        else bulk.index_entry_action(write_alias, entry_id, source, routing=main_entry_id, **indexed.write_conditions)
    )
    other_actions = [
        bulk.index_entry_action(write_alias, entry_id, source, routing=main_entry_id)
        for entry_id, source in other_entries
    ]
    old_passage_count = 0 if indexed is None else indexed.passage_count
    removals = [
        bulk.delete_entry_action(write_alias, f"{main_entry_id}.{position}", routing=main_entry_id)
        for position in range(len(document.passages), old_passage_count)
    ]
    return [main_action, *other_actions, *removals]


def actions_for_removal(write_alias: str, layout: IndexLayout, doc_id: DocId, passage_count: int) -> list[BulkAction]:
    main_entry_id = layout.entry_id_of(doc_id)
    entry_ids = [
        main_entry_id,
        f"{main_entry_id}.text",
        *(f"{main_entry_id}.{position}" for position in range(passage_count)),
    ]
    return [bulk.delete_entry_action(write_alias, entry_id, routing=main_entry_id) for entry_id in entry_ids]

"""What a person has seen of a list. The next page of it belongs to the same list only if its beginning is unchanged.

Each page of a list is a search of its own, perhaps minutes later. It reads the list from its beginning in one state of
the index, so its first documents can be compared with those that were shown, on every engine.
"""

import hashlib
import json
from collections.abc import Sequence

from storage.search.codec import search_to_json
from storage.search.index import DocumentRecord
from storage.search.plan import Search, ShownDocuments
from storage.search.schema import SchemaOrder


def shown_documents_of(
    search: Search, order: SchemaOrder | None, records: Sequence[DocumentRecord], total: int
) -> ShownDocuments:
    """`records`: the documents of the list from the first one to the last one that is shown."""
    return ShownDocuments(
        list_digest=_list_digest_of(search, order),
        documents_digest=_digest_of([record.doc_id for record in records]),
        count=len(records),
        total=total,
    )


def is_shown_list(shown: ShownDocuments | None, search: Search, order: SchemaOrder | None) -> bool:
    """Whether `shown` is of the list of this search in this order."""
    return shown is not None and shown.count > 0 and shown.list_digest == _list_digest_of(search, order)


def begins_as_shown(shown: ShownDocuments, records: Sequence[DocumentRecord]) -> bool:
    """Whether the list begins with the documents that were shown. `records` begin at its first document."""
    first_ids = [record.doc_id for record in records[: shown.count]]
    return len(first_ids) == shown.count and _digest_of(first_ids) == shown.documents_digest


def _list_digest_of(search: Search, order: SchemaOrder | None) -> str:
    clauses = search_to_json(Search(clauses=search.clauses))
    return _digest_of([clauses, None if order is None else [order.field, order.descending]])


def _digest_of(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]

"""What the tools brought back in one turn. Each item has an id by which a model cites it, and keeps it."""

from dataclasses import dataclass, field
from typing import TypeAlias

from agent.outcome import ComputedFigure, FoundPassage, GroupLine
from storage.search.documents import FieldValue
from storage.search.ids import ChunkId, DocId, FieldName
from storage.search.index import DocumentRecord
from storage.search.plan import ComputeNumbers
from storage.search.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedPassage:
    """A passage of a document: `p1`, `p2`, …"""

    id: str
    passage: FoundPassage


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedRecord:
    """A document with its field values: `d1`, `d2`, …"""

    id: str
    record: DocumentRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedNumbers:
    """The numbers that one call computed over a whole set: `n1`, `n2`, …"""

    id: str
    schema: Schema
    answer_form: ComputeNumbers
    count: int  # documents in the set
    figures: tuple[ComputedFigure, ...]
    groups: tuple[GroupLine, ...]


CollectedItem: TypeAlias = CollectedPassage | CollectedRecord | CollectedNumbers


@dataclass(slots=True)
class CollectedEvidence:
    """The items by id, in the order in which they were found."""

    items: dict[str, CollectedItem] = field(default_factory=dict[str, CollectedItem])
    _passage_ids: dict[ChunkId, str] = field(default_factory=dict[ChunkId, str])
    _record_ids: dict[DocId, str] = field(default_factory=dict[DocId, str])
    _document_ids: set[str] = field(default_factory=set[str])
    _numbers: int = 0

    def add_passage(self, passage: FoundPassage) -> CollectedPassage:
        """Keeps the id of a passage that was found before, and the longer of the two texts."""
        chunk_id = passage.hit.chunk_id
        self._document_ids.add(passage.hit.doc_id)
        item_id = self._passage_ids.setdefault(chunk_id, f"p{len(self._passage_ids) + 1}")
        known = self.items.get(item_id)
        if isinstance(known, CollectedPassage) and len(known.passage.hit.text) >= len(passage.hit.text):
            return known
        item = CollectedPassage(id=item_id, passage=passage)
        self.items[item_id] = item
        return item

    def add_record(self, record: DocumentRecord) -> CollectedRecord:
        """Keeps the id of a document that was found before, and adds to its values."""
        self._document_ids.add(record.doc_id)
        item_id = self._record_ids.setdefault(record.doc_id, f"d{len(self._record_ids) + 1}")
        known = self.items.get(item_id)
        earlier_values = known.record.values if isinstance(known, CollectedRecord) else dict[FieldName, FieldValue]()
        merged = DocumentRecord(
            doc_id=record.doc_id, bucket=record.bucket, title=record.title, source=record.source,
            values={**earlier_values, **record.values},
        )  # fmt: skip
        item = CollectedRecord(id=item_id, record=merged)
        self.items[item_id] = item
        return item

    def add_numbers(
        self,
        schema: Schema,
        answer_form: ComputeNumbers,
        count: int,
        figures: tuple[ComputedFigure, ...],
        groups: tuple[GroupLine, ...],
    ) -> CollectedNumbers:
        self._numbers += 1
        item = CollectedNumbers(
            id=f"n{self._numbers}", schema=schema, answer_form=answer_form, count=count, figures=figures, groups=groups
        )
        self.items[item.id] = item
        return item

    def document_of(self, written_id: str) -> DocId | None:
        """Returns the document of an item, named as `d3` or `[p1]`; None if there is no such item.

        A document that was found and has this very id is meant first.
        """
        if written_id.strip() in self._document_ids:
            return DocId(written_id.strip())
        match self.items.get(normalize_evidence_id(written_id)):
            case CollectedPassage(passage=passage):
                return passage.hit.doc_id
            case CollectedRecord(record=record):
                return record.doc_id
            case CollectedNumbers() | None:
                return None


def normalize_evidence_id(written_id: str) -> str:
    """Returns `p1` for `[p1]`, ` P1 ` and `p1`."""
    return written_id.strip().strip("[]").strip().lower()

"""What the tools brought back, as the evidence that sentences are checked against."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.model.answering.evidence import EvidenceItem, LegEvidence, clean_text
from agent.outcome import FoundPassage
from agent.retrieval.quotations import split_sentences
from agent.tools.annotations_aggregate import describe_numbers
from agent.tools.collected_evidence import (
    CollectedItem,
    CollectedNumbers,
    CollectedPassage,
    CollectedRecord,
    normalize_evidence_id,
)
from agent.tools.record_texts import describe_field
from storage.search.ids import BucketId
from storage.search.index import DocumentRecord, PassageHit
from storage.search.schema import Schema

_UNKNOWN_ID = 0  # of no item


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEvidence:
    """The evidence, and its numbers by the ids that the model was given."""

    evidence: LegEvidence
    number_by_id: Mapping[str, int]

    def number_ids(self, written_ids: Iterable[str]) -> list[int]:
        """Returns the numbers of the items; that of no item for an id that was not given."""
        return [self.number_by_id.get(normalize_evidence_id(written), _UNKNOWN_ID) for written in written_ids]


def build_evidence(items: Mapping[str, CollectedItem], schemas: Mapping[BucketId, Schema]) -> ToolEvidence:
    number_by_id = {item_id: number for number, item_id in enumerate(items, _UNKNOWN_ID + 1)}
    return ToolEvidence(
        evidence=LegEvidence(
            items=tuple(_build_item(number_by_id[item_id], item, schemas) for item_id, item in items.items())
        ),
        number_by_id=number_by_id,
    )


def _build_item(number: int, item: CollectedItem, schemas: Mapping[BucketId, Schema]) -> EvidenceItem:
    match item:
        case CollectedPassage(passage=passage):
            hit = passage.hit
            return EvidenceItem(
                id=number,
                title=clean_text(hit.title),
                text=clean_text(hit.text),
                page=hit.page,
                document=record_of_hit(hit),
                quotes=tuple(split_sentences(hit.text, hit.start, hit.page)),
                chunk_id=hit.chunk_id,
            )
        case CollectedRecord(record=record):
            fields = (field for field in schemas[record.bucket].fields if field.name in record.values)
            values = "\n".join(f"{field.label}: {describe_field(record, field)}" for field in fields)
            return EvidenceItem(id=number, title=clean_text(record.title), text=clean_text(values), document=record)
        case CollectedNumbers():
            text = "\n".join(describe_numbers(item))
            return EvidenceItem(id=number, title=item.schema.label, text=clean_text(text))


def record_of_hit(hit: PassageHit) -> DocumentRecord:
    return DocumentRecord(doc_id=hit.doc_id, bucket=hit.bucket, title=hit.title, source=hit.source, values={})


def passages_in(items: Sequence[CollectedItem]) -> tuple[FoundPassage, ...]:
    return tuple(item.passage for item in items if isinstance(item, CollectedPassage))

"""An extractor that knows one rule: a line `label: value` holds the value of the field with that label."""

from collections.abc import Iterator, Sequence
from datetime import date

from storage.ingest.extract.candidates import CandidatesByField, ExtractionInput, ValueCandidate
from storage.search.documents import FieldValue
from storage.search.schema import FieldType, Schema, SchemaField

_FLAGS = {"yes": True, "no": False}


class LabelExtractor:
    """Implements `Extractor` and records the titles of the documents. Does not read rows."""

    def __init__(self) -> None:
        self.titles: list[str] = []

    async def prepare_documents(self, documents: Sequence[ExtractionInput], schema: Schema) -> None: ...

    async def extract_candidates(self, document: ExtractionInput, schema: Schema) -> CandidatesByField:
        self.titles.append(document.title)
        return {field.name: tuple(_candidates_for(field, document.text)) for field in schema.fields}


def _candidates_for(field: SchemaField, text: str) -> Iterator[ValueCandidate]:
    end = -1
    for line in text.split("\n"):
        start, end = end + 1, end + 1 + len(line)
        label, _, written = line.partition(":")
        if label.strip().casefold() == field.label.casefold():
            for value in _values_of(written.strip(), field.type):
                yield ValueCandidate(value=value, confidence=0.9, start=start, end=end)


def _values_of(written: str, field_type: FieldType) -> list[FieldValue]:
    match field_type:
        case FieldType.TEXT | FieldType.CATEGORY:
            return [written] if written else []
        case FieldType.LIST:
            return [(member.strip(),) for member in written.split(",") if member.strip()]
        case FieldType.NUMBER | FieldType.MONEY:
            whole, _, decimals = written.partition(".")
            is_number = written.isascii() and whole.isdigit() and (decimals or "0").isdigit() and len(written) < 20
            return [float(written)] if is_number else []
        case FieldType.FLAG:
            return [_FLAGS[written]] if written in _FLAGS else []
        case FieldType.DATE:
            return [written] if _is_iso_date(written) else []
        case FieldType.ROWS:
            return []


def _is_iso_date(written: str) -> bool:
    try:
        return date.fromisoformat(written).isoformat() == written
    except ValueError:
        return False

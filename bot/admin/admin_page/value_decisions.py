"""What admins decide on values of documents: that one is right, that it is another, or that there is none.

A decision is stored first, then the document is put with it. If the index cannot be reached in between, the decision
holds from the next time on that the document is loaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from bot.admin.admin_page.bucket_contents import GrantedContents, text_of_value
from bot.admin.admin_page.value_forms import parse_typed_value
from bot.admin.corrected_index import correction_from_json, correction_to_json, field_value_from_json
from bot.admin.sources import SourceOperations
from bot.errors import ConcurrentChange, CorrectionRefused
from bot.ids import DocId, PersonId
from storage.search.codec import annotations_from_json, annotations_to_json
from storage.search.documents import Document, FieldAnnotation, FieldValue
from storage.search.errors import UnreadableJson
from storage.search.ids import FieldName
from storage.search.index import SearchIndex
from storage.search.schema import Schema, SchemaField
from storage.sql.administration.value_correction_store import StoredCorrection, ValueCorrectionStore
from storage.sql.database import SqlDatabase

if TYPE_CHECKING:
    from storage.ingest.extract.value_corrections import ValueCorrection

LISTED_DECISIONS: Final = 50


class ValueDecision(StrEnum):
    ACCEPTED = "accepted"  # it is right as it was read
    CORRECTED = "corrected"
    EMPTIED = "emptied"  # the document has no such value


class WithdrawnState(StrEnum):
    """What is there after a decision was withdrawn."""

    RESTORED = "restored"  # what was read before
    READ_AGAIN = "read_again"  # nothing, until a sync reads the document again
    UNREAD = "unread"  # nothing, until the document is loaded again by hand


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedValue:
    """`is_outdated`: the text of the document has changed since."""

    doc_id: DocId
    title: str
    field: str
    label: str
    text: str
    decision: ValueDecision
    decided_by: PersonId
    decided_at: datetime
    is_outdated: bool


class ValueDecisions:
    """Each call names the admin who asks, and raises what `GrantedContents.open_bucket` raises."""

    def __init__(
        self, *, contents: GrantedContents, index: SearchIndex, database: SqlDatabase, sources: SourceOperations
    ) -> None:
        """`index` is a `CorrectedIndex` over the same database."""
        self._contents, self._index, self._sources = contents, index, sources
        self._store = ValueCorrectionStore(database)

    async def list_of_document(self, bucket: str, doc_id: str, by: PersonId) -> tuple[DecidedValue, ...]:
        found = await self._contents.find_document(bucket, doc_id, by)
        if found is None:
            return ()
        document, schema = found
        stored = await self._store.list_for_documents([document.doc_id])
        return tuple(_decided_value_of(correction, document, schema) for correction in stored)

    async def list_newest(self, bucket: str, by: PersonId) -> tuple[DecidedValue, ...]:
        """The newest decisions on documents that the admin may see."""
        _, schema = await self._contents.open_bucket(bucket, by)
        stored = await self._store.list_newest(schema.bucket, LISTED_DECISIONS)
        documents = await self._contents.find_documents(bucket, [entry.doc_id for entry in stored], by)
        return tuple(
            _decided_value_of(entry, documents[DocId(entry.doc_id)], schema)
            for entry in stored
            if entry.doc_id in documents
        )

    async def accept_value(self, bucket: str, doc_id: str, field: str, text: str, version: str, by: PersonId) -> None:
        """`text`: the value that was shown. Raises `ConcurrentChange`, `CorrectionRefused`."""
        from storage.ingest.extract.value_corrections import ValueCorrection, annotations_of_field, members_of

        document, schema, schema_field = await self._find_field(bucket, doc_id, field, version, by)
        value, _ = parse_typed_value(text, schema_field)
        spans = {
            member: document.text[annotation.start : annotation.end]
            for annotation in annotations_of_field(document, schema_field.name)
            for member in members_of(annotation.value)
            if annotation.start is not None
        }
        wordings = tuple(spans.get(member, "") for member in members_of(value))
        await self._save(
            document, schema, schema_field, ValueDecision.ACCEPTED, ValueCorrection(value=value, wordings=wordings), by
        )

    async def correct_value(self, bucket: str, doc_id: str, field: str, text: str, version: str, by: PersonId) -> None:
        """Raises `ConcurrentChange`, `CorrectionRefused`."""
        from storage.ingest.extract.value_corrections import ValueCorrection

        document, schema, schema_field = await self._find_field(bucket, doc_id, field, version, by)
        value, wordings = parse_typed_value(text, schema_field)
        correction = ValueCorrection(value=value, wordings=wordings)
        await self._save(document, schema, schema_field, ValueDecision.CORRECTED, correction, by)

    async def empty_value(self, bucket: str, doc_id: str, field: str, version: str, by: PersonId) -> None:
        """Raises `ConcurrentChange`, `CorrectionRefused`."""
        from storage.ingest.extract.value_corrections import ValueCorrection

        document, schema, schema_field = await self._find_field(bucket, doc_id, field, version, by)
        await self._save(document, schema, schema_field, ValueDecision.EMPTIED, ValueCorrection(value=None), by)

    async def withdraw_decision(self, bucket: str, doc_id: str, field: str, by: PersonId) -> WithdrawnState:
        """What was read before is there again, if the text is still the same. Raises `ConcurrentChange`."""
        from storage.ingest.extract.value_corrections import restore_reading, text_digest_of

        found = await self._contents.find_document(bucket, doc_id, by)
        if found is None:
            raise CorrectionRefused("there is no such document here, or you may not see it")
        document, schema = found
        correction = await self._store.withdraw_correction(doc_id, field, by=by)
        if correction is None:
            raise ConcurrentChange()
        is_same_text = correction.text_digest == text_digest_of(document)
        value, annotations = _reading_of(correction) if is_same_text else (None, ())
        restored = restore_reading(document, FieldName(field), value, annotations, schema)
        await self._index.put(schema.bucket, [restored])
        if is_same_text:
            return WithdrawnState.RESTORED
        return (
            WithdrawnState.READ_AGAIN if await self._sources.mark_for_reload(schema.bucket) else WithdrawnState.UNREAD
        )

    async def _find_field(
        self, bucket: str, doc_id: str, field: str, version: str, by: PersonId
    ) -> tuple[Document, Schema, SchemaField]:
        from storage.ingest.extract.value_corrections import is_correctable, reading_version_of

        found = await self._contents.find_document(bucket, doc_id, by)
        if found is None:
            raise CorrectionRefused("there is no such document here, or you may not see it")
        document, schema = found
        schema_field = schema.by_name.get(FieldName(field))
        if schema_field is None or not is_correctable(schema_field.type):
            raise CorrectionRefused("the values of this field are not changed here")
        if reading_version_of(document, schema_field.name) != version:
            raise ConcurrentChange()
        return document, schema, schema_field

    async def _save(
        self,
        document: Document,
        schema: Schema,
        field: SchemaField,
        decision: ValueDecision,
        correction: "ValueCorrection",
        by: PersonId,
    ) -> None:
        from storage.ingest.extract.value_corrections import annotations_of_field, text_digest_of

        reading = {
            "value": document.values.get(field.name),
            "annotations": annotations_to_json(annotations_of_field(document, field.name)),
        }
        stored = StoredCorrection(
            doc_id=document.doc_id,
            field=field.name,
            bucket=schema.bucket,
            decision=decision,
            content=correction_to_json(correction),
            reading=reading,
            text_digest=text_digest_of(document),
            decided_by=by,
            decided_at=self._store.utc_now(),
        )
        await self._store.save_correction(stored)
        await self._index.put(schema.bucket, [document])


def _reading_of(correction: StoredCorrection) -> tuple[FieldValue | None, Sequence[FieldAnnotation]]:
    """What was read; nothing where it is in a form that can no longer be read."""
    try:
        annotations = annotations_from_json(correction.reading["annotations"])
    except UnreadableJson:
        return None, ()
    return field_value_from_json(correction.reading["value"]), annotations


def _decided_value_of(correction: StoredCorrection, document: Document, schema: Schema) -> DecidedValue:
    from storage.ingest.extract.value_corrections import text_digest_of

    value = correction_from_json(correction.content).value
    schema_field = schema.by_name.get(FieldName(correction.field))
    shown = "" if value is None or schema_field is None else text_of_value(value, schema_field)
    return DecidedValue(
        doc_id=document.doc_id,
        title=document.title or document.doc_id,
        field=correction.field,
        label=correction.field if schema_field is None else schema_field.label,
        text=shown,
        decision=ValueDecision(correction.decision),
        decided_by=PersonId(correction.decided_by),
        decided_at=correction.decided_at,
        is_outdated=correction.text_digest != text_digest_of(document),
    )

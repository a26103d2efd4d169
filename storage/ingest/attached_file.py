"""Loads one file that came with a question into a bucket of its conversation, under the name and link people know."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from storage.ingest.extract.candidates import Extractor
from storage.ingest.files import SourceFile
from storage.ingest.limits import ParserLimits, too_many_rows_error
from storage.ingest.pipeline import ingest_files
from storage.ingest.records import RejectedInput, SourceRecord
from storage.ingest.report import IngestReport
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import PutResult, SearchIndex

_MAX_REMARKS: Final = 3
_EMPTY_FILE: Final = "there is nothing in it"
_BUCKET_TITLE: Final = "Attached files"
_FILE_SYNONYMS: Final = ("attached document", "attached file", "attachment", "uploaded file", "uploaded document")
_ROW_SYNONYMS: Final = ("attached row", "row", "line")
_FILE_NAME_FIELD: Final = FieldName("attached as")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFileResult:
    """The result of loading an attached file.

    `failure_reason` says why the file was rejected; None if it was loaded. `remarks` are warnings about a loaded file.
    Both are shown to people.
    """

    documents: int
    failure_reason: str | None = None
    remarks: tuple[str, ...] = ()


async def ingest_attached_file(
    index: SearchIndex,
    path: Path,
    *,
    extractor: Extractor,
    bucket: BucketId,
    doc_id_prefix: str,
    file_name: str,
    link: str | None,
    max_rows: int,
) -> AttachedFileResult:
    """Loads the file into the bucket; the first file creates it. Raises what the index raises.

    The ids of the documents begin with `doc_id_prefix`. Each row of a table is a document; a table may have at most
    `max_rows` rows.
    """
    source = SourceFile(path=path, name=doc_id_prefix)
    hooks = _AttachmentHooks(file_name=file_name, link=link or "", max_rows=max_rows)
    report = await ingest_files(
        index,
        [source],
        extractor=extractor,
        bucket=bucket,
        limits=ParserLimits(max_rows=max_rows),
        hooks=hooks,
        allow_any_bucket_name=True,
    )
    documents = report.added + report.replaced + report.skipped
    if documents:
        await _label_attachment_bucket(index, bucket, is_table=source.is_table)
    too_many_rows = too_many_rows_error(max_rows).reason
    if hooks.has_too_many_rows or any(failure.reason == too_many_rows for failure in report.failures):
        return AttachedFileResult(documents=documents, failure_reason=too_many_rows)
    if not documents:
        return AttachedFileResult(
            documents=0, failure_reason=next((failure.reason for failure in report.failures), _EMPTY_FILE)
        )
    return AttachedFileResult(documents=documents, remarks=tuple(_remarks_for_people(report, doc_id_prefix)))


async def _label_attachment_bucket(index: SearchIndex, bucket: BucketId, *, is_table: bool) -> None:
    """Gives the bucket a title and the synonyms of attached files, so that people can refer to it in questions.

    The synonyms of rows are added only while all files of the bucket are tables.
    """
    schema = (await index.load_bucket_sizes())[bucket].schema
    is_first = _FILE_SYNONYMS[0] not in schema.synonyms
    are_rows = is_table and (is_first or _ROW_SYNONYMS[0] in schema.synonyms)
    attachment_synonyms = (*(_ROW_SYNONYMS if are_rows else ()), *_FILE_SYNONYMS)
    others = (synonym for synonym in schema.synonyms if synonym not in {*_ROW_SYNONYMS, *_FILE_SYNONYMS})
    fields = tuple(replace(field, facet=True) if field.name == _FILE_NAME_FIELD else field for field in schema.fields)
    await index.set_schema(
        replace(schema, title=_BUCKET_TITLE, synonyms=(*attachment_synonyms, *others), item="", fields=fields)
    )


def _remarks_for_people(report: IngestReport, doc_id_prefix: str) -> list[str]:
    """Returns the number of rows that failed, with an example, then the remarks of the loader."""
    remarks = [remark.removeprefix(f"{doc_id_prefix}: ") for remark in report.remarks]
    if report.failed:
        origin, reason = report.failures[0].where.removeprefix(doc_id_prefix).lstrip(", "), report.failures[0].reason
        remarks.insert(0, f"{report.failed:,} of its rows could not be read ({origin}: {reason})")
    return remarks[:_MAX_REMARKS]


class _AttachmentHooks:
    """Adapts the records of an attached file. Rows keep their title; other documents get the name of the file."""

    def __init__(self, *, file_name: str, link: str, max_rows: int) -> None:
        self._file_name, self._link, self._max_rows = file_name, link, max_rows
        self._rows_read = 0
        self.has_too_many_rows = False

    def adapt_record(self, file: SourceFile, record: SourceRecord) -> SourceRecord | RejectedInput:
        self._rows_read += file.is_table
        if self._rows_read > 2 * self._max_rows:  # both passes read each row
            self.has_too_many_rows = True
            return RejectedInput(origin=record.origin, reason=too_many_rows_error(self._max_rows).reason)
        title = record.title if file.is_table else self._file_name
        metadata = {**record.metadata, _FILE_NAME_FIELD: self._file_name}  # so that a question can name the file
        return replace(record, title=title, source=self._link, bucket=None, readers=frozenset(), metadata=metadata)

    def record_failure(self, file_name: str) -> None:
        """Does nothing: the report has the failure."""

    async def before_put(self, file_by_document: Mapping[DocId, str]) -> None:
        """Does nothing: attached files have no ledger."""

    async def after_put(self, put_result: PutResult) -> None:
        """Does nothing: the report has the counts."""

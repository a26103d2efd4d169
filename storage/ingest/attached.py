"""One file that came with a question, read into a bucket of its conversation: named and linked as people know it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from storage.ingest.files import SourceFile
from storage.ingest.pipeline import ingest
from storage.ingest.records import Broken, Record
from storage.ingest.report import Report
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import Put, SearchIndex

_REMARKS: Final = 3
_EMPTY: Final = "there is nothing in it"
_TITLE: Final = "Attached files"
_CALLED: Final = ("attached document", "attached file", "attachment", "uploaded file", "uploaded document")
_ROWS: Final = ("attached row", "row", "line")
_FILE: Final = FieldName("attached as")
_TOO_LONG: Final = "it has more than {most:,} rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """`fault`: why nothing of it was read, if so. `remarks`: what else there is to say of it. Both for people."""

    documents: int
    fault: str | None = None
    remarks: tuple[str, ...] = ()


async def read_attached(
    index: SearchIndex, path: Path, *, bucket: BucketId, called: str, name: str, link: str | None, rows: int
) -> Read:
    """The file into the bucket, which is made by the first. Raises what the index raises.

    `called` is what the ids of its documents begin with; of a table each row is one, `rows` at most.
    """
    source = SourceFile(path=path, name=called)
    follower = _Named(name=name, link=link or "", rows=rows)
    report = await ingest(index, [source], bucket=bucket, follower=follower, any_name=True)
    documents = report.added + report.replaced + report.skipped
    if documents:
        await _name_bucket(index, bucket, is_table=source.is_table)
    if follower.is_too_long:
        return Read(documents=documents, fault=_TOO_LONG.format(most=rows))
    if not documents:
        return Read(documents=0, fault=next((one.reason for one in report.failures), _EMPTY))
    return Read(documents=documents, remarks=tuple(_remarks(report, called)))


async def _name_bucket(index: SearchIndex, bucket: BucketId, *, is_table: bool) -> None:
    """So that people may speak of it as attached; of its documents as rows while they are nothing else."""
    schema = (await index.buckets())[bucket].schema
    is_first = _CALLED[0] not in schema.synonyms
    are_rows = is_table and (is_first or _ROWS[0] in schema.synonyms)
    called = (*(_ROWS if are_rows else ()), *_CALLED)
    others = (one for one in schema.synonyms if one not in {*_ROWS, *_CALLED})
    fields = tuple(replace(one, facet=True) if one.name == _FILE else one for one in schema.fields)
    await index.set_schema(replace(schema, title=_TITLE, synonyms=(*called, *others), fields=fields))


def _remarks(report: Report, called: str) -> list[str]:
    """What failed beside what was read, and what the reader has to say."""
    said = [one.removeprefix(f"{called}: ") for one in report.remarks]
    if report.failed:
        where, why = report.failures[0].where.removeprefix(called).lstrip(", "), report.failures[0].reason
        said.insert(0, f"{report.failed:,} of its rows could not be read ({where}: {why})")
    return said[:_REMARKS]


class _Named:
    """Follows the run. Documents with pages or flowing text are called after their file, rows after what they hold."""

    def __init__(self, *, name: str, link: str, rows: int) -> None:
        self._name, self._link, self._rows = name, link, rows
        self._seen = 0
        self.is_too_long = False

    def adopted(self, file: SourceFile, record: Record) -> Record | Broken:
        self._seen += file.is_table
        if self._seen > 2 * self._rows:  # each is seen in both passes
            self.is_too_long = True
            return Broken(origin=record.origin, reason=_TOO_LONG.format(most=self._rows))
        title = record.title if file.is_table else self._name
        told = {**record.metadata, _FILE: self._name}  # so that a question may name the file
        return replace(record, title=title, source=self._link, bucket=None, readers=frozenset(), metadata=told)

    def failed(self, file: str) -> None:
        """It is in the report."""

    async def storing(self, documents: Mapping[DocId, str]) -> None:
        """Nothing is written down of them."""

    async def stored(self, put: Put) -> None:
        """It is in the report."""

"""The documents of a suite into an index, each bucket with the schema that its sets bring."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from bot.errors import BotError
from bot.eval.load import EvalSet, Suite
from storage.ingest.pipeline import ingest
from storage.ingest.report import Progress, Report
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from storage.search.schema import Schema


class NotLoaded(BotError):
    """A document of the set could not be loaded, so that no question about it can be judged."""

    def __init__(self, where: str, reason: str, failed: int) -> None:
        super().__init__(f"{where}: {reason}{f' (and {failed - 1:,} more)' if failed > 1 else ''}")
        self.where, self.reason, self.failed = where, reason, failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """How documents become what is asked about."""

    ignore_metadata: bool
    progress: Callable[[Progress], None] | None = None


async def load_documents(index: SearchIndex, suite: Suite, how: Loading) -> tuple[str, ...]:
    """Remarks of the runs, a sentence each. Unchanged documents stay. Raises `NotLoaded` and what the index raises."""
    there = {name: state.schema for name, state in (await index.buckets()).items()}
    schemas = {bucket: _wanted(suite, bucket, there.get(bucket)) for one in suite.sets for bucket in one.buckets}
    for bucket, schema in schemas.items():
        if schema is not None and schema != there.get(bucket):
            await index.set_schema(schema)
    remarks: list[str] = []
    for one in suite.sets:
        report = await _load(index, one, schemas, how)
        if report.failed:
            first = report.failures[0]
            raise NotLoaded(first.where, first.reason, report.failed)
        remarks += [f"{one.name}: {remark}" for remark in _remarks(report)]
    return tuple(dict.fromkeys(remarks))


async def _load(index: SearchIndex, one: EvalSet, schemas: dict[BucketId, Schema | None], how: Loading) -> Report:
    """With one bucket, exactly its schema; documents of several are read into what was set before."""
    only = schemas[one.buckets[0]] if len(one.buckets) == 1 else None
    return await ingest(
        index,
        [one.documents],
        bucket=one.bucket,
        schema=only,
        ignore_metadata=how.ignore_metadata,
        progress=how.progress,
    )


def _wanted(suite: Suite, bucket: BucketId, there: Schema | None) -> Schema | None:
    """That of the sets, and the fields that an earlier run inferred where one of them has none."""
    schema = suite.schema_of(bucket)
    if schema is None or there is None or not suite.is_inferred(bucket):
        return schema
    added = tuple(field for field in there.fields if field.name not in schema.by_name)
    return replace(schema, fields=(*schema.fields, *added))


def _remarks(report: Report) -> Iterator[str]:
    for ignored in report.ignored:
        yield f"the key {ignored.key!r} of {ignored.count:,} documents is not in the schema"
    for one in report.unfitting:
        examples = ", ".join(one.examples)
        yield f"{one.count:,} values of {one.field} do not fit and stay text, such as {examples}"
    yield from report.remarks

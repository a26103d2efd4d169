"""Loads the documents of a suite into an index, each bucket with the schema of its sets."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from bot.errors import BotError
from bot.eval.eval_sets import EvalSet, EvalSuite
from storage.ingest.extract.candidates import Extractor
from storage.ingest.pipeline import ingest_files
from storage.ingest.report import IngestProgress, IngestReport
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from storage.search.schema import Schema


class DocumentNotLoaded(BotError):
    """A document of the set could not be loaded, so questions about it cannot be scored."""

    def __init__(self, location: str, reason: str, failed_count: int) -> None:
        super().__init__(f"{location}: {reason}{f' (and {failed_count - 1:,} more)' if failed_count > 1 else ''}")
        self.location, self.reason, self.failed_count = location, reason, failed_count


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalLoadOptions:
    """How to load the documents."""

    extractor: Extractor
    ignore_metadata: bool
    progress: Callable[[IngestProgress], None] | None = None


async def load_documents(index: SearchIndex, suite: EvalSuite, options: EvalLoadOptions) -> tuple[str, ...]:
    """Load the selected sets and return the remarks of ingestion, a sentence each. Unchanged documents are skipped.

    Raises `DocumentNotLoaded` and what the index raises.
    """
    existing_schemas = {name: size.schema for name, size in (await index.load_bucket_sizes()).items()}
    schemas = {
        bucket: _schema_for(suite, bucket, existing_schemas.get(bucket))
        for eval_set in suite.selected_sets
        for bucket in eval_set.buckets
    }
    for bucket, schema in schemas.items():
        if schema is not None and schema != existing_schemas.get(bucket):
            await index.set_schema(schema)
    remarks: list[str] = []
    for eval_set in suite.selected_sets:
        report = await _load_eval_set(index, eval_set, schemas, options)
        if report.failed:
            failure = report.failures[0]
            raise DocumentNotLoaded(failure.where, failure.reason, report.failed)
        remarks += [f"{eval_set.name}: {remark}" for remark in _remarks_of(report)]
    return tuple(dict.fromkeys(remarks))


async def _load_eval_set(
    index: SearchIndex, eval_set: EvalSet, schemas: dict[BucketId, Schema | None], options: EvalLoadOptions
) -> IngestReport:
    """Load the documents of a set. With several buckets, ingestion uses the schemas that are already set."""
    schema = schemas[eval_set.buckets[0]] if len(eval_set.buckets) == 1 else None
    return await ingest_files(
        index,
        [eval_set.documents_path],
        extractor=options.extractor,
        bucket=eval_set.default_bucket,
        schema=schema,
        ignore_metadata=options.ignore_metadata,
        progress=options.progress,
    )


def _schema_for(suite: EvalSuite, bucket: BucketId, existing_schema: Schema | None) -> Schema | None:
    """The schema of the bucket's sets. If one of them has no schema, also the fields that an earlier run inferred."""
    schema = suite.schema_of(bucket)
    if schema is None or existing_schema is None or not suite.has_inferred_schema(bucket):
        return schema
    added = tuple(field for field in existing_schema.fields if field.name not in schema.by_name)
    return replace(schema, fields=(*schema.fields, *added))


def _remarks_of(report: IngestReport) -> Iterator[str]:
    for ignored_key in report.ignored_keys:
        yield f"the key {ignored_key.key!r} of {ignored_key.count:,} documents is not in the schema"
    for unfitting in report.unfitting_values:
        examples = ", ".join(unfitting.examples)
        yield f"{unfitting.count:,} values of {unfitting.field} do not fit and stay text, such as {examples}"
    yield from report.remarks

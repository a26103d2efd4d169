"""Loads the documents of buckets again, from where they came: sources, and what `parley ingest` has loaded."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any as Json

from bot.admin.sources import SourceOperations, sync_problem_of
from bot.errors import BotError
from bot.health.document_loads import command_for_load, needs_model
from bot.health.index_record import BucketOriginFinder, IndexRecord
from storage.ingest.errors import IngestError
from storage.ingest.extract.candidates import Extractor
from storage.search.codec import schema_from_json
from storage.search.errors import SearchError
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from storage.sql.health_store import HealthStore

if TYPE_CHECKING:
    from storage.ingest.report import IngestReport


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketRebuild:
    """How a bucket is rebuilt: the ids of its sources, and its loads by hand. Without either it cannot be."""

    bucket: BucketId
    documents: int  # that it had
    sources: tuple[str, ...]
    loads: tuple[Mapping[str, Json], ...]

    @property
    def sentence(self) -> str:
        if not self.sources and not self.loads:
            return (
                f"{self.bucket}, {self.documents:,} documents: it is not known where they came from: restore a backup"
                f" of the index, or load them again: parley ingest PATH --bucket {self.bucket}"
            )
        origins = [*(f"the source {source}" for source in self.sources), *map(_describe_load, self.loads)]
        return f"{self.bucket}, {self.documents:,} documents: from {'; '.join(origins)}"


class IndexRebuild:
    """`schemas` is the folder for the schemas that loading infers."""

    def __init__(
        self,
        *,
        index: SearchIndex,
        store: HealthStore,
        record: IndexRecord,
        sources: SourceOperations,
        extractor: Extractor,
        schemas: Path,
        passage_characters: int,
    ) -> None:
        self._index, self._store, self._record = index, store, record
        self._sources, self._extractor, self._schemas = sources, extractor, schemas
        self._passage_characters = passage_characters

    async def plan_buckets(self) -> list[BucketRebuild]:
        """The buckets that have lost documents now. Raises what the index and the database raise."""
        return [
            await plan_bucket(self._record.origins, bucket, loss.recorded.documents)
            for bucket, loss in (await self._record.find_losses()).items()
        ]

    async def rebuild_buckets(self, plans: Collection[BucketRebuild], report_line: Callable[[str], None]) -> list[str]:
        """Load the documents of these buckets again. Returns what went wrong, a sentence each; the rest goes on.

        Raises what the index and the database raise.
        """
        await self._restore_schemas({plan.bucket for plan in plans})
        problems = list[str]()
        for source in dict.fromkeys(source for plan in plans for source in plan.sources):
            report_line(f"loading the source {source} …")
            problems += await self._reload_source(source)
        for load in _distinct_loads(plans):
            report_line(f"{command_for_load(load)} …")
            problems += await self._repeat_load(load)
        return [*problems, *await self._record.find_missing_documents()]

    async def _restore_schemas(self, buckets: Collection[BucketId]) -> None:
        """Create the missing buckets with the schemas that they had."""
        existing = (await self._index.load_bucket_sizes()).keys()
        for bucket, recorded in (await self._store.load_recorded_buckets()).items():
            if bucket in buckets and bucket not in existing and recorded.field_schema is not None:
                await self._index.set_schema(schema_from_json(dict(recorded.field_schema)))

    async def _reload_source(self, source: str) -> list[str]:
        bucket = next(stored.bucket for stored in await self._sources.list_sources() if stored.id == source)
        await self._sources.mark_for_reload(bucket)
        try:
            problem = sync_problem_of(source, await self._sources.sync_source(source))
        except (BotError, IngestError, SearchError, OSError) as exc:
            return [f"{source}: {exc}"]
        return [] if problem is None else [problem]

    async def _repeat_load(self, request: Mapping[str, Json]) -> list[str]:
        if needs_model(request):
            return [f"a language model read these documents, which costs something: {command_for_load(request)}"]
        from storage.ingest.pipeline import ingest_files

        try:
            report = await ingest_files(
                self._index,
                request["paths"],
                extractor=self._extractor,
                bucket=BucketId(request["bucket"]) if request["bucket"] else None,
                ignore_metadata=bool(request["ignore_metadata"]),
                schema_folder=self._schemas,
                passage_characters=self._passage_characters,
            )
        except (IngestError, OSError) as exc:
            return [f"{command_for_load(request)}: {exc}"]
        return _problems_of(report)


async def plan_bucket(finder: BucketOriginFinder, bucket: BucketId, documents: int) -> BucketRebuild:
    origins = await finder.find_origins(bucket)
    return BucketRebuild(
        bucket=bucket,
        documents=documents,
        sources=tuple(source.id for source in origins.sources),
        loads=tuple(load.request for load in origins.loads),
    )


def _describe_load(request: Mapping[str, Json]) -> str:
    return command_for_load(request) + (" (needs a language model, so run it yourself)" if needs_model(request) else "")


def _distinct_loads(plans: Collection[BucketRebuild]) -> list[Mapping[str, Json]]:
    loads = list[Mapping[str, Json]]()
    for plan in plans:
        loads += [load for load in plan.loads if load not in loads]
    return loads


def _problems_of(report: "IngestReport") -> list[str]:
    if not report.failed:
        return []
    first = report.failures[0]
    return [f"{report.failed:,} could not be loaded, such as {first.where}: {first.reason}"]

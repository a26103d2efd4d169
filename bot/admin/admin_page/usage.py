"""What the admin page shows of the usage, and the synonyms that it suggests: the report of `parley report`, for admins.

A suggested value is what documents say, so it is shown only for buckets that are granted to the admin.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

from bot.access.audience_scope import AccessResolver
from bot.admin.admin_page.bucket_contents import GrantedContents
from bot.admin.admin_page.bucket_status import scope_for_admin
from bot.admin.admin_page.synonym_targets import SynonymTargets, load_synonym_targets
from bot.admin.administration import AdminOperations
from bot.errors import NotAdmin
from bot.ids import PersonId
from bot.surface.replies import PictureKind, PicturePart, PicturePoint
from storage.search.index import SearchIndex
from storage.sql.database import SqlDatabase
from storage.sql.stores.audit import AuditLog

if TYPE_CHECKING:
    from bot.admin.admin_page.question_comparison import AnswerComparison, QuestionComparisons
    from bot.admin.schema_synonyms import SchemaSynonyms, SynonymPreview
    from bot.admin.usage.usage_report import UnknownWord, UsageReport, UsageReports

REPORT_DAYS: Final = (7, 30, 90, 365)
REPORT_ENTRIES: Final = 20  # of each list
_REPORT_TTL_S: Final = 60.0  # the pictures of a page are fetched after it
_RECENT_REPORT_S: Final = 600.0  # a Home tab has no time to wait for a report
_MAX_BARS: Final = 12


@dataclass(frozen=True, slots=True)
class _KeptReport:
    loaded_at_s: float
    report: "UsageReport"


class AdminReports:
    """Each call names the admin who asks, and raises `NotAdmin` for anybody else.

    `compares_words`: words are compared by meaning; else only clicks suggest what a word means.
    """

    def __init__(
        self,
        *,
        administration: AdminOperations,
        contents: GrantedContents,
        database: SqlDatabase,
        index: SearchIndex,
        access: AccessResolver,
        compares_words: bool,
        open_comparisons: "Callable[[], QuestionComparisons]",
    ) -> None:
        self._administration, self._contents, self._database = administration, contents, database
        self._index, self._access, self._compares_words = index, access, compares_words
        self._open_comparisons = open_comparisons
        self._kept: LRUCache[int, _KeptReport] = LRUCache(len(REPORT_DAYS))
        self._lock = asyncio.Lock()
        self._reports: UsageReports | None = None

    async def load_report(self, days: int, by: PersonId, *, is_fresh: bool = True) -> "UsageReport":
        """The report of the last days, one of `REPORT_DAYS`. `is_fresh` False: up to a minute old. Raises what the
        index and the database raise.
        """
        if not await self._administration.is_admin(by):
            raise NotAdmin()
        async with self._lock:  # a report reads some ten thousand rows
            kept = self._kept.get(days)
            if kept is None or is_fresh or time.monotonic() - kept.loaded_at_s > _REPORT_TTL_S:
                reports = await self._open_reports()
                kept = _KeptReport(time.monotonic(), await reports.load_report(days=days, limit=REPORT_ENTRIES))
                self._kept[days] = kept
        return await self._for_admin(kept.report, by)

    async def find_recent_report(self, days: int, by: PersonId) -> "UsageReport | None":
        """The report that was loaded last, up to ten minutes old; None if there is none."""
        if not await self._administration.is_admin(by):
            raise NotAdmin()
        kept = self._kept.get(days)
        if kept is None or time.monotonic() - kept.loaded_at_s > _RECENT_REPORT_S:
            return None
        return await self._for_admin(kept.report, by)

    async def list_synonym_targets(self, by: PersonId) -> SynonymTargets:
        """What a word may stand for. Raises what the index raises."""
        return await load_synonym_targets(self._administration, self._access, self._index, by)

    async def preview_synonym(
        self, bucket: str, field: str, word: str, value: str | None, by: PersonId
    ) -> "SynonymPreview":
        """Counts what the synonym would find. Raises `MissingBucket`, `BucketClosed`, `SynonymRefused`."""
        index, _ = await self._contents.open_bucket(bucket, by)
        return await self._synonyms().preview_synonym(bucket, field, word, value, scope=index.scope)

    async def compare_synonym(self, preview: "SynonymPreview", by: PersonId) -> "AnswerComparison":
        """How last month's questions would be answered with the synonym. Takes some seconds. Raises what
        `preview_synonym` raises.
        """
        index, _ = await self._contents.open_bucket(preview.bucket, by)
        comparisons = await asyncio.to_thread(self._open_comparisons)
        return await comparisons.compare_schemas(index, preview.schema, [preview.word])

    async def add_synonym(
        self, bucket: str, field: str, word: str, value: str | None, by: PersonId
    ) -> "SynonymPreview":
        """Adds the synonym; the next question uses it. Raises what `preview_synonym` raises."""
        preview = await self.preview_synonym(bucket, field, word, value, by)
        await self._synonyms().add_synonym(preview)
        added = {"field": preview.field, "synonym": preview.word} | ({"value": preview.value} if preview.value else {})
        await AuditLog(self._database).record_change("schema.synonym", preview.bucket, by=by, after=added)
        self._kept.clear()  # the word is known now
        return preview

    async def _for_admin(self, report: "UsageReport", by: PersonId) -> "UsageReport":
        """The report with the values that the admin may see."""
        scope = await scope_for_admin(self._access, by)
        words = tuple(keep_open_suggestions(word, scope.buckets) for word in report.unknown_words)
        return replace(report, unknown_words=words)

    def _synonyms(self) -> "SchemaSynonyms":
        from bot.admin.schema_synonyms import SchemaSynonyms

        return SchemaSynonyms(self._index, self._access)

    async def _open_reports(self) -> "UsageReports":
        if self._reports is None:
            self._reports = await asyncio.to_thread(self._build_reports)
        return self._reports

    def _build_reports(self) -> "UsageReports":
        from bot.admin.usage.usage_report import UsageReports

        embedder = None
        if self._compares_words:
            from storage.embedder import WordLlamaEmbedder

            embedder = WordLlamaEmbedder()
        return UsageReports(database=self._database, index=self._index, access=self._access, embedder=embedder)


def pictures_of_report(report: "UsageReport") -> Mapping[str, PicturePart]:
    """The pictures that have something to show, by name. Each has the numbers of the report."""
    counts = report.counts
    endings = {
        "answered": counts.answered,
        "asked back": counts.asked_back,
        "nothing found": counts.nothing_found,
        "refused": counts.refused,
        "failed": counts.failed,
        "stopped, edited or put off": counts.other,
    }
    bars = {
        "endings": ("How questions ended", endings),
        "buckets": ("Questions by bucket", report.buckets),
        "choices": ("Clicks, by kind of choice", {use.kind: use.clicked for use in report.choices}),
    }
    return {name: picture for name, (title, values) in bars.items() if (picture := _bars_of(title, values)) is not None}


def _bars_of(title: str, values: Mapping[str, int]) -> PicturePart | None:
    """Bars of the largest values; the others together. None where there is nothing to compare."""
    counted = sorted(((label, value) for label, value in values.items() if value), key=lambda item: -item[1])
    if len(counted) < 2:
        return None
    shown, others = (counted, []) if len(counted) <= _MAX_BARS else (counted[: _MAX_BARS - 1], counted[_MAX_BARS - 1 :])
    points = [PicturePoint(label=label, value=float(value), value_text=f"{value:,}") for label, value in shown]
    if others:
        rest = sum(value for _, value in others)
        label = f"{len(others):,} others"
        points.append(PicturePoint(label=label, value=float(rest), value_text=f"{rest:,}", is_rest=True))
    description = f"{title}: " + ", ".join(f"{point.label} {point.value_text}" for point in points)
    return PicturePart(kind=PictureKind.BARS, title=title, points=tuple(points), description=description)


def keep_open_suggestions(word: "UnknownWord", buckets: Collection[str]) -> "UnknownWord":
    """The word without suggestions from other buckets."""
    return replace(word, suggestions=tuple(each for each in word.suggestions if each.bucket in buckets))

"""Deletes documents whose date, or day of loading, is longer ago than the operator or an admin wants to keep them.

Processes may do this at the same time: a document is deleted once. As in a sync, more than a fifth of a bucket is not
deleted without a command, since that is more likely a mistake in the rule or in the dates.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from bot.access.audience_scope import AccessResolver
from bot.health.retention_rules import DocumentRule
from bot.surface.inbound import OperatorAudience
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.errors import UnknownBucket
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import CountRequest, RecordPageRequest, ScopedIndex, SearchIndex
from storage.search.plan import Clause, Search, unfiltered_search_of
from storage.search.schema import FieldType
from storage.sql.administration.document_rules import DocumentRuleStore, StoredDocumentRule

EXPIRY_INTERVAL: Final = timedelta(hours=1)  # between two runs of a process
_PAGE_DOCUMENTS: Final = 500
_MAX_SHARE: Final = 5  # a fifth of the documents


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredDocuments:
    """What a rule finds now. `problem`: why it finds nothing, in one sentence; empty: there is no problem.

    `undated`: of a rule by the day of loading, the documents that an earlier version loaded, which kept no day.
    """

    rule: DocumentRule
    expired: int = 0
    total: int = 0
    undated: int = 0
    problem: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether it is more than is deleted without a command."""
        return self.expired * _MAX_SHARE > self.total


class DocumentRetention:
    """`rules`: of the setting."""

    def __init__(
        self,
        *,
        index: SearchIndex,
        access: AccessResolver,
        rules: Sequence[DocumentRule],
        stored_rules: DocumentRuleStore,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._index, self._access, self._clock, self._log = index, access, clock, log
        self._rules, self._stored_rules = tuple(rules), stored_rules
        self._due_at: datetime | None = None

    async def load_rules(self) -> tuple[DocumentRule, ...]:
        """The rules of the setting, and those that admins have set for buckets without one there. Raises `SqlError`."""
        stored = await self._stored_rules.list_rules()
        return (*self._rules, *(_rule_of(rule) for rule in stored if not self.is_set_by_operator(rule.bucket)))

    async def list_orphaned_rules(self, buckets: Collection[str]) -> list[DocumentRule]:
        """The rules that admins have set for other buckets than these. Raises `SqlError`."""
        return [_rule_of(rule) for rule in await self._stored_rules.list_rules() if rule.bucket not in buckets]

    async def remove_rule(self, bucket: str, *, by: str) -> DocumentRule | None:
        """Ends what admins have set for a bucket that is deleted, since a later one of its name must not lose documents
        by it. Returns the rule, if there was one. Raises `SqlError`.
        """
        removed = await self._stored_rules.remove_rule(bucket, by=by)
        return None if removed is None else _rule_of(removed)

    def is_set_by_operator(self, bucket: str) -> bool:
        """Whether the setting names the bucket, so that what admins have set for it has no effect."""
        return any(rule.bucket == bucket for rule in self._rules)

    async def expire_documents(self) -> int:
        """Deletes the documents that are too old, at most once an hour; returns how many. Raises what the index
        and the database raise.
        """
        now = self._clock()
        if self._due_at is not None and now < self._due_at:
            return 0
        self._due_at = now + EXPIRY_INTERVAL
        deleted = 0
        for rule in await self.load_rules():
            found = await self.count_expired(rule)
            if found.problem or found.is_refused:
                reason = found.problem or "more than a fifth of the documents; parley bucket expire BUCKET --anyway"
                self._log.warning("old documents kept", name=rule.bucket, items=found.expired, reason=reason)
            elif found.expired:
                deleted += await self.delete_expired(rule)
        if deleted:
            self._log.info("old documents deleted", deleted=deleted)
        return deleted

    async def count_expired(self, rule: DocumentRule) -> ExpiredDocuments:
        """Counts what the rule would delete now. Raises what the index raises."""
        if rule.counts_from_loading:
            return await self._count_loaded_before(rule)
        index = await self._open_index()
        schema = (await index.load_schemas()).get(BucketId(rule.bucket))
        if schema is None:
            return ExpiredDocuments(rule=rule, problem=f"there is no bucket {rule.bucket!r}")
        field = schema.by_name.get(FieldName(rule.field))
        if field is None or field.type is not FieldType.DATE:
            return ExpiredDocuments(rule=rule, problem=f"{rule.bucket} has no date field {rule.field!r}")
        expired = CountRequest(self._search_for(rule))
        total = CountRequest(unfiltered_search_of(BucketId(rule.bucket)))
        answers = await index.answer_requests(expired, total)
        return ExpiredDocuments(rule=rule, expired=answers[expired], total=answers[total])

    async def delete_expired(self, rule: DocumentRule) -> int:
        """Deletes what the rule finds, also if it is more than a fifth. Raises what the index raises."""
        if rule.counts_from_loading:
            return await self._delete_loaded_before(rule)
        request = RecordPageRequest(self._search_for(rule), limit=_PAGE_DOCUMENTS)
        index, deleted = await self._open_index(), 0
        while True:
            records = (await index.answer_requests(request))[request].records
            doc_ids: list[DocId] = [record.doc_id for record in records]
            removed = await self._index.delete(doc_ids) if doc_ids else 0
            deleted += removed
            if removed == 0 or len(doc_ids) < _PAGE_DOCUMENTS:
                return deleted

    async def _count_loaded_before(self, rule: DocumentRule) -> ExpiredDocuments:
        try:
            days = await self._index.load_ingestion_days(BucketId(rule.bucket))
        except UnknownBucket as exc:
            return ExpiredDocuments(rule=rule, problem=str(exc))
        undated, first_kept_day = sum(not day for day in days.values()), self._first_kept_day(rule)
        expired = sum(day < first_kept_day for day in days.values()) - undated
        return ExpiredDocuments(rule=rule, expired=expired, total=len(days), undated=undated)

    async def _delete_loaded_before(self, rule: DocumentRule) -> int:
        first_kept_day, deleted = self._first_kept_day(rule), 0
        days = await self._index.load_ingestion_days(BucketId(rule.bucket))
        expired = [doc_id for doc_id, day in days.items() if day and day < first_kept_day]
        for start in range(0, len(expired), _PAGE_DOCUMENTS):
            deleted += await self._index.delete(expired[start : start + _PAGE_DOCUMENTS])
        return deleted

    def _first_kept_day(self, rule: DocumentRule) -> str:
        return (self._clock() - timedelta(days=rule.days)).date().isoformat()

    def _search_for(self, rule: DocumentRule) -> Search:
        condition = ComparisonCondition(
            field=FieldName(rule.field), op=ComparisonOperator.LT, value=self._first_kept_day(rule)
        )
        return Search(clauses=(Clause(bucket=BucketId(rule.bucket), condition=condition),))

    async def _open_index(self) -> ScopedIndex:
        return self._index.within_scope(await self._access.scope_for_audience(OperatorAudience()))


def _rule_of(stored: StoredDocumentRule) -> DocumentRule:
    return DocumentRule(bucket=stored.bucket, field=stored.field, days=stored.days)

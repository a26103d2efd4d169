"""How long the documents of a bucket are kept: what admins see of it, and set. What would be deleted is counted first.

A bucket that `PARLEY_DOCUMENT_RETENTION` names has the rules of that setting alone; admins set those of all others.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.admin.admin_page.bucket_contents import GrantedContents
from bot.admin.document_retention import DocumentRetention, ExpiredDocuments
from bot.admin.retention_sentences import describe_effect, describe_rule
from bot.errors import ConcurrentChange, RetentionRefused
from bot.health.retention_rules import LOADED, MAX_DAYS, DocumentRule
from bot.ids import BucketId, PersonId
from storage.search.bucket_parts import whole_bucket_of
from storage.search.schema import FieldType, Schema
from storage.sql.administration.document_rules import DocumentRuleStore, StoredDocumentRule
from storage.sql.database import SqlDatabase

_MAX_AGE: Final = timedelta(minutes=10)  # of a count that is shown beside much else
LOADED_LABEL: Final = "the day on which Parley loaded them"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBucket:
    """`effects`: what each rule would delete now. `start_labels`: from what days may count, by field.

    `rule`: the one that admins have set, which a setting may leave without effect.
    """

    bucket: BucketId
    label: str
    start_labels: Mapping[str, str]
    effects: tuple[ExpiredDocuments, ...]
    is_from_settings: bool
    rule: DocumentRule | None

    @property
    def version(self) -> str:
        return version_of(self.rule)


class RetentionEdits:
    """Each call names the admin who asks. It raises `NotAdmin` for anybody else, `MissingBucket`, and `BucketClosed`
    for a bucket that is not granted to the admin.
    """

    def __init__(self, *, contents: GrantedContents, retention: DocumentRetention, database: SqlDatabase) -> None:
        self._contents, self._retention, self._store = contents, retention, DocumentRuleStore(database)
        self._now = database.utc_now
        self._recent_effects = dict[DocumentRule, tuple[datetime, ExpiredDocuments]]()

    async def load_bucket(self, bucket: str, by: PersonId) -> KeptBucket:
        _, schema = await self._contents.open_bucket(bucket, by)
        rules = [rule for rule in await self._retention.load_rules() if rule.bucket == bucket]
        return KeptBucket(
            bucket=schema.bucket,
            label=schema.label,
            start_labels=_start_labels_of(schema),
            effects=tuple([await self._retention.count_expired(rule) for rule in rules]),
            is_from_settings=self._retention.is_set_by_operator(bucket),
            rule=_rule_of(await self._find_stored(bucket)),
        )

    async def describe_rules(self, by: PersonId, *, time_limit: timedelta) -> Mapping[str, Sequence[str]]:
        """A line for each rule of the buckets that are open to the admin, by whole bucket, with what it would delete.

        A count is ten minutes old at most; one that takes too long is left out.
        """
        opened, lines = await self._contents.list_buckets(by), dict[str, list[str]]()
        deadline = asyncio.get_running_loop().time() + time_limit.total_seconds()
        for rule in await self._retention.load_rules():
            if rule.bucket not in opened:
                continue
            found = await self._find_recent_effect(rule, deadline)
            effect = "" if found is None else f": {describe_effect(found)}"
            lines.setdefault(whole_bucket_of(BucketId(rule.bucket)), []).append(f"{describe_rule(rule)}{effect}")
        return lines

    async def _find_recent_effect(self, rule: DocumentRule, deadline: float) -> ExpiredDocuments | None:
        counted_at, found = self._recent_effects.get(rule, (None, None))
        if counted_at is not None and self._now() - counted_at < _MAX_AGE:
            return found
        try:
            async with asyncio.timeout_at(deadline):
                found = await self._retention.count_expired(rule)
        except TimeoutError:
            return None
        self._recent_effects[rule] = (self._now(), found)
        return found

    async def preview_rule(self, bucket: str, field: str, days: str, by: PersonId) -> ExpiredDocuments:
        """Counts what the rule would delete now. Raises `RetentionRefused`."""
        return await self._retention.count_expired(await self._check_rule(bucket, field, days, by))

    async def set_rule(self, bucket: str, field: str, days: str, version: str, by: PersonId) -> None:
        """`version`: of the rule that the admin has seen. Raises `RetentionRefused`, `ConcurrentChange`."""
        rule = await self._check_rule(bucket, field, days, by)
        await self._replace_rule(bucket, version, rule, by)

    async def end_rule(self, bucket: str, version: str, by: PersonId) -> None:
        """Ends what admins have set; nothing is deleted by that. Raises `ConcurrentChange`."""
        await self._contents.open_bucket(bucket, by)
        await self._replace_rule(bucket, version, None, by)

    async def _check_rule(self, bucket: str, field: str, days: str, by: PersonId) -> DocumentRule:
        _, schema = await self._contents.open_bucket(bucket, by)
        if self._retention.is_set_by_operator(bucket):
            raise RetentionRefused("PARLEY_DOCUMENT_RETENTION sets how long this bucket is kept; change it there.")
        if field not in _start_labels_of(schema):
            raise RetentionRefused("Choose one of the dates from which the days count.")
        if not (days.isascii() and days.isdigit() and len(days) <= len(str(MAX_DAYS)) and 1 <= int(days) <= MAX_DAYS):
            raise RetentionRefused(f"The days are a whole number from 1 to {MAX_DAYS:,}.")
        return DocumentRule(bucket=bucket, field=field, days=int(days))

    async def _replace_rule(self, bucket: str, version: str, rule: DocumentRule | None, by: PersonId) -> None:
        stored = await self._find_stored(bucket)
        if version_of(_rule_of(stored)) != version:
            raise ConcurrentChange()
        new = None if rule is None else StoredDocumentRule(bucket=bucket, field=rule.field, days=rule.days)
        if not await self._store.replace_if_unchanged(bucket, stored, new, by=by):
            raise ConcurrentChange()

    async def _find_stored(self, bucket: str) -> StoredDocumentRule | None:
        return next((rule for rule in await self._store.list_rules() if rule.bucket == bucket), None)


def version_of(rule: DocumentRule | None) -> str:
    """Differs between any two rules of a bucket; empty for none."""
    return "" if rule is None else f"{rule.field}:{rule.days}"


def _rule_of(stored: StoredDocumentRule | None) -> DocumentRule | None:
    return None if stored is None else DocumentRule(bucket=stored.bucket, field=stored.field, days=stored.days)


def _start_labels_of(schema: Schema) -> Mapping[str, str]:
    dates = {str(field.name): field.label for field in schema.fields if field.type is FieldType.DATE}
    return {**dates, LOADED: LOADED_LABEL}

"""How the syncs of a bucket stand: the last one of its sources, what failed, and when the next one is due."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from storage.search.ids import BucketId
from storage.sql.stores.sources import StoredSource

_FAILED, _IN_PART = "failed", ("incomplete", "refused")
_MAX_REASON_CHARACTERS: Final = 180
_HIDDEN_PARTS: Final = (
    (re.compile(r"(?<=://)\S*@"), ""),  # who signs in, with which password
    (re.compile(r"(://[^\s?]*)\?\S*"), r"\1?…"),  # an address may be signed
    (re.compile(r"^\[Errno -?\d+\] "), ""),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketSync:
    """Of the source of the bucket that has a problem, if one has, else of the one that was synced last.

    `source`: its id where the bucket has several, else empty. `ended_at`: of the last sync; None: none has ended yet.
    `succeeded_at`: when it was last read. `has_failed`: the last sync read nothing; `is_partial`: it did not do all.
    `reason`: why; empty where the reader may not see it. `other_problems`: how many more sources have a problem.
    `due_at`: the earliest of all sources; None: only by hand, or all are paused.
    """

    source: str = ""
    ended_at: datetime | None = None
    succeeded_at: datetime | None = None
    has_failed: bool = False
    is_partial: bool = False
    reason: str = ""
    other_problems: int = 0
    due_at: datetime | None = None
    is_due: bool = False
    is_syncing: bool = False
    is_paused: bool = False


def list_bucket_syncs(sources: Iterable[StoredSource], now: datetime) -> Mapping[BucketId, BucketSync]:
    """The syncs of each bucket that has a source."""
    by_bucket = dict[BucketId, list[StoredSource]]()
    for source in sources:
        by_bucket.setdefault(source.bucket, []).append(source)
    return {bucket: _sync_of(bucket_sources, now) for bucket, bucket_sources in by_bucket.items()}


def _sync_of(sources: Sequence[StoredSource], now: datetime) -> BucketSync:
    shown = max(sources, key=lambda source: (_severity_of(source), source.synced_at or source.created_at))
    due_times = [source.due_at for source in sources if source.due_at is not None]
    due_at = min(due_times, default=None)
    problems = sum(_severity_of(source) > 0 for source in sources)
    return BucketSync(
        source=shown.id if len(sources) > 1 else "",
        ended_at=shown.synced_at,
        succeeded_at=shown.succeeded_at,
        has_failed=shown.outcome == _FAILED,
        is_partial=shown.outcome in _IN_PART,
        reason=_reason_of(shown),
        other_problems=max(problems - 1, 0),
        due_at=due_at,
        is_due=due_at is not None and due_at <= now,
        is_syncing=any(source.leased_until is not None and source.leased_until > now for source in sources),
        is_paused=all(source.paused_at is not None for source in sources),
    )


def _severity_of(source: StoredSource) -> int:
    return 2 if source.outcome == _FAILED else 1 if source.outcome in _IN_PART else 0


def _reason_of(source: StoredSource) -> str:
    """The failure on one line, without what signs in at an address."""
    reason = " ".join((source.failure or "").split()).removeprefix(f"{source.id}: ")
    for hidden, shown in _HIDDEN_PARTS:
        reason = hidden.sub(shown, reason)
    reason = reason.rstrip(". ")
    return reason if len(reason) <= _MAX_REASON_CHARACTERS else f"{reason[: _MAX_REASON_CHARACTERS - 1]}…"

"""What the admin page shows of sources, without secrets, and what an admin may do with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, cast

from bot.access.audience_scope import AccessResolver
from bot.admin.admin_page.bucket_status import scope_for_admin
from bot.admin.administration import AdminOperations
from bot.admin.sources import SourceOperations
from bot.errors import NotAdmin
from bot.ids import OPERATOR, BucketId, PersonId
from storage.sql.database import SqlDatabase
from storage.sql.stores.sources import StoredSource

_SHOWN_OPTIONS: Final[Mapping[str, str]] = {
    "user": "as",
    "spaces": "spaces",
    "endpoint": "server",
    "region": "region",
    "query": "query",
    "key": "key",
    "cursor": "cursor",
    "readers": "readers",
    "items": "items",
}  # none holds a secret; others are not shown
_SHOWN_COUNTS: Final = ("added", "replaced", "deleted", "failed")
_MAX_OPTION_CHARACTERS: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """`place`: the location, of a URL without what follows a question mark. `details`: options as people read them.
    `changes`: what the last sync did, where it did anything. `due_at` None: only by hand, or paused.

    `is_readable`: whether the admin may see the bucket. Else `place`, `details` and `failure` are empty: they may name
    what is in it. `has_problem`: the last sync did not do all.
    """

    id: str
    kind: str
    place: str
    details: tuple[str, ...]
    has_secret: bool
    bucket: BucketId
    documents: int
    every: timedelta | None
    synced_at: datetime | None
    outcome: str
    changes: str
    failure: str
    has_problem: bool
    is_readable: bool
    due_at: datetime | None
    is_due: bool
    is_syncing: bool
    is_paused: bool


class SourceAdministration:
    """Each call names the admin who asks, and raises `NotAdmin` for anybody else."""

    def __init__(
        self,
        *,
        administration: AdminOperations,
        access: AccessResolver,
        sources: SourceOperations,
        database: SqlDatabase,
    ) -> None:
        self._administration, self._access = administration, access
        self._sources, self._now = sources, database.utc_now

    async def list_sources(self, by: PersonId) -> list[SourceStatus]:
        """In the order in which they were added. Raises what the index and the database raise, too."""
        await self._check_admin(by)
        buckets, now = (await scope_for_admin(self._access, by)).buckets, self._now()
        return [
            _status_of(source, now, is_readable=by == OPERATOR or source.bucket in buckets)
            for source in await self._sources.list_sources()
        ]

    async def request_sync(self, source: str, by: PersonId) -> None:
        """Raises `UnknownSource`."""
        await self._check_admin(by)
        await self._sources.request_sync(source, by=by)

    async def pause_source(self, source: str, by: PersonId) -> None:
        """Raises `UnknownSource`."""
        await self._check_admin(by)
        await self._sources.pause_source(source, by=by)

    async def resume_source(self, source: str, by: PersonId) -> None:
        """Raises `UnknownSource`."""
        await self._check_admin(by)
        await self._sources.resume_source(source, by=by)

    async def _check_admin(self, by: PersonId) -> None:
        if not await self._administration.is_admin(by):
            raise NotAdmin()


def _status_of(source: StoredSource, now: datetime, *, is_readable: bool) -> SourceStatus:
    return SourceStatus(
        id=source.id,
        kind=source.kind,
        place=_place_of(source) if is_readable else "",
        details=_details_of(source) if is_readable else (),
        has_secret=source.credential is not None,
        bucket=source.bucket,
        documents=source.documents,
        every=source.every,
        synced_at=source.synced_at,
        outcome=source.outcome or "",
        changes=_describe_counts(source.counts or {}),
        failure=(source.failure or "") if is_readable else "",
        has_problem=bool(source.failure),
        is_readable=is_readable,
        due_at=source.due_at,
        is_due=source.due_at is not None and source.due_at <= now,
        is_syncing=source.leased_until is not None and source.leased_until > now,
        is_paused=source.paused_at is not None,
    )


def _place_of(source: StoredSource) -> str:
    place, mark, _ = source.location.partition("?") if "://" in source.location else (source.location, "", "")
    return place + ("?…" if mark else "")


def _details_of(source: StoredSource) -> tuple[str, ...]:
    return tuple(
        f"{label} {_text_of_option(source.options[name])}"
        for name, label in _SHOWN_OPTIONS.items()
        if source.options.get(name)
    )


def _text_of_option(value: object) -> str:
    text = ", ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
    words = " ".join(text.split())
    return words if len(words) <= _MAX_OPTION_CHARACTERS else f"{words[: _MAX_OPTION_CHARACTERS - 1]}…"


def _describe_counts(counts: Mapping[str, object]) -> str:
    done = ((name, counts.get(name)) for name in _SHOWN_COUNTS)
    return ", ".join(f"{count:,} {name}" for name, count in done if isinstance(count, int) and count)

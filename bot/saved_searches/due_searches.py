"""Starts the runs of saved searches that are due. A run is a turn in the search's conversation, accepted once for its
due time, so it is reported once however many processes start it, and whichever of them is killed. While a run is open,
its search waits: what falls due meanwhile is one run after it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from bot.access.audience_scope import AccessResolver
from bot.errors import UnreadableTurn
from bot.ids import BucketId, MessageId, TurnId
from bot.saved_searches.saved_searches import time_zone_of
from bot.saved_searches.schedule import ChangeSchedule, count_due_times, next_due_time, parse_schedule
from bot.saved_searches.watched_documents import load_index_state
from bot.surface.inbound import Inbound, SavedSearchRun
from bot.surface.json_codec import inbound_from_json
from bot.surface.surface_registry import SurfaceRegistry
from storage.search.errors import SearchError
from storage.search.index import SearchIndex
from storage.sql.database import SqlDatabase
from storage.sql.saved_search_store import ClaimedSavedSearch, SavedSearchStore, StoredSavedSearch, run_message_id

_LEASE: Final = timedelta(seconds=60)
_GRACE: Final = timedelta(minutes=15)  # a run that starts later was missed
_MAX_MISSED: Final = 1_000  # due times that are counted


class DueSearches:
    """`accept` stores a turn and returns its id; None if it was stored before."""

    def __init__(
        self,
        *,
        database: SqlDatabase,
        index: SearchIndex,
        access: AccessResolver,
        surfaces: SurfaceRegistry,
        accept: Callable[[Inbound], Awaitable[TurnId | None]],
        worker: str,
        log: FilteringBoundLogger,
    ) -> None:
        self._store, self._now = SavedSearchStore(database), database.utc_now
        self._index, self._access, self._surfaces = index, access, surfaces
        self._accept, self._worker, self._log = accept, worker, log

    async def start_due_runs(self) -> int:
        """Starts the runs that are due on the surfaces of this process; returns how many. Raises `SqlError`.

        A search whose documents cannot be looked at now is tried again when its lease has ended.
        """
        surfaces = {*self._surfaces.replying_names, *self._surfaces.receive_only_names}
        started = 0
        while claimed := await self._store.claim_due_search(self._worker, _LEASE, surfaces=surfaces):
            try:
                started += await self._start_run(claimed)
            except (SearchError, UnreadableTurn) as exc:
                self._log.warning("saved search not started", search=claimed.search.position, error=type(exc).__name__)
        return started

    async def _start_run(self, claimed: ClaimedSavedSearch) -> bool:
        search, now = claimed.search, self._now()
        inbound, due_at = inbound_from_json(search.origin), search.due_at or now
        schedule, zone = parse_schedule(search.schedule) or ChangeSchedule(), time_zone_of(search.time_zone)
        is_on_change = isinstance(schedule, ChangeSchedule)
        is_started, rescheduled_from = not is_on_change or await self._has_changed(search, inbound), now
        if is_started:
            is_late = not is_on_change and now - due_at > _GRACE
            run = SavedSearchRun(
                search=search.position,
                due_at=due_at,
                missed_count=count_due_times(schedule, due_at, now, zone, limit=_MAX_MISSED) if is_late else 0,
                was_held=is_late and await self._store.was_running(search.position, due_at),
            )
            if await self._accept(run_inbound_of(run, inbound, now)) is None:
                rescheduled_from = due_at  # this run has ended since; what fell due after it has not run
        await self._store.finish_claim(claimed, next_due_time(schedule, rescheduled_from, zone))
        return is_started

    async def _has_changed(self, search: StoredSavedSearch, inbound: Inbound) -> bool:
        """Whether the documents or the rights differ from those of the last run."""
        scope = await self._access.scope_for_audience(inbound.audience)
        buckets = frozenset(map(BucketId, search.buckets))
        return await load_index_state(self._index, scope, buckets) != search.index_state


def run_inbound_of(run: SavedSearchRun, origin: Inbound, now: datetime) -> Inbound:
    """The run of a search as a turn of its conversation, unique for its due time."""
    event = run_message_id(run.search, run.due_at)
    return replace(
        origin,
        event_id=event,
        message_id=MessageId(event),
        body=run,
        received_at=now,
        revises=None,
        files=(),
        skipped_files=(),
        is_automatic=False,
        needs_thread=False,
    )

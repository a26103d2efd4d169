"""Keeps, lists, stops and runs saved searches, with the rights of the conversation in which they report."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent.outcome import Outcome
from bot.access.audience_scope import AccessResolver
from bot.ids import BucketId, TurnId
from bot.saved_searches import search_wording
from bot.saved_searches.run_outcomes import SearchRunOutcome
from bot.saved_searches.schedule import ChangeSchedule, format_schedule, next_due_time, parse_schedule
from bot.saved_searches.search_requests import ListRequest, SavedSearchRequest, SaveRequest, StopRequest
from bot.saved_searches.watched_documents import (
    TooManyDocuments,
    WatchedDocuments,
    compare_documents,
    find_read_buckets,
    find_watched_searches,
    load_index_state,
    load_watched_documents,
)
from bot.surface.inbound import Inbound, OperatorAudience, PrivateAudience, SavedSearchRun
from bot.surface.json_codec import inbound_to_json
from bot.surface.surface_registry import SurfaceRegistry
from storage.search.index import SearchIndex
from storage.search.scope import Scope
from storage.sql.database import SqlDatabase
from storage.sql.saved_search_store import (
    NewSavedSearch,
    RunRecord,
    SavedSearchStatus,
    SavedSearchStore,
    StoredSavedSearch,
)

MAX_SEARCHES_OF_PERSON: Final = 20
QuestionCallback = Callable[[str], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReport:
    """The result of a run. `text`: Markdown, empty where there is nothing to report. `outcome` is the answer, if the
    question was asked.
    """

    run: SearchRunOutcome
    text: str = ""
    outcome: Outcome | None = None


class SavedSearches:
    """Each call raises what the index and the database raise."""

    def __init__(
        self, database: SqlDatabase, index: SearchIndex, access: AccessResolver, surfaces: SurfaceRegistry
    ) -> None:
        self._store, self._now = SavedSearchStore(database), database.utc_now
        self._index, self._access, self._surfaces = index, access, surfaces

    async def answer_request(
        self, request: SavedSearchRequest, inbound: Inbound, turn: TurnId, scope: Scope, ask: QuestionCallback
    ) -> str:
        """Does what a message asks for, and returns the reply. `ask` asks the documents within `scope`."""
        match request:
            case SaveRequest():
                return await self._save_search(request, inbound, turn, scope, ask)
            case ListRequest():
                return search_wording.describe_searches(await self._list_visible_searches(inbound), scope.buckets)
            case StopRequest():
                return await self._stop_searches(request, inbound, scope)

    async def run_search(
        self, run: SavedSearchRun, inbound: Inbound, scope: Scope, ask: QuestionCallback
    ) -> SearchReport:
        """Asks the question again and compares. A search that may not go on pauses, with one sentence."""
        search = await self._store.find_search(run.search)
        if search is None or search.status is not SavedSearchStatus.ACTIVE:
            return SearchReport(run=SearchRunOutcome(is_silent=True))
        is_member = await self._access.is_audience_member(inbound.person, inbound.audience)
        if is_member is None:  # the chat product does not say: the next run asks again
            return SearchReport(run=SearchRunOutcome(is_silent=True))
        if not is_member:
            return _pause_search(search, run, search_wording.LEFT_CONVERSATION_REASON)
        buckets = frozenset(map(BucketId, search.buckets))
        if not buckets <= scope.buckets:
            return _pause_search(search, run, search_wording.LOST_RIGHTS_REASON)
        index_state = await load_index_state(self._index, scope, buckets)
        outcome = await ask(search.question)
        searches = find_watched_searches(outcome)
        if not searches:
            return _pause_search(search, run, search_wording.NO_SET_REASON)
        watched = await load_watched_documents(self._index.within_scope(scope), searches)
        if isinstance(watched, TooManyDocuments):
            return _pause_search(search, run, search_wording.TOO_MANY_REASON)
        return _compare_with_last(search, run, watched, index_state, outcome)

    async def record_run(self, record: RunRecord) -> None:
        """Records what a run has found, once its report is posted. A second call changes nothing."""
        await self._store.record_run(record)

    # -- requests

    async def _save_search(
        self, request: SaveRequest, inbound: Inbound, turn: TurnId, scope: Scope, ask: QuestionCallback
    ) -> str:
        outcome = await ask(request.question)
        searches = find_watched_searches(outcome)
        if not searches:
            return search_wording.NO_SET_NOTICE
        buckets = find_read_buckets(searches)
        index_state = await load_index_state(self._index, scope, buckets)
        watched = await load_watched_documents(self._index.within_scope(scope), searches)
        if isinstance(watched, TooManyDocuments):
            return search_wording.describe_excess(watched.count)
        zone = time_zone_of(inbound.time_zone)
        new = NewSavedSearch(
            creating_turn=turn,
            surface=inbound.surface,
            conversation=inbound.conversation,
            person=inbound.person,
            question=request.question,
            origin=inbound_to_json(inbound),
            buckets=sorted(buckets),
            schedule=format_schedule(request.schedule),
            time_zone=inbound.time_zone if zone is not UTC else "UTC",
            seen=dict(watched.fingerprints),
            index_state=index_state,
            due_at=next_due_time(request.schedule, self._now(), zone),
        )
        search = await self._store.add_search(new, max_of_person=MAX_SEARCHES_OF_PERSON)
        if search is None:
            return search_wording.describe_limit(MAX_SEARCHES_OF_PERSON)
        is_posted = self._surfaces.outbox_for(inbound.surface) is not None
        return search_wording.describe_creation(search, outcome, watched, zone=zone, is_posted=is_posted)

    async def _stop_searches(self, request: StopRequest, inbound: Inbound, scope: Scope) -> str:
        searches = await self._list_visible_searches(inbound)
        if request.number is not None:
            chosen = [search for search in searches if search.position == request.number]
        elif request.stops_all or len(searches) == 1:
            chosen = searches
        else:
            chosen = []
        if not chosen:
            return search_wording.describe_searches(searches, scope.buckets)
        for search in chosen:
            await self._store.stop_search(search.position)
        return search_wording.describe_stop(chosen)

    async def _list_visible_searches(self, inbound: Inbound) -> Sequence[StoredSavedSearch]:
        """The person's own: all of them where only the person reads the reply, else those of the conversation."""
        is_private = isinstance(inbound.audience, (PrivateAudience, OperatorAudience))
        return await self._store.list_searches(
            person=inbound.person, conversation=None if is_private else inbound.conversation
        )


def time_zone_of(name: str) -> tzinfo:
    """UTC for a name that this machine does not know."""
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def _pause_search(search: StoredSavedSearch, run: SavedSearchRun, reason: str) -> SearchReport:
    record = RunRecord(position=search.position, due_at=run.due_at, seen={}, index_state="", pauses=True)
    return SearchReport(
        run=SearchRunOutcome(is_silent=False, record=record), text=search_wording.describe_pause(search, reason)
    )


def _compare_with_last(
    search: StoredSavedSearch, run: SavedSearchRun, watched: WatchedDocuments, index_state: str, outcome: Outcome
) -> SearchReport:
    changes = compare_documents(search.seen, watched)
    record = RunRecord(
        position=search.position, due_at=run.due_at, seen=dict(watched.fingerprints), index_state=index_state
    )
    is_silent = changes.is_empty and isinstance(parse_schedule(search.schedule), ChangeSchedule)
    zone = time_zone_of(search.time_zone)
    text = (
        "" if is_silent else search_wording.describe_report(search, run, watched, changes, outcome=outcome, zone=zone)
    )
    return SearchReport(run=SearchRunOutcome(is_silent=is_silent, record=record), text=text, outcome=outcome)

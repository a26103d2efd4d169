"""Keeps, lists, stops and runs saved searches, with the rights of the conversation in which they report."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent.outcome import Outcome
from agent.rules.words.language_detection import choose_reply_language
from bot.access.audience_scope import AccessResolver
from bot.errors import NotAdmin
from bot.ids import BucketId, TurnId
from bot.saved_searches import search_wording
from bot.saved_searches.report_requests import ReportRequest
from bot.saved_searches.request_kinds import ListRequest, SaveRequest, StopRequest
from bot.saved_searches.run_outcomes import SearchRunOutcome
from bot.saved_searches.schedule import (
    ChangeSchedule,
    SearchSchedule,
    format_schedule,
    next_due_time,
    parse_schedule,
)
from bot.saved_searches.usage_posts import (
    LOST_ADMIN_REASON,
    NO_ADMIN_NOTICE,
    REPORT_NAME,
    ReportSource,
    describe_post_creation,
)
from bot.saved_searches.watched_documents import (
    TooManyDocuments,
    WatchedDocuments,
    compare_documents,
    find_plan_searches,
    find_read_buckets,
    find_watched_searches,
    load_index_state,
    load_watched_documents,
)
from bot.surface.inbound import Inbound, OperatorAudience, PrivateAudience, SavedSearchRun
from bot.surface.json_codec import inbound_to_json
from bot.surface.surface_registry import SurfaceRegistry
from bot.translation import translate_message, use_language
from storage.search.codec import plan_from_json, plan_to_json
from storage.search.index import SearchIndex
from storage.search.plan import Plan
from storage.search.scope import Scope
from storage.sql.database import SqlDatabase
from storage.sql.saved_search_store import (
    NewSavedSearch,
    RunRecord,
    SavedSearchKind,
    SavedSearchStatus,
    SavedSearchStore,
    StoredSavedSearch,
)

MAX_SEARCHES_OF_PERSON: Final = 20


class StandaloneQuestions(Protocol):
    """Asks the documents within one scope, without the conversation so far."""

    async def ask_question(self, question: str) -> Outcome: ...

    async def ask_plan(self, plan: Plan) -> Outcome: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReport:
    """The result of a run. `text`: Markdown, empty where there is nothing to report. `outcome` is the answer, if the
    question was asked. `unshown_count`: the documents that it finds now, if more have changed than the text shows.
    """

    run: SearchRunOutcome
    text: str = ""
    outcome: Outcome | None = None
    unshown_count: int = 0


class SavedSearches:
    """Each call raises what the index and the database raise."""

    def __init__(
        self,
        *,
        database: SqlDatabase,
        index: SearchIndex,
        access: AccessResolver,
        surfaces: SurfaceRegistry,
        reports: ReportSource,
    ) -> None:
        self._store, self._now = SavedSearchStore(database), database.utc_now
        self._index, self._access, self._surfaces, self._reports = index, access, surfaces, reports

    async def answer_request(
        self,
        request: SaveRequest | ListRequest | StopRequest | ReportRequest,
        inbound: Inbound,
        turn: TurnId,
        scope: Scope,
        questions: StandaloneQuestions,
    ) -> str:
        """Does what a message asks for, and returns the reply. `questions` are asked within `scope`."""
        match request:
            case SaveRequest(question=question, schedule=schedule):
                found = _FoundSearch(question=question, outcome=await questions.ask_question(question))
                return await self._save_search(found, schedule, inbound, turn, scope)
            case ListRequest():
                return search_wording.describe_searches(await self._list_visible_searches(inbound), scope.buckets)
            case ReportRequest(schedule=schedule):
                return await self._save_report(schedule, inbound, turn)
            case StopRequest():
                return await self._stop_searches(request, inbound, scope)

    async def save_plan(
        self, plan: Plan, schedule: str, inbound: Inbound, turn: TurnId, scope: Scope, questions: StandaloneQuestions
    ) -> str:
        """Saves the search of an earlier answer, and returns the reply. `schedule`: as `format_schedule` writes it.

        The question alone is kept where it means the same by itself: it is then read again each time, with its “last
        week”. Else the plan is kept, as the answer was refined.
        """
        found = _FoundSearch(question=plan.question, outcome=await questions.ask_question(plan.question))
        if find_watched_searches(found.outcome) != find_plan_searches(plan):
            schemas = await self._index.within_scope(scope).load_schemas()
            question = search_wording.name_plan(plan, schemas)
            found = _FoundSearch(question=question, outcome=await questions.ask_plan(plan), plan=plan)
        return await self._save_search(found, parse_schedule(schedule) or ChangeSchedule(), inbound, turn, scope)

    async def run_search(
        self, run: SavedSearchRun, inbound: Inbound, scope: Scope, questions: StandaloneQuestions
    ) -> SearchReport:
        """Asks the question again and compares, in its language. A search that may not go on pauses and says so."""
        search = await self._store.find_search(run.search)
        if search is None or search.status is not SavedSearchStatus.ACTIVE:
            return SearchReport(run=SearchRunOutcome(is_silent=True))
        with use_language(choose_reply_language(search.question, None)):
            return await self._run_active_search(search, run, inbound, scope, questions)

    async def _run_active_search(
        self,
        search: StoredSavedSearch,
        run: SavedSearchRun,
        inbound: Inbound,
        scope: Scope,
        questions: StandaloneQuestions,
    ) -> SearchReport:
        is_member = await self._access.is_audience_member(inbound.person, inbound.audience)
        if is_member is None:  # the chat product does not say: the next run asks again
            return SearchReport(run=SearchRunOutcome(is_silent=True))
        if not is_member:
            return _pause_search(search, run, search_wording.LEFT_CONVERSATION_REASON)
        if search.kind is SavedSearchKind.USAGE_REPORT:
            return await self._post_report(search, run, inbound, scope)
        buckets = frozenset(map(BucketId, search.buckets))
        if not buckets <= scope.buckets:
            return _pause_search(search, run, search_wording.LOST_RIGHTS_REASON)
        index_state = await load_index_state(self._index, scope, buckets)
        if search.plan is None:
            outcome = await questions.ask_question(search.question)
        else:
            outcome = await questions.ask_plan(plan_from_json(dict(search.plan)))
        searches = find_watched_searches(outcome)
        if not searches:
            return _pause_search(search, run, search_wording.NO_SET_REASON)
        watched = await load_watched_documents(self._index.within_scope(scope), searches)
        if isinstance(watched, TooManyDocuments):
            return _pause_search(search, run, search_wording.TOO_MANY_REASON)
        return _compare_with_last(search, run, watched, index_state, outcome)

    async def _post_report(
        self, search: StoredSavedSearch, run: SavedSearchRun, inbound: Inbound, scope: Scope
    ) -> SearchReport:
        """Says what people asked; pauses if the person who wanted it is no admin now."""
        zone = time_zone_of(search.time_zone)
        try:
            text = await self._reports.compose_post(search, run, inbound, scope.buckets, zone)
        except NotAdmin:
            return _pause_search(search, run, LOST_ADMIN_REASON)
        record = RunRecord(position=search.position, due_at=run.due_at, seen={}, index_state="")
        return SearchReport(run=SearchRunOutcome(is_silent=False, record=record), text=text)

    async def record_run(self, record: RunRecord) -> None:
        """Records what a run has found, once its report is posted. A second call changes nothing."""
        await self._store.record_run(record)

    # -- requests

    async def _save_search(
        self, found: "_FoundSearch", schedule: SearchSchedule, inbound: Inbound, turn: TurnId, scope: Scope
    ) -> str:
        searches = find_watched_searches(found.outcome)
        if not searches:
            return translate_message(search_wording.NO_SET_NOTICE)
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
            question=found.question,
            origin=inbound_to_json(inbound),
            buckets=sorted(buckets),
            schedule=format_schedule(schedule),
            time_zone=inbound.time_zone if zone is not UTC else "UTC",
            seen=dict(watched.fingerprints),
            index_state=index_state,
            due_at=next_due_time(schedule, self._now(), zone),
            plan=None if found.plan is None else plan_to_json(found.plan),
        )
        search = await self._store.add_search(new, max_of_person=MAX_SEARCHES_OF_PERSON)
        if search is None:
            return search_wording.describe_limit(MAX_SEARCHES_OF_PERSON)
        is_posted = self._surfaces.outbox_for(inbound.surface) is not None
        return search_wording.describe_creation(search, found.outcome, watched, zone=zone, is_posted=is_posted)

    async def _save_report(self, schedule: SearchSchedule, inbound: Inbound, turn: TurnId) -> str:
        try:
            await self._reports.check_admin(inbound.person)
        except NotAdmin:
            return translate_message(NO_ADMIN_NOTICE)
        zone = time_zone_of(inbound.time_zone)
        new = NewSavedSearch(
            creating_turn=turn,
            surface=inbound.surface,
            conversation=inbound.conversation,
            person=inbound.person,
            question=translate_message(REPORT_NAME),
            origin=inbound_to_json(inbound),
            buckets=[],
            schedule=format_schedule(schedule),
            time_zone=inbound.time_zone if zone is not UTC else "UTC",
            seen={},
            index_state="",
            due_at=next_due_time(schedule, self._now(), zone),
            kind=SavedSearchKind.USAGE_REPORT,
        )
        search = await self._store.add_search(new, max_of_person=MAX_SEARCHES_OF_PERSON)
        if search is None:
            return search_wording.describe_limit(MAX_SEARCHES_OF_PERSON)
        is_posted = self._surfaces.outbox_for(inbound.surface) is not None
        return describe_post_creation(search, zone, is_posted=is_posted)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _FoundSearch:
    """What is to be saved. `plan`: to be asked in place of the question."""

    question: str
    outcome: Outcome
    plan: Plan | None = None


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
    is_shortened = max(len(changes.new), len(changes.changed)) > search_wording.MAX_SHOWN_TITLES
    return SearchReport(
        run=SearchRunOutcome(is_silent=is_silent, record=record),
        text=text,
        outcome=outcome,
        unshown_count=len(watched.fingerprints) if is_shortened and not is_silent else 0,
    )

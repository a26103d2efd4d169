"""What an operator does with the saved searches of all people: list, run, stop and resume them."""

from collections.abc import Awaitable, Callable, Collection, Sequence

from bot.errors import UnknownSavedSearch
from bot.ids import TurnId
from bot.saved_searches.due_searches import run_inbound_of
from bot.saved_searches.saved_searches import time_zone_of
from bot.saved_searches.schedule import ChangeSchedule, next_due_time, parse_schedule
from bot.surface.inbound import Inbound, SavedSearchRun
from bot.surface.json_codec import inbound_from_json
from storage.sql.database import SqlDatabase
from storage.sql.saved_search_store import SavedSearchStatus, SavedSearchStore, StoredSavedSearch


class SavedSearchAdministration:
    """Each call raises what the database raises, and those for one search `UnknownSavedSearch`."""

    def __init__(self, database: SqlDatabase, accept: Callable[[Inbound], Awaitable[TurnId | None]]) -> None:
        self._store, self._now, self._accept = SavedSearchStore(database), database.utc_now, accept

    async def list_searches(self) -> Sequence[StoredSavedSearch]:
        """Those that are not stopped, in the order of their numbers."""
        return await self._store.list_searches()

    async def find_search_of_turn(self, turn: TurnId) -> StoredSavedSearch | None:
        """The search that the turn has saved."""
        return next((search for search in await self._store.list_searches() if search.creating_turn == turn), None)

    async def start_run(self, number: int, *, silent_surfaces: Collection[str]) -> TurnId | None:
        """Starts a run now, due or not. None: it is due now, and a process that serves its surface reports it.

        Returns the turn where nothing else would run it: on one of `silent_surfaces`, to which nothing is posted.
        """
        search, now = await self._load_search(number), self._now()
        if search.surface not in silent_surfaces:
            await self._store.make_due(number, now)
            return None
        await self._reschedule(search)
        run = SavedSearchRun(search=search.position, due_at=now)
        return await self._accept(run_inbound_of(run, inbound_from_json(search.origin), now))

    async def stop_search(self, number: int) -> StoredSavedSearch:
        search = await self._load_search(number)
        await self._store.stop_search(number)
        return search

    async def resume_search(self, number: int) -> StoredSavedSearch:
        """Resumes a paused search; its next report is about everything since its last one."""
        search = await self._load_search(number)
        if search.status is SavedSearchStatus.PAUSED:
            await self._reschedule(search)
        return search

    async def _reschedule(self, search: StoredSavedSearch) -> None:
        schedule = parse_schedule(search.schedule) or ChangeSchedule()
        await self._store.make_due(
            search.position, next_due_time(schedule, self._now(), time_zone_of(search.time_zone))
        )

    async def _load_search(self, number: int) -> StoredSavedSearch:
        search = await self._store.find_search(number)
        if search is None or search.status is SavedSearchStatus.STOPPED:
            raise UnknownSavedSearch(number)
        return search

"""A person's own saved searches, for the overview of a chat product: listed, stopped and resumed by their buttons."""

from dataclasses import dataclass
from datetime import datetime

from bot.errors import EndedSavedSearch, NotYourSavedSearch
from bot.ids import PersonId
from bot.saved_searches.saved_searches import time_zone_of
from bot.saved_searches.schedule import ChangeSchedule, next_due_time, parse_schedule
from storage.sql.database import SqlDatabase
from storage.sql.saved_search_store import SavedSearchStatus, SavedSearchStore, StoredSavedSearch


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSearch:
    """A saved search that is not stopped. `question` is raw text; `due_at` None: it has paused."""

    number: int
    question: str
    schedule: str  # in words
    watches_changes: bool
    due_at: datetime | None


class PersonalSearches:
    """Each call raises what the database raises."""

    def __init__(self, database: SqlDatabase) -> None:
        self._store, self._now = SavedSearchStore(database), database.utc_now

    async def list_searches(self, person: PersonId) -> tuple[OwnSearch, ...]:
        """The person's searches of all conversations, in the order of their numbers."""
        return tuple(map(_own_search_of, await self._store.list_searches(person=person)))

    async def load_search(self, number: int, *, by: PersonId) -> OwnSearch:
        """Raises `EndedSavedSearch`, `NotYourSavedSearch`."""
        return _own_search_of(await self._load_own_search(number, by))

    async def stop_search(self, number: int, *, by: PersonId) -> None:
        """Raises `EndedSavedSearch`, `NotYourSavedSearch`."""
        search = await self._load_own_search(number, by)
        await self._store.stop_search(search.position)

    async def resume_search(self, number: int, *, by: PersonId) -> None:
        """Resumes a search that has paused. Its next report is about everything since its last one.

        Raises `EndedSavedSearch`, `NotYourSavedSearch`.
        """
        search = await self._load_own_search(number, by)
        if search.status is SavedSearchStatus.PAUSED:
            schedule = parse_schedule(search.schedule) or ChangeSchedule()
            due_at = next_due_time(schedule, self._now(), time_zone_of(search.time_zone))
            await self._store.make_due(search.position, due_at)

    async def _load_own_search(self, number: int, by: PersonId) -> StoredSavedSearch:
        search = await self._store.find_search(number)
        if search is None or search.status is SavedSearchStatus.STOPPED:
            raise EndedSavedSearch(number)
        if search.person != by:
            raise NotYourSavedSearch(number)
        return search


def parse_search_number(text: str) -> int | None:
    """The number that a button carries; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def _own_search_of(search: StoredSavedSearch) -> OwnSearch:
    is_paused = search.status is SavedSearchStatus.PAUSED
    return OwnSearch(
        number=search.position,
        question=search.question,
        schedule=search.schedule,
        watches_changes=isinstance(parse_schedule(search.schedule), ChangeSchedule),
        due_at=None if is_paused else search.due_at,
    )

"""The report of usage that an admin has posted: what is said when it is set up, and what composes it.

Like a saved search it is due by the clock, is claimed by one process, and is a turn that exists once for its due time.
"""

from collections.abc import Collection
from datetime import tzinfo
from typing import Final, Protocol

from agent.translation.message_catalogues import mark_message
from bot.ids import PersonId
from bot.saved_searches.schedule import ChangeSchedule, parse_schedule
from bot.saved_searches.search_wording import describe_schedule, format_local_time
from bot.surface.inbound import Inbound, SavedSearchRun
from bot.translation import translate_message
from storage.sql.saved_search_store import StoredSavedSearch

REPORT_NAME: Final = mark_message("What people asked in the last 7 days")
NO_ADMIN_NOTICE: Final = mark_message(
    "Only admins of Parley can have the report posted, and you are not one now. Nothing was saved."
)
LOST_ADMIN_REASON: Final = mark_message("the person who asked for it is no longer an admin")


class ReportSource(Protocol):
    """Raises `NotAdmin` if the person is no admin now, and what the index and the database raise."""

    async def check_admin(self, person: PersonId) -> None: ...

    async def compose_post(
        self, search: StoredSavedSearch, run: SavedSearchRun, inbound: Inbound, buckets: Collection[str], zone: tzinfo
    ) -> str:
        """The post as Markdown, for the readers of the inbound's conversation. Only `buckets` are named."""
        ...


def describe_post_creation(search: StoredSavedSearch, zone: tzinfo, *, is_posted: bool) -> str:
    schedule = parse_schedule(search.schedule) or ChangeSchedule()
    saved = translate_message(
        "I have saved this as **{number}**: I will post the report here {times} ({zone}).",
        number=search.position,
        times=describe_schedule(schedule),
        zone=search.time_zone,
    )
    due = (
        ""
        if search.due_at is None
        else translate_message("The next one is due on {time}.", time=format_local_time(search.due_at, zone))
    )
    note = "" if is_posted else translate_message("Nothing can be posted here.")
    ending = translate_message("To end it, say “stop watching {number}”.", number=search.position)
    return " ".join(filter(None, [saved, due, note, ending]))

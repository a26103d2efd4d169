"""The report of usage as a post: numbers for everybody who reads along, and of people's words only what several used.

Like a saved search it is due by the clock, is claimed by one process, and is a turn that exists once for its due time.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Protocol

from agent.translation.message_catalogues import mark_message
from bot.admin.report_wording import describe_counts, describe_word, list_figures
from bot.ids import PersonId
from bot.saved_searches.schedule import ChangeSchedule, parse_schedule
from bot.saved_searches.search_wording import describe_delay, describe_schedule, format_local_time
from bot.surface.inbound import Audience, OperatorAudience, PrivateAudience, SavedSearchRun
from bot.surface.replies import escape_markdown
from bot.translation import translate_message
from storage.sql.saved_search_store import StoredSavedSearch

if TYPE_CHECKING:
    from datetime import tzinfo

    from bot.admin.usage_report import UsageReport

POSTED_DAYS: Final = 7
REPORT_NAME: Final = mark_message("What people asked in the last 7 days")
NO_ADMIN_NOTICE: Final = mark_message(
    "Only admins of Parley can have the report posted, and you are not one now. Nothing was saved."
)
LOST_ADMIN_REASON: Final = mark_message("the person who asked for it is no longer an admin")
_MAX_WORDS: Final = 5
_MIN_PEOPLE: Final = 2  # who used a word, before others read it in a channel


class ReportSource(Protocol):
    """`bot.admin.admin_page.usage.AdminReports`: raises `NotAdmin` for anybody else."""

    async def load_report(self, days: int, by: PersonId) -> "UsageReport": ...

    async def find_recent_report(self, days: int, by: PersonId) -> "UsageReport | None": ...


def compose_post(
    report: "UsageReport",
    search: StoredSavedSearch,
    run: SavedSearchRun,
    audience: Audience,
    buckets: Collection[str],
    zone: "tzinfo",
) -> str:
    """The post as Markdown. Only `buckets`, which may be seen there, are named."""
    is_private = isinstance(audience, (PrivateAudience, OperatorAudience))
    words = [word for word in report.unknown_words if is_private or word.people >= _MIN_PEOPLE]
    lines = [f"- {escape_markdown(line)}" for line in list_figures(report, buckets)]
    lines += [f"- {escape_markdown(describe_word(word, buckets))}" for word in words[:_MAX_WORDS]]
    parts = [
        f"**{translate_message(REPORT_NAME)}**",
        escape_markdown(describe_counts(report)),
        "\n".join(lines),
        translate_message("Words that no bucket knows can be added as synonyms on the admin page.") if words else "",
        describe_delay(run, zone) if run.missed_count else "",
        translate_message("_To end it, say “stop watching {number}”._", number=search.position),
    ]
    return "\n\n".join(filter(None, parts))


def describe_post_creation(search: StoredSavedSearch, zone: "tzinfo", *, is_posted: bool) -> str:
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

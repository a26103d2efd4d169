"""The report of usage as a post: numbers for all who read along, and of words only those that several people used."""

from collections.abc import Collection
from datetime import tzinfo
from typing import TYPE_CHECKING, Final

from bot.admin.admin_page.usage import AdminReports
from bot.admin.usage.report_wording import describe_counts, describe_word, list_figures
from bot.ids import PersonId
from bot.saved_searches.search_wording import describe_delay
from bot.saved_searches.usage_posts import REPORT_NAME
from bot.surface.inbound import Audience, Inbound, OperatorAudience, PrivateAudience, SavedSearchRun
from bot.surface.replies import escape_markdown
from bot.translation import translate_message
from storage.sql.saved_search_store import StoredSavedSearch

if TYPE_CHECKING:
    from bot.admin.usage.usage_report import UsageReport

POSTED_DAYS: Final = 7
_MAX_WORDS: Final = 5
_MIN_PEOPLE: Final = 2  # who used a word, before others read it in a channel


class ReportPosts:
    """Implements `bot.saved_searches.usage_posts.ReportSource`."""

    def __init__(self, reports: AdminReports) -> None:
        self._reports = reports

    async def check_admin(self, person: PersonId) -> None:
        await self._reports.find_recent_report(POSTED_DAYS, person)

    async def compose_post(
        self, search: StoredSavedSearch, run: SavedSearchRun, inbound: Inbound, buckets: Collection[str], zone: tzinfo
    ) -> str:
        report = await self._reports.load_report(POSTED_DAYS, inbound.person)
        return compose_post(report, search, run, inbound.audience, buckets, zone)


def compose_post(
    report: "UsageReport",
    search: StoredSavedSearch,
    run: SavedSearchRun,
    audience: Audience,
    buckets: Collection[str],
    zone: tzinfo,
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

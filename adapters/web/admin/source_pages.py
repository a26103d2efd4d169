"""The page about sources: where documents come from, and how the last sync of each ended."""

from collections.abc import Sequence
from datetime import timedelta

from adapters.web.admin.layout import PageContext, admin_page, count_text, link_html, table_html, time_html
from adapters.web.html import html_element, join_html
from bot.admin.admin_page.bucket_status import StoredSource


def sources_page(context: PageContext, sources: Sequence[StoredSource]) -> str:
    rows = [_row_of_source(source) for source in sources]
    columns = ("Source", "Place", "Bucket", "Documents", "Last sync", "Next sync")
    table = table_html(count_text(len(rows), "source"), columns, rows, numeric=frozenset({3}))
    none = html_element("p", "There are no sources yet; parley source add folder PATH --bucket NAME adds one.")
    return admin_page(
        context,
        "Sources",
        table if rows else none,
        html_element("p", "parley source sync ID syncs one now; parley source remove ID removes it.", class_="hint"),
    )


def _row_of_source(source: StoredSource) -> Sequence[str]:
    outcome = [html_element("small", source.outcome)] if source.outcome else []
    failure = [html_element("p", source.failure, class_="problem")] if source.failure else []
    interval = [] if source.every is None else [html_element("small", f"every {describe_interval(source.every)}")]
    return (
        source.id,
        join_html(source.location, html_element("small", source.kind)),
        link_html(source.bucket, "/admin/bucket", b=source.bucket),
        f"{source.documents:,}",
        join_html(time_html(source.synced_at, "not yet"), *outcome, *failure),
        join_html(time_html(source.due_at, "only by hand"), *interval),
    )


def describe_interval(interval: timedelta) -> str:
    """Returns "day", "2 hours", "90 minutes"."""
    minutes = max(int(interval.total_seconds()) // 60, 1)
    for noun, size in (("day", 24 * 60), ("hour", 60)):
        if minutes % size == 0:
            number = minutes // size
            return noun if number == 1 else f"{number:,} {noun}s"
    return "minute" if minutes == 1 else f"{minutes:,} minutes"

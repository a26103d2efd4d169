"""The page about sources: where documents come from, how the last sync of each ended, and when the next one is due."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from adapters.web.admin.layout import (
    PageContext,
    admin_page,
    count_text,
    link_html,
    list_html,
    post_form,
    table_html,
    time_html,
)
from adapters.web.html import SafeHtml, html_element, join_html
from bot.admin.admin_page.source_status import SourceStatus

_HINT: Final = (
    "Sync now is done by this server, within a minute. Adding a source, its passwords and its removal are commands of "
    "the operator: parley source --help."
)
_CLOSED_PLACE: Final = "only for who may see the bucket"
_CLOSED_FAILURE: Final = "the last sync did not do all; only who may see the bucket reads why"
_OUTCOME_WORDS: Final = {"done": "complete", "incomplete": "not complete", "refused": "not swept", "failed": "failed"}


def sources_page(context: PageContext, sources: Sequence[SourceStatus]) -> str:
    rows = [_row_of_source(context, source) for source in sources]
    columns = ("Source", "Place", "Bucket", "Documents", "Last sync", "Next sync", "")
    table = table_html(count_text(len(rows), "source"), columns, rows, numeric=frozenset({3}))
    none = html_element("p", "There are no sources yet; parley source add folder PATH --bucket NAME adds one.")
    failures = [f"{source.id}: {_failure_of(source)}" for source in sources if source.has_problem]
    return admin_page(
        context,
        "Sources",
        *([list_html(failures, "problems")] if failures else []),
        table if rows else none,
        html_element("p", _HINT, class_="hint"),
    )


def _row_of_source(context: PageContext, source: SourceStatus) -> Sequence[str]:
    details = [*source.details, *(["its password is sealed"] if source.has_secret else [])]
    outcome = _OUTCOME_WORDS.get(source.outcome, source.outcome)
    notes = [note for note in (outcome, source.changes) if note]
    return (
        join_html(source.id, html_element("small", source.kind)),
        join_html(
            html_element("span", source.place or _CLOSED_PLACE, class_="place" if source.is_readable else "quiet"),
            *(html_element("small", detail, class_="place") for detail in details),
        ),
        link_html(source.bucket, "/admin/bucket", b=source.bucket),
        f"{source.documents:,}",
        join_html(time_html(source.synced_at, "not yet"), *(html_element("small", note) for note in notes)),
        _next_sync_html(source),
        html_element("div", *_buttons_of(context, source), class_="buttons"),
    )


def _failure_of(source: SourceStatus) -> str:
    return source.failure.removeprefix(source.id + ": ") if source.is_readable else _CLOSED_FAILURE


def _next_sync_html(source: SourceStatus) -> SafeHtml:
    interval = "" if source.every is None else f"every {describe_interval(source.every)}"
    if source.is_syncing:
        return join_html("syncing now", html_element("small", "load this page again for the outcome"))
    if source.is_due:
        return join_html("at once", html_element("small", interval))
    if source.is_paused:
        return join_html(html_element("span", "paused", class_="tag doubtful"), html_element("small", interval))
    return join_html(time_html(source.due_at, "only by hand"), html_element("small", interval))


def _buttons_of(context: PageContext, source: SourceStatus) -> list[SafeHtml]:
    buttons = [] if source.is_syncing or source.is_due else [_button_html(context, source, "sync", "Sync now")]
    if source.is_paused:
        return [*buttons, _button_html(context, source, "resume", "Resume")]
    return [*buttons, _button_html(context, source, "pause", "Pause")] if source.every is not None else buttons


def _button_html(context: PageContext, source: SourceStatus, action: str, label: str) -> SafeHtml:
    button = html_element("button", label, type="submit", aria_label=f"{label}: {source.id}")
    return post_form(context.visitor, f"/admin/source/{action}", button, source=source.id)


def describe_interval(interval: timedelta) -> str:
    """Returns "day", "2 hours", "90 minutes"."""
    minutes = max(int(interval.total_seconds()) // 60, 1)
    for noun, size in (("day", 24 * 60), ("hour", 60)):
        if minutes % size == 0:
            number = minutes // size
            return noun if number == 1 else f"{number:,} {noun}s"
    return "minute" if minutes == 1 else f"{minutes:,} minutes"

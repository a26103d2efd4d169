"""The cards of a person's own: what they may ask, what they have asked, and help."""

from datetime import tzinfo
from typing import Final

from adapters.teams.administration.card_parts import (
    MAX_NAME_BYTES,
    action_row,
    admin_action,
    card_activity,
    data_line,
    fit_in_bytes,
    fixed_line,
    heading_part,
    page_actions,
    page_link_action,
    page_note,
    report_action,
)
from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.posting.cards import open_url_action
from adapters.teams.posting.markdown import format_link, safe_web_address
from bot.admin.sentences import (
    CLOSED_EXPORT,
    HELP_SENTENCES,
    INTRODUCTION,
    NO_BUCKETS,
    NO_EXPORTS,
    NO_QUESTIONS,
    NO_SAVED_SEARCHES,
    OPEN_PAGE,
    PAGE_LINK_NOTE,
    count_with_noun,
    ending_label_of,
    export_label_of,
    format_local_time,
)
from bot.conversation.personal_history import PastExport, PersonalOverview, VisibleBucket

OWN_BUCKETS_PER_PAGE, BUCKETS_IN_HELP = 8, 4
_LIST_END: Final = "There are no more. Send “buckets” to see the list from its beginning."
_WHERE_TO_ASK: Final = (
    "Write to me here, or mention me in a channel or a group chat: there I answer from what it may see."
)


def help_card(overview: PersonalOverview, zone: tzinfo, *, is_admin: bool) -> JsonObject:
    body = [
        heading_part("Parley"),
        fixed_line(INTRODUCTION),
        heading_part("What you may ask"),
        *([_bucket_line(bucket) for bucket in overview.buckets] or [fixed_line(NO_BUCKETS)]),
        *_more_buckets_note(overview),
        heading_part("Your recent questions"),
        *_question_lines(overview, zone),
        heading_part("Your exports"),
        *([_export_line(export, zone) for export in overview.exports] or [fixed_line(NO_EXPORTS)]),
        heading_part("Your saved searches"),
        fixed_line(_count_searches(overview)),
        heading_part("Help"),
        *[fixed_line(f"- {sentence}") for sentence in (_WHERE_TO_ASK, *HELP_SENTENCES)],
    ]
    body.append(action_row(admin_action("What you may ask", "buckets"), admin_action("Saved searches", "saved")))
    body += [action_row(report_action(), page_link_action())] if is_admin else []
    return card_activity(body, summary="Help", actions=administration_actions() if is_admin else [])


def own_buckets_card(overview: PersonalOverview, first: int) -> JsonObject:
    pager = (first, OWN_BUCKETS_PER_PAGE, overview.bucket_count)
    ending = _LIST_END if first and overview.bucket_count else NO_BUCKETS
    body = [
        heading_part("What you may ask"),
        *([_bucket_line(bucket) for bucket in overview.buckets] or [fixed_line(ending)]),
        *(page_note(*pager) if overview.buckets else []),
    ]
    actions = [*page_actions("buckets", *pager), admin_action("Overview", "help")]
    return card_activity(body, summary="What you may ask", actions=actions)


def page_link_card(link: str) -> JsonObject:
    """The link to the admin page, for the one person of this chat."""
    body = [heading_part("Admin page"), fixed_line(PAGE_LINK_NOTE)]
    return card_activity(
        body, summary="Admin page", actions=[open_url_action(OPEN_PAGE, link), admin_action("Overview", "help")]
    )


def administration_actions() -> list[JsonObject]:
    """The buttons to the parts of the administration that are changed here."""
    return [
        admin_action("Grants", "grants"),
        admin_action("Admins", "admins"),
        admin_action("Limits", "limits"),
        admin_action("Questions", "questions"),
        admin_action("Changes", "changes"),
    ]


def _bucket_line(bucket: VisibleBucket) -> JsonObject:
    description = [bucket.description] if bucket.description.strip() else []
    return data_line(
        count_with_noun(bucket.documents, "document"),
        *description,
        f"For example: {bucket.example}",
        title=bucket.title,
    )


def _count_searches(overview: PersonalOverview) -> str:
    count, paused = len(overview.saved_searches), sum(search.due_at is None for search in overview.saved_searches)
    if not count:
        return NO_SAVED_SEARCHES
    return count_with_noun(count, "saved search", "saved searches") + (f", {paused} paused" if paused else "")


def _more_buckets_note(overview: PersonalOverview) -> list[JsonObject]:
    more = overview.bucket_count - len(overview.buckets)
    return [fixed_line(f"and {more:,} more")] if overview.buckets and more > 0 else []


def _question_lines(overview: PersonalOverview, zone: tzinfo) -> list[JsonObject]:
    lines = [
        data_line(question.text, f"{ending_label_of(question)} · {format_local_time(question.asked_at, zone)}")
        for question in overview.questions
    ]
    return lines or [fixed_line(NO_QUESTIONS)]


def _export_line(export: PastExport, zone: tzinfo) -> JsonObject:
    asked_at = format_local_time(export.asked_at, zone)
    if export.name is None:
        return data_line("A file", asked_at, CLOSED_EXPORT)
    rows = [] if export.rows is None else [count_with_noun(export.rows, "row")]
    address = safe_web_address(export.url)
    if address is None or export.expires_at is None:
        return data_line(*rows, asked_at, export_label_of(export), title=export.name, max_bytes=MAX_NAME_BYTES)
    link = format_link(fit_in_bytes(export.name, MAX_NAME_BYTES), address)
    until = f"until {format_local_time(export.expires_at, zone)}"
    return fixed_line(" · ".join([link, *rows, asked_at, until]))

"""The Home tab: a person's buckets, questions, exports and saved searches; for admins, the administration below."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from adapters.slack.home.blocks import (
    MAX_LINE_UNITS,
    actions_block,
    bullet_list_block,
    button_element,
    context_note_block,
    divider_block,
    fit_on_one_line,
    header_block,
    link_element,
    mrkdwn_section_block,
    pager_blocks,
    plain_lines_block,
    rich_text_element,
    subject_as_mrkdwn,
    trusted_text_element,
)
from adapters.slack.home.report_blocks import report_blocks
from adapters.slack.home.schema_modal import OPEN_SCHEMA_ACTION
from adapters.slack.posting.render import Block, Json
from bot.admin.administration import AdminEntry, AdminOverview, BucketOverview
from bot.admin.sentences import (
    CLOSED_EXPORT,
    HELP_SENTENCES,
    INTRODUCTION,
    NO_ADMINS,
    NO_BUCKETS,
    NO_BUCKETS_AT_ALL,
    NO_EXPORTS,
    NO_QUESTIONS,
    NO_SAVED_SEARCHES,
    STOP_SEARCH_WARNING,
    count_with_noun,
    describe_bucket,
    describe_limits,
    describe_saved_search,
    describe_sync,
    ending_label_of,
    export_label_of,
    format_local_time,
    opaque_key_of,
)
from bot.conversation.personal_history import PastExport, PastQuestion, PersonalOverview, VisibleBucket
from bot.ids import Subject
from bot.saved_searches.personal_searches import OwnSearch

if TYPE_CHECKING:
    from bot.admin.usage.usage_report import UsageReport

OWN_BUCKETS_PER_PAGE, ALL_BUCKETS_PER_PAGE, ADMINS_SHOWN, QUESTIONS_SHOWN = 12, 12, 20, 5
SAVED_SEARCHES_PER_PAGE: Final = 8
_MAX_RULES: Final = 4  # about how long documents are kept, of one bucket
MAX_NAMES_UNITS: Final = 2_900  # UTF-16 units of all names together; a section takes 3,000


@dataclass(frozen=True, slots=True)
class HomePages:
    """The first entry shown of the person's buckets, of all buckets, and of the saved searches."""

    own_first: int = 0
    all_first: int = 0
    saved_first: int = 0

    @classmethod
    def parse_button_value(cls, value: str) -> "HomePages":
        """Parse the value of a button; the first pages if it is invalid."""
        parts = value.split(":")
        if len(parts) not in (2, 3) or not all(part.isascii() and part.isdigit() and len(part) < 7 for part in parts):
            return cls()
        return cls(*map(int, parts))


def home_tab_view(
    history: PersonalOverview,
    overview: AdminOverview | None,
    pages: HomePages,
    zone: tzinfo,
    account_ids: frozenset[str],
    *,
    report: "UsageReport | None" = None,
    retention: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Mapping[str, Json]:
    """Returns the Home tab. `overview`, `report` and `retention`: for admins only; the report may follow later.

    `retention`: lines about how long documents are kept, by bucket. `account_ids`: those of this installation.
    """
    blocks = [
        header_block("Parley"),
        plain_lines_block(INTRODUCTION),
        *_own_bucket_blocks(history, pages),
        *_recent_question_blocks(history, zone),
        *_past_export_blocks(history, zone),
        *_saved_search_blocks(history.saved_searches, pages, zone),
        header_block("Help"),
        _help_block(),
    ]
    if overview is not None:
        blocks += [divider_block(), *_administration_blocks(overview, report, pages, zone, account_ids, retention)]
    return {"type": "home", "callback_id": "home", "blocks": blocks}


def _own_bucket_blocks(history: PersonalOverview, pages: HomePages) -> list[Block]:
    if not history.buckets:
        return [header_block("What you may ask"), plain_lines_block(_no_buckets_text(history, pages))]
    bucket_blocks = [bullet_list_block([_visible_bucket_elements(bucket)]) for bucket in history.buckets]
    pager = pager_blocks(
        "home:mine",
        pages.own_first,
        OWN_BUCKETS_PER_PAGE,
        history.bucket_count,
        f"{{}}:{pages.all_first}:{pages.saved_first}",
    )
    return [header_block("What you may ask"), *bucket_blocks, *pager]


def _no_buckets_text(history: PersonalOverview, pages: HomePages) -> str:
    if pages.own_first and history.bucket_count:
        return "There are no more. Open this tab again to see the list from its beginning."
    return NO_BUCKETS


def _visible_bucket_elements(bucket: VisibleBucket) -> list[Json]:
    description = [rich_text_element(bucket.description, 200)] if bucket.description.strip() else []
    return [
        rich_text_element(bucket.title, 120, bold=True),
        trusted_text_element(f" · {count_with_noun(bucket.documents, 'document')}"),
        *([trusted_text_element("\n"), *description] if description else []),
        trusted_text_element("\nFor example: "),
        rich_text_element(bucket.example, 150),
    ]


def _recent_question_blocks(history: PersonalOverview, zone: tzinfo) -> list[Block]:
    if not history.questions:
        return [header_block("Your recent questions"), plain_lines_block(NO_QUESTIONS)]
    items = [
        [
            rich_text_element(question.text, 150),
            trusted_text_element(f" · {ending_label_of(question)} · {format_local_time(question.asked_at, zone)}"),
        ]
        for question in history.questions
    ]
    return [header_block("Your recent questions"), bullet_list_block(items)]


def _past_export_blocks(history: PersonalOverview, zone: tzinfo) -> list[Block]:
    if not history.exports:
        return [
            header_block("Your exports"),
            plain_lines_block(NO_EXPORTS),
        ]
    return [
        header_block("Your exports"),
        bullet_list_block([_past_export_elements(export, zone) for export in history.exports]),
    ]


def _past_export_elements(export: PastExport, zone: tzinfo) -> list[Json]:
    asked_at = f" · {format_local_time(export.asked_at, zone)} · "
    if export.name is None:
        return [rich_text_element("A file"), trusted_text_element(f"{asked_at}{CLOSED_EXPORT}")]
    rows = "" if export.rows is None else f" · {count_with_noun(export.rows, 'row')}"
    name_elements: list[Json] = [
        rich_text_element(export.name, 120, bold=True),
        trusted_text_element(f"{rows}{asked_at}"),
    ]
    if export.url is None or export.expires_at is None:
        return [*name_elements, trusted_text_element(export_label_of(export))]
    until = trusted_text_element(f" until {format_local_time(export.expires_at, zone)}")
    return [*name_elements, link_element(export.url, "Download"), until]


def _saved_search_blocks(searches: Sequence[OwnSearch], pages: HomePages, zone: tzinfo) -> list[Block]:
    if not searches:
        return [header_block("Your saved searches"), plain_lines_block(NO_SAVED_SEARCHES)]
    first = pages.saved_first if pages.saved_first < len(searches) else 0
    page = searches[first : first + SAVED_SEARCHES_PER_PAGE]
    value_template = f"{pages.own_first}:{pages.all_first}:{{}}"
    return [
        header_block("Your saved searches"),
        *[block for search in page for block in _saved_search_entry(search, zone)],
        *pager_blocks("home:saved", first, SAVED_SEARCHES_PER_PAGE, len(searches), value_template),
    ]


def _saved_search_entry(search: OwnSearch, zone: tzinfo) -> list[Block]:
    """Returns the question with its state. One that has paused can go on or end, any other one can end."""
    number = str(search.number)
    stop = button_element("Stop", "home:saved:stop", number, confirm=STOP_SEARCH_WARNING, style="danger")
    lines = (search.question, describe_saved_search(search, zone))
    if search.due_at is not None:
        return [plain_lines_block(*lines, accessory=stop)]
    return [plain_lines_block(*lines), actions_block([button_element("Resume", "home:saved:resume", number), stop])]


def _help_block() -> Block:
    sentences = (
        "Write to me in the Messages tab, or mention me in a channel: there I answer from what the channel may see.",
        *HELP_SENTENCES,
    )
    return bullet_list_block([[rich_text_element(sentence)] for sentence in sentences])


# -- for admins


def _administration_blocks(
    overview: AdminOverview,
    report: "UsageReport | None",
    pages: HomePages,
    zone: tzinfo,
    account_ids: frozenset[str],
    retention: Mapping[str, Sequence[str]],
) -> list[Block]:
    page = overview.buckets[pages.all_first : pages.all_first + ALL_BUCKETS_PER_PAGE]
    bucket_blocks = [_managed_bucket_block(bucket, zone, retention.get(bucket.id, ())) for bucket in page]
    bucket_blocks = bucket_blocks or [plain_lines_block(NO_BUCKETS_AT_ALL)]
    return [
        header_block("Administration: buckets"),
        *bucket_blocks,
        *pager_blocks(
            "home:all",
            pages.all_first,
            ALL_BUCKETS_PER_PAGE,
            len(overview.buckets),
            f"{pages.own_first}:{{}}:{pages.saved_first}",
        ),
        header_block("Administration: admins"),
        mrkdwn_section_block(
            _admin_names_mrkdwn(overview.admins, account_ids), button_element("Change", "admin:admins", "open")
        ),
        header_block("Administration: limits"),
        plain_lines_block(
            *describe_limits(overview.limits), accessory=button_element("Change", "admin:limits", "open")
        ),
        *report_blocks(report),
        header_block("Administration: questions of the last 30 days"),
        *_past_question_blocks("Without an answer", overview.unanswered),
        *_past_question_blocks("Rated badly", overview.rated_badly),
        actions_block(
            [
                button_element("Show more questions", "admin:questions", "open"),
                button_element("Show changes", "admin:changes", "open"),
                button_element("Change a schema", OPEN_SCHEMA_ACTION, "open"),
                button_element("Open in the browser", "admin:browser", "open"),
            ]
        ),
    ]


def _managed_bucket_block(bucket: BucketOverview, zone: tzinfo, retention: Sequence[str]) -> Block:
    return plain_lines_block(
        *bucket_lines(bucket, zone),
        *retention[:_MAX_RULES],
        accessory=button_element("Grants", "admin:bucket", opaque_key_of(bucket.id)),
    )


def bucket_lines(bucket: BucketOverview, zone: tzinfo) -> list[str]:
    """Returns the bucket's title, a line with its counts, and what is said of its syncs, on one line if it fits."""
    short_title = fit_on_one_line(bucket.title, 120)
    title = (
        short_title
        if bucket.title.casefold() == bucket.id.casefold()
        else f"{short_title} ({fit_on_one_line(bucket.id, 100)})"
    )
    sync = describe_sync(bucket, zone)
    line = " · ".join(sync)
    return [title, describe_bucket(bucket), *(sync if len(line) > MAX_LINE_UNITS else [line])]


def _admin_names_mrkdwn(admins: Sequence[AdminEntry], account_ids: frozenset[str]) -> str:
    if not admins:
        return NO_ADMINS
    names = _names_within_section(
        [subject_as_mrkdwn(Subject(f"user:{admin.person}"), account_ids) for admin in admins[:ADMINS_SHOWN]]
    )
    more = f" and {len(admins) - len(names):,} more" if len(admins) > len(names) else ""
    return ", ".join(names) + more


def _names_within_section(names: Sequence[str]) -> Sequence[str]:
    """Returns the first names that fit. Slack's names are short; those from the settings may be long."""
    ends = accumulate(len(name.encode("utf-16-le")) // 2 + len(", ") for name in names)
    return names[: sum(name_end <= MAX_NAMES_UNITS for name_end in ends)]


def _past_question_blocks(title: str, questions: Sequence[PastQuestion]) -> list[Block]:
    if not questions:
        return [context_note_block(f"{title}: none")]
    return [
        context_note_block(f"{title}, the newest first"),
        bullet_list_block([past_question_elements(question) for question in questions]),
    ]


def past_question_elements(question: PastQuestion) -> list[Json]:
    """Returns a past question for admins, without the asker's name."""
    reason = f" · {fit_on_one_line(question.reason, 100)}" if question.reason.strip() else ""
    return [rich_text_element(question.text, 120), trusted_text_element(f" · {ending_label_of(question)}{reason}")]

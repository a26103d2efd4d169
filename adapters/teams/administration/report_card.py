"""The card of the report of usage, for admins: short, in the language of the reply."""

from typing import TYPE_CHECKING, Final

from adapters.teams.administration.card_parts import (
    action_row,
    admin_action,
    card_activity,
    data_line,
    fixed_line,
    heading_part,
    page_link_action,
)
from adapters.teams.payloads.json_values import JsonObject
from bot.admin.usage.report_wording import describe_counts, describe_group, describe_word, list_figures
from bot.translation import translate_message

if TYPE_CHECKING:
    from bot.admin.usage.usage_report import UsageReport

REPORT_DAYS_SHOWN: Final = 30
GROUPS_SHOWN, WORDS_SHOWN = 5, 5
_MAX_FIGURE_BYTES: Final = 600


def report_card(report: "UsageReport") -> JsonObject:
    title = translate_message("Usage report of the last {days} days", days=report.days)
    body = [
        heading_part(f"Administration: {title}"),
        data_line(describe_counts(report), max_bytes=_MAX_FIGURE_BYTES),
        *(data_line(figure, max_bytes=_MAX_FIGURE_BYTES) for figure in list_figures(report)),
    ]
    if report.nothing_found:
        body.append(heading_part(translate_message("Nothing was found, the questions of most people first")))
        body += [data_line(describe_group(group)) for group in report.nothing_found[:GROUPS_SHOWN]]
    if report.unknown_words:
        body.append(heading_part(translate_message("Words that no bucket knows")))
        body += [data_line(describe_word(word)) for word in report.unknown_words[:WORDS_SHOWN]]
        body.append(
            fixed_line(translate_message("Words that no bucket knows can be added as synonyms on the admin page."))
        )
    if not report.is_complete:
        body.append(
            fixed_line(translate_message("There are more questions than are read one by one; this is of the newest."))
        )
    body.append(action_row(page_link_action()))
    return card_activity(body, summary="Administration: report", actions=[admin_action("Back", "grants")])

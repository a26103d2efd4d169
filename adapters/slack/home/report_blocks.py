"""The report in the Home tab of an admin: short, with a button for each word that no bucket knows."""

from typing import TYPE_CHECKING, Final

from adapters.slack.home.blocks import (
    actions_block,
    bullet_list_block,
    button_element,
    context_note_block,
    header_block,
    plain_lines_block,
    rich_text_element,
)
from adapters.slack.home.post_modal import POST_ACTION
from adapters.slack.posting.render import Block
from bot.admin.schema_synonyms import MAX_SYNONYM_CHARS
from bot.admin.usage.report_wording import describe_counts, describe_group, describe_word, list_figures

if TYPE_CHECKING:
    from bot.admin.usage.usage_report import UnknownWord, UsageReport

REPORT_DAYS_SHOWN: Final = 30
GROUPS_SHOWN, WORDS_SHOWN = 3, 3
SYNONYM_ACTION: Final = "report:synonym"
REPORT_PENDING: Final = "The report is being counted; it will be here in a moment."


def report_blocks(report: "UsageReport | None") -> list[Block]:
    """`report` None: it is being loaded."""
    heading = header_block(f"Administration: report of the last {REPORT_DAYS_SHOWN} days")
    if report is None:
        return [heading, context_note_block(REPORT_PENDING)]
    blocks = [heading, plain_lines_block(describe_counts(report))]
    if figures := list_figures(report):
        blocks.append(bullet_list_block([[rich_text_element(figure)] for figure in figures]))
    if report.nothing_found:
        groups = [[rich_text_element(describe_group(group))] for group in report.nothing_found[:GROUPS_SHOWN]]
        blocks += [
            context_note_block("Nothing was found, the questions of most people first"),
            bullet_list_block(groups),
        ]
    if report.unknown_words:
        blocks.append(context_note_block("Words that no bucket knows"))
        blocks += [_word_block(word) for word in report.unknown_words[:WORDS_SHOWN]]
    if not report.is_complete:
        blocks.append(context_note_block("There are more questions than are read one by one; this is of the newest."))
    return [*blocks, actions_block([button_element("Post it every week", POST_ACTION, "open")])]


def _word_block(word: "UnknownWord") -> Block:
    button = button_element("Add as synonym", SYNONYM_ACTION, word.word)
    return plain_lines_block(describe_word(word), accessory=button if len(word.word) <= MAX_SYNONYM_CHARS else None)

"""A comparison of answers before and after a change of a schema, in sentences for an admin."""

from typing import TYPE_CHECKING

from bot.admin.sentences import count_with_noun

if TYPE_CHECKING:
    from bot.admin.admin_page.question_comparison import AnswerComparison


def describe_comparison(comparison: "AnswerComparison") -> list[str]:
    """The comparison in sentences, for an admin."""
    if not comparison.total:
        return ["Nothing was asked in the last 30 days, so there is nothing to compare."]
    named = {
        "{:,} would find something now": comparison.finds_something,
        "{:,} would find nothing any more": comparison.finds_nothing,
        "{:,} would find more documents": comparison.finds_more,
        "{:,} would find fewer documents": comparison.finds_fewer,
        "{:,} would be answered in other words or with other choices": comparison.differs_otherwise,
    }
    parts = [text.format(count) for text, count in named.items() if count]
    listed = f": {', '.join(parts)}" if parts else ""
    of = f" (of {comparison.total:,} different ones)" if comparison.total > comparison.asked else ""
    lines = [
        f"Asked again, {comparison.changed_count:,} of {count_with_noun(comparison.asked, 'question')} of the last "
        f"30 days{of} would be answered differently{listed}."
    ]
    return lines + [f"“{text}” found nothing, and would find something." for text in comparison.examples]

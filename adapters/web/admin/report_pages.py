"""The pages about usage: the report with its pictures, and a synonym that is counted before it is added."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from adapters.web.admin.layout import (
    PageContext,
    address_of,
    admin_page,
    count_text,
    link_html,
    list_html,
    post_form,
    section_html,
    table_html,
    time_html,
)
from adapters.web.html import SafeHtml, html_element, join_html
from adapters.web.render import picture_html
from bot.admin.admin_page.synonym_targets import SynonymTargets
from bot.admin.admin_page.usage import REPORT_DAYS
from bot.admin.schema_synonyms import MAX_SYNONYM_CHARS
from bot.admin.sentences import describe_likeness, describe_meaning, label_of_ending
from bot.admin.usage.report_wording import label_of_choice
from bot.conversation.reasoning_record import label_of_stage
from bot.surface.replies import PicturePart

if TYPE_CHECKING:
    from bot.admin.schema_synonyms import SynonymPreview
    from bot.admin.usage.usage_report import QuestionGroup, SynonymSuggestion, UnknownWord, UsageReport

_MAX_WORDINGS = 3
_MAX_OPTIONS = 100  # of a menu
_MAX_VALUE_CHARACTERS = "300"
_NO_TARGETS = "No bucket is granted to you, so you cannot say here what a word stands for. Grant yourself one first."


def report_page(context: PageContext, report: "UsageReport", pictures: Mapping[str, PicturePart]) -> str:
    days = [
        html_element(
            "a",
            count_text(number, "day"),
            href=address_of("/admin/report", days=str(number)),
            aria_current="page" if number == report.days else None,
        )
        for number in REPORT_DAYS
    ]
    return admin_page(
        context,
        "What people asked",
        html_element("nav", *days, class_="pages", aria_label="How far to look back"),
        html_element("p", _summary_of(report)),
        html_element(
            "div", *(_figure_html(name, part, report.days) for name, part in pictures.items()), class_="figures"
        ),
        *_sections_of(report),
    )


def synonym_page(context: PageContext, preview: "SynonymPreview", comparison: Sequence[str] = ()) -> str:
    """Returns the page that says what a synonym would find, with the button that adds it. `comparison`: what it would
    change in answers.
    """
    meaning = describe_meaning(preview.field, preview.value)
    mentioned = count_text(preview.mention_count, "document") if preview.mention_count else "no document"
    mentions = f" In texts, the word stands in {mentioned}."
    found = f"“{preview.word}” as {meaning} would find {count_text(preview.document_count, 'document')}."
    return admin_page(
        context,
        f"“{preview.word}” as a synonym",
        html_element("p", found, mentions),
        list_html(comparison, "comparison")
        if comparison
        else html_element("p", _comparison_link(preview), class_="hint"),
        post_form(
            context.visitor,
            "/admin/synonym",
            html_element("button", "Add as synonym", type="submit", class_="main"),
            b=preview.bucket,
            field=preview.field,
            word=preview.word,
            value=preview.value or "",
        ),
        html_element("p", "The next question uses it, in every process.", class_="hint"),
        trail=[("/admin/report", "What people asked")],
    )


def synonym_choice_page(context: PageContext, targets: SynonymTargets, word: str, bucket: str, field: str) -> str:
    """Returns the page on which an admin says what a word stands for: the bucket, then the field, then the value. The
    last form leads to the page that counts.
    """
    labels = {bucket_id: f"{label} ({bucket_id})" for bucket_id, label in targets.bucket_labels.items()}
    fields = {each.name: f"{each.label} ({each.kind})" for each in targets.list_fields(bucket)}
    named = {"word": word}
    parts = [_choice_form("Bucket", "b", labels, bucket, "Show its fields", "/admin/synonym/choose", named)]
    if bucket in labels:
        named["b"] = bucket
        parts.append(_choice_form("Field", "field", fields, field, "Show its values", "/admin/synonym/choose", named))
    if field in fields:
        named["field"] = field
        parts += _value_forms(targets.list_values(bucket, field), named)
    return admin_page(
        context,
        f"“{word}” stands for",
        *(parts if labels else [html_element("p", _NO_TARGETS)]),
        html_element("p", "What it would find is counted before it is added.", class_="hint"),
        trail=[("/admin/report", "What people asked")],
    )


def _value_forms(values: Sequence[str], named: Mapping[str, str]) -> list[SafeHtml]:
    """The form of a value, typed where there are too many to choose from, and that of a word for the field itself."""
    forms: list[SafeHtml] = []
    if len(values) > _MAX_OPTIONS:
        box = html_element("input", id="choice-value", name="value", required=True, maxlength=_MAX_VALUE_CHARACTERS)
        forms.append(_synonym_form([_choice_label("Value, as documents write it", "value"), box], "Count", named))
    elif values:
        shown = dict(zip(values, values, strict=True))
        forms.append(_choice_form("Value", "value", shown, "", "Count", "/admin/synonym", named))
    forms.append(_synonym_form([], "It is another name of the field itself: count", named))
    return forms


def _choice_form(
    label: str, name: str, options: Mapping[str, str], chosen: str, press: str, action: str, named: Mapping[str, str]
) -> SafeHtml:
    """A menu with a button. Nothing is chosen where `chosen` is no option."""
    placeholder = html_element("option", f"Choose the {label.lower()}", value="", selected=chosen not in options)
    choices = [html_element("option", text, value=value, selected=value == chosen) for value, text in options.items()]
    menu = html_element("select", placeholder, *choices, id=f"choice-{name}", name=name, required=True)
    return _synonym_form([_choice_label(label, name), menu], press, named, action)


def _choice_label(label: str, name: str) -> SafeHtml:
    return html_element("label", label, for_=f"choice-{name}")


def _synonym_form(
    content: Sequence[SafeHtml], press: str, named: Mapping[str, str], action: str = "/admin/synonym"
) -> SafeHtml:
    """A form that only leads on. `named`: what is chosen already."""
    hidden = [html_element("input", type="hidden", name=name, value=value) for name, value in named.items()]
    button = html_element("button", press, type="submit")
    return html_element("form", *hidden, *content, button, method="get", action=action, class_="fields")


def _comparison_link(preview: "SynonymPreview") -> SafeHtml:
    return link_html(
        "Ask last month's questions again, with the synonym",
        "/admin/synonym",
        b=preview.bucket,
        field=preview.field,
        word=preview.word,
        value=preview.value or "",
        ask="yes",
    )


def _summary_of(report: "UsageReport") -> str:
    counts = report.counts
    if not counts.asked:
        return f"Nothing was asked in the last {count_text(report.days, 'day')}."
    parts = {
        "answered": counts.answered,
        "asked back": counts.asked_back,
        "nothing found": counts.nothing_found,
        "refused": counts.refused,
        "failed": counts.failed,
        "stopped, edited or put off": counts.other,
        "clicks": report.clicks,
    }
    listed = ", ".join(f"{count:,} {name}" for name, count in parts.items() if count)
    more = (
        "" if report.is_complete else " There are more questions than are read one by one; the lists are of the newest."
    )
    asked, people = count_text(counts.asked, "question"), _people_text(report.people)
    return f"The last {count_text(report.days, 'day')}: {asked} of {people}: {listed}.{more}"


def _sections_of(report: "UsageReport") -> Iterable[SafeHtml]:
    if report.nothing_found:
        rows = [_row_of_group(group) for group in report.nothing_found]
        columns = ("Question", "Times", "People", "Unknown words")
        yield section_html(
            "Nothing was found", table_html("Questions about the same", columns, rows, numeric=frozenset({1, 2}))
        )
    if report.unknown_words:
        rows = [_row_of_word(word) for word in report.unknown_words]
        columns = ("Word", "Questions", "People", "What it may mean")
        table = table_html(
            "In questions that found nothing or were asked back", columns, rows, numeric=frozenset({1, 2})
        )
        yield section_html("Words that no bucket knows", table, id_="words")
    if report.rated_badly:
        rows = [
            (rating.question, rating.reason or "–", time_html(rating.given_at, "")) for rating in report.rated_badly
        ]
        yield section_html(
            "Rated badly", table_html(count_text(len(rows), "rating"), ("Question", "Reason", "When"), rows)
        )
    if report.choices:
        rows = [(label_of_choice(use.kind), f"{use.offered:,}", f"{use.clicked:,}") for use in report.choices]
        columns = ("Choice", "Offered", "Clicked")
        yield section_html("Choices", table_html("By kind", columns, rows, numeric=frozenset({1, 2})))
    if report.slowest:
        yield section_html("The slowest", _slowest_table(report))
    if report.costs:
        yield section_html("Models, by group", _costs_table(report))
    if report.web_costs:
        yield section_html("Web searches, by group", _web_costs_table(report))
    if report.buckets:
        rows = [
            (link_html(bucket, "/admin/bucket", b=bucket), f"{count:,}") for bucket, count in report.buckets.items()
        ]
        table = table_html("Questions that found something", ("Bucket", "Questions"), rows, numeric=frozenset({1}))
        yield section_html("Buckets", table)
    if report.unasked_buckets:
        links = [link_html(bucket, "/admin/bucket", b=bucket) for bucket in report.unasked_buckets]
        yield section_html("Buckets that nobody found anything in", list_html(links))


def _slowest_table(report: "UsageReport") -> SafeHtml:
    rows = [
        (
            join_html(time_html(slow.asked_at, ""), html_element("small", f"turn {slow.turn}")),
            label_of_ending(slow.ending),
            f"{slow.seconds:,.1f}",
            f"{label_of_stage(slow.slowest_stage)} ({slow.stage_ms:,.0f} ms)" if slow.slowest_stage else "–",
        )
        for slow in report.slowest
    ]
    columns = ("Asked", "Ending", "Seconds", "Longest step")
    return table_html("From the receipt to the end", columns, rows, numeric=frozenset({2}))


def _costs_table(report: "UsageReport") -> SafeHtml:
    rows = [
        (
            cost.model,
            cost.group,
            f"{cost.calls:,}",
            f"{cost.input_tokens:,}",
            f"{cost.output_tokens:,}",
            f"${cost.cost_usd:.4f}",
            f"{cost.unpriced_calls:,}",
        )
        for cost in report.costs
    ]
    columns = ("Model", "Group", "Calls", "Tokens in", "Tokens out", "Cost", "Without a price")
    return table_html("A person in two groups counts in both", columns, rows, numeric=frozenset({2, 3, 4, 5, 6}))


def _web_costs_table(report: "UsageReport") -> SafeHtml:
    rows = [
        (
            cost.group,
            f"{cost.searches:,}",
            f"{cost.requests:,}",
            f"{cost.pages:,}",
            f"{cost.bytes_read / 1_000_000:,.1f}",
        )
        for cost in report.web_costs
    ]
    columns = ("Group", "Questions", "Requests", "Pages fetched", "Megabytes")
    caption = "Requests to the search server, and what was fetched; a person in two groups counts in both"
    return table_html(caption, columns, rows, numeric=frozenset({1, 2, 3, 4}))


def _row_of_group(group: "QuestionGroup") -> Sequence[str]:
    more = len(group.questions) - _MAX_WORDINGS
    wordings = [html_element("span", f"“{question}”", class_="wording") for question in group.questions[:_MAX_WORDINGS]]
    rest = [html_element("small", f"and {more:,} more")] if more > 0 else []
    return join_html(*wordings, *rest), f"{group.count:,}", f"{group.people:,}", ", ".join(group.words) or "–"


def _row_of_word(word: "UnknownWord") -> Sequence[str]:
    where = [html_element("small", f"in {', '.join(word.buckets)}")] if word.buckets else []
    suggestions = [_suggestion_html(word.word, suggestion) for suggestion in word.suggestions]
    meaning = [list_html(suggestions, "suggestions")] if suggestions else []
    if len(word.word) <= MAX_SYNONYM_CHARS:
        meaning.append(_choice_button(word))
    return (
        join_html(f"“{word.word}”", *where),
        f"{word.questions:,}",
        f"{word.people:,}",
        join_html(*meaning) if meaning else "–",
    )


def _choice_button(word: "UnknownWord") -> SafeHtml:
    """Leads to the choice of what the word stands for, first in the bucket in which it was asked."""
    named = {"word": word.word} | ({"b": word.buckets[0]} if word.buckets else {})
    hidden = [html_element("input", type="hidden", name=name, value=value) for name, value in named.items()]
    button = html_element("button", "Add as synonym", type="submit", aria_label=f"Add as synonym: {word.word}")
    return html_element("form", *hidden, button, method="get", action="/admin/synonym/choose")


def _suggestion_html(word: str, suggestion: "SynonymSuggestion") -> SafeHtml:
    reason = describe_likeness(suggestion.clicks, suggestion.likeness)
    link = link_html(
        describe_meaning(suggestion.field, suggestion.value),
        "/admin/synonym",
        b=suggestion.bucket,
        field=suggestion.field,
        word=word,
        value=suggestion.value,
    )
    return join_html(link, html_element("small", f"in {suggestion.bucket}, {reason}"))


def _figure_html(name: str, picture: PicturePart, days: int) -> SafeHtml:
    return picture_html(picture, address_of("/admin/picture", days=str(days), name=name))


def _people_text(people: int) -> str:
    return "1 person" if people == 1 else f"{people:,} people"

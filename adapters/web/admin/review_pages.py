"""The page on which unsure values are reviewed: each beside its evidence, to be accepted or corrected."""

from collections.abc import Sequence
from typing import Final

from adapters.web.admin.layout import (
    PageContext,
    address_of,
    admin_page,
    count_text,
    link_html,
    list_html,
    section_html,
    table_html,
)
from adapters.web.admin.value_forms import accept_form, correct_form, decision_html, withdraw_form
from adapters.web.html import SafeHtml, html_element
from bot.admin.admin_page.bucket_contents import UNSURE_BELOW, ReviewedBucket, UnsureValue
from bot.admin.admin_page.value_decisions import DecidedValue

_HINT: Final = (
    "A value that you accept or correct holds from the next question on, also when its document is loaded again; the "
    "audit log keeps who did it. Where a field is often wrong, mend its labels and kinds in the schema instead."
)


def review_page(context: PageContext, reviewed: ReviewedBucket, decisions: Sequence[DecidedValue]) -> str:
    bucket, limit = reviewed.bucket, reviewed.document_limit
    if reviewed.field_rows or reviewed.values:
        content = [
            *([list_html(reviewed.doubts, "problems")] if reviewed.doubts else []),
            section_html("Unsure values", *_unsure_values(context, reviewed)),
            *([section_html("Decided", _decisions_table(context, bucket, decisions))] if decisions else []),
            section_html("Fields", _fields_table(reviewed)),
        ]
    else:
        content = [
            html_element("p", "No value of this bucket was read from a text; its values are as they were given.")
        ]
    more = f"Of the first {limit:,} documents; parley bucket review {bucket} reads all." if reviewed.is_partial else ""
    facts = more or count_text(reviewed.document_count, "document") + " with values from texts"
    return admin_page(
        context,
        f"Review of {reviewed.title}",
        html_element("p", facts, class_="facts"),
        *content,
        html_element("p", _HINT, class_="hint"),
        trail=[("/admin", "Buckets"), (address_of("/admin/bucket", b=bucket), reviewed.title)],
    )


def _unsure_values(context: PageContext, reviewed: ReviewedBucket) -> list[SafeHtml]:
    if not reviewed.values:
        return [html_element("p", f"No value is less sure than {UNSURE_BELOW:g}.", class_="fine")]
    items = [_unsure_value_html(context, reviewed.bucket, value, n) for n, value in enumerate(reviewed.values)]
    shown = count_text(len(items), "value")
    return [
        html_element("p", f"{shown} less sure than {UNSURE_BELOW:g}, the least sure first", class_="facts"),
        html_element("ul", *items, class_="reviews"),
    ]


def _unsure_value_html(context: PageContext, bucket: str, value: UnsureValue, number: int) -> SafeHtml:
    form, place = value.form, "" if value.page is None else f", page {value.page}"
    whole = form.text.replace("\n", "; ") if form is not None and form.kind == "list" else ""
    reading = html_element(
        "div",
        html_element("span", value.field, class_="field-name"),
        html_element("span", value.text, class_="value"),
        html_element("span", f"{value.confidence:.2f}", class_="tag doubtful", title="Confidence"),
        *([html_element("small", f"The list would be: {whole}")] if whole not in ("", value.text) else []),
        html_element(
            "p",
            link_html(value.title or value.doc_id, "/admin/document", b=bucket, id=value.doc_id),
            place,
            class_="place",
        ),
        *(
            [
                html_element(
                    "div",
                    accept_form(context, bucket, value.doc_id, form),
                    correct_form(context, bucket, value.doc_id, form, number, "Correct…"),
                    class_="decide",
                )
            ]
            if form is not None
            else [html_element("p", "Rows are put right in the document itself.", class_="hint")]
        ),
        class_="reading",
    )
    return html_element("li", reading, _evidence_html(value))


def _evidence_html(value: UnsureValue) -> SafeHtml:
    if not value.evidence:
        return html_element("p", "It stands in no single place of the text.", class_="quote quiet")
    marked = html_element("mark", value.evidence, class_="doubtful")
    return html_element("blockquote", _one_line(value.before), marked, _one_line(value.after), class_="quote")


def _one_line(text: str) -> str:
    """Returns the text with single blanks, which also separate it from the evidence where the document does."""
    words = " ".join(text.split())
    return f"{' ' if text[:1].isspace() and words else ''}{words}{' ' if text[-1:].isspace() and words else ''}"


def _decisions_table(context: PageContext, bucket: str, decisions: Sequence[DecidedValue]) -> SafeHtml:
    rows = [
        (
            link_html(decided.title, "/admin/document", b=bucket, id=decided.doc_id),
            decided.label,
            decided.text or "–",
            decision_html(context, decided),
            withdraw_form(context, bucket, decided),
        )
        for decided in decisions
    ]
    return table_html(
        count_text(len(rows), "decision") + ", the newest first", ("Document", "Field", "Value", "Decision", ""), rows
    )


def _fields_table(reviewed: ReviewedBucket) -> SafeHtml:
    columns = ("Field", "Read in", "Sure", "Likely", "Doubtful")
    return table_html("How sure the values are", columns, reviewed.field_rows, numeric=frozenset({1, 2, 3, 4}))

"""The forms with which an admin accepts or corrects a value of a document, or takes a decision back."""

from typing import Final

from adapters.web.admin.layout import PageContext, name_person, post_form, time_html
from adapters.web.html import SafeHtml, html_element, join_html
from bot.admin.admin_page.value_decisions import DecidedValue, ValueDecision
from bot.admin.admin_page.value_forms import MAX_TYPED_CHARACTERS, ValueForm

DECISION_WORDS: Final = {
    ValueDecision.ACCEPTED: "accepted",
    ValueDecision.CORRECTED: "corrected",
    ValueDecision.EMPTIED: "has no value",
}
OUTDATED_NOTE: Final = "the document has changed since"
_MIN_LIST_LINES: Final = 3
_MAX_LIST_LINES: Final = 12


def accept_form(context: PageContext, bucket: str, doc_id: str, form: ValueForm) -> SafeHtml:
    """Returns a button that accepts the value with which `form` begins."""
    button = html_element("button", "Accept", type="submit", aria_label=f"Accept {form.label} {form.text}")
    return post_form(
        context.visitor,
        "/admin/value",
        button,
        b=bucket,
        id=doc_id,
        f=form.field,
        version=form.version,
        text=form.text,
        decision="accept",
        back=context.path,
    )


def correct_form(
    context: PageContext, bucket: str, doc_id: str, form: ValueForm, key: int | str, summary: str
) -> SafeHtml:
    """Returns the folded form for another value. `key` tells the forms of a page apart."""
    unit = f" ({form.unit})" if form.unit else ""
    input_id = f"value-{key}"
    opened = post_form(
        context.visitor,
        "/admin/value",
        html_element("label", f"{form.label}{unit}", for_=input_id),
        *_inputs_of(form, input_id),
        html_element(
            "span",
            html_element("button", "Save", type="submit", class_="main", name="decision", value="correct"),
            html_element(
                "button", "It has no such value", type="submit", name="decision", value="empty", formnovalidate=True
            ),
            class_="buttons",
        ),
        class_="correction",
        b=bucket,
        id=doc_id,
        f=form.field,
        version=form.version,
        back=context.path,
    )
    label = html_element("summary", summary, aria_label=f"{summary.rstrip('…')} {form.label}")
    return html_element("details", label, opened, class_="correct")


def withdraw_form(context: PageContext, bucket: str, decided: DecidedValue) -> SafeHtml:
    button = html_element(
        "button", "Undo", type="submit", aria_label=f"Undo the decision on {decided.label} of {decided.title}"
    )
    return post_form(
        context.visitor,
        "/admin/value/withdraw",
        button,
        b=bucket,
        id=decided.doc_id,
        f=decided.field,
        back=context.path,
    )


def decision_html(context: PageContext, decided: DecidedValue) -> SafeHtml:
    """Returns what was decided, by whom and when."""
    note = [html_element("small", OUTDATED_NOTE, class_="problem")] if decided.is_outdated else []
    return join_html(
        html_element("span", DECISION_WORDS[decided.decision], class_="tag sure"),
        html_element("small", name_person(context, decided.decided_by), ", ", time_html(decided.decided_at, "")),
        *note,
    )


def _inputs_of(form: ValueForm, input_id: str) -> list[SafeHtml]:
    if form.kind == "list":
        lines = min(max(form.text.count("\n") + 2, _MIN_LIST_LINES), _MAX_LIST_LINES)
        hint = html_element("small", "One on each line.", id=f"{input_id}-hint")
        area = html_element(
            "textarea", form.text, id=input_id, name="text", rows=str(lines), required=True,
            maxlength=str(MAX_TYPED_CHARACTERS), aria_describedby=f"{input_id}-hint",
        )  # fmt: skip
        return [area, hint]
    if form.kind == "flag":
        options = [html_element("option", word, value=word, selected=word == form.text) for word in ("yes", "no")]
        return [html_element("select", *options, id=input_id, name="text")]
    offered = [
        html_element(
            "datalist", *(html_element("option", value=value) for value in form.offered), id=f"{input_id}-offered"
        )
    ]
    typed = html_element(
        "input",
        id=input_id,
        name="text",
        value=form.text,
        type="date" if form.kind == "date" else "text",
        inputmode="decimal" if form.kind in ("number", "money") else None,
        required=True,
        maxlength=None if form.kind == "date" else str(MAX_TYPED_CHARACTERS),
        list=f"{input_id}-offered" if form.offered else None,
    )
    return [typed, *(offered if form.offered else [])]

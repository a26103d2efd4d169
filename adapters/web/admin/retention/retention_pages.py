"""The page about how long the documents of a bucket are kept, with a preview that counts before anything is deleted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from adapters.web.admin.layout import PageContext, address_of, admin_page, link_html, list_html, post_form, section_html
from adapters.web.html import SafeHtml, html_element
from bot.admin.admin_page.retention_edits import KeptBucket
from bot.admin.document_retention import ExpiredDocuments
from bot.admin.retention_sentences import describe_effect, describe_rule
from bot.health.retention_rules import MAX_DAYS

RETENTION_PATH: Final = "/admin/retention"
_WITHOUT_END: Final = "Its documents are kept without an end."
_FROM_SETTINGS: Final = (
    "PARLEY_DOCUMENT_RETENTION sets this for the whole installation and goes before what is set here; the operator of "
    "the machine changes it."
)
_OVERRULED: Final = "What was set here has no effect while PARLEY_DOCUMENT_RETENTION names this bucket: {rule}."
_HINT: Final = (
    "Once an hour, Parley deletes what is older. A document without the date stays, and more than a fifth of a bucket "
    "is deleted only by the operator, with parley bucket expire. All documents count, also those that you may not read."
)
_PREVIEW_HINT: Final = "Nothing is deleted before you save this; then within the hour."
_END_HINT: Final = "Ending it deletes nothing."


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedRule:
    """What the form holds so far. `effect` None: it is not a rule, or nothing was typed."""

    field: str = ""
    days: str = ""
    effect: ExpiredDocuments | None = None


def retention_page(context: PageContext, kept: KeptBucket, typed: TypedRule) -> str:
    return admin_page(
        context,
        f"How long {kept.label} is kept",
        retention_lines_html(kept.effects),
        *_change_elements(context, kept, typed),
        trail=[("/admin", "Buckets"), (address_of("/admin/bucket", b=kept.bucket), kept.label)],
    )


def bucket_retention_html(kept: Sequence[KeptBucket]) -> SafeHtml:
    """Returns the section of a bucket's page. `kept`: of the bucket and its parts, as far as they are open."""
    lines = [
        element
        for part in kept
        for element in (
            *([html_element("h3", part.label)] if len(kept) > 1 else []),
            retention_lines_html(part.effects),
            html_element("p", link_html("Change" if part.effects else "Set", RETENTION_PATH, b=part.bucket)),
        )
    ]
    return section_html("How long its documents are kept", *lines, id_="retention")


def retention_lines_html(effects: Sequence[ExpiredDocuments]) -> SafeHtml:
    if not effects:
        return html_element("p", _WITHOUT_END)
    return list_html([f"{describe_rule(found.rule)}: {describe_effect(found)}" for found in effects], "effects")


def _change_elements(context: PageContext, kept: KeptBucket, typed: TypedRule) -> list[SafeHtml]:
    if kept.is_from_settings:
        overruled = [] if kept.rule is None else [_OVERRULED.format(rule=describe_rule(kept.rule))]
        end = [] if kept.rule is None else [_end_form(context, kept)]
        return [html_element("p", sentence, class_="hint") for sentence in (_FROM_SETTINGS, *overruled)] + end
    form = section_html("Another rule" if kept.rule else "A rule", _typed_form(kept, typed), _hint(_HINT))
    preview = [] if typed.effect is None else [_preview_html(context, kept, typed, typed.effect)]
    end = [section_html("Keep them without an end", _end_form(context, kept))] if kept.rule else []
    return [form, *preview, *end]


def _typed_form(kept: KeptBucket, typed: TypedRule) -> SafeHtml:
    field = typed.field or (kept.rule.field if kept.rule else "")
    days = typed.days or (str(kept.rule.days) if kept.rule else "")
    options = [
        html_element("option", label, value=name, selected=name == field) for name, label in kept.start_labels.items()
    ]
    return html_element(
        "form",
        html_element("input", type="hidden", name="b", value=kept.bucket),
        html_element("label", "Days from", for_="field"),
        html_element("select", *options, id="field", name="field"),
        html_element("label", "Days that a document is kept", for_="days"),
        html_element(
            "input",
            id="days",
            name="days",
            value=days,
            inputmode="numeric",
            pattern="[0-9]*",
            maxlength=str(len(str(MAX_DAYS))),
            required=True,
        ),
        html_element("button", "Count what that would delete", type="submit"),
        method="get",
        action=RETENTION_PATH,
        class_="fields",
        autocomplete="off",
    )


def _preview_html(context: PageContext, kept: KeptBucket, typed: TypedRule, effect: ExpiredDocuments) -> SafeHtml:
    save = post_form(
        context.visitor,
        RETENTION_PATH,
        html_element("button", "Save this rule", type="submit", class_="main"),
        b=kept.bucket,
        field=typed.field,
        days=typed.days,
        version=kept.version,
    )
    sentence = f"{describe_rule(effect.rule)}: {describe_effect(effect)}"
    return section_html("What it would do", html_element("p", sentence), save, _hint(_PREVIEW_HINT), id_="preview")


def _end_form(context: PageContext, kept: KeptBucket) -> SafeHtml:
    return post_form(
        context.visitor,
        f"{RETENTION_PATH}/end",
        html_element("button", "End the rule", type="submit"),
        _hint(_END_HINT),
        b=kept.bucket,
        version=kept.version,
    )


def _hint(sentence: str) -> SafeHtml:
    return html_element("p", sentence, class_="hint")

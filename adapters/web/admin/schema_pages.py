"""The pages about a schema: what it says, and a form for each of its parts, with a preview of what a change does."""

from collections.abc import Mapping, Sequence

from adapters.web.admin.layout import (
    PageContext,
    address_of,
    admin_page,
    count_text,
    link_html,
    list_html,
    post_form,
    table_html,
)
from adapters.web.html import SafeHtml, html_element, join_html
from bot.admin.admin_page.schema_edits import (
    BARE_LABELS,
    BARE_MATCHES,
    MAX_TITLE_CHARACTERS,
    EditableEntry,
    EditableSchema,
    EditPreview,
)

_MAX_TEXT_CHARACTERS = "4000"  # of all synonyms
_SHOWN_SYNONYMS = 4


def schema_page(context: PageContext, schema: EditableSchema) -> str:
    rows = [_row_of_entry(schema, entry) for entry in schema.entries]
    columns = ("Name", "Type", "Synonyms", "Offered", "A bare number means")
    return admin_page(
        context,
        f"Schema of {schema.label}",
        table_html("The bucket itself, then its fields", columns, rows),
        html_element(
            "p",
            f"Fields, types, units and labels change with parley bucket schema {schema.bucket} --set FILE, since the "
            "documents are then read again.",
            class_="hint",
        ),
        trail=[("/admin", "Buckets"), (address_of("/admin/bucket", b=schema.bucket), schema.label)],
    )


def entry_page(
    context: PageContext,
    schema: EditableSchema,
    shown: EditableEntry,
    preview: EditPreview,
    comparison: Sequence[str] = (),
) -> str:
    """Returns the form of one part. `shown`: as it was typed so far. `comparison`: what it would change in answers."""
    fields = [
        html_element("input", type="hidden", name="b", value=schema.bucket),
        html_element("input", type="hidden", name="f", value=shown.field),
        html_element("input", type="hidden", name="edited", value="yes"),
        html_element("label", "Title", for_="title"),
        html_element("input", id="title", name="title", value=shown.title, maxlength=str(MAX_TITLE_CHARACTERS)),
        html_element("label", "Synonyms, one on each line", for_="synonyms"),
        html_element(
            "textarea",
            "\n" + "\n".join(shown.synonyms),
            id="synonyms",
            name="synonyms",
            rows=str(min(max(len(shown.synonyms) + 1, 4), 14)),
            maxlength=_MAX_TEXT_CHARACTERS,
            spellcheck="false",
        ),
    ]
    if shown.facet is not None:
        tick = html_element("input", type="checkbox", name="facet", value="yes", checked=shown.facet)
        fields.append(html_element("label", tick, "Offer it to narrow a long list", class_="tick"))
    if shown.bare is not None:
        options = [
            html_element("option", BARE_LABELS[match], value=match, selected=match == shown.bare)
            for match in BARE_MATCHES
        ]
        fields.append(html_element("label", "A bare number in a question (“1 W”) means", for_="bare"))
        fields.append(html_element("select", *options, id="bare", name="bare"))
    form = html_element(
        "form",
        *fields,
        html_element("button", "Preview", type="submit"),
        html_element("button", "Ask last month's questions again", type="submit", name="ask", value="yes"),
        id="entry",
        method="get",
        action="/admin/schema/entry",
        class_="fields",
        autocomplete="off",
    )
    region = html_element(
        "section", _preview_html(context, schema, shown, preview, comparison), id="preview", aria_live="polite"
    )
    return admin_page(
        context,
        _title_of(schema, shown),
        html_element("div", form, region, class_="beside"),
        html_element("script", src="/admin/admin.js", defer=True),
        trail=[
            ("/admin", "Buckets"),
            (address_of("/admin/bucket", b=schema.bucket), schema.label),
            (address_of("/admin/schema", b=schema.bucket), "Schema"),
        ],
    )


def _preview_html(
    context: PageContext,
    schema: EditableSchema,
    shown: EditableEntry,
    preview: EditPreview,
    comparison: Sequence[str],
) -> SafeHtml:
    heading = html_element("h2", "What would change")
    if preview.problem:
        return join_html(heading, html_element("p", preview.problem, class_="notice"))
    if not preview.changes:
        return join_html(heading, html_element("p", "Nothing yet.", class_="quiet"))
    save = post_form(
        context.visitor,
        "/admin/schema/save",
        html_element("button", "Save", type="submit", class_="main"),
        b=schema.bucket,
        f=shown.field,
        version=schema.version,
        **_fields_of(shown),
    )
    effects = [list_html(preview.effects, "effects")] if preview.effects else []
    effects += [list_html(comparison, "comparison")] if comparison else []
    note = html_element("p", "The next question uses it, in every process.", class_="hint")
    return join_html(heading, list_html(preview.changes, "changes"), *effects, save, note)


def _fields_of(entry: EditableEntry) -> Mapping[str, str]:
    fields = {"title": entry.title, "synonyms": "\n".join(entry.synonyms)}
    fields |= {"facet": "yes"} if entry.facet else {}
    return fields if entry.bare is None else {**fields, "bare": entry.bare}


def _row_of_entry(schema: EditableSchema, entry: EditableEntry) -> Sequence[str]:
    more = len(entry.synonyms) - _SHOWN_SYNONYMS
    synonyms = ", ".join(entry.synonyms[:_SHOWN_SYNONYMS]) + (f" and {count_text(more, 'other')}" if more > 0 else "")
    name = entry.label if entry.field else schema.label
    return (
        link_html(name, "/admin/schema/entry", b=schema.bucket, f=entry.field),
        entry.kind,
        synonyms or "none",
        "" if entry.facet is None else "yes" if entry.facet else "no",
        "" if entry.bare is None else BARE_LABELS[entry.bare],
    )


def _title_of(schema: EditableSchema, entry: EditableEntry) -> str:
    current = schema.find_entry(entry.field)
    return (
        f"{current.label}, in {schema.label}" if current is not None and entry.field else f"{schema.label}, the bucket"
    )

"""The pages about the documents of a bucket: the list, and one document beside its values."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from adapters.web.admin.layout import (
    PageContext,
    address_of,
    admin_page,
    count_text,
    link_html,
    section_html,
    table_html,
)
from adapters.web.admin.value_forms import accept_form, correct_form, decision_html, withdraw_form
from adapters.web.html import SafeHtml, html_element, join_html
from bot.admin.admin_page.bucket_contents import (
    MAX_WORDS_CHARACTERS,
    DocumentLine,
    DocumentListing,
    MissingField,
    ShownDocument,
    ShownValue,
)
from bot.admin.admin_page.value_decisions import DecidedValue

TEXT_CHARACTERS: Final = 20_000  # of a text on one page
_SETTLED: Final = ("sure", "given")  # what nobody has to accept
_CERTAINTY_CLASSES: Final = {
    "sure": "sure",
    "likely": "likely",
    "doubtful": "doubtful",
    "not taken": "untaken",
    "given": "given",
}


def documents_page(context: PageContext, listing: DocumentListing, words: str, cursor: str) -> str:
    rows = [_row_of_document(listing, document) for document in listing.documents]
    table = table_html(_caption_of(listing, words), ("Document", *listing.columns), rows)
    pages = [
        *([link_html("First page", "/admin/documents", b=listing.bucket, q=words)] if cursor else []),
        *(
            [link_html("Next page", "/admin/documents", b=listing.bucket, q=words, after=listing.next_cursor)]
            if listing.next_cursor
            else []
        ),
    ]
    return admin_page(
        context,
        f"Documents of {listing.title}",
        _search_form(listing.bucket, words),
        table if rows else html_element("p", _nothing_text(words)),
        *([html_element("nav", *pages, class_="pages", aria_label="Pages of documents")] if pages else []),
        trail=_trail_to(listing.bucket, listing.title),
    )


def document_page(context: PageContext, document: ShownDocument, part: int, decisions: Sequence[DecidedValue]) -> str:
    """Returns the text with the evidence of each value marked, beside the values. `part`: of a long text, from 0."""
    decided_by_field = {decided.field: decided for decided in decisions}
    pieces = list(_pieces_of(document, part))
    part_count = max(-(-len(document.text) // TEXT_CHARACTERS), 1)
    text = html_element("div", *pieces, class_="text", tabindex="0", role="region", aria_label="Text of the document")
    values, has_form = list[SafeHtml](), set[str]()
    for number, value in enumerate(document.values):
        decide = [] if value.name in has_form else _decide_html(context, document, value, decided_by_field, number)
        has_form.add(value.name)
        decided = decided_by_field.get(value.name)
        values.append(_value_html(context, document, number, value, part, decided, decide))
    return admin_page(
        context,
        document.title or document.doc_id,
        html_element(
            "p", join_html(document.doc_id, f" · {document.source}" if document.source else ""), class_="facts"
        ),
        html_element(
            "div",
            section_html(
                "Values",
                html_element("ul", *values, class_="values") if values else html_element("p", "It has no values."),
                *_missing_html(context, document, decided_by_field),
            ),
            section_html(
                "Text", *_part_links(document, part, part_count), text if document.text else "It has no text."
            ),
            class_="beside",
        ),
        trail=[
            *_trail_to(document.bucket, document.bucket_title),
            (address_of("/admin/documents", b=document.bucket), "Documents"),
        ],
    )


def _trail_to(bucket: str, title: str) -> list[tuple[str, str]]:
    return [("/admin", "Buckets"), (address_of("/admin/bucket", b=bucket), title)]


def _row_of_document(listing: DocumentListing, document: DocumentLine) -> Sequence[str]:
    name = document.title or document.doc_id
    link = link_html(name, "/admin/document", b=listing.bucket, id=document.doc_id)
    return join_html(
        link, *([html_element("small", document.doc_id)] if name != document.doc_id else [])
    ), *document.values


def _caption_of(listing: DocumentListing, words: str) -> str:
    found = count_text(listing.count, "document")
    mention = f" that {'mentions' if listing.count == 1 else 'mention'} “{words}”" if words else ""
    shown = len(listing.documents)
    return f"{found}{mention}" if shown == listing.count else f"{found}{mention}, {shown:,} on this page"


def _nothing_text(words: str) -> str:
    mention = f" mentions “{words}”" if words else " is here"
    return f"No document that you may see{mention}."


def _search_form(bucket: str, words: str) -> SafeHtml:
    return html_element(
        "form",
        html_element("input", type="hidden", name="b", value=bucket),
        html_element("label", "Documents that mention", for_="words"),
        html_element("input", id="words", name="q", value=words, type="search", maxlength=str(MAX_WORDS_CHARACTERS)),
        html_element("button", "Find", type="submit"),
        method="get",
        action="/admin/documents",
        role="search",
        class_="search",
    )


def _part_links(document: ShownDocument, part: int, part_count: int) -> list[SafeHtml]:
    if part_count == 1:
        return []
    links = [
        html_element(
            "a",
            f"{number + 1:,}",
            href=address_of("/admin/document", b=document.bucket, id=document.doc_id, part=str(number)),
            aria_current="page" if number == part else None,
            aria_label=f"Part {number + 1} of the text",
        )
        for number in _near_numbers(part, part_count)
    ]
    return [html_element("nav", f"Part {part + 1:,} of {part_count:,}: ", *links, class_="pages", aria_label="Parts")]


def _near_numbers(part: int, part_count: int) -> list[int]:
    return sorted({0, part_count - 1, *range(max(part - 2, 0), min(part + 3, part_count))})


def _value_html(
    context: PageContext,
    document: ShownDocument,
    number: int,
    value: ShownValue,
    part: int,
    decided: DecidedValue | None,
    decide: Sequence[SafeHtml],
) -> SafeHtml:
    certainty = value.certainty
    confidence = "" if value.confidence is None else f" {value.confidence:.2f}"
    tag = html_element("span", certainty + confidence, class_=f"tag {_CERTAINTY_CLASSES[certainty]}")
    details: list[str] = [tag if decided is None else decision_html(context, decided)]
    if value.start is not None:
        there = value.start // TEXT_CHARACTERS
        anchor = f"#e{number}"
        address = address_of("/admin/document", b=document.bucket, id=document.doc_id, part=str(there) if there else "")
        place = "in the text" if value.page is None else f"page {value.page}"
        details.append(html_element("a", place, href=anchor if there == part else address + anchor))
    return html_element(
        "li",
        html_element("span", value.field, class_="field-name"),
        html_element("span", value.text, class_="value"),
        html_element("span", *details, class_="details"),
        *([html_element("div", *decide, class_="decide")] if decide else []),
    )


def _decide_html(
    context: PageContext,
    document: ShownDocument,
    value: ShownValue,
    decided_by_field: Mapping[str, DecidedValue],
    number: int,
) -> list[SafeHtml]:
    """Returns the forms of a field, below the first of its values."""
    bucket, doc_id, form = document.bucket, document.doc_id, value.form
    if form is None:
        return []
    correct = correct_form(context, bucket, doc_id, form, number, "Correct…")
    if value.name in decided_by_field:
        return [withdraw_form(context, bucket, decided_by_field[value.name]), correct]
    return [correct] if value.certainty in _SETTLED else [accept_form(context, bucket, doc_id, form), correct]


def _missing_html(
    context: PageContext, document: ShownDocument, decided_by_field: Mapping[str, DecidedValue]
) -> list[SafeHtml]:
    if not document.missing:
        return []
    items = [_missing_field_html(context, document, field, decided_by_field) for field in document.missing]
    heading = html_element("p", "Without a value:", class_="quiet")
    return [heading, html_element("ul", *items, class_="values missing")]


def _missing_field_html(
    context: PageContext, document: ShownDocument, field: MissingField, decided_by_field: Mapping[str, DecidedValue]
) -> SafeHtml:
    bucket, doc_id, decided = document.bucket, document.doc_id, decided_by_field.get(field.name)
    decide = [
        *([withdraw_form(context, bucket, decided)] if decided else []),
        *(
            [correct_form(context, bucket, doc_id, field.form, f"new-{field.name}", "Add…")]
            if field.form is not None and field.name not in {value.name for value in document.values}
            else []
        ),
    ]
    return html_element(
        "li",
        html_element("span", field.label, class_="field-name"),
        *([html_element("span", decision_html(context, decided), class_="details")] if decided else []),
        *([html_element("div", *decide, class_="decide")] if decide else []),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _EvidenceSpan:
    number: int
    start: int
    end: int
    value: ShownValue


def _pieces_of(document: ShownDocument, part: int) -> Iterator[str]:
    """Yields the part of the text, cut where evidence begins or ends; a piece of several values is marked once."""
    first, last = part * TEXT_CHARACTERS, min((part + 1) * TEXT_CHARACTERS, len(document.text))
    spans = [
        _EvidenceSpan(number=number, start=max(value.start, first), end=min(value.end, last), value=value)
        for number, value in enumerate(document.values)
        if value.start is not None and value.end is not None and value.start < last and value.end > first
    ]
    cuts = sorted({first, last, *(span.start for span in spans), *(span.end for span in spans)})
    for start, end in itertools.pairwise(cuts):
        covering = [span for span in spans if span.start <= start < span.end]
        text = document.text[start:end]
        yield _marked_html(text, covering, start) if covering else text


def _marked_html(text: str, covering: Sequence[_EvidenceSpan], start: int) -> SafeHtml:
    names = ", ".join(dict.fromkeys(span.value.field for span in covering))
    certainty = _CERTAINTY_CLASSES[covering[0].value.certainty]
    marked = html_element("mark", text, title=names, class_=certainty)
    for span in covering:
        if span.start == start:
            marked = html_element("span", marked, id=f"e{span.number}", class_="evidence")
    return marked

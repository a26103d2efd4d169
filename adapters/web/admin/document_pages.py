"""The pages about the documents of a bucket: the list, one document beside its values, and the values to review."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
from adapters.web.html import SafeHtml, html_element, join_html
from bot.admin.admin_page.bucket_contents import (
    MAX_WORDS_CHARACTERS,
    UNSURE_BELOW,
    DocumentLine,
    DocumentListing,
    ReviewedBucket,
    ShownDocument,
    ShownValue,
)

TEXT_CHARACTERS: Final = 20_000  # of a text on one page
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
        table if rows else html_element("p", "No document that you may see is here."),
        *([html_element("nav", *pages, class_="pages", aria_label="Pages of documents")] if pages else []),
        trail=_trail_to(listing.bucket, listing.title),
    )


def document_page(context: PageContext, document: ShownDocument, part: int) -> str:
    """Returns the text with the evidence of each value marked, beside the values. `part`: of a long text, from 0."""
    pieces = list(_pieces_of(document, part))
    part_count = max(-(-len(document.text) // TEXT_CHARACTERS), 1)
    text = html_element("div", *pieces, class_="text", tabindex="0", role="region", aria_label="Text of the document")
    values = [_value_html(document, number, value, part) for number, value in enumerate(document.values)]
    missing = [html_element("p", f"Without a value: {', '.join(document.missing)}", class_="quiet")]
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
                *(missing if document.missing else []),
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


def review_page(context: PageContext, reviewed: ReviewedBucket) -> str:
    bucket, limit = reviewed.bucket, reviewed.document_limit
    if not reviewed.field_rows:
        content = [
            html_element("p", "No value of this bucket was read from a text; its values are as they were given.")
        ]
    else:
        columns = ("Field", "Read in", "Sure", "Likely", "Doubtful")
        fields = table_html("How sure the values are", columns, reviewed.field_rows, numeric=frozenset({1, 2, 3, 4}))
        rows = [
            (
                link_html(value.title or value.doc_id, "/admin/document", b=bucket, id=value.doc_id),
                value.field,
                value.text,
                f"{value.confidence:.2f}",
                html_element("q", value.evidence) if value.evidence else "no text",
            )
            for value in reviewed.values
        ]
        listed = table_html(
            f"{count_text(len(rows), 'value')} less sure than {UNSURE_BELOW:g}, the least sure first",
            ("Document", "Field", "Value", "Confidence", "Evidence"),
            rows,
            numeric=frozenset({3}),
        )
        none = html_element("p", f"No value is less sure than {UNSURE_BELOW:g}.", class_="fine")
        content = [
            *([list_html(reviewed.doubts, "problems")] if reviewed.doubts else []),
            section_html("Unsure values", listed if rows else none),
            section_html("Fields", fields),
        ]
    more = f"Of the first {limit:,} documents; parley bucket review {bucket} reads all." if reviewed.is_partial else ""
    return admin_page(
        context,
        f"Review of {reviewed.title}",
        html_element(
            "p", more or count_text(reviewed.document_count, "document") + " with values from texts", class_="facts"
        ),
        *content,
        html_element(
            "p",
            "A value is put right where it comes from: in the document, or by the labels and kinds of its field in the "
            f"schema (parley bucket schema {bucket}); then the documents are loaded again.",
            class_="hint",
        ),
        trail=_trail_to(bucket, reviewed.title),
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


def _value_html(document: ShownDocument, number: int, value: ShownValue, part: int) -> SafeHtml:
    certainty = value.certainty
    confidence = "" if value.confidence is None else f" {value.confidence:.2f}"
    details: list[str] = [html_element("span", certainty + confidence, class_=f"tag {_CERTAINTY_CLASSES[certainty]}")]
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

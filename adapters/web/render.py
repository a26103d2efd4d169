"""Renders a Reply as HTML: one fragment per message, the same for the first page and for later updates."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import assert_never
from urllib.parse import urlsplit

from adapters.web.html import SafeHtml, html_element, join_html
from bot.pictures.picture_look import PAGE_LOOKS, measure_picture
from bot.surface.markdown import CitationMarker, MarkdownLine, MarkdownRun, ParagraphBlock, parse_blocks
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    CitedDocument,
    FilePart,
    FullTextPart,
    NoticePart,
    PicturePart,
    ProgressPart,
    Reply,
    ReplyPart,
    ShownCitation,
    TablePart,
    TextPart,
    TurnAction,
    TurnActionsPart,
    list_cited_documents,
)
from bot.turns.turn_actions import SearchStep, TurnSteps

_MEDIA_OF_LOOKS = {  # the first that applies counts
    "narrow-dark": "(max-width: 32rem) and (prefers-color-scheme: dark)",
    "narrow": "(max-width: 32rem)",
    "dark": "(prefers-color-scheme: dark)",
}
_MAX_UNBROKEN_CHARACTERS = 14  # of the cells of a column without line breaks, such as days


def question_html(text: str, *, id_: str, posted_at: datetime) -> SafeHtml:
    """Returns a person's message as HTML."""
    lines = [html_element("p", *_lines_with_breaks(block)) for block in re.split(r"\n{2,}", text.strip())]
    return html_element(
        "article",
        _heading_html("You", posted_at),
        html_element("div", *lines, class_="said"),
        class_="from-person",
        id=id_,
    )


def reply_html(
    reply: Reply, *, id_: str, posted_at: datetime, now: datetime, steps_address: str, pictures_address: str = ""
) -> SafeHtml:
    """Returns a reply as HTML. Expired buttons are replaced by a note.

    `steps_address`: of the page about its steps. `pictures_address`: of its pictures, without the number of the part;
    empty: no picture is shown.
    """
    part_fragments = [
        picture_html(part, f"{pictures_address}&part={number}" if pictures_address else "")
        if isinstance(part, PicturePart)
        else part_html(part, id_, now)
        for number, part in enumerate(reply.parts)
    ]
    if any(isinstance(part, TurnActionsPart) and TurnAction.STEPS in part.handles for part in reply.parts):
        link = html_element("a", "Show steps", href=steps_address, target="_blank", rel="noopener")
        part_fragments.append(html_element("p", link, class_="steps"))
    if any(isinstance(part, TurnActionsPart) and TurnAction.SAVE in part.handles for part in reply.parts):
        button = html_element("button", "Save this search", type="submit", name="save", value=reply.turn)
        part_fragments.append(html_element("form", button, class_="save", method="post"))
    is_busy = any(isinstance(part, ProgressPart) for part in reply.parts)
    return html_element(
        "article",
        _heading_html("Parley", posted_at),
        *part_fragments,
        class_="from-parley",
        id=id_,
        aria_busy=is_busy and "true",
    )


def steps_html(steps: TurnSteps) -> SafeHtml:
    """Returns how an answer was found: a summary, the stages and model calls, and the searches."""
    searches = [_search_html(step) for step in steps.steps]
    return html_element(
        "article",
        html_element("h1", "How this answer was found"),
        html_element("p", steps.summary),
        _lines_html("Stages", steps.stage_lines),
        _lines_html("Language model", steps.reasoning_lines),
        html_element("h2", "Searches"),
        html_element("ol", *searches) if searches else html_element("p", "Nothing was searched for this."),
        class_="from-parley how",
    )


def _lines_html(heading: str, lines: Sequence[str]) -> SafeHtml:
    if not lines:
        return SafeHtml()
    return join_html(html_element("h2", heading), html_element("ul", *(html_element("li", line) for line in lines)))


def _search_html(step: SearchStep) -> SafeHtml:
    result_text = f" {step.criteria} — {step.result_text}"
    return html_element("li", html_element("strong", step.label), result_text)


def part_html(part: ReplyPart, id_: str, now: datetime) -> SafeHtml:
    match part:
        case TextPart(markdown=markdown, sources=sources):
            return join_html(_prose_html(markdown, id_), _sources_html(sources, id_))
        case TablePart():
            return _table_html(part)
        case ChoicesPart(buttons=buttons, expires=expires):
            return (
                _choices_html(buttons)
                if now < expires
                else _ended_html("This offer has ended. Ask again for a fresh one.")
            )
        case ChosenPart():
            return _chosen_html(part)
        case FilePart():
            return _file_html(part, now)
        case FullTextPart(reply=full_reply):
            return join_html(*(part_html(full_text_part, id_, now) for full_text_part in full_reply.parts))
        case ProgressPart(text=text):
            return html_element("p", html_element("span", class_="dots", aria_hidden="true"), text, class_="progress")
        case NoticePart(text=text):
            return html_element("p", text, class_="notice")
        case TurnActionsPart() | PicturePart():  # a picture needs an address
            return SafeHtml()
        case _:
            assert_never(part)


def _heading_html(name: str, posted_at: datetime) -> SafeHtml:
    time = html_element("time", posted_at.strftime("%H:%M"), datetime=posted_at.isoformat())
    return html_element("h2", name, time)


def _lines_with_breaks(text: str) -> list[str]:
    children: list[str] = []
    for number, line in enumerate(text.split("\n")):
        children += [html_element("br"), line] if number else [line]
    return children


# -- text and its sources


def _prose_html(markdown: str, id_: str) -> SafeHtml:
    blocks: list[SafeHtml] = []
    for block in parse_blocks(markdown):
        if isinstance(block, ParagraphBlock):
            lines = [
                join_html(*(html_element("br"),) * bool(index), _line_html(line, id_))
                for index, line in enumerate(block.lines)
            ]
            blocks.append(html_element("p", *lines))
        else:
            blocks.append(html_element("ul", *(html_element("li", _line_html(item, id_)) for item in block.items)))
    return join_html(*blocks)


def _line_html(line: MarkdownLine, id_: str) -> SafeHtml:
    return join_html(
        *(_marker_html(piece, id_) if isinstance(piece, CitationMarker) else _run_html(piece) for piece in line)
    )


def _marker_html(marker: CitationMarker, id_: str) -> SafeHtml:
    link = html_element("a", marker.marker, href=f"#{id_}-{marker.marker}", aria_label=f"Source {marker.marker}")
    return html_element("sup", link)


def _run_html(run: MarkdownRun) -> SafeHtml:
    markup = join_html(run.text)
    for is_styled, tag in ((run.code, "code"), (run.italic, "em"), (run.bold, "strong")):
        markup = html_element(tag, markup) if is_styled else markup
    return markup


def _sources_html(sources: Sequence[ShownCitation], id_: str) -> SafeHtml:
    if not sources:
        return SafeHtml()
    return html_element(
        "ol",
        *(_source_html(document, id_) for document in list_cited_documents(sources)),
        class_="sources",
        aria_label="Sources",
    )


def _source_html(document: CitedDocument, id_: str) -> SafeHtml:
    source, others = document.first, document.citations[1:]
    name = html_element("span", source.title, class_="title")
    if source.url is not None and is_web_address(source.url):
        name = html_element("a", name, href=source.url, rel="noopener noreferrer", target="_blank")
    head = join_html(
        html_element("span", source.marker, class_="marker"),
        *(html_element("span", other.marker, class_="marker", id=f"{id_}-{other.marker}") for other in others),
        name,
        html_element("span", document.place_text, class_="page"),
    )
    quotes = dict.fromkeys(" ".join(citation.quote.split()) for citation in document.citations)
    if any(quotes):
        head = html_element(
            "details",
            html_element("summary", head),
            *(html_element("blockquote", quote) for quote in quotes if quote),
        )
    return html_element("li", head, id=f"{id_}-{source.marker}")


def is_web_address(url: str) -> bool:
    """Whether the address is safe for a link: http or https with a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


# -- tables, choices, files


def _table_html(table: TablePart) -> SafeHtml:
    kinds = [_column_class(table, position) for position in range(len(table.columns))]
    head = (
        html_element("th", title, scope="col", class_=kind) for title, kind in zip(table.columns, kinds, strict=True)
    )
    body = (
        html_element("tr", *(html_element("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)))
        for row in table.rows
    )
    shown_table = html_element(
        "table",
        html_element("caption", table.caption),
        html_element("thead", html_element("tr", *head)),
        html_element("tbody", *body),
    )
    # A scrolling region must be reachable by keyboard.
    return html_element("div", shown_table, class_="table", role="region", aria_label=table.caption, tabindex="0")


def _column_class(table: TablePart, position: int) -> str | None:
    if table.is_numeric(position):
        return "number"
    longest = max(len(row[position]) for row in (table.columns, *table.rows))
    return "short" if longest <= _MAX_UNBROKEN_CHARACTERS else None


def picture_html(picture: PicturePart, address: str) -> SafeHtml:
    """Returns the picture in the colours of the page and for its width, with the alternative text."""
    if not address:
        return SafeHtml()
    size = measure_picture(picture, PAGE_LOOKS["light"])
    sources = (
        html_element("source", srcset=f"{address}&look={name}", media=media) for name, media in _MEDIA_OF_LOOKS.items()
    )
    image = html_element(
        "img",
        src=address,
        alt=picture.description,
        width=str(size.width),
        height=str(size.height),
        decoding="async",
    )
    return html_element("figure", html_element("picture", *sources, image), class_="picture")


def _choices_html(buttons: Sequence[ChoiceButton]) -> SafeHtml:
    """Returns the buttons: those that narrow with a count first, then the actions. Each button posts only its id."""
    counted_buttons = [
        _button_html(button) for button in buttons if button.count is not None and button.kind != "export"
    ]
    action_buttons = [_button_html(button) for button in buttons if button.count is None or button.kind == "export"]
    groups = [html_element("div", *counted_buttons, class_="counted")] * bool(counted_buttons)
    groups += [html_element("div", *action_buttons, class_="actions")] * bool(action_buttons)
    return html_element("form", *groups, class_="choices", method="post", role="group", aria_label="Choose one")


def _button_html(button: ChoiceButton) -> SafeHtml:
    label = html_element("span", button.label, class_="label")
    count = SafeHtml() if button.count is None else html_element("span", button.count_text, class_="count")
    return html_element(
        "button", label, " ", count, type="submit", name="choice", value=button.id, data_kind=button.kind
    )


def _chosen_html(chosen: ChosenPart) -> SafeHtml:
    if not chosen.by:
        return _ended_html(chosen.label)
    by = html_element("span", f"chosen by {chosen.by}", class_="by")
    return html_element("p", html_element("span", chosen.label, class_="label"), by, class_="chosen")


def _ended_html(text: str) -> SafeHtml:
    return html_element("p", text, class_="ended")


def _file_html(file: FilePart, now: datetime) -> SafeHtml:
    facts = html_element(
        "span",
        html_element("span", file.title, class_="title"),
        html_element("span", file.row_count_text),
        class_="facts",
    )
    if now >= file.expires or not is_web_address(file.url):
        return html_element("div", facts, html_element("span", "The link has ended."), class_="file")
    link = html_element("a", f"Download {file.name}", href=file.url, download=file.name)
    return html_element("div", facts, link, class_="file")

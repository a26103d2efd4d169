"""A Reply as HTML: one fragment per message, the same for the first page and for what arrives later."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import assert_never
from urllib.parse import urlsplit

from adapters.web.html import Html, element, joined
from bot.markdown import Line, Marker, Paragraph, Run, blocks
from bot.replies import (
    Button,
    Choices,
    Chosen,
    File,
    Handles,
    Notice,
    Part,
    Progress,
    Reply,
    Source,
    Table,
    Text,
    Whole,
)

_NUMBER = re.compile(r"[-–+]?\d[\d,. ]*(?: ?(?:%|[A-Z]{3}))?")  # no date


def question_html(text: str, *, id_: str, at: datetime) -> Html:
    """What the person wrote."""
    lines = [element("p", *_with_breaks(block)) for block in re.split(r"\n{2,}", text.strip())]
    return element("article", _heading("You", at), element("div", *lines, class_="said"), class_="from-person", id=id_)


def reply_html(reply: Reply, *, id_: str, at: datetime, now: datetime) -> Html:
    """What Parley says. Buttons past their time are shown as such."""
    shown = [part_html(part, id_, now) for part in reply.parts]
    busy = any(isinstance(part, Progress) for part in reply.parts)
    return element("article", _heading("Parley", at), *shown, class_="from-parley", id=id_, aria_busy=busy and "true")


def part_html(part: Part, id_: str, now: datetime) -> Html:
    match part:
        case Text(markdown=markdown, sources=sources):
            return joined(_prose(markdown, id_), _sources(sources, id_))
        case Table(caption=caption, columns=columns, rows=rows):
            return _table(caption, columns, rows)
        case Choices(buttons=buttons, expires=expires):
            return _choices(buttons) if now < expires else _ended("This offer has ended. Ask again for a fresh one.")
        case Chosen():
            return _chosen(part)
        case File():
            return _file(part, now)
        case Whole(said=said):
            return joined(*(part_html(one, id_, now) for one in said.parts))
        case Progress(text=text):
            return element("p", element("span", class_="dots", aria_hidden="true"), text, class_="progress")
        case Notice(text=text):
            return element("p", text, class_="notice")
        case Handles():
            return Html()
        case _:
            assert_never(part)


def _heading(name: str, at: datetime) -> Html:
    time = element("time", at.strftime("%H:%M"), datetime=at.isoformat())
    return element("h2", name, time)


def _with_breaks(text: str) -> list[str]:
    pieces: list[str] = []
    for number, line in enumerate(text.split("\n")):
        pieces += [element("br"), line] if number else [line]
    return pieces


# -- text and its sources


def _prose(markdown: str, id_: str) -> Html:
    written: list[Html] = []
    for block in blocks(markdown):
        if isinstance(block, Paragraph):
            lines = [joined(*(element("br"),) * bool(n), _line(line, id_)) for n, line in enumerate(block.lines)]
            written.append(element("p", *lines))
        else:
            written.append(element("ul", *(element("li", _line(item, id_)) for item in block.items)))
    return joined(*written)


def _line(line: Line, id_: str) -> Html:
    return joined(*(_marker(p, id_) if isinstance(p, Marker) else _run(p) for p in line))


def _marker(marker: Marker, id_: str) -> Html:
    link = element("a", marker.marker, href=f"#{id_}-{marker.marker}", aria_label=f"Source {marker.marker}")
    return element("sup", link)


def _run(run: Run) -> Html:
    written = joined(run.text)
    for wanted, tag in ((run.code, "code"), (run.italic, "em"), (run.bold, "strong")):
        written = element(tag, written) if wanted else written
    return written


def _sources(sources: Sequence[Source], id_: str) -> Html:
    if not sources:
        return Html()
    return element("ol", *(_source(one, id_) for one in sources), class_="sources", aria_label="Sources")


def _source(source: Source, id_: str) -> Html:
    page = "" if source.page is None else f"page {source.page}"
    name = element("span", source.title, class_="title")
    if source.url is not None and is_web_address(source.url):
        name = element("a", name, href=source.url, rel="noopener noreferrer", target="_blank")
    head = joined(element("span", source.marker, class_="marker"), name, element("span", page, class_="page"))
    if source.quote.strip():
        head = element("details", element("summary", head), element("blockquote", " ".join(source.quote.split())))
    return element("li", head, id=f"{id_}-{source.marker}")


def is_web_address(url: str) -> bool:
    """Whether a link may be made of it: http or https with a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


# -- tables, choices, files


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    numeric = [bool(rows) and all(_NUMBER.fullmatch(row[n].strip()) for row in rows) for n in range(len(columns))]
    kinds = ["number" if one else None for one in numeric]
    head = (element("th", title, scope="col", class_=kind) for title, kind in zip(columns, kinds, strict=True))
    body = (
        element("tr", *(element("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)))
        for row in rows
    )
    table = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *body),
    )
    # A region that scrolls must be reachable by keyboard.
    return element("div", table, class_="table", role="region", aria_label=caption, tabindex="0")


def _choices(buttons: Sequence[Button]) -> Html:
    """Filters and ways out first, actions without a number after them; each button posts its id and nothing else."""
    counted = [_button(one) for one in buttons if one.count is not None and one.kind != "export"]
    others = [_button(one) for one in buttons if one.count is None or one.kind == "export"]
    groups = [element("div", *counted, class_="counted")] * bool(counted)
    groups += [element("div", *others, class_="actions")] * bool(others)
    return element("form", *groups, class_="choices", method="post", role="group", aria_label="Choose one")


def _button(button: Button) -> Html:
    label = element("span", button.label, class_="label")
    count = Html() if button.count is None else element("span", f"{button.count:,}", class_="count")
    return element("button", label, " ", count, type="submit", name="choice", value=button.id, data_kind=button.kind)


def _chosen(chosen: Chosen) -> Html:
    if not chosen.by:
        return _ended(chosen.label)
    by = element("span", f"chosen by {chosen.by}", class_="by")
    return element("p", element("span", chosen.label, class_="label"), by, class_="chosen")


def _ended(text: str) -> Html:
    return element("p", text, class_="ended")


def _file(file: File, now: datetime) -> Html:
    counted = f"{file.rows:,} {'row' if file.rows == 1 else 'rows'}"
    facts = element("span", element("span", file.title, class_="title"), element("span", counted), class_="facts")
    if now >= file.expires or not is_web_address(file.url):
        return element("div", facts, element("span", "The link has ended."), class_="file")
    link = element("a", f"Download {file.name}", href=file.url, download=file.name)
    return element("div", facts, link, class_="file")

"""Reads Parley's messages from a page of the web chat."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# (lxml has no type annotations)

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import lxml.html

from tests.scenarios.surfaces.office import ShownChoice

Element: TypeAlias = Any  # an lxml element
_TAGS: Final = frozenset(
    "div article h1 h2 time p span br ul ol li strong em code sup a details summary blockquote"
    " table caption thead tbody tr th td form button".split()
)
_ATTRIBUTES: Final = frozenset(
    "id class datetime href rel target scope role tabindex method type name value download".split()
)


@dataclass(frozen=True, kw_only=True)
class WebArticle:
    """A message of Parley's as the page shows it. `downloads`: names and addresses of files."""

    id: str
    text: str
    choices: tuple[ShownChoice, ...]
    links: tuple[str, ...]
    tables: tuple[tuple[tuple[str, ...], ...], ...]
    downloads: tuple[tuple[str, str], ...]


def articles_in(page: str) -> list[WebArticle]:
    """Parley's finished and unfinished messages, from top to bottom."""
    root = lxml.html.document_fromstring(page)
    return [_read_article(element) for element in root.xpath("//article[@class='from-parley']")]


def _read_article(article: Element) -> WebArticle:
    return WebArticle(
        id=article.get("id"),
        text=_text_of(article),
        choices=tuple(map(_read_choice, article.xpath(".//button[@name='choice']"))),
        links=tuple(article.xpath(".//ol[@class='sources']//a/@href")),
        tables=tuple(map(_read_table, article.xpath(".//table"))),
        downloads=tuple((link.get("download"), link.get("href")) for link in article.xpath(".//a[@download]")),
    )


def _read_choice(button: Element) -> ShownChoice:
    [label] = button.xpath("./span[@class='label']")
    counts = [int(count.text_content().replace(",", "")) for count in button.xpath("./span[@class='count']")]
    return ShownChoice(label=label.text_content(), count=counts[0] if counts else None, handle=button.get("value"))


def _read_table(table: Element) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(cell.text_content() for cell in row.xpath("./th | ./td")) for row in table.xpath(".//tr"))


def _text_of(article: Element) -> str:
    """All text without the heading, one line for each element with text of its own."""
    parts = article.xpath(".//text()[not(ancestor::h2) and not(ancestor::p[@class='steps'])]")
    return " ".join(" ".join(parts).split())


def find_live_markup(markup: str) -> str | None:
    """What in a message is more than text, structure and plain links; None where nothing is."""
    for element in lxml.html.fragment_fromstring(markup).iter():
        if element.tag not in _TAGS:
            return f"<{element.tag}>"
        for name, value in element.attrib.items():
            if name not in _ATTRIBUTES and not name.startswith(("aria-", "data-")):
                return f"{name}="
            if name == "href" and not value.startswith(("http://", "https://", "/chat/", "#")):
                return f"href={value!r}"
    return None

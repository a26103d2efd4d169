"""The frame of an admin page, and the elements that all of its pages use. All text is escaped by `html_element`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

from adapters.web.admin.visitors import FORM_KEY_FIELD, AdminVisitor
from adapters.web.html import SafeHtml, html_element, join_html
from bot.admin.sentences import OPERATOR_NAME, name_subject
from bot.ids import OPERATOR, PersonId, Subject

MAIN_PATHS: Final = {
    "/admin": "Buckets",
    "/admin/grants": "Grants",
    "/admin/admins": "Admins",
    "/admin/limits": "Limits",
    "/admin/sources": "Sources",
    "/admin/report": "Report",
}
_STYLE_SHEETS: Final = ("/chat/chat.css", "/admin/admin.css")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContext:
    """Whose page it is, where it is in the navigation, and what is said at its top: of a change, or of a refusal.

    `names`: of the people on the page, as far as chat products tell them.
    """

    visitor: AdminVisitor
    path: str
    done: str = ""
    problem: str = ""
    names: Mapping[PersonId, str] = field(default_factory=dict[PersonId, str])


def address_of(path: str, **parameters: str) -> str:
    """Returns the address with the parameters that are not empty."""
    given = {name: value for name, value in parameters.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def admin_page(context: PageContext, title: str, *content: str, trail: Sequence[tuple[str, str]] = ()) -> str:
    """Returns a whole page. `trail`: the addresses and titles of the pages above it."""
    steps = [html_element("li", html_element("a", label, href=address)) for address, label in trail]
    main = html_element(
        "main",
        *([html_element("ol", *steps, class_="trail", aria_label="Where this page is")] if steps else []),
        html_element("h1", title),
        *([html_element("p", context.done, class_="done", role="status")] if context.done else []),
        *([html_element("p", context.problem, class_="notice", role="alert")] if context.problem else []),
        *content,
        id="content",
        tabindex="-1",
    )
    return _document_html(title, html_element("a", "Skip to the content", class_="skip", href="#content"),
                          _header_html(context), main)  # fmt: skip


def plain_page(title: str, *content: str) -> str:
    """Returns a page without navigation, for people who are not in."""
    return _document_html(title, html_element("main", html_element("h1", title), *content, class_="entrance"))


def post_form(visitor: AdminVisitor, action: str, *content: str, class_: str | None = None, **fields: str) -> SafeHtml:
    """Returns a form that changes something. `fields` are sent as they are."""
    hidden = [
        html_element("input", type="hidden", name=name, value=value)
        for name, value in {FORM_KEY_FIELD: visitor.form_key, **fields}.items()
    ]
    return html_element("form", *hidden, *content, method="post", action=action, class_=class_, autocomplete="off")


def table_html(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, numeric: frozenset[int] = frozenset()
) -> SafeHtml:
    """Returns a table that scrolls by itself where it is too wide. On narrow screens each cell shows its column."""
    head = [
        html_element("th", label, scope="col", class_="number" if number in numeric else None)
        for number, label in enumerate(columns)
    ]
    lines = [
        html_element(
            "tr",
            *(
                html_element(
                    "th" if not number else "td",
                    cell,
                    scope=None if number else "row",
                    data_label=columns[number] if number else None,
                    class_="number" if number in numeric else None,
                )
                for number, cell in enumerate(row)
            ),
        )
        for row in rows
    ]
    table = html_element(
        "table",
        html_element("caption", caption),
        html_element("thead", html_element("tr", *head)),
        html_element("tbody", *lines),
    )
    return html_element("div", table, class_="table stacked")


def link_html(label: str, path: str, **parameters: str) -> SafeHtml:
    return html_element("a", label, href=address_of(path, **parameters))


def list_html(items: Iterable[str], class_: str | None = None) -> SafeHtml:
    return html_element("ul", *(html_element("li", item) for item in items), class_=class_)


def section_html(title: str, *content: str, id_: str | None = None) -> SafeHtml:
    return html_element("section", html_element("h2", title), *content, id=id_)


def time_html(time: datetime | None, absent: str) -> SafeHtml:
    """Returns the time in UTC, or the text for none."""
    if time is None:
        return join_html(absent)
    utc_time = time.astimezone(UTC)
    return html_element("time", f"{utc_time:%d %b %Y, %H:%M} UTC", datetime=utc_time.isoformat())


def name_person(context: PageContext, person: PersonId) -> str:
    """Returns the person's name; the id where no product tells a name."""
    return OPERATOR_NAME if person == OPERATOR else context.names.get(person, person)


def person_html(context: PageContext, person: PersonId) -> SafeHtml:
    """Returns the person's name with the id below it."""
    name = name_person(context, person)
    ids = [] if person in (name, OPERATOR) else [html_element("small", person)]
    return join_html(name, *ids)


def subject_html(context: PageContext, subject: Subject, *notes: str) -> SafeHtml:
    """Returns who a grant is for by name, with the id and the notes below."""
    name = context.names.get(person_of_subject(subject)) or name_subject(subject)
    ids = [] if subject.endswith(name) else [subject]
    return join_html(name, *(html_element("small", note) for note in (*ids, *notes)))


def person_of_subject(subject: Subject) -> PersonId:
    """Returns the person that a grant is for; something that is nobody for other grants."""
    return PersonId(subject.removeprefix("user:"))


def count_text(count: int, noun: str) -> str:
    """ "1 document", "1,042 documents"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _header_html(context: PageContext) -> SafeHtml:
    visitor = context.visitor
    links = [
        html_element("a", label, href=path, aria_current="page" if path == context.path else None)
        for path, label in MAIN_PATHS.items()
    ]
    name = OPERATOR_NAME if visitor.person == OPERATOR else visitor.name or visitor.person
    leave = post_form(visitor, "/admin/leave", html_element("button", "Leave", type="submit"), class_="leave")
    icon = html_element("img", src="/chat/icon.svg", alt="", width="22", height="22")
    return html_element(
        "header",
        html_element("p", html_element("a", icon, "Parley admin", href="/admin"), class_="name"),
        html_element("nav", *links, aria_label="Administration"),
        html_element("p", name, class_="speaker", title=name if visitor.person == OPERATOR else visitor.person),
        *([leave] if visitor.came_by_link else []),
        class_="admin",
    )


def _document_html(title: str, *body: str) -> str:
    head = html_element(
        "head",
        html_element("meta", charset="utf-8"),
        html_element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        html_element("meta", name="color-scheme", content="light dark"),
        html_element("meta", name="robots", content="noindex"),
        html_element("title", f"{title} · Parley admin"),
        html_element("link", rel="icon", href="/chat/icon.svg", type="image/svg+xml"),
        *(html_element("link", rel="stylesheet", href=address) for address in _STYLE_SHEETS),
    )
    return "<!doctype html>\n" + html_element("html", head, html_element("body", *body, class_="admin"), lang="en")

"""The page about admins: who is one, with forms to add and to remove one."""

from collections.abc import Sequence
from typing import Final

from adapters.web.admin.layout import PageContext, admin_page, count_text, person_html, post_form, table_html, time_html
from adapters.web.html import SafeHtml, html_element
from bot.admin.administration import AdminEntry
from bot.admin.sentences import ADMIN_FROM_SETTINGS, NO_ADMINS, REMOVE_ADMIN_WARNING
from bot.ids import PersonId

_MAX_PERSON_CHARACTERS: Final = "300"
_PERSON_HINT: Final = (
    "local:NAME, slack:TEAM:USER or teams:TENANT:OBJECT. An admin sees what is in a bucket only with a grant, and may "
    "grant it to themselves; the audit log keeps who did."
)
_OWN_REMOVAL_WARNING: Final = "This is you: this page closes for you at once."


def admins_page(context: PageContext, admins: Sequence[AdminEntry], typed: str = "") -> str:
    """`typed`: what a refused form held."""
    rows = [
        (
            person_html(context, admin.person),
            "–" if admin.added_at is None else time_html(admin.added_at, ""),
            "–" if admin.added_by is None else person_html(context, admin.added_by),
            ADMIN_FROM_SETTINGS if admin.is_from_settings else _remove_form(context, admin.person),
        )
        for admin in admins
    ]
    table = table_html(count_text(len(rows), "admin"), ("Person", "Since", "By", ""), rows)
    return admin_page(
        context,
        "Admins",
        table if rows else html_element("p", NO_ADMINS),
        _add_form(context, typed),
    )


def _remove_form(context: PageContext, person: PersonId) -> SafeHtml:
    warning = _OWN_REMOVAL_WARNING if person == context.visitor.person else REMOVE_ADMIN_WARNING
    form = post_form(
        context.visitor,
        "/admin/admins/remove",
        html_element("p", warning),
        html_element("button", "Remove", type="submit", aria_label=f"Remove {person}"),
        person=person,
    )
    summary = html_element("summary", "Remove…", aria_label=f"Remove {person}…")
    return html_element("details", summary, form, class_="confirm")


def _add_form(context: PageContext, typed: str) -> SafeHtml:
    return post_form(
        context.visitor,
        "/admin/admins/add",
        html_element("h2", "Make somebody an admin"),
        html_element("label", "Person", for_="admin-person"),
        html_element(
            "input",
            id="admin-person",
            name="person",
            value=typed,
            required=True,
            maxlength=_MAX_PERSON_CHARACTERS,
            aria_describedby="person-hint",
            spellcheck="false",
        ),
        html_element("p", _PERSON_HINT, id="person-hint", class_="hint"),
        html_element("button", "Add", type="submit", class_="main"),
        class_="fields",
    )

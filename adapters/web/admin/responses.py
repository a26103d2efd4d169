"""What the handlers of the admin page share: responses, the context of a page, and what an address names."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from aiohttp import web

from adapters.web.admin.layout import PageContext, plain_page
from adapters.web.admin.visitors import AdminVisitor
from adapters.web.html import html_element
from adapters.web.security_headers import SECURITY_HEADERS
from bot.admin.person_names import ProfileSource, load_person_names
from bot.ids import OPERATOR, PersonId

MAX_BUCKET_CHARACTERS: Final = 300
_DONE_SENTENCES: Final = {
    "granted": "It is granted, and holds from the next question on.",
    "revoked": "The grant is revoked.",
    "admin-added": "The person is an admin now.",
    "admin-known": "The person was an admin already.",
    "admin-removed": "The person is no longer an admin.",
    "limits": "Saved; it holds from the next question on.",
    "synonym": "The synonym is added, and the next question uses it.",
    "retention-set": "Saved; what is older is deleted within the hour.",
    "retention-ended": "The rule is ended, and nothing more is deleted by it.",
    "saved": "The schema is saved, and the next question uses it.",
    "unchanged": "Nothing was different, so nothing was saved.",
    "source-sync": "The sync begins within a minute.",
    "source-pause": "The source is paused; it is synced by hand alone until it is resumed.",
    "source-resume": "The source is synced again as before, and now.",
    "value-accept": "The value is accepted, and holds also when the document is loaded again.",
    "value-correct": "The value is corrected, and the next question counts it.",
    "value-empty": "The document has no such value now, also when it is loaded again.",
    "value-restored": "What was read before is there again.",
    "value-read_again": "The document has changed since, so its field has no value until the next sync reads it again.",
    "value-unread": "The document has changed since, so its field has no value until the document is loaded again.",
}


def html_response(page: str, status: int = 200) -> web.Response:
    return web.Response(text=page, content_type="text/html", status=status, headers=SECURITY_HEADERS)


def refusal_response(sentence: str, status: int) -> web.Response:
    return html_response(plain_page("Parley admin", html_element("p", sentence, class_="notice")), status)


def redirect_to(address: str) -> web.Response:
    return web.Response(status=303, headers=SECURITY_HEADERS | {"Location": address})


def bucket_named_in(request: web.Request) -> str:
    return request.query.get("b", "")[:MAX_BUCKET_CHARACTERS]


async def with_names(context: PageContext, persons: Iterable[PersonId], profiles: ProfileSource) -> PageContext:
    """Returns the context with the names of these people."""
    named = [person for person in persons if person != OPERATOR]
    return replace(context, names=await load_person_names(named, profiles))


def context_of(request: web.Request, visitor: AdminVisitor) -> PageContext:
    done = _DONE_SENTENCES.get(request.query.get("done", ""), "")
    return PageContext(visitor=visitor, path=request.path, done=done)

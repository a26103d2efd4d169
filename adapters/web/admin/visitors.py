"""Who visits the admin page: the operator, as in the web chat, or an admin who came by a signed link."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from adapters.web.access_guard import ACCESS_COOKIE, AccessGuard
from bot.admin.admin_page.entrance import SESSION_LIFETIME, AdminEntrance
from bot.ids import OPERATOR, PersonId

SESSION_COOKIE: Final = "parley_admin"
FORM_KEY_FIELD: Final = "form_key"
_FORM_PURPOSE: Final = b"parley admin form, version 1\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminVisitor:
    """A person who may be an admin. `form_key` belongs into every form; `came_by_link`: has a session to leave.

    `name`: as a chat product tells it; empty where none does.
    """

    person: PersonId
    form_key: str
    came_by_link: bool
    name: str = ""


class AdminVisitors:
    """`keys` sign the tokens of forms; the first signs, every key verifies."""

    def __init__(self, guard: AccessGuard, entrance: AdminEntrance, keys: Sequence[bytes]) -> None:
        self._guard, self._entrance, self._keys = guard, entrance, keys

    def find_visitor(self, request: web.Request) -> AdminVisitor | None:
        """None for a request that proves nobody. A session of a link counts before the token of the web chat."""
        ticket = self._entrance.find_session(request.cookies.get(SESSION_COOKIE, ""))
        if ticket is not None:
            token = _form_key_of(self._keys[0], f"{ticket.id} {ticket.person}")
            return AdminVisitor(person=ticket.person, form_key=token, came_by_link=True)
        if not self._guard.admits_request(request):
            return None
        token = _form_key_of(self._keys[0], self._operator_session_of(request))
        return AdminVisitor(person=OPERATOR, form_key=token, came_by_link=False)

    def accepts_form(self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]) -> bool:
        """Whether the form is one of this visitor's pages, sent from this site."""
        token = fields.get(FORM_KEY_FIELD, "").encode(errors="replace")
        return self._guard.is_same_origin(request) and hmac.compare_digest(token, visitor.form_key.encode())

    def _operator_session_of(self, request: web.Request) -> str:
        return request.cookies.get(ACCESS_COOKIE, "") if self._guard.wants_token else "this machine"


def set_session_cookie(response: web.Response, request: web.Request, session: str) -> None:
    is_secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
    response.set_cookie(
        SESSION_COOKIE,
        session,
        max_age=int(SESSION_LIFETIME.total_seconds()),
        path="/admin",
        httponly=True,
        samesite="Strict",
        secure=is_secure,
    )


def delete_session_cookie(response: web.Response) -> None:
    response.del_cookie(SESSION_COOKIE, path="/admin")


def _form_key_of(key: bytes, session: str) -> str:
    return hmac.new(key, _FORM_PURPOSE + session.encode(errors="replace"), hashlib.sha256).hexdigest()

"""The web chat: a page that works by forms alone, and follows the conversation where scripts run."""

import json
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aiohttp import web

from adapters.web.guard import COOKIE, Guard
from adapters.web.outbox import WebOutbox, conversation_of
from adapters.web.page import STATIC, chat_page, entry_html, static_file, token_page
from adapters.web.transcript import Entry, Transcript
from bot.dialogue import LONGEST_QUESTION
from bot.errors import BotError
from bot.ids import OPERATOR, ChoiceId, MessageId, TurnId
from bot.inbound import Body, Clicked, Inbound, Operator, Said
from bot.replies import Notice, Reply

if TYPE_CHECKING:
    from bot.bootstrap import Bot

_KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")
_LOCALE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?")
_SECURITY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
Accept = Callable[[Inbound], Awaitable[object]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class _Refusal(Exception):
    """What the person reads instead."""

    status: int
    sentence: str


class WebChat:
    """The surface. `accept` stores what a person wrote; raises a `BotError` for what is no message."""

    name = "web"

    def __init__(
        self, *, accept: Accept, transcript: Transcript, guard: Guard, clock: Callable[[], datetime], limit: int
    ) -> None:
        self._accept, self._transcript, self._guard = accept, transcript, guard
        self._clock, self._limit = clock, limit
        self._outbox = WebOutbox(transcript, clock)
        self._closed = False

    @property
    def outbox(self) -> WebOutbox:
        return self._outbox

    @property
    def directory(self) -> None:
        """People here are the machine's own: nobody else knows them."""

    @property
    def threads(self) -> None:
        """Every message stands in a conversation."""
        return None

    @property
    def files(self) -> None:
        """Nothing is attached to messages here."""

    @property
    def apart(self) -> None:
        """Pages follow the conversation in this process."""

    def routes(self) -> Sequence[web.RouteDef]:
        return (
            web.get("/", self._guarded(self._page)),
            web.post("/", self._guarded(self._said)),
            web.get("/chat/new", self._guarded(self._new)),
            web.get("/chat/events", self._guarded(self._events)),
            web.post("/chat/token", self._token),
            web.get("/chat/{name}", self._static),
        )

    async def start(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Ends the streams that pages follow, so that the server can stop."""
        self._closed = True

    # -- pages

    async def _new(self, request: web.Request) -> web.StreamResponse:
        return _see(f"/?c={secrets.token_urlsafe(18)}")

    async def _page(self, request: web.Request) -> web.StreamResponse:
        if (key := _key_of(request)) is None:
            return await self._new(request)
        return await self._page_of(key)

    async def _page_of(self, key: str, *, status: str = "", code: int = 200) -> web.Response:
        page = chat_page(
            await self._transcript.entries(key),
            conversation=key,
            event=_fresh_event(),
            speaker="You speak as the owner of this Parley",
            limit=self._limit,
            status=status,
            now=self._clock(),
        )
        return web.Response(text=page, content_type="text/html", status=code, headers=_SECURITY)

    async def _static(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in STATIC:
            raise web.HTTPNotFound(text="There is no such file.\n")
        headers = _SECURITY | {"Cache-Control": "no-cache"}
        return web.Response(text=static_file(name), content_type=STATIC[name], headers=headers)

    # -- what a person says

    async def _said(self, request: web.Request) -> web.StreamResponse:
        key = _key_of(request)
        try:
            if key is None:
                raise _Refusal(400, "This conversation has no valid address; start a new one.")
            await self._take(request, key)
        except _Refusal as refusal:
            return await self._refused(request, key, refusal)
        if _wants_json(request):
            return _json({"event": _fresh_event()})
        return _see(f"/?c={key}")

    async def _take(self, request: web.Request, key: str) -> None:
        """Store the message and show it. Raises `_Refusal`."""
        fields = await request.post()
        event = _text(fields.get("event")) or _fresh_event()
        body = self._body(_text(fields.get("text")), _text(fields.get("choice")))
        inbound = self._inbound(request, key, event, body, _text(fields.get("time_zone")))
        if isinstance(body, Said) and not await self._transcript.holds(key, f"q-{event}"):
            await self._transcript.append(key, f"q-{event}", inbound.received, body.text)  # before any word of a reply
        try:
            await self._accept(inbound)
        except BotError as exc:
            reply = Reply(turn=TurnId(""), parts=(Notice(text=str(exc)),))
            await self._transcript.append(key, f"r-{event}", inbound.received, reply)

    def _body(self, text: str, choice: str) -> Body:
        if choice:
            return Clicked(ChoiceId(choice[:200]))
        said = text.replace("\r\n", "\n").strip()
        if not said:
            raise _Refusal(422, "There is no question here; write one and send it again.")
        if len(said) > self._limit:
            raise _Refusal(422, f"A question has at most {self._limit:,} characters; this one has {len(said):,}.")
        return Said(said)

    def _inbound(self, request: web.Request, key: str, event: str, body: Body, time_zone: str) -> Inbound:
        if _KEY.fullmatch(event) is None:
            raise _Refusal(400, "The form is not one of this page; load it again.")
        return Inbound(
            surface=self.name,
            event_id=f"web:{key}:{event}",
            conversation=conversation_of(key),
            message_id=MessageId(event),
            person=OPERATOR,
            name="you",
            audience=Operator(),
            body=body,
            received=self._clock(),
            locale=_locale_of(request),
            time_zone=_time_zone(time_zone),
        )

    async def _refused(self, request: web.Request, key: str | None, refusal: _Refusal) -> web.Response:
        if _wants_json(request) or key is None:
            return _json({"error": refusal.sentence}, status=refusal.status)
        return await self._page_of(key, status=refusal.sentence, code=refusal.status)

    # -- what is said there

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: each message that changed since `after`, as JSON of its id and HTML."""
        if (key := _key_of(request)) is None:
            raise web.HTTPNotFound(text="There is no such conversation.\n")
        after = request.headers.get("Last-Event-ID") or request.query.get("after", "0")
        response = web.StreamResponse(headers=_SECURITY | {"Content-Type": "text/event-stream"})
        await response.prepare(request)
        quiet = 0
        async for entries in self._transcript.follow(key, int(after) if after.isdecimal() else 0):
            if self._closed:
                break
            quiet = 0 if entries else quiet + 1
            if entries:
                await response.write(_events_of(entries, self._clock()))
            elif quiet % 15 == 0:
                await response.write(b": still here\n\n")  # tells a closed page from a quiet one
        return response

    # -- who may

    def _guarded(self, handler: Handler) -> Handler:
        async def checked(request: web.Request) -> web.StreamResponse:
            if not self._guard.admits(request):
                return self._not_admitted(request)
            if request.method == "POST" and not self._guard.is_same_origin(request):
                return _json({"error": "This was sent from another site, so it was not taken."}, status=403)
            return await handler(request)

        return checked

    def _not_admitted(self, request: web.Request) -> web.Response:
        if self._guard.wants_token and _wants_json(request):
            return _json({"error": "Load the page again and give the access token."}, status=401)
        if self._guard.wants_token:
            return web.Response(text=token_page(""), content_type="text/html", status=401, headers=_SECURITY)
        sentence = "The web chat is open on this machine only; set PARLEY_WEB_TOKEN to open it to others."
        return web.Response(text=f"{sentence}\n", status=403, headers=_SECURITY)

    async def _token(self, request: web.Request) -> web.StreamResponse:
        fields = await request.post()
        if not self._guard.is_same_origin(request) or not self._guard.knows(_text(fields.get("token"))):
            page = token_page("This is not the token.")
            return web.Response(text=page, content_type="text/html", status=403, headers=_SECURITY)
        response = _see("/")
        secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
        response.set_cookie(COOKIE, self._guard.cookie(), httponly=True, samesite="Strict", secure=secure)
        return response


def surface(bot: "Bot") -> WebChat:
    settings = bot.settings
    token = settings.web_token.get_secret_value() if settings.web_token else None
    return WebChat(
        accept=bot.accept,
        transcript=Transcript(settings.home / "web"),
        guard=Guard(token, urlsplit(settings.link_base).netloc.lower()),
        clock=lambda: datetime.now(UTC),
        limit=LONGEST_QUESTION,
    )


def _events_of(entries: Sequence[Entry], now: datetime) -> bytes:
    """The last event carries the revision: whoever lost the stream between gets all of them again."""
    lines = [f"data: {json.dumps({'id': entry.id, 'html': entry_html(entry, now)})}\n" for entry in entries]
    lines[-1] = f"id: {max(entry.revision for entry in entries)}\n{lines[-1]}"
    return "".join(f"{line}\n" for line in lines).encode()


def _key_of(request: web.Request) -> str | None:
    key = request.query.get("c", "")
    return key if _KEY.fullmatch(key) else None


def _fresh_event() -> str:
    return secrets.token_urlsafe(18)


def _text(field: object) -> str:
    """A field of a form; a file in its place counts as nothing."""
    return field if isinstance(field, str) else ""


def _wants_json(request: web.Request) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def _json(data: dict[str, str], *, status: int = 200) -> web.Response:
    return web.json_response(data, status=status, headers=_SECURITY)


def _see(address: str) -> web.Response:
    return web.Response(status=303, headers=_SECURITY | {"Location": address})


def _locale_of(request: web.Request) -> str:
    match = _LOCALE.match(request.headers.get("Accept-Language", ""))
    return match[0] if match else "en"


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"
    return name

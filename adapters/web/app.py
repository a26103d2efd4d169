"""The web chat surface: a page that works with forms alone, and follows the conversation live with JavaScript."""

import contextlib
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aiohttp import web
from pydantic import SecretStr
from structlog.typing import FilteringBoundLogger

from adapters.web.access_guard import ACCESS_COOKIE, AccessGuard
from adapters.web.outbox import WebOutbox, conversation_id_of
from adapters.web.page import (
    STATIC_FILES,
    TOKEN_TARGETS,
    chat_page,
    entry_html,
    read_static_file,
    steps_page,
    token_page,
)
from adapters.web.render import steps_html
from adapters.web.reply_only import ReplyOnlyWeb
from adapters.web.security_headers import PICTURE_HEADERS, SECURITY_HEADERS
from adapters.web.transcript import TranscriptEntry, WebTranscript
from bot.conversation.personal_history import PersonalHistory
from bot.errors import BotError, PictureFailed
from bot.http.connections import protect_connection
from bot.http.request_body import read_form
from bot.ids import OPERATOR, ChoiceId, MessageId, TurnId
from bot.pictures.picture_look import PAGE_LOOKS
from bot.pictures.rendering import render_picture
from bot.surface.inbound import (
    MAX_QUESTION_CHARS,
    ButtonClick,
    Inbound,
    InboundBody,
    OperatorAudience,
    SearchSaveRequest,
    TextMessage,
)
from bot.surface.replies import NoticePart, PicturePart, Reply
from bot.turns.turn_actions import TurnActionHandler, TurnActor, TurnSteps

_KEY_PATTERN = re.compile(r"[A-Za-z0-9_-]{16,64}")
_MAX_EXAMPLES = 3  # questions on an empty page
_MAX_FORM_BYTES = 256 * 1024  # a question of 10,000 characters, each of them escaped
_LOCALE_PATTERN = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?")
AcceptInbound = Callable[[Inbound], Awaitable[object]]
LoadExamples = Callable[[], Awaitable[Sequence[str]]]
LoadSteps = Callable[[TurnId, TurnActor], Awaitable[TurnSteps]]
RequestHandler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class _RequestRefused(Exception):
    """The request is refused with an HTTP status and a sentence for the person."""

    status: int
    sentence: str


class WebSettings(Protocol):
    """The bot's settings that this surface reads."""

    @property
    def home(self) -> Path: ...

    @property
    def link_base(self) -> str: ...

    @property
    def secret_keys(self) -> tuple[bytes, ...]: ...

    @property
    def web_token(self) -> SecretStr | None: ...


class WebBot(Protocol):
    """The parts of the bot that this surface needs."""

    @property
    def settings(self) -> WebSettings: ...

    @property
    def log(self) -> FilteringBoundLogger: ...

    @property
    def turn_actions(self) -> TurnActionHandler: ...

    @property
    def personal_history(self) -> PersonalHistory: ...

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None:
        """Stores the inbound. Raises a `BotError` for an invalid one."""
        ...


class WebChat:
    """The web surface. `accept` stores a person's message; it raises a `BotError` for an invalid one. `load_steps`
    raises one for an answer that may not be seen. `load_examples` returns questions to begin with.
    """

    name = "web"

    def __init__(
        self,
        *,
        accept: AcceptInbound,
        load_steps: LoadSteps,
        load_examples: LoadExamples,
        transcript: WebTranscript,
        guard: AccessGuard,
        clock: Callable[[], datetime],
        max_characters: int,
        log: FilteringBoundLogger,
    ) -> None:
        self._accept, self._load_steps, self._transcript, self._guard = accept, load_steps, transcript, guard
        self._load_examples = load_examples
        self._clock, self._max_characters, self._log = clock, max_characters, log
        self._outbox = WebOutbox(transcript, clock)
        self._reply_only = ReplyOnlyWeb()
        self._is_closed = False

    @property
    def outbox(self) -> WebOutbox:
        return self._outbox

    @property
    def directory(self) -> None:
        """None: there is no directory for the users of this machine."""

    @property
    def threads(self) -> None:
        """None: every message belongs to a conversation already."""
        return None

    @property
    def files(self) -> None:
        """None: messages here have no attachments."""

    @property
    def worker_support(self) -> ReplyOnlyWeb:
        return self._reply_only

    def http_routes(self) -> Sequence[web.RouteDef]:
        return (
            web.get("/", self._require_access(self._show_chat_page)),
            web.post("/", self._require_access(self._receive_posted_message)),
            web.get("/chat/new", self._require_access(self._start_conversation)),
            web.get("/chat/events", self._require_access(self._stream_server_events)),
            web.get("/chat/picture", self._require_access(self._show_picture)),
            web.get("/chat/steps", self._require_access(self._show_steps)),
            web.post("/chat/token", self._sign_in_with_token),
            web.get("/chat/{name}", self._serve_static_file),
        )

    async def start(self) -> None:
        """Do nothing: there is nothing to open."""

    async def close(self) -> None:
        """End the event streams to the pages, so that the server can stop."""
        self._is_closed = True

    # -- pages

    async def _start_conversation(self, request: web.Request) -> web.StreamResponse:
        return _redirect_to(f"/?c={secrets.token_urlsafe(18)}")

    async def _show_chat_page(self, request: web.Request) -> web.StreamResponse:
        if (key := _conversation_key_of(request)) is None:
            return await self._start_conversation(request)
        return await self._render_chat_page(key)

    async def _render_chat_page(self, key: str, *, status_text: str = "", status_code: int = 200) -> web.Response:
        entries = await self._transcript.load_entries(key)
        page = chat_page(
            entries,
            conversation=key,
            event_id=_new_event_id(),
            speaker="You speak as the owner of this Parley",
            max_characters=self._max_characters,
            status_text=status_text,
            now=self._clock(),
            examples=() if entries else await self._load_examples(),
        )
        return web.Response(text=page, content_type="text/html", status=status_code, headers=SECURITY_HEADERS)

    async def _show_steps(self, request: web.Request) -> web.StreamResponse:
        if (key := _conversation_key_of(request)) is None:
            raise web.HTTPNotFound(text="There is no such conversation.\n")
        actor = TurnActor(
            conversation=conversation_id_of(key), audience=OperatorAudience(), person=OPERATOR, name="you"
        )
        try:
            steps = await self._load_steps(TurnId(request.query.get("turn", "")), actor)
        except BotError as exc:
            raise web.HTTPNotFound(text=f"{exc}\n") from exc
        page = steps_page(steps_html(steps))
        return web.Response(text=page, content_type="text/html", headers=SECURITY_HEADERS)

    async def _show_picture(self, request: web.Request) -> web.StreamResponse:
        picture = await self._find_picture(request)
        look = PAGE_LOOKS.get(request.query.get("look", ""), PAGE_LOOKS["light"])
        if picture is None:
            raise web.HTTPNotFound(text="There is no such picture.\n")
        try:
            file = await render_picture(picture, look)
        except PictureFailed as exc:
            self._log.warning("picture not drawn", reason=type(exc.__cause__).__name__)
            raise web.HTTPNotFound(text=f"{exc}\n") from exc
        return web.Response(body=file, content_type="image/svg+xml", headers=SECURITY_HEADERS | PICTURE_HEADERS)

    async def _find_picture(self, request: web.Request) -> PicturePart | None:
        """Returns the part of this number in the message, if it is a picture."""
        key, number = _conversation_key_of(request), request.query.get("part", "")
        if key is None or not (number.isascii() and number.isdigit() and len(number) < 4):
            return None
        entries = {entry.id: entry.content for entry in await self._transcript.load_entries(key)}
        reply = entries.get(request.query.get("message", ""))
        part = reply.parts[int(number)] if isinstance(reply, Reply) and int(number) < len(reply.parts) else None
        return part if isinstance(part, PicturePart) else None

    async def _serve_static_file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in STATIC_FILES:
            raise web.HTTPNotFound(text="There is no such file.\n")
        headers = SECURITY_HEADERS | {"Cache-Control": "no-cache"}
        return web.Response(text=read_static_file(name), content_type=STATIC_FILES[name], headers=headers)

    # -- posted messages

    async def _receive_posted_message(self, request: web.Request) -> web.StreamResponse:
        key = _conversation_key_of(request)
        try:
            if key is None:
                raise _RequestRefused(400, "This conversation has no valid address; start a new one.")
            await self._store_and_accept(request, key)
        except _RequestRefused as refusal:
            return await self._refusal_response(request, key, refusal)
        if _wants_json(request):
            return _json_response({"event": _new_event_id()})
        return _redirect_to(f"/?c={key}")

    async def _store_and_accept(self, request: web.Request, key: str) -> None:
        """Store the message in the transcript and accept it. Raises `_RequestRefused`, `HttpRefusal`."""
        fields = await read_form(request, _MAX_FORM_BYTES)
        event_id = fields.get("event") or _new_event_id()
        body = self._parse_message_body(fields)
        inbound = self._build_inbound(request, key, event_id, body, fields.get("time_zone", ""))
        if isinstance(body, TextMessage) and not await self._transcript.has_entry(key, f"q-{event_id}"):
            # Append the question before the reply can arrive.
            await self._transcript.append_message(key, f"q-{event_id}", inbound.received_at, body.text)
        try:
            await self._accept(inbound)
        except BotError as exc:
            reply = Reply(turn=TurnId(""), parts=(NoticePart(text=str(exc)),))
            await self._transcript.append_message(key, f"r-{event_id}", inbound.received_at, reply)

    def _parse_message_body(self, fields: Mapping[str, str]) -> InboundBody:
        if choice := fields.get("choice", ""):
            return ButtonClick(ChoiceId(choice[:200]))
        if turn := fields.get("save", ""):
            return SearchSaveRequest(TurnId(turn[:200]))
        question = fields.get("text", "").replace("\r\n", "\n").strip()
        if not question:
            raise _RequestRefused(422, "There is no question here; write one and send it again.")
        if len(question) > self._max_characters:
            raise _RequestRefused(
                422, f"A question has at most {self._max_characters:,} characters; this one has {len(question):,}."
            )
        return TextMessage(question)

    def _build_inbound(
        self, request: web.Request, key: str, event_id: str, body: InboundBody, time_zone: str
    ) -> Inbound:
        if _KEY_PATTERN.fullmatch(event_id) is None:
            raise _RequestRefused(400, "The form is not one of this page; load it again.")
        return Inbound(
            surface=self.name,
            event_id=f"web:{key}:{event_id}",
            conversation=conversation_id_of(key),
            message_id=MessageId(event_id),
            person=OPERATOR,
            person_name="you",
            audience=OperatorAudience(),
            body=body,
            received_at=self._clock(),
            locale=_locale_of(request),
            time_zone=_valid_time_zone(time_zone),
        )

    async def _refusal_response(self, request: web.Request, key: str | None, refusal: _RequestRefused) -> web.Response:
        if _wants_json(request) or key is None:
            return _json_response({"error": refusal.sentence}, status=refusal.status)
        return await self._render_chat_page(key, status_text=refusal.sentence, status_code=refusal.status)

    # -- live updates

    async def _stream_server_events(self, request: web.Request) -> web.StreamResponse:
        """Send each message that changed since `after` as a server-sent event: JSON with its id and HTML."""
        if (key := _conversation_key_of(request)) is None:
            raise web.HTTPNotFound(text="There is no such conversation.\n")
        after_revision = request.headers.get("Last-Event-ID") or request.query.get("after", "0")
        response = web.StreamResponse(headers=SECURITY_HEADERS | {"Content-Type": "text/event-stream"})
        with contextlib.suppress(ConnectionResetError):  # the page was closed, perhaps before the response began
            await response.prepare(request)
            await self._send_new_entries(response, key, _revision_of(after_revision))
        return response

    async def _send_new_entries(self, response: web.StreamResponse, key: str, after_revision: int) -> None:
        quiet_polls = 0
        async for entries in self._transcript.follow_entries(key, after_revision):
            if self._is_closed:
                break
            quiet_polls = 0 if entries else quiet_polls + 1
            if entries:
                await response.write(_encode_server_events(entries, self._clock(), key))
            elif quiet_polls % 15 == 0:
                await response.write(b": still here\n\n")  # a keep-alive, which also detects a closed page

    # -- access

    def _require_access(self, handler: RequestHandler) -> RequestHandler:
        async def check_access(request: web.Request) -> web.StreamResponse:
            if not self._guard.admits_request(request):
                return self._access_denied_response(request)
            protect_connection(request)
            if request.method == "POST" and not self._guard.is_same_origin(request):
                return _json_response({"error": "This was sent from another site, so it was not taken."}, status=403)
            return await handler(request)

        return check_access

    def _access_denied_response(self, request: web.Request) -> web.Response:
        if self._guard.wants_token and _wants_json(request):
            return _json_response({"error": "Load the page again and give the access token."}, status=401)
        if self._guard.wants_token:
            return web.Response(text=token_page(""), content_type="text/html", status=401, headers=SECURITY_HEADERS)
        sentence = "The web chat is open on this machine only; set PARLEY_WEB_TOKEN to open it to others."
        return web.Response(text=f"{sentence}\n", status=403, headers=SECURITY_HEADERS)

    async def _sign_in_with_token(self, request: web.Request) -> web.StreamResponse:
        fields = await read_form(request, _MAX_FORM_BYTES)
        token, target = fields.get("token", ""), fields.get("target", "")
        target = target if target in TOKEN_TARGETS else "/"
        if not self._guard.is_same_origin(request) or not self._guard.is_access_token(token, request):
            page = token_page("This is not the token.", leads_to=target)
            return web.Response(text=page, content_type="text/html", status=403, headers=SECURITY_HEADERS)
        response = _redirect_to(target)
        is_secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
        response.set_cookie(
            ACCESS_COOKIE, self._guard.token_cookie_value(), httponly=True, samesite="Strict", secure=is_secure
        )
        return response


def surface(bot: WebBot) -> WebChat:
    settings = bot.settings
    token = settings.web_token.get_secret_value() if settings.web_token else None
    return WebChat(
        accept=bot.accept_inbound,
        load_steps=bot.turn_actions.load_steps,
        load_examples=partial(bot.personal_history.load_examples, OperatorAudience(), _MAX_EXAMPLES),
        transcript=WebTranscript(settings.home / "web"),
        guard=AccessGuard(
            token, urlsplit(settings.link_base).netloc.lower(), keys=settings.secret_keys, clock=_utc_now
        ),
        clock=_utc_now,
        max_characters=MAX_QUESTION_CHARS,
        log=bot.log,
    )


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _encode_server_events(entries: Sequence[TranscriptEntry], now: datetime, key: str) -> bytes:
    """Encode the events. Only the last one carries the revision, so a client that lost the stream gets all again."""
    lines = [f"data: {json.dumps({'id': entry.id, 'html': entry_html(entry, now, key)})}\n" for entry in entries]
    lines[-1] = f"id: {max(entry.revision for entry in entries)}\n{lines[-1]}"
    return "".join(f"{line}\n" for line in lines).encode()


def _conversation_key_of(request: web.Request) -> str | None:
    key = request.query.get("c", "")
    return key if _KEY_PATTERN.fullmatch(key) else None


def _new_event_id() -> str:
    return secrets.token_urlsafe(18)


def _revision_of(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _wants_json(request: web.Request) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def _json_response(data: dict[str, str], *, status: int = 200) -> web.Response:
    return web.json_response(data, status=status, headers=SECURITY_HEADERS)


def _redirect_to(address: str) -> web.Response:
    return web.Response(status=303, headers=SECURITY_HEADERS | {"Location": address})


def _locale_of(request: web.Request) -> str:
    match = _LOCALE_PATTERN.match(request.headers.get("Accept-Language", ""))
    return match[0] if match else "en"


def _valid_time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"
    return name

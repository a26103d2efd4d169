"""`/admin` on the HTTP port: pages for admins, which work with links and forms alone.

Every request is checked anew: whose it is, and whether that person is an admin. A form changes something only if it was
sent from this site with the token of the visitor's own pages; then the visitor is sent on to the page that shows it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from adapters.web.access_guard import AccessGuard
from adapters.web.admin.access_handlers import AccessHandlers
from adapters.web.admin.bucket_pages import buckets_page
from adapters.web.admin.document_pages import TEXT_CHARACTERS, document_page, documents_page
from adapters.web.admin.layout import PageContext, address_of, plain_page
from adapters.web.admin.report_pages import report_page, synonym_choice_page, synonym_page
from adapters.web.admin.responses import (
    MAX_BUCKET_CHARACTERS,
    bucket_named_in,
    context_of,
    html_response,
    redirect_to,
    refusal_response,
    with_names,
)
from adapters.web.admin.retention.retention_handlers import RetentionHandlers
from adapters.web.admin.review_pages import review_page
from adapters.web.admin.schema_pages import entry_page, schema_page
from adapters.web.admin.source_pages import sources_page
from adapters.web.admin.visitors import AdminVisitor, AdminVisitors, delete_session_cookie, set_session_cookie
from adapters.web.html import html_element
from adapters.web.page import token_page
from adapters.web.security_headers import PICTURE_HEADERS, SECURITY_HEADERS
from bot.admin.admin_page.bucket_contents import MAX_WORDS_CHARACTERS, ShownDocument
from bot.admin.admin_page.bucket_status import InstallationStatus
from bot.admin.admin_page.comparison_wording import describe_comparison
from bot.admin.admin_page.entrance import ENTRY_PATH, AdminEntrance
from bot.admin.admin_page.grant_counts import GrantCounter
from bot.admin.admin_page.limit_status import LimitStatuses
from bot.admin.admin_page.schema_edits import EditableEntry, EditableSchema
from bot.admin.admin_page.source_status import SourceAdministration
from bot.admin.admin_page.usage import REPORT_DAYS, pictures_of_report
from bot.admin.admin_page.value_decisions import ValueDecisions
from bot.admin.person_names import load_person_names
from bot.application import Application
from bot.errors import (
    AdminLinkRefused,
    BotError,
    BucketClosed,
    ConcurrentChange,
    CorrectionRefused,
    MissingBucket,
    NotAdmin,
    PictureFailed,
    SchemaEditRefused,
    SynonymRefused,
    UnknownListing,
    UnknownSource,
)
from bot.http.connections import protect_connection
from bot.http.request_body import read_form
from bot.ids import OPERATOR, PersonId
from bot.pictures.picture_look import PAGE_LOOKS
from bot.pictures.rendering import render_picture

_MAX_FORM_BYTES: Final = 64 * 1024
_MAX_DOC_ID_CHARACTERS: Final = 2_000
_STATIC_FILES: Final = {"admin.css": "text/css", "admin.js": "text/javascript"}
_CLOSED_SENTENCE: Final = (
    "The admin page is open on this machine, with the token of the web chat, or by a link that parley admin-link makes."
)
_NO_ADMIN_SENTENCE: Final = "You are not an admin of Parley now, so this page is not open to you."
_FOREIGN_FORM_SENTENCE: Final = "This was not sent from a page of yours that is still valid; load the page again."
_LEFT_SENTENCE: Final = "You have left the admin page; a new link opens it again."

PageHandler = Callable[[web.Request, AdminVisitor], Awaitable[web.Response]]
FormHandler = Callable[[web.Request, AdminVisitor, Mapping[str, str]], Awaitable[web.Response]]
RequestHandler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def endpoint(bot: Application) -> "AdminSite":
    """Implements `bot.programs.endpoint.ProgramEndpointFactory`."""
    return AdminSite(bot)


class AdminSite:
    """Implements `bot.programs.endpoint.ProgramEndpoint`."""

    def __init__(self, bot: Application) -> None:
        settings, self._administration = bot.settings, bot.administration
        self._entrance = AdminEntrance(administration=bot.administration, database=bot.database, settings=settings)
        self._status = InstallationStatus(
            administration=bot.administration,
            index=bot.index,
            access=bot.access,
            sources=bot.sources,
            readiness=bot.readiness,
        )
        self._access = AccessHandlers(
            administration=bot.administration,
            status=self._status,
            grant_counter=GrantCounter(tenant=settings.tenant, index=bot.index),
            limits=LimitStatuses(administration=bot.administration, database=bot.database, settings=settings),
            retention=bot.retention_edits,
            profiles=bot.directories,
        )
        self._retention, self._profiles = RetentionHandlers(bot.retention_edits), bot.directories
        self._contents, self._reports, self._schemas = bot.granted_contents, bot.admin_reports, bot.schema_edits
        self._decisions = ValueDecisions(
            contents=self._contents,
            index=bot.index,
            database=bot.database,
            sources=bot.sources,
        )
        self._sources = SourceAdministration(
            administration=bot.administration, access=bot.access, sources=bot.sources, database=bot.database
        )
        token = settings.web_token.get_secret_value() if settings.web_token else None
        public_host = urlsplit(settings.link_base).netloc.lower()
        self._guard = AccessGuard(token, public_host, keys=settings.secret_keys, clock=bot.clock)
        self._visitors = AdminVisitors(self._guard, self._entrance, settings.secret_keys)

    def http_routes(self) -> Sequence[web.RouteDef]:
        access, retention = self._access, self._retention
        return (
            web.get("/admin", self._serve_page(self._show_buckets)),
            web.get("/admin/bucket", self._serve_page(access.show_bucket)),
            web.get("/admin/documents", self._serve_page(self._show_documents)),
            web.get("/admin/document", self._serve_page(self._show_document)),
            web.get("/admin/review", self._serve_page(self._show_review)),
            web.get("/admin/grants", self._serve_page(access.show_grants)),
            web.get("/admin/admins", self._serve_page(access.show_admins)),
            web.get("/admin/limits", self._serve_page(access.show_limits)),
            web.get("/admin/retention", self._serve_page(retention.show_retention)),
            web.get("/admin/sources", self._serve_page(self._show_sources)),
            web.get("/admin/report", self._serve_page(self._show_report)),
            web.get("/admin/picture", self._serve_page(self._show_picture)),
            web.get("/admin/synonym", self._serve_page(self._preview_synonym)),
            web.get("/admin/synonym/choose", self._serve_page(self._choose_synonym)),
            web.get("/admin/schema", self._serve_page(self._show_schema)),
            web.get("/admin/schema/entry", self._serve_page(self._show_entry)),
            web.post("/admin/synonym", self._take_form(self._add_synonym)),
            web.post("/admin/schema/save", self._take_form(self._save_entry)),
            web.post("/admin/value", self._take_form(self._decide_value)),
            web.post("/admin/value/withdraw", self._take_form(self._withdraw_decision)),
            web.post("/admin/source/{action}", self._take_form(self._change_source)),
            web.post("/admin/grant", self._take_form(access.grant_bucket)),
            web.post("/admin/revoke", self._take_form(access.revoke_grant)),
            web.post("/admin/admins/add", self._take_form(access.add_admin)),
            web.post("/admin/admins/remove", self._take_form(access.remove_admin)),
            web.post("/admin/limits", self._take_form(access.save_limits)),
            web.post("/admin/retention", self._take_form(retention.save_rule)),
            web.post("/admin/retention/end", self._take_form(retention.end_rule)),
            web.post("/admin/leave", self._take_form(self._leave_page)),
            web.get(ENTRY_PATH + "/{signed}", self._show_entrance),
            web.post(ENTRY_PATH + "/{signed}", self._enter_by_link),
            web.get("/admin/{name}", self._serve_static_file),
        )

    async def start(self) -> None:
        """Do nothing: there is nothing to open."""

    async def close(self) -> None:
        """Do nothing: no answer stays open."""

    # -- pages

    async def _show_buckets(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        buckets, problems = await self._status.load_overview(visitor.person)
        return html_response(buckets_page(context_of(request, visitor), buckets, problems))

    async def _show_documents(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        words, cursor = request.query.get("q", "").strip()[:MAX_WORDS_CHARACTERS], request.query.get("after", "")
        listing = await self._contents.list_documents(
            bucket_named_in(request), visitor.person, words=words, cursor=cursor or None
        )
        return html_response(documents_page(context_of(request, visitor), listing, words, cursor))

    async def _show_document(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        doc_id = request.query.get("id", "")
        part = request.query.get("part", "")
        return await self._render_document(context_of(request, visitor), bucket_named_in(request), doc_id, part, 200)

    async def _show_review(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        return await self._render_review(context_of(request, visitor), bucket_named_in(request), 200)

    async def _show_sources(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        sources = await self._sources.list_sources(visitor.person)
        return html_response(sources_page(context_of(request, visitor), sources))

    async def _render_document(
        self, context: PageContext, bucket: str, doc_id: str, part: str, status: int
    ) -> web.Response:
        person, document = context.visitor.person, None
        if len(doc_id) <= _MAX_DOC_ID_CHARACTERS:
            document = await self._contents.load_document(bucket, doc_id, person)
        if document is None:
            return refusal_response("There is no such document here, or you may not see it.", 404)
        decisions = await self._decisions.list_of_document(bucket, doc_id, person)
        context = await with_names(context, [decided.decided_by for decided in decisions], self._profiles)
        return html_response(document_page(context, document, _part_of(part, document), decisions), status)

    async def _render_review(self, context: PageContext, bucket: str, status: int) -> web.Response:
        reviewed = await self._contents.review_values(bucket, context.visitor.person)
        decisions = await self._decisions.list_newest(bucket, context.visitor.person)
        context = await with_names(context, [decided.decided_by for decided in decisions], self._profiles)
        return html_response(review_page(context, reviewed, decisions), status)

    # -- usage and synonyms

    async def _show_report(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        report = await self._reports.load_report(_days_in(request), visitor.person)
        return html_response(report_page(context_of(request, visitor), report, pictures_of_report(report)))

    async def _show_picture(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        report = await self._reports.load_report(_days_in(request), visitor.person, is_fresh=False)
        picture = pictures_of_report(report).get(request.query.get("name", ""))
        if picture is None:
            return refusal_response("There is no such picture.", 404)
        look = PAGE_LOOKS.get(request.query.get("look", ""), PAGE_LOOKS["light"])
        try:
            file = await render_picture(picture, look)
        except PictureFailed as exc:
            return refusal_response(str(exc), 404)
        return web.Response(body=file, content_type="image/svg+xml", headers=SECURITY_HEADERS | PICTURE_HEADERS)

    async def _preview_synonym(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        preview = await self._reports.preview_synonym(*_synonym_in(request.query), visitor.person)
        lines: Sequence[str] = ()
        if request.query.get("ask") == "yes":
            lines = describe_comparison(await self._reports.compare_synonym(preview, visitor.person))
        return html_response(synonym_page(context_of(request, visitor), preview, lines))

    async def _choose_synonym(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        bucket, field, word, _ = _synonym_in(request.query)
        targets = await self._reports.list_synonym_targets(visitor.person)
        return html_response(synonym_choice_page(context_of(request, visitor), targets, word, bucket, field))

    async def _add_synonym(
        self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]
    ) -> web.Response:
        await self._reports.add_synonym(*_synonym_in(fields), visitor.person)
        return redirect_to(address_of("/admin/report", done="synonym"))

    # -- schemas

    async def _show_schema(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        schema = await self._schemas.load_schema(bucket_named_in(request), visitor.person)
        return html_response(schema_page(context_of(request, visitor), schema))

    async def _show_entry(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        return await self._render_entry(context_of(request, visitor), request.query, 200)

    async def _save_entry(self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]) -> web.Response:
        bucket = fields.get("b", "")
        schema = await self._schemas.load_schema(bucket, visitor.person)
        entry = _entry_typed_in(fields, schema)
        try:
            is_changed = await self._schemas.save_edit(bucket, entry, fields.get("version", ""), visitor.person)
        except (ConcurrentChange, SchemaEditRefused) as exc:
            context = PageContext(visitor=visitor, path="/admin/schema/entry", problem=str(exc))
            return await self._render_entry(context, {**fields, "edited": "yes"}, 422)
        done = "saved" if is_changed else "unchanged"
        return redirect_to(address_of("/admin/schema/entry", b=bucket, f=entry.field, done=done))

    async def _render_entry(self, context: PageContext, fields: Mapping[str, str], status: int) -> web.Response:
        person, bucket = context.visitor.person, fields.get("b", "")[:MAX_BUCKET_CHARACTERS]
        schema = await self._schemas.load_schema(bucket, person)
        entry = _entry_typed_in(fields, schema)
        preview = await self._schemas.preview_edit(bucket, entry, person)
        lines: Sequence[str] = ()
        if fields.get("ask") == "yes" and preview.changes:
            lines = describe_comparison(await self._schemas.compare_answers(bucket, entry, person))
        return html_response(entry_page(context, schema, entry, preview, lines), status)

    # -- values

    async def _decide_value(
        self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]
    ) -> web.Response:
        bucket, doc_id, field = _value_named_in(fields)
        text, version, decision = fields.get("text", ""), fields.get("version", ""), fields.get("decision", "")
        try:
            match decision:
                case "accept":
                    await self._decisions.accept_value(bucket, doc_id, field, text, version, visitor.person)
                case "correct":
                    await self._decisions.correct_value(bucket, doc_id, field, text, version, visitor.person)
                case "empty":
                    await self._decisions.empty_value(bucket, doc_id, field, version, visitor.person)
                case _:
                    raise CorrectionRefused("choose whether the value is right, another, or none")
        except (ConcurrentChange, CorrectionRefused) as exc:
            return await self._refuse_decision(visitor, fields, exc)
        return redirect_to(_address_after_decision(fields, f"value-{decision}"))

    async def _withdraw_decision(
        self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]
    ) -> web.Response:
        try:
            withdrawal = await self._decisions.withdraw_decision(*_value_named_in(fields), visitor.person)
        except (ConcurrentChange, CorrectionRefused) as exc:
            return await self._refuse_decision(visitor, fields, exc)
        return redirect_to(_address_after_decision(fields, f"value-{withdrawal}"))

    async def _refuse_decision(self, visitor: AdminVisitor, fields: Mapping[str, str], exc: BotError) -> web.Response:
        """The page of the form, with the reason."""
        bucket, doc_id, _ = _value_named_in(fields)
        if fields.get("back") == "/admin/document":
            context = PageContext(visitor=visitor, path="/admin/document", problem=str(exc))
            return await self._render_document(context, bucket, doc_id, "", 422)
        context = PageContext(visitor=visitor, path="/admin/review", problem=str(exc))
        return await self._render_review(context, bucket, 422)

    # -- sources

    async def _change_source(
        self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]
    ) -> web.Response:
        source, action = fields.get("source", "")[:MAX_BUCKET_CHARACTERS], request.match_info["action"]
        match action:
            case "sync":
                await self._sources.request_sync(source, visitor.person)
            case "pause":
                await self._sources.pause_source(source, visitor.person)
            case "resume":
                await self._sources.resume_source(source, visitor.person)
            case _:
                return refusal_response("There is no such page.", 404)
        return redirect_to(address_of("/admin/sources", done=f"source-{action}"))

    # -- access

    def _serve_page(self, handler: PageHandler) -> RequestHandler:
        async def serve_visitor(request: web.Request) -> web.StreamResponse:
            visitor = self._visitors.find_visitor(request)
            if visitor is None:
                return self._closed_response()
            if not await self._administration.is_admin(visitor.person):
                return refusal_response(_NO_ADMIN_SENTENCE, 403)
            protect_connection(request)
            named = replace(visitor, name=await self._load_name(visitor.person))
            return await _answer_or_refuse(handler(request, named))

        return serve_visitor

    async def _load_name(self, person: PersonId) -> str:
        """The name that a chat product tells; empty for the operator, and where none does."""
        return "" if person == OPERATOR else (await load_person_names([person], self._profiles)).get(person, "")

    def _take_form(self, handler: FormHandler) -> RequestHandler:
        async def check_form(request: web.Request, visitor: AdminVisitor) -> web.Response:
            fields = await read_form(request, _MAX_FORM_BYTES)
            if not self._visitors.accepts_form(request, visitor, fields):
                return refusal_response(_FOREIGN_FORM_SENTENCE, 403)
            return await handler(request, visitor, fields)

        return self._serve_page(check_form)

    def _closed_response(self) -> web.Response:
        if self._guard.wants_token:
            return html_response(token_page("", leads_to="/admin"), 401)
        return refusal_response(_CLOSED_SENTENCE, 403)

    async def _show_entrance(self, request: web.Request) -> web.StreamResponse:
        """Shows a button, so that a program that looks at links does not use the link up."""
        try:
            person = await self._entrance.find_link_person(request.match_info["signed"])
        except AdminLinkRefused as exc:
            return refusal_response(str(exc), exc.status)
        name = await self._load_name(person)
        sentence = html_element("p", f"This link lets {f'{name} ({person})' if name else person} in, once.")
        button = html_element("button", "Open the admin page", type="submit", class_="main", autofocus=True)
        return html_response(plain_page("Parley admin", sentence, html_element("form", button, method="post")))

    async def _enter_by_link(self, request: web.Request) -> web.StreamResponse:
        if not self._guard.is_same_origin(request):
            return refusal_response(_FOREIGN_FORM_SENTENCE, 403)
        try:
            session = await self._entrance.open_session(request.match_info["signed"])
        except AdminLinkRefused as exc:
            return refusal_response(str(exc), exc.status)
        response = redirect_to("/admin")
        set_session_cookie(response, request, session)
        return response

    async def _leave_page(self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]) -> web.Response:
        response = html_response(plain_page("Parley admin", html_element("p", _LEFT_SENTENCE)))
        delete_session_cookie(response)
        return response

    async def _serve_static_file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in _STATIC_FILES:
            return refusal_response("There is no such page.", 404)
        headers = SECURITY_HEADERS | {"Cache-Control": "no-cache"}
        return web.Response(text=_read_static_file(name), content_type=_STATIC_FILES[name], headers=headers)


async def _answer_or_refuse(answer: Awaitable[web.Response]) -> web.Response:
    try:
        return await answer
    except NotAdmin:  # since the check at the beginning
        return refusal_response(_NO_ADMIN_SENTENCE, 403)
    except BucketClosed as exc:
        return refusal_response(str(exc), 403)
    except (MissingBucket, UnknownListing, UnknownSource) as exc:
        return refusal_response(str(exc), 404)
    except (SchemaEditRefused, SynonymRefused) as exc:
        return refusal_response(str(exc), 422)


def _days_in(request: web.Request) -> int:
    """The days to look back; 30 if others are asked for."""
    return next((days for days in REPORT_DAYS if request.query.get("days") == str(days)), 30)


def _synonym_in(fields: Mapping[str, str]) -> tuple[str, str, str, str | None]:
    """The bucket, the field, the word, and the value; None where the word names the field."""
    bucket, field, word, value = (
        fields.get(name, "")[:MAX_BUCKET_CHARACTERS] for name in ("b", "field", "word", "value")
    )
    return bucket, field, word, value or None


def _entry_typed_in(fields: Mapping[str, str], schema: EditableSchema) -> EditableEntry:
    """The part of the schema with what was typed. Raises `SchemaEditRefused` if there is no such part."""
    entry = schema.find_entry(fields.get("f", ""))
    if entry is None:
        raise SchemaEditRefused("there is no such field")
    if "title" not in fields:
        return entry
    return replace(
        entry,
        title=fields["title"].strip(),
        synonyms=tuple(line.strip() for line in fields.get("synonyms", "").splitlines() if line.strip()),
        facet=None if entry.facet is None else fields.get("facet") == "yes",
        bare=None if entry.bare is None else fields.get("bare", entry.bare),
    )


def _value_named_in(fields: Mapping[str, str]) -> tuple[str, str, str]:
    """The bucket, the document and the field."""
    bucket, field = (fields.get(name, "")[:MAX_BUCKET_CHARACTERS] for name in ("b", "f"))
    return bucket, fields.get("id", "")[:_MAX_DOC_ID_CHARACTERS], field


def _address_after_decision(fields: Mapping[str, str], done: str) -> str:
    """Where the visitor is sent after a decision: to the page of the form."""
    bucket, doc_id, _ = _value_named_in(fields)
    if fields.get("back") == "/admin/document":
        return address_of("/admin/document", b=bucket, id=doc_id, done=done)
    return address_of("/admin/review", b=bucket, done=done)


def _part_of(text: str, document: ShownDocument) -> int:
    """The part of the text that is asked for; the first one if there is no such part."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    return number if number * TEXT_CHARACTERS < len(document.text) else 0


@cache
def _read_static_file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")

"""The page and the forms about how long the documents of a bucket are kept."""

from collections.abc import Mapping

from aiohttp import web

from adapters.web.admin.layout import PageContext, address_of
from adapters.web.admin.responses import MAX_BUCKET_CHARACTERS, bucket_named_in, context_of, html_response, redirect_to
from adapters.web.admin.retention.retention_pages import RETENTION_PATH, TypedRule, retention_page
from adapters.web.admin.visitors import AdminVisitor
from bot.admin.admin_page.retention_edits import RetentionEdits
from bot.errors import BotError, ConcurrentChange, RetentionRefused


class RetentionHandlers:
    """Each handler is given a visitor who was an admin when the request began."""

    def __init__(self, edits: RetentionEdits) -> None:
        self._edits = edits

    async def show_retention(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        """With a rule in the address, also what it would delete."""
        bucket, context = bucket_named_in(request), context_of(request, visitor)
        field, days = _rule_typed_in(request.query)
        if not days:
            return await self._render_page(context, bucket, TypedRule(field=field))
        try:
            effect = await self._edits.preview_rule(bucket, field, days, visitor.person)
        except RetentionRefused as exc:
            return await self._refuse_form(visitor, bucket, TypedRule(field=field, days=days), exc)
        return await self._render_page(context, bucket, TypedRule(field=field, days=days, effect=effect))

    async def save_rule(self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]) -> web.Response:
        bucket, version = _bucket_and_version_in(fields)
        field, days = _rule_typed_in(fields)
        try:
            await self._edits.set_rule(bucket, field, days, version, visitor.person)
        except (ConcurrentChange, RetentionRefused) as exc:
            return await self._refuse_form(visitor, bucket, TypedRule(field=field, days=days), exc)
        return redirect_to(address_of(RETENTION_PATH, b=bucket, done="retention-set"))

    async def end_rule(self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]) -> web.Response:
        bucket, version = _bucket_and_version_in(fields)
        try:
            await self._edits.end_rule(bucket, version, visitor.person)
        except ConcurrentChange as exc:
            return await self._refuse_form(visitor, bucket, TypedRule(), exc)
        return redirect_to(address_of(RETENTION_PATH, b=bucket, done="retention-ended"))

    async def _refuse_form(self, visitor: AdminVisitor, bucket: str, typed: TypedRule, exc: BotError) -> web.Response:
        """The page of the form, with the reason."""
        context = PageContext(visitor=visitor, path=RETENTION_PATH, problem=str(exc))
        status = 409 if isinstance(exc, ConcurrentChange) else 422
        return await self._render_page(context, bucket, typed, status)

    async def _render_page(
        self, context: PageContext, bucket: str, typed: TypedRule, status: int = 200
    ) -> web.Response:
        kept = await self._edits.load_bucket(bucket, context.visitor.person)
        return html_response(retention_page(context, kept, typed), status)


def _rule_typed_in(fields: Mapping[str, str]) -> tuple[str, str]:
    """The field and the days."""
    return fields.get("field", "")[:MAX_BUCKET_CHARACTERS], fields.get("days", "").strip()[:MAX_BUCKET_CHARACTERS]


def _bucket_and_version_in(fields: Mapping[str, str]) -> tuple[str, str]:
    return fields.get("b", "")[:MAX_BUCKET_CHARACTERS], fields.get("version", "")

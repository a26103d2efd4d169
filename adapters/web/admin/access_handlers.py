"""Who may see a bucket: the pages that show grants, and the forms that change them."""

from collections.abc import Mapping

from aiohttp import web

from adapters.web.admin.bucket_pages import bucket_page
from adapters.web.admin.grant_pages import grants_page
from adapters.web.admin.layout import PageContext, address_of
from adapters.web.admin.responses import (
    MAX_BUCKET_CHARACTERS,
    bucket_named_in,
    context_of,
    html_response,
    redirect_to,
)
from adapters.web.admin.visitors import AdminVisitor
from bot.access.subjects import parse_subject
from bot.admin.admin_page.bucket_status import InstallationStatus
from bot.admin.administration import AdminOperations
from bot.errors import AdminRefused, BotError, InvalidSubject, MissingBucket, NotAdmin
from bot.ids import BucketId


class AccessHandlers:
    """Each handler is given a visitor who was an admin when the request began."""

    def __init__(self, *, administration: AdminOperations, status: InstallationStatus) -> None:
        self._administration, self._status = administration, status

    async def show_bucket(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        return await self._render_bucket(context_of(request, visitor), bucket_named_in(request), 200)

    async def show_grants(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        return await self._render_grants(context_of(request, visitor), 200)

    async def grant_bucket(
        self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]
    ) -> web.Response:
        bucket, include_external = BucketId(fields.get("bucket", "")), fields.get("include_external") == "yes"
        try:
            subject = parse_subject(fields.get("subject", "").strip())
            await self._administration.grant_bucket(
                bucket, subject, include_external=include_external, by=visitor.person
            )
        except (AdminRefused, InvalidSubject, MissingBucket) as exc:
            return await self._refuse_grant(visitor, fields, exc)
        return redirect_to(_address_after_grant(fields, "granted"))

    async def revoke_grant(
        self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]
    ) -> web.Response:
        try:
            subject = parse_subject(fields.get("subject", ""))
            await self._administration.revoke_grant(BucketId(fields.get("bucket", "")), subject, by=visitor.person)
        except (AdminRefused, InvalidSubject) as exc:
            return await self._refuse_grant(visitor, fields, exc)
        return redirect_to(_address_after_grant(fields, "revoked"))

    async def _refuse_grant(self, visitor: AdminVisitor, fields: Mapping[str, str], exc: BotError) -> web.Response:
        """The page of the form, with the reason."""
        if isinstance(exc, NotAdmin):
            raise exc
        if fields.get("back") == "/admin/bucket" and not isinstance(exc, MissingBucket):
            context = PageContext(visitor=visitor, path="/admin/bucket", problem=str(exc))
            return await self._render_bucket(context, fields.get("bucket", ""), 422)
        context = PageContext(visitor=visitor, path="/admin/grants", problem=str(exc))
        return await self._render_grants(context, 422)

    async def _render_bucket(self, context: PageContext, bucket: str, status: int) -> web.Response:
        person = context.visitor.person
        loaded, groups = await self._status.load_bucket(bucket, person), await self._load_group_ids(context.visitor)
        return html_response(bucket_page(context, loaded, groups), status)

    async def _render_grants(self, context: PageContext, status: int) -> web.Response:
        buckets = await self._administration.list_buckets(context.visitor.person)
        return html_response(grants_page(context, buckets, await self._load_group_ids(context.visitor)), status)

    async def _load_group_ids(self, visitor: AdminVisitor) -> list[str]:
        return [group.id for group in await self._administration.list_groups(visitor.person)]


def _address_after_grant(fields: Mapping[str, str], done: str) -> str:
    """Where the visitor is sent after a change: to the page of the form."""
    if fields.get("back") == "/admin/bucket":
        return address_of("/admin/bucket", b=fields.get("bucket", "")[:MAX_BUCKET_CHARACTERS], done=done)
    return address_of("/admin/grants", done=done)

"""Who may do what: the pages of grants, admins and limits, and the forms that change them."""

from collections.abc import Mapping, Sequence

from aiohttp import web

from adapters.web.admin.bucket_pages import bucket_page
from adapters.web.admin.grant_pages import grants_page
from adapters.web.admin.layout import PageContext, address_of, person_of_subject
from adapters.web.admin.limit_pages import SHOWN_PREFIX, limits_page
from adapters.web.admin.people_pages import admins_page
from adapters.web.admin.responses import (
    MAX_BUCKET_CHARACTERS,
    bucket_named_in,
    context_of,
    html_response,
    redirect_to,
    with_names,
)
from adapters.web.admin.visitors import AdminVisitor
from bot.access.subjects import parse_person, parse_subject
from bot.admin.admin_page.bucket_status import InstallationStatus
from bot.admin.admin_page.grant_counts import GrantCounter
from bot.admin.admin_page.limit_status import LimitStatuses
from bot.admin.admin_page.retention_edits import RetentionEdits
from bot.admin.administration import AdminOperations, BucketOverview, QuestionLimit
from bot.admin.person_names import ProfileSource
from bot.admin.sentences import LIMIT_INVALID, parse_limit
from bot.errors import AdminRefused, BotError, ConcurrentChange, InvalidSubject, MissingBucket, NotAdmin
from bot.ids import BucketId, PersonId


class AccessHandlers:
    """Each handler is given a visitor who was an admin when the request began."""

    def __init__(
        self,
        *,
        administration: AdminOperations,
        status: InstallationStatus,
        grant_counter: GrantCounter,
        limits: LimitStatuses,
        retention: RetentionEdits,
        profiles: ProfileSource,
    ) -> None:
        self._administration, self._status, self._profiles = administration, status, profiles
        self._grant_counter, self._limits, self._retention = grant_counter, limits, retention

    # -- grants

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
        counts = await self._grant_counter.count_documents([loaded.overview])
        parts = loaded.parts if loaded.is_readable else ()
        kept = [await self._retention.load_bucket(part.id, person) for part in parts]
        context = await self._with_names_of_grants(context, [loaded.overview])
        return html_response(bucket_page(context, loaded, counts, groups, kept), status)

    async def _render_grants(self, context: PageContext, status: int) -> web.Response:
        buckets = await self._administration.list_buckets(context.visitor.person)
        counts, groups = await self._grant_counter.count_documents(buckets), await self._load_group_ids(context.visitor)
        context = await self._with_names_of_grants(context, buckets)
        return html_response(grants_page(context, buckets, counts, groups), status)

    async def _with_names_of_grants(self, context: PageContext, buckets: Sequence[BucketOverview]) -> PageContext:
        grants = [grant for bucket in buckets for grant in bucket.grants]
        persons = [person_of_subject(grant.subject) for grant in grants if grant.subject.startswith("user:")]
        return await with_names(context, [*persons, *(PersonId(grant.granted_by) for grant in grants)], self._profiles)

    async def _load_group_ids(self, visitor: AdminVisitor) -> list[str]:
        return [group.id for group in await self._administration.list_groups(visitor.person)]

    # -- admins

    async def show_admins(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        return await self._render_admins(context_of(request, visitor), 200)

    async def add_admin(self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]) -> web.Response:
        typed = fields.get("person", "").strip()[:MAX_BUCKET_CHARACTERS]
        try:
            is_new = await self._administration.add_admin(parse_person(typed), by=visitor.person)
        except (AdminRefused, InvalidSubject) as exc:
            return await self._refuse_admin(visitor, exc, typed)
        return redirect_to(address_of("/admin/admins", done="admin-added" if is_new else "admin-known"))

    async def remove_admin(
        self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]
    ) -> web.Response:
        try:
            person = parse_person(fields.get("person", ""))
            await self._administration.remove_admin(person, by=visitor.person)
        except (AdminRefused, InvalidSubject) as exc:
            return await self._refuse_admin(visitor, exc)
        return redirect_to(address_of("/admin/admins", done="admin-removed"))

    async def _refuse_admin(self, visitor: AdminVisitor, exc: BotError, typed: str = "") -> web.Response:
        if isinstance(exc, NotAdmin):
            raise exc
        return await self._render_admins(
            PageContext(visitor=visitor, path="/admin/admins", problem=str(exc)), 422, typed
        )

    async def _render_admins(self, context: PageContext, status: int, typed: str = "") -> web.Response:
        admins = await self._administration.list_admins(context.visitor.person)
        persons = [person for admin in admins for person in (admin.person, admin.added_by) if person is not None]
        context = await with_names(context, persons, self._profiles)
        return html_response(admins_page(context, admins, typed), status)

    # -- limits

    async def show_limits(self, request: web.Request, visitor: AdminVisitor) -> web.Response:
        status = await self._limits.load_status(visitor.person)
        return html_response(limits_page(context_of(request, visitor), status))

    async def save_limits(self, request: web.Request, visitor: AdminVisitor, fields: Mapping[str, str]) -> web.Response:
        """Saves only over the limits that the page of the form showed."""
        typed = {limit: fields.get(limit.value, "") for limit in QuestionLimit}
        numbers = {limit: parse_limit(text) for limit, text in typed.items()}
        shown = _limits_shown_in(fields)
        if shown is None or None in numbers.values():
            context = PageContext(visitor=visitor, path="/admin/limits", problem=LIMIT_INVALID)
            status = await self._limits.load_status(visitor.person)
            return html_response(limits_page(context, status, typed, shown), 422)
        new_limits = {limit: number for limit, number in numbers.items() if number}
        try:
            await self._administration.change_limits(shown, new_limits, by=visitor.person)
        except ConcurrentChange as exc:
            context = PageContext(visitor=visitor, path="/admin/limits", problem=str(exc))
            return html_response(limits_page(context, await self._limits.load_status(visitor.person)), 409)
        return redirect_to(address_of("/admin/limits", done="limits"))


def _limits_shown_in(fields: Mapping[str, str]) -> Mapping[QuestionLimit, int] | None:
    """The limits that the page of the form showed; None where they are not numbers."""
    texts = {limit: fields.get(SHOWN_PREFIX + limit.value, "") for limit in QuestionLimit}
    numbers = {limit: parse_limit(text) for limit, text in texts.items()}
    return None if None in numbers.values() else {limit: number for limit, number in numbers.items() if number}


def _address_after_grant(fields: Mapping[str, str], done: str) -> str:
    """Where the visitor is sent after a change: to the page of the form."""
    if fields.get("back") == "/admin/bucket":
        return address_of("/admin/bucket", b=fields.get("bucket", "")[:MAX_BUCKET_CHARACTERS], done=done)
    return address_of("/admin/grants", done=done)

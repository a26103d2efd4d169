"""Handles the Home tab and its modals: opening, clicks and submissions.

Rights are checked again at each click and submission, because a view may be old and its contents prove nothing. An
unknown action changes nothing and shows a notice.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Protocol

from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError, SlackRefusal
from adapters.slack.home.blocks import subject_as_mrkdwn
from adapters.slack.home.home_tab import OWN_BUCKETS_PER_PAGE, HomePages, home_tab_view
from adapters.slack.home.home_tab import QUESTIONS_SHOWN as QUESTIONS_IN_TAB
from adapters.slack.home.modals import (
    CHANGES_IN_VIEW,
    CHANNEL_FIELD,
    EVERYONE_FIELD,
    EXTERNAL_FIELD,
    GROUP_FIELD,
    LOCAL_FIELD,
    PERSON_FIELD,
    QUESTIONS_PER_LIST,
    REOPEN_HOME,
    ModalState,
    admins_view,
    bucket_grants_view,
    changes_view,
    field_errors_response,
    limits_view,
    notice_view,
    page_link_view,
    past_questions_view,
    replace_view_response,
)
from adapters.slack.home.report_blocks import REPORT_DAYS_SHOWN
from adapters.slack.home.submitted_fields import SubmittedFields
from adapters.slack.home.viewer_context import ViewerContext, ViewerResolver
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.interactions import ViewInteraction
from adapters.slack.payloads.responses import OkResponse, ViewResponse
from adapters.slack.posting.render import Json
from bot.access.subjects import parse_subject
from bot.admin.admin_page.retention_edits import RetentionEdits
from bot.admin.admin_page.usage import AdminReports
from bot.admin.administration import AdminOperations, BucketOverview, QuestionLimit
from bot.admin.sentences import (
    CHANNEL_MISSING,
    GROUP_MISSING,
    LIMIT_INVALID,
    LIMITS_SAVED,
    NO_LONGER_ADMIN,
    SUBJECT_MISSING,
    added_admin_notice,
    granted_notice,
    opaque_key_of,
    parse_limit,
    stale_notice,
    unknown_action_notice,
)
from bot.conversation.personal_history import PersonalHistory
from bot.errors import BotError, ConcurrentChange, NotAdmin
from bot.ids import EVERYONE, PersonId, Subject
from bot.saved_searches.personal_searches import PersonalSearches, parse_search_number
from bot.surface.background_work import BackgroundWork
from bot.surface.inbound import PrivateAudience

_RESPONSE_TIMEOUT_S: Final = 2.5  # Slack waits three seconds
_RETENTION_TIME: Final = timedelta(seconds=1)  # for counting what would be deleted
_STALE_NOTICE: Final = stale_notice(REOPEN_HOME)
_NOT_UNDERSTOOD_NOTICE: Final = unknown_action_notice(REOPEN_HOME)
_OWN_CALLBACKS: Final = re.compile(r"\A(?:home|admin|grant)(?::|\Z)")  # anchored, because Bolt uses `search`
_CHANNEL_ID: Final = re.compile(r"[CG][A-Z0-9]+")
_USER_ID: Final = re.compile(r"[UW][A-Z0-9]+")
_USERGROUP_ID: Final = re.compile(r"S[A-Z0-9]+")

ViewJson = Mapping[str, Json]


class SubmissionAck(Protocol):
    async def __call__(self, **answer: Any) -> object: ...


class HomeTabListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ("app_home_opened",)

    def __init__(
        self,
        *,
        administration: AdminOperations,
        personal_history: PersonalHistory,
        personal_searches: PersonalSearches,
        reports: AdminReports,
        retention: RetentionEdits,
        viewers: ViewerResolver,
        background: BackgroundWork,
        log: FilteringBoundLogger,
    ) -> None:
        self._administration, self._personal_history, self._log = administration, personal_history, log
        self._personal_searches, self._reports = personal_searches, reports
        self._retention, self._viewers, self._background = retention, viewers, background

    def register_bolt_handlers(self, app: Any) -> None:
        app.event("app_home_opened", matchers=[_is_home_tab])(self._on_home_opened)
        app.action(_OWN_CALLBACKS)(self._on_home_action)
        app.view(_OWN_CALLBACKS)(self._on_modal_submission)

    # -- deliveries

    async def _on_home_opened(self, body: dict[str, Any]) -> None:
        await self._run_in_time(self._handle_tab_opened(body))

    async def _on_home_action(self, body: dict[str, Any], ack: SubmissionAck) -> None:
        await ack()
        await self._run_in_time(self._handle_block_action(body))

    async def _on_modal_submission(self, body: dict[str, Any], ack: SubmissionAck) -> None:
        started_at_s, interaction = _event_loop_time(), read_payload(ViewInteraction, body)
        viewer = await self._viewers.resolve_viewer(body, interaction)
        if viewer is None:
            await ack()
            return
        try:
            response = await self._handle_modal_submission(viewer, interaction)
        except BotError as exc:
            response = replace_view_response(notice_view(str(exc)))
        await ack(**response)
        await self._run_in_time(self._publish_home_view(viewer, HomePages()), started_at_s)

    async def _run_in_time(self, work: Any, started_at_s: float | None = None) -> None:
        """Run the work until Slack stops waiting.

        A failure is only logged, so that Slack does not deliver again; the person can open the view again.
        `started_at_s`: when Slack began to wait, on the event loop's clock; None stands for now.
        """
        try:
            async with asyncio.timeout_at(
                (_event_loop_time() if started_at_s is None else started_at_s) + _RESPONSE_TIMEOUT_S
            ):
                await work
        except (SlackError, TimeoutError) as exc:
            self._log.warning("slack view not shown", error=type(exc).__name__, reason=str(exc))

    async def _handle_tab_opened(self, body: dict[str, Any]) -> None:
        viewer = await self._viewers.resolve_viewer(body, read_payload(ViewInteraction, body))
        if viewer is not None:
            await self._publish_home_view(viewer, HomePages())

    # -- the Home tab

    async def publish_home(self, viewer: ViewerContext) -> None:
        """Publish the first page of the Home tab. Raises `SlackError`."""
        await self._publish_home_view(viewer, HomePages())

    async def _publish_home_view(self, viewer: ViewerContext, pages: HomePages, view_hash: str = "") -> None:
        """Publish the Home tab. If it has changed since the view of `view_hash` was clicked, rebuild it and retry.

        A report that is not at hand is counted in the background, and then shown if nothing else has changed.
        """
        content = await self._load_home_content(viewer, pages)
        try:
            published = await _publish_view(viewer, content.view, view_hash)
        except SlackRefusal as exc:
            if exc.error != "hash_conflict":
                raise
            content = await self._load_home_content(viewer, pages)
            published = await _publish_view(viewer, content.view)
        if content.awaits_report:
            self._background.start(self._show_report(viewer, pages, published.view.hash))

    async def _show_report(self, viewer: ViewerContext, pages: HomePages, view_hash: str) -> None:
        try:
            await self._reports.load_report(REPORT_DAYS_SHOWN, viewer.person, is_fresh=False)
        except NotAdmin:
            return
        content = await self._load_home_content(viewer, pages)
        try:
            await _publish_view(viewer, content.view, view_hash)
        except SlackRefusal as exc:
            if exc.error != "hash_conflict":
                raise

    async def _load_home_content(self, viewer: ViewerContext, pages: HomePages) -> "_HomeContent":
        audience = PrivateAudience(person=viewer.person, is_guest=True)
        history = await self._personal_history.load_overview(
            audience, offset=pages.own_first, max_buckets=OWN_BUCKETS_PER_PAGE
        )
        try:
            overview = await self._administration.load_overview(viewer.person, max_questions=QUESTIONS_IN_TAB)
            report = await self._reports.find_recent_report(REPORT_DAYS_SHOWN, viewer.person)
            retention = await self._retention.describe_rules(viewer.person, time_limit=_RETENTION_TIME)
        except NotAdmin:
            overview, report, retention = None, None, dict[str, Sequence[str]]()
        view = home_tab_view(
            history, overview, pages, viewer.time_zone, viewer.account_ids, report=report, retention=retention
        )
        return _HomeContent(view=view, awaits_report=overview is not None and report is None)

    # -- clicks

    async def _handle_block_action(self, body: dict[str, Any]) -> None:
        interaction = read_payload(ViewInteraction, body)
        viewer = await self._viewers.resolve_viewer(body, interaction)
        if viewer is None or not interaction.actions:
            return
        try:
            await self._handle_button_click(
                viewer, interaction, interaction.actions[0].action_id, interaction.actions[0].value
            )
        except BotError as exc:
            await self._show_notice(viewer, interaction, str(exc))

    async def _handle_button_click(
        self, viewer: ViewerContext, interaction: ViewInteraction, action_id: str, value: str
    ) -> None:
        match action_id:
            case (
                "home:mine:next"
                | "home:mine:back"
                | "home:all:next"
                | "home:all:back"
                | "home:saved:next"
                | "home:saved:back"
            ):
                await self._publish_home_view(viewer, HomePages.parse_button_value(value), interaction.view.hash)
            case "home:saved:stop" | "home:saved:resume":
                await self._change_saved_search(viewer, interaction, action_id, value)
            case "admin:bucket":
                await self._open_modal_view(
                    viewer, interaction, await self._load_bucket_view(viewer, value, ModalState())
                )
            case "admin:admins":
                await self._open_modal_view(viewer, interaction, await self._load_admins_view(viewer, ModalState()))
            case "admin:limits":
                limits = await self._administration.list_limits(viewer.person)
                await self._open_modal_view(viewer, interaction, limits_view(limits, ModalState()))
            case "admin:questions":
                await self._open_modal_view(viewer, interaction, await self._load_questions_view(viewer.person))
            case "admin:changes":
                changes = await self._administration.list_changes(viewer.person, CHANGES_IN_VIEW)
                view = changes_view(changes, viewer.time_zone, account_ids=viewer.account_ids)
                await self._open_modal_view(viewer, interaction, view)
            case "admin:browser":
                link = await self._administration.create_page_link(viewer.person)
                await self._open_modal_view(viewer, interaction, page_link_view(link))
            case "grant:page:next" | "grant:page:back" | "admin:page:next" | "admin:page:back":
                await self._turn_modal_page(viewer, interaction, value)
            case "grant:remove":
                await self._revoke_grant(viewer, interaction, value)
            case "admin:remove":
                await self._remove_admin(viewer, interaction, value)
            case _:
                await self._show_notice(viewer, interaction, _NOT_UNDERSTOOD_NOTICE)

    async def _change_saved_search(
        self, viewer: ViewerContext, interaction: ViewInteraction, action_id: str, value: str
    ) -> None:
        number = parse_search_number(value)
        if number is None:
            await self._show_notice(viewer, interaction, _NOT_UNDERSTOOD_NOTICE)
            return
        if action_id == "home:saved:stop":
            await self._personal_searches.stop_search(number, by=viewer.person)
        else:
            await self._personal_searches.resume_search(number, by=viewer.person)
        await self._publish_home_view(viewer, HomePages())

    async def _open_modal_view(self, viewer: ViewerContext, interaction: ViewInteraction, view: ViewJson) -> None:
        await viewer.workspace.api.call_method(
            OkResponse, "views.open", {"trigger_id": interaction.trigger_id, "view": dict(view)}, repeat=False
        )

    async def _show_notice(self, viewer: ViewerContext, interaction: ViewInteraction, sentence: str) -> None:
        """Show a notice in the clicked modal. For a click in the Home tab, open a new modal and refresh the tab."""
        if interaction.view.type == "modal":
            await self._update_modal_view(viewer, interaction, notice_view(sentence))
            return
        await self._open_modal_view(viewer, interaction, notice_view(sentence))
        await self._publish_home_view(viewer, HomePages())

    async def _update_modal_view(self, viewer: ViewerContext, interaction: ViewInteraction, view: ViewJson) -> None:
        arguments = {"view_id": interaction.view.id, "view": dict(view)}
        await viewer.workspace.api.call_method(OkResponse, "views.update", arguments)

    async def _turn_modal_page(self, viewer: ViewerContext, interaction: ViewInteraction, value: str) -> None:
        state = ModalState.parse_metadata(interaction.view.private_metadata)
        if state is None or not (value.isascii() and value.isdigit() and len(value) < 7):
            await self._show_notice(viewer, interaction, _STALE_NOTICE)
            return
        await self._refresh_modal_view(viewer, interaction, state.with_first_row(int(value)))

    async def _refresh_modal_view(self, viewer: ViewerContext, interaction: ViewInteraction, state: ModalState) -> None:
        """Update the modal with current data. If the modal has changed since the click, rebuild it and retry."""
        try:
            arguments = {
                "view_id": interaction.view.id,
                "hash": interaction.view.hash,
                "view": await self._rebuild_modal_view(viewer, interaction, state),
            }
            await viewer.workspace.api.call_method(OkResponse, "views.update", arguments)
        except SlackRefusal as exc:
            if exc.error != "hash_conflict":
                raise
            await self._update_modal_view(
                viewer, interaction, await self._rebuild_modal_view(viewer, interaction, state)
            )

    async def _rebuild_modal_view(
        self, viewer: ViewerContext, interaction: ViewInteraction, state: ModalState
    ) -> ViewJson:
        match interaction.view.callback_id:
            case "admin:bucket":
                return await self._load_bucket_view(viewer, state.bucket, state)
            case "admin:admins":
                return await self._load_admins_view(viewer, state)
            case _:
                return notice_view(_STALE_NOTICE)

    async def _revoke_grant(self, viewer: ViewerContext, interaction: ViewInteraction, subject_key: str) -> None:
        state = ModalState.parse_metadata(interaction.view.private_metadata)
        bucket = None if state is None else await self._find_bucket_by_key(viewer.person, state.bucket)
        if state is None or bucket is None:
            await self._show_notice(viewer, interaction, _STALE_NOTICE)
            return
        for grant in bucket.grants:
            if opaque_key_of(grant.subject) == subject_key:
                await self._administration.revoke_grant(bucket.id, grant.subject, by=viewer.person)
        # Also after no change: the refreshed view shows that the grant was gone already.
        await self._refresh_modal_view(viewer, interaction, state)
        await self._publish_home_view(viewer, HomePages())

    async def _remove_admin(self, viewer: ViewerContext, interaction: ViewInteraction, person_key: str) -> None:
        state = ModalState.parse_metadata(interaction.view.private_metadata)
        admins = await self._administration.list_admins(viewer.person)
        if state is None:
            await self._show_notice(viewer, interaction, _STALE_NOTICE)
            return
        for admin in admins:
            if opaque_key_of(admin.person) == person_key:
                await self._administration.remove_admin(admin.person, by=viewer.person)
        await self._publish_home_view(viewer, HomePages())
        if person_key == opaque_key_of(viewer.person):
            await self._show_notice(viewer, interaction, NO_LONGER_ADMIN)
        else:
            await self._refresh_modal_view(viewer, interaction, state)

    # -- submissions and their responses

    async def _handle_modal_submission(self, viewer: ViewerContext, interaction: ViewInteraction) -> ViewJson:
        state = ModalState.parse_metadata(interaction.view.private_metadata)
        fields = SubmittedFields(interaction)
        match interaction.view.callback_id:
            case "admin:bucket" if state is not None:
                return await self._grant_chosen_subjects(viewer, state, fields)
            case "admin:admins" if state is not None:
                return await self._add_chosen_admin(viewer, state, fields)
            case "admin:limits" if state is not None:
                return await self._save_submitted_limits(viewer, state, fields)
            case _:
                return replace_view_response(notice_view(_NOT_UNDERSTOOD_NOTICE))

    async def _grant_chosen_subjects(
        self, viewer: ViewerContext, state: ModalState, fields: SubmittedFields
    ) -> ViewJson:
        bucket = await self._find_bucket_by_key(viewer.person, state.bucket)
        if bucket is None:
            return replace_view_response(notice_view(_STALE_NOTICE))
        subjects, errors = await self._chosen_subjects(viewer, fields)
        include_external = fields.is_ticked(EXTERNAL_FIELD)
        if include_external and not fields.field_text_of(CHANNEL_FIELD):
            errors[EXTERNAL_FIELD] = CHANNEL_MISSING
        if not subjects and not errors:
            errors[PERSON_FIELD] = SUBJECT_MISSING
        if errors:
            return field_errors_response({state.block_id_for(name): sentence for name, sentence in errors.items()})
        for name, subject in subjects.items():
            try:
                is_external_grant = include_external and name == CHANNEL_FIELD
                await self._administration.grant_bucket(
                    bucket.id, subject, include_external=is_external_grant, by=viewer.person
                )
            except NotAdmin:
                raise
            except BotError as exc:
                return field_errors_response({state.block_id_for(name): str(exc)})
        names = " · ".join(subject_as_mrkdwn(subject, viewer.account_ids) for subject in subjects.values())
        view = await self._load_bucket_view(
            viewer, state.bucket, state.with_empty_fields(), notice=granted_notice(names)
        )
        return replace_view_response(view)

    async def _chosen_subjects(
        self, viewer: ViewerContext, fields: SubmittedFields
    ) -> tuple[dict[str, Subject], dict[str, str]]:
        """Returns the chosen subjects and the errors, both by field."""
        subjects: dict[str, Subject] = {}
        errors: dict[str, str] = {}
        if fields.is_ticked(EVERYONE_FIELD):
            subjects[EVERYONE_FIELD] = EVERYONE
        for name, read_subject in (
            (PERSON_FIELD, self._person_subject_of),
            (CHANNEL_FIELD, self._channel_subject_of),
            (GROUP_FIELD, self._usergroup_subject_of),
            (LOCAL_FIELD, self._local_group_subject_of),
        ):
            if text := fields.field_text_of(name):
                subject = await read_subject(viewer, text)
                if isinstance(subject, _InvalidChoice):
                    errors[name] = subject.sentence
                else:
                    subjects[name] = subject
        return subjects, errors

    async def _person_subject_of(self, viewer: ViewerContext, user: str) -> "Subject | _InvalidChoice":
        person = await viewer.person_id_of(user) if _USER_ID.fullmatch(user) else None
        return _InvalidChoice("Slack does not say who this is.") if person is None else parse_subject(f"user:{person}")

    async def _channel_subject_of(self, viewer: ViewerContext, channel: str) -> "Subject | _InvalidChoice":
        return (
            viewer.channel_subject_of(channel)
            if _CHANNEL_ID.fullmatch(channel)
            else _InvalidChoice("This is not a channel.")
        )

    async def _usergroup_subject_of(self, viewer: ViewerContext, key_or_id: str) -> "Subject | _InvalidChoice":
        """Returns the user group of a menu key or a typed id."""
        for group in await self._viewers.load_usergroups(viewer):
            if key_or_id in (opaque_key_of(group.id), group.id):
                return viewer.usergroup_subject_of(group.id)
        if _USERGROUP_ID.fullmatch(key_or_id):
            return viewer.usergroup_subject_of(key_or_id)
        return _InvalidChoice("This is not a user group: its id begins with S.")

    async def _local_group_subject_of(self, viewer: ViewerContext, key_or_id: str) -> "Subject | _InvalidChoice":
        for group in await self._administration.list_groups(viewer.person):
            if key_or_id in (opaque_key_of(group.id), group.id):
                return parse_subject(f"group:{group.id}")
        return _InvalidChoice(GROUP_MISSING)

    async def _add_chosen_admin(self, viewer: ViewerContext, state: ModalState, fields: SubmittedFields) -> ViewJson:
        user = fields.field_text_of(PERSON_FIELD)
        person = await viewer.person_id_of(user) if _USER_ID.fullmatch(user) else None
        if person is None:
            return field_errors_response({state.block_id_for(PERSON_FIELD): "Slack does not say who this is."})
        try:
            added = await self._administration.add_admin(person, by=viewer.person)
        except NotAdmin:
            raise
        except BotError as exc:
            return field_errors_response({state.block_id_for(PERSON_FIELD): str(exc)})
        name = subject_as_mrkdwn(Subject(f"user:{person}"), viewer.account_ids)
        notice = added_admin_notice(name, is_new=added)
        return replace_view_response(await self._load_admins_view(viewer, state.with_empty_fields(), notice=notice))

    async def _save_submitted_limits(
        self, viewer: ViewerContext, state: ModalState, fields: SubmittedFields
    ) -> ViewJson:
        new_limits: dict[QuestionLimit, int] = {}
        errors: dict[str, str] = {}
        for limit in QuestionLimit:
            number = parse_limit(fields.field_text_of(limit.value))
            if number is None:
                errors[state.block_id_for(limit.value)] = LIMIT_INVALID
            elif number:
                new_limits[limit] = number
        if errors:
            return field_errors_response(errors)
        try:
            await self._administration.change_limits(state.limits, new_limits, by=viewer.person)
            notice = LIMITS_SAVED
        except ConcurrentChange as exc:
            notice = str(exc)
        return replace_view_response(
            limits_view(await self._administration.list_limits(viewer.person), state.with_empty_fields(), notice=notice)
        )

    # -- views with current data

    async def _find_bucket_by_key(self, admin: PersonId, bucket_key: str) -> BucketOverview | None:
        return next(
            (
                bucket
                for bucket in await self._administration.list_buckets(admin)
                if opaque_key_of(bucket.id) == bucket_key
            ),
            None,
        )

    async def _load_bucket_view(
        self, viewer: ViewerContext, bucket_key: str, state: ModalState, *, notice: str = ""
    ) -> ViewJson:
        bucket = await self._find_bucket_by_key(viewer.person, bucket_key)
        if bucket is None:
            return notice_view(_STALE_NOTICE)
        return bucket_grants_view(
            bucket,
            state,
            usergroups=await self._viewers.load_usergroups(viewer),
            groups=await self._administration.list_groups(viewer.person),
            zone=viewer.time_zone,
            account_ids=viewer.account_ids,
            notice=notice,
        )

    async def _load_admins_view(self, viewer: ViewerContext, state: ModalState, *, notice: str = "") -> ViewJson:
        return admins_view(
            await self._administration.list_admins(viewer.person), state, account_ids=viewer.account_ids, notice=notice
        )

    async def _load_questions_view(self, admin: PersonId) -> ViewJson:
        unanswered = await self._administration.list_unanswered_questions(admin, QUESTIONS_PER_LIST)
        return past_questions_view(
            unanswered, await self._administration.list_badly_rated_questions(admin, QUESTIONS_PER_LIST)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _HomeContent:
    view: ViewJson
    awaits_report: bool


class _InvalidChoice:
    """A choice that cannot receive a grant. `sentence` is the error for the field."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence


async def _publish_view(viewer: ViewerContext, view: ViewJson, view_hash: str = "") -> ViewResponse:
    arguments = {"user_id": viewer.user, "view": view} | ({"hash": view_hash} if view_hash else {})
    return await viewer.workspace.api.call_method(ViewResponse, "views.publish", arguments)


def _event_loop_time() -> float:
    """Returns the time on the event loop's clock, which its timeouts use."""
    return asyncio.get_running_loop().time()


async def _is_home_tab(event: dict[str, Any]) -> bool:
    return event.get("tab") == "home"

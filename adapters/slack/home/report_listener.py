"""Handles the buttons of the report in the Home tab, and the modal in which a word becomes a synonym.

A modal is opened before anything is loaded, since a trigger expires after three seconds.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, Final

from adapters.slack.events.messages import SURFACE, DeliveryReader, conversation_id_of
from adapters.slack.events.questions import AcceptInbound
from adapters.slack.home.modal_work import ModalWork
from adapters.slack.home.modals import ASKING_NOTE, replace_view_response, stale_view, unknown_action_view
from adapters.slack.home.post_modal import (
    CHANNEL_FIELD,
    POST_ACTION,
    POST_SCHEDULES,
    POST_VIEW,
    SCHEDULE_FIELD,
    post_view,
    posting_view,
)
from adapters.slack.home.report_blocks import REPORT_DAYS_SHOWN, SYNONYM_ACTION
from adapters.slack.home.submitted_fields import SubmittedFields
from adapters.slack.home.synonym_modal import (
    ASK_ACTION,
    BUCKET_ACTION,
    FIELD_ACTION,
    SYNONYM_VIEW,
    VALUE_ACTION,
    ChosenTarget,
    SynonymState,
    first_state,
    synonym_added_view,
    synonym_view,
    synonym_waiting_view,
)
from adapters.slack.home.view_calls import open_view, update_view
from adapters.slack.home.viewer_context import ViewerContext
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.interactions import ViewInteraction
from adapters.slack.posting.render import Json
from adapters.slack.workspaces.workspace_registry import address_fields_of
from bot.admin.admin_page.comparison_wording import describe_comparison
from bot.admin.admin_page.usage import AdminReports
from bot.errors import SynonymRefused
from bot.ids import MessageId
from bot.surface.inbound import Inbound, TextMessage

_OWN_CALLBACKS: Final = re.compile(r"\Areport:")  # anchored, because Bolt uses `search`
_CHANNEL_ID: Final = re.compile(r"[CG][A-Z0-9]+")
_LOADING: Final = "Looking up what it may stand for…"
_COUNTING: Final = "Counting what it would find…"
_ADDING: Final = "Adding it…"

ViewJson = Mapping[str, Json]
PublishHome = Callable[[ViewerContext], Awaitable[None]]


class ReportListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ()

    def __init__(
        self,
        *,
        reports: AdminReports,
        work: ModalWork,
        publish_home: PublishHome,
        accept: AcceptInbound,
        reader: DeliveryReader,
        clock: Callable[[], datetime],
    ) -> None:
        self._reports, self._work, self._publish_home = reports, work, publish_home
        self._accept, self._reader, self._clock = accept, reader, clock

    def register_bolt_handlers(self, app: Any) -> None:
        app.action(_OWN_CALLBACKS)(self._on_report_action)
        app.view(_OWN_CALLBACKS)(self._on_modal_submission)

    async def _on_report_action(self, body: dict[str, Any], ack: Any) -> None:
        """Opens the modal, or starts to count what is chosen in it."""
        await self._work.handle_click(body, ack, self._handle_action)

    async def _handle_action(self, viewer: ViewerContext, interaction: ViewInteraction) -> None:
        action = interaction.actions[0]
        match action.action_id:
            case str() if action.action_id == SYNONYM_ACTION:
                view_id = await open_view(viewer, interaction.trigger_id, synonym_waiting_view(_LOADING))
                self._work.start_work(viewer, view_id, self._show_form(viewer, view_id, action.value))
            case str() if action.action_id == POST_ACTION:
                await open_view(viewer, interaction.trigger_id, post_view())
            case str() if action.action_id in (BUCKET_ACTION, FIELD_ACTION, VALUE_ACTION):
                work = self._show_choice(viewer, interaction)
                self._work.start_work(viewer, interaction.view.id, work)
            case str() if action.action_id == ASK_ACTION:
                work = self._show_comparison(viewer, interaction)
                self._work.start_work(viewer, interaction.view.id, work)
            case _:
                await open_view(viewer, interaction.trigger_id, unknown_action_view())

    async def _on_modal_submission(self, body: dict[str, Any], ack: Any) -> None:
        """Answers at once that it is being done. Adds only what the view has counted."""
        interaction = read_payload(ViewInteraction, body)
        if interaction.view.callback_id == POST_VIEW:
            await self._on_post_submission(body, interaction, ack)
            return
        viewer = await self._work.resolve_viewer(body, interaction)
        state = _state_in(interaction)
        if viewer is None:
            await ack()
        elif state is None or interaction.view.callback_id != SYNONYM_VIEW:
            await ack(**replace_view_response(stale_view()))
        else:
            await ack(**replace_view_response(synonym_waiting_view(_ADDING if state.is_counted else _COUNTING)))
            view_id = interaction.view.id
            self._work.start_work(viewer, view_id, self._add_or_count(viewer, view_id, state))

    async def _on_post_submission(self, body: dict[str, Any], interaction: ViewInteraction, ack: Any) -> None:
        """Takes the choice as a message of the person in that channel, as if it were sent by the slash command: whether
        the person is an admin is checked when it is answered. It is stored before it is acknowledged.
        """
        fields, viewer = SubmittedFields(interaction), await self._work.resolve_viewer(body, interaction)
        context = await self._reader.delivery_context_for(body)
        channel, schedule = fields.field_text_of(CHANNEL_FIELD), fields.field_text_of(SCHEDULE_FIELD)
        if viewer is None or context is None:
            await ack()
            return
        if not _CHANNEL_ID.fullmatch(channel) or schedule not in dict(POST_SCHEDULES).values():
            await ack(**replace_view_response(stale_view()))
            return
        event = f"post:{interaction.view.id}:{viewer.user}"
        await self._accept(
            Inbound(
                surface=SURFACE,
                event_id=event,
                conversation=conversation_id_of(context.team_id, channel, event),
                message_id=MessageId(event),
                person=viewer.person,
                person_name=viewer.user,
                audience=context.audience_for(channel, viewer.person),
                body=TextMessage(f"Post the usage report here {schedule}"),
                received_at=self._clock(),
                address={
                    **address_fields_of(context.installation_key),
                    "channel": channel,
                    "user": viewer.user,
                },
                needs_thread=True,
            )
        )
        await ack(**replace_view_response(posting_view()))

    # -- in the background

    async def _show_form(self, viewer: ViewerContext, view_id: str, word: str) -> None:
        report = await self._reports.load_report(REPORT_DAYS_SHOWN, viewer.person, is_fresh=False)
        unknown = next((entry for entry in report.unknown_words if entry.word == word), None)
        if unknown is None:
            await update_view(viewer, view_id, stale_view())
            return
        targets = await self._reports.list_synonym_targets(viewer.person)
        state = first_state(word, unknown.buckets, unknown.suggestions, targets)
        await self._show_counted(viewer, view_id, state, suggestions=unknown.suggestions)

    async def _show_choice(self, viewer: ViewerContext, interaction: ViewInteraction) -> None:
        state, view = _state_in(interaction), interaction.view
        if state is None:
            await update_view(viewer, view.id, stale_view())
        else:
            await self._show_counted(viewer, view.id, state, view_hash=view.hash)

    async def _show_comparison(self, viewer: ViewerContext, interaction: ViewInteraction) -> None:
        """Shows what is chosen with its count, and then what it would change in last month's answers."""
        state, view = _state_in(interaction), interaction.view
        if state is None:
            await update_view(viewer, view.id, stale_view())
            return
        targets = await self._reports.list_synonym_targets(viewer.person)
        target = ChosenTarget(targets, state)
        if not target.is_complete:
            await self._show_counted(viewer, view.id, state, view_hash=view.hash)
            return
        try:
            preview = await self._reports.preview_synonym(
                target.bucket, target.field, state.word, target.value, viewer.person
            )
        except SynonymRefused as exc:
            await update_view(viewer, view.id, synonym_view(state, targets, problem=str(exc)), view.hash)
            return
        asking_view = synonym_view(state, targets, preview=preview, note=ASKING_NOTE)
        view_hash = await update_view(viewer, view.id, asking_view, view.hash)
        if view_hash:
            comparison = describe_comparison(await self._reports.compare_synonym(preview, viewer.person))
            compared_view = synonym_view(state, targets, preview=preview, comparison=comparison)
            await update_view(viewer, view.id, compared_view, view_hash)

    async def _show_counted(
        self, viewer: ViewerContext, view_id: str, state: SynonymState, view_hash: str = "", **shown: Any
    ) -> None:
        """Shows the form with the count of what is chosen, or with the reason why it cannot be."""
        targets = await self._reports.list_synonym_targets(viewer.person)
        target = ChosenTarget(targets, state)
        if target.is_complete:
            try:
                shown["preview"] = await self._reports.preview_synonym(
                    target.bucket, target.field, state.word, target.value, viewer.person
                )
            except SynonymRefused as exc:
                shown["problem"] = str(exc)
        await update_view(viewer, view_id, synonym_view(state, targets, **shown), view_hash)

    async def _add_or_count(self, viewer: ViewerContext, view_id: str, state: SynonymState) -> None:
        if not state.is_counted:
            await self._show_counted(viewer, view_id, state)
            return
        target = ChosenTarget(await self._reports.list_synonym_targets(viewer.person), state)
        if not target.is_complete:
            await self._show_counted(viewer, view_id, state)
            return
        try:
            preview = await self._reports.add_synonym(
                target.bucket, target.field, state.word, target.value, viewer.person
            )
        except SynonymRefused:
            await self._show_counted(viewer, view_id, state)
            return
        await update_view(viewer, view_id, synonym_added_view(preview))
        await self._publish_home(viewer)


def _state_in(interaction: ViewInteraction) -> SynonymState | None:
    """The state of the modal with what is chosen in its fields."""
    state, fields = SynonymState.parse_metadata(interaction.view.private_metadata), SubmittedFields(interaction)
    if state is None:
        return None
    before = {BUCKET_ACTION: state.bucket, FIELD_ACTION: state.field, VALUE_ACTION: state.value}
    return state.with_fields(*(fields.field_text_or(name, chosen) for name, chosen in before.items()))

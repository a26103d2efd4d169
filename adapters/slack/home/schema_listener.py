"""Handles the modal in which an admin changes a schema: choosing a part, the preview, and saving what was previewed."""

import re
from dataclasses import replace
from typing import Any, Final

from adapters.slack.home.modal_work import ModalWork
from adapters.slack.home.modals import ASKING_NOTE, notice_view, replace_view_response, stale_view, unknown_action_view
from adapters.slack.home.schema_modal import (
    BARE_FIELD,
    BUCKET_ACTION,
    COUNTING_NOTE,
    FACET_FIELD,
    OPEN_SCHEMA_ACTION,
    PART_ACTION,
    SAVED_NOTE,
    SYNONYMS_FIELD,
    TITLE_FIELD,
    SchemaState,
    digest_of,
    schema_view,
    schema_waiting_view,
)
from adapters.slack.home.submitted_fields import SubmittedFields
from adapters.slack.home.view_calls import open_view, update_view
from adapters.slack.home.viewer_context import ViewerContext
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.interactions import ViewInteraction
from bot.admin.admin_page.comparison_wording import describe_comparison
from bot.admin.admin_page.schema_edits import EditableEntry, EditableSchema, EditPreview, SchemaEdits
from bot.errors import BotError, ConcurrentChange, SchemaEditRefused
from bot.ids import PersonId

_OWN_CALLBACKS: Final = re.compile(r"\Aschema:")  # anchored, because Bolt uses `search`


class SchemaListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ()

    def __init__(self, *, schemas: SchemaEdits, work: ModalWork) -> None:
        self._schemas, self._work = schemas, work

    def register_bolt_handlers(self, app: Any) -> None:
        app.action(_OWN_CALLBACKS)(self._on_schema_action)
        app.view(_OWN_CALLBACKS)(self._on_modal_submission)

    async def _on_schema_action(self, body: dict[str, Any], ack: Any) -> None:
        await self._work.handle_click(body, ack, self._handle_action)

    async def _handle_action(self, viewer: ViewerContext, interaction: ViewInteraction) -> None:
        action_id, view_id = interaction.actions[0].action_id, interaction.view.id
        if action_id == OPEN_SCHEMA_ACTION:
            view_id = await open_view(viewer, interaction.trigger_id, schema_waiting_view())
            self._work.start_work(viewer, view_id, self._show_form(viewer, view_id, SchemaState()))
        elif action_id in (BUCKET_ACTION, PART_ACTION):
            state = _state_in(interaction)
            if state is None:
                await update_view(viewer, view_id, stale_view())
            else:
                self._work.start_work(viewer, view_id, self._show_form(viewer, view_id, state))
        else:
            await open_view(viewer, interaction.trigger_id, unknown_action_view())

    async def _on_modal_submission(self, body: dict[str, Any], ack: Any) -> None:
        """Saves what was previewed; previews anything else. The form stays, with what was typed."""
        interaction = read_payload(ViewInteraction, body)
        viewer = await self._work.resolve_viewer(body, interaction)
        if viewer is None:
            await ack()
            return
        try:
            edit = await self._find_edit(viewer.person, interaction)
        except BotError as exc:
            await ack(**replace_view_response(notice_view(str(exc))))
            return
        if edit is None:
            await ack(**replace_view_response(stale_view()))
            return
        await ack(**replace_view_response(edit.view_with(note=COUNTING_NOTE)))
        view_id = interaction.view.id
        is_previewed = edit.state.previewed == digest_of(edit.entry)
        work = self._save_entry(viewer, view_id, edit) if is_previewed else self._show_preview(viewer, view_id, edit)
        self._work.start_work(viewer, view_id, work)

    async def _find_edit(self, person: PersonId, interaction: ViewInteraction) -> "_TypedEdit | None":
        """None where the part is gone. Raises what `SchemaEdits` raises."""
        state, fields = _state_in(interaction), SubmittedFields(interaction)
        labels = await self._schemas.list_buckets(person)
        bucket = None if state is None else state.find_bucket(labels)
        if state is None or bucket is None:
            return None
        schema = await self._schemas.load_schema(bucket, person)
        entry = state.find_entry(schema)
        if entry is None:
            return None
        return _TypedEdit(state, labels, schema, _entry_typed_in(fields, entry))

    # -- in the background

    async def _show_form(self, viewer: ViewerContext, view_id: str, state: SchemaState) -> None:
        labels = await self._schemas.list_buckets(viewer.person)
        bucket = state.find_bucket(labels)
        schema = None if bucket is None else await self._schemas.load_schema(bucket, viewer.person)
        entry = None if schema is None else state.find_entry(schema)
        if schema is not None:
            state = state.model_copy(update={"schema_version": schema.version})
        await update_view(viewer, view_id, schema_view(state, labels, schema, entry))

    async def _show_preview(self, viewer: ViewerContext, view_id: str, edit: "_TypedEdit", note: str = "") -> None:
        """Shows what would change in the schema at once, and then what in last month's answers."""
        bucket, entry = edit.schema.bucket, edit.entry
        preview = await self._schemas.preview_edit(bucket, entry, viewer.person)
        is_compared = bool(preview.changes) and not preview.problem
        first = edit.view_with(preview=preview, note=note or (ASKING_NOTE if is_compared else ""))
        view_hash = await update_view(viewer, view_id, first)
        if is_compared and view_hash:
            comparison = describe_comparison(await self._schemas.compare_answers(bucket, entry, viewer.person))
            await update_view(
                viewer, view_id, edit.view_with(preview=preview, comparison=comparison, note=note), view_hash
            )

    async def _save_entry(self, viewer: ViewerContext, view_id: str, edit: "_TypedEdit") -> None:
        bucket, version = edit.schema.bucket, edit.state.schema_version
        try:
            await self._schemas.save_edit(bucket, edit.entry, version, viewer.person)
        except ConcurrentChange as exc:
            state = edit.state.model_copy(update={"schema_version": edit.schema.version})
            await self._show_preview(viewer, view_id, replace_state(edit, state), note=str(exc))
            return
        except SchemaEditRefused as exc:
            await update_view(viewer, view_id, edit.view_with(note=str(exc)))
            return
        schema = await self._schemas.load_schema(bucket, viewer.person)
        state = edit.state.model_copy(update={"schema_version": schema.version})
        view = schema_view(state, edit.labels, schema, state.find_entry(schema), note=SAVED_NOTE)
        await update_view(viewer, view_id, view)


class _TypedEdit:
    """A part of a schema as it was typed into the form."""

    def __init__(
        self, state: SchemaState, labels: "dict[str, str]", schema: EditableSchema, entry: EditableEntry
    ) -> None:
        self.state, self.labels, self.schema, self.entry = state, labels, schema, entry

    def view_with(
        self, *, preview: EditPreview | None = None, comparison: "list[str] | None" = None, note: str = ""
    ) -> Any:
        return schema_view(
            self.state, self.labels, self.schema, self.entry, preview=preview, comparison=comparison or (), note=note
        )


def replace_state(edit: _TypedEdit, state: SchemaState) -> _TypedEdit:
    return _TypedEdit(state, edit.labels, edit.schema, edit.entry)


def _state_in(interaction: ViewInteraction) -> SchemaState | None:
    """The state of the modal with what is chosen in its menus. Another bucket has other parts."""
    state, fields = SchemaState.parse_metadata(interaction.view.private_metadata), SubmittedFields(interaction)
    if state is None:
        return None
    bucket = fields.field_text_or(BUCKET_ACTION, state.bucket)
    part = fields.field_text_or(PART_ACTION, state.part) if bucket == state.bucket else ""
    return state.model_copy(update={"bucket": bucket, "part": part})


def _entry_typed_in(fields: SubmittedFields, entry: EditableEntry) -> EditableEntry:
    synonyms = fields.field_text_or(SYNONYMS_FIELD, "\n".join(entry.synonyms)).splitlines()
    return replace(
        entry,
        title=fields.field_text_or(TITLE_FIELD, entry.title),
        synonyms=tuple(synonym.strip() for synonym in synonyms if synonym.strip()),
        facet=None if entry.facet is None else fields.is_ticked_or(FACET_FIELD, otherwise=entry.facet),
        bare=None if entry.bare is None else fields.field_text_or(BARE_FIELD, entry.bare),
    )

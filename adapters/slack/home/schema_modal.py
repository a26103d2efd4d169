"""The modal in which an admin changes titles, synonyms, facets and bare numbers, with what that would change.

Slack keeps the value of a field while its block has the same id, so what is typed stays until another part is chosen.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from adapters.slack.home.blocks import (
    bullet_list_block,
    context_note_block,
    divider_block,
    input_block,
    modal_view,
    option_object,
    plain_lines_block,
    plain_text_object,
    rich_text_element,
)
from adapters.slack.home.view_state import ViewMetadata
from adapters.slack.posting.render import Block, Json
from bot.admin.admin_page.schema_edits import (
    BARE_LABELS,
    MAX_TITLE_CHARACTERS,
    EditableEntry,
    EditableSchema,
    EditPreview,
)
from bot.admin.sentences import opaque_key_of

SCHEMA_VIEW, OPEN_SCHEMA_ACTION = "schema:entry", "schema:open"
BUCKET_ACTION, PART_ACTION = "schema:bucket", "schema:part"
TITLE_FIELD, SYNONYMS_FIELD, FACET_FIELD, BARE_FIELD = "title", "synonyms", "facet", "bare"
NO_BUCKETS: Final = "No bucket is granted to you, so you cannot change a schema here. Grant yourself one first."
COUNTING_NOTE: Final = "Counting what would change…"
SAVED_NOTE: Final = "Saved; the next question uses it."
UNCHANGED_NOTE: Final = "Nothing is different."
_TITLE: Final = "Change a schema"
_TICKED: Final = "yes"
_BUCKET_ITSELF: Final = "bucket"  # the option for the bucket's own title and synonyms
_MAX_OPTIONS: Final = 100
_MAX_TYPED_CHARACTERS: Final = 3_000  # of a text field of Slack's
_MAX_LINES: Final = 15
_TOO_LONG_NOTE: Final = "It has more synonyms than fit here; the admin page in the browser shows them all."


class SchemaState(ViewMetadata):
    """`bucket` and `part` are opaque keys. `schema_version`: of the schema that is shown. `previewed`: the entry whose
    changes the view shows, as `digest_of` gives it.
    """

    bucket: str = ""
    part: str = ""
    schema_version: str = ""
    previewed: str = ""

    def find_bucket(self, labels: Mapping[str, str]) -> str | None:
        return next((bucket for bucket in labels if opaque_key_of(bucket) == self.bucket), None)

    def find_entry(self, schema: EditableSchema) -> EditableEntry | None:
        return next((entry for entry in schema.entries if part_key_of(entry) == self.part), None)


def part_key_of(entry: EditableEntry) -> str:
    return opaque_key_of(entry.field) if entry.field else _BUCKET_ITSELF


def digest_of(entry: EditableEntry) -> str:
    return opaque_key_of(repr(entry))


def schema_waiting_view() -> Mapping[str, Json]:
    return modal_view(SCHEMA_VIEW, _TITLE, [context_note_block("Loading…")])


def schema_view(
    state: SchemaState,
    labels: Mapping[str, str],
    schema: EditableSchema | None = None,
    entry: EditableEntry | None = None,
    *,
    preview: EditPreview | None = None,
    comparison: Sequence[str] = (),
    note: str = "",
) -> Mapping[str, Json]:
    """Returns the form. `labels`: of the buckets to choose from. `entry`: the chosen part, as it was typed."""
    if not labels:
        return modal_view(SCHEMA_VIEW, _TITLE, [plain_lines_block(NO_BUCKETS)])
    options = [option_object(label, opaque_key_of(bucket)) for bucket, label in labels.items()][:_MAX_OPTIONS]
    blocks = [_menu_block("bucket", "Bucket", BUCKET_ACTION, options, state.bucket)]
    if schema is not None:
        options = [option_object(_label_of(part, schema), part_key_of(part)) for part in schema.entries]
        blocks.append(_menu_block(f"part:{state.bucket}", "Part", PART_ACTION, options[:_MAX_OPTIONS], state.part))
    is_editable = entry is not None and len("\n".join(entry.synonyms)) <= _MAX_TYPED_CHARACTERS
    if entry is not None:
        blocks += _entry_blocks(state, entry) if is_editable else [plain_lines_block(_TOO_LONG_NOTE)]
    if preview is not None:
        blocks += [divider_block(), *_preview_blocks(preview, comparison)]
    if note:
        blocks.append(context_note_block(note))
    can_save = preview is not None and bool(preview.changes) and not preview.problem
    previewed = digest_of(entry) if can_save and entry is not None else ""
    state = state.model_copy(update={"previewed": previewed})
    return modal_view(
        SCHEMA_VIEW,
        _TITLE,
        blocks,
        submit="Save" if can_save else "Preview",
        metadata=state.model_dump_json(),
    )


def _label_of(entry: EditableEntry, schema: EditableSchema) -> str:
    return f"{entry.label} ({entry.kind})" if entry.field else f"{schema.label}, the bucket itself"


def _menu_block(block_id: str, label: str, action: str, options: Sequence[Block], chosen: str) -> Block:
    menu: Block = {
        "type": "static_select",
        "action_id": action,
        "options": list(options),
        "placeholder": plain_text_object(f"Choose the {label.casefold()}"),
    }
    initial = next((option for option in options if option["value"] == chosen), None)
    menu |= {"initial_option": initial} if initial is not None else {}
    return input_block(block_id, label, menu, optional=False) | {"dispatch_action": True}


def _entry_blocks(state: SchemaState, entry: EditableEntry) -> list[Block]:
    def block_id_for(name: str) -> str:
        return f"{name}:{state.bucket}:{state.part}:{state.schema_version}"

    title: Block = {"type": "plain_text_input", "action_id": TITLE_FIELD, "max_length": MAX_TITLE_CHARACTERS}
    title |= {"initial_value": entry.title[:MAX_TITLE_CHARACTERS]} if entry.title else {}
    synonyms: Block = {
        "type": "plain_text_input",
        "action_id": SYNONYMS_FIELD,
        "multiline": True,
        "max_length": _MAX_TYPED_CHARACTERS,
    }
    synonyms |= {"initial_value": "\n".join(entry.synonyms)} if entry.synonyms else {}
    blocks = [
        input_block(block_id_for(TITLE_FIELD), "Title", title),
        input_block(block_id_for(SYNONYMS_FIELD), "Synonyms, one on each line", synonyms),
    ]
    if entry.facet is not None:
        tick = option_object("Offer it to narrow a long list", _TICKED)
        box: Block = {"type": "checkboxes", "action_id": FACET_FIELD, "options": [tick]}
        box |= {"initial_options": [tick]} if entry.facet else {}
        blocks.append(input_block(block_id_for(FACET_FIELD), "Long lists", box))
    if entry.bare is not None:
        options = [option_object(label, match) for match, label in BARE_LABELS.items()]
        chosen = next(option for option in options if option["value"] == entry.bare)
        menu: Block = {"type": "static_select", "action_id": BARE_FIELD, "options": [*options]}
        menu |= {"initial_option": chosen}
        label = "A bare number in a question (“1 W”) means"
        blocks.append(input_block(block_id_for(BARE_FIELD), label, menu, optional=False))
    return blocks


def _preview_blocks(preview: EditPreview, comparison: Sequence[str]) -> list[Block]:
    if preview.problem:
        return [plain_lines_block(preview.problem)]
    if not preview.changes:
        return [context_note_block(UNCHANGED_NOTE)]
    lines = [*preview.changes, *preview.effects, *comparison]
    shown = lines[:_MAX_LINES] + ([f"and {len(lines) - _MAX_LINES:,} more"] if len(lines) > _MAX_LINES else [])
    return [
        context_note_block("What would change"),
        bullet_list_block([[rich_text_element(line)] for line in shown]),
    ]

"""The modal in which an admin says what a word stands for. It counts what the word would find before it is added.

Slack keeps the value of a field while its block has the same id. Each new view has new ids, and shows what is chosen.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pydantic import Field

from adapters.slack.home.blocks import (
    actions_block,
    bullet_list_block,
    button_element,
    context_note_block,
    input_block,
    modal_view,
    option_object,
    plain_lines_block,
    plain_text_object,
    rich_text_element,
)
from adapters.slack.home.view_state import ViewMetadata
from adapters.slack.posting.render import Block, Json
from bot.admin.admin_page.synonym_targets import SynonymTargets, TargetField
from bot.admin.sentences import count_with_noun, describe_likeness, describe_meaning, opaque_key_of

if TYPE_CHECKING:
    from bot.admin.schema_synonyms import SynonymPreview
    from bot.admin.usage.usage_report import SynonymSuggestion

SYNONYM_VIEW: Final = "report:synonym"
BUCKET_ACTION, FIELD_ACTION, VALUE_ACTION = "report:bucket", "report:field", "report:value"
ASK_ACTION: Final = "report:ask"
ASK_LABEL: Final = "Ask last month's questions again"
MAX_OPTIONS: Final = 100  # of one menu
_TITLE: Final = "Add as synonym"
_MAX_SUGGESTIONS: Final = 3
_MAX_VALUE_CHARACTERS: Final = 500
_FIELD_ITSELF: Final = "field"  # the option for a word that names the field
NO_TARGETS: Final = (
    "No bucket is granted to you, so you cannot say here what a word stands for. Grant yourself one first."
)


class SynonymState(ViewMetadata):
    """`bucket` and `field` are opaque keys; `value` is the key of an option, or what was typed. `counted`: the choice
    whose count the view shows.
    """

    word: str = Field(max_length=100)
    bucket: str = ""
    field: str = ""
    value: str = Field(default="", max_length=_MAX_VALUE_CHARACTERS)
    version: int = 0
    counted: str = ""

    @property
    def choice(self) -> str:
        return opaque_key_of("\n".join((self.word, self.bucket, self.field, self.value)))

    @property
    def is_counted(self) -> bool:
        return self.counted == self.choice

    def with_fields(self, bucket: str, field: str, value: str) -> "SynonymState":
        """The state after a choice. Another bucket has other fields, and another field has other values."""
        if bucket != self.bucket:
            field = value = ""
        elif field != self.field:
            value = ""
        chosen = {"bucket": bucket, "field": field, "value": value[:_MAX_VALUE_CHARACTERS]}
        return self.model_copy(update={**chosen, "version": self.version + 1})


class ChosenTarget:
    """What the keys of a state stand for; empty where nothing is chosen, or where it is gone."""

    def __init__(self, targets: SynonymTargets, state: SynonymState) -> None:
        self.bucket = next((bucket for bucket in targets.bucket_labels if opaque_key_of(bucket) == state.bucket), "")
        fields = targets.list_fields(self.bucket)
        self.field = next((field.name for field in fields if opaque_key_of(field.name) == state.field), "")
        self.values = targets.list_values(self.bucket, self.field)
        self.is_typed = len(self.values) >= MAX_OPTIONS
        self.value = self._find_value(state.value)
        """None: the word names the field."""
        names_field = state.value == _FIELD_ITSELF or not self.values or (self.is_typed and not state.value)
        self.is_complete = bool(self.field) and (names_field or self.value is not None)

    def _find_value(self, text: str) -> str | None:
        if not text or text == _FIELD_ITSELF:
            return None
        return text if self.is_typed else next((value for value in self.values if opaque_key_of(value) == text), None)


def first_state(
    word: str, buckets: Sequence[str], suggestions: Sequence["SynonymSuggestion"], targets: SynonymTargets
) -> SynonymState:
    """The state with what is most likely meant: the first suggestion, else the first bucket in which it was asked."""
    open_buckets = [bucket for bucket in buckets if bucket in targets.bucket_labels] or [*targets.bucket_labels]
    state = SynonymState(word=word)
    for suggestion in suggestions:
        if suggestion.bucket in targets.bucket_labels:
            is_typed = len(targets.list_values(suggestion.bucket, suggestion.field)) >= MAX_OPTIONS
            value = suggestion.value if is_typed else opaque_key_of(suggestion.value)
            keys = {"bucket": opaque_key_of(suggestion.bucket), "field": opaque_key_of(suggestion.field)}
            return state.model_copy(update={**keys, "value": value[:_MAX_VALUE_CHARACTERS]})
    return state.model_copy(update={"bucket": opaque_key_of(open_buckets[0])}) if open_buckets else state


def synonym_waiting_view(sentence: str) -> Mapping[str, Json]:
    """The modal while its contents are being loaded. It has to be open within three seconds of the click."""
    return modal_view(SYNONYM_VIEW, _TITLE, [context_note_block(sentence)])


def synonym_added_view(preview: "SynonymPreview") -> Mapping[str, Json]:
    sentence = f"{_describe_meaning(preview)} finds {count_with_noun(preview.document_count, 'document')} now."
    return modal_view(SYNONYM_VIEW, _TITLE, [plain_lines_block(sentence, "The next question uses it.")])


def synonym_view(
    state: SynonymState,
    targets: SynonymTargets,
    *,
    suggestions: Sequence["SynonymSuggestion"] = (),
    preview: "SynonymPreview | None" = None,
    comparison: Sequence[str] = (),
    problem: str = "",
    note: str = "",
) -> Mapping[str, Json]:
    """Returns the form. `preview`: what the choice would find; `comparison`: what it would change in answers;
    `problem`: why it cannot be added.
    """
    if not targets.bucket_labels:
        return modal_view(SYNONYM_VIEW, _TITLE, [plain_lines_block(NO_TARGETS)])
    target = ChosenTarget(targets, state)
    state = state.model_copy(update={"counted": state.choice if preview is not None else ""})
    blocks = [
        plain_lines_block(f"“{state.word}” stands for"),
        *_suggestion_blocks(suggestions),
        _menu_block(state, "bucket", "Bucket", BUCKET_ACTION, _bucket_options(targets), state.bucket),
    ]
    if fields := targets.list_fields(target.bucket):
        options = [option_object(_label_of(field), opaque_key_of(field.name)) for field in fields[:MAX_OPTIONS]]
        blocks.append(_menu_block(state, "field", "Field", FIELD_ACTION, options, state.field))
    if target.values:
        blocks.append(_value_block(state, target))
    if problem:
        blocks.append(plain_lines_block(problem))
    elif preview is not None:
        blocks += _preview_blocks(preview)
        if comparison:
            blocks.append(bullet_list_block([[rich_text_element(line)] for line in comparison]))
        elif not note:
            blocks.append(actions_block([button_element(ASK_LABEL, ASK_ACTION, "ask")]))
    if note:
        blocks.append(context_note_block(note))
    submit = "Add" if preview is not None else "Count"
    return modal_view(SYNONYM_VIEW, _TITLE, blocks, submit=submit, metadata=state.model_dump_json())


def _bucket_options(targets: SynonymTargets) -> list[Block]:
    options = [option_object(label, opaque_key_of(bucket)) for bucket, label in targets.bucket_labels.items()]
    return options[:MAX_OPTIONS]


def _label_of(field: TargetField) -> str:
    return f"{field.label} ({field.kind})"


def _menu_block(
    state: SynonymState, name: str, label: str, action: str, options: Sequence[Block], chosen: str
) -> Block:
    menu: Block = {
        "type": "static_select",
        "action_id": action,
        "options": list(options),
        "placeholder": plain_text_object(f"Choose the {name}"),
    }
    initial = next((option for option in options if option["value"] == chosen), None)
    menu |= {"initial_option": initial} if initial is not None else {}
    return input_block(f"{name}:{state.version}", label, menu, optional=False) | {"dispatch_action": True}


def _value_block(state: SynonymState, target: ChosenTarget) -> Block:
    if target.is_typed:
        box: Block = {"type": "plain_text_input", "action_id": VALUE_ACTION, "max_length": _MAX_VALUE_CHARACTERS}
        box |= {"initial_value": state.value} if state.value and state.value != _FIELD_ITSELF else {}
        hint = "As documents write it. Leave it empty if the word is another name of the field."
        return input_block(f"value:{state.version}", "Value", box, hint=hint)
    options = [
        option_object("The field itself", _FIELD_ITSELF),
        *(option_object(value, opaque_key_of(value)) for value in target.values),
    ]
    return _menu_block(state, "value", "Value", VALUE_ACTION, options, state.value)


def _suggestion_blocks(suggestions: Sequence["SynonymSuggestion"]) -> list[Block]:
    if not suggestions:
        return []
    lines = [
        f"{describe_meaning(suggestion.field, suggestion.value)}, in {suggestion.bucket}: "
        + describe_likeness(suggestion.clicks, suggestion.likeness)
        for suggestion in suggestions[:_MAX_SUGGESTIONS]
    ]
    note = context_note_block("It may stand for:")
    return [note, bullet_list_block([[rich_text_element(line)] for line in lines])]


def _preview_blocks(preview: "SynonymPreview") -> list[Block]:
    found = f"{_describe_meaning(preview)} would find {count_with_noun(preview.document_count, 'document')}."
    mentioned = count_with_noun(preview.mention_count, "document") if preview.mention_count else "no document"
    return [plain_lines_block(found, f"In texts, the word stands in {mentioned}.")]


def _describe_meaning(preview: "SynonymPreview") -> str:
    return f"“{preview.word}” as {describe_meaning(preview.field, preview.value)} in {preview.bucket}"

"""The values of the fields of a view."""

from pydantic import ValidationError

from adapters.slack.payloads.interactions import FieldState, ViewInteraction


class SubmittedFields:
    """The values of a modal's fields, by action id. A value of an unexpected kind counts as empty."""

    def __init__(self, interaction: ViewInteraction) -> None:
        self._fields_by_action = {
            action: field for actions in interaction.view.state.values.values() for action, field in actions.items()
        }

    def field_text_of(self, action_id: str) -> str:
        """Returns the typed or chosen value; empty if there is none."""
        field = self._field_state_of(action_id)
        option = (field.selected_option or {}).get("value")
        values = (field.value, field.selected_user, field.selected_conversation, option)
        return next((value.strip() for value in values if isinstance(value, str)), "")

    def field_text_or(self, action_id: str, otherwise: str) -> str:
        """Returns the typed or chosen value; `otherwise` for a field that Slack does not report."""
        return self.field_text_of(action_id) if action_id in self._fields_by_action else otherwise

    def is_ticked(self, action_id: str) -> bool:
        return bool(self._field_state_of(action_id).selected_options)

    def is_ticked_or(self, action_id: str, *, otherwise: bool) -> bool:
        """Whether a box is ticked; `otherwise` for a field that Slack does not report."""
        return self.is_ticked(action_id) if action_id in self._fields_by_action else otherwise

    def _field_state_of(self, action_id: str) -> FieldState:
        try:
            return FieldState.model_validate(self._fields_by_action.get(action_id, {}))
        except ValidationError:
            return FieldState()

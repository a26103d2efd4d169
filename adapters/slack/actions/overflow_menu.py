"""The overflow menu: a modal with the choices that do not fit in a message, opened by a button."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from adapters.slack.actions.interactions import ButtonPress, PressReader
from adapters.slack.events.messages import DeliveryReader
from adapters.slack.events.questions import AcceptInbound, AckInteraction
from adapters.slack.home.blocks import input_block, modal_view, option_object, plain_text_object
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.interactions import MenuSelection
from adapters.slack.posting.render import MORE_ACTION, Json, button_text_for, split_choices_to_fit
from bot.admin.sentences import count_with_noun
from bot.conversation.clarifications import ClarificationOffers
from bot.ids import ChoiceId, ClarificationId
from bot.surface.inbound import ButtonClick
from bot.surface.replies import ChoiceButton

_GROUP_SIZE: Final = 100  # options per group
_MAX_OPTIONS: Final = 1_000  # in all groups, since a view holds 250 kB


class OverflowMenuListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ()

    def __init__(
        self,
        clarifications: ClarificationOffers,
        accept: AcceptInbound,
        reader: DeliveryReader,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._clarifications, self._accept, self._clock = clarifications, accept, clock
        self._presses = PressReader(reader, log)

    def register_bolt_handlers(self, app: Any) -> None:
        app.action(MORE_ACTION)(self._on_more_pressed)
        app.view(MORE_ACTION)(self._on_choice_submitted)

    async def _on_more_pressed(self, body: dict[str, Any], ack: AckInteraction) -> None:
        await ack()
        press = await self._presses.read_button_press(body)
        if press is not None:
            await self._presses.finish_before_deadline(press, self._open_choice_menu(press))

    async def _open_choice_menu(self, press: ButtonPress) -> None:
        actor = press.actor
        choices = await self._clarifications.load_offered_choices(
            ClarificationId(press.location.about), actor.conversation, actor.audience
        )
        _, remaining, _ = split_choices_to_fit(choices)
        await press.open_modal(more_choices_view(remaining, press.location.model_dump_json()))

    async def _on_choice_submitted(self, body: dict[str, Any], ack: AckInteraction) -> None:
        """Accept the choice like a click on its button. The turn checks later whether the choice is still valid."""
        submission = await self._presses.read_modal_submission(body)
        if submission is not None:
            press, values = submission
            choice_id = read_payload(
                MenuSelection, values.get(MORE_ACTION, {}).get(MORE_ACTION, {})
            ).selected_option.value
            inbound = press.build_inbound(
                ButtonClick(ChoiceId(choice_id)),
                event_id=f"click:{press.location.channel}:{press.own_id}",
                message_id=f"click:{press.own_id}",
                received_at=self._clock(),
            )
            await self._accept(inbound)
        await ack()


def more_choices_view(remaining: Sequence[ChoiceButton], metadata: str) -> Mapping[str, Json]:
    """Returns a modal with a menu of the choices, grouped if there are many. Each option shows its count."""
    options = [
        option_object(button_text_for(button, number), button.id)
        for number, button in enumerate(remaining[:_MAX_OPTIONS], 1)
    ]
    groups: list[Json] = [
        {
            "label": plain_text_object(f"{start + 1:,} to {min(start + _GROUP_SIZE, len(options)):,}"),
            "options": options[start : start + _GROUP_SIZE],
        }
        for start in range(0, len(options), _GROUP_SIZE)
    ]
    option_fields: dict[str, Json] = {"options": options} if len(options) <= _GROUP_SIZE else {"option_groups": groups}
    menu: dict[str, Json] = {
        "type": "static_select",
        "action_id": MORE_ACTION,
        "placeholder": plain_text_object("Choose one"),
        "focus_on_load": True,
        **option_fields,
    }
    hint = (
        f"The first {_MAX_OPTIONS:,}; the others can be typed in the conversation."
        if len(remaining) > _MAX_OPTIONS
        else ""
    )
    choice_input = input_block(
        MORE_ACTION, count_with_noun(len(remaining), "more choice"), menu, hint=hint, optional=False
    )
    return modal_view(MORE_ACTION, "More choices", [choice_input], submit="Choose", metadata=metadata)

"""The "Show steps" button: opens the search steps of an answer in a modal for one person."""

from collections.abc import Mapping
from typing import Any

from structlog.typing import FilteringBoundLogger

from adapters.slack.actions.interactions import ButtonPress, PressReader
from adapters.slack.events.messages import DeliveryReader
from adapters.slack.events.questions import AckInteraction
from adapters.slack.home.blocks import (
    bullet_list_block,
    context_note_block,
    modal_view,
    plain_lines_block,
    rich_text_element,
)
from adapters.slack.posting.render import STEPS_ACTION, Block, Json
from bot.ids import TurnId
from bot.turns.turn_actions import SearchStep, TurnActionHandler, TurnSteps

_MAX_STEP_CHARACTERS = 300  # of the criteria of one step
_STEPS_PER_BLOCK = 8
_LINES_PER_BLOCK, _MAX_REASONING_LINES = 10, 50


class StepsListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ()

    def __init__(self, turn_actions: TurnActionHandler, reader: DeliveryReader, log: FilteringBoundLogger) -> None:
        self._turn_actions, self._presses = turn_actions, PressReader(reader, log)

    def register_bolt_handlers(self, app: Any) -> None:
        app.action(STEPS_ACTION)(self._on_steps_pressed)

    async def _on_steps_pressed(self, body: dict[str, Any], ack: AckInteraction) -> None:
        await ack()
        press = await self._presses.read_button_press(body)
        if press is not None:
            await self._presses.finish_before_deadline(press, self._show_steps(press))

    async def _show_steps(self, press: ButtonPress) -> None:
        steps = await self._turn_actions.load_steps(TurnId(press.location.about), press.actor)
        await press.open_modal(turn_steps_view(steps))


def turn_steps_view(steps: TurnSteps) -> Mapping[str, Json]:
    blocks: list[Block] = [plain_lines_block(steps.summary)]
    lines = (*steps.stage_lines, *steps.reasoning_lines)[:_MAX_REASONING_LINES]
    blocks += [
        plain_lines_block(*lines[start : start + _LINES_PER_BLOCK]) for start in range(0, len(lines), _LINES_PER_BLOCK)
    ]
    blocks += [
        bullet_list_block([_search_step_elements(step) for step in steps.steps[start : start + _STEPS_PER_BLOCK]])
        for start in range(0, len(steps.steps), _STEPS_PER_BLOCK)
    ]
    if not steps.steps:
        blocks.append(context_note_block("Nothing was searched for this."))
    return modal_view(STEPS_ACTION, "Steps", blocks)


def _search_step_elements(step: SearchStep) -> list[Json]:
    criteria_elements = [rich_text_element(step.criteria, _MAX_STEP_CHARACTERS)] if step.criteria.strip() else []
    return [
        rich_text_element(step.label, bold=True),
        {"type": "text", "text": " "},
        *criteria_elements,
        {"type": "text", "text": f" — {step.result_text}"},
    ]

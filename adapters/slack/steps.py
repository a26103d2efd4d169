"""How an answer came about, opened on demand for one person."""

from collections.abc import Mapping
from typing import Any

from structlog.typing import FilteringBoundLogger

from adapters.slack.asking import Ack
from adapters.slack.home.blocks import bullets, counted, lines, modal, note, words
from adapters.slack.inbound import Reader
from adapters.slack.pressing import Press, Presses
from adapters.slack.render import STEPS, Block, Json
from bot.afterwards import Afterwards, Step, Steps
from bot.ids import TurnId

_CHARACTERS = 300  # of what one step looked for
_AT_ONCE = 8  # steps in one block


class ShowingSteps:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = ()

    def __init__(self, afterwards: Afterwards, reader: Reader, log: FilteringBoundLogger) -> None:
        self._afterwards, self._presses = afterwards, Presses(reader, log)

    def listen(self, app: Any) -> None:
        app.action(STEPS)(self._on_pressed)

    async def _on_pressed(self, body: dict[str, Any], ack: Ack) -> None:
        await ack()
        press = await self._presses.pressed(body)
        if press is not None:
            await self._presses.done(press, self._show(press))

    async def _show(self, press: Press) -> None:
        steps = await self._afterwards.steps(TurnId(press.spot.about), press.onlooker)
        await press.open(steps_view(steps))


def steps_view(steps: Steps) -> Mapping[str, Json]:
    way = (
        f"Route: {steps.route.replace('_', ' ') or 'none'} · reasoner: {steps.reasoner or 'none'} · {steps.ms:,.0f} ms"
    )
    blocks: list[Block] = [lines(way)]
    blocks += [
        bullets([_step(step) for step in steps.steps[at : at + _AT_ONCE]])
        for at in range(0, len(steps.steps), _AT_ONCE)
    ]
    if not steps.steps:
        blocks.append(note("Nothing was searched for this."))
    return modal(STEPS, "Steps", blocks)


def _step(step: Step) -> list[Json]:
    found = f" — {counted(step.documents, 'document')} found, {step.ms:,.1f} ms"
    looked_for = [words(step.looked_for, _CHARACTERS)] if step.looked_for.strip() else []
    return [words(step.tool, bold=True), {"type": "text", "text": " "}, *looked_for, {"type": "text", "text": found}]

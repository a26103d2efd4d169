"""Choices that a message has no room for: behind a button with their number, in a modal to choose one from."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel
from structlog.typing import FilteringBoundLogger

from adapters.slack.asking import Accept, Ack
from adapters.slack.home.blocks import counted, field, modal, option, plain
from adapters.slack.inbound import SURFACE, Reader
from adapters.slack.pressing import Press, Presses
from adapters.slack.render import MORE, Json, button_text, parted
from adapters.slack.workspaces import addressed
from bot.clarifications import Clarifications
from bot.ids import ChoiceId, ClarificationId, MessageId
from bot.inbound import Clicked, Inbound
from bot.replies import Button

_GROUP: Final = 100  # options together
_MOST: Final = 1_000  # options in all: a view has 250 kB


class _Option(BaseModel):
    value: str


class _Chosen(BaseModel):
    """What stands in the menu, which cannot be left empty."""

    selected_option: _Option


class MoreChoices:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = ()

    def __init__(
        self,
        clarifications: Clarifications,
        accept: Accept,
        reader: Reader,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._clarifications, self._accept, self._clock = clarifications, accept, clock
        self._presses = Presses(reader, log)

    def listen(self, app: Any) -> None:
        app.action(MORE)(self._on_pressed)
        app.view(MORE)(self._on_submitted)

    async def _on_pressed(self, body: dict[str, Any], ack: Ack) -> None:
        await ack()
        press = await self._presses.pressed(body)
        if press is not None:
            await self._presses.done(press, self._open(press))

    async def _open(self, press: Press) -> None:
        looker = press.onlooker
        offered = await self._clarifications.offered(
            ClarificationId(press.spot.about), looker.conversation, looker.audience
        )
        _, rest, _ = parted(offered)
        await press.open(more_view(rest, press.spot.model_dump_json()))

    async def _on_submitted(self, body: dict[str, Any], ack: Ack) -> None:
        """As if the button had been there to click. Whether the choice counts is seen when its turn runs."""
        told = await self._presses.submitted(body)
        if told is not None:
            press, values = told
            chosen = _Chosen.model_validate(values.get(MORE, {}).get(MORE, {})).selected_option.value
            await self._accept(self._clicked(press, ChoiceId(chosen)))
        await ack()

    def _clicked(self, press: Press, choice: ChoiceId) -> Inbound:
        spot, looker = press.spot, press.onlooker
        place = {"channel": spot.channel, "thread_ts": spot.thread, "ts": spot.message}
        return Inbound(
            surface=SURFACE,
            event_id=f"click:{spot.channel}:{press.own_id}",
            conversation=looker.conversation,
            message_id=MessageId(f"click:{press.own_id}"),
            person=looker.person,
            name=press.user,
            audience=looker.audience,
            body=Clicked(choice),
            received=self._clock(),
            address={**addressed(press.here.place), **place},
        )


def more_view(rest: Sequence[Button], metadata: str) -> Mapping[str, Json]:
    """A menu of all of them, in groups where they are many. Each shows the count that its button would."""
    options = [option(button_text(button, at), button.id) for at, button in enumerate(rest[:_MOST], 1)]
    groups: list[Json] = [
        {"label": plain(f"{at + 1:,} to {min(at + _GROUP, len(options)):,}"), "options": options[at : at + _GROUP]}
        for at in range(0, len(options), _GROUP)
    ]
    held: dict[str, Json] = {"options": options} if len(options) <= _GROUP else {"option_groups": groups}
    menu: dict[str, Json] = {
        "type": "static_select",
        "action_id": MORE,
        "placeholder": plain("Choose one"),
        "focus_on_load": True,
        **held,
    }
    hint = f"The first {_MOST:,}; the others can be typed in the conversation." if len(rest) > _MOST else ""
    asked = field(MORE, counted(len(rest), "more choice"), menu, hint=hint, optional=False)
    return modal(MORE, "More choices", [asked], submit="Choose", metadata=metadata)

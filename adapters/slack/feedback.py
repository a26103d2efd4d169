"""Thumbs under an answer. What somebody thinks of it is kept for the admins, and shown to nobody else."""

from collections.abc import Mapping
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from adapters.slack.asking import Ack
from adapters.slack.home.blocks import field, modal, plain
from adapters.slack.inbound import Reader
from adapters.slack.pressing import Press, Presses
from adapters.slack.render import RATE, Json
from bot.afterwards import Afterwards
from bot.errors import BotError
from bot.feedback import LONGEST_REASON, Verdict
from bot.ids import TurnId

REASON: Final = "reason"  # the modal, its block and its field


class Rating:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = ()

    def __init__(self, afterwards: Afterwards, reader: Reader, log: FilteringBoundLogger) -> None:
        self._afterwards, self._presses, self._log = afterwards, Presses(reader, log), log

    def listen(self, app: Any) -> None:
        app.action(RATE)(self._on_pressed)
        app.view(REASON)(self._on_submitted)

    async def _on_pressed(self, body: dict[str, Any], ack: Ack) -> None:
        await ack()
        press = await self._presses.pressed(body)
        if press is not None:
            await self._presses.done(press, self._rate(press))

    async def _rate(self, press: Press) -> None:
        """Bad counts at once: the reason may never come."""
        word, _, turn = press.spot.about.partition(":")
        verdict = Verdict.GOOD if word == Verdict.GOOD else Verdict.BAD
        await self._afterwards.rate(TurnId(turn), press.onlooker, verdict)
        if verdict is Verdict.BAD:
            kept = press.spot.model_copy(update={"about": turn})
            await press.open(reason_view(kept.model_dump_json()))

    async def _on_submitted(self, body: dict[str, Any], ack: Ack) -> None:
        told = await self._presses.submitted(body)
        if told is not None:
            press, values = told
            reason = values.get(REASON, {}).get(REASON, {}).get("value") or ""
            try:
                await self._afterwards.rate(TurnId(press.spot.about), press.onlooker, Verdict.BAD, reason)
            except BotError as exc:
                self._log.info("reason not kept", error=type(exc).__name__)
        await ack()


def reason_view(metadata: str) -> Mapping[str, Json]:
    box: dict[str, Json] = {
        "type": "plain_text_input",
        "action_id": REASON,
        "multiline": True,
        "max_length": LONGEST_REASON,
        "focus_on_load": True,
        "placeholder": plain("Wrong, incomplete, not what was asked …"),
    }
    asked = field(REASON, "What was wrong with it?", box, hint="Parley's admins read it, with your question.")
    return modal(REASON, "Not a good answer", [asked], submit="Send", metadata=metadata)

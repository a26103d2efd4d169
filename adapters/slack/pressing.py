"""Somebody pressed something at a message of ours, or submitted what opened from there: who, where, what it carried."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, Field, ValidationError
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackFailed
from adapters.slack.inbound import Here, Reader, conversation_of
from adapters.slack.render import FALLBACK_CHARACTERS, Json, escaped
from bot.afterwards import Onlooker
from bot.errors import BotError

PATIENCE_S: Final = 2.5  # of the three seconds that Slack waits


class _Ids(BaseModel):
    id: str
    team_id: str | None = None


class _Container(BaseModel):
    message_ts: str
    thread_ts: str | None = None


class _Action(BaseModel):
    action_id: str
    action_ts: str
    value: str = ""


class _Pressed(BaseModel):
    """`block_actions` on a message."""

    user: _Ids
    channel: _Ids
    container: _Container
    actions: list[_Action] = Field(min_length=1)
    trigger_id: str = ""
    response_url: str | None = None


class _View(BaseModel):
    id: str
    private_metadata: str = ""
    state: dict[str, Any] = {}


class _Submitted(BaseModel):
    user: _Ids
    view: _View


class Spot(BaseModel):
    """The message that a modal was opened from: what the modal keeps of it. It says where, never what one may do."""

    channel: str
    thread: str
    message: str
    about: str  # the id of the turn, or of the clarification


class _Done(BaseModel):
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """`own_id` is this press's alone. `until`, by the loop's clock, Slack waits. `response_url` None in a modal."""

    here: Here
    user: str
    spot: Spot
    onlooker: Onlooker
    own_id: str
    until: float
    trigger: str = ""
    response_url: str | None = None

    async def open(self, view: Mapping[str, Json]) -> None:
        """A modal. Raises `SlackFailed`."""
        await self.here.api.call(_Done, "views.open", {"trigger_id": self.trigger, "view": dict(view)}, repeat=False)

    async def whisper(self, sentence: str) -> None:
        """To the person alone, under the message. Raises `SlackFailed`."""
        said = {"text": escaped(sentence, FALLBACK_CHARACTERS), "thread_ts": self.spot.thread}
        if self.response_url is not None:
            answer = {"response_type": "ephemeral", "replace_original": False}
            await self.here.api.respond(self.response_url, answer | said)
            return
        where = {"channel": self.spot.channel, "user": self.user}
        await self.here.api.call(_Done, "chat.postEphemeral", where | said, repeat=False)


class Presses:
    def __init__(self, reader: Reader, log: FilteringBoundLogger) -> None:
        self._reader, self._log = reader, log

    async def pressed(self, body: Mapping[str, Any]) -> Press | None:
        """None where the app is no longer installed."""
        told = _Pressed.model_validate(body)
        action, message = told.actions[0], told.container.message_ts
        thread = told.container.thread_ts or message
        spot = Spot(channel=told.channel.id, thread=thread, message=message, about=action.value)
        own_id = f"{message}:{action.action_ts}:{told.user.id}"
        return await self._press(
            body, told.user, spot, own_id=own_id, trigger=told.trigger_id, response_url=told.response_url
        )

    async def submitted(self, body: Mapping[str, Any]) -> tuple[Press, dict[str, Any]] | None:
        """With what stands in the modal's fields, by block and action. None for a modal that is not ours."""
        told = _Submitted.model_validate(body)
        try:
            spot = Spot.model_validate_json(told.view.private_metadata)
        except ValidationError:
            return None
        own_id = f"{told.view.id}:{told.user.id}"
        press = await self._press(body, told.user, spot, own_id=own_id)
        return None if press is None else (press, told.view.state.get("values", {}))

    async def _press(self, body: Mapping[str, Any], user: _Ids, spot: Spot, **kept: Any) -> Press | None:
        until = asyncio.get_running_loop().time() + PATIENCE_S
        here = await self._reader.here(body)
        if here is None:
            return None
        person = await here.directory.person_id(user.id, user.team_id)
        known = await here.directory.person(user.id)
        onlooker = Onlooker(
            conversation=conversation_of(here.team, spot.channel, spot.thread),
            audience=here.audience(spot.channel, person),
            person=person,
            name=known.name if known else user.id,
        )
        return Press(here=here, user=user.id, spot=spot, onlooker=onlooker, until=until, **kept)

    async def done(self, press: Press, doing: Coroutine[Any, Any, None]) -> None:
        """What is refused is said to the person alone; what Slack does not take is no reason to deliver again."""
        try:
            async with asyncio.timeout_at(press.until):
                try:
                    await doing
                except BotError as exc:
                    await press.whisper(str(exc))
        except (SlackFailed, TimeoutError) as exc:
            self._log.warning("slack press not answered", error=type(exc).__name__, reason=str(exc))

"""The Messages tab, when somebody opens it: questions to begin with, from what they alone may see."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackFailed
from adapters.slack.home.blocks import fitting
from adapters.slack.inbound import Reader
from bot.inbound import Private
from bot.personal import Personal, VisibleBucket

PROMPTS: Final = 4
_TITLE: Final = 60
_MESSAGE: Final = 300
_PATIENCE_S: Final = 2.5  # of the three seconds that Slack waits
_NOTHING_YET: Final = {"title": "What can I ask?", "message": "What can you answer?"}


class _Opened(BaseModel):
    user: str
    channel: str


class _Done(BaseModel):
    ok: bool


class MessagesTab:
    """Fulfils `adapters.slack.dispatch.Listener`. What is written there are direct messages like any other."""

    events = ("app_home_opened",)

    def __init__(self, personal: Personal, reader: Reader, log: FilteringBoundLogger) -> None:
        self._personal, self._reader, self._log = personal, reader, log

    def listen(self, app: Any) -> None:
        app.event("app_home_opened", matchers=[_is_messages_tab])(self._on_opened)

    async def _on_opened(self, body: dict[str, Any]) -> None:
        """Suggestions that cannot be made are no reason to deliver again."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._suggest(body)
        except (SlackFailed, TimeoutError) as exc:
            self._log.warning("slack prompts not shown", error=type(exc).__name__, reason=str(exc))

    async def _suggest(self, body: Mapping[str, Any]) -> None:
        here, opened = await self._reader.here(body), _Opened.model_validate(body["event"])
        if here is None:
            return
        person = await here.directory.person_id(opened.user, None)
        own = await self._personal.own(Private(person=person, guest=True), most=PROMPTS)
        prompts = {"channel_id": opened.channel, "prompts": prompts_from(own.buckets)}
        await here.api.call(_Done, "assistant.threads.setSuggestedPrompts", prompts)


async def _is_messages_tab(event: dict[str, Any]) -> bool:
    return event.get("tab") == "messages"


def prompts_from(buckets: Sequence[VisibleBucket]) -> list[dict[str, str]]:
    """Never none. Schemas are data, and a prompt that somebody takes is sent as their own words."""
    asked = [
        {"title": fitting(one.title, _TITLE), "message": fitting(one.example, _MESSAGE)}
        for one in buckets
        if one.example.strip()
    ]
    return asked or [_NOTHING_YET]

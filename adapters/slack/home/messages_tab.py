"""The Messages tab: suggests example questions from the buckets that the person may see."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError
from adapters.slack.events.messages import DeliveryReader
from adapters.slack.home.blocks import fit_on_one_line
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.events import TabOpenedEvent
from adapters.slack.payloads.responses import OkResponse
from bot.conversation.personal_history import PersonalHistory, VisibleBucket
from bot.surface.inbound import PrivateAudience

MAX_PROMPTS: Final = 4
_MAX_TITLE_UNITS: Final = 60
_MAX_MESSAGE_UNITS: Final = 300
_RESPONSE_TIMEOUT_S: Final = 2.5  # Slack waits three seconds
_DEFAULT_PROMPT: Final = {"title": "What can I ask?", "message": "What can you answer?"}


class MessagesTabListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`. Messages written in the tab are direct messages."""

    events = ("app_home_opened",)

    def __init__(self, personal_history: PersonalHistory, reader: DeliveryReader, log: FilteringBoundLogger) -> None:
        self._personal_history, self._reader, self._log = personal_history, reader, log

    def register_bolt_handlers(self, app: Any) -> None:
        app.event("app_home_opened", matchers=[_is_messages_tab])(self._on_tab_opened)

    async def _on_tab_opened(self, body: dict[str, Any]) -> None:
        """Suggest prompts. A failure is only logged, so that Slack does not deliver again."""
        try:
            async with asyncio.timeout(_RESPONSE_TIMEOUT_S):
                await self._suggest_example_prompts(body)
        except (SlackError, TimeoutError) as exc:
            self._log.warning("slack prompts not shown", error=type(exc).__name__, reason=str(exc))

    async def _suggest_example_prompts(self, body: Mapping[str, Any]) -> None:
        context, opened = (
            await self._reader.delivery_context_for(body),
            read_payload(TabOpenedEvent, body["event"]),
        )
        if context is None:
            return
        person = await context.directory.person_id_of(opened.user, None)
        overview = await self._personal_history.load_overview(
            PrivateAudience(person=person, is_guest=True), max_buckets=MAX_PROMPTS
        )
        prompts = {"channel_id": opened.channel, "prompts": prompts_from(overview.buckets)}
        await context.api.call_method(OkResponse, "assistant.threads.setSuggestedPrompts", prompts)


async def _is_messages_tab(event: dict[str, Any]) -> bool:
    return event.get("tab") == "messages"


def prompts_from(buckets: Sequence[VisibleBucket]) -> list[dict[str, str]]:
    """Returns at least one prompt. Texts from schemas are data; Slack sends a chosen prompt as the person's message."""
    prompts = [
        {
            "title": fit_on_one_line(bucket.title, _MAX_TITLE_UNITS),
            "message": fit_on_one_line(bucket.example, _MAX_MESSAGE_UNITS),
        }
        for bucket in buckets
        if bucket.example.strip()
    ]
    return prompts or [_DEFAULT_PROMPT]

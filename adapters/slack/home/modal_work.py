"""What the listeners of modals share: clicks are handled before their trigger expires, longer work after that.

Rights are checked at each step, because a view may be old and its contents prove nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError
from adapters.slack.home.modals import notice_view
from adapters.slack.home.view_calls import update_view
from adapters.slack.home.viewer_context import ViewerContext, ViewerResolver
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.interactions import ViewInteraction
from bot.errors import BotError
from bot.surface.background_work import BackgroundWork

_OPEN_TIMEOUT_S: Final = 2.5  # Slack waits three seconds

ClickHandler: TypeAlias = Callable[[ViewerContext, ViewInteraction], Awaitable[None]]


class ModalWork:
    def __init__(self, *, viewers: ViewerResolver, background: BackgroundWork, log: FilteringBoundLogger) -> None:
        self._viewers, self._background, self._log = viewers, background, log

    async def handle_click(self, body: dict[str, Any], ack: Any, handle: ClickHandler) -> None:
        """Handles a click in a view, in time. A failure is only logged, so that Slack does not deliver again."""
        await ack()
        interaction = read_payload(ViewInteraction, body)
        try:
            async with asyncio.timeout(_OPEN_TIMEOUT_S):
                viewer = await self.resolve_viewer(body, interaction)
                if viewer is not None and interaction.actions:
                    await handle(viewer, interaction)
        except (SlackError, TimeoutError) as exc:
            self._log.warning("slack view not shown", error=type(exc).__name__, reason=str(exc))

    async def resolve_viewer(self, body: dict[str, Any], interaction: ViewInteraction) -> ViewerContext | None:
        """None where the app is no longer installed. Raises `SlackError`."""
        return await self._viewers.resolve_viewer(body, interaction)

    def start_work(self, viewer: ViewerContext, view_id: str, work: Awaitable[None]) -> None:
        """Does the work in the background. A refusal takes the place of the modal."""

        async def run_or_tell() -> None:
            try:
                await work
            except BotError as exc:
                await update_view(viewer, view_id, notice_view(str(exc)))

        self._background.start(run_or_tell())

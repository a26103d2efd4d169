"""Slack in a process that replies, whichever hears. Fulfils `bot.surfaces.Apart`."""

from datetime import datetime

from structlog.typing import FilteringBoundLogger

from adapters.slack.apart import LEFT, Others
from adapters.slack.changes import forget
from adapters.slack.errors import SlackFailed
from adapters.slack.workspaces import Workspaces, place_in
from bot.surfaces import News, Tell


class Replying:
    def __init__(self, workspaces: Workspaces, others: Others, log: FilteringBoundLogger) -> None:
        self._workspaces, self._others, self._log = workspaces, others, log

    async def start(self) -> None:
        """Raises `InvalidSettings` when Slack refuses a token; a Slack that is down is asked again later."""
        try:
            await self._workspaces.start()
        except SlackFailed as exc:
            self._log.warning("slack unreachable at start", reason=str(exc))

    def tell(self, others: Tell) -> None:
        self._others.through(others)

    async def heard(self, news: News) -> None:
        try:
            if news["type"] == LEFT:
                await self._workspaces.leave(place_in(news), datetime.fromisoformat(news["at"]))
            else:
                await forget(self._workspaces, news)
        except SlackFailed as exc:  # where Slack must say first who we are, nothing is known yet
            self._log.info("nothing to forget", reason=type(exc).__name__)

"""Other processes that reply in Slack: told of what is heard here, so that nobody believes what is no longer true."""

from typing import Final

from bot.surfaces import News, Tell

LEFT: Final = "left"  # the type of news that the app was removed, `at` then


class Others:
    """None, until somebody says how they are told."""

    def __init__(self) -> None:
        self._tell: Tell | None = None

    def through(self, tell: Tell) -> None:
        self._tell = tell

    async def tell(self, news: News) -> None:
        """Raises what stands in the way of their having heard it: then Slack is to deliver it again."""
        if self._tell is not None:
            await self._tell(news)

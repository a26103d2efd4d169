"""What a surface is to the rest: found as an entry point, given the bot, asked for its outbox and its routes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from bot.attachments import Files
from bot.directory import Directory
from bot.outbox import Outbox, Threads

if TYPE_CHECKING:
    from aiohttp import web

    from bot.bootstrap import Bot


class Surface(Protocol):
    """Built by the entry point `parley.surfaces` (`surface(bot) -> Surface | None`; None: not configured)."""

    @property
    def name(self) -> str: ...

    @property
    def outbox(self) -> Outbox: ...

    @property
    def directory(self) -> Directory | None:
        """Of the product's people and channels; None for a surface whose people are the machine's own."""
        ...

    @property
    def threads(self) -> Threads | None:
        """None for a surface in which every message stands in a conversation."""
        ...

    @property
    def files(self) -> Files | None:
        """What people attach to messages; None for a surface where they cannot."""
        ...

    def routes(self) -> "Sequence[web.RouteDef]":
        """On the one HTTP port. None for a surface without HTTP."""
        ...

    async def start(self) -> None: ...

    async def close(self) -> None: ...


class SurfaceFactory(Protocol):
    def __call__(self, bot: "Bot") -> Surface | None: ...

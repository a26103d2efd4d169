"""What a surface is to the rest: found as an entry point, given the bot, asked for its outbox and its routes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bot.attachments import Files
from bot.directory import Directory
from bot.outbox import Outbox, Threads

if TYPE_CHECKING:
    from aiohttp import web

    from bot.bootstrap import Bot


News: TypeAlias = Mapping[str, str]  # ids, as the surface alone reads them
Tell: TypeAlias = Callable[[News], Awaitable[None]]


class Apart(Protocol):
    """What lets other processes reply than the one that hears: messages go out through the chat product alone."""

    async def start(self) -> None:
        """Opens what replies need and hears nothing; `Surface.close` closes it. Raises what `Surface.start` raises."""
        ...

    def tell(self, others: Tell) -> None:
        """From now on, what is heard to have changed goes there too, before the product learns that it was heard."""
        ...

    async def heard(self, news: News) -> None:
        """What has changed, as another process heard it: what is kept of it here is forgotten. Raises `SqlError`."""
        ...


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

    @property
    def apart(self) -> Apart | None:
        """None for a surface whose replies go through the process that hears its people."""
        ...

    def routes(self) -> "Sequence[web.RouteDef]":
        """On the one HTTP port. None for a surface without HTTP."""
        ...

    async def start(self) -> None: ...

    async def close(self) -> None: ...


class SurfaceFactory(Protocol):
    def __call__(self, bot: "Bot") -> Surface | None: ...

"""The interface of a surface: found as an entry point, built with the application, used through its
outbox and routes.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bot.surface.attachments import AttachmentSource
from bot.surface.directory import Directory
from bot.surface.outbox import Outbox, ThreadPlacer

if TYPE_CHECKING:
    from aiohttp import web

    from bot.application import Application


DirectoryChange: TypeAlias = Mapping[str, str]  # ids that only the surface interprets
ChangeForwarder: TypeAlias = Callable[[DirectoryChange], Awaitable[None]]


class WorkerSupport(Protocol):
    """Lets worker processes reply while another process receives: replies go out through the chat product alone."""

    async def start(self) -> None:
        """Opens what replies need and receives nothing; `Surface.close` closes it. Raises what
        `Surface.start` raises.
        """
        ...

    def forward_changes_to(self, forwarder: ChangeForwarder) -> None:
        """From now on, passes each directory change to `forwarder` before it acknowledges the change to the product."""
        ...

    async def apply_change(self, change: DirectoryChange) -> None:
        """Removes the cached entries that the change makes untrue; another process received it. Raises `SqlError`."""
        ...


class Surface(Protocol):
    """Built by the entry point `parley.surfaces` (`surface(bot) -> Surface | None`). None: the surface is not
    configured.

    Each part is the same object at every access. `SurfaceRegistry` hands the parts to the rest of the bot.
    """

    @property
    def name(self) -> str:
        """The name of its entry point, under which its turns are stored."""
        ...

    @property
    def outbox(self) -> Outbox:
        """Its threads can be made before the surface starts."""
        ...

    @property
    def directory(self) -> Directory | None:
        """The directory of the product's people and channels; None for a surface whose people are local users of this
        machine.
        """
        ...

    @property
    def threads(self) -> ThreadPlacer | None:
        """None for a surface in which every message is part of a conversation."""
        ...

    @property
    def files(self) -> AttachmentSource | None:
        """The files that people attach to messages; None for a surface without attachments."""
        ...

    @property
    def worker_support(self) -> WorkerSupport | None:
        """None for a surface that can reply only through the process that receives its messages."""
        ...

    def http_routes(self) -> "Sequence[web.RouteDef]":
        """The routes on the one HTTP port, each once; empty for a surface without HTTP."""
        ...

    async def start(self) -> None:
        """Opens what receiving and replying need. Raises `InvalidSettings`."""
        ...

    async def close(self) -> None:
        """Closes what `start` or `WorkerSupport.start` has opened, and the streams that pages follow. A second call
        changes nothing.
        """
        ...


class SurfaceFactory(Protocol):
    """The object of an entry point `parley.surfaces`."""

    def __call__(self, bot: "Application") -> Surface | None: ...

"""What answers on the HTTP port beside the surfaces: other programs, and the pages for admins. Each request gets its
answer at once, so there is no outbox.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from aiohttp import web

    from bot.application import Application


class ProgramEndpoint(Protocol):
    """Built by the entry point `parley.endpoints` (`endpoint(bot) -> ProgramEndpoint`)."""

    def http_routes(self) -> "Sequence[web.RouteDef]":
        """The routes on the one HTTP port, each once."""
        ...

    async def start(self) -> None:
        """Opens what answering needs."""
        ...

    async def close(self) -> None:
        """Closes what `start` has opened, and ends the answers that are under way. A second call changes nothing."""
        ...


class ProgramEndpointFactory(Protocol):
    """The object of an entry point `parley.endpoints`."""

    def __call__(self, bot: "Application") -> ProgramEndpoint: ...

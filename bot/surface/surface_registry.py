"""The surfaces of this process, by name. The registry is made before the objects that look surfaces up in it, and
filled once the surfaces are built.
"""

from collections.abc import Mapping

from bot.surface.attachments import AttachmentSource
from bot.surface.directory import Directory
from bot.surface.outbox import Outbox, ThreadPlacer
from bot.surface.surface import Surface


class SurfaceRegistry:
    """Each look-up returns None for an unknown surface, and for one that does not have the object."""

    def __init__(self, outboxes: Mapping[str, Outbox] | None = None) -> None:
        """`outboxes`: by name, for surfaces that are nothing but an outbox. A registered surface replaces them."""
        self._outboxes = dict(outboxes or {})
        self._surfaces: dict[str, Surface] = {}
        self._receive_only_names: set[str] = set()

    def register_surface(self, surface: Surface) -> None:
        """From now on, this process works on the surface's turns and replies through its outbox."""
        self._surfaces[surface.name] = surface
        self._outboxes[surface.name] = surface.outbox
        self._receive_only_names.discard(surface.name)

    def register_receive_only(self, surface: Surface) -> None:
        """This process accepts the surface's turns; another process works on them and replies."""
        self._surfaces[surface.name] = surface
        self._outboxes.pop(surface.name, None)
        self._receive_only_names.add(surface.name)

    @property
    def replying_names(self) -> list[str]:
        """The surfaces that this process replies to, sorted."""
        return sorted(self._outboxes)

    @property
    def receive_only_names(self) -> frozenset[str]:
        """The surfaces that another process replies to."""
        return frozenset(self._receive_only_names)

    def outbox_for(self, name: str) -> Outbox | None:
        """None also where another process replies."""
        return self._outboxes.get(name)

    def thread_placer_for(self, name: str) -> ThreadPlacer | None:
        """None also where another process replies."""
        surface = None if name in self._receive_only_names else self._surfaces.get(name)
        return None if surface is None else surface.threads

    def directory_for(self, name: str) -> Directory | None:
        surface = self._surfaces.get(name)
        return None if surface is None else surface.directory

    def attachment_source_for(self, name: str) -> AttachmentSource | None:
        surface = self._surfaces.get(name)
        return None if surface is None else surface.files

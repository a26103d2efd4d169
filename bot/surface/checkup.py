"""What a chat product offers the command line: a checkup of its configuration for `parley doctor`, and the package of
its app.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from bot.settings import Settings
    from bot.surface.installations import AppInstallations


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckupFinding:
    """One checked item: what was found, or what is wrong and how to fix it. Never a secret."""

    what: str
    found: str = ""
    fault: str | None = None


class SurfaceCheckup(Protocol):
    """The entry point in `parley.checkups` under the product's name."""

    async def __call__(self, settings: "Settings", installations: "AppInstallations") -> Sequence[CheckupFinding]:
        """The findings, in the order in which a person would fix them. A product that cannot be reached
        is one finding.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AppPackage:
    """What an admin uploads to install the app. `notes`: sentences about what should be set before that."""

    content: bytes
    file_name: str
    notes: tuple[str, ...] = ()


class AppPackager(Protocol):
    """The entry point in `parley.packages` under the product's name."""

    def __call__(self, settings: "Settings") -> AppPackage:
        """Raises `InvalidSettings` where the settings name no app."""
        ...

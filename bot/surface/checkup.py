"""The checkup of a chat product's configuration, which `parley doctor` runs."""

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

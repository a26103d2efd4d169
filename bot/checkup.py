"""What a chat product says of how it is set up here: asked of it by `parley doctor`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from bot.installations import Installations
    from bot.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at: what is there, or what is wrong and what to do. Never a secret."""

    what: str
    found: str = ""
    fault: str | None = None


class Checkup(Protocol):
    """Found by its entry point in `parley.checkups`, under the product's name."""

    async def __call__(self, settings: "Settings", installations: "Installations") -> Sequence[Finding]:
        """In the order in which a person would mend them. A product that cannot be reached is one finding."""
        ...

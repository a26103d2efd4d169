"""Who handles what Teams delivers: listeners for activities, and handlers for invokes, which want an answer."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from adapters.teams.events.received_activity import ReceivedActivity
from adapters.teams.payloads.json_values import Json
from bot.ids import TurnId
from bot.surface.inbound import Inbound

AcceptInbound: TypeAlias = Callable[[Inbound], Awaitable[TurnId | None]]  # None: a duplicate


class ActivityListener(Protocol):
    """Handles the activities of one feature. The dispatcher asks listeners in their order.

    What must not be lost is stored when it returns, because the activity is then acknowledged. An exception of the
    database leaves the activity unacknowledged.
    """

    async def handle_activity(self, received: ReceivedActivity) -> bool:
        """Whether it was an activity of this feature; no later listener sees it then."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeAnswer:
    """The response to an invoke: Teams shows an error to the person for any status but 200."""

    status: int = 200
    body: dict[str, Json] = field(default_factory=dict[str, Json])


class InvokeHandler(Protocol):
    """Answers the invokes of one feature within `INVOKE_TIMEOUT_S`."""

    @property
    def invoke_names(self) -> tuple[str, ...]:
        """The names of its invokes, such as `fileConsent/invoke`. No other handler has one of them."""
        ...

    async def answer_invoke(self, received: ReceivedActivity) -> InvokeAnswer: ...

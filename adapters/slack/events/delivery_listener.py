"""What handles deliveries. It imports nothing of Bolt, which a process that only replies does not load."""

from typing import Any, Protocol


class DeliveryListener(Protocol):
    """Handles the deliveries of one feature.

    An exception leaves the delivery unacknowledged, so that Slack repeats the event.
    """

    @property
    def events(self) -> tuple[str, ...]:
        """The handled event types, as the manifest subscribes to them, without the kind of channel."""
        ...

    def register_bolt_handlers(self, app: Any) -> None:
        """Register the handlers with Bolt's `AsyncApp`, whose decorators have no types."""
        ...

"""Microsoft's limits of messages per second, by the bot and the conversation.

https://learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit
"""

import math
from dataclasses import dataclass, field
from typing import Final

# Seconds of a window, and the messages that it admits.
WINDOWS: Final = ((1.0, 7), (2.0, 8), (30.0, 60), (3600.0, 1800))
REQUESTS_PER_SECOND: Final = 30  # of an app in a tenant


@dataclass
class SendLimits:
    """The times of the calls so far, in seconds, by conversation; those of `""` are of all conversations."""

    times: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def seconds_to_wait(self, conversation: str, now: float) -> int | None:
        """Counts a call. Returns None if it is admitted, else the whole seconds to wait."""
        waits = [_wait_in(self.times.get(conversation, []), seconds, most, now) for seconds, most in WINDOWS]
        waits.append(_wait_in(self.times.get("", []), 1.0, REQUESTS_PER_SECOND, now))
        wait = max(waits)
        if wait > 0:
            return math.ceil(wait)
        for key in (conversation, ""):
            self.times[key] = [*self.times.get(key, []), now]
        return None


def _wait_in(times: list[float], seconds: float, most: int, now: float) -> float:
    recent = [sent_at for sent_at in times if sent_at > now - seconds]
    return recent[-most] + seconds - now if len(recent) >= most else 0.0

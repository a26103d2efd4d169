"""Errors of the Slack Web API.

SlackError
├── SlackRefusal      Slack answered with an error: repeating the call does not help
├── SlackRateLimited  Slack asks for a longer wait than a call allows
└── SlackUnreachable  no answer or an unreadable one: the call may or may not have taken effect
"""


class SlackError(Exception):
    """Base of all errors of a Slack call."""


class SlackRefusal(SlackError):
    """`error` is Slack's error code, such as `channel_not_found` or `missing_scope`."""

    def __init__(self, error: str) -> None:
        super().__init__(f"Slack refused: {error}")
        self.error = error


class SlackRateLimited(SlackError):
    """Too many calls. This call had no effect."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"Slack asks to wait {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


class SlackUnreachable(SlackError):
    """It is unknown whether the call took effect."""

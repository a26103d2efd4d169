"""What can go wrong with Slack.

SlackFailed
├── SlackRefused      it answered, and said no: repeating will not help
├── SlackBusy         it asks to wait longer than a call may
└── SlackUnreachable  no answer, or a broken one: it may or may not have been done
"""


class SlackFailed(Exception):
    """Slack did not do it."""


class SlackRefused(SlackFailed):
    """`error` is Slack's own word for it: `channel_not_found`, `missing_scope`."""

    def __init__(self, error: str) -> None:
        super().__init__(f"Slack refused: {error}")
        self.error = error


class SlackBusy(SlackFailed):
    """Too many calls. Nothing was done."""

    def __init__(self, after_s: float) -> None:
        super().__init__(f"Slack asks to wait {after_s:g} s")
        self.after_s = after_s


class SlackUnreachable(SlackFailed):
    """Whether the call was carried out is not known."""

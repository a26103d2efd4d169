"""Errors of calls to the Bot Connector, the service through which a bot writes to Teams.

TeamsError
├── TeamsRefusal      the service refused the call: repeating it does not help
├── TeamsThrottled    the service asks for a longer wait than a call allows
├── TeamsUnreachable  no answer or an unreadable one: the call may or may not have taken effect
├── TeamsSignInFailed the app gets no access token: nothing was sent
└── InvalidActivity   what was to be sent is not an activity, or goes to an address that is not allowed: a bug
"""

from typing import Final

MAX_MESSAGE_CHARACTERS: Final = 200


class TeamsError(Exception):
    """Base of all errors of a call to the connector."""


class TeamsRefusal(TeamsError):
    """`status` is the HTTP status; `code` the service's error code, such as `MessageSizeTooBig`.

    `message`: the beginning of the service's own words, for what the code leaves open. Not part of the error's text, as
    it may quote what was sent: do not log it.
    """

    def __init__(self, status: int, code: str, message: str = "") -> None:
        super().__init__(f"Teams refused with {status}: {code}")
        self.status, self.code, self.message = status, code, message[:MAX_MESSAGE_CHARACTERS]


class TeamsThrottled(TeamsError):
    """Too many calls. This call had no effect."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"Teams asks to wait {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


class TeamsUnreachable(TeamsError):
    """It is unknown whether the call took effect."""


class TeamsSignInFailed(TeamsError):
    """The message says what to look at, without any secret."""


class InvalidActivity(TeamsError):
    """Nothing was sent."""

"""Why a request is not accepted.

ActivityRefused
├── UnsupportedBody     no JSON by its headers: 415
├── OversizedBody       413
├── SlowBody            the body did not arrive in time: 408
├── UnreadableActivity  no activity of Teams: 400
├── ForeignSender       another channel than Teams, or a tenant that is not accepted: 403
└── UnprovenSender      no token, or not one that the Bot Connector issued for this activity: 401
    └── KeysUnavailable no signing key could be loaded yet, so nobody can be let in
"""

from typing import ClassVar


class ActivityRefused(Exception):
    """`reason` is for the log; the response has the status alone. It contains nothing of the request."""

    status: ClassVar[int]

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnsupportedBody(ActivityRefused):
    status = 415


class OversizedBody(ActivityRefused):
    status = 413


class SlowBody(ActivityRefused):
    status = 408


class UnreadableActivity(ActivityRefused):
    status = 400


class UnprovenSender(ActivityRefused):
    status = 401


class ForeignSender(ActivityRefused):
    status = 403


class KeysUnavailable(UnprovenSender):
    """No token can be checked, also not a valid one."""

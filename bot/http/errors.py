"""Why a request is refused. `bot.http.request_checks` turns each into a response, in one place.

HttpRefusal
├── UnreadableRequest   400: not in the form of its kind
├── SlowRequest         408: the body did not arrive in time
├── OversizedRequest    413
├── UnsupportedRequest  415: a kind of body that is not read here
├── TooManyAttempts     429
└── ServerBusy          503: the bodies that are being received use all the memory they may use
"""

from typing import ClassVar


class HttpRefusal(Exception):
    """`reason` is for the response and the log. It holds nothing of the request."""

    status: ClassVar[int]

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnreadableRequest(HttpRefusal):
    status = 400


class SlowRequest(HttpRefusal):
    status = 408


class OversizedRequest(HttpRefusal):
    status = 413


class UnsupportedRequest(HttpRefusal):
    status = 415


class TooManyAttempts(HttpRefusal):
    status = 429


class ServerBusy(HttpRefusal):
    status = 503

"""Errors of calls to the hosts of files: SharePoint and OneDrive, at addresses that Teams names in activities.

FileHostError
├── FileHostRefusal      the host refused the call, or its address is one that is not called
├── FileHostUnreachable  no answer, or a failure of the host: a later call may succeed
└── UploadUnconfirmed    all of a file was sent, and the host does not say whether it has it
"""


class FileHostError(Exception):
    """Base of all errors of a call to a file host. Never has the address, which is a secret."""


class FileHostRefusal(FileHostError):
    """`status` is the HTTP status; None where the address was not called."""

    def __init__(self, reason: str, *, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


class FileHostUnreachable(FileHostError):
    """`retry_after_s`: the wait that the host asks for, if any."""

    def __init__(self, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class UploadUnconfirmed(FileHostError):
    """All of a file was sent, and the host does not say whether it has it."""

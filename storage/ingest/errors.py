"""The exceptions of ingestion. A problem of one file or document is an `IngestFailure` in the report, no exception.

IngestError
├── UnreadableSchema   a schema file cannot be read; names file, line and field
├── UnparsableFile     one file yields no text; holds the reason
├── ListingFailed      the items of a source could not be listed completely
├── SourceUnavailable  a source cannot be opened at all
└── SyncLost           another process has taken over the sync of a source
"""

from pathlib import Path


class IngestError(Exception):
    """Base class of the exceptions of ingestion."""


class UnreadableSchema(IngestError):
    """A schema file cannot be read, or describes an invalid schema. `line` counts from 1."""

    def __init__(self, path: Path, reason: str, *, line: int | None = None, field: str | None = None) -> None:
        location = f"{path}, line {line}" if line is not None else str(path)
        super().__init__(f"{location}: {f'field {field!r}: ' if field is not None else ''}{reason}")
        self.path, self.reason, self.line, self.field = path, reason, line, field


class UnparsableFile(IngestError):
    """A file yields no text. `reason` is shown to people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ListingFailed(IngestError):
    """The items of a source could not be listed completely. `reason` is shown to people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SourceUnavailable(IngestError):
    """A source cannot be opened: no connection, wrong credentials, or a missing package.

    `reason` is shown to people.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SyncLost(IngestError):
    """Another process has taken over the sync of a source because this process did not renew its lease in time."""

    def __init__(self, source: str) -> None:
        super().__init__(f"the sync of {source!r} was taken over by another process, which goes on with it")
        self.source = source

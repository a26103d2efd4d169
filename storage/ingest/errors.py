"""What ingestion raises. What is wrong with one file or one document is a `Failure` in the report, not an exception.

IngestError
├── UnreadableSchema   a schema file that cannot be read; names file, line and field
├── Unparsable         one file that gives no text, with the reason
├── ListingFailed      what a source has could not be listed to the end
└── SyncLost           another process has taken over the sync of a source
"""

from pathlib import Path


class IngestError(Exception):
    """Base of all that ingestion raises."""


class UnreadableSchema(IngestError):
    """A schema file that cannot be read, or says what cannot be. `line` counts from 1."""

    def __init__(self, path: Path, reason: str, *, line: int | None = None, field: str | None = None) -> None:
        where = f"{path}, line {line}" if line is not None else str(path)
        super().__init__(f"{where}: {f'field {field!r}: ' if field is not None else ''}{reason}")
        self.path, self.reason, self.line, self.field = path, reason, line, field


class Unparsable(IngestError):
    """A file that gives no text. `reason` is for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ListingFailed(IngestError):
    """What a source has could not be listed to the end. `reason` is for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SyncLost(IngestError):
    """Another process has taken over the sync of a source, since this one did not renew its lease in time."""

    def __init__(self, source: str) -> None:
        super().__init__(f"the sync of {source!r} was taken over by another process, which goes on with it")
        self.source = source

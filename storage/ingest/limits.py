"""Limits on the memory, time and content of one file."""

from dataclasses import dataclass

from storage.ingest.errors import UnparsableFile

MAX_COLUMNS = 2_000  # of a table; keys of a record, and keys of a bucket that become fields
MAX_DEPTH = 50  # of objects and lists within one another
MAX_VALUES = 100_000  # of a record, the members of its lists included
MAX_TEXT_CHARACTERS = 20_000_000  # characters of a document; indexing that many takes some 700 MB of memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserLimits:
    """Limits that the worker process applies to each file."""

    memory_mb: int = 1024
    cpu_s: float = 30.0  # seconds of CPU for a file, and for each of its megabytes
    cpu_s_per_mb: float = 4.0
    page_timeout_s: float = 30.0  # the longest wait for the next frame of the worker
    file_timeout_s: float = 600.0
    max_characters: int = MAX_TEXT_CHARACTERS
    max_rows: int | None = None  # of a table

    def cpu_s_for(self, size_bytes: int) -> float:
        """Returns the seconds of CPU that reading a file of this size may take."""
        return self.cpu_s + self.cpu_s_per_mb * size_bytes / 1_000_000


def too_many_columns_error(column_count: int) -> UnparsableFile:
    return UnparsableFile(f"it has {column_count:,} columns; {MAX_COLUMNS:,} are read: split it into several tables")


def too_many_keys_error(key_count: int) -> UnparsableFile:
    return UnparsableFile(
        f"it has {key_count:,} keys; {MAX_COLUMNS:,} are read: put repeated things into a list under one key"
    )


def too_many_values_error() -> UnparsableFile:
    return UnparsableFile(f"it has more than {MAX_VALUES:,} values: split it into several records")


def too_many_rows_error(max_rows: int) -> UnparsableFile:
    return UnparsableFile(f"it has more than {max_rows:,} rows")


def text_too_long_error(max_characters: int) -> UnparsableFile:
    return UnparsableFile(f"it has more than {max_characters:,} characters of text; split it into smaller documents")

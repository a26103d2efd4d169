"""Limits on the memory, time and content of one file."""

from dataclasses import dataclass

from storage.ingest.errors import UnparsableFile

MAX_COLUMNS = 2_000  # of a table; keys of a record, and keys of a bucket that become fields
MAX_DEPTH = 50  # of objects and lists within one another
MAX_VALUES = 100_000  # of a record, the members of its lists included
MAX_TEXT_CHARACTERS = 20_000_000  # of a document, or of a cell; indexing that many takes some 700 MB of memory
MAX_PAGES = 20_000  # of a document
MAX_ROWS = 1_000_000  # of all sheets of a file, or records
DEFAULT_PASSAGE_CHARACTERS = 1_200
MIN_PASSAGE_CHARACTERS, MAX_PASSAGE_CHARACTERS = 300, 6_000  # that may be asked for
MAX_CELLS = 20_000_000  # of a file that hold a value; each takes some 10 µs


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserLimits:
    """Limits on reading a file, in a worker process, and on working through what was read, in the main process."""

    memory_mb: int = 1024
    cpu_s: float = 30.0  # seconds of CPU for a file, and for each of its megabytes
    cpu_s_per_mb: float = 4.0
    page_timeout_s: float = 120.0  # the longest wait for the next frame of the worker; longer for a larger file
    file_timeout_s: float = 600.0  # for all of its frames; longer for a larger file
    max_characters: int = MAX_TEXT_CHARACTERS
    max_rows: int = MAX_ROWS
    work_cpu_s: float = 30.0  # seconds of CPU for what was read of a file,
    work_cpu_s_per_mb: float = 10.0  # for each megabyte of its text,
    work_cpu_ms_per_document: float = 2.0  # and milliseconds for each document

    def cpu_s_for(self, size_bytes: int) -> float:
        """Returns the seconds of CPU that reading a file of this size may take."""
        return self.cpu_s + self.cpu_s_per_mb * size_bytes / 1_000_000

    def work_cpu_s_for(self, document_count: int, character_count: int) -> float:
        """Returns the seconds of CPU that working through so many documents with so much text may take."""
        of_text_s = self.work_cpu_s_per_mb * character_count / 1_000_000
        return self.work_cpu_s + of_text_s + self.work_cpu_ms_per_document * document_count / 1_000

    def timeouts_s_for(self, size_bytes: int) -> tuple[float, float]:
        """Returns the longest wait for a frame and for all frames of a file of this size.

        They grow as its seconds of CPU do, so that a loaded machine ends no file that the limit of CPU lets pass.
        """
        growth = self.cpu_s_for(size_bytes) / self.cpu_s if self.cpu_s else 1.0
        return self.page_timeout_s * growth, self.file_timeout_s * growth


def too_many_columns_error(column_count: int) -> UnparsableFile:
    return UnparsableFile(f"it has {column_count:,} columns; {MAX_COLUMNS:,} are read: split it into several tables")


def too_many_keys_error(key_count: int, *, is_complete: bool) -> UnparsableFile:
    """`is_complete`: whether all of its keys were counted."""
    return UnparsableFile(
        f"it has {'' if is_complete else 'more than '}{key_count:,} keys; {MAX_COLUMNS:,} are read: put repeated things"
        " into a list under one key"
    )


def too_many_values_error() -> UnparsableFile:
    return UnparsableFile(f"it has more than {MAX_VALUES:,} values: split it into several records")


def too_many_rows_error(max_rows: int) -> UnparsableFile:
    return UnparsableFile(f"it has more than {max_rows:,} rows; split it into smaller files")


def too_many_cells_error() -> UnparsableFile:
    return UnparsableFile(
        f"it has more than {MAX_CELLS:,} cells with a value; split it into smaller files, or leave out columns"
    )


def too_many_pages_error(page_count: int | None = None) -> UnparsableFile:
    """`page_count`: None if it is not known."""
    count = f"more than {MAX_PAGES:,} pages" if page_count is None else f"{page_count:,} pages; {MAX_PAGES:,} are read"
    return UnparsableFile(f"it has {count}: split it into smaller documents")


def work_too_long_error(limit_s: float, document_count: int) -> UnparsableFile:
    """`document_count`: the documents of the file that were begun."""
    rest = "; the rest of the file is left out" if document_count > 1 else ""
    return UnparsableFile(
        f"working through what was read takes more than {limit_s:,.0f} seconds of CPU, the limit for its size{rest}:"
        " split it into smaller files"
    )


def open_quote_error(line: int, line_count: int) -> UnparsableFile:
    return UnparsableFile(
        f"a quote in line {line:,} is not closed, so the last {line_count:,} lines would be one row:"
        " close it, or double it"
    )


def large_cell_error(line: int) -> UnparsableFile:
    return UnparsableFile(
        f"a cell has more than {MAX_TEXT_CHARACTERS:,} characters up to line {line:,} (is a quote not closed?)"
    )


def text_too_long_error(max_characters: int) -> UnparsableFile:
    return UnparsableFile(f"it has more than {max_characters:,} characters of text; split it into smaller documents")

"""Limits on the memory, time and text of one file."""

from dataclasses import dataclass

from storage.ingest.errors import UnparsableFile

MAX_TEXT_CHARACTERS = 20_000_000  # characters of a document; indexing that many takes some 700 MB of memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserLimits:
    """Limits that the worker process applies to each file."""

    memory_mb: int = 1024
    page_timeout_s: float = 30.0  # the longest wait for the next frame of the worker
    file_timeout_s: float = 600.0
    max_characters: int = MAX_TEXT_CHARACTERS


def text_too_long_error(max_characters: int) -> UnparsableFile:
    return UnparsableFile(f"it has more than {max_characters:,} characters of text; split it into smaller documents")

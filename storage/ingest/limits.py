"""What one file may cost."""

from dataclasses import dataclass

from storage.ingest.errors import Unparsable

LARGEST_TEXT = 20_000_000  # characters of a document; to index as much takes some 700 MB of memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Of the worker, for each file."""

    memory_mb: int = 1024
    page_s: float = 30.0  # without a word from the worker
    file_s: float = 600.0
    characters: int = LARGEST_TEXT


def too_long(characters: int) -> Unparsable:
    return Unparsable(f"it has more than {characters:,} characters of text; split it into smaller documents")

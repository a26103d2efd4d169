"""Reads the text of plain text and Markdown files. Runs in the worker process for large files."""

from collections.abc import Generator
from pathlib import Path

from storage.ingest.errors import UnparsableFile
from storage.ingest.formats.encoding import detect_encoding, open_text_file
from storage.ingest.limits import MAX_TEXT_CHARACTERS, text_too_long_error
from storage.ingest.worker import ParserFrame

_READ_CHARACTERS = 1 << 20


def read_frames(path: Path) -> Generator[ParserFrame, None, None]:
    """Yields a frame with the encoding and the text, whose lines end with `\\n`. Raises `UnparsableFile`."""
    try:
        encoding = detect_encoding(path)
        yield {"encoding": encoding, "text": _read_text(path, encoding)}
    except OSError as exc:
        raise UnparsableFile(f"it cannot be read: {exc.strerror or exc}") from exc


def _read_text(path: Path, encoding: str) -> str:
    """Returns the text. Raises `UnparsableFile` as soon as it exceeds the length limit."""
    parts, size = list[str](), 0
    with open_text_file(path, encoding, newline=None) as file:
        while part := file.read(_READ_CHARACTERS):
            parts.append(part)
            size += len(part)
            if size > MAX_TEXT_CHARACTERS:
                raise text_too_long_error(MAX_TEXT_CHARACTERS)
    return "".join(parts)

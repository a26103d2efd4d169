"""How the characters of a text file are written."""

import io
from pathlib import Path

from storage.ingest.errors import Unparsable
from storage.ingest.files import SourceFile
from storage.ingest.records import Origin, Remark

WINDOWS = "cp1252"  # what old files are in that are nothing else


def encoding_of(path: Path) -> str:
    """By its first bytes and by whether all of it is UTF-8. Raises `Unparsable` for what is no text."""
    with path.open("rb") as file:
        start = file.read(4096)
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            return _proven(path, "utf-16")
        if b"\0" in start:
            raise Unparsable("it is no text (it holds NUL bytes)")
    try:
        return _proven(path, "utf-8-sig")
    except Unparsable:
        return WINDOWS


def opened(path: Path, encoding: str, newline: str | None = "") -> io.TextIOWrapper:
    return path.open(encoding=encoding, errors="replace" if encoding == WINDOWS else "strict", newline=newline)


def remark(source: SourceFile) -> Remark:
    return Remark(origin=Origin(file=source.name), text="it is not UTF-8 and was read as Windows-1252")


def _proven(path: Path, encoding: str) -> str:
    try:
        with path.open(encoding=encoding, newline="") as file:
            while file.read(1 << 20):
                pass
    except UnicodeError as exc:
        raise Unparsable(f"it is not valid {encoding.upper()}") from exc
    return encoding

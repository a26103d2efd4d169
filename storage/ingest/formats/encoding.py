"""Detects the encoding of text files, and opens them."""

import io
from pathlib import Path

from storage.ingest.errors import UnparsableFile
from storage.ingest.records import LoadRemark, RecordOrigin

_UTF_16_ADVICE = "text in UTF-16 needs a byte order mark: save it as UTF-8"
_CONTROL_BYTES = bytes(set(range(0x20)) - set(b"\t\n\r\f\x1a\x1b"))
_MAX_CONTROL_SHARE = (
    0.02  # of the bytes at the beginning; UTF-16 in Chinese has more, and text in Windows-1252 has none
)
FALLBACK_ENCODING = "cp1252"  # the usual encoding of old files that are not Unicode


def detect_encoding(path: Path) -> str:
    """Returns the encoding: UTF-16 with a byte order mark, UTF-8 if all bytes are valid, else Windows-1252.

    Raises `UnparsableFile` for a binary file.
    """
    with path.open("rb") as file:
        start = file.read(4096)
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            return _check_encoding(path, "utf-16")
        if b"\0" in start:
            raise UnparsableFile(f"it is not text (it holds NUL bytes; {_UTF_16_ADVICE})")
    try:
        return _check_encoding(path, "utf-8-sig")
    except UnparsableFile:
        if len(start) - len(start.translate(None, _CONTROL_BYTES)) > _MAX_CONTROL_SHARE * len(start):
            raise UnparsableFile(f"it is not text (it holds control characters; {_UTF_16_ADVICE})") from None
        return FALLBACK_ENCODING


def open_text_file(path: Path, encoding: str, newline: str | None = "") -> io.TextIOWrapper:
    return path.open(
        encoding=encoding, errors="replace" if encoding == FALLBACK_ENCODING else "strict", newline=newline
    )


def fallback_encoding_remark(file_name: str) -> LoadRemark:
    return LoadRemark(origin=RecordOrigin(file=file_name), text="it is not UTF-8 and was read as Windows-1252")


def _check_encoding(path: Path, encoding: str) -> str:
    try:
        with path.open(encoding=encoding, newline="") as file:
            while file.read(1 << 20):
                pass
    except UnicodeError as exc:
        raise UnparsableFile(f"it is not valid {encoding.upper()}") from exc
    return encoding

"""Opens Office files, which are zip packages of XML. Refuses zip bombs, encrypted files and wrong size entries.

The libraries get a copy in memory without pictures. Its parts are unpacked piece by piece, up to a size limit.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# (lxml has no type annotations)

import io
import mmap
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from lxml.etree import ErrorTypes, LxmlSyntaxError

from storage.ingest.errors import UnparsableFile
from storage.ingest.pages.markdown import to_single_line

_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # files of Office before 2007, and all files that Office encrypts
_ENCRYPTED_MARK = "EncryptedPackage".encode("utf-16-le")
_MAX_PARTS = 20_000
_MAX_UNPACKED_MB = 256  # for all parts together
_MAX_COMPRESSION_RATIO = 200  # unpacked size divided by packed size
_RATIO_CHECKED_FROM_BYTES = 20 * 1024 * 1024  # unpacked; below it any ratio is fine: repetitive sheets reach it
_READ_BYTES = 1 << 18
_READ_SUFFIXES = (".xml", ".rels", ".vml")  # other parts are pictures, sounds or programs
_DOCTYPE_MARKS = tuple("<!DOCTYPE".encode(code) for code in ("ascii", "utf-16-le", "utf-16-be"))


def unpack_package(path: Path) -> io.BytesIO:
    """Returns a copy of the package without pictures, stored uncompressed.

    Raises `UnparsableFile`, also for document type declarations.
    """
    _refuse_ole_file(path)
    copy = io.BytesIO()
    try:
        with zipfile.ZipFile(path) as package, zipfile.ZipFile(copy, "w") as target:
            parts = package.infolist()
            _refuse_zip_bomb(parts, path.stat().st_size)
            remaining_bytes = _MAX_UNPACKED_MB * 1024**2
            for part in {part.filename: part for part in parts if not part.is_dir()}.values():
                data = (
                    _read_part(package, part, remaining_bytes)
                    if part.filename.lower().endswith(_READ_SUFFIXES)
                    else b""
                )
                remaining_bytes -= len(data)
                target.writestr(part.filename, data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as exc:  # a wrong offset: OSError
        raise UnparsableFile(f"it is broken, or no Office file ({exc})") from exc
    copy.seek(0)
    return copy


def translate_error(exc: Exception, file_kind: str) -> UnparsableFile:
    """Translates a library's error about a broken package. Raises `MemoryError` if libxml2 ran out of memory."""
    if isinstance(exc, LxmlSyntaxError) and getattr(exc, "code", None) == ErrorTypes.ERR_NO_MEMORY:
        raise MemoryError from exc
    return UnparsableFile(f"it is broken, or no {file_kind} ({to_single_line(str(exc))[:120]})")


def _refuse_ole_file(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(len(_OLE_SIGNATURE)) != _OLE_SIGNATURE:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            is_encrypted = content.find(_ENCRYPTED_MARK) >= 0
    if is_encrypted:
        raise UnparsableFile("it is encrypted and needs a password")
    raise UnparsableFile("it is of the kind that Office wrote before 2007; save it again in today's format")


def _refuse_zip_bomb(parts: Iterable[zipfile.ZipInfo], size: int) -> None:
    """Raises `UnparsableFile` for a zip bomb or an encrypted package, by the directory of the zip alone."""
    parts = list(parts)
    if len(parts) > _MAX_PARTS:
        raise UnparsableFile(f"it holds more than {_MAX_PARTS:,} files")
    if any(part.flag_bits & 1 for part in parts):
        raise UnparsableFile("it is encrypted and needs a password")
    unpacked = sum(part.file_size for part in parts if part.filename.lower().endswith(_READ_SUFFIXES))
    if unpacked > _MAX_UNPACKED_MB * 1024**2:
        raise _too_large_error()
    if unpacked > max(_RATIO_CHECKED_FROM_BYTES, _MAX_COMPRESSION_RATIO * size):
        raise UnparsableFile(f"it unpacks to more than {_MAX_COMPRESSION_RATIO} times its size (a zip bomb?)")


def _read_part(package: zipfile.ZipFile, part: zipfile.ZipInfo, remaining_bytes: int) -> bytes:
    """Unpacks a part piece by piece up to the limit, because the size in the zip directory may be wrong."""
    data = bytearray()
    with package.open(part) as file:
        while piece := file.read(_READ_BYTES):
            data += piece
            if len(data) > remaining_bytes:
                raise _too_large_error()
    if any(mark in data for mark in _DOCTYPE_MARKS):
        raise UnparsableFile("it declares a document type, which no Office file does (an attack by entities?)")
    return bytes(data)


def _too_large_error() -> UnparsableFile:
    return UnparsableFile(f"it unpacks to more than {_MAX_UNPACKED_MB} MB")

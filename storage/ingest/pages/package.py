"""Office files are packages: zips of XML. Opened so that none can fill the memory, hide behind a password or lie.

What libraries get is a copy in memory, of parts that were unpacked piece by piece up to their limit, without pictures.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# (lxml has no annotations)

import io
import mmap
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from lxml.etree import ErrorTypes, LxmlSyntaxError

from storage.ingest.errors import Unparsable
from storage.ingest.pages.markdown import line

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # Office before 2007, and whatever Office encrypts
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_MOST_PARTS = 20_000
_LARGEST_MB = 256  # of all parts together, unpacked
_DENSEST = 200  # times smaller than unpacked; checked above `_SMALL`, as short repetitive sheets pack as well
_SMALL = 20 * 1024 * 1024
_PIECE = 1 << 18
_READ = (".xml", ".rels", ".vml")  # the rest is pictures, sounds, programs
_DECLARES = tuple("<!DOCTYPE".encode(code) for code in ("ascii", "utf-16-le", "utf-16-be"))


def unpacked(path: Path) -> io.BytesIO:
    """The package without pictures, stored uncompressed. Raises `Unparsable`, also for document type declarations."""
    _refuse_ole(path)
    copy = io.BytesIO()
    try:
        with zipfile.ZipFile(path) as package, zipfile.ZipFile(copy, "w") as target:
            parts = package.infolist()
            _refuse_bomb(parts, path.stat().st_size)
            left = _LARGEST_MB * 1024**2
            for part in {part.filename: part for part in parts if not part.is_dir()}.values():
                data = _part(package, part, left) if part.filename.lower().endswith(_READ) else b""
                left -= len(data)
                target.writestr(part.filename, data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as exc:
        raise Unparsable(f"it is broken, or no Office file ({exc})") from exc
    copy.seek(0)
    return copy


def unparsable(exc: Exception, what: str) -> Unparsable:
    """What a library says of a package that is not right. Raises `MemoryError` where libxml2 means that."""
    if isinstance(exc, LxmlSyntaxError) and getattr(exc, "code", None) == ErrorTypes.ERR_NO_MEMORY:
        raise MemoryError from exc
    return Unparsable(f"it is broken, or no {what} ({line(str(exc))[:120]})")


def _refuse_ole(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(len(_OLE)) != _OLE:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            is_encrypted = content.find(_ENCRYPTED) >= 0
    if is_encrypted:
        raise Unparsable("it is encrypted and needs a password")
    raise Unparsable("it is of the kind that Office wrote before 2007; save it anew in today's format")


def _refuse_bomb(parts: Iterable[zipfile.ZipInfo], size: int) -> None:
    """By what the directory of the zip says, before anything is unpacked."""
    parts = list(parts)
    if len(parts) > _MOST_PARTS:
        raise Unparsable(f"it holds more than {_MOST_PARTS:,} files")
    if any(part.flag_bits & 1 for part in parts):
        raise Unparsable("it is encrypted and needs a password")
    unpacked = sum(part.file_size for part in parts if part.filename.lower().endswith(_READ))
    if unpacked > _LARGEST_MB * 1024**2:
        raise _too_large()
    if unpacked > max(_SMALL, _DENSEST * size):
        raise Unparsable(f"it unpacks to more than {_DENSEST} times its size (a zip bomb?)")


def _part(package: zipfile.ZipFile, part: zipfile.ZipInfo, left: int) -> bytes:
    """Unpacked in pieces: what the directory says of the size need not be true."""
    data = bytearray()
    with package.open(part) as file:
        while piece := file.read(_PIECE):
            data += piece
            if len(data) > left:
                raise _too_large()
    if any(mark in data for mark in _DECLARES):
        raise Unparsable("it declares a document type, which no Office file does (an attack by entities?)")
    return bytes(data)


def _too_large() -> Unparsable:
    return Unparsable(f"it unpacks to more than {_LARGEST_MB} MB")

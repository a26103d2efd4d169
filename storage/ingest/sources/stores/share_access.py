"""The access lists of a share's files and folders: the DACL of their security descriptors (MS-DTYP 2.4).

smbprotocol has classes for them, which read a missing list as some other bytes and pass over lengths. So the bytes are
read here: what is not understood is an error, or counts as a denial.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# (smbprotocol has hardly any type annotations)

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from smbclient._io import SMBFileTransaction, SMBRawIO
from smbprotocol.file_info import InfoType
from smbprotocol.open import FilePipePrinterAccessMask, SMB2QueryInfoRequest, SMB2QueryInfoResponse

from storage.ingest.sources.access_list import AccessList
from storage.ingest.sources.stores.file_store import StoreEntry, unknown_access_problem

_MAX_DESCRIPTOR_BYTES: Final = 65_536
_OWNER_GROUP_DACL: Final = 0x7
_DACL_PRESENT: Final = 0x0004
_SELF_RELATIVE: Final = 0x8000
_INHERIT_ONLY: Final = 0x08
_ALLOW_TYPE, _DENY_TYPE = 0x00, 0x01
_AUDIT_TYPES: Final = frozenset({0x02, 0x03, 0x07, 0x08, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13})
_OTHER_ALLOW_TYPES: Final = frozenset({0x04, 0x05, 0x09, 0x0B})  # with conditions, or for parts of an object
_READ_RIGHTS: Final = 0x0000_0001 | 0x8000_0000 | 0x1000_0000  # FILE_READ_DATA, GENERIC_READ, GENERIC_ALL
_PASS_RIGHTS: Final = 0x0000_0020 | 0x2000_0000 | 0x1000_0000  # FILE_TRAVERSE, GENERIC_EXECUTE, GENERIC_ALL
_FOR_ALL: Final = re.compile(r"S-1-1-0|S-1-5-11|S-1-5-32-545|S-1-5-21(?:-\d+){3}-513")
"""Everyone, authenticated users, the users of the server, and those of the domain."""


class UnreadableDescriptor(Exception):
    """The bytes are not a security descriptor with a list."""


class ShareAccessReader:
    """Asks for the security descriptor of each file and folder. `file_system` is a `CheckedShare`."""

    def __init__(self, file_system: Any, root: str) -> None:
        self._file_system, self._root = file_system, root

    def read_root_access(self) -> Sequence[AccessList]:
        """Returns the access lists of the root and of all folders above it in the share. Raises as `read_access`."""
        path = PurePosixPath(self._root)
        return [self._read_list(str(folder), _PASS_RIGHTS) for folder in (path, *path.parents) if folder.name]

    def read_access(self, entry: StoreEntry) -> AccessList:
        """Raises what smbprotocol raises, and `StoreProblem`."""
        return self._read_list(entry.path, _PASS_RIGHTS if entry.is_folder else _READ_RIGHTS)

    def _read_list(self, path: str, rights: int) -> AccessList:
        try:
            return access_list_of(self._load_descriptor(path), rights)
        except UnreadableDescriptor:
            raise unknown_access_problem() from None

    def _load_descriptor(self, path: str) -> bytes:
        raw = SMBRawIO(
            self._file_system.unc_path_of(path),
            share_access="rwd",
            desired_access=FilePipePrinterAccessMask.READ_CONTROL,
            **self._file_system.connection_options,
        )
        request = SMB2QueryInfoRequest()
        request["info_type"] = InfoType.SMB2_0_INFO_SECURITY
        request["output_buffer_length"] = _MAX_DESCRIPTOR_BYTES
        request["additional_information"] = _OWNER_GROUP_DACL

        def receive_descriptor(sent: Any) -> bytes:
            answer = SMB2QueryInfoResponse()
            answer.unpack(raw.fd.connection.receive(sent)["data"].get_value())
            return bytes(answer["buffer"].get_value())

        with SMBFileTransaction(raw) as transaction:
            request["file_id"] = raw.fd.file_id
            transaction += (request, receive_descriptor)
        results: Any = transaction.results
        return results[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ListEntry:
    """`sid` is None in an entry of a kind that is not read."""

    kind: int
    rights: int
    sid: str | None


def access_list_of(descriptor: bytes, rights: int) -> AccessList:
    """Returns who has one of the rights, and who is denied one. Raises `UnreadableDescriptor`.

    Windows lets an earlier entry decide; here a denial counts wherever it stands. An entry with a condition allows
    nobody, and denies somebody who is not known. Samba says of a group without rights in the mode that it is allowed
    nothing, which denies it what a later entry allows to others.
    """
    try:
        entries = list(_entries_of(descriptor))
    except (struct.error, IndexError) as exc:
        raise UnreadableDescriptor from exc
    plain = [entry for entry in entries if entry.kind == _ALLOW_TYPE]
    allowed = [entry.sid or "" for entry in plain if entry.rights & rights]
    last_allowed = max((position for position, entry in enumerate(plain) if entry.rights & rights), default=0)
    others = [entry for entry in entries if entry.kind not in (_ALLOW_TYPE, *_OTHER_ALLOW_TYPES)]
    denied = [entry.sid or "" for entry in others if entry.rights & rights]
    denied += [entry.sid or "" for entry in plain[:last_allowed] if not entry.rights]
    return AccessList(
        allowed=tuple((sid,) for sid in dict.fromkeys(allowed)),
        denied=tuple((sid,) for sid in dict.fromkeys(denied)),
        is_for_all=not denied and any(map(_FOR_ALL.fullmatch, allowed)),
    )


def _entries_of(descriptor: bytes) -> Iterator[_ListEntry]:
    """Yields the entries that hold for the file or folder itself. Raises `UnreadableDescriptor`, struct.error."""
    control, dacl_start = struct.unpack_from("<2xH12xI", descriptor)
    if not control & _DACL_PRESENT or not control & _SELF_RELATIVE or not dacl_start:
        raise UnreadableDescriptor  # without a list all have all rights, or the server keeps it back
    list_size, count = struct.unpack_from("<2xHH2x", descriptor, dacl_start)
    position, end = dacl_start + 8, dacl_start + list_size
    for _ in range(count):
        kind, flags, size = struct.unpack_from("<BBH", descriptor, position)
        if size < 8 or position + size > min(end, len(descriptor)):
            raise UnreadableDescriptor
        if not flags & _INHERIT_ONLY and kind not in _AUDIT_TYPES:
            (rights,) = struct.unpack_from("<I", descriptor, position + 4)
            is_plain = kind in (_ALLOW_TYPE, _DENY_TYPE)
            sid = _sid_of(descriptor[position + 8 : position + size]) if is_plain else None
            yield _ListEntry(kind=kind, rights=rights, sid=sid)
        position += size


def _sid_of(data: bytes) -> str:
    revision, count = data[0], data[1]
    authority = int.from_bytes(data[2:8], "big")
    parts = struct.unpack_from(f"<{count}I", data, 8)
    return "-".join(map(str, ("S", revision, authority, *parts)))

"""The files of an SFTP server with who may read them: their owner, group and mode, and those of the folders above.

The protocol does not tell extended access lists (setfacl).
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUntypedBaseClass=false
# pyright: reportUnknownVariableType=false
# (fsspec has hardly any type annotations)

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from stat import S_ISDIR
from typing import Any, Final

from fsspec.implementations.sftp import SFTPFileSystem

from storage.ingest.sources.access_list import AccessList, PrincipalNames
from storage.ingest.sources.stores.file_store import StoreEntry, unknown_access_problem

_READ, _PASS = 0o4, 0o1  # the rights of a class in the mode
_OTHERS: Final[PrincipalNames] = ("others",)
_LONG_NAME: Final = re.compile(r"[-a-zA-Z][-a-zA-Z]{9}\S?\s+\d+\s+(\S+)\s+(\S+)\s+\d+\s")
"""The begin of a line of `ls -l`, with the names of owner and group; a name with a blank in it does not match."""


class AccessListingServer(SFTPFileSystem):
    """Its listings have the access list of each entry under `access`."""

    @staticmethod
    def _decode_stat(stat: Any, parent_path: str | None = None) -> dict[str, Any]:
        return SFTPFileSystem._decode_stat(stat, parent_path) | {"access": access_list_of(stat)}


class ModeReader:
    """Reads the modes of the folders above; those of files and folders are in the listing."""

    def __init__(self, file_system: AccessListingServer, root: str) -> None:
        self._client: Any = file_system.ftp
        self._root = root

    def read_root_access(self) -> Sequence[AccessList]:
        """Returns the access lists of the root and of all folders above it. Raises what paramiko raises."""
        path = PurePosixPath(self._client.normalize(self._root))
        found = [access_list_of(self._client.stat(str(folder))) for folder in (path, *path.parents)]
        known = [access for access in found if access is not None]
        if len(known) < len(found):
            raise unknown_access_problem()
        return known

    def read_access(self, entry: StoreEntry) -> AccessList:
        """Raises `StoreProblem`."""
        if entry.access is None:
            raise unknown_access_problem()
        return entry.access


def access_list_of(attributes: Any) -> AccessList | None:
    """Returns who may read the file, or pass the folder; None if the server does not tell.

    The first class that a person belongs to decides: the owner, the group, the others. So a class without the right is
    denied if a later one has it.
    """
    if attributes.st_mode is None or attributes.st_uid is None or attributes.st_gid is None:
        return None
    right = _PASS if S_ISDIR(attributes.st_mode) else _READ
    long_name = _LONG_NAME.match(str(getattr(attributes, "longname", "")))
    owner, group = (long_name[1], long_name[2]) if long_name else ("", "")
    classes = (
        (_names_of("user", attributes.st_uid, owner), bool(attributes.st_mode >> 6 & right)),
        (_names_of("group", attributes.st_gid, group), bool(attributes.st_mode >> 3 & right)),
        (_OTHERS, bool(attributes.st_mode & right)),
    )
    last_allowed = max((position for position, (_, may) in enumerate(classes) if may), default=-1)
    denied = tuple(names for names, may in classes[: max(last_allowed, 0)] if not may)
    return AccessList(
        allowed=tuple(names for names, may in classes if may),
        denied=denied,
        is_for_all=last_allowed == 2 and not denied,
    )


def _names_of(kind: str, number: int, name: str) -> PrincipalNames:
    """Returns the id and the name; a name of digits alone could be the id of somebody else."""
    return (f"{kind}:{number}",) if not name or name.isdecimal() else (f"{kind}:{number}", f"{kind}:{name}")

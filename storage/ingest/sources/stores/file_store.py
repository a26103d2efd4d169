"""A store of files on another machine, over an fsspec file system: lists folders and reads files, within bounds.

The calls block, so they run in threads. Messages of libraries are not shown: they may hold what a request held.
"""

import errno
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, BinaryIO, Final, Protocol, TypeVar, cast

from storage.ingest.sources.access_list import AccessList
from storage.ingest.sources.addresses import AddressRefused, find_refused_address

_CHUNK_BYTES: Final = 1 << 20
_MAX_READ_S: Final = 600.0  # for one file
_TAG_KEYS: Final = ("ETag", "etag", "md5Hash", "content_md5", "generation")
_TIME_KEYS: Final = ("LastModified", "mtime", "last_modified", "modified", "updated", "last_write_time")
_FINAL_ERRORS: Final = (errno.EINVAL, errno.ENAMETOOLONG, errno.ENOSYS, errno.EPERM)
T = TypeVar("T")


class StoreProblemKind(Enum):
    MISSING = "missing"
    DENIED = "denied"
    TRANSIENT = "transient"  # a later try may work
    FINAL = "final"


class StoreProblem(Exception):
    """A folder cannot be listed, or a file not read. `reason` is shown to people."""

    def __init__(self, reason: str, kind: StoreProblemKind) -> None:
        super().__init__(reason)
        self.reason, self.kind = reason, kind


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEntry:
    """A file or folder of a store. `tag` identifies the content, if the store says so; `modified` is aware.

    `access` is there if the listing tells who may read the file, or pass the folder.
    """

    path: str
    is_folder: bool
    size: int | None
    tag: str
    modified: datetime | None
    access: AccessList | None = None


class RemoteFileStore(Protocol):
    """A store, opened for one sync. The calls block; at most `max_calls` may run at once."""

    @property
    def root(self) -> str:
        """The path of the folder that the source reads."""
        ...

    @property
    def max_calls(self) -> int: ...

    def list_folder(self, path: str) -> Sequence[StoreEntry]:
        """Raises `StoreProblem`."""
        ...

    def read_file(self, path: str, sink: BinaryIO, *, max_bytes: int) -> None:
        """Writes the content into `sink`. Raises `StoreProblem`."""
        ...

    def read_root_access(self) -> Sequence[AccessList]:
        """Returns who may pass the root and the folders above it, as far as the store counts them.

        Raises `StoreProblem`.
        """
        ...

    def read_access(self, entry: StoreEntry) -> AccessList | None:
        """Returns who may read the file, or pass the folder; None for a folder that the store does not count.

        Raises `StoreProblem`.
        """
        ...


class AccessReader(Protocol):
    """Reads access lists by a library; what it raises is what the library raises, or `StoreProblem`.

    The methods are those of `RemoteFileStore`.
    """

    def read_root_access(self) -> Sequence[AccessList]: ...

    def read_access(self, entry: StoreEntry) -> AccessList | None: ...


ErrorTranslator = Callable[[Exception], StoreProblem | None]
"""Says what an exception of a library means; None where its type alone does not tell."""


class FsspecStore:
    """`library_errors` are the exceptions of the library below the file system, beside OSError. Without an
    `access_reader`, nobody's access can be said.
    """

    def __init__(
        self,
        file_system: object,
        root: str,
        *,
        max_calls: int,
        library_errors: tuple[type[Exception], ...] = (),
        translate_error: ErrorTranslator = lambda exc: None,
        access_reader: AccessReader | None = None,
    ) -> None:
        self.root, self.max_calls = root, max_calls
        self._access_reader = access_reader
        self._file_system = cast(Any, file_system)
        self._errors = (OSError, EOFError, ValueError, *library_errors)
        self._translate_error = translate_error

    def list_folder(self, path: str) -> Sequence[StoreEntry]:
        try:
            listed = cast("list[Mapping[str, object]]", self._file_system.ls(path, detail=True))
        except self._errors as exc:
            raise self.problem_of(exc) from None
        return [_entry_from_listing(entry) for entry in listed]

    def read_file(self, path: str, sink: BinaryIO, *, max_bytes: int) -> None:
        deadline, received = time.monotonic() + _MAX_READ_S, 0
        try:
            with self._file_system.open(path, "rb") as file:
                if (prefetch := getattr(file, "prefetch", None)) is not None:  # SFTP: else a round trip for each 32 KB
                    prefetch(max_concurrent_requests=64)
                while data := cast(bytes, file.read(_CHUNK_BYTES)):
                    received += len(data)
                    if received > max_bytes:
                        raise too_large_problem(max_bytes)
                    if time.monotonic() > deadline:
                        raise StoreProblem(
                            f"it takes longer than {_MAX_READ_S / 60:.0f} minutes", StoreProblemKind.FINAL
                        )
                    sink.write(data)
        except self._errors as exc:
            raise self.problem_of(exc) from None

    def read_root_access(self) -> Sequence[AccessList]:
        return self._read_by(lambda reader: reader.read_root_access())

    def read_access(self, entry: StoreEntry) -> AccessList | None:
        return self._read_by(lambda reader: reader.read_access(entry))

    def _read_by(self, call: Callable[[AccessReader], T]) -> T:
        if self._access_reader is None:
            raise unknown_access_problem()
        try:
            return call(self._access_reader)
        except self._errors as exc:
            raise self.problem_of(exc) from None

    def problem_of(self, exc: Exception) -> StoreProblem:
        if (refused := find_refused_address(exc)) is not None:
            return problem_of_error(refused)
        return self._translate_error(exc) or problem_of_error(exc)


def too_large_problem(max_bytes: int) -> StoreProblem:
    return StoreProblem(f"it is larger than {max_bytes // 1024**2} MB", StoreProblemKind.FINAL)


def unknown_access_problem() -> StoreProblem:
    return StoreProblem("the store does not say who may read it", StoreProblemKind.FINAL)


def problem_of_error(exc: Exception) -> StoreProblem:
    match exc:
        case AddressRefused():
            return StoreProblem(str(exc.strerror), StoreProblemKind.FINAL)
        case OSError(errno=errno.ENOENT) | FileNotFoundError():  # SMB has error types of its own
            return StoreProblem("it does not exist", StoreProblemKind.MISSING)
        case OSError(errno=errno.EACCES) | PermissionError():
            return StoreProblem(
                "the store refuses it: the user, password, key or token is wrong, or does not allow it",
                StoreProblemKind.DENIED,
            )
        case NotADirectoryError() | IsADirectoryError():
            return StoreProblem("it is a folder where a file was, or a file", StoreProblemKind.FINAL)
        case TimeoutError():
            return StoreProblem("the store does not answer in time", StoreProblemKind.TRANSIENT)
        case OSError(errno=errno.EBUSY):
            return StoreProblem("the store is too busy", StoreProblemKind.TRANSIENT)
        case OSError() if exc.errno in _FINAL_ERRORS:
            return StoreProblem("the store does not take the request", StoreProblemKind.FINAL)
        case OSError():
            return StoreProblem("the store cannot be reached, or its answer breaks off", StoreProblemKind.TRANSIENT)
        case _:
            return StoreProblem(f"the store's answer cannot be read ({type(exc).__name__})", StoreProblemKind.TRANSIENT)


def _entry_from_listing(entry: Mapping[str, object]) -> StoreEntry:
    size = entry.get("size")
    tag = next((str(entry[key]) for key in _TAG_KEYS if entry.get(key)), "")
    modified = next((entry[key] for key in _TIME_KEYS if entry.get(key)), None)
    return StoreEntry(
        path=str(entry["name"]),
        is_folder=entry.get("type") == "directory" or str(entry["name"]).endswith("/"),
        size=size if isinstance(size, int) and entry.get("type") != "link" else None,
        tag=tag,
        modified=_aware_time(modified),
        access=access if isinstance(access := entry.get("access"), AccessList) else None,
    )


def _aware_time(value: object) -> datetime | None:
    match value:
        case datetime():
            return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        case int() | float():
            return datetime.fromtimestamp(value, UTC)
        case str():
            try:
                return _aware_time(datetime.fromisoformat(value))
            except ValueError:
                return None
        case _:
            return None

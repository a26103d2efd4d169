"""Who may read the files of a store: by their own access lists, and those of the folders that lead to them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from storage.ingest.sources.access_list import readers_of_file, restrict_readers, unknown_principals_of
from storage.ingest.sources.principals import PrincipalMapping
from storage.ingest.sources.stores.file_store import (
    RemoteFileStore,
    StoreEntry,
    StoreProblem,
    unknown_access_problem,
)
from storage.search.ids import Subject

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathAccess:
    """Who may read a file, or pass a folder; `problem` if that is not known. Without readers, nobody is kept out.
    `unknown_principals`: who is allowed as well, and stands for nobody here.
    """

    readers: frozenset[Subject] = frozenset()
    problem: StoreProblem | None = None
    unknown_principals: tuple[str, ...] = ()


OPEN_ACCESS: Final = PathAccess()


class StoreCaller(Protocol):
    """Runs a call of the store in a thread, with its retries. Raises `StoreProblem`."""

    async def __call__(self, call: Callable[[], T], /) -> T: ...


class StoreAccess:
    def __init__(self, store: RemoteFileStore, principals: PrincipalMapping, call_store: StoreCaller) -> None:
        self._store, self._principals, self._call_store = store, principals, call_store

    async def load_root_access(self) -> PathAccess:
        """Returns who may pass the root of the source."""
        try:
            lists = await self._call_store(self._store.read_root_access)
        except StoreProblem as exc:
            return PathAccess(problem=exc)
        readers: frozenset[Subject] = frozenset()
        for access in lists:
            readers = restrict_readers(readers, access, self._principals)
        return PathAccess(readers=readers)

    async def load_access(self, entry: StoreEntry, folder: PathAccess) -> PathAccess:
        """Returns the access of a file or folder in the folder. That of a file has readers or a problem."""
        if folder.problem is not None:
            return folder
        try:
            access = await self._call_store(lambda: self._store.read_access(entry))
        except StoreProblem as exc:
            return PathAccess(problem=exc)
        if access is None:
            return folder if entry.is_folder else PathAccess(problem=unknown_access_problem())
        if entry.is_folder:
            return PathAccess(readers=restrict_readers(folder.readers, access, self._principals))
        return PathAccess(
            readers=readers_of_file(folder.readers, access, self._principals),
            unknown_principals=unknown_principals_of(access, self._principals),
        )

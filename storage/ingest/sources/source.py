"""The source protocol: a source lists its items, and fetches each item as a file to load.

A source knows nothing of buckets and documents. It returns a version and a cursor with each item. The ledger stores
both once the index has the item, does not interpret them, and gives them back at the next sync.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from storage.search.ids import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceItem:
    """A file or page that a source has now.

    `id` is stable as long as the item exists; the ids of its documents are made from it. `version` identifies the
    content as far as the listing shows: equal to the version of the last sync means unchanged; empty means that only
    fetching shows whether the content changed. `location` is a path or a URL.
    """

    id: str
    version: str
    location: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedItem:
    """The content of an item, in a file whose suffix is that of its format. `link` becomes `Document.source`.

    `has_rows`: each record is a row of a table, with an id that the source has only once.

    `title`, if any, takes the place of that of the file, and `fields` are added to its metadata. `readers` may read the
    documents of the item; if there are none, all who see the bucket. A source that gives readers includes them in
    version and cursor, so that other readers replace the documents. `has_other_readers`: the documents that there are
    may have had others, so those that are not loaded now are deleted. `remarks` are shown to people, each once.
    """

    path: Path
    link: str
    version: str
    cursor: str
    has_rows: bool = False
    title: str = ""
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    readers: frozenset[Subject] = frozenset()
    has_other_readers: bool = False
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnchangedItem:
    """The content is still the content that the cursor describes."""

    version: str
    cursor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsupportedItem:
    """The item exists, but its format is not supported."""

    reason: str
    version: str
    cursor: str


@dataclass(frozen=True, slots=True)
class VanishedItem:
    """The item was listed but no longer exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchFailure:
    """The item probably exists but could not be fetched now. `reason` is shown to people."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedItem:
    """The item exists, but who may read it is unknown, or has changed while its content cannot be had. So its documents
    are deleted until a later sync loads them. `reason` is shown to people.
    """

    reason: str


FetchResult: TypeAlias = FetchedItem | UnchangedItem | UnsupportedItem | VanishedItem | FetchFailure | ClosedItem


class DocumentSource(Protocol):
    """A place that documents come from, opened for one sync."""

    def list_items(self) -> AsyncIterator[SourceItem]:
        """Yields all items that exist now, each once, in any order. Hidden and forbidden items are left out.

        Raises `ListingFailed` if an item may be missing, after all items that could be listed. The caller may treat a
        missing item as deleted only if nothing was raised.
        """
        ...

    async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
        """Fetches the content of a listed item into a new file in `folder`, or returns the source's own file.

        `cursor` is the cursor of the content that the index has; empty if it has none. `UnchangedItem` is returned only
        for a cursor that is not empty. A problem of the item is a returned value, not an exception. Concurrent calls
        are safe.
        """
        ...

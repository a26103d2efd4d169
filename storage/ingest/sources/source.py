"""What a source is: a place that has items, each of which can be listed, and fetched as a file to load.

A source knows nothing of buckets and documents. What it wants to know again at the next sync it hands over with each
item, as a version and a cursor; they are kept once the index has the item, and come back unread.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that a source has now.

    `id` is its own as long as it is the same thing, and what its documents are called after. `version` is what the
    listing alone tells of its content: equal to that of the last sync means unchanged, empty means that only fetching
    tells. `where`: a path or a URL.
    """

    id: str
    version: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The content, in a file whose suffix tells its format. `link` is what its documents give as their source."""

    path: Path
    link: str
    version: str
    cursor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """The content is that of the cursor."""

    version: str
    cursor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """It is there, and of no format that is read."""

    reason: str
    version: str
    cursor: str


@dataclass(frozen=True, slots=True)
class Gone:
    """It is no longer there, though it was listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfetched:
    """It is there, as far as one can tell, and could not be had now. `reason` is for people."""

    reason: str


Fetch: TypeAlias = Fetched | Unchanged | PassedOver | Gone | Unfetched


class Source(Protocol):
    """A place that documents come from, open for one sync."""

    def items(self) -> AsyncIterator[Item]:
        """All that is there now, each once, in any order; what is hidden or may not be read is not there.

        Raises `ListingFailed` at the end, after all that could be listed, where anything may have been missed: an item
        that did not come is gone only if nothing was raised.
        """
        ...

    async def fetch(self, item: Item, cursor: str, folder: Path) -> Fetch:
        """The content of an item of this listing, in a new file within `folder`, or the source's own file.

        `cursor` is the one that came with the content that the index has, empty if it has none. `Unchanged` only for
        such a cursor. What is wrong with the item is a value; safe to call many times at once.
        """
        ...

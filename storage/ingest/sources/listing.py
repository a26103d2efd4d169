"""How a listing ends: each item once, no more than are read, and one sentence of what went wrong."""

from typing import Final

from storage.ingest.errors import ListingFailed

MAX_ITEMS: Final = 200_000
_MAX_SHOWN_PROBLEMS: Final = 3


class SourceListing:
    """The items and problems of one listing. `noun` is what the items are called."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._listed = set[str]()
        self._problems: dict[str, None] = {}

    def add_item(self, item: str) -> bool:
        """Returns whether the item is new. Raises `ListingFailed` if there are more than are read."""
        if item in self._listed:
            return False
        if len(self._listed) >= MAX_ITEMS:
            self.add_problem(f"it has more than {MAX_ITEMS:,} {self._noun}")
            self.end_listing()
        self._listed.add(item)
        return True

    def add_problem(self, reason: str) -> None:
        """Notes that items may be missing; the listing goes on."""
        self._problems.setdefault(reason)

    def end_listing(self) -> None:
        """Raises `ListingFailed` if there was a problem: no item may be taken for deleted."""
        if self._problems:
            raise ListingFailed("; ".join(list(self._problems)[:_MAX_SHOWN_PROBLEMS]))

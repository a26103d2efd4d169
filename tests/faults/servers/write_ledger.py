"""What was written to the index and when, and so how many documents a question may count."""

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class DocumentWrite:
    """A put of a document of this vendor, or a deletion (None). `ended_at`: when it was acknowledged; None: it never
    was, so it may have happened or not. Times are seconds since the epoch.
    """

    vendor: str | None
    revision: int
    started_at: float
    ended_at: float | None = None


@dataclass(frozen=True, kw_only=True)
class CountBounds:
    """The smallest and the largest true number of documents in a time."""

    smallest: int
    largest: int

    def contains_count(self, count: int) -> bool:
        return self.smallest <= count <= self.largest


@dataclass
class WriteLedger:
    """The writes of each document, in order: the next write of a document starts after the last has ended."""

    writes: dict[str, list[DocumentWrite]] = field(default_factory=dict[str, list[DocumentWrite]])

    def note_start(self, doc_ids: Iterable[str], vendor: str | None, revision: int) -> list[DocumentWrite]:
        started = time.time()
        new_writes: list[DocumentWrite] = []
        for doc_id in doc_ids:
            write = DocumentWrite(vendor=vendor, revision=revision, started_at=started)
            self.writes.setdefault(doc_id, []).append(write)
            new_writes.append(write)
        return new_writes

    def note_end(self, acknowledged: Iterable[DocumentWrite]) -> None:
        ended = time.time()
        for write in acknowledged:
            write.ended_at = ended

    @property
    def acknowledged_count(self) -> int:
        return sum(write.ended_at is not None for writes in self.writes.values() for write in writes)

    @property
    def unknown_count(self) -> int:
        return sum(write.ended_at is None for writes in self.writes.values() for write in writes)

    def possible_writes(self, doc_id: str, begin: float, end: float) -> list[DocumentWrite | None]:
        """The writes that may have been the newest at some moment of this time; None: the document was not there yet.

        An acknowledged write ends what an earlier write may still do.
        """
        writes = self.writes.get(doc_id, [])
        settled = [position for position, write in enumerate(writes) if write.ended_at and write.ended_at <= begin]
        first = settled[-1] if settled else None
        later = [write for write in writes[0 if first is None else first + 1 :] if write.started_at <= end]
        return [None if first is None else writes[first], *later]

    def count_bounds(self, vendor: str | None, begin: float, end: float) -> CountBounds:
        """The documents of a vendor, or all of them (None)."""
        smallest = largest = 0
        for doc_id in self.writes:
            matches = [_is_of_vendor(write, vendor) for write in self.possible_writes(doc_id, begin, end)]
            smallest += all(matches)
            largest += any(matches)
        return CountBounds(smallest=smallest, largest=largest)

    def find_wrong_documents(
        self, doc_ids: Collection[str], vendor: str | None, begin: float, end: float
    ) -> Mapping[str, list[str]]:
        """The documents that a complete list of this time lacks, and those that it may not have."""
        listed, missing, excess = set(doc_ids), list[str](), list[str]()
        for doc_id in self.writes:
            matches = [_is_of_vendor(write, vendor) for write in self.possible_writes(doc_id, begin, end)]
            if doc_id not in listed and all(matches):
                missing.append(doc_id)
            if doc_id in listed and not any(matches):
                excess.append(doc_id)
        excess += sorted(listed - set(self.writes))
        return {"missing": missing, "in excess": excess}


def _is_of_vendor(write: DocumentWrite | None, vendor: str | None) -> bool:
    return write is not None and write.vendor is not None and vendor in (None, write.vendor)

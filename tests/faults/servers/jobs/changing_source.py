"""Sources whose documents change all the time: in the end the index has exactly what is there, each document once."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from storage.search.ids import BucketId
from tests.faults.servers.jobs.command_series import run_commands
from tests.faults.servers.jobs.sql_statements import ExecuteStatement

LIBRARY: Final = BucketId("library")  # all sources are in one bucket: none may touch the documents of another
_ADDED: Final = re.compile(r"^added (\S+) for ", re.MULTILINE)
_WAITING_SHARE: Final = 0.1  # of the documents: deletions that wait; more than a fifth of a source would be kept
_SHORT_SYNC_STATEMENT: Final = "UPDATE sources SET due_at = now() WHERE due_at > now()"
_OUTCOMES_STATEMENT: Final = "SELECT id, outcome, failure FROM sources ORDER BY id"
_DOCUMENTS_STATEMENT: Final = "SELECT source, doc_id FROM source_documents"


def title_of(name: str, revision: int) -> str:
    return f"{name.capitalize()} in revision {revision}"


class ChangingPlace(Protocol):
    """Where a source has its documents, by name. What a write or a deletion has returned from is there, or gone."""

    @property
    def name(self) -> str:
        """What the documents are called, as no documents of another place."""
        ...

    @property
    def adding_words(self) -> Sequence[str]:
        """Behind `parley source add`."""
        ...

    @property
    def secret_variable(self) -> str:
        """Of the environment, in which the command finds the secret, if it needs one."""
        ...

    @property
    def secret(self) -> str: ...

    def item_of(self, name: str) -> str:
        """The id of the document within its source."""
        ...

    async def open_place(self) -> None: ...

    async def write_documents(self, revisions: Mapping[str, int]) -> None: ...

    async def delete_document(self, name: str) -> None: ...


@dataclass
class ChangingSource:
    place: ChangingPlace
    rng: random.Random
    source_id: str = ""
    revisions: dict[str, int] = field(default_factory=dict[str, int])  # of the documents that are there, by name
    change_count: int = 0
    deletion_count: int = 0
    _made_count: int = 0

    async def open_place(self, base_documents: int) -> None:
        await self.place.open_place()
        await self._write_documents(dict.fromkeys(self._make_names(base_documents), 1))

    async def change_documents(self, known: Collection[str]) -> None:
        """`known`: the documents that Parley knows of this source, by id."""
        changed = self.rng.sample(sorted(self.revisions), self.rng.randint(0, 2))
        new = self._make_names(self.rng.randint(0, 2))
        await self._write_documents({name: self.revisions.get(name, 0) + 1 for name in (*changed, *new)})
        waiting = set(known) - {f"{self.source_id}:{self.place.item_of(name)}" for name in self.revisions}
        if len(waiting) < _WAITING_SHARE * len(known):
            gone = self.rng.choice(sorted(self.revisions))
            del self.revisions[gone]
            await self.place.delete_document(gone)
            self.change_count, self.deletion_count = self.change_count + 1, self.deletion_count + 1

    def _make_names(self, count: int) -> list[str]:
        first, self._made_count = self._made_count, self._made_count + count
        return [f"{self.place.name}-{number:04}" for number in range(first, self._made_count)]

    async def _write_documents(self, revisions: Mapping[str, int]) -> None:
        if revisions:
            self.revisions |= revisions
            await self.place.write_documents(revisions)
            self.change_count += len(revisions)

    def find_differences(self, titles: Mapping[str, str], known: Collection[str]) -> list[str]:
        """Between the place and the documents of the source, whose titles are given by id, and between these and what
        Parley knows of them.
        """
        found = Counter(titles.values())
        expected = Counter(title_of(name, revision) for name, revision in self.revisions.items())
        return [
            *(f"{title!r} is not found" for title in sorted((expected - found).elements())),
            *(f"{title!r} is found" for title in sorted((found - expected).elements())),
            *(f"the source does not know {doc_id}" for doc_id in sorted(titles.keys() - set(known))),
            *(f"the source has lost {doc_id}" for doc_id in sorted(set(known) - titles.keys())),
        ]


@dataclass
class ChangingSources:
    """All sources of the storm."""

    sources: Sequence[ChangingSource]
    execute: ExecuteStatement

    async def add_sources(self, home: Path, settings: Mapping[str, str], base_documents: int) -> None:
        for source in self.sources:
            await source.open_place(base_documents)
        options = ("--bucket", LIBRARY, "--every", "1m")
        adding = [("source", "add", *source.place.adding_words, *options) for source in self.sources]
        secrets = {source.place.secret_variable: source.place.secret for source in self.sources}
        commands = (*adding, ("source", "sync"), ("grant", LIBRARY, "everyone"))
        printed = await asyncio.to_thread(run_commands, home, commands, {**settings, **secrets})
        for source, source_id in zip(self.sources, _ADDED.findall(printed), strict=True):
            source.source_id = source_id

    async def change_documents(self) -> None:
        """Also makes the sources due. Raises `OSError` and `SQLAlchemyError` while the database is down."""
        known = await self._load_known_documents()
        for source in self.sources:
            await source.change_documents(known[source.source_id])
        await self.make_due()

    async def make_due(self) -> None:
        await self.execute(_SHORT_SYNC_STATEMENT)

    async def find_differences(self, titles: Mapping[str, str]) -> dict[str, list[str]]:
        """By the name of the place; of the bucket's documents, whose titles are given by id."""
        known = await self._load_known_documents()
        differences: dict[str, list[str]] = {}
        for source in self.sources:
            own = {doc_id: title for doc_id, title in titles.items() if doc_id.startswith(f"{source.source_id}:")}
            differences[source.place.name] = source.find_differences(own, known[source.source_id])
        return differences

    def find_strange_documents(self, doc_ids: Collection[str]) -> list[str]:
        prefixes = tuple(f"{source.source_id}:" for source in self.sources)
        return [f"{doc_id} is of no source" for doc_id in sorted(doc_ids) if not doc_id.startswith(prefixes)]

    async def _load_known_documents(self) -> dict[str, set[str]]:
        known = {source.source_id: set[str]() for source in self.sources}
        for row in await self.execute(_DOCUMENTS_STATEMENT):
            known[row.source].add(row.doc_id)
        return known

    async def describe_last_syncs(self) -> list[str]:
        rows = await self.execute(_OUTCOMES_STATEMENT)
        return [f"the last sync of {row.id} ended as {row.outcome}: {row.failure}" for row in rows]

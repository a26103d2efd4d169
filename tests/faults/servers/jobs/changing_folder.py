"""A folder that is a source, and whose files change all the time: in the end the index has exactly what is there."""

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from storage.opensearch.index import OpenSearchIndex
from storage.search.ids import BucketId
from tests.cli.conftest import run_parley
from tests.faults.servers.jobs.sql_statements import ExecuteStatement

LIBRARY: Final = BucketId("library")
_BASE_FILES: Final = 80
_MAX_WAITING_DELETIONS: Final = 8  # more than a fifth of the source would be kept
_SHORT_SYNC_STATEMENT: Final = "UPDATE sources SET due_at = now() WHERE due_at > now()"
_OUTCOME_STATEMENT: Final = "SELECT outcome, failure FROM sources"
_DOCUMENTS_STATEMENT: Final = "SELECT count(*) AS number FROM source_documents"


@dataclass
class ChangingFolder:
    folder: Path
    execute: ExecuteStatement
    rng: random.Random
    revisions: dict[str, int] = field(default_factory=dict[str, int])  # of the files that are there, by name
    change_count: int = 0
    _made_count: int = 0

    def add_source(self, home: Path, settings: Mapping[str, str]) -> None:
        self.folder.mkdir()
        for _ in range(_BASE_FILES):
            self._add_file()
        commands = (
            ("source", "add", "folder", str(self.folder), "--bucket", LIBRARY, "--every", "1m"),
            ("source", "sync", self.folder.name),
            ("grant", LIBRARY, "everyone"),
        )
        for words in commands:
            if (result := run_parley(home, *words, **settings)).status:
                raise RuntimeError(f"parley {' '.join(words)} failed: {result.stderr}")

    async def change_files(self) -> None:
        """Also makes the source due. Raises `OSError` and `SQLAlchemyError` while the database is down."""
        await asyncio.to_thread(self._add_and_change_files)
        known = (await self.execute(_DOCUMENTS_STATEMENT))[0].number
        if known - len(self.revisions) < _MAX_WAITING_DELETIONS:
            await asyncio.to_thread(self._delete_file)
        await self.execute(_SHORT_SYNC_STATEMENT)

    def _add_and_change_files(self) -> None:
        for _ in range(self.rng.randint(0, 2)):
            self._add_file()
        for name in self.rng.sample(sorted(self.revisions), self.rng.randint(0, 2)):
            self._write_file(name, self.revisions[name] + 1)

    def _add_file(self) -> None:
        self._write_file(f"page-{self._made_count:04}", 1)
        self._made_count += 1

    def _write_file(self, name: str, revision: int) -> None:
        """At once, so that no sync reads half of it."""
        hidden = self.folder / f".{name}"
        hidden.write_text(f"# {_title_of(name, revision)}\n\nThe lamp of {name} stands in room {revision}.\n", "utf-8")
        hidden.replace(self.folder / f"{name}.md")
        self.revisions[name] = revision
        self.change_count += 1

    def _delete_file(self) -> None:
        name = self.rng.choice(sorted(self.revisions))
        (self.folder / f"{name}.md").unlink()
        del self.revisions[name]
        self.change_count += 1

    async def find_differences(self, index: OpenSearchIndex) -> list[str]:
        """Between the files and the documents, and between the documents and what the source knows of them."""
        titles, doc_ids = Counter[str](), set[str]()
        async for records in index.scan_records(LIBRARY):
            titles.update(record.title for record in records)
            doc_ids.update(str(record.doc_id) for record in records)
        expected = Counter(_title_of(name, revision) for name, revision in self.revisions.items())
        known = {row.doc_id for row in await self.execute("SELECT doc_id FROM source_documents")}
        return [
            *(f"{title!r} is not found" for title in sorted((expected - titles).elements())),
            *(f"{title!r} is found" for title in sorted((titles - expected).elements())),
            *(f"the source does not know {doc_id}" for doc_id in sorted(doc_ids - known)),
            *(f"the source has lost {doc_id}" for doc_id in sorted(known - doc_ids)),
        ]

    async def make_due(self) -> None:
        await self.execute(_SHORT_SYNC_STATEMENT)

    async def describe_last_sync(self) -> str:
        [row] = await self.execute(_OUTCOME_STATEMENT)
        return f"the last sync ended as {row.outcome}: {row.failure}"


def _title_of(name: str, revision: int) -> str:
    return f"{name.capitalize()} in revision {revision}"

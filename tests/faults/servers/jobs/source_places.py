"""The places of the storm's sources: a folder, a table of PostgreSQL, a list interface, a Confluence, and S3."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from tests.faults.servers.jobs.changing_source import ChangingPlace, title_of
from tests.faults.servers.jobs.sql_statements import ExecuteStatement
from tests.servers.file_stores import SECRET, USER, ObjectStoreServer, object_store_server
from tests.stand_ins.list_interface import (
    CONFLUENCE_TOKEN,
    CONFLUENCE_USER,
    LIST_TOKEN,
    ConfluencePage,
    ConfluenceStandIn,
    ListInterface,
    serve_confluence,
    serve_list_interface,
)

_PAGE_SIZE: Final = 15  # several pages, between which documents come and go
_SPACE: Final = "HR"
_BUCKET: Final = "office"
_CREATE_STATEMENT: Final = "CREATE TABLE storm_rows (id text PRIMARY KEY, title text, revision integer)"
_WRITE_STATEMENT: Final = (
    "INSERT INTO storm_rows SELECT * FROM unnest(CAST(:ids AS text[]), CAST(:titles AS text[]), CAST(:revisions AS"
    " integer[])) ON CONFLICT (id) DO UPDATE SET title = excluded.title, revision = excluded.revision"
)
_DELETE_STATEMENT: Final = "DELETE FROM storm_rows WHERE id = :id"
_REST_PATHS: Final = ("--items", "$.results", "--id", "$.id", "--text", "$.body", "--title", "$.title")


@dataclass
class FolderPlace:
    folder: Path
    name: str = "page"
    secret_variable: str = "NO_SECRET"
    secret: str = ""

    @property
    def adding_words(self) -> Sequence[str]:
        return ("folder", str(self.folder))

    def item_of(self, name: str) -> str:
        return f"{name}.md"

    async def open_place(self) -> None:
        self.folder.mkdir()

    async def write_documents(self, revisions: Mapping[str, int]) -> None:
        await asyncio.to_thread(self._write_files, revisions)

    def _write_files(self, revisions: Mapping[str, int]) -> None:
        """Each at once, so that no sync reads half of it."""
        for name, revision in revisions.items():
            hidden = self.folder / f".{name}"
            text = f"# {title_of(name, revision)}\n\nThe lamp of {name} stands in room {revision}.\n"
            hidden.write_text(text, encoding="utf-8")
            hidden.replace(self.folder / f"{name}.md")

    async def delete_document(self, name: str) -> None:
        (self.folder / f"{name}.md").unlink()


@dataclass
class TablePlace:
    """A table beside those of Parley, whose server is killed with them. `url`: as people give it."""

    url: str
    execute: ExecuteStatement
    name: str = "row"
    secret_variable: str = "NO_SECRET"
    secret: str = ""

    @property
    def adding_words(self) -> Sequence[str]:
        query = ("--query", "SELECT id, title, revision FROM storm_rows", "--key", "id", "--cursor", "revision")
        return ("sql", self.url, *query, "--name", "shelf", "--allow-private")

    def item_of(self, name: str) -> str:
        return name

    async def open_place(self) -> None:
        await self.execute(_CREATE_STATEMENT)

    async def write_documents(self, revisions: Mapping[str, int]) -> None:
        titles = [title_of(name, revision) for name, revision in revisions.items()]
        values = {"ids": list(revisions), "titles": titles, "revisions": list(revisions.values())}
        await _repeat_statement(lambda: self.execute(_WRITE_STATEMENT, **values))

    async def delete_document(self, name: str) -> None:
        await _repeat_statement(lambda: self.execute(_DELETE_STATEMENT, id=name))


async def _repeat_statement(execute: Callable[[], Awaitable[object]]) -> None:
    """Until it is acknowledged, so that it is known what there is."""
    while True:
        with contextlib.suppress(OSError, SQLAlchemyError, TimeoutError):
            await execute()
            return
        await asyncio.sleep(0.2)


@dataclass
class ListPlace:
    interface: ListInterface
    name: str = "item"
    secret_variable: str = "REST_SECRET"
    secret: str = LIST_TOKEN

    @property
    def adding_words(self) -> Sequence[str]:
        return (
            "rest",
            f"{self.interface.url}/items",
            *_REST_PATHS,
            "--allow-private",
            "--secret-env",
            self.secret_variable,
        )

    def item_of(self, name: str) -> str:
        return name

    async def open_place(self) -> None:
        self.interface.page_size = _PAGE_SIZE

    async def write_documents(self, revisions: Mapping[str, int]) -> None:
        for name, revision in revisions.items():
            body = f"The shelf of {name} has {revision} boards."
            self.interface.items[name] = {"title": title_of(name, revision), "body": body}

    async def delete_document(self, name: str) -> None:
        del self.interface.items[name]


@dataclass
class WikiPlace:
    """The id of a page is the number in its name."""

    wiki: ConfluenceStandIn
    name: str = "leaf"
    secret_variable: str = "WIKI_SECRET"
    secret: str = CONFLUENCE_TOKEN

    @property
    def adding_words(self) -> Sequence[str]:
        options = ("--user", CONFLUENCE_USER, "--allow-private", "--secret-env", self.secret_variable)
        return ("confluence", self.wiki.url, "--space", _SPACE, *options)

    def item_of(self, name: str) -> str:
        return f"7{name.rpartition('-')[2]}"

    async def open_place(self) -> None:
        self.wiki.page_size = _PAGE_SIZE

    async def write_documents(self, revisions: Mapping[str, int]) -> None:
        for name, revision in revisions.items():
            body = f"<p>The chair of {name} has {revision} legs.</p>"
            page = ConfluencePage(title=title_of(name, revision), body=body, version=revision)
            self.wiki.pages[_SPACE][self.item_of(name)] = page

    async def delete_document(self, name: str) -> None:
        del self.wiki.pages[_SPACE][self.item_of(name)]


@dataclass
class StorePlace:
    """Objects below a path of S3. A file whose time is of the present second is read again."""

    store: ObjectStoreServer
    name: str = "sheet"
    secret_variable: str = "STORE_SECRET"
    secret: str = SECRET

    @property
    def adding_words(self) -> Sequence[str]:
        options = (
            "--user",
            USER,
            "--endpoint",
            self.store.url,
            "--allow-private",
            "--secret-env",
            self.secret_variable,
        )
        return (f"s3://{_BUCKET}/sheets", *options)

    def item_of(self, name: str) -> str:
        return f"{name}.md"

    async def open_place(self) -> None:
        await asyncio.to_thread(self.store.create_bucket, _BUCKET)

    async def write_documents(self, revisions: Mapping[str, int]) -> None:
        for name, revision in revisions.items():
            text = f"# {title_of(name, revision)}\n\nThe drawer of {name} has {revision} handles.\n"
            await asyncio.to_thread(self.store.request, "PUT", self._path_of(name), text.encode())

    async def delete_document(self, name: str) -> None:
        await asyncio.to_thread(self.store.request, "DELETE", self._path_of(name))

    def _path_of(self, name: str) -> str:
        return f"/{_BUCKET}/sheets/{self.item_of(name)}"


@asynccontextmanager
async def open_source_places(
    folder: Path, database_url: str, execute: ExecuteStatement
) -> AsyncGenerator[list[ChangingPlace]]:
    with object_store_server() as store:
        async with serve_list_interface() as interface, serve_confluence() as wiki:
            places = (TablePlace(database_url, execute), ListPlace(interface), WikiPlace(wiki), StorePlace(store))
            yield [FolderPlace(folder), *places]

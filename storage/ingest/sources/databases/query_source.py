"""The rows of a query as a source: each row is a document, as the rows of a CSV file are.

The rows are divided by a digest of their keys into a fixed number of items, so that a changed row loads a small part of
the table again. With a cursor column, a listing reads only keys and cursors; without one, it reads all rows, and keeps
them in files until they are fetched.
"""

import asyncio
import hashlib
import json
import math
import re
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, TextIO, cast

from storage.ingest.documents.surrogates import replace_surrogates
from storage.ingest.errors import ListingFailed
from storage.ingest.files import SourceFile
from storage.ingest.formats.cells import CellValue
from storage.ingest.formats.tables import TableLayout, record_of_row
from storage.ingest.records import RecordOrigin
from storage.ingest.sources.databases.query_reader import KeyFilter, QueryFailed, QueryReader, QueryRow
from storage.ingest.sources.principals import PrincipalMapping
from storage.ingest.sources.source import FetchedItem, FetchFailure, FetchResult, SourceItem, UnchangedItem
from storage.search.ids import Subject

ITEM_COUNT: Final = 64
MAX_ROWS: Final = 1_000_000
DEFAULT_MAX_ROWS: Final = 200_000
_MAX_SPOOL_BYTES: Final = 2 * 1024**3
_MAX_SINGLE_ITEMS: Final = 4  # fetched by their keys; after so many, all rows are read at once
_KEYS_PER_STATEMENT: Final = 500
_MAX_EXACT_DIGITS: Final = 15
_SEPARATORS: Final = re.compile(r"[,;\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowQuery:
    """`key`, `cursor` and `readers` are columns of the query. The cursor of a row changes whenever the row changes;
    the readers are who may read it: a list, or a text with commas, semicolons or lines between them.
    """

    query: str
    key: str
    cursor: str = ""
    readers: str = ""  # empty: everyone who may see the bucket
    max_rows: int = DEFAULT_MAX_ROWS


@dataclass(slots=True)
class _ItemState:
    """What a listing learns of an item: a digest of its rows in any order, and their keys."""

    digest_sum: int = 0
    keys: list[object] = field(default_factory=list[object])

    @property
    def version(self) -> str:
        return f"{len(self.keys)}-{self.digest_sum:064x}"

    def add_row(self, key: object, content: str) -> None:
        digest = int.from_bytes(hashlib.sha256(content.encode()).digest(), "big")
        self.digest_sum = (self.digest_sum + digest) % (1 << 256)
        self.keys.append(key)


class QuerySource:
    """The rows of `row_query`. `table` is what they are called; `link` is shown as where they come from. `folder` is
    empty, and holds the rows of a listing while the source is open. `principals` knows who the readers of rows are.
    """

    def __init__(
        self,
        reader: QueryReader,
        row_query: RowQuery,
        *,
        table: str,
        link: str,
        folder: Path,
        principals: PrincipalMapping | None = None,
    ) -> None:
        self._reader, self._query, self._table, self._link = reader, row_query, table, link
        self._principals = principals or PrincipalMapping({}, takes_subjects=True)
        self._spool = _RowSpool(folder)
        self._states: dict[str, _ItemState] = {}
        self._fetch_lock, self._single_count, self._is_spooled = asyncio.Lock(), 0, False

    # -- listing the items

    async def list_items(self) -> AsyncIterator[SourceItem]:
        """Yields an item for each part of the rows, once all rows were read. Raises `ListingFailed` before the first
        item, so that no part of the rows is taken for the whole.
        """
        try:
            await (self._list_cursors() if self._query.cursor else self._spool_rows())
        except QueryFailed as exc:
            raise ListingFailed(exc.reason) from None
        for item_id, state in sorted(self._states.items()):
            yield SourceItem(id=item_id, version=state.version, location=self._link)

    async def _list_cursors(self) -> None:
        states, seen = dict[str, _ItemState](), set[bytes]()
        columns = [self._query.key, self._query.cursor, *filter(None, [self._query.readers])]
        async for key, row, _ in self._read_keyed_rows(seen, columns):
            cursor = _cell_of(row[1])
            if cursor is None:
                raise QueryFailed(f"the column {self._query.cursor!r} is empty in the row {key!r}")
            readers = "".join(f"\0{reader}" for cell in row[2:] for reader in _principals_in(cell))
            states.setdefault(self._item_id_of(key), _ItemState()).add_row(row[0], f"{key}\0{cursor}{readers}")
        self._states = states

    async def _spool_rows(self) -> None:
        """Reads all rows into files, one for each item."""
        states, seen = dict[str, _ItemState](), set[bytes]()
        with self._spool.open_files() as files:
            async for key, row, names in self._read_keyed_rows(seen):
                item_id = self._item_id_of(key)
                line = self._line_of_row(names, row, key)
                files.write_line(item_id, line)
                states.setdefault(item_id, _ItemState()).add_row(row[names.index(self._query.key)], line)
        self._is_spooled = True
        if not self._query.cursor:
            self._states = states

    async def _read_keyed_rows(
        self, seen: set[bytes], columns: Sequence[str] = (), key_filter: KeyFilter | None = None
    ) -> AsyncIterator[tuple[str, QueryRow, Sequence[str]]]:
        """Yields the key of each row as text, the row, and the names of the columns. Raises `QueryFailed`."""
        batches = self._reader.read_rows(self._query.query, columns, key_filter)
        try:
            names = cast("Sequence[str]", await anext(batches))
            self._check_columns(names)
            position = names.index(self._query.key)
            async for batch in batches:
                for row in cast("Sequence[QueryRow]", batch):
                    cell = _cell_of(row[position])
                    key = "" if cell is None else str(cell)
                    self._check_key(key, seen)
                    yield key, row, names
        finally:
            await batches.aclose()

    def _check_columns(self, names: Sequence[str]) -> None:
        for column in filter(None, (self._query.key, self._query.cursor, self._query.readers)):
            if column not in names:
                raise QueryFailed(f"the query has no column {column!r}; it has {', '.join(names)[:300]}")
        if len(set(names)) < len(names):
            raise QueryFailed("the query has two columns of the same name; give one another name with AS")

    def _check_key(self, key: str, seen: set[bytes]) -> None:
        if not key:
            raise QueryFailed(f"the key column {self._query.key!r} is empty in a row")
        digest = hashlib.sha256(key.encode("utf-8", "replace")).digest()[:12]
        if digest in seen:
            raise QueryFailed(f"the key {key[:100]!r} is in two rows; the column {self._query.key!r} is no key")
        if len(seen) >= self._query.max_rows:
            raise QueryFailed(f"the query has more than {self._query.max_rows:,} rows; narrow it, or give --max-rows")
        seen.add(digest)

    def _item_id_of(self, key: str) -> str:
        number = int.from_bytes(hashlib.sha256(key.encode("utf-8", "replace")).digest()[:4], "big") % ITEM_COUNT
        return f"{self._table}-{number:02}"

    # -- fetching the rows

    async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
        if cursor == item.version:
            return UnchangedItem(version=item.version, cursor=cursor)
        try:
            async with self._fetch_lock:
                path = await self._path_of_item(item, folder)
        except QueryFailed as exc:
            return FetchFailure(reason=exc.reason)
        return FetchedItem(path=path, link=self._link, version=item.version, cursor=item.version, has_rows=True)

    async def _path_of_item(self, item: SourceItem, folder: Path) -> Path:
        if not self._is_spooled and self._single_count >= _MAX_SINGLE_ITEMS:
            await self._spool_rows()
        if self._is_spooled:
            return self._spool.path_of(item.id)
        self._single_count += 1
        path = folder / f"{item.id}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            await self._write_rows_of(item, file)
        return path

    async def _write_rows_of(self, item: SourceItem, file: TextIO) -> None:
        keys, seen = self._states[item.id].keys, set[bytes]()
        for start in range(0, len(keys), _KEYS_PER_STATEMENT):
            chosen = KeyFilter(column=self._query.key, values=keys[start : start + _KEYS_PER_STATEMENT])
            async for key, row, names in self._read_keyed_rows(seen, (), chosen):
                file.write(self._line_of_row(names, row, key))

    def _line_of_row(self, names: Sequence[str], row: QueryRow, key: str) -> str:
        if not self._query.readers:
            return _line_of_row(names, row, key, self._table)
        position = names.index(self._query.readers)
        readers = self._principals.readers_of(_principals_in(row[position]))
        other_names, other_cells = [*names], [*row]
        del other_names[position], other_cells[position]
        return _line_of_row(other_names, other_cells, key, self._table, readers=sorted(readers))


class _OpenSpool:
    """The files of a spool while they are written."""

    def __init__(self, spool: "_RowSpool", stack: ExitStack) -> None:
        self._spool, self._stack = spool, stack
        self._files: dict[str, TextIO] = {}
        self._size = 0

    def write_line(self, item_id: str, line: str) -> None:
        file = self._files.get(item_id)
        if file is None:
            opened = self._spool.path_of(item_id).open("w", encoding="utf-8")
            file = self._files[item_id] = self._stack.enter_context(opened)
        self._size += len(line)
        if self._size > _MAX_SPOOL_BYTES:
            raise QueryFailed(f"its rows take more than {_MAX_SPOOL_BYTES // 1024**3} GB; narrow the query")
        file.write(line)


class _RowSpool:
    """The rows of a listing on the disk, a file for each item."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def open_files(self) -> Generator[_OpenSpool]:
        with ExitStack() as stack:
            yield _OpenSpool(self, stack)

    def path_of(self, item_id: str) -> Path:
        return self._folder / f"{item_id}.jsonl"


def _principals_in(cell: object) -> list[str]:
    """Returns who is named; nobody for an empty cell."""
    members = cast("Sequence[object]", cell) if isinstance(cell, (list, tuple)) else _SEPARATORS.split(str(cell or ""))
    return [text for member in members if (text := str(member or "").strip())]


def _line_of_row(names: Sequence[str], row: QueryRow, key: str, table: str, *, readers: Sequence[Subject] = ()) -> str:
    """Returns the row as a line of JSON, with the title and the text that a row of a CSV file has."""
    layout = TableLayout(header_row=0, column_names=names)
    cells = [_cell_of(value) for value in row]
    record = record_of_row(
        SourceFile(path=Path(f"{table}.csv"), name=table), layout, cells, 0, RecordOrigin(file=table)
    )
    title = record.title if record.title != f"{table} row 0" else f"{table} {key}"
    document: dict[str, object] = {"doc_id": key, "title": title, "text": record.text, "metadata": record.metadata}
    if readers:
        document["readers"] = readers
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def _cell_of(value: Any) -> CellValue:
    """Returns the value as a cell: dates in ISO's form, numbers as numbers; None for bytes, which have no text."""
    match value:
        case None | bytes() | bytearray() | memoryview():
            return None
        case bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return _number_of_decimal(value)
        case datetime() | date() | time():
            return value.isoformat()
        case list() | tuple():
            members = (_cell_of(member) for member in cast("Sequence[Any]", value))
            return ", ".join(str(member) for member in members if member is not None) or None
        case _:
            return replace_surrogates(str(value)).replace("\0", "").strip() or None


def _number_of_decimal(value: Decimal) -> CellValue:
    """Returns an exact number, else its digits as text."""
    if not value.is_finite():
        return None
    if value == value.to_integral_value() and abs(value) < 1 << 53:
        return int(value)
    return float(value) if len(value.as_tuple().digits) <= _MAX_EXACT_DIGITS else str(value)

"""The file of a backup: gzip-compressed JSON lines, the same for every engine.

A header, then for each table a line with its name and columns and a line for each row, and at the end the number of
lines before it. A file that was cut or changed is noticed by gzip's checksums and by the missing end.
"""

import base64
import gzip
import json
import os
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from sqlalchemy import Column, LargeBinary, Table

from storage.sql.errors import BackupDamaged, BackupRefused
from storage.sql.tables import UtcTime

FORMAT_NAME: Final = "parley backup"
FORMAT_VERSION: Final = 1
_COMPRESSION_LEVEL: Final = 6

RowValues: TypeAlias = dict[str, Any]  # by column


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupHeader:
    """`revision` of the tables. `files`: texts beside the database, by name."""

    revision: str
    engine: str
    created_at: str  # ISO 8601, in UTC
    files: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStart:
    """The rows after it belong to this table."""

    table: str
    columns: tuple[str, ...]


class BackupWriter:
    def __init__(self, file: gzip.GzipFile) -> None:
        self._file, self._line_count = file, 0

    def write_header(self, header: BackupHeader) -> None:
        self._write_line({"format": FORMAT_NAME, "version": FORMAT_VERSION, **asdict(header)})

    def start_table(self, table: Table) -> None:
        self._write_line({"table": table.name, "columns": [column.name for column in table.columns]})

    def write_row(self, row: Sequence[Any]) -> None:
        self._write_line([_encode_value(value) for value in row])

    def write_end(self) -> None:
        self._write_line({"end": self._line_count})

    def _write_line(self, value: object) -> None:
        self._file.write(json.dumps(value, separators=(",", ":")).encode() + b"\n")
        self._line_count += 1


class BackupReader:
    """Reads the lines once, in order."""

    def __init__(self, path: Path, lines: Iterator[bytes]) -> None:
        self._path, self._lines, self._line_count = path, lines, 0

    def read_header(self) -> BackupHeader:
        """Raises `BackupDamaged` for another file, `BackupRefused` for a format of another version."""
        parsed = self._read_line()
        line = cast(dict[str, Any], parsed) if isinstance(parsed, dict) else {}
        if line.get("format") != FORMAT_NAME:
            raise BackupDamaged(self._path, "it is not a backup of Parley")
        if line.get("version") != FORMAT_VERSION:
            reason = f"its format is version {line.get('version')}, and this Parley reads version {FORMAT_VERSION}"
            raise BackupRefused(self._path, f"{reason}; restore it with the Parley that wrote it")
        try:
            return BackupHeader(**{name: line[name] for name in BackupHeader.__dataclass_fields__})
        except KeyError as exc:
            raise BackupDamaged(self._path, f"its header has no {exc.args[0]}") from exc

    def read_tables(self) -> Iterator[TableStart | list[Any]]:
        """Yields the start of each table and its rows. Raises `BackupDamaged`, also at the end of a cut file."""
        while True:
            number, line = self._line_count, self._read_line()
            match line:
                case list():
                    yield line
                case {"table": str(table), "columns": list()}:
                    yield TableStart(table=table, columns=tuple(map(str, line["columns"])))
                case {"end": end} if end == number:
                    self._require_end_of_file()
                    return
                case _:
                    raise BackupDamaged(self._path, f"line {number + 1} is neither a row nor a table")

    def _require_end_of_file(self) -> None:
        """Reads on, because gzip compares the checksum of the content at its end."""
        if self._read_bytes():
            raise BackupDamaged(self._path, "something follows its end")

    def _read_line(self) -> Any:
        if not (line := self._read_bytes()):
            raise BackupDamaged(self._path, "its end is missing")
        self._line_count += 1
        try:
            return json.loads(line)
        except ValueError as exc:
            raise BackupDamaged(self._path, str(exc)) from exc

    def _read_bytes(self) -> bytes:
        """The next line; empty at the end of the file."""
        try:
            return next(self._lines, b"")
        except (EOFError, gzip.BadGzipFile, zlib.error) as exc:
            raise BackupDamaged(self._path, str(exc)) from exc


@contextmanager
def create_backup_file(path: Path) -> Generator[gzip.GzipFile]:
    """A new file that only its owner may read. It has its name only when the block has ended without an error.

    Raises `BackupRefused` if the file exists or cannot be created, and `OSError`.
    """
    if path.exists():
        raise BackupRefused(path, "it exists already; name another file, or move it away")
    partial_path = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        descriptor = os.open(partial_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as exc:
        raise BackupRefused(path, f"it cannot be written ({exc.strerror}); name another file") from exc
    try:
        with os.fdopen(descriptor, "wb") as raw_file:
            with gzip.GzipFile(fileobj=raw_file, mode="wb", compresslevel=_COMPRESSION_LEVEL, filename="") as file:
                yield file
            raw_file.flush()
            os.fsync(raw_file.fileno())
        path.hardlink_to(partial_path)  # fails if another process has created it meanwhile
    except FileExistsError as exc:
        raise BackupRefused(path, "it exists already; name another file, or move it away") from exc
    finally:
        partial_path.unlink(missing_ok=True)


@contextmanager
def open_backup_file(path: Path) -> Generator[BackupReader]:
    """Raises `BackupRefused` if the file cannot be opened."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(gzip.open(path, "rb"))
        except OSError as exc:
            raise BackupRefused(path, f"it cannot be read ({exc.strerror}); name a file of `parley backup`") from exc
        yield BackupReader(path, iter(file))


def decode_row(table: Table, columns: Sequence[str], row: Sequence[Any]) -> RowValues:
    """The values by column, as the table's types take them."""
    return {name: _decode_value(table.columns[name], value) for name, value in zip(columns, row, strict=True)}


def _encode_value(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat()
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case _:
            return value


def _decode_value(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, UtcTime):
        return datetime.fromisoformat(value)
    if isinstance(column.type, LargeBinary):
        return base64.b64decode(value)
    return value

"""Files as people have them, read into records: what to read, and a reader for each format."""

import csv
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from storage.ingest.errors import Unparsable
from storage.ingest.records import Broken, Loaded, Origin, Record, Remark
from storage.ingest.worker import Worker
from storage.search.ids import Subject

_LARGEST_TEXT = 200 * 1024 * 1024  # bytes of a text file
_LONGEST_LINE = 100 * 1024 * 1024  # bytes of a JSONL line
_SAMPLE = 1 << 16  # characters of a table to find its delimiter by
_LONGEST_ID = 480  # bytes; engines allow 512 for a passage's, which has its position behind
_SUBJECT = re.compile(
    r"everyone|user:local:[^\s:]+|user:(?:slack|teams):[^\s:]+:[^\s:]+|channel:(?:slack|teams):[^\s:]+:[^\s]+"
    r"|team:teams:[^\s:]+:[^\s]+|group:[^\s:]+|group:(?:slack|teams):[^\s:]+:[^\s:]+"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_HALF_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")  # of a surrogate, paired or not
_SURROGATE = re.compile("[\ud800-\udfff]")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_TITLE_COLUMNS = ("title", "name", "subject", "heading", "label")
_ID_COLUMNS = ("doc_id", "id")
Json: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file to read, and what its documents are called after: its path relative to the PATH given."""

    path: Path
    name: str

    @property
    def size(self) -> int:
        """In bytes; 0 where it cannot be had."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    @property
    def kind(self) -> str:
        """`jsonl`, `csv`, `pdf`, …; the bare suffix for a format that is not known."""
        suffixes = [suffix.lower() for suffix in self.path.suffixes]
        return "jsonl" if suffixes[-2:] == [".jsonl", ".gz"] else (suffixes or [""])[-1].removeprefix(".")

    @property
    def is_table(self) -> bool:
        """Whether it holds many records, with metadata."""
        return self.kind in ("jsonl", "csv")


# -- which files


def sources(paths: Iterable[str | Path | SourceFile]) -> Iterator[SourceFile | Broken]:
    """The files of files, folders (with those within, sorted by path) and globs, in the order given.

    Hidden files and folders, links to folders and `.schema.yaml` files are passed over.
    """
    for given in paths:
        if isinstance(given, SourceFile):
            yield given
            continue
        found = False
        for one in _sources_of(str(given)):
            found = True
            yield one
        if not found:
            yield Broken(origin=Origin(file=str(given)), reason="there is no file in it that could be read")


def _sources_of(given: str) -> Iterator[SourceFile | Broken]:
    path = Path(given)
    if path.is_dir():
        yield from _in_folder(path, path)
    elif os.path.lexists(path):
        yield SourceFile(path=path, name=_named(path.name))
    elif has_magic(given):
        yield from _matching(given)
    else:
        yield Broken(origin=Origin(file=given), reason="there is no such file or folder")


def _matching(pattern: str) -> Iterator[SourceFile | Broken]:
    parts = Path(pattern).parts
    fixed = next(i for i, part in enumerate(parts) if has_magic(part))
    base = Path(*parts[:fixed])
    matches = [Path(match) for match in glob(pattern, recursive=True)]  # noqa: PTH207 - an absolute pattern as well
    files = {file for match in matches for file in (_files_in(match) if match.is_dir() else [match])}
    if not files:
        yield Broken(origin=Origin(file=pattern), reason="nothing matches it")
    for file in sorted(files, key=lambda one: one.relative_to(base).as_posix()):
        yield SourceFile(path=file, name=_named(file.relative_to(base).as_posix()))


def _in_folder(folder: Path, base: Path) -> Iterator[SourceFile]:
    for file in _files_in(folder):
        yield SourceFile(path=file, name=_named(file.relative_to(base).as_posix()))


def _named(path: str) -> str:
    """A file's name may hold bytes that are no text."""
    return os.fsencode(path).decode("utf-8", "replace")


def _files_in(folder: Path) -> list[Path]:
    found: list[Path] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(parent, name) for name in names if not name.startswith(".") and not name.endswith(".schema.yaml")
        ]
    return sorted(found, key=lambda file: file.relative_to(folder).as_posix())


# -- reading them


def is_known(source: SourceFile) -> bool:
    """Whether there is a reader for its format."""
    return source.kind in _READERS


def records(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    """What a file holds, in its order. Never raises for what is wrong with it: that comes as `Broken`."""
    origin = Origin(file=source.name)
    reader = _READERS.get(source.kind)
    if reader is None:
        known = ", ".join(f".{kind}" for kind in _READERS)
        yield Broken(origin=origin, reason=f"its format is not known (known are {known} and .jsonl.gz)")
        return
    try:
        yield from reader(source, worker)
    except Unparsable as exc:
        yield Broken(origin=origin, reason=exc.reason)
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        yield Broken(origin=origin, reason=f"its compression is broken: {exc}")
    except OSError as exc:
        yield Broken(origin=origin, reason=f"it cannot be read: {exc.strerror or exc}")


def document_id(source: SourceFile) -> str | None:
    """The id of the one document of a file that is no table; None for a table."""
    return None if source.is_table else source.name


def _checked(record: Record) -> Record | Broken:
    """The record, unless nothing could be kept of it."""
    if not record.doc_id.strip() or _CONTROL.search(record.doc_id):
        return Broken(origin=record.origin, reason="its doc_id is blank or holds control characters")
    if len(record.doc_id.encode()) > _LONGEST_ID:
        return Broken(origin=record.origin, reason=f"its doc_id is longer than {_LONGEST_ID} bytes")
    if not record.text.strip() and not record.metadata and not record.title.strip():
        return Broken(origin=record.origin, reason="it has neither text nor title nor metadata")
    return record


# -- JSONL


def _jsonl(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    with source.path.open("rb") as raw:
        packed = source.path.suffix.lower() == ".gz"
        lines = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
        for number, line in enumerate(_lines(lines), 1):
            origin = Origin(file=source.name, line=number, read=raw.tell())
            if line is None:
                yield Broken(origin=origin, reason=f"the line is longer than {_LONGEST_LINE // 1024**2} MB")
            elif line.strip():
                yield _json_record(line, origin)


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """The lines; None for one that is too long to hold."""
    while line := file.readline(_LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < _LONGEST_LINE:
            yield line
            continue
        yield None
        while line and not line.endswith(b"\n"):
            line = file.readline(_LONGEST_LINE)


def _json_record(line: bytes, origin: Origin) -> Record | Broken:
    try:
        data = json.loads(line.decode("utf-8-sig"), parse_constant=lambda _: None)  # NaN is how some write null
        if _HALF_ESCAPE.search(line):
            data = _cleaned(data)
        if not isinstance(data, dict):
            raise Unparsable("it is no JSON object")
        return _checked(_record_of(cast(Json, data), origin))
    except UnicodeDecodeError as exc:
        return Broken(origin=origin, reason=f"it is not UTF-8 (byte {exc.start + 1})")
    except json.JSONDecodeError as exc:
        return Broken(origin=origin, reason=f"it is not JSON: {exc.msg} at column {exc.colno}")
    except ValueError:  # a whole number of thousands of digits
        return Broken(origin=origin, reason="it holds a number that is too long")
    except RecursionError:
        return Broken(origin=origin, reason="it is nested too deeply")
    except Unparsable as exc:
        return Broken(origin=origin, reason=exc.reason)


def _record_of(data: Json, origin: Origin) -> Record:
    """Raises `Unparsable` for what does not have the shape of a document."""
    doc_id, metadata = data.get("doc_id"), data.get("metadata")
    if not isinstance(doc_id, (str, int)) or isinstance(doc_id, bool):
        raise Unparsable("it has no doc_id" if doc_id is None else "its doc_id is no string")
    if metadata is not None and not isinstance(metadata, dict):
        raise Unparsable("its metadata is no object")
    text = _string(data, "text")
    return Record(
        doc_id=str(doc_id),
        title=_string(data, "title") or _first_line(text) or str(doc_id),
        text=text,
        source=_string(data, "source") or origin.file,
        origin=origin,
        metadata=cast(Json, metadata or {}),
        page_starts=_page_starts(data.get("page_starts"), len(text)),
        bucket=_string(data, "bucket") or None,
        readers=_readers(data.get("readers")),
    )


def _string(data: Json, key: str) -> str:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise Unparsable(f"its {key} is no string")
    return value or ""


def _page_starts(value: object, length: int) -> tuple[int | None, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Unparsable("its page_starts is no list")
    starts = tuple(cast(list[object], value))
    last = 0
    for start in starts:
        if start is None:
            continue
        if not isinstance(start, int) or isinstance(start, bool) or not last <= start <= length:
            raise Unparsable(f"its page_starts are not whole numbers that ascend within the text: {start!r}")
        last = start
    return cast("tuple[int | None, ...]", starts)


def _readers(value: object) -> frozenset[Subject]:
    """Whoever may read it. What cannot be understood is refused, so that no document opens by a typing error."""
    if value is None:
        return frozenset()
    if not isinstance(value, list):
        raise Unparsable("its readers are no list")
    for one in cast(list[object], value):
        if not isinstance(one, str) or not _SUBJECT.fullmatch(one):
            raise Unparsable(f"its readers hold {one!r}, which is no subject such as everyone or user:slack:T1:U1")
    return frozenset(Subject(one) for one in cast(list[str], value))


def _cleaned(value: object) -> object:
    """Without lone surrogates, which JSON can spell and no index can store; lengths stay."""
    match value:
        case str():
            return _SURROGATE.sub("\ufffd", value) if not value.isascii() else value
        case dict():
            return {str(_cleaned(key)): _cleaned(one) for key, one in cast(dict[object, object], value).items()}
        case list():
            return [_cleaned(one) for one in cast(list[object], value)]
        case _:
            return value


def _first_line(text: str) -> str:
    return next((line.strip()[:120] for line in text[:2000].splitlines() if line.strip()), "")


# -- text


def _text_file(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    text, encoding = _decoded(source)
    origin = Origin(file=source.name, read=source.size)
    if encoding == "cp1252":
        yield Remark(origin=origin, text="it is not UTF-8 and was read as Windows-1252")
    if not text.strip():
        raise Unparsable("it is empty")
    heading = _HEADING.search(text) if source.kind == "md" else None
    pages = [0, *(i + 1 for i, c in enumerate(text) if c == "\f")] if "\f" in text else ()
    yield _checked(
        Record(
            doc_id=source.name,
            title=heading[1].strip() if heading else source.path.stem,
            text=text,
            source=source.name,
            origin=origin,
            page_starts=tuple(pages),
        )
    )


def _decoded(source: SourceFile) -> tuple[str, str]:
    if source.size > _LARGEST_TEXT:
        raise Unparsable(f"it is larger than {_LARGEST_TEXT // 1024**2} MB")
    data = source.path.read_bytes()
    encoding = _encoding(source.path)
    text = data.decode(encoding, errors="replace" if encoding == "cp1252" else "strict")
    return text.replace("\r\n", "\n").replace("\r", "\n"), encoding


def _encoding(path: Path) -> str:
    """By its first bytes and by whether all of it is UTF-8. Raises `Unparsable` for what is no text."""
    with path.open("rb") as file:
        start = file.read(4096)
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            return _proven(path, "utf-16")
        if b"\0" in start:
            raise Unparsable("it is no text (it holds NUL bytes)")
    try:
        return _proven(path, "utf-8-sig")
    except Unparsable:
        return "cp1252"


def _proven(path: Path, encoding: str) -> str:
    try:
        with path.open(encoding=encoding, newline="") as file:
            while file.read(1 << 20):
                pass
    except UnicodeError as exc:
        raise Unparsable(f"it is not valid {encoding.upper()}") from exc
    return encoding


# -- CSV


def _csv(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    encoding = _encoding(source.path)
    if encoding == "cp1252":
        yield Remark(origin=Origin(file=source.name), text="it is not UTF-8 and was read as Windows-1252")
    with _opened(source, encoding) as file:
        delimiter = _delimiter(file.read(_SAMPLE))
    id_column = _unique_id_column(source, encoding, delimiter)
    with _opened(source, encoding) as file:
        rows = _rows(file, delimiter)
        _, header = next(rows, (0, list[str]()))
        names = _column_names(header)
        for number, (line, cells) in enumerate(rows, 1):
            origin = Origin(file=source.name, line=line, read=cast(BinaryIO, file.buffer).tell())
            yield _row_record(source, names, cells, number, id_column, origin)


def _opened(source: SourceFile, encoding: str) -> io.TextIOWrapper:
    return source.path.open(encoding=encoding, errors="replace", newline="")


def _row_record(
    source: SourceFile, names: Sequence[str], cells: Sequence[str], number: int, id_column: int | None, origin: Origin
) -> Record | Broken:
    if any(cell.strip() for cell in cells[len(names) :]):
        return Broken(origin=origin, reason=f"it has {len(cells)} values for {len(names)} columns")
    row = {name: cell.strip() for name, cell in zip(names, cells, strict=False) if cell.strip()}
    key = cells[id_column].strip() if id_column is not None else str(number)
    title = _row_title(row, names, key if id_column is not None else f"row {number}", source)
    return _checked(
        Record(
            doc_id=f"{source.name}#{key}",
            title=title,
            text="\n".join(f"{name}: {value}" for name, value in row.items()),
            source=source.name,
            origin=origin,
            metadata={name: value for name, value in row.items() if name.casefold() != "doc_id" or id_column is None},
        )
    )


def _row_title(row: Mapping[str, str], names: Sequence[str], key: str, source: SourceFile) -> str:
    by_fold = {name.casefold(): name for name in reversed(names)}
    for wanted in _TITLE_COLUMNS:
        if value := row.get(by_fold.get(wanted, ""), ""):
            return value[:300]
    first = next((value for value in row.values() if not re.fullmatch(r"[\d.,:/\s-]+", value)), "")
    return first[:300] or f"{source.path.stem} {key}"


def _rows(file: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line it ends on. Raises `Unparsable`."""
    csv.field_size_limit(_LONGEST_LINE)
    reader = csv.reader(file, delimiter=delimiter)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as exc:
        raise Unparsable(f"it is no CSV from line {reader.line_num} on: {exc}") from exc


def _unique_id_column(source: SourceFile, encoding: str, delimiter: str) -> int | None:
    """Where `doc_id` or `id` stands, if each row has its own. Reads the file once."""
    with _opened(source, encoding) as file:
        rows = _rows(file, delimiter)
        _, header = next(rows, (0, list[str]()))
        if not header:
            raise Unparsable("it is empty")
        folded = [name.strip().casefold() for name in header]
        column = next((folded.index(name) for name in _ID_COLUMNS if name in folded), None)
        if column is None:
            return None
        seen = set[int]()
        for _, cells in rows:
            key = cells[column].strip() if column < len(cells) else ""
            if not key or hash(key) in seen:
                return None
            seen.add(hash(key))
    return column


def _column_names(header: Sequence[str]) -> list[str]:
    """Unique names: a blank one is called after its place, a repeated one gets a number."""
    names: list[str] = []
    for place, written in enumerate(header, 1):
        name = base = " ".join(written.split()) or f"column {place}"
        copy = 1
        while name in names:
            name = f"{base} {(copy := copy + 1)}"
        names.append(name)
    return names


def _delimiter(sample: str) -> str:
    """The one that cuts the most lines of the sample into the same number of cells, more than one."""
    lines = sample.splitlines(keepends=True)
    if len(sample) >= _SAMPLE:
        lines = lines[:-1]  # cut off in the middle

    def score(delimiter: str) -> tuple[int, int]:
        try:
            widths = [len(cells) for cells in csv.reader(lines[:200], delimiter=delimiter) if cells]
        except csv.Error:
            return 0, 0
        return (widths.count(widths[0]), widths[0]) if widths and widths[0] > 1 else (0, 0)

    return max(",;\t|", key=score)


# -- PDF


def _pdf(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    source.path.open("rb").close()  # here, where what is wrong with it has a name
    pages = worker.pages(source.path, "pdf")
    starts, parts, offset = list[int](), list[str](), 0
    for text in (_SURROGATE.sub("\ufffd", page) for page in pages.texts):
        starts.append(offset)
        parts.append(text)
        offset += len(text) + 2
    text = "\n\n".join(parts)
    if not text.strip():
        raise Unparsable("it has no text (a scan?)")
    starts = [min(start, len(text)) for start in starts]
    yield _checked(
        Record(
            doc_id=source.name,
            title=str(_cleaned(pages.title)) or source.path.stem,
            text=text,
            source=source.name,
            origin=Origin(file=source.name, read=source.size),
            page_starts=tuple(starts),
        )
    )


_READERS: Mapping[str, Callable[[SourceFile, Worker], Iterator[Loaded]]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "pdf": _pdf,
    "md": _text_file,
    "txt": _text_file,
}

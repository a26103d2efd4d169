"""Finds the files to read, and the names from which the ids of their documents are made."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Final

from storage.ingest.records import RecordOrigin, RejectedInput

OUTSIDE_LINK_REASON: Final = "it is a link to a file outside of the folder"
_TABLE_FORMATS = ("jsonl", "csv", "xlsx")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file to read. The ids of its documents are made from `name`, its path relative to the given path."""

    path: Path
    name: str

    @property
    def size_bytes(self) -> int:
        """The size of the file; 0 if it cannot be determined."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    @property
    def version(self) -> tuple[int, int]:
        """The time of the last change and the size; zeros if they cannot be determined."""
        try:
            state = self.path.stat()
        except OSError:
            return 0, 0
        return state.st_mtime_ns, state.st_size

    @property
    def file_format(self) -> str:
        """The format: `jsonl`, `csv`, `pdf`, …; for an unknown format the bare suffix."""
        suffixes = [suffix.lower() for suffix in self.path.suffixes]
        if suffixes[-2:] == [".jsonl", ".gz"]:
            return "jsonl"
        kind = (suffixes or [""])[-1].removeprefix(".")
        return "html" if kind == "htm" else kind

    @property
    def is_table(self) -> bool:
        """Whether the file contains many records with metadata."""
        return self.file_format in _TABLE_FORMATS


def single_document_id(source: SourceFile) -> str | None:
    """Returns the id of the only document of a file; None for a table, which has many documents."""
    return None if source.is_table else source.name


def find_source_files(paths: Iterable[str | Path | SourceFile]) -> Iterator[SourceFile | RejectedInput]:
    """Yields the files of the given files, folders (recursively, sorted by path) and globs, in the given order.

    Skips hidden files and folders, links to folders, and `.schema.yaml` files. Rejects links out of a folder: a person
    who may only write into it could otherwise have files read that Parley alone can read.
    """
    for path in paths:
        if isinstance(path, SourceFile):
            yield path
            continue
        has_files = False
        for source in _source_files_at(str(path)):
            has_files = True
            yield source
        if not has_files:
            yield RejectedInput(origin=RecordOrigin(file=str(path)), reason="there is no file in it that could be read")


def _source_files_at(path_or_glob: str) -> Iterator[SourceFile | RejectedInput]:
    path = Path(path_or_glob)
    if path.is_dir():
        yield from _source_files_in_folder(path, path)
    elif os.path.lexists(path):
        yield SourceFile(path=path, name=_decode_path(path.name))
    elif has_magic(path_or_glob):
        yield from _source_files_matching(path_or_glob)
    else:
        yield RejectedInput(origin=RecordOrigin(file=path_or_glob), reason="there is no such file or folder")


def _source_files_matching(pattern: str) -> Iterator[SourceFile | RejectedInput]:
    parts = Path(pattern).parts
    first_magic = next(i for i, part in enumerate(parts) if has_magic(part))
    base = Path(*parts[:first_magic])
    matches = [Path(match) for match in glob(pattern, recursive=True)]  # noqa: PTH207 - accepts absolute patterns too
    problems = list[OSError]()
    files = {file for match in matches for file in (_list_files_in(match, problems) if match.is_dir() else [match])}
    if not files and not problems:
        yield RejectedInput(origin=RecordOrigin(file=pattern), reason="nothing matches it")
    yield from map(_rejected_folder, problems)
    for file in sorted(files, key=lambda match: match.relative_to(base).as_posix()):
        yield _source_file_below(base, file)


def _source_files_in_folder(folder: Path, base: Path) -> Iterator[SourceFile | RejectedInput]:
    problems = list[OSError]()
    files = _list_files_in(folder, problems)
    yield from map(_rejected_folder, problems)
    for file in files:
        yield _source_file_below(base, file)


def _rejected_folder(problem: OSError) -> RejectedInput:
    reason = f"the folder cannot be listed: {problem.strerror or problem}"
    return RejectedInput(origin=RecordOrigin(file=_decode_path(str(problem.filename))), reason=reason)


def _source_file_below(base: Path, file: Path) -> SourceFile | RejectedInput:
    name = _decode_path(file.relative_to(base).as_posix())
    if leads_out_of_folder(file, base):
        return RejectedInput(origin=RecordOrigin(file=name), reason=OUTSIDE_LINK_REASON)
    return SourceFile(path=file, name=name)


def leads_out_of_folder(file: Path, folder: Path) -> bool:
    """Whether a link, the file itself or a folder on the way to it, leads out of `folder`."""
    try:
        return not file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link to itself; reading the file reports the reason
        return False


def _decode_path(path: str) -> str:
    """Returns the path as valid text. A file name may contain bytes that are not UTF-8; they become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def _list_files_in(folder: Path, problems: list[OSError]) -> list[Path]:
    """Returns the files in a folder and below it, by path, and adds the errors of folders that cannot be listed."""
    return sorted(walk_files(folder, problems.append), key=lambda file: file.relative_to(folder).as_posix())


def walk_files(folder: Path, report_problem: Callable[[OSError], None]) -> Iterator[Path]:
    """Yields the files in a folder and below it, except hidden ones, `.schema.yaml` files and those behind links to
    folders. Folders may lie within one another at any depth, which ends `os.walk` of Python 3.11.
    """
    waiting = [folder]
    while waiting:
        parent = waiting.pop()
        try:
            with os.scandir(parent) as listed:
                entries = sorted((entry for entry in listed if not entry.name.startswith(".")), key=_name_of_entry)
        except OSError as exc:
            report_problem(exc)
            continue
        waiting += [Path(entry.path) for entry in reversed(entries) if entry.is_dir(follow_symlinks=False)]
        yield from (
            Path(entry.path) for entry in entries if not _is_folder(entry) and not entry.name.endswith(".schema.yaml")
        )


def _name_of_entry(entry: "os.DirEntry[str]") -> str:
    return entry.name


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether the entry is a folder or a link to one."""
    try:
        return entry.is_dir()
    except OSError:  # a link to itself; reading the file reports the reason
        return False

"""Which files there are to read, and what their documents are called after."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from storage.ingest.records import Broken, Origin

_TABLES = ("jsonl", "csv", "xlsx")


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
        if suffixes[-2:] == [".jsonl", ".gz"]:
            return "jsonl"
        kind = (suffixes or [""])[-1].removeprefix(".")
        return "html" if kind == "htm" else kind

    @property
    def is_table(self) -> bool:
        """Whether it holds many records, with metadata."""
        return self.kind in _TABLES


def document_id(source: SourceFile) -> str | None:
    """The id of the one document of a file that is no table; None for a table."""
    return None if source.is_table else source.name


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

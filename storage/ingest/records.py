"""What loading gives: records as their source has them, before any schema, and what could not be loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from storage.search.ids import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a record stands: its file, its line from 1 (None: the whole file), bytes of the file read so far."""

    file: str
    line: int | None = None
    read: int = 0
    sheet: str | None = None

    def __str__(self) -> str:
        sheet = "" if self.sheet is None else f", sheet {self.sheet}"
        return self.file + sheet + ("" if self.line is None else f", line {self.line}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One document as its source has it. No string holds a lone surrogate; `page_starts` ascend within the text."""

    doc_id: str
    title: str
    text: str
    source: str
    origin: Origin
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    page_starts: tuple[int | None, ...] = ()
    bucket: str | None = None
    readers: frozenset[Subject] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A file or a line that gives no document. `reason` is for people."""

    origin: Origin
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something said about a file that was loaded all the same."""

    origin: Origin
    text: str


Loaded: TypeAlias = Record | Broken | Remark

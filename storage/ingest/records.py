"""The results of loading a file: records as their source has them, before any schema, rejected input and remarks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from storage.search.ids import Subject

_BYTES_PER_VALUE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOrigin:
    """The position of a record in its file."""

    file: str
    line: int | None = None  # counted from 1; None: the whole file
    bytes_read: int = 0  # bytes of the file that were read up to and including the record
    sheet: str | None = None

    def __str__(self) -> str:
        sheet = "" if self.sheet is None else f", sheet {self.sheet}"
        return self.file + sheet + ("" if self.line is None else f", line {self.line}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """One document as its source has it. No string contains a lone surrogate; `page_starts` ascend within the text."""

    doc_id: str
    title: str
    text: str
    source: str
    origin: RecordOrigin
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    page_starts: tuple[int | None, ...] = ()
    bucket: str | None = None
    readers: frozenset[Subject] = frozenset()
    is_row: bool = False  # of a table, or a record with fields alone, as programs export them


def size_of_values(values: Mapping[Any, object]) -> int:
    """Returns about how many bytes the values take beside the text: a member of a list takes as much as a value."""
    return _BYTES_PER_VALUE * _count_values(values.values())


def _count_values(values: Collection[object]) -> int:
    count = len(values)
    for value in values:
        if isinstance(value, str):  # nearly all of them
            continue
        if isinstance(value, Mapping):
            count += _count_values(cast("Mapping[str, object]", value).values())
        elif isinstance(value, (list, tuple)):
            count += _count_values(cast("Collection[object]", value))
    return count


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedInput:
    """A file or a line that yields no document. `reason` is shown to people."""

    origin: RecordOrigin
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRemark:
    """A warning about a file that was loaded nevertheless."""

    origin: RecordOrigin
    text: str


LoadedItem: TypeAlias = SourceRecord | RejectedInput | LoadRemark

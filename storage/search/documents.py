"""Documents as the index keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from storage.search.conditions import Scalar
from storage.search.ids import ChunkId, DocId, FieldName, Subject

Row: TypeAlias = Mapping[FieldName, Scalar]  # a column without a value is absent
# number and money: float; date: ISO day; category and text: str; flag: bool; list: strings; rows: rows
Value: TypeAlias = Scalar | tuple[str, ...] | tuple[Row, ...]
Values: TypeAlias = Mapping[FieldName, Value]  # a field without a value is absent; never None, never empty
SPEAKS_FOR_ITSELF = 4_000  # code points of a text that needs no summary: all of it is looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk: `text[start:end]` of its document, in code points, and the page it begins on (from 1; None: unknown)."""

    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A value that was read from the text, as it was read: of a list one member, of rows one row, each in a tuple.

    `text[start:end]` is its evidence; both None where it stands in the title or follows from other values. Whether it
    became a value of the document depends on its confidence; a name may have become the one that it is a spelling of.
    """

    field: FieldName
    value: Value
    confidence: float  # 0 to 1
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file or record. Passages are in order of `start` and may not be empty."""

    doc_id: DocId
    title: str
    text: str
    source: str = ""
    values: Values = field(default_factory=dict[FieldName, Value])
    readers: frozenset[Subject] = frozenset()  # empty: whoever sees the bucket
    passages: tuple[Passage, ...] = ()
    annotations: tuple[Annotation, ...] = ()  # where values were extracted: each, and those that were not sure enough
    digest: str = ""  # of the content as ingested; the same digest again is skipped
    summary: str = ""  # what it is about, of a long one: headings and telling sentences; empty: it speaks for itself

    @property
    def outline(self) -> str:
        """What it is ranked by among documents, beside its title."""
        return outlined(self.text, self.summary)

    def chunk_id(self, position: int) -> ChunkId:
        return ChunkId(f"{self.doc_id}#{position}")


def outlined(text: str, summary: str) -> str:
    """The summary of a document; without one, how its text begins."""
    return summary or text[:SPEAKS_FOR_ITSELF]

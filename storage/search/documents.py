"""Documents, their passages and their field values, as an index stores them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from storage.search.conditions import Scalar
from storage.search.ids import ChunkId, DocId, FieldName, Subject

RowValues: TypeAlias = Mapping[FieldName, Scalar]  # a column without a value is absent
# number and money: float; date: ISO day; category and text: str; flag: bool; list: strings; rows: rows
FieldValue: TypeAlias = Scalar | tuple[str, ...] | tuple[RowValues, ...]
FieldValues: TypeAlias = Mapping[FieldName, FieldValue]  # a field without a value is absent; never None, never empty
MAX_UNSUMMARISED_CHARS = 4_000  # code points; a text up to this length needs no summary, its outline is the text
SURE_CONFIDENCE = 0.85  # from which a value that was read from a text is sure


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk: `text[start:end]` of its document, in code points, and the page it begins on (from 1; None: unknown).

    `context` says what the passage is about in its document. It is ranked together with the text, by words and by
    meaning. It never decides whether a document is in a set, and it is neither shown nor cited nor counted.
    """

    start: int
    end: int
    page: int | None = None
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAnnotation:
    """A value as it was extracted from the text.

    Of a list field it is one member, of a rows field one row, each in a tuple. `text[start:end]` is its evidence; both
    are None if it is in the title or follows from other values. It becomes a value of the document only if its
    confidence is high enough. A name may then be replaced by the standard spelling of that name.
    """

    field: FieldName
    value: FieldValue
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
    values: FieldValues = field(default_factory=dict[FieldName, FieldValue])
    readers: frozenset[Subject] = frozenset()  # empty: everyone who sees the bucket
    passages: tuple[Passage, ...] = ()
    annotations: tuple[FieldAnnotation, ...] = ()  # all extracted values, also those below the confidence limit
    digest: str = ""  # of the content as ingested; `put` skips a document whose digest is unchanged
    summary: str = ""  # of a long text: its headings and key sentences; empty: the text is short enough without
    loaded_on: str = (
        ""  # ISO day on which this content was put; equal content that is put again keeps it. Empty: unknown
    )

    @property
    def outline_text(self) -> str:
        """The text that documents are ranked by, together with their titles."""
        return outline_text_of(self.text, self.summary)

    def chunk_id_at(self, position: int) -> ChunkId:
        return ChunkId(f"{self.doc_id}#{position}")


def outline_text_of(text: str, summary: str) -> str:
    """Returns the summary of a document; without a summary, the beginning of its text."""
    return summary or text[:MAX_UNSUMMARISED_CHARS]

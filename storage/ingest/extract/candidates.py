"""The input and the output of an extractor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from storage.search.documents import FieldValue, Passage
from storage.search.ids import FieldName
from storage.search.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionInput:
    """A document as an extractor gets it. No string contains a lone surrogate."""

    title: str
    text: str
    passages: Sequence[Passage] = ()

    @property
    def last_page(self) -> int:
        """The highest page number of the passages; 0 where they have none."""
        return max((passage.page or 0 for passage in self.passages), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCandidate:
    """A possible value of a field, typed as the field; of a list one member, of a rows field one row, each in a tuple.

    `text[start:end]` is its evidence; both are None where the value comes from the title or from other values.
    """

    value: FieldValue
    confidence: float  # 0 to 1
    start: int | None = None
    end: int | None = None


CandidatesByField: TypeAlias = Mapping[FieldName, Sequence[ValueCandidate]]


class Extractor(Protocol):
    """Reads a schema's fields in the text of documents. One extractor serves all runs of a process."""

    async def prepare_documents(self, documents: Sequence[ExtractionInput], schema: Schema) -> None:
        """Is called with a batch of documents before each of them is read: an extractor may look at them together."""
        ...

    async def extract_candidates(self, document: ExtractionInput, schema: Schema) -> CandidatesByField:
        """The candidates of each field of the schema, most confident first; rows in the order of the text.

        A field without any may be absent. A scalar field takes the first candidate at most; a list or rows field may
        take all of them. A document and a schema have the same candidates every time, since ingestion skips documents
        that are unchanged.

        Does not block the event loop. Calls may run at the same time. Any text can be read.
        """
        ...

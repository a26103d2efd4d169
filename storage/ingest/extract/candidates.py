"""What is read, and what is found in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from storage.search.documents import Passage, Value
from storage.search.ids import FieldName
from storage.search.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A document as an extractor gets it."""

    title: str
    text: str
    passages: Sequence[Passage] = ()

    @property
    def pages(self) -> int:
        """The last page that is known; 0 where none is."""
        return max((one.page or 0 for one in self.passages), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A value that a field may have: typed as the field holds it; of a list one member, of a rows field one row, each
    in a tuple. `text[start:end]` is its evidence; both None where it stands in the title or follows from other values.
    """

    value: Value
    confidence: float  # 0 to 1
    start: int | None = None
    end: int | None = None


Candidates: TypeAlias = Mapping[FieldName, Sequence[Candidate]]


class Extractor(Protocol):
    """Reads a schema's fields in the text of documents."""

    async def candidates(self, material: Material, schema: Schema) -> Candidates:
        """For each field what it may be, most confident first; fields without any may be absent.

        A scalar field has at most one of its values, its first; a list or rows field may have all of them.
        """
        ...

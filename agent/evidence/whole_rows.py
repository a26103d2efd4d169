"""A row of a table as a whole: a line for each of its cells, to show to a person where one row is what was found."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.evidence.referred_names import find_referred_names
from agent.retrieval.quotations import CitedQuote, DocumentQuote
from agent.retrieval.session import RetrievalSession
from storage.search.documents import Document
from storage.search.ids import BucketId
from storage.search.schema import Schema

MIN_NAMES_OF_ROW = 3  # names of fields before values, from which a passage is a row of a table
_MAX_ROW_CHARACTERS = 4_000  # code points of a row whose cells are all shown


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRow:
    """A row of a table. `lines` has one for each cell, as it is written: "Branch: Thornby"."""

    document: Document
    lines: tuple[str, ...]

    @property
    def quote(self) -> CitedQuote:
        """The text of the whole row."""
        document = self.document
        page = document.passages[0].page if document.passages else None
        quote = DocumentQuote(start=0, end=len(document.text), page=page, text=document.text)
        return CitedQuote(document=document, quote=quote)


def read_whole_row(document: Document, schema: Schema) -> WholeRow | None:
    """Returns None for a document that is no row of a table, and for a very long row."""
    if not is_rendered_row(document.text, schema) or len(document.text) > _MAX_ROW_CHARACTERS:
        return None
    labels = tuple(f"{field.name}: " for field in schema.fields)
    cells = list[str]()
    for line in filter(None, map(str.strip, document.text.splitlines())):
        if line.startswith(labels) or not cells:
            cells.append(line)
        else:
            cells[-1] += f" {line}"  # a cell of several lines
    return WholeRow(document=document, lines=tuple(cells))


async def name_references(
    row: WholeRow, session: RetrievalSession, schemas: Mapping[BucketId, Schema], schema: Schema
) -> WholeRow:
    """Returns the row with the titles of the documents that its cells refer to: "Rep: E005 (Sarah Whitlock)"."""
    values = [
        (field, value)
        for field in schema.fields
        if isinstance(value := row.document.values.get(field.name), str) and field.reference is not None
    ]
    names = await find_referred_names(values, session, schemas)
    named = {f"{field.name}: {value}": names[value] for field, value in values if value in names}
    return replace(row, lines=tuple(f"{line} ({named[line]})" if line in named else line for line in row.lines))


def is_rendered_row(text: str, schema: Schema) -> bool:
    """Whether the text holds the names of the bucket's fields before their values, as a row of a table is stored."""
    shown = sum(f"{field.name}: " in text for field in schema.fields)
    return shown >= MIN_NAMES_OF_ROW and 2 * shown >= len(schema.fields)

"""What goes out, independent of any chat product. A Reply is a tuple of parts.

`markdown` is a small subset: paragraphs, `- ` lists, `**bold**`, `_italic_`, `` `code` ``, `[1]` citation markers, and
backslash escapes. All data from documents, models and people in it is escaped (`escape_markdown`), so that a renderer
that honours the escapes shows it unchanged.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Final, TypeAlias

from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import escape_markdown as escape_markdown
from agent.outcome import PictureKind as PictureKind
from agent.outcome import PicturePoint as PicturePoint
from bot.ids import ChoiceId, ClarificationId, TurnId
from bot.translation import translate_plural

_EMPTY_CELLS: Final = frozenset({"", "–"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCitation:
    """A citation as shown: `[marker] Title (page n)`, a link where `url` is http(s). Raw text, not escaped."""

    marker: str
    title: str
    page: int | None
    url: str | None
    quote: str
    doc_id: str = ""  # the sources of one document are listed together; empty: by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedDocument:
    """The citations of one document, at least one, in the order of their markers. It is listed once."""

    citations: tuple[ShownCitation, ...]

    @property
    def first(self) -> ShownCitation:
        return self.citations[0]

    @property
    def markers(self) -> tuple[str, ...]:
        return tuple(citation.marker for citation in self.citations)

    @property
    def place_text(self) -> str:
        """ "page 3", "pages 3, 5, 9"; empty without pages."""
        pages = sorted({citation.page for citation in self.citations if citation.page is not None})
        if not pages:
            return ""
        return translate_plural("page {pages}", "pages {pages}", len(pages), pages=", ".join(map(str, pages)))


def list_cited_documents(citations: Sequence[ShownCitation]) -> list[CitedDocument]:
    """Returns the cited documents in the order of their first citation. A citation without a document stays alone."""
    groups = dict[tuple[str, str], list[ShownCitation]]()
    for index, citation in enumerate(citations):
        key = (citation.doc_id, citation.title) if citation.doc_id else ("", str(index))
        groups.setdefault(key, []).append(citation)
    return [CitedDocument(citations=tuple(members)) for members in groups.values()]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    markdown: str
    sources: tuple[ShownCitation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePart:
    """Raw cells, not escaped. If some rows are left out, the caption says so."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def is_numeric(self, column: int) -> bool:
        """Whether the column holds numbers or amounts, so that it is aligned at its right end. The first column names
        the rows.
        """
        cells = [row[column].strip() for row in self.rows if len(row) > column] if column else []
        pattern = _number_pattern()
        return any(map(pattern.fullmatch, cells)) and all(
            cell in _EMPTY_CELLS or pattern.fullmatch(cell) for cell in cells
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturePart:
    """Bars or a line of figures, of which a table of the reply holds the same. All text is raw, not escaped."""

    kind: PictureKind
    title: str
    points: tuple[PicturePoint, ...]
    description: str  # the alternative text


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceButton:
    """`label` is raw text without the count; `count` is None for actions other than the export."""

    id: ChoiceId
    label: str
    count: int | None
    kind: str
    local_count: str = ""  # the count as the language of the reply writes it; empty: as English does

    @property
    def count_text(self) -> str:
        """The count for people: "1,042", "1.042" in a German reply; empty if there is none."""
        return self.local_count or ("" if self.count is None else f"{self.count:,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoicesPart:
    """The buttons of one stored clarification. Numbered from 1 where people type."""

    clarification: ClarificationId
    buttons: tuple[ChoiceButton, ...]
    expires: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenPart:
    """Replaces the buttons once one was clicked, or once the offer has ended. Raw text."""

    label: str  # of the choice, or why the offer ended
    by: str  # name of the person who chose; empty when the offer expired


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A file to hand over. `path` is on this machine; `url` is a signed link that is checked again at each use."""

    name: str
    title: str
    rows: int
    path: str
    url: str
    expires: datetime

    @property
    def row_count_text(self) -> str:
        """ "1 row", "1,042 rows"."""
        return translate_plural("{count} row", "{count} rows", self.rows, count=format_number(self.rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class FullTextPart:
    """The full text of an earlier turn as a plain text file, because it did not fit into one message."""

    name: str
    reply: "Reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressPart:
    """The current activity. Never the final content of a message."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticePart:
    """One plain sentence: an error, a refusal, a late click. Raw text."""

    text: str


class TurnAction(StrEnum):
    """An action that people can take on the turn itself."""

    STOP = "stop"  # while the turn runs
    RATE = "rate"
    STEPS = "steps"  # see how the answer was found
    SAVE = "save"  # have its question asked again by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnActionsPart:
    """Buttons for the turn, where the product has a place for them. They are not a part of the answer."""

    handles: tuple[TurnAction, ...]


ReplyPart: TypeAlias = (
    TextPart
    | TablePart
    | PicturePart
    | ChoicesPart
    | ChosenPart
    | FilePart
    | FullTextPart
    | ProgressPart
    | NoticePart
    | TurnActionsPart
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Everything that one turn posts."""

    turn: TurnId
    parts: tuple[ReplyPart, ...]

    @property
    def pictures_by_name(self) -> Mapping[str, PicturePart]:
        """The pictures by the names of their files, where a chat product shows files."""
        pictures = (part for part in self.parts if isinstance(part, PicturePart))
        return {f"picture-{self.turn[-8:]}-{number}.png": picture for number, picture in enumerate(pictures, 1)}


@cache
def _number_pattern() -> re.Pattern[str]:
    """Does not match dates."""
    from storage.quantities.money import SIGN_CHARACTERS

    signs = re.escape(SIGN_CHARACTERS)
    return re.compile(
        rf"(?:[A-Z]{{3}}[ \u00a0])?[-–−+]?(?:[A-Z]{{3}}[ \u00a0]|[{signs}])?\d[\d,.' \u00a0\u202f]*"
        rf"(?:[ \u00a0\u202f]?(?:%|[A-Z]{{3}}|[{signs}]))?"
    )

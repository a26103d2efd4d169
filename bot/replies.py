"""What goes out, independent of any chat product: a Reply is a tuple of parts.

`markdown` is a small subset: paragraphs, `- ` lists, `**bold**`, `_italic_`, `` `code` ``, `[1]` citation markers, and
backslash escapes. All data from documents, models and people in it is escaped (`escaped`), so that a renderer that
honours the escapes shows it as it is.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from bot.ids import ChoiceId, ClarificationId, TurnId

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def escaped(text: str) -> str:
    """`text` as data within Markdown: every special character behind a backslash, line breaks as blanks."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A citation as shown: `[marker] Title (page n)`, a link where `url` is http(s). Raw text, not escaped."""

    marker: str
    title: str
    page: int | None
    url: str | None
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    markdown: str
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Raw cells, not escaped. Fewer rows than the set has: the caption says so."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """`label` is raw text without the count; `count` None for actions other than the export."""

    id: ChoiceId
    label: str
    count: int | None
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Buttons of one stored clarification. Numbered from 1 where people type."""

    clarification: ClarificationId
    buttons: tuple[Button, ...]
    expires: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What replaces the buttons once one was clicked, or the offer ended. Raw text."""

    label: str  # of the choice, or why the offer ended
    by: str  # name of who chose; empty when it expired


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file to hand over. `path` is on this machine; `url` a signed link that is checked again when used."""

    name: str
    title: str
    rows: int
    path: str
    url: str
    expires: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """All that an earlier turn said, as plain text in a file: one message has no room for it."""

    name: str
    said: "Reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What is being done. Never the last word."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One plain sentence: an error, a refusal, a late click. Raw text."""

    text: str


class Handle(StrEnum):
    """What people may do about the turn itself."""

    STOP = "stop"  # while it is worked on
    RATE = "rate"
    STEPS = "steps"  # see how its words came about


@dataclass(frozen=True, slots=True, kw_only=True)
class Handles:
    """Buttons for the turn, where the product has a place for them; they are no part of what is said."""

    handles: tuple[Handle, ...]


Part: TypeAlias = Text | Table | Choices | Chosen | File | Whole | Progress | Notice | Handles


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """All that one turn says."""

    turn: TurnId
    parts: tuple[Part, ...]

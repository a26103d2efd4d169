"""What becomes of a question: an Answer, a Clarify, an Export that was asked for, or Refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from storage.search.conditions import Condition
from storage.search.ids import DocId, FieldName, Generation, LegId
from storage.search.index import Hit, Record
from storage.search.plan import Function, Plan
from storage.search.refinement import (
    Action,
    AddBucket,
    AddFilter,
    ChooseDocument,
    ContinuePrivately,
    CorrectWord,
    DropFilter,
    DropWord,
    ExportAll,
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    Refinement,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    TakeInMissing,
    TakeReading,
    UseNearest,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A passage that a sentence rests on. `[marker]` stands in the text; offsets as in the document's text."""

    marker: str
    doc_id: DocId
    title: str
    page: int | None
    start: int
    end: int
    text: str
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A hit after fusion, and which collectors brought it."""

    hit: Hit
    score: float
    found_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One computed number. `count`: the documents it rests on."""

    function: Function
    field: FieldName | None
    value: float | str | None  # a string for the earliest or latest day
    unit: str | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    label: str
    value: float
    unit: str | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCount:
    """Documents that meet every other condition but lack this field."""

    field: FieldName
    count: int


class ChoiceKind(StrEnum):
    FILTER = "filter"
    DROP = "drop"
    NEAREST = "nearest"
    SPELLING = "spelling"
    MISSING = "missing"
    BUCKET = "bucket"
    DOCUMENT = "document"
    READING = "reading"
    MORE = "more"
    EXPORT = "export"
    WEB = "web"
    ANYWAY = "anyway"
    PRIVATE = "private"
    MEANING = "meaning"
    RESTART = "restart"


_KINDS: Mapping[type, ChoiceKind] = {
    AddFilter: ChoiceKind.FILTER,
    OpenTail: ChoiceKind.MORE,
    OnlyMissing: ChoiceKind.MISSING,
    TakeInMissing: ChoiceKind.MISSING,
    DropFilter: ChoiceKind.DROP,
    DropWord: ChoiceKind.DROP,
    UseNearest: ChoiceKind.NEAREST,
    CorrectWord: ChoiceKind.SPELLING,
    AddBucket: ChoiceKind.BUCKET,
    OnlyBucket: ChoiceKind.BUCKET,
    ChooseDocument: ChoiceKind.DOCUMENT,
    TakeReading: ChoiceKind.READING,
    ExportAll: ChoiceKind.EXPORT,
    SearchWeb: ChoiceKind.WEB,
    JustAnswer: ChoiceKind.ANYWAY,
    ContinuePrivately: ChoiceKind.PRIVATE,
    SearchByMeaning: ChoiceKind.MEANING,
    StartOver: ChoiceKind.RESTART,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A button: what it says, what it does to which leg, and what it leads to.

    `count` is the number of documents (of rows, for the export), counted before it is offered and at least 1; None for
    the other actions. `filters` is what a refinement adds to the search, None for actions.
    """

    label: str
    count: int | None
    leg: LegId
    does: Refinement | Action

    @property
    def kind(self) -> ChoiceKind:
        return _KINDS[type(self.does)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One executed search, in order."""

    tool: str
    arguments: Mapping[str, object]
    documents: int
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    name: str
    ms: float
    fallback: str | None = None


class Route(StrEnum):
    STRUCTURED = "structured"
    HYBRID = "hybrid"
    LONG_TEXT = "long_text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """How it came about: shown on demand, stored always."""

    route: Route
    attempts: tuple[Attempt, ...] = ()
    stages: tuple[Stage, ...] = ()
    reasoner: str = "rule"
    round_trips: int = 0
    index_ms: float = 0.0


class OutcomeKind(StrEnum):
    ANSWER = "answer"
    NO_RESULTS = "no_results"
    OVERLOAD = "overload"
    AMBIGUOUS = "ambiguous"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegResult:
    """What one leg came to."""

    leg: LegId
    question: str
    kind: OutcomeKind
    text: str
    count: int | None = None  # as it is said; None where the question is not about a set
    found: int | None = None  # documents in the leg's set, also where the question is not about it
    doc_ids: tuple[DocId, ...] = ()
    condition: Condition | None = None  # None where the leg's buckets have different ones
    values: tuple[Figure, ...] = ()
    groups: tuple[GroupLine, ...] = ()
    missing: tuple[MissingCount, ...] = ()
    records: tuple[Record, ...] = ()  # the first of a list, with the values worth a table


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table to show: titles of its columns, then rows of cells as people read them; raw text, not escaped."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`text` is Markdown in which all that came from documents or people is escaped."""

    plan: Plan
    text: str
    legs: tuple[LegResult, ...]
    citations: tuple[Citation, ...] = ()
    grids: tuple[Grid, ...] = ()
    hits: tuple[FoundPassage, ...] = ()
    choices: tuple[Choice, ...] = ()
    assumptions: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()  # what a follow-up kept of the plan before it, in words
    went_back: bool = False  # answers the plan before the last one again
    trace: Trace
    generation: Generation


@dataclass(frozen=True, slots=True, kw_only=True)
class Clarify:
    """A question back: `text` says what was tried, each attempt with its count, and asks. Ends the turn."""

    plan: Plan
    kind: OutcomeKind  # no_results, overload or ambiguous
    leg: LegId  # the one that asks back
    text: str
    legs: tuple[LegResult, ...]
    choices: tuple[Choice, ...]  # may be empty: an empty set after "just answer"
    citations: tuple[Citation, ...] = ()
    grids: tuple[Grid, ...] = ()  # of the legs that succeeded
    hits: tuple[FoundPassage, ...] = ()
    assumptions: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    went_back: bool = False
    asked_back: int = 1  # clarifications in a row on this topic, this one included
    understood: bool = True  # else no word of it meant anything: the conversation goes on where it was
    trace: Trace
    generation: Generation


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportWanted:
    """The person asked for the file in words. `leg` holds the set; `count` its rows."""

    plan: Plan
    leg: LegId
    count: int
    trace: Trace
    generation: Generation


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedOver:
    """The person asked to forget what was said before."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The audience may see no bucket that could answer. Says no more than that."""

    text: str
    may_go_private: bool = False


Outcome: TypeAlias = Answer | Clarify | ExportWanted | StartedOver | Refused

"""The outcomes of a question: `Answer`, `Clarify`, `ExportOutcome`, `StartOverOutcome` or `Refused`."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from storage.search.conditions import Condition
from storage.search.ids import DocId, FieldName, Generation, LegId
from storage.search.index import DocumentRecord, PassageHit
from storage.search.plan import AggregateFunction, Plan, SummariseDocuments
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
    IncludeMissing,
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    Refinement,
    SaveSearch,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    UseForm,
    UseNearest,
    UseReading,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A passage that supports a sentence. The text holds `[marker]`; offsets refer to the document's text."""

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
    """A hit after fusion, the collectors that found it, and the queries that it was found for."""

    hit: PassageHit
    score: float
    found_by: tuple[str, ...]
    found_for: tuple[str, ...] = ()  # the whole question and its sub-queries; empty: a single query
    validation_score: float | None = None  # cosine with the whole question; None: not validated
    code_language: str | None = None  # of a block of code, empty if it does not say; None: the hit is no such block


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedFigure:
    """One computed number. `count` is the number of documents that it is computed from."""

    function: AggregateFunction
    field: FieldName | None
    value: float | str | None  # a string for the earliest or latest day
    unit: str | None
    count: int
    factor: FieldName | None = None  # the field that multiplies `field` in each document


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    label: str
    value: float
    unit: str | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCount:
    """The number of documents that meet every other condition but lack this field."""

    field: FieldName
    count: int


class UnstatedRole(StrEnum):
    """What an answer needs the value of a field for."""

    CONDITION = "condition"
    MEASURE = "measure"
    ORDER = "order"
    GROUP = "group"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstatedValues:
    """Documents that may change the answer, but do not state a value for one of the fields.

    For a condition, `total` is the number of documents that meet the conditions on fields which all documents state;
    else of the documents in the set.
    """

    role: UnstatedRole
    fields: tuple[FieldName, ...]
    count: int  # documents, at least 1
    total: int
    is_only_reason: bool = True  # no other field of the conditions is missing somewhere: `total` is about these alone

    @property
    def decided_count(self) -> int:
        """The documents that state what is needed."""
        return self.total - self.count

    @property
    def is_scarce(self) -> bool:
        """Whether less than a tenth of the documents state it; never for a single document."""
        return self.is_only_reason and self.total > 1 and self.decided_count * 10 < self.total


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
    JUST_ANSWER = "anyway"
    PRIVATE = "private"
    MEANING = "meaning"
    RESTART = "restart"
    SAVE = "save"


_KIND_BY_EFFECT: Mapping[type, ChoiceKind] = {
    AddFilter: ChoiceKind.FILTER,
    OpenTail: ChoiceKind.MORE,
    OnlyMissing: ChoiceKind.MISSING,
    IncludeMissing: ChoiceKind.MISSING,
    DropFilter: ChoiceKind.DROP,
    DropWord: ChoiceKind.DROP,
    UseNearest: ChoiceKind.NEAREST,
    CorrectWord: ChoiceKind.SPELLING,
    AddBucket: ChoiceKind.BUCKET,
    OnlyBucket: ChoiceKind.BUCKET,
    ChooseDocument: ChoiceKind.DOCUMENT,
    UseReading: ChoiceKind.READING,
    UseForm: ChoiceKind.READING,
    ExportAll: ChoiceKind.EXPORT,
    SearchWeb: ChoiceKind.WEB,
    JustAnswer: ChoiceKind.JUST_ANSWER,
    ContinuePrivately: ChoiceKind.PRIVATE,
    SearchByMeaning: ChoiceKind.MEANING,
    StartOver: ChoiceKind.RESTART,
    SaveSearch: ChoiceKind.SAVE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A button: its label, its effect on a leg, and the number of documents behind it.

    `count` is the number of documents (for the export, of rows). It is counted before the choice is offered, and is at
    least 1. It is None for all other actions.
    """

    label: str
    count: int | None
    leg: LegId
    effect: Refinement | Action

    @property
    def kind(self) -> ChoiceKind:
        if isinstance(self.effect, UseForm) and isinstance(self.effect.answer_form, SummariseDocuments):
            return ChoiceKind.DOCUMENT  # it shows one document
        return _KIND_BY_EFFECT[type(self.effect)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAttempt:
    """One executed search."""

    tool: str
    arguments: Mapping[str, object]
    documents: int
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStage:
    name: str
    ms: float
    fallback: str | None = None
    ended_at: float = field(default_factory=time.time, compare=False)  # in seconds since 1970, UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """The calls to language models in one turn. `cost_usd` is None if a price is unknown."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class SearchRoute(StrEnum):
    STRUCTURED = "structured"
    HYBRID = "hybrid"
    LONG_TEXT = "long_text"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTrace:
    """How the outcome was reached. Always stored; shown on request."""

    route: SearchRoute
    attempts: tuple[SearchAttempt, ...] = ()
    stages: tuple[TraceStage, ...] = ()
    reasoner: str = "rule"
    round_trips: int = 0
    index_ms: float = 0.0
    candidate_count: int = 0  # different passages that the searches found
    sub_queries: tuple[str, ...] = ()  # whose rankings make the hits; empty: the question's alone
    model_usage: ModelUsage = field(default_factory=ModelUsage)


class OutcomeKind(StrEnum):
    ANSWER = "answer"
    NO_RESULTS = "no_results"
    OVERLOAD = "overload"
    AMBIGUOUS = "ambiguous"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegResult:
    """The result of one leg."""

    leg: LegId
    question: str
    kind: OutcomeKind
    text: str
    count: int | None = None  # as the text states it; None if the question is not about a set
    document_count: int | None = None  # in the leg's set, even if the question is not about a set
    doc_ids: tuple[DocId, ...] = ()
    condition: Condition | None = None  # None if the leg's buckets have different conditions
    figures: tuple[ComputedFigure, ...] = ()
    groups: tuple[GroupLine, ...] = ()
    missing_counts: tuple[MissingCount, ...] = ()
    unstated: tuple[UnstatedValues, ...] = ()
    records: tuple[DocumentRecord, ...] = ()  # the first of a list, with the values for a table
    unknown_words: tuple[str, ...] = ()  # that a clarification asks about; the set leaves them out
    is_sure: bool = True  # False: the reply says that it may not answer the question


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTable:
    """A table to show: column titles, and rows of formatted cells. The text is raw, not escaped."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class PictureKind(StrEnum):
    BARS = "bars"
    LINE = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturePoint:
    """One bar, or one point of a line. `label` and `value_text` are raw text; the text is as the table shows it."""

    label: str
    value: float
    value_text: str
    is_rest: bool = False  # the sum of the groups that have no bar of their own
    follows_gap: bool = False  # there is no figure between this point and the one before, so no line joins them


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPicture:
    """A picture of figures of one unit, beside their table. The text is raw, not escaped."""

    kind: PictureKind
    title: str
    unit: str | None
    points: tuple[PicturePoint, ...]  # at least 2, in the order of the table
    description: str  # the alternative text: what the picture shows, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer. `text` is Markdown; all text from documents or users is escaped in it."""

    plan: Plan
    text: str
    legs: tuple[LegResult, ...]
    citations: tuple[Citation, ...] = ()
    tables: tuple[ResultTable, ...] = ()
    pictures: tuple[ResultPicture, ...] = ()
    hits: tuple[FoundPassage, ...] = ()
    choices: tuple[Choice, ...] = ()
    assumptions: tuple[str, ...] = ()
    kept_conditions: tuple[str, ...] = ()  # descriptions of the conditions that a follow-up kept from the last plan
    is_undo: bool = False  # answers the plan before the last one again
    trace: SearchTrace
    generation: Generation

    @property
    def language(self) -> str:
        """ISO 639-1; a language without a catalogue of messages has an English text."""
        return self.plan.language


@dataclass(frozen=True, slots=True, kw_only=True)
class Clarify:
    """A clarifying question. `text` lists the attempts with their counts, and asks. It ends the turn."""

    plan: Plan
    kind: OutcomeKind  # no_results, overload or ambiguous
    leg: LegId  # the leg that asks back
    text: str
    legs: tuple[LegResult, ...]
    choices: tuple[Choice, ...]  # may be empty: if "just answer" found an empty set
    citations: tuple[Citation, ...] = ()
    tables: tuple[ResultTable, ...] = ()  # of the legs that succeeded
    pictures: tuple[ResultPicture, ...] = ()  # of the same legs
    hits: tuple[FoundPassage, ...] = ()
    assumptions: tuple[str, ...] = ()
    kept_conditions: tuple[str, ...] = ()
    is_undo: bool = False
    choices_heading: str = ""  # the last line of `text`, if it introduces the choices
    clarifications_in_a_row: int = 1  # clarifications in a row on this topic, this one included
    is_understood: bool = True  # if False, no word was known; the conversation continues as before
    trace: SearchTrace
    generation: Generation

    @property
    def language(self) -> str:
        """ISO 639-1; a language without a catalogue of messages has an English text."""
        return self.plan.language


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOutcome:
    """The user asked for an export in a message. `leg` is the leg to export, `count` its number of rows."""

    plan: Plan
    leg: LegId
    count: int
    trace: SearchTrace
    generation: Generation

    @property
    def language(self) -> str:
        """ISO 639-1; a language without a catalogue of messages has an English text."""
        return self.plan.language


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOverOutcome:
    """The user asked to forget the conversation."""

    text: str
    language: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The audience may see no bucket that could answer. The text reveals nothing else."""

    text: str
    may_go_private: bool = False
    language: str = "en"


Outcome: TypeAlias = Answer | Clarify | ExportOutcome | StartOverOutcome | Refused

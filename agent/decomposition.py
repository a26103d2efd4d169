"""What a reasoner decomposes a question with, and into what: a plan with its alternatives, or another request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias

from agent.assumptions import Assumption
from agent.reasoning_log import ReasoningLog
from agent.review.answer_confidence import ReadingAssessment
from storage.search.analyser import Analyser
from storage.search.conditions import Condition
from storage.search.ids import BucketId, DocId, FieldName, Generation, LegId
from storage.search.index import FieldVocabulary, ValueCount
from storage.search.plan import AnswerForm, Clause, Leg, Plan, Search
from storage.search.schema import Schema


class VocabularyLookup(Protocol):
    """Answers look-ups in the dictionary of the visible documents. `IndexVocabulary` implements it."""

    @property
    def generation(self) -> Generation:
        """The state of the index that it describes."""
        ...

    @property
    def total_document_count(self) -> int:
        """The visible documents of all buckets."""
        ...

    def document_count_of(self, bucket: BucketId) -> int:
        """Returns the number of visible documents of the bucket; 0 if there are none."""
        ...

    def fields_of(self, bucket: BucketId) -> tuple[FieldVocabulary, ...]:
        """Returns the fields of the bucket that have values."""
        ...

    def titles_of(self, bucket: BucketId) -> tuple[ValueCount, ...]:
        """Returns the titles of the bucket's documents; none if there are too many."""
        ...

    def field_of(self, bucket: BucketId, name: FieldName) -> FieldVocabulary | None:
        """Returns the values of the field; None if it has none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionContext:
    """The input of a reasoner besides the question: vocabulary and schemas in scope, time, locale and earlier plans."""

    schemas: Mapping[BucketId, Schema]
    vocabulary: VocabularyLookup
    analysers: Mapping[BucketId, Analyser]
    now: datetime
    locale: str
    last_plan: Plan | None
    earlier_plans: tuple[Plan, ...] = ()  # the plans before the last one, oldest first
    conversation_summary: str = ""  # the latest questions and outcomes, a line each
    found_nothing: bool = False  # the last message found no document, or was not understood
    pending_words: tuple[str, ...] = ()  # words that the last reply asked about
    found_documents: tuple[DocId, ...] = ()  # that the last reply cited
    reasoning_log: ReasoningLog = field(default_factory=ReasoningLog, compare=False)  # of the turn


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeReading:
    """Another reading of a leg: its `Search`, and the conditions in which it differs."""

    bucket: BucketId
    conditions: tuple[Condition, ...]
    search: Search
    is_of_other_plan: bool = False  # of the rules beside a model's plan: another meaning only if it counts otherwise
    unclear_count: int = 0  # documents that it has besides the chosen reading, since they may fit; 0: another meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeForm:
    """Another form of a leg's answer, which uses `field`; `search` finds the documents that have a value for it."""

    bucket: BucketId
    field: FieldName
    answer_form: AnswerForm
    search: Search


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleSet:
    """Documents that may be meant, by what was understood, or by values like words that were not."""

    clause: Clause
    answer_form: AnswerForm  # a list of documents, or values of theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class VagueCondition:
    """An adjective that says an end of a scale, but not from where on: "good", "cheap". `fields` may measure it."""

    bucket: BucketId
    word: str
    fields: tuple[FieldName, ...]
    is_high_end: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SpellingCorrection:
    """The leg with misspelt words corrected. Each correction is a pair: the word as written, the word as meant."""

    corrections: tuple[tuple[str, str], ...]
    leg: Leg
    unknown_words: tuple[str, ...] = ()  # those that are not understood in the corrected leg either


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuedQuestion:
    """What a follow-up asks of texts: its message, and the question before it, which may say what the message lacks."""

    earlier: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LegAlternatives:
    """Other possible meanings of a leg. Each is counted before it is offered."""

    leg: LegId
    equal_readings: tuple[AlternativeReading, ...] = ()  # same score as the chosen reading: an ambiguity
    fallback_readings: tuple[AlternativeReading, ...] = ()  # used if the chosen reading finds nothing
    spelling_correction: SpellingCorrection | None = None  # for words that no document holds
    wider_readings: tuple[AlternativeReading, ...] = ()  # such as "at least 5" for a plain "5"
    other_bucket_clauses: tuple[Clause, ...] = ()  # the question read for buckets that were not chosen
    equal_forms: tuple[AlternativeForm, ...] = ()  # the field is not certain: a form for each, the chosen one included
    possible_forms: tuple[AlternativeForm, ...] = ()  # offered where no text answers, the likeliest first
    possible_sets: tuple[PossibleSet, ...] = ()  # offered where nothing surely answers, the likeliest first
    vague_condition: VagueCondition | None = None
    droppable_words: tuple[str, ...] = ()  # required words; dropped, and reported, if no document holds them
    suggested_fields: tuple[FieldName, ...] = ()  # the fields that `unknown_words` may mean, the likeliest first
    is_understood: bool = False  # every content word of the question has a meaning in the chosen reading
    is_confined: bool = False  # to the last results: no text of other documents may answer
    unknown_words: tuple[str, ...] = ()  # restrict the set in a way that was not understood; the search leaves them out
    text_words: tuple[str, ...] = ()  # of the question, that only the texts of documents decide
    continued: ContinuedQuestion | None = None  # of a follow-up
    assessment: ReadingAssessment | None = None  # of the chosen reading; None: it is not assessed, as after a click
    is_checked: bool = False  # the documents were read, and the set is those that fit: no other text may answer


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdinalReference:
    """A reference from a leg to documents in the list of an earlier leg, by position.

    Positions count from 1; negative ones count from the end.
    """

    leg: LegId
    list_leg: Leg
    positions: tuple[int, ...]
    is_exclusion: bool = False  # all documents but those
    drop_leg_if_missing: bool = False  # if the list is too short and other legs remain


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedValues:
    """A condition of a leg whose values another search gives first: "the vendor with the highest total".

    `source` groups its set; the values are its first groups.
    """

    leg: LegId
    bucket: BucketId
    field: FieldName
    source: Leg
    is_list: bool = False  # the field has several values
    is_negated: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFieldCondition:
    """A condition that a follow-up keeps from the last plan."""

    condition: Condition
    bucket: BucketId = field(compare=False)  # its schema gives the words


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWord:
    """A word that the text must hold, kept from the last plan."""

    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptQuestion:
    """A whole plan is kept: that of an earlier question, to which the asker went back."""

    question: str


KeptCondition: TypeAlias = KeptFieldCondition | KeptWord | KeptQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedQuestion:
    """A plan and its alternatives."""

    plan: Plan
    alternatives: tuple[LegAlternatives, ...] = ()
    assumptions: tuple[Assumption, ...] = ()  # made while planning
    kept_conditions: tuple[KeptCondition, ...] = ()  # from the last plan
    is_followup: bool = False  # continues the last plan; a new topic resets the count of clarifications
    references: tuple[OrdinalReference, ...] = ()  # resolved before the plan is searched
    passed_values: tuple[PassedValues, ...] = ()  # looked up before the plan is searched
    fallback: "PlannedQuestion | None" = None  # used if no leg of the plan finds a document
    is_undo: bool = False  # returns to the plan before the last one
    is_of_model: bool = False  # a model planned it, not the rules
    compared_count: int | None = None  # documents compared, if there are more of them

    @property
    def language(self) -> str:
        """Of the reply."""
        return self.plan.language


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """The user asks for a set of documents as a file."""

    plan: Plan
    leg: LegId
    alternatives: tuple[LegAlternatives, ...] = ()
    assumptions: tuple[Assumption, ...] = ()  # made while planning
    is_of_model: bool = False  # a model planned it, not the rules

    @property
    def language(self) -> str:
        """Of the reply."""
        return self.plan.language


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOverRequest:
    """The user asks to forget the conversation, or to go back to before it."""

    nothing_before: bool = False
    language: str = "en"  # of the reply; ISO 639-1


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyExportRequest:
    """The user asks for a file of the results, but there are none."""

    language: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpRequest:
    """The user says hello, or asks which questions are possible."""

    language: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnrecognisedQuestion:
    """No word of the question tells what to look for in the buckets in scope."""

    language: str = "en"


Decomposition: TypeAlias = (
    PlannedQuestion | ExportRequest | EmptyExportRequest | StartOverRequest | HelpRequest | UnrecognisedQuestion
)

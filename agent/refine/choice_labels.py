"""What each choice offers, as values; `agent.compose.choices.choice_labels` composes the words."""

from dataclasses import dataclass, field
from typing import TypeAlias

from storage.search.conditions import ComparisonCondition, Condition
from storage.search.documents import FieldValue, FieldValues
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.plan import AnswerForm, Clause
from storage.search.schema import SchemaField


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLabel:
    """Words that need no composing: a value, a title, a reading as the reasoner describes it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLabel:
    """A single document. `values` tell documents with the same title apart; empty where they were not read.

    `first_line` of its text; empty where the text was not read.
    """

    title: str
    doc_id: DocId
    bucket: BucketId
    values: FieldValues = field(default_factory=dict[FieldName, FieldValue])
    first_line: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketLabel:
    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagLabel:
    field: SchemaField
    is_set: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyFieldLabel:
    """A field that may be meant."""

    field: SchemaField


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleFormLabel:
    """The first documents of a set in the order of a field, or a number that is computed from the field."""

    clause: Clause
    field: SchemaField
    answer_form: AnswerForm


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeLabel:
    """Values from `low` up to, but not including, `high`; None: no upper end."""

    field: SchemaField
    low: float
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodLabel:
    first_day: str
    last_day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingFieldLabel:
    field: SchemaField


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreValuesLabel:
    """The values without a choice of their own."""

    field: SchemaField
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoneOfTheseLabel:
    """The documents whose list contains none of the offered values."""

    field: SchemaField


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherBucketLabel:
    clause: Clause


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestValueLabel:
    field: SchemaField
    condition: ComparisonCondition


@dataclass(frozen=True, slots=True, kw_only=True)
class SpellingLabel:
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutConditionLabel:
    condition: Condition
    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutWordLabel:
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyConditionLabel:
    condition: Condition
    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class AlsoMissingLabel:
    """Includes the documents that lack the field."""

    field: SchemaField


@dataclass(frozen=True, slots=True, kw_only=True)
class AlsoUnclearLabel:
    """Includes the documents that may fit."""

    count: int  # of these


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionsLabel:
    """A reading, labelled by the conditions that distinguish it."""

    conditions: tuple[Condition, ...]
    bucket: BucketId


@dataclass(frozen=True, slots=True, kw_only=True)
class ThisReadingLabel:
    """The reading that the reply describes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyTheseLabel:
    """The set that the reply has just shown, without the others that it asks about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSearchLabel:
    """What the texts of the documents say about the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOfThemLabel:
    """The whole set, without the words that were not understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutWordsLabel:
    """The answer to the question without the words that were not understood."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionLabel:
    """The documents that hold the words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValueLabel:
    """A value with its field; any value, if it is empty."""

    field: SchemaField
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherDocumentLabel:
    """A document that is not among the offered ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportLabel:
    """`question`: the leg that the export belongs to, if several legs have one; else empty."""

    question: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListThemLabel:
    """The documents that a number was computed from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JustAnswerLabel:
    """Answers without asking back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchByMeaningLabel:
    """Searches by meaning instead."""


ChoiceLabel: TypeAlias = (
    GivenLabel
    | DocumentLabel
    | BucketLabel
    | FlagLabel
    | LikelyFieldLabel
    | PossibleFormLabel
    | RangeLabel
    | PeriodLabel
    | MissingFieldLabel
    | MoreValuesLabel
    | NoneOfTheseLabel
    | OtherBucketLabel
    | NearestValueLabel
    | SpellingLabel
    | WithoutConditionLabel
    | WithoutWordLabel
    | OnlyConditionLabel
    | AlsoMissingLabel
    | AlsoUnclearLabel
    | ConditionsLabel
    | ThisReadingLabel
    | OnlyTheseLabel
    | TextSearchLabel
    | AllOfThemLabel
    | WithoutWordsLabel
    | MentionLabel
    | FieldValueLabel
    | OtherDocumentLabel
    | ExportLabel
    | ListThemLabel
    | JustAnswerLabel
    | SearchByMeaningLabel
)

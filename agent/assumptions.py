"""The assumptions of an answer, as values. `agent.compose.phrases.assumptions` turns them into text."""

from dataclasses import dataclass
from typing import TypeAlias

from storage.search.conditions import Condition
from storage.search.ids import BucketId
from storage.search.plan import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredWord:
    """A word was ignored, since no document holds it."""

    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWords:
    """The words restrict the set in a way that was not understood; they were left out."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedWords:
    """Words of the question that nothing in the plan expresses: the answer may be to another question."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredPart:
    """A part of the question could not be planned; the answer is that to the others."""

    question: str  # the part


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredWords:
    """The words match no field, so the text must hold them."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsDecide:
    """Words in texts decide what is in the set, although they only hint at it."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentsRead:
    """A model has read documents; the set is those that fit."""

    bucket: BucketId
    read_count: int
    fit_count: int
    unclear_count: int
    has_all: bool  # all that meet the other conditions; else only those of them whose texts hold certain words


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenReading:
    """One of several readings with the same score was chosen."""

    bucket: BucketId
    conditions: tuple[Condition, ...]  # conditions that only this reading has
    other_conditions: tuple[tuple[Condition, ...], ...]  # what each of the others has instead


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenField:
    """One of several fields that may be meant was chosen."""

    field_label: str
    other_labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnboundedAdjective:
    """The adjective has no threshold, so it narrows nothing."""

    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenInnerSet:
    """A part of the question was read as a set of another bucket, with which the conditions compare."""

    bucket: BucketId
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedSpelling:
    """A word was read as a misspelling of another word."""

    written: str
    meant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackReading:
    """The most likely reading found nothing, so one with these conditions was chosen."""

    bucket: BucketId
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstOfSeveral:
    """Several documents match, and the first was chosen."""

    count: int
    search: Search


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyTextSearched:
    """The set was empty, so all text was searched."""

    search: Search


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPassagesListed:
    """The list is what the best passages of several documents say; others may say more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignLanguage:
    """The question is in a language that is not read, so the text was searched for its words."""

    language: str  # ISO 639; `und` if it is undetermined


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsTakenAsField:
    """The words beside a value are neither name nor synonym of the field that they were taken to mean."""

    words: str
    field_label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DateFieldTaken:
    """The question names no date field, so the words were taken for the main one."""

    words: str
    field_label: str
    other_labels: tuple[str, ...]  # of the date fields that were not taken


@dataclass(frozen=True, slots=True, kw_only=True)
class SiblingsLeftOut:
    """Tables of the same kind that fit the question as well were not used: last year's, the other site's."""

    bucket: BucketId  # the one that was used
    others: tuple[BucketId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTaken:
    """A number that is about right was taken as 10 % more or less."""

    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedSuperlative:
    """The superlative fits no field, so the list is not in its order."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredSuperlative:
    """The superlative asks for the other end of a list, which has only one."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredGrouping:
    """The numbers are grouped by one field, not by a second one."""

    group_label: str  # the label of the field
    ignored_label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTaken:
    """A list in the message became one condition. `unknown_entries`: the first of those that no document holds."""

    entry_count: int
    unknown_entries: tuple[str, ...] = ()
    unknown_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptRead:
    """The message is long, and only this part of it was read."""

    text: str


Assumption: TypeAlias = (
    IgnoredWord
    | UnknownWords
    | UnansweredPart
    | RequiredWords
    | WordsDecide
    | DocumentsRead
    | TakenReading
    | TakenField
    | UnboundedAdjective
    | TakenInnerSet
    | CorrectedSpelling
    | FallbackReading
    | FirstOfSeveral
    | AnyTextSearched
    | BestPassagesListed
    | ForeignLanguage
    | WordsTakenAsField
    | DateFieldTaken
    | SiblingsLeftOut
    | MarginTaken
    | UnmatchedSuperlative
    | UnusedWords
    | ListTaken
    | ExcerptRead
    | IgnoredSuperlative
    | IgnoredGrouping
)

"""What a span of a question may stand for: sets of documents, their fields and values, and what is said of sets.

Phrases are values: two readings of a span that mean the same are one.
"""

from dataclasses import dataclass
from dataclasses import field as attribute
from typing import TypeAlias

from storage.search.conditions import MATCH_ALL, Condition
from storage.search.ids import BucketId, FieldName


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOrder:
    """The order by one field, the highest value first if `descending`."""

    field: FieldName
    descending: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPhrase:
    """Documents of one bucket: "rivers in Texas", "the largest of them", a document by its name.

    With an order the set is its first `limit` documents. `chosen_measures`: fields that a superlative may measure
    instead of others, which are as likely.
    """

    bucket: BucketId
    condition: Condition = MATCH_ALL
    order: SetOrder | None = None
    limit: int = 1
    chosen_measures: frozenset[tuple[BucketId, FieldName]] = frozenset()
    is_plural: bool = False
    key: FieldName | None = None  # the field that holds the name, of documents that are known by their name
    name: str = ""
    is_shared_name: bool = False  # several documents have the name, or it is a part of several names
    depth: int = 0  # how many relations to other documents it is made of
    words: str = attribute(default="", compare=False)  # of the question

    @property
    def is_named(self) -> bool:
        """Whether a name tells which document it is, or a field of a single document."""
        return self.key is not None

    @property
    def is_bare(self) -> bool:
        """Whether it is only a noun for documents."""
        return self.condition == MATCH_ALL and self.order is None

    @property
    def is_single(self) -> bool:
        return (self.order is not None and self.limit == 1) or (self.is_named and not self.is_shared_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPhrase:
    """A field that is asked for or compared: "population", "who manages"."""

    bucket: BucketId
    field: FieldName
    is_plural: bool = False
    is_question: bool = False
    is_hint: bool = False
    asks_amount: bool = False  # "how many people live"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuePhrase:
    """A value that some documents of the bucket have."""

    bucket: BucketId
    condition: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralPhrase:
    """Words around a number or a day, read as a condition where it is known of what: "longer than 300 km"."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValues:
    """The values of a field of a set: "the capital of Texas"."""

    documents: SetPhrase
    field: FieldName
    asks_amount: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SuperlativePhrase:
    """ "Largest", "most expensive", or a lone "most"."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPhrase:
    """A superlative with its measure: "the highest density"."""

    bucket: BucketId
    order: SetOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparativePhrase:
    """ "Longer", "a bigger budget", "earns more": compares with what follows.

    `superlative` is the superlative of the word; `measure` is given once it is known what is compared.
    """

    superlative: tuple[str, ...]
    bucket: BucketId | None = None
    measure: SetOrder | None = None
    awaits_than: bool = True


@dataclass(frozen=True, slots=True)
class ThanWord:
    """The word "than"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPhrase:
    """ "Longer than the Ohio river": a comparison with a value of another document."""

    comparative: ComparativePhrase
    target: SetPhrase
    target_field: FieldName | None = None  # None: the same field


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberOfPhrase:
    """ "The most rivers", "the fewest projects in Oslo": the documents that are counted."""

    documents: SetPhrase
    descending: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkingWords:
    """Words that connect phrases: function words, and words without a meaning of their own such as "flow".

    `relating` are the words without a meaning; `mentions` are the fields that one of the words names.
    """

    words: tuple[str, ...]
    relating: tuple[str, ...] = ()
    mentions: frozenset[tuple[BucketId, FieldName]] = frozenset()


Modified: TypeAlias = SetPhrase | ValuePhrase | SuperlativePhrase | OrderPhrase | NumberOfPhrase | ComparedPhrase


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifierPhrase:
    """What follows the noun of a set: the phrase, and the words before and behind it that say how it is related.

    "Rivers *that flow through Texas*", "states *which the Colorado flows through*", "clubs *with the most members*".
    """

    before: LinkingWords
    phrase: Modified
    after: LinkingWords


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedByNumber:
    """The first of a set by how many related documents each has: "the state with the most rivers"."""

    documents: SetPhrase
    counted: SetPhrase
    field: FieldName  # of the counted documents, that refers to the set
    descending: bool


Phrase: TypeAlias = (
    SetPhrase
    | FieldPhrase
    | ValuePhrase
    | LiteralPhrase
    | FieldValues
    | SuperlativePhrase
    | OrderPhrase
    | NumberOfPhrase
    | ComparativePhrase
    | ThanWord
    | ComparedPhrase
    | LinkingWords
    | ModifierPhrase
    | RankedByNumber
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPhrase:
    """A phrase at `tokens[first:last]`; a larger `cost` is a less likely reading."""

    first: int
    last: int
    phrase: Phrase
    cost: float = 0.0

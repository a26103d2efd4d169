"""What a span of words may mean in a bucket: a noun, the name of a field, a value."""

from dataclasses import dataclass
from typing import TypeAlias

from storage.search.ids import FieldName


@dataclass(frozen=True, slots=True)
class BucketNoun:
    """The span names the bucket's documents, by name or synonym."""


@dataclass(frozen=True, slots=True)
class FieldMention:
    """The span names a field by its name, title or synonym; `column` is a column of a rows field.

    `is_hint`: the span is a single word of these, or of the description, that belongs to no other field. `is_negated`:
    the word says that the value is missing or the flag is not set: "unassigned", "open" for a flag `resolved`.
    `is_question`: a question word and a verb or adjective ask for the field: "who … repaired".
    """

    field: FieldName
    column: FieldName | None = None
    is_hint: bool = False
    is_negated: bool = False
    is_question: bool = False


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """The span names a whole value of a field, as in the documents or by a synonym of the schema."""

    field: FieldName
    column: FieldName | None
    value: str


@dataclass(frozen=True, slots=True)
class PartialMatch:
    """The span matches several values of a field, or a part of a value."""

    field: FieldName
    column: FieldName | None
    values: tuple[str, ...]
    by_head_words: bool = False  # categories that end in these words
    is_single_name: bool = False  # one name in several spellings


LinkMeaning: TypeAlias = BucketNoun | FieldMention | ValueMatch | PartialMatch


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanLink:
    """`tokens[first:last]` may mean `meaning`."""

    first: int
    last: int
    meaning: LinkMeaning
    weight: float
    phrase_tokens: frozenset[int] = frozenset()  # the tokens of a question phrase, also before `first`

"""The fields of a bucket that say whether something is over: dates of an end, flags, and a status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.english.state_words import (
    CERTAIN_START_WORDS,
    END_NAME_WORDS,
    ENDED_STATUSES,
    FLAGS_OF_THE_PRESENT,
    NAMES_OF_PARTS,
    NO_END_WORDS,
    START_NAME_WORDS,
    STATUS_NAMES,
    EndKind,
    end_kind_of,
    name_words_of,
)
from storage.search.analyser import fold_text
from storage.search.ids import FieldName
from storage.search.index import FieldVocabulary
from storage.search.schema import FieldType, Schema, SchemaField

_MAX_ENDED_SHARE = 0.95  # of the documents may have an end; where nearly all have one, it is not a mark of the past
_MAX_STATUS_VALUES = 20
PAID_VALUES = frozenset("paid settled bezahlt beglichen payé pagado".split())
# The kinds that tell whether the thing itself is still there, then those that are open or closed.
_OWN_KINDS = (EndKind.LIFE, EndKind.STAY, EndKind.USE, EndKind.TERM)
_OPEN_KINDS = (EndKind.LOAN, EndKind.TASK)
_STRICT_KINDS = ((EndKind.LIFE,), (EndKind.PAYMENT,), (EndKind.LOAN,))  # their words speak of nothing else


@dataclass(frozen=True, slots=True, kw_only=True)
class EndField:
    """A field whose value says that something is over. `ended_values`: those of a status that say so."""

    name: FieldName
    type: FieldType
    kind: EndKind | None  # None: a status or a flag that may tell of any kind
    is_set_while_lasting: bool = False  # a flag such as "active"
    ended_values: tuple[str, ...] = ()
    latest_day: str = ""  # of a date


@dataclass(frozen=True, slots=True, kw_only=True)
class StartField:
    """The date on which something begins. `latest_day`: of all documents."""

    name: FieldName
    latest_day: str


class EndFields:
    """The end fields of one bucket."""

    def __init__(
        self,
        schema: Schema,
        vocabularies: Mapping[FieldName, FieldVocabulary],
        document_count: int,
        nouns: frozenset[str],
    ) -> None:
        """`nouns` are words for the documents of the bucket."""
        self._terms = [
            EndField(name=field.name, type=field.type, kind=EndKind.TERM, latest_day=str(vocabulary.high or ""))
            for field in schema.fields
            if (vocabulary := vocabularies.get(field.name)) is not None and _tells_term(field)
        ]
        self._fields = [
            end_field
            for field in schema.fields
            if (vocabulary := vocabularies.get(field.name)) is not None
            and (end_field := _end_field_of(field, vocabulary, document_count, nouns)) is not None
        ]
        self._payment_statuses = [
            EndField(name=field.name, type=field.type, kind=EndKind.PAYMENT, ended_values=paid)
            for field in schema.fields
            if is_status(field)
            and (vocabulary := vocabularies.get(field.name)) is not None
            and (paid := _values_among(vocabulary, PAID_VALUES))
        ]
        starts = [
            StartField(name=field.name, latest_day=str(vocabulary.high or ""))
            for field in schema.fields
            if (vocabulary := vocabularies.get(field.name)) is not None and _tells_start(field, nouns)
        ]
        self.start = starts[0] if len(starts) == 1 else None

    @property
    def dates(self) -> Sequence[FieldName]:
        return [field.name for field in self._fields if field.type is FieldType.DATE]

    def fields_for(self, kinds: Sequence[EndKind]) -> Sequence[EndField]:
        """Returns the fields that a word of these kinds, the likeliest first, speaks of; no kinds: of any end.

        The fields of one kind belong together: who is still there has neither left nor died.
        """
        if kinds in _STRICT_KINDS:
            found = self._fields_of(kinds[0]) if kinds[0] in _OWN_KINDS else self._sole_field_of(kinds[0])
            return found or (self._payment_statuses[:1] if kinds == (EndKind.PAYMENT,) else ())
        for kind in kinds:
            found = self._fields_of(kind) if kind in _OWN_KINDS else self._sole_field_of(kind)
            if found:
                return found
        if not kinds:
            own = [field for field in self._fields if field.kind in _OWN_KINDS]
            open_fields = (self._sole_field_of(kind) for kind in _OPEN_KINDS)
            found = own or next(filter(None, open_fields), ())
            if found:
                return found
        if len(kinds) == 1 and kinds != (EndKind.TASK,):
            return ()
        return [field for field in self._fields if field.kind is None][:1]

    @property
    def own_fields(self) -> Sequence[EndField]:
        """The fields that tell whether the thing or person itself is still there."""
        dates = [field for field in self._fields if field.kind in _OWN_KINDS]
        return dates or [field for field in self._fields if field.kind is None][:1]

    @property
    def terms(self) -> Sequence[EndField]:
        """The dates until which a document or a part of it is valid."""
        return self._terms

    def _fields_of(self, kind: EndKind) -> Sequence[EndField]:
        return [field for field in self._fields if field.kind is kind]

    def _sole_field_of(self, kind: EndKind) -> Sequence[EndField]:
        found = self._fields_of(kind)
        return found if len(found) == 1 else ()


def is_status(field: SchemaField) -> bool:
    return field.type is FieldType.CATEGORY and bool(name_words_of(field) & STATUS_NAMES)


def _end_field_of(
    field: SchemaField, vocabulary: FieldVocabulary, document_count: int, nouns: frozenset[str]
) -> EndField | None:
    words = name_words_of(field)
    if is_status(field) and 1 < len(vocabulary.values) <= _MAX_STATUS_VALUES:
        ended = _values_among(vocabulary, ENDED_STATUSES)
        is_split = 0 < len(ended) < len(vocabulary.values)
        return EndField(name=field.name, type=field.type, kind=None, ended_values=ended) if is_split else None
    if field.type is FieldType.FLAG:
        if words & FLAGS_OF_THE_PRESENT:
            return EndField(name=field.name, type=field.type, kind=None, is_set_while_lasting=True)
        kind = end_kind_of(words, nouns)
        return None if kind is None else EndField(name=field.name, type=field.type, kind=kind)
    if field.type is not FieldType.DATE or words & (NO_END_WORDS | NAMES_OF_PARTS):
        return None
    kind = end_kind_of(words, nouns)
    may_be_ahead = kind is EndKind.TERM
    if kind is None or not (may_be_ahead or vocabulary.document_count <= _MAX_ENDED_SHARE * document_count):
        return None
    return EndField(name=field.name, type=field.type, kind=kind, latest_day=str(vocabulary.high or ""))


def _values_among(vocabulary: FieldVocabulary, words: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(value.value for value in vocabulary.values if fold_text(value.value) in words))


def _tells_start(field: SchemaField, nouns: frozenset[str]) -> bool:
    """Whether the date is that on which the thing itself begins: "start date", "valid from", "contract start"."""
    words = name_words_of(field)
    is_start = bool(words & CERTAIN_START_WORDS) and not words - START_NAME_WORDS - nouns
    return field.type is FieldType.DATE and is_start


def _tells_term(field: SchemaField) -> bool:
    """Whether the date ends a term of the thing itself or of a part of it: "licence expires"."""
    words = name_words_of(field)
    return field.type is FieldType.DATE and bool(words & END_NAME_WORDS[EndKind.TERM]) and not words & NO_END_WORDS

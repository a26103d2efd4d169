"""What the sentences of a leg may state: the numbers, texts and units of its facts, its search and its question."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from enum import Enum
from functools import cache, lru_cache
from typing import cast

from agent.limits import NAMED_VALUES, SHOWN_DOCUMENTS
from agent.outcome import UnstatedValues
from agent.review.leg_review import LegFacts, LegReview, missing_counts_of
from agent.verification.derived_figures import DerivationKind, DerivedFigure, compute_derived_figure
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition, OrCondition
from storage.search.documents import Document
from storage.search.index import DocumentRecord
from storage.search.schema import Schema, SchemaField

_MAX_RECORDS = 50  # of a sequence: a sentence names a few documents, a table shows ten
_MAX_TEXT_CHARACTERS = 60_000
_MAX_RECENT_TEXTS = 16
_TEXT_SEPARATOR = " |\n"  # keeps "2031 Q1" and "2032 Q1" from being read as "Q1 2032"
_SHOWN_UNITS = (("**2", "²"), ("**3", "³"), ("degC", "°C"), ("degF", "°F"), ("percent", "%"))
_DIGIT = re.compile(r"\d")
_ABSENT_WORD_MEMBERS = frozenset({"unknown_words", "absent_words"})

_UNITS_OF_DERIVATIONS = {DerivationKind.CHANGE_PERCENT: "%", DerivationKind.DAYS_BETWEEN: "days"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceEvidence:
    """The numbers and the texts that a leg's sentences may hold; `question` may be repeated, too."""

    numbers: frozenset[float]
    text: str
    question: str = ""
    empty_counts: int = 0  # counts of the facts that are zero: they support a sentence that there is none
    absent_words: frozenset[str] = frozenset()  # casefolded words that the searched documents do not hold

    def with_derived(self, derived: Iterable[DerivedFigure]) -> "SentenceEvidence":
        """Adds the numbers that follow from numbers of this evidence. Others are left out."""
        founded = [
            figure
            for figure in derived
            if all(map(self._holds_number, figure.inputs)) and all(day in self.text for day in figure.days)
        ]
        computed = {number for figure in founded for number in _shown_numbers_of(figure)}
        units = {_UNITS_OF_DERIVATIONS[figure.kind] for figure in founded if figure.kind in _UNITS_OF_DERIVATIONS}
        return replace(
            self,
            numbers=self.numbers | computed,
            text=_TEXT_SEPARATOR.join((self.text, *sorted(units))),
        )

    def with_words(self, words: Iterable[str]) -> "SentenceEvidence":
        """Adds texts that may occur in the sentences."""
        return replace(self, text=_TEXT_SEPARATOR.join((self.text, *words)))

    @property
    def figure_text(self) -> str:
        """The part of the text that may hold figures: scanning a text for them is slow."""
        return _figure_text_in(self.text, self.question)

    def holds_whole_text(self, text: str) -> bool:
        """Whether one of the texts is `text`, as the label of a field is; both as `fold_text` makes them."""
        return any(fold_text(part) == text for part in self.text.split(_TEXT_SEPARATOR))

    def _holds_number(self, number: float) -> bool:
        return any(_is_equal(number, known) for known in self.numbers)


@lru_cache(maxsize=_MAX_RECENT_TEXTS)
def _figure_text_in(text: str, question: str) -> str:
    """Remembered for recent texts, since each sentence of a leg is checked against the same one."""
    parts = (*text.split(_TEXT_SEPARATOR), question)
    return _TEXT_SEPARATOR.join(part for part in parts if _DIGIT.search(part) is not None)


def _shown_numbers_of(figure: DerivedFigure) -> Iterator[float]:
    """Yields the number, and a percentage also with one decimal, as sentences say it: −8% for −8.016%."""
    number = compute_derived_figure(figure)
    if number is not None:
        yield number
        if figure.kind is DerivationKind.CHANGE_PERCENT:
            yield round(number, 1)


def join_evidence(parts: Iterable[SentenceEvidence]) -> SentenceEvidence:
    """The evidence for sentences about several legs."""
    all_parts = tuple(parts)
    return SentenceEvidence(
        numbers=frozenset[float]().union(*(part.numbers for part in all_parts)),
        text=_TEXT_SEPARATOR.join(part.text for part in all_parts),
        question=" ".join(part.question for part in all_parts),
        empty_counts=sum(part.empty_counts for part in all_parts),
        absent_words=frozenset[str]().union(*(part.absent_words for part in all_parts)),
    )


def collect_leg_evidence(facts: LegFacts, review: LegReview, result_count: int | None = None) -> SentenceEvidence:
    """Collects what the facts and the review of a leg hold, however they are nested.

    `result_count`: the count of the leg's result. It is zero, too, where the found documents have vanished meanwhile.
    """
    schemas = review.question_context.schemas
    own_schemas = [schemas[bucket] for bucket in review.leg.search.buckets if bucket in schemas]
    collector = _EvidenceCollector(counts_members=True)
    collector.add(facts)
    collector.counts_members = False
    for source in (
        review.count,
        missing_counts_of(review),
        review.unstated_values,
        review.leg.search,
        review.alternatives,
        review.ignored_words,
        own_schemas,
    ):
        collector.add(cast(object, source))
    for unstated in review.unstated_values:
        collector.add_unstated_values(unstated, review.count)
    collector.add(min(review.count, SHOWN_DOCUMENTS))
    return SentenceEvidence(
        numbers=frozenset(collector.numbers),
        text=_TEXT_SEPARATOR.join(collector.texts),
        question=review.leg.question,
        empty_counts=collector.empty_counts + (0 in (review.count, result_count)),
        absent_words=frozenset(collector.absent_words),
    )


class _EvidenceCollector:
    """Walks nested values and gathers their numbers and strings."""

    def __init__(self, *, counts_members: bool) -> None:
        self.counts_members = counts_members  # the number of members of a sequence is a number, too
        self.numbers: set[float] = set()
        self.texts: dict[str, None] = {}
        self.empty_counts = 0
        self.absent_words: set[str] = set()
        self._characters = 0

    def add(self, value: object) -> None:
        """Adds the numbers and strings of a value. Functions and other objects hold none."""
        if value is None or value is True or value is False:
            return
        if type(value) is str:  # most of what records hold
            self._add_text(value)
            return
        match value:
            case Enum():
                self._add_text(str(value.value))
            case str():
                self._add_text(value)
            case int() | float() | Decimal():
                self.numbers.add(float(value))
            case Schema():
                self._add_schema(value)
            case SchemaField():
                self._add_field(value)
            case Document():  # its text is not evidence, only what is quoted of it
                self._add_text(value.title)
                self.add(value.values)
            case ComparisonCondition(value=tuple(values)) if len(values) > NAMED_VALUES:
                self.numbers.add(float(len(values) - NAMED_VALUES))  # "Acme, Globex, Initech or 2 more"
                self._add_members(value)
            case OrCondition(members) if len(members) > NAMED_VALUES:
                self.numbers.add(float(len(members) - NAMED_VALUES))  # "“rim”, “tyre” or 5 other words"
                self._add_members(value)
            case _:
                self._add_members(value)

    def add_unstated_values(self, unstated: UnstatedValues, count: int) -> None:
        """Adds the documents that state a value, and those beside the `count` of the set."""
        self.empty_counts += unstated.decided_count == 0
        self.numbers |= {float(unstated.decided_count), float(unstated.total - count)}

    def _add_members(self, value: object) -> None:
        names = _member_names_of(type(value))
        if names:
            for name in names:
                self._add_named_member(name, getattr(value, name))
        elif isinstance(value, (tuple, list, Set)):
            members = cast(tuple[object, ...], value)
            if self.counts_members:
                self.numbers.add(float(len(members)))
            for member in _limit_records(members):
                self.add(member)
        elif isinstance(value, Mapping):
            for key, member in cast(Mapping[object, object], value).items():
                self.add(key)
                self.add(member)

    def _add_named_member(self, name: str, member: object) -> None:
        self.add(member)
        if member == 0 and isinstance(member, int) and (name == "count" or name.endswith("_count")):
            self.empty_counts += 1
        if name in _ABSENT_WORD_MEMBERS and isinstance(member, tuple):
            self.absent_words |= {str(word).casefold() for word in cast(tuple[object, ...], member)}

    def _add_schema(self, schema: Schema) -> None:
        for text in (schema.bucket, schema.title, schema.item, *schema.synonyms):
            self._add_text(text)
        for field in schema.fields:
            self._add_field(field)

    def _add_field(self, field: SchemaField) -> None:
        self._add_text(evidence_text_of_field(field))
        for column in field.columns:
            self._add_field(column)

    def _add_text(self, text: str) -> None:
        if text and text not in self.texts and self._characters < _MAX_TEXT_CHARACTERS:
            self.texts[text] = None
            self._characters += len(text)


@cache
def _member_names_of(kind: type) -> tuple[str, ...]:
    """The names of the members of a dataclass; none for another type."""
    return tuple(member.name for member in fields(kind)) if is_dataclass(kind) else ()


def evidence_text_of_field(field: SchemaField) -> str:
    """The names of the field, its unit as sentences write it, and its currency."""
    unit = field.unit
    for written, shown in _SHOWN_UNITS:
        unit = unit.replace(written, shown)
    words = (field.label, field.name, unit, field.currency, *field.plain_synonyms)
    return _TEXT_SEPARATOR.join(filter(None, words))


def _limit_records(values: Iterable[object]) -> Iterator[object]:
    """Yields the members, of documents only the first: sets may hold a million."""
    records = 0
    for value in values:
        records += isinstance(value, DocumentRecord)
        if records > _MAX_RECORDS:
            return
        yield value


def _is_equal(number: float, other: float) -> bool:
    return abs(number - other) <= 1e-9 * max(1.0, abs(number))

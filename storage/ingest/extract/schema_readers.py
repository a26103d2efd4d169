"""The readers of a schema: each field is read by its type and its words, without a model."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from typing import cast

from storage.ingest.extract.candidates import CandidatesByField, ValueCandidate
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.extraction_targets import ExtractionTarget, targets_of
from storage.ingest.extract.field_patterns import label_phrases_of
from storage.ingest.extract.fields import categories, dates, flags, names
from storage.ingest.extract.fields.amounts import currency_candidates, money_candidates
from storage.ingest.extract.fields.categories import category_words_of
from storage.ingest.extract.fields.clauses import ClausePatterns, clause_patterns_by_value, clause_patterns_of
from storage.ingest.extract.fields.durations import duration_candidates
from storage.ingest.extract.fields.form_values import FormReader, label_keys_of, rule_out_others, taken_spans_beside
from storage.ingest.extract.fields.governing_law import governing_law_candidates
from storage.ingest.extract.fields.labelled_values import written_values_after
from storage.ingest.extract.fields.numbers import number_candidates
from storage.ingest.extract.fields.rows import RowColumns, row_candidates, row_columns_of
from storage.ingest.extract.fields.sentence_values import SentenceReader
from storage.ingest.extract.fields.term_ends import find_term_ends
from storage.ingest.extract.labels.find_labels import find_labelled_texts, find_written_labels
from storage.ingest.extract.labels.labelled_readers import LabelledReaders
from storage.ingest.extract.labels.labelled_texts import LabelledText
from storage.ingest.work_budget import check_work
from storage.quantities.days import find_dates
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema, SchemaField

FieldReader = Callable[[DocumentText], Iterable[ValueCandidate]]
_MAX_CANDIDATES = 200  # of one field
_TERM_START_CONCEPTS = ("effective date", "agreement date")  # a term starts on one of these
_MAX_SCALAR_CANDIDATES = 5  # of a scalar field
_MEASURED_TYPES = frozenset({FieldType.NUMBER, FieldType.MONEY, FieldType.DATE})
_NUMBER_WORDS = frozenset("no nr number id code reference ref identifier nummer kennung numero".split())
_MIN_START_CONFIDENCE = 0.5  # of the day that a term starts on
_MAX_SENTENCE_CHARACTERS = 20_000  # of a text whose sentences name the fields of a plain schema
_LIST_END = re.compile(r"[|\t]|\s{3,}|\.\s")
_MIN_MEMBER_CONFIDENCE = 0.35  # of a list; members below are dropped


@dataclass(frozen=True, slots=True)
class _DerivedField:
    """A field whose value follows from the value of a date field."""

    field: SchemaField
    source_field: FieldName


class SchemaReaders:
    """The compiled readers of one schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._labelled_readers = LabelledReaders(schema)
        labelled_names = self._labelled_readers.field_names
        targets = [target for target in targets_of(schema) if target.field.name not in labelled_names]
        self._date_targets = [target for target in targets if target.field.type is FieldType.DATE]
        self._currency_fields = {target.field.currency_field for target in targets if target.field.currency_field}
        self._term_targets = [target for target in self._date_targets if target.concept and target.concept.term_pattern]
        self._term_start_fields = [
            target.field.name
            for concept in _TERM_START_CONCEPTS
            for target in self._date_targets
            if _has_concept(target, concept)
        ]
        self._derived_fields = [derived for target in targets if (derived := self._derived_field_for(target))]
        derived_names = {derived.field.name for derived in self._derived_fields}
        self._form_reader = FormReader([target for target in targets if target.field.name not in derived_names])
        self._measured_names = {target.field.name for target in targets if target.field.type in _MEASURED_TYPES}
        phrases = Counter(phrase for target in targets for phrase in label_phrases_of(target.field))
        shared = {phrase for phrase, count in phrases.items() if count > 1}
        self._sentence_readers = {
            target.field.name: reader
            for target in targets
            if (reader := SentenceReader.for_target(target, shared)) is not None
        }
        self._field_readers = [
            (target.field, self._reader_for(target)) for target in targets if target.field.name not in derived_names
        ]

    def read_document(self, document: DocumentText) -> CandidatesByField:
        has_labelled_fields = bool(self._labelled_readers.field_names)
        labelled_texts = (find_labelled_texts if has_labelled_fields else find_written_labels)(document)
        labelled = self._read_form(document, labelled_texts)
        label_keys = self._form_reader.keys | label_keys_of(labelled_texts)
        candidates_by_field = dict[FieldName, Sequence[ValueCandidate]]()
        for field, reader in self._field_readers:
            check_work()
            own = labelled.get(field.name, ())
            found = chain(self._read_sentences(document, field, own), islice(reader(document), _MAX_CANDIDATES))
            others = rule_out_others(
                found,
                own,
                label_keys if _has_free_words(field) else frozenset(),
                taken_spans_beside(field.name, labelled, self._measured_names),
            )
            candidates_by_field[field.name] = _rank_candidates(field, (*own, *others))
        for target in self._term_targets:
            starts = (candidates_by_field.get(name) for name in self._term_start_fields)
            known = (candidates[0] for candidates in starts if candidates)
            start = next((start for start in known if start.confidence >= _MIN_START_CONFIDENCE), None)
            later = (
                candidate
                for candidate in candidates_by_field[target.field.name]
                if not start or str(candidate.value) > str(start.value)
            )
            ends = (*later, *find_term_ends(document, target, start))
            candidates_by_field[target.field.name] = _rank_candidates(target.field, ends)
        for derived in self._derived_fields:
            days = candidates_by_field.get(derived.source_field, ())
            candidates_by_field[derived.field.name] = tuple(_date_part_of(day, derived.field) for day in days)
        for name, candidates in self._labelled_readers.read_document(document, labelled_texts).items():
            candidates_by_field[name] = _rank_candidates(self._schema.by_name[name], candidates)
        return {name: candidates for name, candidates in candidates_by_field.items() if candidates}

    def _read_sentences(
        self, document: DocumentText, field: SchemaField, labelled: Sequence[ValueCandidate]
    ) -> Iterator[ValueCandidate]:
        """The values in sentences, where no label gives one."""
        reader = self._sentence_readers.get(field.name)
        if reader is not None and not labelled and len(document.text) <= _MAX_SENTENCE_CHARACTERS:
            day_first = _detect_day_first(document) if field.type is FieldType.DATE else None
            yield from reader.find_candidates(document, day_first=day_first)

    def _read_form(
        self, document: DocumentText, labelled_texts: Sequence[LabelledText]
    ) -> Mapping[FieldName, Sequence[ValueCandidate]]:
        if not self._form_reader.has_fields:
            return {}
        day_first = _detect_day_first(document) if self._date_targets else None
        return self._form_reader.read_document(document, labelled_texts, day_first=day_first)

    def _derived_field_for(self, target: ExtractionTarget) -> _DerivedField | None:
        concept = target.concept
        if concept is None or concept.derived_from != "date" or not self._date_targets:
            return None
        description = target.field.description.casefold()
        named = [other for other in self._date_targets if other.field.label.casefold() in description]
        main = [
            other
            for other in self._date_targets
            if other.concept and other.concept.name in ("agreement date", "purchase date")
        ]
        return _DerivedField(target.field, (named or main or self._date_targets)[0].field.name)

    def _reader_for(self, target: ExtractionTarget) -> FieldReader:
        match target.field.type:
            case FieldType.NUMBER:
                return _number_reader_for(target)
            case FieldType.MONEY:
                return lambda document: money_candidates(document, target)
            case FieldType.DATE:
                is_only = all(
                    other is target or _has_concept(other, "payment due date") for other in self._date_targets
                ) and (len(self._date_targets) == 1 or not _has_concept(target, "payment due date"))
                return lambda document: dates.date_candidates(
                    document, target, day_first=_detect_day_first(document), is_only_date_field=is_only
                )
            case FieldType.CATEGORY | FieldType.TEXT:
                return self._text_reader_for(target)
            case FieldType.FLAG if _has_concept(target, "payment mark"):
                return flags.payment_mark_candidates
            case FieldType.FLAG:
                clauses = clause_patterns_of(target.field)
                return lambda document: flags.flag_candidates(document, target, clauses)
            case FieldType.LIST:
                return _list_reader_for(target)
            case FieldType.ROWS:
                columns: RowColumns = row_columns_of(target.field)
                return lambda document: row_candidates(document, columns)

    def _text_reader_for(self, target: ExtractionTarget) -> FieldReader:
        if target.field.name in self._currency_fields:
            return currency_candidates
        category_words, concept = category_words_of(target.field), target.concept
        position = concept.position if concept else ""

        names_number = not _NUMBER_WORDS.isdisjoint(" ".join(label_phrases_of(target.field)).split())

        def read_text_field(document: DocumentText) -> Iterator[ValueCandidate]:
            if category_words:
                yield from categories.listed_value_candidates(document, target, category_words)
                return
            if concept and concept.name == "governing law":
                yield from map(_as_scalar_candidate, governing_law_candidates(document, target, None))
            if concept and concept.sentence_pattern and concept.adjacent_pattern:
                yield from duration_candidates(document, target)
                return
            yield from categories.written_value_candidates(document, target)
            if target.own_label_pattern:
                yield from names.role_candidates(document, target.own_label_pattern)
            if concept and concept.value_pattern:
                yield from categories.shaped_value_candidates(document, concept.value_pattern)
            if position == "title" or (concept and concept.name == "seller"):
                yield from names.title_candidates(
                    document, self._schema, cut_at_values=position == "title", names_number=names_number
                )
            if position == "heading":
                yield from names.heading_candidates(document)
            if position == "head":
                yield from names.head_name_candidates(document)

        return read_text_field


def _has_free_words(field: SchemaField) -> bool:
    return field.type is FieldType.CATEGORY and not field.values


def _has_concept(target: ExtractionTarget, concept: str) -> bool:
    return target.concept is not None and target.concept.name == concept


def _number_reader_for(target: ExtractionTarget) -> FieldReader:
    if target.concept and target.concept.name == "page count":
        return _page_count_candidates
    return lambda document: number_candidates(document, target)


def _page_count_candidates(document: DocumentText) -> list[ValueCandidate]:
    pages = document.last_page
    return [ValueCandidate(value=float(pages), confidence=0.95)] if pages else []


def _list_reader_for(target: ExtractionTarget) -> FieldReader:
    concept = target.concept
    if concept and concept.name == "parties":
        return names.party_candidates
    if concept and concept.name == "governing law":
        category_words = category_words_of(target.field)
        return lambda document: governing_law_candidates(document, target, category_words)
    clauses_by_value = clause_patterns_by_value(target.field)
    if clauses_by_value:
        return lambda document: _clause_candidates(document, clauses_by_value)
    return lambda document: _member_candidates(document, target)


def _clause_candidates(
    document: DocumentText, clauses_by_value: Mapping[str, ClausePatterns]
) -> Iterator[ValueCandidate]:
    for value, clauses in clauses_by_value.items():
        for match in clauses.find_matches(document):
            yield ValueCandidate(value=(value,), confidence=match.confidence, start=match.start, end=match.end)


def _member_candidates(document: DocumentText, target: ExtractionTarget) -> Iterator[ValueCandidate]:
    """The members in `Tags: red, green; blue`."""
    for _, span in written_values_after(document, target):
        line = document.line_at(span.start)
        list_end = _LIST_END.search(document.text, span.start, line.end)
        text = document.text[span.start : list_end.start() if list_end else line.end]
        for member in text.rstrip(". ").replace(";", ",").split(","):
            if member.strip():
                confidence = span.confidence - 0.15
                yield ValueCandidate(value=(member.strip(),), confidence=confidence, start=span.start, end=span.end)
        return


def _as_scalar_candidate(candidate: ValueCandidate) -> ValueCandidate:
    member = cast(tuple[str, ...], candidate.value)[0]
    return replace(candidate, value=member)


def _date_part_of(day: ValueCandidate, field: SchemaField) -> ValueCandidate:
    iso = str(day.value)
    is_month = field.type is not FieldType.NUMBER
    value = iso[:7] if is_month else float(iso[:4])
    return replace(day, value=value)


@lru_cache(maxsize=4)
def _detect_day_first(document: DocumentText) -> bool | None:
    """Whether dates in digits begin with the day: by the first unambiguous date, else by the document's currency."""
    for day in find_dates(document.folded, 0, 20_000):
        digits = document.folded[day.start : day.end].replace("/", "-").replace(".", "-").split("-")
        if day.is_unambiguous and len(digits) == 3 and digits[0].strip().isdigit() and len(digits[0].strip()) <= 2:
            return int(digits[0]) > 12
    best = max(currency_candidates(document), key=lambda candidate: candidate.confidence, default=None)
    return False if best is not None and best.value == "USD" else None


def _rank_candidates(field: SchemaField, candidates: Iterable[ValueCandidate]) -> Sequence[ValueCandidate]:
    """Most confident first, each value once, of equal ones the first in the text."""
    best = dict[str, ValueCandidate]()
    if field.type is FieldType.ROWS:
        return tuple(candidates)
    for candidate in candidates:
        key = repr(candidate.value)
        previous = best.get(key)
        adds_evidence = previous is not None and previous.start is None and candidate.start is not None
        if previous is None or candidate.confidence > previous.confidence or adds_evidence:
            best[key] = _merge_candidates(candidate, previous)
    ranked = sorted(best.values(), key=lambda candidate: -candidate.confidence)
    if field.type is FieldType.LIST:
        return tuple(candidate for candidate in ranked if candidate.confidence >= _MIN_MEMBER_CONFIDENCE)
    return tuple(ranked[:_MAX_SCALAR_CANDIDATES])


def _merge_candidates(candidate: ValueCandidate, previous: ValueCandidate | None) -> ValueCandidate:
    """The candidate with the evidence of either and the higher confidence."""
    if previous is None or candidate.start is not None:
        confidence = max(candidate.confidence, previous.confidence if previous else 0.0)
        return replace(candidate, confidence=confidence)
    return replace(candidate, start=previous.start, end=previous.end)

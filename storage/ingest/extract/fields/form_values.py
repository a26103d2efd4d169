"""Values of labelled lines and cells, for fields that a schema describes by its words: `Technician:    M. Osei`.

Unlike a search for the words anywhere, this reads a line as a form: what appears beside a label is its value as a
whole.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import cast

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.document_text import DocumentText, TextSpan, fold_characters
from storage.ingest.extract.extraction_targets import ExtractionTarget
from storage.ingest.extract.field_patterns import label_phrases_of, words_of_phrase
from storage.ingest.extract.fields.durations import duration_value_in
from storage.ingest.extract.fields.numbers import is_rating_field
from storage.ingest.extract.labels.labelled_texts import LabelForm, LabelledText
from storage.ingest.extract.labels.plain_values import plain_value_of
from storage.ingest.extract.labels.value_members import members_of
from storage.ingest.schemas.literals import is_missing_value
from storage.quantities.days import find_dates
from storage.quantities.money import parse_amount, parse_money
from storage.quantities.numbers import detect_decimal_comma, parse_number
from storage.quantities.units import convert_to_double, find_quantities, parse_quantity
from storage.search.documents import FieldValue
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField

_CONFIDENCE_BY_FORM = {
    LabelForm.COLON: 0.95,
    LabelForm.TABLE: 0.95,
    LabelForm.LEADER: 0.93,
    LabelForm.DASH: 0.88,
    LabelForm.PLAIN: 0.8,
    LabelForm.BLOCK: 0.85,
}
_WEAK_FORMS = frozenset({LabelForm.DASH, LabelForm.PLAIN, LabelForm.BLOCK})
_SYNONYM_PENALTY, _CONCEPT_PENALTY = 0.03, 0.08
_DISPUTED_CONFIDENCE, _OTHER_CONFIDENCE = 0.6, 0.4  # of the first of several values of a label, and of the others
_LABEL_CONFIDENCE = 0.3  # of a value that is itself a label of the document
_UNKNOWN_UNIT_PENALTY, _OTHER_UNIT_PENALTY, _AMBIGUOUS_PENALTY = 0.25, 0.1, 0.2
_MIN_DECISIVE_CONFIDENCE = 0.8  # from here on a labelled value rules out what stands elsewhere
_RULED_OUT_CONFIDENCE = 0.4
_MAX_CATEGORY_CHARACTERS, _MAX_LABEL_CHARACTERS = 80, 50
_BRACKETED = re.compile(r"\([^()]{0,30}\)|\[[^\[\]]{0,30}\]")
_NUMBER_WORDS = frozenset({"no", "nr", "number", "num", "nummer", "numero"})
_LEADING_WORDS = frozenset("the your our this der die das le la les el los".split())
_AMBIGUOUS_DIGITS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}[.,]\d{3}(?![\d.,])")
_MAX_LEAD_CHARACTERS = 12  # before a number or a day in a labelled text: `max.`, `approx.`, a weekday
_FORM_TYPES = frozenset(
    {FieldType.NUMBER, FieldType.MONEY, FieldType.DATE, FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST}
)
_MAX_TAKEN_CHARACTERS = 100  # of a label and value that belong to one field
_OTHER_CONCEPTS = frozenset({"page count"})
_TOTAL_CONFIDENCE = 0.78  # at most: of several labels for totals, payments decide
_MARKS = ' \t*_`"“”;,|'


def form_key_of(label: str) -> str:
    """The words of a label, equal for its spellings: `Order No. (internal)`, `Your order number`."""
    words = [
        "no" if word in _NUMBER_WORDS else word
        for word in words_of_phrase(_BRACKETED.sub(" ", label.replace("°", "o ")))
    ]
    return " ".join(words[1:] if len(words) > 1 and words[0] in _LEADING_WORDS else words)


@dataclass(frozen=True, slots=True)
class _FormField:
    target: ExtractionTarget
    rank_by_key: Mapping[str, int]  # 0: the field's name, 1: a synonym, 2: a word of its concept


@dataclass(frozen=True, slots=True)
class _FormValue:
    value: FieldValue
    confidence: float


class FormReader:
    """Reads the labelled texts of documents for the fields of one schema."""

    def __init__(self, targets: Sequence[ExtractionTarget]) -> None:
        self._fields = [_FormField(target, keys) for target, keys in _keys_of(targets) if keys]
        self._keys = frozenset(key for field in self._fields for key in field.rank_by_key)

    @property
    def has_fields(self) -> bool:
        return bool(self._fields)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the labels of all fields."""
        return self._keys

    def read_document(
        self, document: DocumentText, texts: Sequence[LabelledText], *, day_first: bool | None
    ) -> Mapping[FieldName, Sequence[ValueCandidate]]:
        """The candidates of each field that a labelled text gives, most confident first."""
        by_key = dict[str, list[LabelledText]]()
        for labelled in (*texts, *self._texts_below_labels(document)):
            if labelled.form in _CONFIDENCE_BY_FORM:
                by_key.setdefault(_known_key(form_key_of(labelled.label), self._keys), []).append(labelled)
        label_keys = self._keys | by_key.keys()
        found = {
            field.target.field.name: list(_candidates_of(document, field, by_key, label_keys, day_first))
            for field in self._fields
        }
        return {name: candidates for name, candidates in found.items() if candidates}

    def _texts_below_labels(self, document: DocumentText) -> Iterator[LabelledText]:
        """Values below a line that is a label of the schema."""
        for line in document.lines_from():
            if not 2 <= line.end - line.start <= _MAX_LABEL_CHARACTERS:
                continue
            label = document.text[line.start : line.end].strip(" #*_-:\t")
            if not label or _known_key(form_key_of(label), self._keys) not in self._keys:
                continue
            below = document.next_filled_line(line.start)
            if below is not None and below.end - below.start <= _MAX_CATEGORY_CHARACTERS:
                text = document.text[below.start : below.end].strip(_MARKS)
                if ":" not in text and "|" not in text and "  " not in text:
                    span = TextSpan(line.start, below.end)
                    yield LabelledText(label=label, text=text, start=span.start, end=span.end, form=LabelForm.BLOCK)


def label_keys_of(texts: Iterable[LabelledText]) -> frozenset[str]:
    """The keys of the labels that a document writes with a mark of their own."""
    return frozenset(form_key_of(labelled.label) for labelled in texts if labelled.form not in _WEAK_FORMS)


def rule_out_others(
    candidates: Iterable[ValueCandidate],
    labelled: Sequence[ValueCandidate],
    label_keys: Set[str],
    taken_spans: Sequence[TextSpan] = (),
) -> Iterator[ValueCandidate]:
    """The candidates from elsewhere, doubtful where a labelled text gives the field another value, where the value is
    itself a label, and where it appears beside the label of another field (`taken_spans`).
    """
    is_decided = bool(labelled) and labelled[0].confidence >= _MIN_DECISIVE_CONFIDENCE
    for candidate in candidates:
        if (
            isinstance(candidate.value, str)
            and candidate.start is not None
            and form_key_of(candidate.value) in label_keys
        ):
            yield replace(candidate, confidence=min(candidate.confidence, _LABEL_CONFIDENCE))
        elif any(_is_within(candidate, span) for span in taken_spans) or (
            is_decided and candidate.value != labelled[0].value
        ):
            yield replace(candidate, confidence=min(candidate.confidence, _RULED_OUT_CONFIDENCE))
        else:
            yield candidate


def taken_spans_beside(
    name: FieldName, labelled: Mapping[FieldName, Sequence[ValueCandidate]], measured_names: Set[FieldName]
) -> list[TextSpan]:
    """Where the labelled numbers, amounts and days of other fields than `name` stand."""
    if name not in measured_names:
        return []
    return [
        TextSpan(best.start, best.end)
        for other in measured_names & labelled.keys()
        if other != name
        and (best := labelled[other][0]).confidence >= _MIN_DECISIVE_CONFIDENCE
        and best.start is not None
        and best.end is not None
        and best.end - best.start <= _MAX_TAKEN_CHARACTERS
    ]


def _is_within(candidate: ValueCandidate, span: TextSpan) -> bool:
    return (
        candidate.start is not None
        and candidate.end is not None
        and span.start <= candidate.start
        and candidate.end <= span.end
    )


def _keys_of(targets: Sequence[ExtractionTarget]) -> Iterator[tuple[ExtractionTarget, Mapping[str, int]]]:
    """The keys of each field; a key that several fields have counts for the field that it names, else for none."""
    ranks_by_field = [(target, _ranks_of(target)) for target in targets]
    holders = Counter((key, rank) for _, ranks in ranks_by_field for key, rank in ranks.items())
    best = dict[str, int]()
    for key, rank in holders:
        best[key] = min(rank, best.get(key, rank))
    for target, ranks in ranks_by_field:
        yield target, {key: rank for key, rank in ranks.items() if rank == best[key] and holders[key, rank] == 1}


def _ranks_of(target: ExtractionTarget) -> dict[str, int]:
    field, concept = target.field, target.concept
    if field.type not in _FORM_TYPES or (concept is not None and concept.name in _OTHER_CONCEPTS):
        return {}
    if field.type is FieldType.LIST and (concept is not None or field.values):
        return {}  # found in sentences, by the words of each value
    ranks = dict[str, int]()
    concept_labels = concept.labels if concept is not None and field.type is not FieldType.MONEY else ()
    names = (field.title, field.name.replace("_", " "))
    for rank, phrases in enumerate((names, label_phrases_of(field), concept_labels)):
        for phrase in phrases:
            if key := form_key_of(phrase):
                ranks.setdefault(key, rank)
    return ranks


def _known_key(key: str, keys: frozenset[str]) -> str:
    """The key as the schema has it: without the plural."""
    return key if key in keys else next((form for form in (key.removesuffix("s"), f"{key}s") if form in keys), key)


def _candidates_of(
    document: DocumentText,
    field: _FormField,
    texts_by_key: Mapping[str, Sequence[LabelledText]],
    label_keys: frozenset[str],
    day_first: bool | None,
) -> Iterator[ValueCandidate]:
    """The values of the field's own name, else of a synonym, else of a word of its concept."""
    by_rank: Mapping[int, list[LabelledText]] = {
        rank: [text for key, of in field.rank_by_key.items() if of == rank for text in texts_by_key.get(key, ())]
        for rank in (0, 1, 2)
    }
    is_decided = False
    is_total = field.target.concept is not None and field.target.concept.name == "total"
    for rank, texts in by_rank.items():
        penalty = (0.0, _SYNONYM_PENALTY, _CONCEPT_PENALTY)[rank]
        distinct = dict[str, ValueCandidate]()
        for labelled in sorted(texts, key=lambda text: text.start or 0):
            for value in _values_of(document, field.target.field, labelled, day_first):
                is_label = isinstance(value.value, str) and form_key_of(value.value) in label_keys
                confidence = _LABEL_CONFIDENCE if is_label else value.confidence - penalty
                candidate = ValueCandidate(
                    value=value.value, confidence=confidence, start=labelled.start, end=labelled.end
                )
                previous = distinct.get(repr(value.value))
                if previous is None or previous.confidence < confidence:
                    distinct[repr(value.value)] = candidate
        ranked = sorted(distinct.values(), key=lambda candidate: candidate.confidence < _DISPUTED_CONFIDENCE)
        is_list = field.target.field.type is FieldType.LIST
        for number, candidate in enumerate(ranked):
            limit = _TOTAL_CONFIDENCE if is_total else 1.0
            if not is_list and (is_decided or number):
                limit = min(limit, _OTHER_CONFIDENCE)
            elif not is_list and len(ranked) > 1 and ranked[1].confidence > _DISPUTED_CONFIDENCE:
                limit = _DISPUTED_CONFIDENCE
            yield replace(candidate, confidence=min(candidate.confidence, limit))
        is_decided = is_decided or any(candidate.confidence > _DISPUTED_CONFIDENCE for candidate in ranked)


def _values_of(
    document: DocumentText, field: SchemaField, labelled: LabelledText, day_first: bool | None
) -> Iterator[_FormValue]:
    text, confidence = labelled.text.strip(_MARKS), _CONFIDENCE_BY_FORM[labelled.form]
    if not text or is_missing_value(text):
        return
    value: _FormValue | None = None
    match field.type:
        case FieldType.DATE:
            value = read_day(text, confidence, day_first)
        case FieldType.MONEY:
            value = read_amount(document, field, text, confidence)
        case FieldType.NUMBER:
            value = read_number(document, field, text, confidence)
            if value is not None and is_rating_field(field):
                value = _FormValue(abs(cast(float, value.value)), value.confidence)
        case FieldType.LIST:
            for member in labelled.items or members_of(text.replace(";", ",")):
                yield _FormValue(cast(FieldValue, (member,)), confidence - 0.05)
        case _:
            value = _read_words(field, text, confidence)
    if value is not None:
        yield value


def _read_words(field: SchemaField, text: str, confidence: float) -> _FormValue | None:
    words = plain_value_of(text) if not any(c.isdigit() for c in text) else text.rstrip(".")
    is_short = len(words) <= _MAX_CATEGORY_CHARACTERS or field.type is FieldType.TEXT
    return _FormValue(words, confidence) if words and is_short and not field.values else None


def read_day(text: str, confidence: float, day_first: bool | None) -> _FormValue | None:
    """The first day of the text, where little appears before it."""
    days = find_dates(fold_characters(text), day_first=day_first)
    if not days or days[0].start > _MAX_LEAD_CHARACTERS:
        return None
    return _FormValue(days[0].iso, confidence - _OTHER_UNIT_PENALTY * (not days[0].is_unambiguous))


def read_amount(document: DocumentText, field: SchemaField, text: str, confidence: float) -> _FormValue | None:
    """The amount that the text is, or begins with, read with the document's own decimal mark."""
    has_comma = document.decimal_comma
    has_comma = detect_decimal_comma(text) if has_comma is None else has_comma
    plain = plain_value_of(text)
    money = parse_money(plain, decimal_comma=has_comma)
    if money is not None and field.currency and money.currency != field.currency:
        return None
    amount = money.amount if money else parse_amount(plain, field.currency, decimal_comma=has_comma)
    if amount is None:
        return None
    is_ambiguous = has_comma is None and _AMBIGUOUS_DIGITS.search(text) is not None
    return _FormValue(float(amount), confidence - _AMBIGUOUS_PENALTY * is_ambiguous)


def read_number(document: DocumentText, field: SchemaField, text: str, confidence: float) -> _FormValue | None:
    """The number that the text is, or begins with, in the unit of the field."""
    if (days := duration_value_in(text, field.unit)) is not None:
        return _FormValue(days, confidence)
    has_comma = document.decimal_comma
    plain = plain_value_of(text)
    if quantity := parse_quantity(plain, decimal_comma=has_comma):
        number, unit = quantity.number, quantity.unit
    elif (whole := parse_number(plain, decimal_comma=has_comma)) is not None:
        number, unit = whole, ""
    else:
        span = next(find_quantities(text, 0, len(text), decimal_comma=has_comma), None)
        if span is None or span.start > _MAX_LEAD_CHARACTERS:
            return None
        if field.unit and not span.unit and text[span.end :].lstrip()[:1].isalpha():
            return None  # of a unit that is not known
        number, unit = span.number, span.unit
    if unit and field.unit:
        converted = convert_to_double(number, unit, field.unit)
        return _FormValue(converted, confidence) if converted is not None else None
    penalty = _UNKNOWN_UNIT_PENALTY * bool(field.unit) + _OTHER_UNIT_PENALTY * bool(unit)
    is_ambiguous = has_comma is None and _AMBIGUOUS_DIGITS.search(text) is not None
    return _FormValue(float(number), confidence - penalty - _AMBIGUOUS_PENALTY * is_ambiguous)

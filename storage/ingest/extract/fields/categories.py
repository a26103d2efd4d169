"""Category fields: the values that the schema lists, found by their words; else the text beside the label."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.concepts import words_by_kind
from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.extraction_targets import ExtractionTarget
from storage.ingest.extract.field_patterns import phrase_pattern_of, words_of_phrase
from storage.ingest.extract.fields.labelled_values import find_field_labels, value_spans_after, written_values_after
from storage.search.schema import SchemaField

_SEGMENT_BOUNDARY = re.compile(r"[,;\n|]|\.\s|\s{3,}")
_MAX_VALUE_CHARACTERS = 80  # of a value beside its label
_MAX_SHAPED_CHARACTERS = 28
_HEAD_CHARACTERS = 1_500
_MIN_WORD_CHARACTERS = 3  # of a word that gives a value without a label
_MAX_COUNTED_WORDS = 400  # in one document


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryWords:
    """The words of a field's values, as one pattern."""

    pattern: re.Pattern[str]
    value_of: Mapping[str, str]  # words with blanks between -> value


def category_words_of(field: SchemaField) -> CategoryWords | None:
    """The words of a field's listed values; None for a field without listed values."""
    value_of = dict[str, str]()
    for value, synonyms in field.values.items():
        for phrase in (value, *synonyms):
            if words := words_of_phrase(phrase):
                value_of.setdefault(" ".join(words), value)
    if not value_of:
        return None
    for kind, phrases in words_by_kind().items():
        if kind in value_of:
            for phrase in phrases:
                value_of.setdefault(" ".join(words_of_phrase(phrase)), value_of[kind])
    patterns = sorted((_exact_pattern_of(words) for words in value_of), key=len, reverse=True)
    return CategoryWords(pattern=re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})(?![^\W_])"), value_of=value_of)


def _exact_pattern_of(words: str) -> str:
    return phrase_pattern_of(words) if len(words) > 5 else r"[\s_\-./]{0,2}".join(map(re.escape, words.split()))


def listed_value_candidates(
    document: DocumentText, target: ExtractionTarget, category_words: CategoryWords
) -> Iterator[ValueCandidate]:
    """Values beside a label, in the title, and by how many of their words the text has; its head counts double."""
    for label in find_field_labels(document, target, target.own_label_pattern):
        for span in value_spans_after(document, label):
            match = category_words.pattern.search(document.folded, span.start, min(span.end, span.start + 40))
            if match and (value := value_for_words(match[0], category_words)):
                confidence = max(0.55, 0.95 - 0.03 * (match.start() - span.start))
                yield ValueCandidate(value=value, confidence=confidence, start=match.start(), end=match.end())
                break
    for match in category_words.pattern.finditer(document.folded_title):
        if len(match[0]) >= _MIN_WORD_CHARACTERS and (value := value_for_words(match[0], category_words)):
            share = len(match[0]) / max(len(document.folded_title), 1)
            yield ValueCandidate(value=value, confidence=0.8 + 0.1 * share)
    yield from _candidates_by_weight(document, category_words)


def _candidates_by_weight(document: DocumentText, category_words: CategoryWords) -> Iterator[ValueCandidate]:
    weights = dict[str, float]()
    words = dict[str, set[str]]()
    first_spans = dict[str, TextSpan]()
    for count, match in enumerate(category_words.pattern.finditer(document.folded)):
        if count == _MAX_COUNTED_WORDS:
            break
        value = value_for_words(match[0], category_words)
        if value is None or len(match[0]) < _MIN_WORD_CHARACTERS:
            continue
        first_spans.setdefault(value, TextSpan(match.start(), match.end()))
        is_new = match[0] not in words.setdefault(value, set())
        words[value].add(match[0])
        weight = (1.0 if is_new else 0.15) * (2.0 if match.start() < _HEAD_CHARACTERS else 1.0)
        weights[value] = weights.get(value, 0.0) + weight
    total = sum(weights.values())
    for value, weight in weights.items():
        span = first_spans[value]
        share = weight / total
        confidence = 0.3 + 0.45 * share * min(1.0, weight / 2)
        yield ValueCandidate(value=value, confidence=confidence, start=span.start, end=span.end)


def value_for_words(text: str, category_words: CategoryWords) -> str | None:
    """The value that the words stand for; a plural and other blanks are tolerated."""
    words = " ".join(words_of_phrase(text))
    for form in (words, words.removesuffix("s"), words.removesuffix("es"), words.replace(" ", "")):
        if form in category_words.value_of:
            return category_words.value_of[form]
    squeezed = {key.replace(" ", ""): value for key, value in category_words.value_of.items()}
    return squeezed.get(words.replace(" ", ""))


def written_value_candidates(document: DocumentText, target: ExtractionTarget) -> Iterator[ValueCandidate]:
    """The text beside the label, as written."""
    for text, span in written_values_after(document, target):
        if len(text) <= _MAX_VALUE_CHARACTERS:
            yield ValueCandidate(value=text, confidence=span.confidence - 0.15, start=span.start, end=span.end)


def shaped_value_candidates(document: DocumentText, value_pattern: re.Pattern[str]) -> Iterator[ValueCandidate]:
    """Matches of the value pattern: the whole of a short segment that begins with one, else the word itself."""
    for count, match in enumerate(value_pattern.finditer(document.folded)):
        if count == 20:
            return
        segment = _segment_around(document, match.start())
        whole = document.text[segment.start : segment.end]
        if segment.start == match.start() and len(whole) <= _MAX_SHAPED_CHARACTERS:
            yield ValueCandidate(value=whole, confidence=0.8 - 0.01 * count, start=segment.start, end=segment.end)
        else:
            end = match.end()
            while (
                end < len(document.text)
                and (document.text[end].isalnum() or document.text[end] in "-/")
                and end < match.end() + 12
            ):
                end += 1
            yield ValueCandidate(value=document.text[match.start() : end], confidence=0.6, start=match.start(), end=end)


def _segment_around(document: DocumentText, index: int) -> TextSpan:
    start = max(
        (match.end() for match in _SEGMENT_BOUNDARY.finditer(document.text, max(0, index - 120), index)),
        default=max(0, index - 120),
    )
    stop = _SEGMENT_BOUNDARY.search(document.text, index, min(len(document.text), index + 120))
    return document.trim_span(start, stop.start() if stop else min(len(document.text), index + 120))

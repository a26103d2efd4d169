"""Date fields: days after a label, in a phrase, in the title, or the commonest day of the text."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.extraction_targets import ExtractionTarget
from storage.ingest.extract.fields.labelled_values import find_field_labels, value_spans_after
from storage.quantities.days import DateSpan, find_dates

_HEAD_CHARACTERS = 6_000  # where an agreement gives its date
_OPENING_CHARACTERS = 1_500  # searched for a day without a label
_OPENING_CONFIDENCE = 0.6  # the first day of the opening, without a label
_TAIL_CHARACTERS = 2_500  # where documents are signed
_MAX_CLOSING_DATES = 3  # the last days of the tail that are candidates
_LED_CLOSING_CONFIDENCE, _CLOSING_CONFIDENCE = 0.56, 0.5
_BODY_CHARACTERS = 400_000
_FAR_FROM_HEAD_PENALTY = 0.4  # for a label far from the head: a signature, a schedule
_SENTENCE_CHARACTERS = 300  # of a sentence, on one side of a phrase
_OTHER_TOPIC_PENALTY = 0.4  # for a phrase in a sentence about another topic
_SHORT_TEXT_CHARACTERS, _SHORT_TEXT_PENALTY = 5_000, 0.15  # a short text has one topic
_LEAD_CHARACTERS, _NAME_CHARACTERS = 70, 60
_OTHER_DATE_OR_END = re.compile(r"\d{4}|[.;]")
_PERIOD_BOUND_WORDS = re.compile(
    r"(?:terminat|expir|until|through|ending|endet|bis zum|jusqu'au|prend fin|hasta|termina"
    r"|ends?\s+on|formation|incorporated|source:)"
)
_BOUND_CHARACTERS = 30
_BETWEEN_BOUNDS = re.compile(r"[,\s]*(?:to|until|till|through|up to|bis(?: zum)?|au|jusqu'au|al|hasta(?: el)?|-)\s*")
_BOUND_OF_CONCEPT = {"effective date": 0, "expiration date": 1}  # the position in a pair of days
_MIN_TERM_DAYS = 180  # of a period that is the term of a contract, and not that of a price
_PERIOD_CONFIDENCE = 0.75
_UNDERSCORE = re.compile(r"_")


def date_candidates(
    document: DocumentText, target: ExtractionTarget, *, day_first: bool | None, is_only_date_field: bool
) -> Iterator[ValueCandidate]:
    """`is_only_date_field`: the schema has no other date field, so that any day may be its value."""
    position = target.concept.position if target.concept else ""
    if position == "title" or (is_only_date_field and position != "head"):
        yield from _title_date_candidates(document, 0.95)
    yield from _phrase_date_candidates(document, target, day_first)
    for label in find_field_labels(document, target, target.label_pattern):
        exclusion = target.concept.exclusion_pattern if target.concept else None
        line = document.line_at(label.start)
        if exclusion and exclusion.search(document.folded, line.start, label.start):
            continue
        penalty = _FAR_FROM_HEAD_PENALTY * (position == "head" and label.start > _HEAD_CHARACTERS)
        for span in value_spans_after(document, label):
            dates = find_dates(document.folded, span.start, span.end, day_first=day_first)
            if dates and len(document.folded[span.start : dates[0].start].strip()) < 12:
                yield _candidate_of_date(dates[0], span.confidence - penalty)
    if position == "head":
        yield from (_candidate_of_date(span, _OPENING_CONFIDENCE) for span in _opening_dates(document, day_first)[:1])
        if target.concept and target.concept.name == "agreement date":
            yield from _closing_date_candidates(document, target, day_first)
    yield from _period_candidates(document, target, day_first)
    if is_only_date_field:
        yield from _commonest_date_candidates(find_dates(document.folded, 0, 20_000, day_first=day_first))


def _period_candidates(
    document: DocumentText, target: ExtractionTarget, day_first: bool | None
) -> Iterator[ValueCandidate]:
    """The first or the last day of a term: "36 months, *from 1 February 2024 to 31 January 2027*"."""
    bound = _BOUND_OF_CONCEPT.get(target.concept.name) if target.concept else None
    if bound is None:
        return
    days = find_dates(document.folded, 0, _HEAD_CHARACTERS, day_first=day_first)
    for pair in pairwise(days):
        first, last = pair
        is_period = _BETWEEN_BOUNDS.fullmatch(document.folded, first.end, last.start) is not None
        if is_period and (last.day - first.day).days >= _MIN_TERM_DAYS:
            yield _candidate_of_date(pair[bound], _PERIOD_CONFIDENCE)
            return


def _opening_dates(document: DocumentText, day_first: bool | None) -> list[DateSpan]:
    """The days of the opening that do not begin or end a period."""
    return [
        span
        for span in find_dates(document.folded, 0, _OPENING_CHARACTERS, day_first=day_first)
        if not _is_period_bound(document, span)
    ]


def _is_period_bound(document: DocumentText, date_span: DateSpan) -> bool:
    return (
        _PERIOD_BOUND_WORDS.search(document.folded, max(0, date_span.start - _BOUND_CHARACTERS), date_span.start)
        is not None
    )


def _closing_date_candidates(
    document: DocumentText, target: ExtractionTarget, day_first: bool | None
) -> Iterator[ValueCandidate]:
    """The last days beside the signatures; a day that a phrase introduces is more confident."""
    lead_in = target.concept.lead_in_pattern if target.concept else None
    start = max(0, len(document.folded) - _TAIL_CHARACTERS)
    for day in find_dates(document.folded, start, day_first=day_first)[-_MAX_CLOSING_DATES:]:
        lead_start = max(start, day.start - _LEAD_CHARACTERS)
        is_led = lead_in is not None and lead_in.search(document.folded, lead_start, day.start)
        if is_led or not _is_period_bound(document, day):
            yield ValueCandidate(
                value=day.iso,
                confidence=_LED_CLOSING_CONFIDENCE if is_led else _CLOSING_CONFIDENCE,
                start=day.start,
                end=day.end,
            )


def _candidate_of_date(date_span: DateSpan, confidence: float) -> ValueCandidate:
    confidence = confidence if date_span.is_unambiguous else confidence - 0.1
    return ValueCandidate(value=date_span.iso, confidence=confidence, start=date_span.start, end=date_span.end)


def _title_date_candidates(document: DocumentText, confidence: float) -> Iterator[ValueCandidate]:
    for day in find_dates(_UNDERSCORE.sub("-", document.folded_title), day_first=False):
        yield ValueCandidate(value=day.iso, confidence=confidence)


def _phrase_date_candidates(
    document: DocumentText, target: ExtractionTarget, day_first: bool | None
) -> Iterator[ValueCandidate]:
    """Days that a phrase introduces, or that get a name right after."""
    concept = target.concept
    if concept is None or not (concept.lead_in_pattern or concept.following_pattern):
        return
    is_head = concept.position == "head"
    days = find_dates(
        document.folded,
        0,
        min(len(document.folded), _HEAD_CHARACTERS if is_head else _BODY_CHARACTERS),
        day_first=day_first,
    )
    for rank, day in enumerate(days):
        penalty = min(0.25, 0.02 * rank) if is_head else 0.0
        follows = (
            concept.following_pattern.search(document.folded, day.end, day.end + _NAME_CHARACTERS)
            if concept.following_pattern
            else None
        )
        if follows and not _OTHER_DATE_OR_END.search(document.folded, day.end, follows.start()):
            yield ValueCandidate(value=day.iso, confidence=0.88 - penalty, start=day.start, end=follows.end())
        leads = (
            concept.lead_in_pattern.search(document.folded, max(0, day.start - _LEAD_CHARACTERS), day.start)
            if concept.lead_in_pattern
            else None
        )
        if leads and concept.topic_pattern:
            sentence = document.sentence_before(leads.start(), _SENTENCE_CHARACTERS)
            has_topic = concept.topic_pattern.search(document.folded, sentence.start, leads.end())
            is_short = len(document.text) <= _SHORT_TEXT_CHARACTERS
            penalty = 0.0 if has_topic else _SHORT_TEXT_PENALTY if is_short else _OTHER_TOPIC_PENALTY
        elif leads and concept.exclusion_pattern:
            sentence = document.sentence_before(leads.start(), _SENTENCE_CHARACTERS)
            is_excluded = concept.exclusion_pattern.search(document.folded, sentence.start, leads.end()) is not None
            penalty += _OTHER_TOPIC_PENALTY * is_excluded
        if leads:
            yield ValueCandidate(value=day.iso, confidence=0.82 - penalty, start=leads.start(), end=day.end)


def _commonest_date_candidates(date_spans: Sequence[DateSpan]) -> Iterator[ValueCandidate]:
    """The day that occurs most often; of several the first."""
    if date_spans:
        counts = Counter(span.day for span in date_spans)
        best = max(date_spans, key=lambda span: (counts[span.day], -span.start))
        yield _candidate_of_date(best, 0.65 if _is_plausible_date(best.day) else 0.3)


def _is_plausible_date(day: date) -> bool:
    return 1980 <= day.year <= 2100

"""Money fields: the amounts beside labels, and the currency of the document's amounts."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.concepts import (
    FieldConcept,
    currencies_without_cents,
    currency_word_patterns,
    payment_word_patterns,
    unpaid_amount_words,
)
from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.extraction_targets import ExtractionTarget
from storage.ingest.extract.field_patterns import words_of_phrase
from storage.ingest.extract.fields.labelled_values import find_field_labels, find_labels
from storage.quantities.money import BARE_SIGN_PATTERN, LETTER_SIGN_PATTERN, currency_of_sign
from storage.quantities.numbers import NumberSpan

_AROUND_CHARACTERS = 40  # before a label, for words that give it another meaning
_REACH_CHARACTERS = 120  # after a label
_HEAD_CHARACTERS = 8_000  # searched for currencies and payments
_PHRASE_LABEL_CONFIDENCE = 0.62  # a label of several words
_OWN_LABEL_CONFIDENCE = 0.55  # the field's name, or a label of one word
_OTHER_LABEL_CONFIDENCE = 0.35  # another word for the field
_SYNONYM_CONFIDENCE = 0.52  # another word for a field without a concept
_EXCLUSION_PENALTY = 0.35
_PAID_BONUS, _AGREEMENT_BONUS, _LARGEST_BONUS, _COLUMN_PENALTY = 0.22, 0.08, 0.05, 0.12
_PAID_CONFIDENCE = 0.56  # the paid amount, without a label
_REPEATED_CONFIDENCE = 0.55  # the largest amount, without a label, if it is repeated
_SINGLE_CONFIDENCE = 0.5  # the largest amount, without a label, if it is not repeated
_COUNT_PENALTY = 0.05  # for a small number without cents, where other amounts have cents
_SMALL_AMOUNT = 100  # smaller numbers without cents may be counts
_NO_CONCEPT_PENALTY = 0.15  # for the largest amount as the value of a field without a concept
_MIN_LABEL_CONFIDENCE = 0.5  # without a labelled amount of this confidence the largest amount is a candidate
_REFERENCE_NUMBER_FROM = 10_000
_MAX_CASH_ROUNDING = Decimal("0.05")  # by which a payment in coins may differ from the total
_NEAR_CHARACTERS = 16  # between an excluding word and the label
_WORD = re.compile(r"[^\W\d_]{3,}")
_CURRENCY_SIGN = re.compile(  # a scanner reads `RM` and `Rp` in small letters too
    rf"(?<![A-Za-z])(?:(?i:{BARE_SIGN_PATTERN}|rm|rp\.?)|{LETTER_SIGN_PATTERN}\.?)\s?(?=\d)|"
    rf"(?<=\d)\s?{BARE_SIGN_PATTERN}(?!\d)"
)
_CURRENCY_CODE = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
_AMOUNTS_PER_SIGN = 3  # at most
_DEFAULT_CURRENCY_WITHOUT_CENTS = "IDR"  # the commonest currency whose amounts are all thousands


@dataclass(frozen=True, slots=True)
class _LabelledAmount:
    amount: NumberSpan
    confidence: float
    label: TextSpan


def money_candidates(document: DocumentText, target: ExtractionTarget) -> Iterator[ValueCandidate]:
    """Labelled amounts; an amount that several labels give, or that was paid, is more confident."""
    paid = _paid_amounts(document) if target.concept else dict[Decimal, TextSpan]()
    labelled = [amount for amount in _labelled_amounts(document, target) if amount.amount.number > 0]
    numbers = [amount.amount.number for amount in labelled if amount.confidence > _OTHER_LABEL_CONFIDENCE]
    for labelled_amount in labelled:
        span, label = labelled_amount.amount, labelled_amount.label
        number, confidence = span.number, labelled_amount.confidence
        confidence += _PAID_BONUS * (number in paid) + _AGREEMENT_BONUS * (numbers.count(number) > 1)
        confidence += _LARGEST_BONUS * (bool(numbers) and number == max(numbers))
        start, end = min(label.start, span.start), max(label.end, span.end)
        yield ValueCandidate(value=float(number), confidence=min(confidence, 0.95), start=start, end=end)
    for number, cell in paid.items():
        is_rounded = any(0 < abs(number - other) <= _MAX_CASH_ROUNDING for other in numbers)
        confidence = _PAID_CONFIDENCE + 0.3 * is_rounded
        yield ValueCandidate(value=float(number), confidence=confidence, start=cell.start, end=cell.end)
    if not any(amount.confidence >= _MIN_LABEL_CONFIDENCE for amount in labelled):
        yield from _largest_amount_candidates(document, has_concept=target.concept is not None)


def _labelled_amounts(document: DocumentText, target: ExtractionTarget) -> Iterator[_LabelledAmount]:
    for label in find_field_labels(document, target, target.label_pattern):
        amount, is_far = _amount_for_label(document, label)
        if amount is None or (target.concept is not None and _is_reference_number(document, amount)):
            continue
        is_excluded = target.concept is not None and _is_excluded(document, target.concept, label, amount)
        is_count = document.has_cents and not amount.decimal_places and amount.number < _SMALL_AMOUNT
        confidence = _label_confidence(document.folded[label.start : label.end], target)
        confidence = confidence - _EXCLUSION_PENALTY * is_excluded - 0.1 * is_far - _COUNT_PENALTY * is_count
        yield _LabelledAmount(amount, confidence - _COLUMN_PENALTY * _has_another_amount(document, amount), label)


def _is_excluded(document: DocumentText, concept: FieldConcept, label: TextSpan, amount: NumberSpan) -> bool:
    """Whether words right before the label, or between label and amount, give the amount another meaning."""
    line = document.line_at(label.start)
    before = document.folded[max(line.start, label.start - _AROUND_CHARACTERS) : label.start]
    between = document.folded[label.end : amount.start]
    if concept.exclusion_pattern is None:
        return False
    ends = [match.end() for match in concept.exclusion_pattern.finditer(before)]
    if ends and len(before) - ends[-1] <= _NEAR_CHARACTERS and not any(c.isdigit() for c in before[ends[-1] :]):
        return True
    is_exception = (
        concept.exception_pattern is not None
        and concept.exception_pattern.search(document.folded, label.start, amount.start) is not None
    )
    return not is_exception and concept.exclusion_pattern.search(between) is not None


def _label_confidence(label: str, target: ExtractionTarget) -> float:
    words = " ".join(words_of_phrase(label))
    if target.concept and words in target.concept.labels:
        return _PHRASE_LABEL_CONFIDENCE if " " in words else _OWN_LABEL_CONFIDENCE
    if words in (target.field.name.casefold().replace("_", " "), target.field.label.casefold()):
        return _OWN_LABEL_CONFIDENCE
    return _OTHER_LABEL_CONFIDENCE if target.concept else _SYNONYM_CONFIDENCE


def _has_another_amount(document: DocumentText, amount: NumberSpan) -> bool:
    """Whether another amount follows on the line without a word between, as in a table of taxes."""
    line = document.line_at(amount.start)
    other = next(document.find_amounts(amount.end, min(line.end, amount.end + _AROUND_CHARACTERS)), None)
    return other is not None and not _WORD.search(document.text, amount.end, other.start)


def _amount_for_label(document: DocumentText, label: TextSpan) -> tuple[NumberSpan | None, bool]:
    """The amount after the label on its line, else alone on the next line; True for the next line."""
    line = document.line_at(label.start)
    amounts = list(document.find_amounts(label.end, min(line.end, label.end + _REACH_CHARACTERS)))
    if amounts:
        return _main_amount_of(amounts), False
    below = document.next_filled_line(label.start)
    if below and not _has_words(document, below):
        amounts = list(document.find_amounts(below.start, min(below.end, below.start + _AROUND_CHARACTERS)))
        if amounts:
            return amounts[-1], True
    return None, False


def _main_amount_of(amounts: Sequence[NumberSpan]) -> NumberSpan:
    """The first amount that is not a count; the last, if it is the sum of the others."""
    likely = [amount for amount in amounts if amount.decimal_places == 2 or amount.number >= 100] or list(amounts)
    if 2 < len(likely) <= 4 and sum(amount.number for amount in likely[:-1]) == likely[-1].number:
        return likely[-1]
    return likely[0]


def _has_words(document: DocumentText, line: TextSpan) -> bool:
    return sum(c.isalpha() for c in document.text[line.start : line.end]) > 5


def _paid_amounts(document: DocumentText) -> Mapping[Decimal, TextSpan]:
    """Amounts paid: those beside words of payment, less the change."""
    given, returned = (_amounts_beside(document, pattern) for pattern in payment_word_patterns())
    if not given:
        return {}
    due = dict[Decimal, TextSpan]()
    for change in returned or {Decimal(0): TextSpan(0, 0)}:
        for amount, cell in given.items():
            if amount > change:
                due.setdefault(amount - change, cell)
    return {amount: cell for amount, cell in due.items() if amount in document.amount_counts}


def _amounts_beside(document: DocumentText, pattern: re.Pattern[str]) -> dict[Decimal, TextSpan]:
    spans = dict[Decimal, TextSpan]()
    for label in find_labels(document, pattern):
        amount, _ = _amount_for_label(document, label)
        if amount is not None and (amount.decimal_places == 2 or (not document.has_cents and amount.number >= 100)):
            spans.setdefault(amount.number, TextSpan(label.start, amount.end))
    return spans


def _largest_amount_candidates(document: DocumentText, *, has_concept: bool) -> Iterator[ValueCandidate]:
    """The largest amount with cents, for a field without a label. Without a concept its confidence is too low for a
    value.
    """
    amounts = document.find_amounts(0, min(len(document.text), _HEAD_CHARACTERS))
    with_cents = [amount for amount in amounts if amount.decimal_places == 2 and amount.number > 0]
    paid = [amount for amount in with_cents if not _is_unpaid_amount(document, amount)]
    if likely := paid or list(_grouped_amounts(document)):
        best = max(likely, key=lambda amount: amount.number)
        confidence = _REPEATED_CONFIDENCE if document.amount_counts[best.number] > 1 else _SINGLE_CONFIDENCE
        confidence -= _NO_CONCEPT_PENALTY * (not has_concept)
        yield ValueCandidate(value=float(best.number), confidence=confidence, start=best.start, end=best.end)


def _grouped_amounts(document: DocumentText) -> Iterator[NumberSpan]:
    """Amounts of a slip without cents: thousands with a group mark."""
    for amount in document.find_amounts(0, min(len(document.text), _HEAD_CHARACTERS)):
        is_grouped = not document.text[amount.start : amount.end].isdigit()
        if not document.has_cents and amount.number >= 1000 and is_grouped:
            yield amount


def _is_reference_number(document: DocumentText, amount: NumberSpan) -> bool:
    """Whether it is a reference number: long and without marks, where amounts have cents."""
    return (
        document.has_cents
        and amount.number >= _REFERENCE_NUMBER_FROM
        and document.text[amount.start : amount.end].isdigit()
    )


def _is_unpaid_amount(document: DocumentText, amount: NumberSpan) -> bool:
    """Whether words before it on its line, or on the line above an amount alone, show that nobody paid it."""
    line = document.line_at(amount.start)
    is_alone = not document.text[line.start : amount.start].strip()
    start = document.line_by_number(max(0, document.line_number_at(amount.start) - 1)).start if is_alone else line.start
    return (
        unpaid_amount_words().search(document.folded, max(start, amount.start - _REACH_CHARACTERS), amount.start)
        is not None
    )


# -- the currency


def currency_candidates(document: DocumentText) -> Iterator[ValueCandidate]:
    """The currency of the document's amounts: by signs and codes, by words that show the country, else by amounts that
    are all thousands.
    """
    evidence = dict[str, list[tuple[float, int, int]]]()
    by_sign = list(_currencies_by_sign(document))
    for code, weight, start, end in (*by_sign, *_currencies_by_words(document)):
        evidence.setdefault(code, []).append((weight, start, end))
    weights = {code: sum(weight for weight, _, _ in spans) for code, spans in evidence.items()}
    if _largest_if_in_thousands(document) and not _has_enough_signs(document, len(by_sign)):
        weights = {code: weight for code, weight in weights.items() if code in currencies_without_cents()}
    for code, weight in weights.items():
        _, start, end = max(evidence[code], key=lambda span: span[0])
        share = weight / sum(weights.values())
        yield ValueCandidate(value=code, confidence=min(0.95, 0.4 + 0.55 * share), start=start, end=end)
    if not weights and (largest := _largest_if_in_thousands(document)):
        code = _DEFAULT_CURRENCY_WITHOUT_CENTS
        yield ValueCandidate(value=code, confidence=0.55, start=largest.start, end=largest.end)


def _has_enough_signs(document: DocumentText, sign_count: int) -> bool:
    """Whether many of the amounts have signs or codes: a lone sign is an error of the scanner."""
    amounts = document.find_amounts(0, min(len(document.text), _HEAD_CHARACTERS))
    large_count = sum(amount.number >= 1000 for amount in amounts)
    return _AMOUNTS_PER_SIGN * sign_count >= max(large_count, 1)


def _currencies_by_sign(document: DocumentText) -> Iterator[tuple[str, float, int, int]]:
    """Code, weight and span of each currency sign, and of codes that `cues.yaml` names."""
    named_codes: Set[str] = currency_word_patterns().keys()
    sign_counts = Counter[str]()
    for match in _CURRENCY_SIGN.finditer(document.text, 0, _HEAD_CHARACTERS):
        if code := currency_of_sign(match[0]):
            sign_counts[code] += 1
            first_weight = 1.0 if match[0].strip() == "$" else 2.0  # many countries have a dollar
            yield code, first_weight if sign_counts[code] == 1 else 0.1, match.start(), match.end()
    for match in _CURRENCY_CODE.finditer(document.text, 0, _HEAD_CHARACTERS):
        if match[0] in named_codes:
            yield match[0], 1.0, match.start(), match.end()


def _currencies_by_words(document: DocumentText) -> Iterator[tuple[str, float, int, int]]:
    """Code, weight and span of words that show the country, each word once."""
    for code, pattern in currency_word_patterns().items():
        words = {match[0]: match for match in pattern.finditer(document.folded, 0, _HEAD_CHARACTERS)}
        for match in words.values():
            yield code, 1.0, match.start(), match.end()


def _largest_if_in_thousands(document: DocumentText) -> NumberSpan | None:
    """The largest amount with a group mark, where no amount has cents; else None."""
    amounts = list(document.find_amounts(0, min(len(document.text), _HEAD_CHARACTERS)))
    small = (amount for amount in amounts if amount.decimal_places == 2 or amount.number < 1000)
    if any(amount.number % 1 and amount.decimal_places < 3 for amount in small):  # three decimals are of a weight
        return None
    grouped = (
        amount for amount in amounts if amount.number >= 1000 and not document.text[amount.start : amount.end].isdigit()
    )
    return max(grouped, key=lambda amount: amount.number, default=None)

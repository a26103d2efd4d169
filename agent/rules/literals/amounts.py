"""Finds numbers and dashed ranges of numbers, with their unit or currency, outside the dates of a question."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from agent.rules.literals.literal_types import QuantityLiteral
from storage.quantities.measures import (
    DIGITS_PATTERN,
    SCALE_PATTERN,
    SIGN_PATTERN,
    UNIT_PATTERN,
    MeasureSpan,
    currency_of_measure,
    factor_of_scale,
    find_measures,
    find_spelled_measures,
    is_unit_word,
)
from storage.quantities.money import parse_amount
from storage.quantities.numbers import parse_number
from storage.quantities.periods import DECADES_BY_WORD
from storage.search.conditions import ComparisonOperator

_DASHED_RANGE = re.compile(
    rf"(?<![\w.,-])(?P<sign>{SIGN_PATTERN})?\s?(?P<low>{DIGITS_PATTERN})\s?[-–—]\s?"
    rf"(?:{SIGN_PATTERN})?\s?(?P<high>{DIGITS_PATTERN})"
    rf"(?:\s?(?P<scale>(?!m(?:\s|$)){SCALE_PATTERN})(?!\w))?(?:\s?(?P<unit>(?i:{UNIT_PATTERN})))?(?![\w-]|[.,]\d)"
)
_ARTICLE_COMPARATOR = re.compile(r"\b(?:than|over|under|least|most|within|exceeding|above|below)\s+$", re.IGNORECASE)
_RATE = re.compile(
    r"\s*(?:(?:an?|per|each|every|/)\s*(?:month|year|week|quarter|day|annum|night)\b|p\.?a\.?(?!\w)|pcm\b"
    r"|monthly\b|yearly\b|annually\b|weekly\b|quarterly\b)",
    re.IGNORECASE,
)
_AGE_DECADE = re.compile(
    r"\b(?:in\s+)?(?:his|her|their|your|my|our)\s+(?:(?P<third>early|mid|late)[\s-]+)?"
    rf"(?:(?P<word>{'|'.join(DECADES_BY_WORD)})|(?P<tens>[2-9]0)['’]?s)\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?<![\w.,-])(?P<digits>[1-9]\d{0,2})(?:st|nd|rd|th)\b", re.IGNORECASE)
_MAX_RANGE_DIGITS = 5  # of a dashed range without a unit; longer numbers are identifiers or telephone numbers


def find_quantities(question: str, taken_spans: Sequence[tuple[int, int]]) -> Iterator[QuantityLiteral]:
    """Yields the numbers outside `taken_spans`: dashed ranges, then digits, then spelled numbers."""
    spans = list(taken_spans)
    for quantity in _find_candidates(question):
        free = _trim_to_free_span(quantity, spans)
        if free is not None:
            completed = _complete_rate(question, free)
            spans.append((completed.start, completed.end))
            yield completed


def _find_candidates(question: str) -> Iterator[QuantityLiteral]:
    yield from map(_parse_age_decade, _AGE_DECADE.finditer(question))
    for match in _ORDINAL.finditer(question):
        yield QuantityLiteral(
            start=match.start(), end=match.end(), op=ComparisonOperator.EQ, low=Decimal(match["digits"]), is_bare=True,
            number_start=match.start(), unit_start=match.end(), is_ordinal=True,
        )  # fmt: skip
    for match in _DASHED_RANGE.finditer(question):
        quantity = _parse_dashed_range(match)
        if quantity is not None:
            yield quantity
    for measure in find_measures(question):
        yield _with_weight_unit(_quantity_of_measure(measure), question)
    for measure in find_spelled_measures(question):
        if not measure.is_article or _ARTICLE_COMPARATOR.search(question, 0, measure.start):
            yield replace(_quantity_of_measure(measure), is_spelled=True, is_article=measure.is_article)


def _with_weight_unit(quantity: QuantityLiteral, question: str) -> QuantityLiteral:
    word = question[: quantity.end].rsplit(maxsplit=1)[-1].lower()
    return replace(quantity, weight_unit=word) if word in ("pounds", "pound") else quantity


def _parse_age_decade(match: re.Match[str]) -> QuantityLiteral:
    """ "In their early thirties" is from 30 to 33 years old."""
    first = Decimal(match["tens"] or DECADES_BY_WORD[match["word"].lower()])
    low, high = {"early": (0, 3), "mid": (4, 6), "late": (7, 9)}.get((match["third"] or "").lower(), (0, 9))
    return QuantityLiteral(
        start=match.start(), end=match.end(), op=ComparisonOperator.BETWEEN, low=first + low, high=first + high,
        unit="years", number_start=match.start(), unit_start=match.end(), is_age=True,
    )  # fmt: skip


def _trim_to_free_span(quantity: QuantityLiteral, taken_spans: Sequence[tuple[int, int]]) -> QuantityLiteral | None:
    """Returns the quantity, without its unit if another literal begins there; None if its number is taken."""
    if not _is_free_span(quantity.start, min(quantity.unit_start, quantity.end), taken_spans):
        return None
    following = [start for start, _ in taken_spans if start > quantity.number_start]
    if all(quantity.end <= start for start in following):
        return quantity
    end = min(quantity.unit_start, *following)
    return replace(quantity, end=end, unit="", unit_start=end)


def _complete_rate(question: str, quantity: QuantityLiteral) -> QuantityLiteral:
    """ "1,500 a month", "EUR 900 pcm": returns the amount with the period that it is paid for."""
    match = _RATE.match(question, quantity.unit_start)
    if match is None:
        return quantity
    return replace(quantity, end=match.end(), unit="", unit_start=match.end(), is_rate=True)


def _quantity_of_measure(measure: MeasureSpan) -> QuantityLiteral:
    quantity = QuantityLiteral(
        start=measure.start, end=measure.end, op=ComparisonOperator.EQ, low=measure.number, unit=measure.unit,
        currency=measure.currency, is_bare=True, scale=measure.scale, number_start=measure.start,
        unit_start=measure.unit_start,
    )  # fmt: skip
    match measure.unit.lower():
        case "ish":
            return replace(quantity, unit="", end=measure.digits_end, unit_start=measure.digits_end)
        case "quarter" | "quarters":
            return replace(quantity, unit="months", low=3 * measure.number)
        case _:
            return quantity


def _parse_dashed_range(match: re.Match[str]) -> QuantityLiteral | None:
    """ "EUR 10-25", "0.3–0.7 W", "12-30": returns the range; None for what looks like an identifier."""
    unit = match["unit"] if is_unit_word(match["unit"] or "") else ""
    unit_currency = currency_of_measure("", unit)
    currency = currency_of_measure(match["sign"] or "", "") or unit_currency
    low, high = (
        parse_amount(digits, currency) if currency else parse_number(digits) for digits in (match["low"], match["high"])
    )
    if low is None or high is None:
        return None
    factor = factor_of_scale(match["scale"] or "")
    low, high = low * (factor if low < high else 1), high * factor
    if not (currency or unit) and not (low < high and len(match["high"]) <= _MAX_RANGE_DIGITS):
        return None
    low, high = min(low, high), max(low, high)
    number_end = max(match.end("high"), match.end("scale"))
    end = number_end if not unit or (currency and not unit_currency) else match.end()
    return QuantityLiteral(
        start=match.start(), end=end, op=ComparisonOperator.BETWEEN, low=low, high=high,
        unit="" if currency else unit, currency=currency, number_start=match.start(),
        unit_start=match.start("unit") if unit else end, is_bare=not (currency or unit),
    )  # fmt: skip


def _is_free_span(start: int, end: int, taken_spans: Sequence[tuple[int, int]]) -> bool:
    return all(end <= taken_start or start >= taken_end for taken_start, taken_end in taken_spans)

"""Finds numbers and dashed ranges of numbers, with their unit or currency, outside the dates of a question."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.rules.literals.literal_types import QuantityLiteral
from storage.quantities.measures import (
    DIGITS_PATTERN,
    SIGN_PATTERN,
    UNIT_PATTERN,
    MeasureSpan,
    currency_of_measure,
    find_measures,
    find_spelled_measures,
    is_unit_word,
)
from storage.quantities.money import parse_amount
from storage.quantities.numbers import parse_number
from storage.search.conditions import ComparisonOperator

_DASHED_RANGE = re.compile(
    rf"(?<![\w.,-])(?P<sign>{SIGN_PATTERN})?\s?(?P<low>{DIGITS_PATTERN})\s?[-–—]\s?"
    rf"(?:{SIGN_PATTERN})?\s?(?P<high>{DIGITS_PATTERN})"
    rf"(?:\s?(?P<unit>(?i:{UNIT_PATTERN})))?(?![\w-]|[.,]\d)"
)
_COMPARATOR_BEFORE = re.compile(r"\b(?:than|over|under|least|most|within|exceeding|above|below)\s+$", re.IGNORECASE)


def find_quantities(question: str, taken_spans: Sequence[tuple[int, int]]) -> Iterator[QuantityLiteral]:
    """Yields the numbers outside `taken_spans`: dashed ranges, then digits, then spelled numbers with a measure."""
    spans = list(taken_spans)
    for match in _DASHED_RANGE.finditer(question):
        quantity = _parse_dashed_range(match)
        if quantity is not None and _is_free_span(quantity.start, quantity.end, spans):
            spans.append((quantity.start, quantity.end))
            yield quantity
    for measure in find_measures(question):
        if _is_free_span(measure.start, measure.digits_start + 1, spans):
            end = min([measure.end, *(start for start, _ in spans if start >= measure.digits_end)])
            spans.append((measure.start, end))
            quantity = _quantity_of_measure(measure)
            yield quantity if end == measure.end else replace(quantity, end=measure.digits_end, unit="")
    for measure in find_spelled_measures(question):
        counts = not measure.is_article or _COMPARATOR_BEFORE.search(question, 0, measure.start)
        if counts and _is_free_span(measure.start, measure.end, spans):
            spans.append((measure.start, measure.end))
            yield _quantity_of_measure(measure)


def _quantity_of_measure(measure: MeasureSpan) -> QuantityLiteral:
    return QuantityLiteral(
        start=measure.start, end=measure.end, op=ComparisonOperator.EQ, low=measure.number, unit=measure.unit,
        currency=measure.currency, is_bare=True, number_start=measure.start, unit_start=measure.unit_start,
    )  # fmt: skip


def _parse_dashed_range(match: re.Match[str]) -> QuantityLiteral | None:
    """ "EUR 10-25", "0.3–0.7 W": returns the range; None without a currency or unit."""
    unit = match["unit"] if is_unit_word(match["unit"] or "") else ""
    unit_currency = currency_of_measure("", unit)
    currency = currency_of_measure(match["sign"] or "", "") or unit_currency
    if not (currency or unit):
        return None
    low, high = (
        parse_amount(digits, currency) if currency else parse_number(digits) for digits in (match["low"], match["high"])
    )
    if low is None or high is None:
        return None
    end = match.end("high") if currency and not unit_currency else match.end()
    return QuantityLiteral(
        start=match.start(), end=end, op=ComparisonOperator.BETWEEN, low=low, high=high,
        unit="" if currency else unit, currency=currency, number_start=match.start(),
        unit_start=match.start("unit") if unit else end,
    )  # fmt: skip


def _is_free_span(start: int, end: int, taken_spans: Sequence[tuple[int, int]]) -> bool:
    return all(end <= taken_start or start >= taken_end for taken_start, taken_end in taken_spans)

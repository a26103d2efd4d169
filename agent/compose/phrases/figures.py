"""Describes figures, amounts and functions."""

from collections.abc import Sequence

from agent.compose.phrases.conditions import (
    escape_markdown,
    format_count,
    format_money,
    format_number,
    format_value,
    join_words,
    lowercase_label,
)
from agent.outcome import ComputedFigure
from agent.retrieval.answer_type import AnswerType, find_values_in
from storage.search.plan import AggregateFunction
from storage.search.schema import FieldType, Schema, SchemaField

_FUNCTION_LABELS = {
    AggregateFunction.SUM: "Sum",
    AggregateFunction.COUNT: "Count",
    AggregateFunction.AVERAGE: "Average",
    AggregateFunction.MINIMUM: "Minimum",
    AggregateFunction.MAXIMUM: "Maximum",
    AggregateFunction.MEDIAN: "Median",
}


def format_figure(figure: ComputedFigure, schema: Schema, noun: str, qualifier: str = "") -> str:
    """Formats the figure: "Sum of total: USD 1,042.50 (37 receipts where year = 2031)". Markdown.

    `qualifier` follows the noun and is already escaped.
    """
    field = schema.by_name.get(figure.field) if figure.field is not None else None
    counted = f"({format_count(figure.count, noun)}{qualifier})"
    if figure.function is AggregateFunction.COUNT:
        return f"**{format_count(figure.count, noun)}**{qualifier}"
    if figure.function is AggregateFunction.DISTINCT and field is not None:
        values = format_count(int(figure.value or 0), lowercase_label(field.label))
        return f"**{escape_markdown(values)}** {counted}"
    if figure.function is AggregateFunction.SHARE:
        return f"**{format_number(float(figure.value or 0))}%** {counted}"
    label = escape_markdown(field.label.lower() if field and field.label.istitle() else field.label if field else "")
    shown = escape_markdown(format_computed_value(figure.function, figure.value, figure.unit, field))
    return f"{_FUNCTION_LABELS[figure.function]} of {label}: **{shown}** {counted}"


def describe_functions(functions: Sequence[AggregateFunction], field: SchemaField) -> str:
    """Names the functions and the field: "Sum and average of total". Markdown."""
    names = [_FUNCTION_LABELS[function].lower() for function in functions if function in _FUNCTION_LABELS]
    return f"{join_words(names).capitalize()} of {escape_markdown(lowercase_label(field.label))}"


def format_computed_value(
    function: AggregateFunction, value: float | str | None, unit: str | None, field: SchemaField | None
) -> str:
    """Formats the result of a function. An average is rounded for reading."""
    if function is AggregateFunction.AVERAGE and isinstance(value, float):
        value = round(value, 2 if abs(value) >= 1 else 4)
    return format_amount(value, unit, field)


def format_amount(value: float | str | None, unit: str | None, field: SchemaField | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    if field is not None and field.type is FieldType.MONEY:
        return format_money(value, unit)
    return format_value(value, field) if field is not None else format_number(value)


def highlight_value(text: str, answer_type: AnswerType | None, counted_noun: str | None = None) -> str:
    """Returns a quotation as Markdown, with the first value of `answer_type` in bold.

    `counted_noun`: the noun whose number is asked; a number of something else is not highlighted.
    """
    spans = find_values_in(text, answer_type, counted_noun) if answer_type is not None else []
    if not spans:
        return escape_markdown(text)
    start, end = spans[0]
    end = start + len(text[start:end].rstrip())
    before, after = text[:start], text[end:]
    gap_before, gap_after = " " * before[-1:].isspace(), " " * after[:1].isspace()
    value = f"{gap_before}**{escape_markdown(text[start:end])}**{gap_after}"
    return f"{escape_markdown(before)}{value}{escape_markdown(after)}"

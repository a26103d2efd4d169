"""Describes figures, amounts and functions."""

from collections.abc import Sequence

from agent.compose.phrases.nouns import NounForms, format_count, label_noun_of
from agent.compose.phrases.values import format_money, format_number, format_value, round_average
from agent.compose.phrases.words import (
    capitalize_words,
    escape_markdown,
    format_label,
    join_by_colon,
    join_words,
    lowercase_label,
)
from agent.outcome import ComputedFigure
from agent.retrieval.answer_type import AnswerType, find_values_in
from agent.translation.languages import is_reply_in_english
from agent.translation.message_catalogues import mark_message, translate_message, translate_plural
from storage.search.plan import AggregateFunction
from storage.search.schema import FieldType, Schema, SchemaField

_FUNCTION_NAMES = {
    AggregateFunction.SUM: mark_message("sum"),
    AggregateFunction.COUNT: mark_message("count"),
    AggregateFunction.AVERAGE: mark_message("average"),
    AggregateFunction.MINIMUM: mark_message("minimum"),
    AggregateFunction.MAXIMUM: mark_message("maximum"),
    AggregateFunction.MEDIAN: mark_message("median"),
    AggregateFunction.DISTINCT: mark_message("distinct"),
    AggregateFunction.SHARE: mark_message("share"),
}
_NUMBERS_OF_DOCUMENTS = (AggregateFunction.DISTINCT, AggregateFunction.SHARE)  # that no field has


def name_of_function(function: AggregateFunction) -> str:
    """The function for the beginning of a title: "Sum"."""
    return capitalize_words(translate_message(_FUNCTION_NAMES[function]))


def format_figure(figure: ComputedFigure, schema: Schema, noun: NounForms, qualifier: str = "") -> str:
    """Formats the figure: "Sum of total: USD 1,042.50 (37 receipts dated 2031)". Markdown.

    `qualifier` follows the noun and is already escaped.
    """
    field = schema.by_name.get(figure.field) if figure.field is not None else None
    listed = qualifier.removeprefix(" (").removesuffix(")") if qualifier.startswith(" (") else ""
    counted = f"({format_count(figure.count, noun)}{f': {listed}' if listed else qualifier})"
    if figure.function is AggregateFunction.COUNT:
        return f"**{format_count(figure.count, noun)}**{qualifier}"
    if figure.function is AggregateFunction.DISTINCT and field is not None:
        values = _describe_distinct_values(int(figure.value or 0), lowercase_label(field.label))
        return f"**{escape_markdown(values)}** {counted}"
    if figure.function is AggregateFunction.SHARE:
        share = translate_message("{number}%", number=format_number(float(figure.value or 0)))
        return f"**{share}** {counted}"
    factor = schema.by_name.get(figure.factor) if figure.factor is not None else None
    label = escape_markdown(_label_of_measure(field, factor) if field is not None else "")
    shown = escape_markdown(format_computed_value(figure.function, figure.value, figure.unit, field))
    measure = _describe_function(name_of_function(figure.function), label)
    return f"{join_by_colon(measure, f'**{shown}**')} {counted}"


def _describe_distinct_values(count: int, label: str) -> str:
    """ "3 vendors"; other languages take the label as it is: "3 verschiedene Werte für Lieferant"."""
    if is_reply_in_english():
        return format_count(count, label_noun_of(label))
    return translate_plural(
        "{count} different value of {label}",
        "{count} different values of {label}",
        count,
        count=format_number(count),
        label=label,
    )


def _label_of_measure(field: SchemaField, factor: SchemaField | None) -> str:
    """ "Unit cost", or "on hand × unit cost" of a product. Raw text."""
    labels = [own.label for own in (factor, field) if own is not None]
    return " × ".join(format_label(label) if is_reply_in_english() or label.istitle() else label for label in labels)


def lowercase_measure(field: SchemaField, factor: SchemaField | None = None) -> str:
    """Returns the label of the field, or of the product of both, as in the middle of a sentence. Raw text."""
    return " × ".join(lowercase_label(own.label) for own in (factor, field) if own is not None)


def describe_functions(
    functions: Sequence[AggregateFunction],
    field: SchemaField,
    factor: SchemaField | None = None,
    *,
    begins_sentence: bool = True,
) -> str:
    """Names the functions and the field: "Sum and average of total". Markdown."""
    names = [
        translate_message(_FUNCTION_NAMES[function]) for function in functions if function not in _NUMBERS_OF_DOCUMENTS
    ]
    joined = capitalize_words(join_words(names)) if begins_sentence else join_words(names)
    return _describe_function(joined, escape_markdown(lowercase_measure(field, factor)))


def describe_function(function: AggregateFunction, label: str) -> str:
    """ "Sum of total"."""
    return _describe_function(name_of_function(function), label)


def _describe_function(names: str, label: str) -> str:
    return translate_message("{function} of {label}", function=names, label=label)


def format_computed_value(
    function: AggregateFunction, value: float | str | None, unit: str | None, field: SchemaField | None
) -> str:
    """Formats the result of a function. An average is rounded for reading."""
    if function is AggregateFunction.AVERAGE and isinstance(value, float):
        value = (
            value if unit is not None and field is not None and field.type is FieldType.MONEY else round_average(value)
        )
    return format_amount(value, unit, field)


def format_amount(value: float | str | None, unit: str | None, field: SchemaField | None) -> str:
    if value is None:
        return translate_message("none")
    if isinstance(value, str):
        return format_value(value, field)
    if field is not None and field.type is FieldType.MONEY:
        return format_money(value, unit)
    return format_value(value, field) if field is not None else format_number(value)


def highlight_value(text: str, answer_type: AnswerType | None, counted_noun: str | None = None) -> str:
    """Returns a quotation as Markdown, with the value of `answer_type` in bold, if it has no other of that type.

    `counted_noun`: the noun whose number is asked; a number of something else is not highlighted.
    """
    spans = find_values_in(text, answer_type, counted_noun) if answer_type is not None else []
    if len({text[start:end].strip().casefold() for start, end in spans}) != 1:
        return escape_markdown(text)
    start, end = spans[0]
    end = start + len(text[start:end].rstrip())
    before, after = text[:start], text[end:]
    gap_before, gap_after = " " * before[-1:].isspace(), " " * after[:1].isspace()
    value = f"{gap_before}**{escape_markdown(text[start:end])}**{gap_after}"
    return f"{escape_markdown(before)}{value}{escape_markdown(after)}"

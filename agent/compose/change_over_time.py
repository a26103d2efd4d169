"""Describes change over time: a sentence on the whole span and a table of the periods."""

from collections.abc import Sequence

from agent.compose.composed_leg import ComposedLeg, LegComposer
from agent.compose.phrases.figures import describe_function, format_computed_value, name_of_function
from agent.compose.phrases.nouns import format_count
from agent.compose.phrases.set_description import describe_set, noun_of, qualifier_of
from agent.compose.phrases.unstated_values import add_unstated_values
from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import (
    capitalize_words,
    escape_markdown,
    join_by_colon,
    join_words,
    lowercase_label,
)
from agent.compose.pictures.figure_pictures import picture_periods
from agent.forms.change_over_time import ChangeFacts, PeriodFigure
from agent.outcome import ResultTable
from agent.review.leg_review import LegReview
from agent.translation.message_catalogues import translate_in_context, translate_message
from agent.verification.derived_figures import derive_changes
from storage.search.plan import AggregateFunction, CalendarPeriod
from storage.search.schema import FieldType

_NO_VALUE = "–"


def _compose_change(facts: ChangeFacts, review: LegReview) -> ComposedLeg:
    documents = f"**{format_count(review.count, noun_of(review))}**{qualifier_of(review)}"
    what = _describe_measure(facts)
    spans = [_describe_span(figures, facts) for figures in facts.series.values() if figures]
    values = {"measure": what, "documents": documents, "period": _describe_period(facts, review)}
    text = (
        translate_message("{measure} of {documents}, by {period}", **values)
        if what
        else translate_message("{documents}, by {period}", **values)
    )
    text = f"{join_by_colon(text, join_words(spans)) if spans else text}."
    if facts.undated_count:
        label = escape_markdown(lowercase_label(facts.day_field.label))
        undated = format_count(facts.undated_count, noun_of(review))
        text += translate_message(" Left out: {documents} with no {label}.", documents=undated, label=label)
    text = add_unstated_values(text, review)
    return ComposedLeg(
        sentences=(text,),
        tables=(_compose_table(facts, review),) if spans else (),
        pictures=picture_periods(facts),
        derived_figures=tuple(
            derived
            for figures in facts.series.values()
            if figures
            for derived in derive_changes(figures[0].value, figures[-1].value)
        ),
    )


def _describe_measure(facts: ChangeFacts) -> str:
    """Names the function and the field: "Sum of total"; empty if documents are counted."""
    if facts.field is None:
        return ""
    return describe_function(facts.function, escape_markdown(lowercase_label(facts.field.label)))


def _describe_period(facts: ChangeFacts, review: LegReview) -> str:
    """ "Year", "year of start date": with the name of the date, if the documents have several."""
    period = _name_of_period(facts.period)
    schema = review.question_context.schemas[review.leg.search.clauses[0].bucket]
    if sum(field.type is FieldType.DATE for field in schema.fields) <= 1:
        return period
    label = escape_markdown(lowercase_label(facts.day_field.label))
    return translate_message("{period} of {label}", period=period, label=label)


def _describe_span(figures: Sequence[PeriodFigure], facts: ChangeFacts) -> str:
    """Describes the whole span: "from USD 100.00 in 2031-01 to USD 150.00 in 2031-12 (+USD 50.00, +50%)"."""
    first, last = figures[0], figures[-1]
    if first is last:
        return translate_message(
            "**{value}** in {label}, and no other {period}",
            value=_format_value(first.value, first, facts),
            label=first.label,
            period=_name_of_period(facts.period),
        )
    change = last.value - first.value
    share = f", {_format_percent(100 * change / abs(first.value))}" if first.value else ""
    return translate_message(
        "from **{first_value}** in {first} to **{last_value}** in {last} ({change})",
        first_value=_format_value(first.value, first, facts),
        first=first.label,
        last_value=_format_value(last.value, last, facts),
        last=last.label,
        change=f"{_format_change(change, last, facts)}{share}",
    )


def _name_of_period(period: CalendarPeriod) -> str:
    match period:
        case CalendarPeriod.YEAR:
            return translate_in_context("period", "year")
        case CalendarPeriod.QUARTER:
            return translate_in_context("period", "quarter")
        case CalendarPeriod.MONTH:
            return translate_in_context("period", "month")
        case CalendarPeriod.DAY:
            return translate_in_context("period", "day")


def _compose_table(facts: ChangeFacts, review: LegReview) -> ResultTable:
    is_counted = facts.function is AggregateFunction.COUNT
    documents = translate_message("Documents")
    titles = [
        capitalize_words(_name_of_period(facts.period)),
        documents if is_counted else name_of_function(facts.function),
        translate_message("Change"),
        translate_message("Change in %"),
    ]
    columns = (*titles, *(() if is_counted else (documents,)))
    rows = [
        (
            figure.label,
            _format_value(figure.value, figure, facts),
            _NO_VALUE if figure.change is None else _format_change(figure.change, figure, facts),
            _NO_VALUE if figure.change_percent is None else _format_percent(figure.change_percent),
            *(() if is_counted else (format_number(figure.count),)),
        )
        for figures in facts.series.values()
        for figure in figures
    ]
    caption = describe_set(review.leg.search, review.question_context.schemas)
    return ResultTable(caption=caption, columns=columns, rows=tuple(rows))


def _format_value(value: float, figure: PeriodFigure, facts: ChangeFacts) -> str:
    if facts.function is AggregateFunction.COUNT:
        return format_number(value)
    return format_computed_value(facts.function, value, figure.unit, facts.field)


def _format_change(change: float, figure: PeriodFigure, facts: ChangeFacts) -> str:
    rounded = float(f"{change:.12g}")
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""
    return sign + _format_value(abs(rounded), figure, facts)


def _format_percent(percent: float) -> str:
    rounded = round(percent, 1)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""
    return translate_message("{number}%", number=f"{sign}{format_number(abs(rounded))}")


COMPOSERS = (LegComposer(ChangeFacts, _compose_change),)

"""Composes a comparison: a sentence for each side, a table of all sides, and their differences."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import assert_never

from agent.compose.composed_leg import ComparisonCell, ComparisonColumn, ComposedLeg, LegComposer, cite_quotes
from agent.compose.phrases.conditions import describe_condition
from agent.compose.phrases.figures import describe_function, format_amount, format_computed_value
from agent.compose.phrases.nouns import format_count
from agent.compose.phrases.set_description import noun_of
from agent.compose.phrases.unstated_values import add_unstated_values
from agent.compose.phrases.values import format_number, format_period, format_value
from agent.compose.phrases.words import (
    capitalize_words,
    clean_quotation,
    escape_markdown,
    format_quotation,
    join_all,
    join_by_colon,
    join_words,
    lowercase_label,
)
from agent.compose.registry import compose_facts
from agent.forms.compare_sides import (
    CommonValuesCell,
    DocumentCountCell,
    DocumentCountFacts,
    FigureCell,
    GroupCell,
    QuoteCell,
    RangeCell,
    SideCell,
    SideFacts,
    SideQuoteFacts,
    SideTitle,
    SideValuesFacts,
    ValueCell,
    sort_key_of_value,
)
from agent.forms.compute_numbers import ComputationFacts, ShareFacts
from agent.forms.find_passages import is_part_of_record
from agent.outcome import ComputedFigure, ResultTable
from agent.review.leg_review import LegReview
from agent.translation.message_catalogues import mark_message, translate_message
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition
from storage.search.plan import AggregateFunction
from storage.search.schema import FieldType, SchemaField

_MAX_TITLE_CHARACTERS = 80
_MAX_CELL_CHARACTERS = 160
_SHOWN_VALUES = 3
_TEXT_ROW_LABEL = mark_message("In the text")
_MAX_NAMED_ROWS = 6  # rows that the sentence lists
_MAX_READ_ROWS = 3  # rows by which a doubtful comparison is described
_MAX_OTHER_ROWS = 2  # without a measure, beside those for which the text says which side has most
_MAX_EXTREMES = 2  # rows for which the text says which side has most; the table shows more
_MIN_WHOLE_PERCENT = 10  # smaller ones have two digits
_PERCENT_UNITS = ("percent", "%")  # their difference is in points, so no percentage of it is given
_MEASURED_TYPES = (FieldType.NUMBER, FieldType.MONEY)


# -- one side


def _compose_side(facts: SideFacts, review: LegReview) -> ComposedLeg:
    title = _titles_of(facts.titles)[facts.position]
    column = ComparisonColumn(title=title, cells=tuple(_compose_cell(cell, review) for cell in facts.cells))
    composed = replace(compose_facts(facts.facts, review), column=column)
    if not facts.is_titled:
        return composed
    heading = join_by_colon(f"**{escape_markdown(title)}**", "").rstrip(" ")
    if isinstance(facts.facts, (ComputationFacts, ShareFacts)):
        gap = "\n" if composed.sentences[0].startswith("- ") else " "
        return replace(composed, prefix=heading + gap, tables=(), pictures=())
    return replace(composed, prefix=f"{heading} ", is_prefix_in_result=True)


def _compose_document_count(facts: DocumentCountFacts, review: LegReview) -> ComposedLeg:
    return ComposedLeg(sentences=(add_unstated_values(f"{format_count(facts.count, noun_of(review))}.", review),))


def _compose_side_values(facts: SideValuesFacts, review: LegReview) -> ComposedLeg:
    sentences = (_describe_value(cell, marker, review) for marker, cell in enumerate(facts.values, 1))
    return ComposedLeg(sentences=tuple(sentences), separator="; ", citations=cite_quotes(facts.quotes))


def _describe_value(cell: ValueCell, marker: int, review: LegReview) -> str:
    label = escape_markdown(lowercase_label(cell.field.label))
    is_quoted = cell.sentence is not None and not is_part_of_record(cell.sentence.text, review)
    quoted = (
        f"“{format_quotation(cell.sentence.text, is_code=cell.sentence.is_code)}”"
        if cell.sentence is not None and is_quoted
        else ""
    )
    if cell.value is None:
        return f"{join_by_colon(label, quoted)} [{marker}]"
    line = f"{label} **{escape_markdown(_format_cell_value(cell))}**"
    return line + (f" — {quoted}" if quoted else "") + f" [{marker}]"


def _compose_side_quote(facts: SideQuoteFacts, review: LegReview) -> ComposedLeg:
    quote = format_quotation(facts.cited.quote.text, is_code=facts.cited.quote.is_code)
    return ComposedLeg(sentences=(f"“{quote}” [1]",), citations=cite_quotes(facts.quotes))


# -- titles of the sides


def _titles_of(titles: Sequence[SideTitle]) -> list[str]:
    """Returns titles short enough for a table. Takes the questions of the sides if two titles would be equal."""
    words = [_title_of(title) for title in titles]
    if len(set(words)) < len(words):
        words = [title.question for title in titles]
    return [
        title if len(title) <= _MAX_TITLE_CHARACTERS else title[: _MAX_TITLE_CHARACTERS - 1] + "…" for title in words
    ]


def _title_of(title: SideTitle) -> str:
    """ "Tern (B-115)": the title of the document, behind the name by which the question calls it, if it has another."""
    if not title.document_title:
        return _describe_distinction(title)
    called = [name for condition in title.conditions if (name := _name_in(condition))]
    is_called_so = len(called) == 1 and called[0].casefold() not in title.document_title.casefold()
    return f"{called[0]} ({title.document_title})" if is_called_so else title.document_title


def _name_in(condition: Condition) -> str:
    """Returns the value that the question names; empty if the condition compares in another way."""
    match condition:
        case ComparisonCondition(op=ComparisonOperator.EQ, value=str(value), words=words) if words:
            return value
        case _:
            return ""


def _describe_distinction(title: SideTitle) -> str:
    """Returns the conditions that distinguish this side from the others, or its question if there are none."""
    conditions = [_describe_condition_briefly(condition, title) for condition in title.conditions]
    text = " ".join(str(condition.value) for condition in title.text_conditions)
    words = [f"“{word}”" for word in title.required_terms]
    return join_all([*conditions, *filter(None, (text,)), *words]) or title.question


def _describe_condition_briefly(condition: Condition, title: SideTitle) -> str:
    """Returns the value or the period alone, if the condition has one; else the whole condition."""
    match condition:
        case ComparisonCondition(op=ComparisonOperator.EQ | ComparisonOperator.HAS, value=str(value)):
            return value
        case ComparisonCondition(op=ComparisonOperator.BETWEEN, value=(str(first), str(last))):
            return format_period(first, last)
        case _:
            return describe_condition(condition, title.schema, title.schemas)


def describe_compared_sides(sides: Sequence[tuple[LegReview, SideFacts]]) -> str:
    """ "**Tern** and **Gull**, compared by length": what is compared, without the values.

    Markdown, as a part of a sentence.
    """
    titles = join_words([f"**{escape_markdown(title)}**" for title in _titles_of(sides[0][1].titles)])
    rows = (_compose_cell(cell, review).row_label for review, facts in sides for cell in facts.cells)
    labels = list(dict.fromkeys(rows))
    if len(labels) > _MAX_READ_ROWS:
        return translate_message("{sides}, side by side", sides=titles)
    return translate_message("{sides}, compared by {labels}", sides=titles, labels=_join_row_labels(labels))


# -- cells


def _compose_cell(cell: SideCell, review: LegReview) -> ComparisonCell:
    match cell:
        case FigureCell(figure=figure, field=field):
            is_count = figure.function is AggregateFunction.COUNT
            return ComparisonCell(
                row_label=_figure_row_label(figure.function, field, review),
                text=_format_figure(figure, field),
                value=figure.value,
                unit=figure.unit,
                format_value=partial(_format_figure_difference, figure, None if is_count else field),
            )
        case GroupCell(group=group, field=field):
            return ComparisonCell(
                row_label=group.label,
                text=format_amount(group.value, group.unit, field),
                value=group.value,
                unit=group.unit,
                format_value=partial(_format_difference, group.unit, field),
            )
        case DocumentCountCell(count=count, is_measured=is_measured):
            return ComparisonCell(
                row_label=_documents_row_label(review),
                text=format_number(count),
                value=float(count) if is_measured else None,
                is_context=not is_measured,
                format_value=partial(_format_difference, None, None),
            )
        case RangeCell(field=field, low=low, high=high, unit=unit):
            ends = {"low": format_amount(low, unit, field), "high": format_amount(high, unit, field)}
            text = ends["low"] if low == high else translate_message("{low} to {high}", **ends)
            return ComparisonCell(row_label=field.label, text=text)
        case CommonValuesCell(field=field, values=values):
            text = ", ".join(values[:_SHOWN_VALUES])
            if len(values) > _SHOWN_VALUES:
                text = translate_message("{values} and {count} more", values=text, count=len(values) - _SHOWN_VALUES)
            return ComparisonCell(row_label=field.label, text=text)
        case ValueCell():
            return _compose_value_cell(cell)
        case QuoteCell(cited=cited):
            return ComparisonCell(
                row_label=translate_message(_TEXT_ROW_LABEL),
                text=_truncate_text(clean_quotation(cited.quote.text)[:400]),
            )
        case _:
            assert_never(cell)


def _format_difference(unit: str | None, field: SchemaField | None, difference: float) -> str:
    return format_amount(difference, unit, field)


def _format_figure_difference(figure: ComputedFigure, field: SchemaField | None, difference: float) -> str:
    return format_computed_value(figure.function, difference, figure.unit, field)


def _figure_row_label(function: AggregateFunction, field: SchemaField | None, review: LegReview) -> str:
    if function is AggregateFunction.COUNT:
        return _documents_row_label(review)
    if function is AggregateFunction.DISTINCT and field is not None:
        return translate_message("Different values of {label}", label=lowercase_label(field.label))
    return describe_function(function, lowercase_label(field.label) if field is not None else noun_of(review).singular)


def _documents_row_label(review: LegReview) -> str:
    return capitalize_words(noun_of(review).plural)


def _format_figure(figure: ComputedFigure, field: SchemaField | None) -> str:
    if figure.function is AggregateFunction.COUNT:
        return format_number(figure.count)
    return format_computed_value(figure.function, figure.value, figure.unit, field)


def _compose_value_cell(cell: ValueCell) -> ComparisonCell:
    field, value = cell.field, cell.value
    if value is None:
        return ComparisonCell(row_label=field.label, text=_truncate_text(cell.sentence.text) if cell.sentence else "")
    day = value if isinstance(value, str) and field.type is FieldType.DATE else None
    measured = value if isinstance(value, float) and field.type in _MEASURED_TYPES else day
    return ComparisonCell(
        row_label=field.label,
        text=_format_cell_value(cell),
        value=measured,
        unit=cell.unit,
        format_value=partial(_format_difference, cell.unit, field),
    )


def _format_cell_value(cell: ValueCell) -> str:
    value = cell.value
    if isinstance(value, (str, float)):
        return format_amount(value, cell.unit, cell.field)
    return format_value(value, cell.field) if value is not None else ""


def _truncate_text(text: str) -> str:
    return text if len(text) <= _MAX_CELL_CHARACTERS else text[: _MAX_CELL_CHARACTERS - 1] + "…"


# -- all sides


def compose_comparison(columns: Sequence[ComparisonColumn]) -> tuple[str, ResultTable | None]:
    """Returns the differences between the sides, as Markdown, and a table with a column for each side."""
    rows = list(dict.fromkeys(cell.row_label for column in columns for cell in column.cells))
    if len(columns) < 2 or not rows:
        return "", None
    cells = {row: [_cell_in_row(column, row) for column in columns] for row in rows}
    titles = [column.title for column in columns]
    table = tuple((row, *(cell.text if cell else "–" for cell in cells[row])) for row in rows)
    caption = translate_message("{sides} side by side", sides=join_words(titles))
    return _describe_differences(titles, cells), ResultTable(caption=caption, columns=("", *titles), rows=table)


def _cell_in_row(column: ComparisonColumn, row_label: str) -> ComparisonCell | None:
    return next((cell for cell in column.cells if cell.row_label == row_label), None)


def _describe_differences(titles: Sequence[str], cells_by_row: Mapping[str, Sequence[ComparisonCell | None]]) -> str:
    """Says in what the sides differ: the difference itself, if it is one of measured values; the table has the rest."""
    texts = {
        row: {cell.text if cell else "" for cell in sides}
        for row, sides in cells_by_row.items()
        if row != translate_message(_TEXT_ROW_LABEL) and not any(cell and cell.is_context for cell in sides)
    }
    differ = [row for row, values in texts.items() if len(values) > 1]
    same = [row for row, values in texts.items() if len(values) == 1]
    if not differ and not same:
        return ""
    if not differ:
        first = next(iter(texts[same[0]]))
        value = f": **{escape_markdown(first)}**." if len(same) == 1 else "."
        return translate_message("No difference in {labels}", labels=_join_row_labels(same)) + value
    extremes = {row: words for row in differ if (words := _describe_extremes(row, titles, cells_by_row[row]))}
    others = [row for row in differ if row not in extremes]
    if 0 < len(extremes) <= _MAX_EXTREMES and len(others) <= _MAX_OTHER_ROWS:
        named = [translate_message("They also differ in {labels}.", labels=_join_row_labels(others))] if others else []
        return "\n".join((*extremes.values(), *named))
    if len(differ) > _MAX_NAMED_ROWS:
        named = _join_row_labels(differ[:_MAX_NAMED_ROWS], is_whole=False)
        return translate_message("Among other things, they differ in {labels}.", labels=named)
    same_suffix = translate_message("; the same: {labels}", labels=_join_row_labels(same)) if same else ""
    return translate_message("They differ in {labels}", labels=_join_row_labels(differ)) + f"{same_suffix}."


def _join_row_labels(row_labels: Sequence[str], *, is_whole: bool = True) -> str:
    labels = [escape_markdown(lowercase_label(label)) for label in row_labels]
    return join_words(labels) if is_whole else ", ".join(labels)


def _describe_extremes(row_label: str, titles: Sequence[str], cells: Sequence[ComparisonCell | None]) -> str:
    """Says which side has most and which has least; empty for a row without a measure.

    "Notice days: more for A (90 days) than for B (60 days), by 30 days (50%)."
    """
    known = [(cell, title) for cell, title in zip(cells, titles, strict=True) if cell is not None]
    measured = [(cell.value, cell, title) for cell, title in known if cell.value is not None]
    units = {cell.unit for _, cell, _ in measured}
    if len(measured) < len(cells) or len(units) > 1 or len({type(value) for value, _, _ in measured}) > 1:
        return ""
    low = min(measured, key=lambda side: sort_key_of_value(side[0]))
    high = max(measured, key=lambda side: sort_key_of_value(side[0]))
    words = translate_message(
        _message_for_extremes(is_date=isinstance(high[0], str), is_pair=len(measured) == 2),
        label=escape_markdown(row_label),
        high=escape_markdown(high[2]),
        high_value=escape_markdown(high[1].text),
        low=escape_markdown(low[2]),
        low_value=escape_markdown(low[1].text),
    )
    if isinstance(high[0], float) and isinstance(low[0], float):
        words += _describe_gap(high[0], low[0], high[1])
    return words + "."


def _message_for_extremes(*, is_date: bool, is_pair: bool) -> str:
    match is_date, is_pair:
        case True, True:
            return mark_message("{label}: later for **{high}** ({high_value}) than for **{low}** ({low_value})")
        case True, False:
            return mark_message("{label}: latest for **{high}** ({high_value}), earliest for **{low}** ({low_value})")
        case False, True:
            return mark_message("{label}: more for **{high}** ({high_value}) than for **{low}** ({low_value})")
        case _:
            return mark_message("{label}: most for **{high}** ({high_value}), least for **{low}** ({low_value})")


def _describe_gap(high: float, low: float, cell: ComparisonCell) -> str:
    """ ", a difference of 30 days (50%)": in percent of the lower value, unless that is zero or negative."""
    values = {"difference": escape_markdown(cell.format_value(round(high - low, 9)))}
    if low <= 0 or cell.unit in _PERCENT_UNITS:
        return translate_message(", a difference of {difference}", **values)
    percent = 100 * (high - low) / low
    shown = format_number(round(percent) if percent >= _MIN_WHOLE_PERCENT else float(f"{percent:.2g}"))
    return translate_message(", a difference of {difference} ({percent}%)", percent=shown, **values)


COMPOSERS = (
    LegComposer(SideFacts, _compose_side),
    LegComposer(DocumentCountFacts, _compose_document_count),
    LegComposer(SideValuesFacts, _compose_side_values),
    LegComposer(SideQuoteFacts, _compose_side_quote),
)

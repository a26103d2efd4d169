"""Describes figures, groups and shares; groups also become a table."""

from collections.abc import Iterator

from agent.compose.composed_leg import ComposedLeg, LegComposer, cite_quotes
from agent.compose.phrases.figures import (
    describe_functions,
    format_computed_value,
    format_figure,
    name_of_function,
)
from agent.compose.phrases.nouns import format_count
from agent.compose.phrases.set_description import describe_set, noun_of, qualifier_of
from agent.compose.phrases.unstated_values import add_unstated_values, close_sentence, describe_unstated_values
from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import (
    capitalize_words,
    escape_markdown,
    format_quotation,
    join_by_colon,
    join_words,
    lowercase_label,
    lowercase_words,
)
from agent.compose.pictures.figure_pictures import picture_groups
from agent.forms.compute_numbers import ComputationFacts, ShareFacts
from agent.forms.cross_table import CrossTableFacts
from agent.forms.find_passages import is_part_of_record
from agent.outcome import GroupLine, ResultTable
from agent.review.leg_review import LegReview
from agent.translation.message_catalogues import translate_message, translate_plural
from storage.search.plan import AggregateFunction
from storage.search.schema import SchemaField

_MAX_NAMED_GROUPS = 5  # groups of a ranking that the sentence names, too
_MAX_LISTED_VALUES = 10  # that the sentence names, if it is asked which there are
_COUNTING_FUNCTIONS = (AggregateFunction.COUNT, AggregateFunction.DISTINCT)


def _compose_computation(facts: ComputationFacts, review: LegReview) -> ComposedLeg:
    lines = _describe_figures(facts, review)
    text = "\n".join(f"- {line}" for line in lines) if len(lines) > 1 else "".join(lines)
    if facts.figures and len(lines) <= 1:
        text += "."
    warnings, remarks = describe_unstated_values(review)
    if not text and not warnings:  # no document has a value to compute with
        text = f"**{format_count(review.count, noun_of(review))}**{qualifier_of(review)}."
    gap = "\n\n" if len(lines) > 1 else " "
    sentences = [gap.join(filter(None, (*warnings, close_sentence(text) if remarks else text)))]
    if facts.support is not None:
        is_quoted = facts.has_value_in_text and not is_part_of_record(facts.support.quote.text, review)
        quote = (
            f" — “{format_quotation(facts.support.quote.text, is_code=facts.support.quote.is_code)}” [1]"
            if is_quoted
            else " [1]"
        )
        sentences.append(quote)
    sentences += (f"{gap}{remark}" for remark in (*remarks, *_describe_readings(facts)))
    return ComposedLeg(
        sentences=tuple(sentences),
        separator="",
        citations=cite_quotes(facts.quotes),
        tables=_tables_of_groups(facts, review),
        pictures=picture_groups(facts),
    )


def _describe_readings(facts: ComputationFacts) -> Iterator[str]:
    """Yields how sure the values are that were read from texts."""
    counts = facts.read_values
    if counts is None:
        return
    values = {"count": format_number(counts.read), "sure": format_number(counts.sure)}
    if counts.sure == counts.read:
        yield translate_plural(
            "I read {count} value in the texts, and am sure of it.",
            "I read {count} values in the texts, and am sure of all of them.",
            counts.read,
            **values,
        )
        return
    yield translate_plural(
        "I read {count} value in the texts, and am not sure of it.",
        "I read {count} values in the texts, and am sure of {sure} of them.",
        counts.read,
        **values,
    )


def _describe_figures(facts: ComputationFacts, review: LegReview) -> list[str]:
    answer_form, noun = facts.answer_form, noun_of(review)
    if answer_form.group is None or AggregateFunction.DISTINCT in answer_form.functions:
        qualifier = qualifier_of(review) if len(facts.figures) == 1 else ""
        return [format_figure(figure, facts.schema, noun, qualifier) + _list_values(facts) for figure in facts.figures]
    by = lowercase_words(facts.schema.by_name[answer_form.group.field].label)
    what = describe_functions(answer_form.functions, facts.field, facts.factor) if facts.field is not None else ""
    first = ""
    if answer_form.limit is not None and 0 < len(facts.groups) <= _MAX_NAMED_GROUPS:
        first = _name_first_group(facts) if answer_form.limit == 1 else _name_groups(facts)
    return [_describe_grouping(what, review, by) + first]


def _list_values(facts: ComputationFacts) -> str:
    """ ": **Acme**, **Globex**": the values or the documents that were asked for, if they are few; else nothing."""
    is_list = facts.answer_form.group is not None and facts.answer_form.functions == (AggregateFunction.DISTINCT,)
    if not is_list or not 0 < len(facts.groups) <= _MAX_LISTED_VALUES:
        return ""
    names = sorted(facts.group_names.get(group.label, "") or group.label for group in facts.groups)
    return join_by_colon("", ", ".join(f"**{escape_markdown(name)}**" for name in names))


def _describe_grouping(measure: str, review: LegReview, labels: str) -> str:
    """ "Sum of total of **12 receipts** dated 2031, by vendor:". Markdown, but for the labels."""
    values = {
        "documents": f"**{format_count(review.count, noun_of(review))}**{qualifier_of(review)}",
        "labels": escape_markdown(labels),
    }
    if not measure:
        return translate_message("{documents}, by {labels}:", **values)
    return translate_message("{measure} of {documents}, by {labels}:", measure=measure, **values)


def _name_first_group(facts: ComputationFacts) -> str:
    """ " **Acme**, EUR 20.00.": the group that the question asks for with its number, or those that share its place."""
    group = facts.groups[0]
    sharing = [other for other in facts.groups if (other.value, other.unit) == (group.value, group.unit)]
    values = {
        "names": join_words([f"**{escape_markdown(_name_of_group(other, facts))}**" for other in sharing]),
        "number": _number_of_group(group, facts),
    }
    if len(sharing) > 1:
        return translate_message(" {names}, {number} each.", **values)
    return translate_message(" {names}, {number}.", **values)


def _name_groups(facts: ComputationFacts) -> str:
    """ " **Acme**, 21; **Globex**, 13.": the groups that are compared or ranked, with their numbers."""
    named = [
        f"**{escape_markdown(_name_of_group(group, facts))}**, {_number_of_group(group, facts)}"
        for group in facts.groups
    ]
    return f" {'; '.join(named)}."


def _name_of_group(group: GroupLine, facts: ComputationFacts) -> str:
    """ "E005 (Sarah Whitlock)" of a group by a column that refers to employees. Raw text."""
    name = facts.group_names.get(group.label, "")
    return f"{group.label} ({name})" if name else group.label


def _number_of_group(group: GroupLine, facts: ComputationFacts) -> str:
    function = facts.answer_form.functions[0]
    if function in _COUNTING_FUNCTIONS:
        return escape_markdown(format_number(group.count))
    return escape_markdown(format_computed_value(function, group.value, group.unit, facts.field))


def _tables_of_groups(facts: ComputationFacts, review: LegReview) -> tuple[ResultTable, ...]:
    answer_form, groups = facts.answer_form, facts.groups
    if not groups or answer_form.group is None:
        return ()
    label, documents = _title_of_group(facts.schema.by_name[answer_form.group.field]), translate_message("Documents")
    function = answer_form.functions[0]
    if function in _COUNTING_FUNCTIONS:
        columns, rows = (
            (label, documents),
            tuple((_name_of_group(group, facts), format_number(group.count)) for group in groups),
        )
    else:
        columns = (label, name_of_function(function), documents)
        rows = tuple(
            (
                _name_of_group(group, facts),
                format_computed_value(function, group.value, group.unit, facts.field),
                format_number(group.count),
            )
            for group in groups
        )
    caption = describe_set(review.leg.search, review.question_context.schemas)
    return (ResultTable(caption=caption, columns=columns, rows=rows),)


def _title_of_group(field: SchemaField) -> str:
    return capitalize_words(field.label)


def _compose_share(facts: ShareFacts, review: LegReview) -> ComposedLeg:
    whole = escape_markdown(describe_set(facts.whole, review.question_context.schemas))
    share = format_figure(facts.figure, facts.schema, noun_of(review))
    text = translate_message(
        "{share} of {count} {documents}.", share=share, count=format_number(facts.whole_count), documents=whole
    )
    return ComposedLeg(sentences=(add_unstated_values(text, review, scope_count=facts.whole_count),))


def _compose_cross_table(facts: CrossTableFacts, review: LegReview) -> ComposedLeg:
    answer_form = facts.answer_form
    groups = [group for group in (answer_form.group, answer_form.second_group) if group is not None]
    by = join_words([lowercase_label(facts.schema.by_name[group.field].label) for group in groups])
    field = facts.schema.by_name.get(answer_form.field) if answer_form.field is not None else None
    factor = facts.schema.by_name.get(answer_form.factor) if answer_form.factor is not None else None
    what = describe_functions(answer_form.functions, field, factor) if field is not None else ""
    text = _describe_grouping(what, review, by)
    if facts.left_out:
        text += translate_plural(
            " {count} more columns are not shown.",
            " {count} more columns are not shown.",
            facts.left_out,
            count=format_number(facts.left_out),
        )
    text = add_unstated_values(text, review)
    caption = describe_set(review.leg.search, review.question_context.schemas)
    rows = tuple((label, *_cells_of_row(label, facts, field)) for label in facts.row_labels)
    head = _title_of_group(facts.schema.by_name[groups[0].field])
    table = ResultTable(caption=caption, columns=(head, *facts.column_labels), rows=rows)
    return ComposedLeg(sentences=(text,), tables=(table,))


def _cells_of_row(label: str, facts: CrossTableFacts, field: SchemaField | None) -> Iterator[str]:
    function = facts.answer_form.functions[0]
    for column in facts.column_labels:
        figures = [figure for row, other, figure in facts.cells if (row, other) == (label, column)]
        yield "; ".join(
            format_number(figure.count)
            if function in _COUNTING_FUNCTIONS
            else format_computed_value(function, figure.value, figure.unit, field)
            for figure in figures
        ) or ("0" if function in _COUNTING_FUNCTIONS else "–")


COMPOSERS = (
    LegComposer(CrossTableFacts, _compose_cross_table),
    LegComposer(ComputationFacts, _compose_computation),
    LegComposer(ShareFacts, _compose_share),
)

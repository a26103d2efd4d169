"""Says how a question was read, without its answer: "the number of calls dated 2031"."""

from collections.abc import Mapping

from agent.compose.phrases.figures import describe_functions
from agent.compose.phrases.order_words import describe_order
from agent.compose.phrases.set_description import describe_leg_set
from agent.compose.phrases.words import escape_markdown, join_words, lowercase_label
from agent.review.leg_review import LegReview
from agent.translation.message_catalogues import translate_message
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, AnswerForm, CheckClaims
from storage.search.schema import SchemaField


def describe_taken_reading(answer_form: AnswerForm, review: LegReview, title: str = "") -> str:
    """Describes the reading as Markdown, as a part of a sentence. `title`: of the document whose values are asked."""
    fields, documents = _fields_of(review), describe_leg_set(review)
    if answer_form.reads_values:
        names = [fields[name].label for _, name in answer_form.requested_fields if name in fields]
        labels = escape_markdown(join_words([lowercase_label(label) for label in dict.fromkeys(names)]))
        return translate_message(
            "{labels} of {documents}", labels=labels, documents=escape_markdown(title) or documents
        )
    if isinstance(answer_form, CheckClaims):
        return translate_message("whether there are {documents}", documents=documents)
    order = answer_form.list_order
    if order is not None and order.field in fields:
        return f"{documents}, {describe_order(fields[order.field], descending=order.descending)}"
    if not answer_form.computes:
        return documents
    return _describe_grouping(answer_form, _describe_measure(answer_form, documents, fields), fields)


def _describe_measure(answer_form: AnswerForm, documents: str, fields: Mapping[FieldName, SchemaField]) -> str:
    if AggregateFunction.SHARE in answer_form.computed_functions:
        return translate_message("the share of {documents}", documents=documents)
    field = fields.get(answer_form.computed_field) if answer_form.computed_field is not None else None
    if field is None:
        return translate_message("the number of {documents}", documents=documents)
    if answer_form.computed_functions == (AggregateFunction.DISTINCT,):
        label = escape_markdown(lowercase_label(field.label))
        return translate_message("the different values of {label} of {documents}", label=label, documents=documents)
    factor = fields.get(answer_form.computed_factor) if answer_form.computed_factor is not None else None
    measure = describe_functions(answer_form.computed_functions, field, factor, begins_sentence=False)
    return translate_message("the {measure} of {documents}", measure=measure, documents=documents)


def _describe_grouping(answer_form: AnswerForm, measure: str, fields: Mapping[FieldName, SchemaField]) -> str:
    groups = [group for group in (answer_form.grouping, answer_form.second_grouping) if group is not None]
    labels = [lowercase_label(fields[group.field].label) for group in groups if group.field in fields]
    if not labels:
        return measure
    return translate_message("{measure}, by {labels}", measure=measure, labels=escape_markdown(join_words(labels)))


def _fields_of(review: LegReview) -> Mapping[FieldName, SchemaField]:
    schemas = review.question_context.schemas
    return {
        name: field for bucket in reversed(review.leg.search.buckets) for name, field in schemas[bucket].by_name.items()
    }

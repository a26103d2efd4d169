"""Describes a list of documents, with a table."""

from collections.abc import Sequence

from agent.compose.clarifications import describe_split
from agent.compose.composed_leg import ComposedLeg, LegComposer
from agent.compose.phrases.conditions import (
    escape_markdown,
    format_count,
    format_number,
    format_value,
    lowercase_label,
)
from agent.compose.phrases.figures import format_amount
from agent.compose.phrases.set_description import noun_of, qualifier_of
from agent.compose.phrases.tables import table_of_records
from agent.forms.figures import currency_of_value
from agent.forms.list_documents import ListFacts, NextDocumentsFacts
from agent.limits import SHOWN_DOCUMENTS
from agent.review.leg_review import LegReview
from storage.search.index import DocumentRecord
from storage.search.plan import ListDocuments
from storage.search.schema import FieldType, SchemaField

_MAX_NAMED_DOCUMENTS = 5  # documents of a ranking that the sentence names, too
_ORDER_END_WORDS = {  # the words for the low and the high end of a field's values
    FieldType.MONEY: ("lowest", "highest"),
    FieldType.NUMBER: ("lowest", "highest"),
    FieldType.DATE: ("earliest", "latest"),
}


def _compose_list(facts: ListFacts, review: LegReview) -> ComposedLeg:
    shown = min(len(facts.records), SHOWN_DOCUMENTS)
    text = _describe_list(facts, review)
    if facts.tie_count is not None:
        place = "last" if (facts.answer_form.limit or 0) > 1 else "first"
        text += f" {format_count(facts.tie_count, noun_of(review))} share the {place} place."
    if facts.is_by_currency:
        text += " Amounts of several currencies are not compared: these are the first of each."
    if facts.total > shown:
        by = f", and choices by {escape_markdown(describe_split(facts.split))}:" if facts.split is not None else ":"
        text += f" The first {shown}{by}"
    caption = f"{shown} of {format_number(facts.total)}"
    schemas = review.question_context.schemas
    table = table_of_records(facts.records, review.leg.search, schemas, caption, facts.answer_form.order)
    return ComposedLeg(sentences=(text,), tables=(table,))


def _describe_list(facts: ListFacts, review: LegReview) -> str:
    """Returns "**5 of 240 listings** where city = Porto, highest price first."; "5 of" only if the list is limited."""
    answer_form = facts.answer_form
    if answer_form.order is None or answer_form.limit is None:
        names = [f"**{escape_markdown(record.title)}**" for record in facts.records]
        named = f": {', '.join(names)}" if 0 < len(names) == facts.total <= _MAX_NAMED_DOCUMENTS else ""
        return f"**{format_count(facts.total, noun_of(review))}**{qualifier_of(review)}{named}."
    some = "" if facts.total == review.count else f"{facts.total:,} of "
    end = _describe_order_end(facts.order_field, descending=answer_form.order.descending)
    order = f"{end} first" if facts.total > 1 else f"the {end}"
    listed = f"**{some}{format_count(review.count, noun_of(review))}**{qualifier_of(review)}"
    named = [describe_ranked_record(record, facts.order_field) for record in facts.records]
    first = f": {'; '.join(named)}" if 0 < len(named) == facts.total <= _MAX_NAMED_DOCUMENTS else ""
    return listed + (f", {order}{first}." if end else ".")


def _describe_order_end(field: SchemaField | None, *, descending: bool) -> str:
    """Names the end of the field that comes first: "highest price", "latest date"; empty without a field."""
    if field is None:
        return ""
    ends = _ORDER_END_WORDS.get(field.type, ("first", "last"))
    return f"{ends[descending]} {escape_markdown(lowercase_label(field.label))}"


def _compose_next_documents(facts: NextDocumentsFacts, review: LegReview) -> ComposedLeg:
    answer_form, records = facts.answer_form, facts.records
    whole = f"{format_count(review.count, noun_of(review))}{qualifier_of(review)}"
    if not records:
        return ComposedLeg(sentences=(f"That was all: {whole}.",))
    if len(records) == 1 and answer_form.limit == 1:
        return _compose_rank(answer_form, records, review)
    last = answer_form.skip + len(records)
    schemas, caption = review.question_context.schemas, f"{len(records)} more"
    table = table_of_records(records, review.leg.search, schemas, caption, answer_form.order)
    return ComposedLeg(sentences=(f"**{answer_form.skip + 1:,} to {last:,}** of {whole}:",), tables=(table,))


def _compose_rank(answer_form: ListDocuments, records: Sequence[DocumentRecord], review: LegReview) -> ComposedLeg:
    """ "Number 2 of 40 flats, highest rent first: F12, EUR 900.00."."""
    record, order = records[0], answer_form.order
    schema = review.question_context.schemas[record.bucket]
    field = schema.by_name.get(order.field) if order is not None else None
    end = _describe_order_end(field, descending=order.descending) if order is not None else ""
    whole = f"{format_count(review.count, noun_of(review))}{qualifier_of(review)}"
    text = f"**Number {answer_form.skip + 1}** of {whole}{f', {end} first' if end else ''}"
    named = describe_ranked_record(record, field)
    table = table_of_records(records, review.leg.search, review.question_context.schemas, "1", order)
    return ComposedLeg(sentences=(f"{text}: {named}.",), tables=(table,))


def describe_ranked_record(record: DocumentRecord, field: SchemaField | None) -> str:
    """Returns the title of the document, with the value that it is ranked by."""
    value = record.values.get(field.name) if field is not None else None
    title = f"**{escape_markdown(record.title)}**"
    if field is None or value is None:
        return title
    currency = currency_of_value(record.values, field)
    shown = format_amount(value, currency, field) if isinstance(value, (str, float)) else format_value(value, field)
    return f"{title}, {escape_markdown(shown)}"


COMPOSERS = (LegComposer(ListFacts, _compose_list), LegComposer(NextDocumentsFacts, _compose_next_documents))

"""Describes a list of documents, with a table."""

from collections.abc import Sequence

from agent.compose.choices.document_labels import name_records
from agent.compose.clarifications import describe_split
from agent.compose.composed_leg import ComposedLeg, LegComposer, cite_quotes
from agent.compose.phrases.figures import format_amount
from agent.compose.phrases.nouns import InflectedPhrase, format_count
from agent.compose.phrases.order_words import describe_end_of_order, describe_order
from agent.compose.phrases.set_description import noun_of, qualifier_of
from agent.compose.phrases.tables import list_cells, table_of_records
from agent.compose.phrases.unstated_values import add_unstated_values
from agent.compose.phrases.values import format_number, format_value
from agent.compose.phrases.words import escape_markdown, join_by_colon, lowercase_label
from agent.forms.figures import currency_of_value
from agent.forms.list_documents import ListFacts, NextDocumentsFacts
from agent.limits import SHOWN_DOCUMENTS
from agent.review.leg_review import LegReview
from agent.translation.languages import is_reply_in_english
from agent.translation.message_catalogues import translate_message
from storage.search.index import DocumentRecord
from storage.search.plan import ListDocuments
from storage.search.schema import SchemaField

_MAX_NAMED_DOCUMENTS = 5  # documents of a ranking that the sentence names, too


def _compose_list(facts: ListFacts, review: LegReview) -> ComposedLeg:
    shown = min(len(facts.records), SHOWN_DOCUMENTS)
    text = _describe_list(facts, review)
    if facts.tie_count is not None:
        documents = format_count(facts.tie_count, noun_of(review))
        text += (
            translate_message(" {documents} share the last place.", documents=documents)
            if (facts.answer_form.limit or 0) > 1
            else translate_message(" {documents} share the first place.", documents=documents)
        )
    if facts.is_by_currency:
        text += translate_message(" Amounts of several currencies are not compared: these are the first of each.")
    text = add_unstated_values(text, review)
    if facts.total > shown and facts.split is not None:
        label = escape_markdown(describe_split(facts.split))
        text += translate_message(" The first {count}, and choices by {label}:", count=shown, label=label)
    elif facts.total > shown:
        text += translate_message(" The first {count}:", count=shown)
    if facts.row is not None:
        cells = list_cells(facts.row.lines)
        return ComposedLeg(sentences=(text, *cells), separator="\n", citations=cite_quotes(facts.quotes))
    caption = translate_message("{count} of {total}", count=shown, total=format_number(facts.total))
    schemas = review.question_context.schemas
    table = table_of_records(
        facts.records, review.leg.search, schemas, caption, facts.answer_form.order, review.leg.question
    )
    return ComposedLeg(sentences=(text,), tables=(table,))


def _describe_list(facts: ListFacts, review: LegReview) -> str:
    """Returns "**5 of 240 listings** in Porto, highest price first."; "5 of" only if the list is limited."""
    answer_form = facts.answer_form
    if answer_form.order is None or answer_form.limit is None:
        names = [f"**{escape_markdown(name)}**" for name in _names_of(facts.records, review)]
        named = join_by_colon("", ", ".join(names)) if 0 < len(names) == facts.total <= _MAX_NAMED_DOCUMENTS else ""
        return f"**{format_count(facts.total, noun_of(review))}**{qualifier_of(review)}{named}."
    documents = format_count(review.count, noun_of(review))
    if facts.total != review.count:
        documents = translate_message("{count} of {documents}", count=format_number(facts.total), documents=documents)
    listed = f"**{documents}**{qualifier_of(review)}"
    if facts.order_field is None:
        return f"{listed}."
    if is_reply_in_english() and answer_form.limit == facts.total == len(facts.records) == 1:
        return _describe_extreme(facts.records[0], facts.order_field, answer_form, review)
    order = describe_order(facts.order_field, descending=answer_form.order.descending, is_single=facts.total <= 1)
    names = _names_of(facts.records, review)
    named = [
        describe_ranked_record(record, facts.order_field, name) + _describe_asked(record, name, answer_form, review)
        for record, name in zip(facts.records, names, strict=True)
    ]
    first = join_by_colon("", "; ".join(named)) if 0 < len(named) == facts.total <= _MAX_NAMED_DOCUMENTS else ""
    return f"{listed}, {order}{first}."


def _describe_extreme(record: DocumentRecord, field: SchemaField, answer_form: ListDocuments, review: LegReview) -> str:
    """ "**Pump 5** has the highest price of the **12 pumps** made in 2031: EUR 20.00."."""
    descending = answer_form.order is None or answer_form.order.descending
    documents = f"**{format_count(review.count, noun_of(review))}**{qualifier_of(review)}"
    end = describe_end_of_order(field, descending=descending)
    (own_name,) = _names_of([record], review)
    title, _, value = describe_ranked_record(record, field, own_name).partition("**, ")
    name = f"{title.removesuffix('**')}**{_describe_asked(record, own_name, answer_form, review)}"
    if review.count == 1:
        return f"{documents}{join_by_colon('', name)}{f', {value}' if value else ''}."
    return f"{name} has {end} of the {documents}{join_by_colon('', value) if value else ''}."


def _describe_asked(record: DocumentRecord, own_name: str, answer_form: ListDocuments, review: LegReview) -> str:
    """ " (tenant: **Ada Berg**)", for the fields that are asked for and that the name of the document does not hold."""
    schema = review.question_context.schemas[record.bucket]
    values = [
        join_by_colon(
            escape_markdown(lowercase_label(field.label)), f"**{escape_markdown(format_value(value, field))}**"
        )
        for name in answer_form.beside
        if (field := schema.by_name.get(name)) is not None
        and (value := record.values.get(name)) is not None
        and format_value(value, field) not in own_name
    ]
    return f" ({', '.join(values)})" if values else ""


def _compose_next_documents(facts: NextDocumentsFacts, review: LegReview) -> ComposedLeg:
    answer_form, records, remarks = facts.answer_form, facts.records, _describe_changes(facts)
    if not records:
        whole = _describe_whole(review)
        if answer_form.skip < review.count:
            text = translate_message("The list in the chat ends here; a file has all {documents}.", documents=whole)
        else:
            text = translate_message("That was all: {documents}.", documents=whole)
        return ComposedLeg(sentences=(*remarks, text))
    if len(records) == 1 and answer_form.limit == 1 and not remarks:
        return _compose_rank(answer_form, records, review)
    caption = translate_message("{count} more", count=len(records))
    table = table_of_records(
        records, review.leg.search, review.question_context.schemas, caption, answer_form.order, review.leg.question
    )
    text = translate_message(
        "**{first} to {last}** of {documents}:",
        first=format_number(facts.first_position),
        last=format_number(facts.last_position),
        documents=_describe_whole(review),
    )
    return ComposedLeg(sentences=(*remarks, text), tables=(table,))


def _describe_changes(facts: NextDocumentsFacts) -> tuple[str, ...]:
    """Says whether the documents have changed since the list was shown."""
    if facts.begins_anew:
        return (translate_message("The documents have changed since I showed this list, so I begin it again."),)
    if facts.earlier_total is not None:
        count = format_number(facts.earlier_total)
        return (
            translate_message("The documents have changed since I showed this list: there were {count}.", count=count),
        )
    return ()


def _describe_whole(review: LegReview) -> InflectedPhrase:
    """ "40 flats in Porto"."""
    count, qualifier = format_count(review.count, noun_of(review)), qualifier_of(review)
    return InflectedPhrase(f"{count}{qualifier}", f"{count.dative}{qualifier}")


def _compose_rank(answer_form: ListDocuments, records: Sequence[DocumentRecord], review: LegReview) -> ComposedLeg:
    """ "Number 2 of 40 flats, highest rent first: F12, EUR 900.00."."""
    record, order = records[0], answer_form.order
    schema = review.question_context.schemas[record.bucket]
    field = schema.by_name.get(order.field) if order is not None else None
    text = translate_message(
        "**Number {number}** of {documents}", number=answer_form.skip + 1, documents=_describe_whole(review)
    )
    if order is not None and field is not None:
        text += f", {describe_order(field, descending=order.descending)}"
    named = describe_ranked_record(record, field, _names_of([record], review)[0])
    table = table_of_records(
        records, review.leg.search, review.question_context.schemas, "1", order, review.leg.question
    )
    return ComposedLeg(sentences=(f"{join_by_colon(text, named)}.",), tables=(table,))


def _names_of(records: Sequence[DocumentRecord], review: LegReview) -> list[str]:
    return name_records(records, review.question_context.schemas, review.leg.question)


def describe_ranked_record(record: DocumentRecord, field: SchemaField | None, name: str) -> str:
    """Returns the name of the document, with the value that it is ranked by."""
    value = record.values.get(field.name) if field is not None else None
    title = f"**{escape_markdown(name)}**"
    if field is None or value is None:
        return title
    currency = currency_of_value(record.values, field)
    shown = format_amount(value, currency, field) if isinstance(value, (str, float)) else format_value(value, field)
    return f"{title}, {escape_markdown(shown)}"


COMPOSERS = (LegComposer(ListFacts, _compose_list), LegComposer(NextDocumentsFacts, _compose_next_documents))

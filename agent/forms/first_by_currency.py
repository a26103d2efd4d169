"""The highest or lowest amounts of each currency, for lists with amounts in several currencies."""

from dataclasses import replace

from agent.review.leg_review import LegReview
from storage.search.conditions import ComparisonCondition, ComparisonOperator, conjunction_of
from storage.search.ids import FieldName
from storage.search.index import AggregateRequest, DocumentRecord, RecordPageRequest
from storage.search.plan import ListDocuments


async def first_records_by_currency(answer_form: ListDocuments, review: LegReview) -> tuple[DocumentRecord, ...]:
    """Returns the first documents of each currency; the currency with the most documents comes first.

    Returns nothing if the amounts have one currency, if the list is not ordered by an amount, or if it has no limit.
    """
    if answer_form.order is None or not answer_form.limit or len(review.leg.search.clauses) != 1:
        return ()
    clause = review.leg.search.clauses[0]
    field = review.question_context.schemas[clause.bucket].by_name.get(answer_form.order.field)
    if field is None or field.currency_field is None or not _has_several_currencies(review, field.currency_field):
        return ()
    amounts = AggregateRequest(review.leg.search, field.name)
    lines = (await review.session.ask_index((amounts,)))[amounts]
    units = [line.unit for line in lines if line.unit]
    if len(units) < 2:
        return ()
    requests = [
        RecordPageRequest(
            review.leg.search.with_clauses(
                replace(
                    clause,
                    condition=conjunction_of(clause.condition, _currency_condition_for(field.currency_field, unit)),
                )
            ),
            answer_form.order,
            limit=answer_form.limit,
        )
        for unit in units
    ]
    answers = await review.session.ask_index(requests)
    return tuple(record for request in requests for record in answers[request].records if field.name in record.values)


def _currency_condition_for(currency_field: FieldName, unit: str) -> ComparisonCondition:
    return ComparisonCondition(field=currency_field, op=ComparisonOperator.EQ, value=unit, words=unit)


def _has_several_currencies(review: LegReview, currency_field: FieldName) -> bool:
    bucket = review.leg.search.clauses[0].bucket
    currencies = review.question_context.vocabulary.field_of(bucket, currency_field)
    return currencies is not None and len(currencies.values) > 1

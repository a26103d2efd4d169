"""The highest, or the lowest, of amounts in several currencies: those of each currency by itself."""

from dataclasses import replace

from agent.decision import Under
from storage.search.conditions import Compare, Op, all_of
from storage.search.ids import FieldName
from storage.search.index import Aggregate, Record, Records
from storage.search.plan import ListDocuments


async def first_of_each(under: Under, wanted: ListDocuments) -> tuple[Record, ...]:
    """The first documents of each currency, the commonest currency first; none where the amounts are of one, or the
    list is in no such order, or has no end.
    """
    if wanted.order is None or not wanted.limit or len(under.leg.search.clauses) != 1:
        return ()
    clause = under.leg.search.clauses[0]
    field = under.material.schemas[clause.bucket].by_name.get(wanted.order.field)
    if field is None or field.currency_field is None or not _are_several(under, field.currency_field):
        return ()
    amounts = Aggregate(under.leg.search, field.name)
    lines = (await under.desk.ask((amounts,)))[amounts]
    units = [one.unit for one in lines if one.unit]
    if len(units) < 2:
        return ()
    asked = [
        Records(
            under.leg.search.with_clauses(
                replace(clause, condition=all_of(clause.condition, _of(field.currency_field, unit)))
            ),
            wanted.order,
            limit=wanted.limit,
        )
        for unit in units
    ]
    answers = await under.desk.ask(asked)
    return tuple(record for one in asked for record in answers[one].records if field.name in record.values)


def _of(currency: FieldName, unit: str) -> Compare:
    return Compare(field=currency, op=Op.EQ, value=unit, words=unit)


def _are_several(under: Under, currency: FieldName) -> bool:
    bucket = under.leg.search.clauses[0].bucket
    known = (one for one in under.material.vocabulary.fields if one.bucket == bucket and one.field == currency)
    return any(len(one.values) > 1 for one in known)

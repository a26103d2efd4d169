"""What people ask first of their invoices, customers and notices."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder
from tests.agent.review.small_index import build_document, open_small_index


def _field(name: str, kind: FieldType, *synonyms: str) -> SchemaField:
    return SchemaField(name=FieldName(name), type=kind, synonyms=synonyms)


_INVOICES_SCHEMA = Schema(
    bucket=BucketId("invoices"),
    synonyms=("invoices",),
    fields=(
        _field("Invoice", FieldType.CATEGORY, "what … invoice"),
        _field("Date", FieldType.DATE, "dated"),
        _field("Customer", FieldType.CATEGORY),
        _field("Job", FieldType.CATEGORY),
        _field("Amount", FieldType.NUMBER, "come to", "what … come to"),
    ),
    order=SchemaOrder(field=FieldName("Date")),
)
_CUSTOMERS_SCHEMA = Schema(
    bucket=BucketId("customers"),
    synonyms=("customer", "customers"),
    fields=(_field("Customer", FieldType.CATEGORY), _field("Discount %", FieldType.NUMBER, "discount")),
)
_NOTICES_SCHEMA = Schema(bucket=BucketId("notices"), synonyms=("notice", "notices"))
_INVOICES = (
    ("INV-101", "2031-03-04", "Beck Farm", "Full service", 120.0),
    ("INV-102", "2031-03-20", "Dale Inn", "Full service", 80.0),
    ("INV-103", "2031-04-02", "Beck Farm", "Puncture", 15.0),
    ("INV-104", "2031-04-11", "Wren Studio", "Puncture", 240.0),
)
_CUSTOMERS = (("Beck Farm", 10.0), ("Dale Inn", 0.0), ("Wren Studio", 5.0))
_NOTICES = (
    ("Opening hours", "Monday to Friday 9:00 to 17:30.\nSaturday 9:00 to 13:00.\nSunday closed."),
    ("House rules", "Open shoes are not allowed in the workshop."),
    ("Price list", "Full service: £85"),
)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    invoices = [
        build_document(
            number,
            f"Invoice: {number}\nDate: {day}\nCustomer: {customer}\nJob: {job}\nAmount: {amount:.2f}",
            Invoice=number,
            Date=day,
            Customer=customer,
            Job=job,
            Amount=amount,
        )
        for number, day, customer, job, amount in _INVOICES
    ]
    customers = [
        build_document(name, f"Customer: {name}\nDiscount %: {discount:g}", Customer=name, **{"Discount %": discount})
        for name, discount in _CUSTOMERS
    ]
    notices = [build_document(title, text) for title, text in _NOTICES]
    buckets = [(_INVOICES_SCHEMA, invoices), (_CUSTOMERS_SCHEMA, customers), (_NOTICES_SCHEMA, notices)]
    async with open_small_index(tmp_path, buckets) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "stated"),
    [
        ("What was our last invoice?", "INV-104"),
        ("Which was the first invoice to Beck Farm?", "INV-101"),
        ("What did the last invoice to Beck Farm come to?", "15"),
        ("How much is a full service?", "£85"),
        ("Are we open on Saturdays?", "**Yes**"),
        ("Are we open on Sundays?", "**No**"),
    ],
)
async def test_first_questions_are_answered(question: str, stated: str, context: AgentContext) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer)
    assert stated in outcome.text


async def test_what_was_invoiced_is_a_list(context: AgentContext) -> None:
    outcome = await answer("What did we invoice in March?", context)

    assert isinstance(outcome, Answer)
    assert set(outcome.legs[0].doc_ids) == {"inv-101", "inv-102"}


@pytest.mark.parametrize("question", ["Which customers get a discount?", "Which customers have a discount?"])
async def test_a_discount_of_nothing_is_none(question: str, context: AgentContext) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer)
    assert set(outcome.legs[0].doc_ids) == {"beck-farm", "wren-studio"}


async def test_nobody_is_the_biggest_by_a_percentage(context: AgentContext) -> None:
    outcome = await answer("Who is our biggest customer?", context)

    assert not isinstance(outcome, Answer)


async def test_a_rule_without_days_says_nothing_of_a_day(context: AgentContext) -> None:
    outcome = await answer("Are open shoes allowed on Saturdays?", context)

    assert "**No**" not in (outcome.text if isinstance(outcome, Answer) else "")

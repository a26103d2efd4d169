"""Questions about the orders of a customer who is named, over two tables with plain numbers as ids."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder
from tests.agent.review.small_index import build_document, open_small_index

_CUSTOMERS_SCHEMA = Schema(
    bucket=BucketId("customers"),
    synonyms=("customer", "customers"),
    fields=(
        SchemaField(name=FieldName("customer_id"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("name"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("city"), type=FieldType.CATEGORY),
    ),
)
_ORDERS_SCHEMA = Schema(
    bucket=BucketId("orders"),
    synonyms=("order", "orders"),
    order=SchemaOrder(field=FieldName("order_date")),
    fields=(
        SchemaField(name=FieldName("order_id"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("customer_id"), type=FieldType.CATEGORY, references="customers.customer_id"),
        SchemaField(name=FieldName("order_date"), type=FieldType.DATE, synonyms=("ordered on", "when … order")),
        SchemaField(name=FieldName("amount"), type=FieldType.NUMBER),
        SchemaField(name=FieldName("status"), type=FieldType.CATEGORY),
    ),
)
_CUSTOMERS = (("101", "Harper Moss", "Leeds"), ("102", "Pine Bakery", "Hull"), ("103", "Rook Studio", "Leeds"))
_ORDERS = (
    ("5001", "101", "2026-03-01", 120.0, "open"),
    ("5002", "101", "2026-04-02", 80.0, "paid"),
    ("5003", "102", "2026-04-09", 55.0, "paid"),
    ("5004", "103", "2026-05-11", 70.0, "cancelled"),
)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    customers = [
        build_document(
            name, f"customer_id: {number}\nname: {name}\ncity: {city}", customer_id=number, name=name, city=city
        )
        for number, name, city in _CUSTOMERS
    ]
    orders = [
        build_document(
            f"Order {number}",
            f"order_id: {number}\ncustomer_id: {customer}\norder_date: {day}\namount: {amount}\nstatus: {status}",
            order_id=number,
            customer_id=customer,
            order_date=day,
            amount=amount,
            status=status,
        )
        for number, customer, day, amount, status in _ORDERS
    ]
    async with open_small_index(tmp_path, [(_CUSTOMERS_SCHEMA, customers), (_ORDERS_SCHEMA, orders)]) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("how much did Harper Moss spend", "**200**"),
        ("total spent by Harper Moss", "**200**"),
        ("how much has Harper Moss spent with us so far", "**200**"),
        ("what did Pine Bakery order", "**Order 5003**"),
        ("has Harper Moss any open orders", "**Order 5001**"),
        ("does Harper Moss have any open orders", "**Order 5001**"),
        ("orders from Harper Moss in April", "**Order 5002**"),
    ],
)
async def test_documents_that_refer_to_a_name_answer(question: str, said: str, context: AgentContext) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer), outcome
    assert said in outcome.text


async def test_nothing_is_found_for_a_name_without_such_documents(context: AgentContext) -> None:
    outcome = await answer("has Rook Studio any open orders", context)

    assert isinstance(outcome, Clarify)
    assert "no orders" in outcome.text


async def test_a_value_of_the_named_row_itself_is_read_there(context: AgentContext) -> None:
    outcome = await answer("what city is Rook Studio in", context)

    assert isinstance(outcome, Answer), outcome
    assert "Leeds" in outcome.text

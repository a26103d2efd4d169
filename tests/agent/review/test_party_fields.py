"""Questions about somebody who is named in one table, for what another table says of them, and for flags in words."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify
from storage.search.documents import Document
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from tests.agent.review.small_index import build_document, open_small_index


def _field(
    name: str,
    kind: FieldType,
    title: str = "",
    *,
    references: str = "",
    currency: str = "",
    synonyms: tuple[str, ...] = (),
) -> SchemaField:
    return SchemaField(
        name=FieldName(name), type=kind, title=title, references=references, currency=currency, synonyms=synonyms
    )


_CATEGORY, _FLAG, _DATE = FieldType.CATEGORY, FieldType.FLAG, FieldType.DATE
_TENANTS_SCHEMA = Schema(
    bucket=BucketId("tenants"),
    synonyms=("tenant", "tenants"),
    fields=(
        _field("tenant_id", _CATEGORY, "Tenant ID"),
        _field("tenant_name", _CATEGORY, "Tenant Name"),
        _field("main_contact", _CATEGORY, "Main Contact", synonyms=("contact", "who … contact")),
        _field("trade", _CATEGORY, "Trade"),
        _field("account_manager", _CATEGORY, "Account Manager", synonyms=("manager", "who … manage")),
    ),
)
_LEASES_SCHEMA = Schema(
    bucket=BucketId("leases"),
    synonyms=("lease", "leases"),
    fields=(
        _field("lease_no", _CATEGORY, "Lease No"),
        _field("tenant", _CATEGORY, "Tenant", references="tenants.tenant_id"),
        _field("band", _CATEGORY, "Band"),
        _field("monthly_rent", FieldType.MONEY, "Monthly Rent", currency="GBP", synonyms=("rent", "how much … pay")),
        _field("end_date", _DATE, "End Date", synonyms=("ends", "when … end")),
        _field("pets_allowed", _FLAG, "Pets Allowed"),
        _field("deposit_paid", _FLAG, "Deposit Paid"),
    ),
)
_REPAIRS_SCHEMA = Schema(
    bucket=BucketId("repairs"),
    synonyms=("repair", "repairs"),
    fields=(
        _field("job", FieldType.NUMBER, "Job"),
        _field("shop", _CATEGORY, "Shop"),
        _field("reported_by", _CATEGORY, "Reported By"),
        _field("finished", _DATE, "Finished"),
        _field("guarantee_until", _DATE, "Guarantee Until"),
        _field("target_met", _FLAG, "Target Met"),
        _field("ladder_needed", _FLAG, "Ladder Needed"),
    ),
)
_TENANTS = (
    ("T01", "Ashcombe Bakery", "Ida Moor", "Food", "Al Voss"),
    ("T02", "Brill Tailors", "Sam Tull", "Clothing", "Al Voss"),
    ("T03", "Corran Shoes", "Vi Dunn", "Clothing", "Bea Lind"),
    ("T04", "Dapple Toys", "Lou Ince", "Toys", "Bea Lind"),
    ("T05", "Ember Candles", "Pat Orr", "Accountancy", "Al Voss"),
    ("T06", "Corran Bikes", "Mo Rae", "Sport", "Al Voss"),
)
_LEASES = (
    ("L-101", "T01", "Premium", 400.0, "2032-01-31", False, True),
    ("L-102", "T02", "Basic", 200.0, "2032-02-28", False, True),
    ("L-103", "T03", "Basic", 220.0, "2033-02-28", True, False),
    ("L-104", "T04", "Premium", 450.0, "2031-04-30", False, True),
    ("L-105", "T05", "Premium", 410.0, "2032-05-31", True, False),
    ("L-106", "T06", "Basic", 210.0, "2032-06-30", True, True),
)
_REPAIRS: tuple[tuple[int, str, str, str | None, str, bool | None, bool], ...] = (
    (5001, "Ashcombe Bakery", "Kay Ince", "2031-02-03", "2031-03-03", True, False),
    (5002, "Brill Tailors", "Pia Orr", "2031-02-20", "2031-08-20", False, True),
    (5003, "Dapple Toys", "Jo Rae", "2031-03-25", "2031-09-25", False, False),
    (5004, "Ember Candles", "Al Rae", None, "2032-01-01", None, True),
    (5005, "Corran Bikes", "Vi Lunn", "2031-04-09", "2031-10-09", True, True),
)


def _row_of(schema: Schema, values: tuple[object, ...], title: str) -> Document:
    named = {field.name: value for field, value in zip(schema.fields, values, strict=True) if value is not None}
    text = "\n".join(f"{field.title}: {_write(named.get(field.name, ''))}" for field in schema.fields)
    return build_document(title, text, **named)  # pyright: ignore[reportArgumentType]


def _write(value: object) -> str:
    return {True: "Yes", False: "No"}[value] if isinstance(value, bool) else str(value)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    tenants = [_row_of(_TENANTS_SCHEMA, row, row[1]) for row in _TENANTS]
    leases = [_row_of(_LEASES_SCHEMA, row, row[0]) for row in _LEASES]
    repairs = [_row_of(_REPAIRS_SCHEMA, row, f"Repair at {row[1]}") for row in _REPAIRS]
    tables = [(_TENANTS_SCHEMA, tenants), (_LEASES_SCHEMA, leases), (_REPAIRS_SCHEMA, repairs)]
    async with open_small_index(tmp_path, tables) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("what band are Dapple Toys in?", "**Premium**"),
        ("when does the ashcombe bakery lease end?", "**2032-01-31**"),
        ("what do Brill Tailors pay us each month?", "**GBP 200.00**"),
        ("have Ember Candles paid their deposit?", "**No**"),
        ("when does the lease of Brill Tailors end, and who is our main contact there?", "**Sam Tull**"),
        ("what do all our leases bring in per month altogether?", "**GBP 1,890.00**"),
    ],
)
async def test_another_table_says_what_is_asked_of_a_named_party(
    question: str, said: str, context: AgentContext
) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer), outcome
    assert said in outcome.text


async def test_the_name_of_a_field_wins_over_a_word_of_a_value(context: AgentContext) -> None:
    outcome = await answer("who's the account manager for Corran Shoes?", context)

    assert isinstance(outcome, Answer), outcome
    assert "**Bea Lind**" in outcome.text


async def test_a_name_of_two_parties_is_asked_about(context: AgentContext) -> None:
    outcome = await answer("what band is Corran in?", context)

    assert isinstance(outcome, Clarify), outcome
    labels = " ".join(choice.label for choice in outcome.choices)
    assert "Corran Shoes" in labels
    assert "Corran Bikes" in labels


async def test_the_parties_that_are_asked_for_are_named(context: AgentContext) -> None:
    outcome = await answer("which tenants haven't paid the deposit?", context)

    assert isinstance(outcome, Answer), outcome
    assert "**2 tenants**" in outcome.text
    assert "**Corran Shoes**" in outcome.text
    assert "**Ember Candles**" in outcome.text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("how many repairs missed the target?", "**2 repairs**"),  # the open one has missed nothing yet
        ("how many repairs needed a ladder?", "**3 repairs**"),
        ("how many repairs didn't need a ladder?", "**2 repairs**"),
        ("did we meet the target on repair 5002?", "**No**"),
        ("who reported repair 5003?", "**Jo Rae**"),
        ("how many repairs are out of guarantee?", "**1 repair**"),
        ("how many repairs are still under guarantee?", "**4 repairs**"),
    ],
)
async def test_flags_and_terms_are_known_by_the_words_of_their_names(
    question: str, said: str, context: AgentContext
) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer), outcome
    assert said in outcome.text

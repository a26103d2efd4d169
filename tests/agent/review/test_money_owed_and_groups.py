"""What is owed, who stands first, and what a noun that no field has may compare; a chosen row shows all its cells."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, ChoiceKind, Clarify
from storage.search.ids import BucketId, FieldName
from storage.search.refinement import ChooseDocument, UseForm, apply_to_plan
from storage.search.schema import FieldType, Schema, SchemaField
from tests.agent.review.small_index import build_document, open_small_index


def _category(name: str, *synonyms: str) -> SchemaField:
    return SchemaField(name=FieldName(name), type=FieldType.CATEGORY, synonyms=synonyms)


_BILLS_SCHEMA = Schema(
    bucket=BucketId("bills"),
    synonyms=("bill", "bills", "invoice", "invoices"),
    fields=(
        _category("supplier"),
        SchemaField(name=FieldName("gross"), type=FieldType.MONEY, currency="GBP"),
        _category("status"),
    ),
)
_BERTHS_SCHEMA = Schema(
    bucket=BucketId("berths"),
    synonyms=("berth", "berths"),
    fields=(
        _category("tenant"),
        SchemaField(name=FieldName("rent"), type=FieldType.MONEY, currency="GBP"),
        SchemaField(
            name=FieldName("arrears"), type=FieldType.MONEY, currency="GBP", synonyms=("owed", "owes", "owe", "owing")
        ),
        _category("jetty"),
    ),
)
_INCIDENTS_SCHEMA = Schema(
    bucket=BucketId("incidents"),
    synonyms=("incident", "incidents"),
    fields=(
        _category("quay"),
        _category("weather"),
        _category("handled_by"),
        _category("noticed"),
        SchemaField(name=FieldName("pier"), type=FieldType.NUMBER),
    ),
)
_BILLS = (
    ("B-101", "Kerr Rigging", 120.0, "Paid"),
    ("B-102", "Kerr Rigging", 80.5, "Unpaid"),
    ("B-103", "Kerr Rigging", 19.5, "Unpaid"),
    ("B-104", "Pellow Paints", 300.0, "Unpaid"),
)
_BERTHS = (
    ("A1", "Ida Berg", 90.0, 15.0, "North"),
    ("A2", "Nils Roth", 70.0, 410.0, "North"),
    ("B1", "Eva Lund", 95.0, 0.0, "South"),
)
_INCIDENTS = (
    ("I-1", "North", "fog", "Ida Berg", "06:40"),
    ("I-2", "North", "gale", "Nils Roth", "21:15"),
    ("I-3", "South", "gale", "Nils Roth", "21:30"),
    ("I-4", "North", "gale", "Eva Lund", "22:05"),
)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    bills = [
        build_document(
            number,
            f"supplier: {firm}\ngross: £{gross:.2f}\nstatus: {status}",
            supplier=firm,
            gross=gross,
            status=status,
        )
        for number, firm, gross, status in _BILLS
    ]
    berths = [
        build_document(
            name,
            f"tenant: {tenant}\nrent: {rent}\narrears: {arrears}\njetty: {jetty}",
            tenant=tenant,
            rent=rent,
            arrears=arrears,
            jetty=jetty,
        )
        for name, tenant, rent, arrears, jetty in _BERTHS
    ]
    incidents = [
        build_document(
            number,
            f"quay: {quay}\nweather: {weather}\nhandled_by: {person}\nnoticed: {time}\npier: 7\n",
            quay=quay,
            weather=weather,
            handled_by=person,
            noticed=time,
            pier=7.0,
        )
        for number, quay, weather, person, time in _INCIDENTS
    ]
    buckets = [(_BILLS_SCHEMA, bills), (_BERTHS_SCHEMA, berths), (_INCIDENTS_SCHEMA, incidents)]
    async with open_small_index(tmp_path, buckets) as opened:
        yield opened


async def _ask(context: AgentContext, question: str) -> Answer | Clarify:
    outcome = await answer(question, context)
    assert isinstance(outcome, (Answer, Clarify))
    return outcome


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "question",
    ["how much do we owe kerr right now", "What do we still owe to Kerr, all bills together?", "total owed to kerr"],
)
async def test_what_is_owed_to_somebody_is_the_sum_of_what_is_not_paid(context: AgentContext, question: str) -> None:
    outcome = await _ask(context, question)

    assert isinstance(outcome, Answer)
    assert [figure.value for figure in outcome.legs[0].figures] == [100.0]


@pytest.mark.asyncio
async def test_rent_that_is_owed_is_the_sum_of_the_arrears(context: AgentContext) -> None:
    outcome = await _ask(context, "how much rent is owed at the north jetty")

    assert isinstance(outcome, Answer)
    assert [figure.value for figure in outcome.legs[0].figures] == [425.0]


@pytest.mark.asyncio
async def test_the_first_by_a_number_is_named_by_what_the_question_asks_for(context: AgentContext) -> None:
    tenant = await _ask(context, "which tenant owes the most?")
    payer = await _ask(context, "who has the highest rent")

    assert isinstance(tenant, Answer)
    assert tenant.text.startswith("**Nils Roth (A2)** has the highest arrears")
    assert isinstance(payer, Answer)
    assert "Eva Lund" in payer.text


@pytest.mark.asyncio
async def test_a_noun_that_no_field_has_asks_by_what_the_documents_are_compared(context: AgentContext) -> None:
    outcome = await _ask(context, "which dock had the most incidents")

    assert isinstance(outcome, Clarify)
    choices = {choice.label: choice for choice in outcome.choices}
    assert choices["Quay"].count == len(_INCIDENTS)
    effect = choices["Quay"].effect
    assert isinstance(effect, UseForm)
    grouped = await resume(apply_to_plan(effect, outcome.plan, choices["Quay"].leg), context)
    assert isinstance(grouped, Answer)
    assert [(group.label, group.value) for group in grouped.legs[0].groups] == [("North", 3.0)]


@pytest.mark.asyncio
async def test_a_chosen_row_shows_all_its_cells_with_one_source(context: AgentContext) -> None:
    outcome = await _ask(context, "when was B-102 sent to the bank")
    assert isinstance(outcome, Clarify)
    row = next(choice for choice in outcome.choices if choice.kind is ChoiceKind.DOCUMENT)
    assert isinstance(row.effect, (UseForm, ChooseDocument))

    shown = await resume(apply_to_plan(row.effect, outcome.plan, row.leg), context)

    assert isinstance(shown, Answer)
    assert shown.text.splitlines()[1:] == ["- supplier: Kerr Rigging", "- gross: £80.50", "- status: Unpaid [1]"]
    assert [citation.doc_id for citation in shown.citations] == ["b-102"]


@pytest.mark.asyncio
async def test_what_time_asks_for_the_field_with_times_of_day(context: AgentContext) -> None:
    outcome = await _ask(context, "what time was I-3")

    assert isinstance(outcome, Answer)
    assert "**21:30**" in outcome.text


@pytest.mark.asyncio
async def test_where_most_happens_asks_by_what_the_documents_are_compared(context: AgentContext) -> None:
    outcome = await _ask(context, "where do most incidents happen")

    assert isinstance(outcome, Clarify)
    assert ("Quay", len(_INCIDENTS)) in {(choice.label, choice.count) for choice in outcome.choices}


@pytest.mark.asyncio
async def test_the_documents_that_are_counted_are_not_ordered_by_another_number(context: AgentContext) -> None:
    outcome = await _ask(context, "where do most incidents happen, which pier")

    assert isinstance(outcome, Clarify)
    quay = next(choice for choice in outcome.choices if choice.label == "Quay")
    assert isinstance(quay.effect, UseForm)
    grouped = await resume(apply_to_plan(quay.effect, outcome.plan, quay.leg), context)
    assert isinstance(grouped, Answer)
    assert [(group.label, group.value) for group in grouped.legs[0].groups] == [("North", 3.0)]

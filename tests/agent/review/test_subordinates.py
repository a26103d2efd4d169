"""Questions about those who report to somebody, over tables whose rows refer to each other."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from tests.agent.review.small_index import build_document, open_small_index


def _category(name: str, *synonyms: str, references: str = "") -> SchemaField:
    return SchemaField(name=FieldName(name), type=FieldType.CATEGORY, synonyms=synonyms, references=references)


_SCHEMA = Schema(
    bucket=BucketId("staff"),
    synonyms=("employee", "employees", "staff"),
    fields=(
        _category("EmpNo"),
        _category("FirstName"),
        _category("LastName"),
        _category("Office"),
        _category("ReportsTo", "boss", "manager", "who … report to", references="staff.EmpNo"),
    ),
)
_STAFF = (
    ("11", "Ann", "Reed", "Leeds", ""),
    ("12", "Tom", "Fox", "Leeds", "11"),
    ("13", "Lia", "Moor", "York", "11"),
    ("14", "Ed", "Low", "York", "12"),
)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    documents = [
        build_document(
            f"{first} {last}",
            f"EmpNo: {number}\nFirstName: {first}\nLastName: {last}\nOffice: {office}\nReportsTo: {boss}",
            EmpNo=number,
            FirstName=first,
            LastName=last,
            Office=office,
            **({"ReportsTo": boss} if boss else {}),
        )
        for number, first, last, office, boss in _STAFF
    ]
    async with open_small_index(tmp_path, [(_SCHEMA, documents)]) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("Who reports to Ann Reed?", 2),
        ("How many people report to Ann Reed?", 2),
        ("list everyone who reports to Ann Reed", 2),
        ("who does Ann Reed manage", 2),
        ("who is in Ann Reed's team", 2),
        ("employees whose manager is Ann Reed", 2),
        ("who has Ann Reed as their manager", 2),
        ("Ann Reed's direct reports", 2),
        ("how many direct reports does Ann Reed have", 2),
        ("who works under Tom Fox", 1),
        ("does anyone report to Tom Fox", 1),
        ("who reports to Ann Reed in York", 1),
    ],
)
async def test_those_who_report_to_a_person_are_found(question: str, count: int, context: AgentContext) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer), outcome
    assert outcome.legs[0].count == count


async def test_nobody_reports_to_somebody_without_a_team(context: AgentContext) -> None:
    outcome = await answer("who reports to Ed Low", context)

    assert isinstance(outcome, Clarify)
    assert "no employees" in outcome.text


async def test_superior_of_a_person_is_still_read(context: AgentContext) -> None:
    outcome = await answer("who does Ed Low report to", context)

    assert isinstance(outcome, Answer), outcome
    assert "12 (Tom Fox)" in outcome.text

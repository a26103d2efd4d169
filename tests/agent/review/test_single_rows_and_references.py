"""A list of one row shows all its cells, and a value that refers to another document is shown with its title."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from tests.agent.review.small_index import build_document, open_small_index


def _category(name: str, *synonyms: str, references: str = "") -> SchemaField:
    return SchemaField(name=FieldName(name), type=FieldType.CATEGORY, synonyms=synonyms, references=references)


_STAFF_SCHEMA = Schema(
    bucket=BucketId("staff"),
    synonyms=("employee", "employees", "staff"),
    fields=(
        _category("EmpNo"),
        _category("FirstName"),
        _category("LastName"),
        _category("ReportsTo", "boss", "manager", "who … report to", references="staff.EmpNo"),
        _category("Ext", "extension"),
    ),
)
_CLINICS_SCHEMA = Schema(
    bucket=BucketId("clinics"),
    synonyms=("clinic", "clinics"),
    fields=(
        _category("Clinic"),
        _category("Rep", "who … look after", references="staff.EmpNo"),
        _category("Status"),
        _category("Phone"),
    ),
)
_ITEMS_SCHEMA = Schema(
    bucket=BucketId("items"),
    synonyms=("item", "items", "product", "products"),
    fields=(
        _category("Description"),
        SchemaField(
            name=FieldName("QtyOnHand"),
            type=FieldType.NUMBER,
            synonyms=("left", "in stock", "how many … left", "how many … have"),
        ),
        _category("Bin", "where … find"),
    ),
)
_STAFF = (
    ("E001", "Margaret", "Holroyd", "", "101"),
    ("E005", "Sarah", "Whitlock", "E001", "115"),
    ("E027", "Wendy", "Pascoe", "E001", "127"),
    ("E028", "Nathan", "Gill", "E027", "128"),
)
_CLINICS = (
    ("Kingfisher Practice", "E005", "Active", "01423 1"),
    ("Harbour Clinic", "E005", "On hold", "01423 2"),
    ("Lochview Clinic", "E028", "On hold", "01423 3"),
    ("Gower Surgery", "E028", "Closed", "01423 4"),
)
_ITEMS = (
    ("Sutures 4-0 Absorbable", 112.0, "C-02"),
    ("Prophy Paste Mint", 9.0, "A-07"),
    ("Sharps boxes", 40.0, "B-01"),
)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    staff = [
        build_document(
            f"{first} {last}",
            f"EmpNo: {number}\nFirstName: {first}\nLastName: {last}\nReportsTo: {boss}\nExt: {ext}",
            EmpNo=number,
            FirstName=first,
            LastName=last,
            Ext=ext,
            **({"ReportsTo": boss} if boss else {}),
        )
        for number, first, last, boss, ext in _STAFF
    ]
    clinics = [
        build_document(
            name,
            f"Clinic: {name}\nRep: {rep}\nStatus: {status}\nPhone: {phone}",
            Clinic=name,
            Rep=rep,
            Status=status,
            Phone=phone,
        )
        for name, rep, status, phone in _CLINICS
    ]
    items = [
        build_document(
            name, f"Description: {name}\nQtyOnHand: {left:g}\nBin: {place}", Description=name, QtyOnHand=left, Bin=place
        )
        for name, left, place in _ITEMS
    ]
    buckets = [(_STAFF_SCHEMA, staff), (_CLINICS_SCHEMA, clinics), (_ITEMS_SCHEMA, items)]
    async with open_small_index(tmp_path, buckets) as opened:
        yield opened


async def _answer_text(question: str, context: AgentContext) -> str:
    outcome = await answer(question, context)
    assert isinstance(outcome, Answer), outcome
    return outcome.text


async def test_list_of_one_row_shows_its_cells_and_whom_they_refer_to(context: AgentContext) -> None:
    outcome = await answer("list the clinics with status Active", context)

    assert isinstance(outcome, Answer)
    assert "- Phone: 01423 1" in outcome.text
    assert "Rep: E005 (Sarah Whitlock)" in outcome.text
    assert [citation.doc_id for citation in outcome.citations] == [outcome.legs[0].doc_ids[0]]


async def test_list_of_several_rows_shows_no_cells(context: AgentContext) -> None:
    assert "Phone:" not in await _answer_text("list the clinics on hold", context)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Who is Nathan Gill's boss?", "E027 (Wendy Pascoe)"),
        ("Who does Nathan Gill report to?", "E027 (Wendy Pascoe)"),
        ("Which rep has the most clinics?", "(Sarah Whitlock)"),
    ],
)
async def test_value_is_named_after_the_document_it_refers_to(question: str, shown: str, context: AgentContext) -> None:
    assert shown in await _answer_text(question, context)


async def test_name_of_an_unreadable_document_stays_unknown(tmp_path: Path) -> None:
    clinics = [
        build_document(
            "Kingfisher",
            "Clinic: Kingfisher\nRep: E005\nStatus: Active\nPhone: 1",
            Clinic="Kingfisher",
            Rep="E005",
            Status="Active",
            Phone="1",
        )
    ]
    async with open_small_index(tmp_path, [(_CLINICS_SCHEMA, clinics)]) as context:
        text = await _answer_text("list the clinics with status Active", context)

    assert "Rep: E005" in text
    assert "Whitlock" not in text


async def test_who_reports_to_somebody_are_those_whose_rows_refer_to_them(context: AgentContext) -> None:
    outcome = await answer("Who reports directly to Margaret Holroyd?", context)

    assert isinstance(outcome, Answer)
    assert set(outcome.legs[0].doc_ids) == {"sarah-whitlock", "wendy-pascoe"}


async def test_status_with_words_for_the_present_is_this_status_alone(context: AgentContext) -> None:
    outcome = await answer("Which clinics are on hold at the moment?", context)

    assert isinstance(outcome, Answer)
    assert outcome.legs[0].count == 2


async def test_first_and_last_names_in_two_columns_are_people(context: AgentContext) -> None:
    outcome = await answer("How many people are there?", context)

    assert isinstance(outcome, Answer)
    assert outcome.legs[0].count == len(_STAFF)

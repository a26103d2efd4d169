"""What people in offices say of columns whose names they have not looked at."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from storage.search.conditions import (
    MATCH_ALL,
    ComparisonCondition,
    ComparisonOperator,
    MissingCondition,
    NotCondition,
    conjuncts_of,
)
from storage.search.ids import BucketId, FieldName
from storage.search.plan import ComputeNumbers, ListDocuments, ReadFields
from tests.agent.rules.nested.mining import MiningHome, open_home_of

OFFICE = {
    "staff.csv": (
        "Staff No,Name,Branch,Job Title,Start Date,Leaving Date\n"
        "L1,Ann Lee,Quay,Driver,2020-03-01,\nL2,Ben Orr,Head Office,Clerk,2021-04-01,2031-02-01\n"
        "L3,Cid Roe,Quay,Clerk,2022-05-01,\nL4,Dee Poe,Mill,Driver,2023-06-01,2030-02-01\n"
    ),
    "equipment.csv": (
        "Asset No,Item,Location,Last Service,Next Service Due,Serviced By,Purchase Price\n"
        "E1,Fire panel,Quay,2029-01-01,2030-01-01,Ashby,£95.00\nE2,Label printer,Quay,2030-09-01,2031-09-01,Orme,120\n"
        "E3,Fire panel,Mill,2030-09-01,2031-10-01,Orme,£80.00\n"
    ),
    "orders.csv": (
        "PO,Order Date,Branch,Product,Line Total\nP1,2030-01-02,Quay,Labels,£20.50\nP2,2030-01-05,Mill,Paper,£8.00\n"
        "P3,2030-02-01,Quay,Paper,£11.00\n"
    ),
    "jobs.csv": (
        "Job No,Logged,Address,Status,Completed\nJ1,2031-01-02,1 Mill Rise,Complete,2031-01-09\n"
        "J2,2031-01-03,2 Mill Rise,Cancelled,\nJ3,2031-01-05,3 Mill Rise,Booked in,\n"
        "J4,2031-01-06,1 Mill Rise,Raised,\n"
    ),
    "homes.csv": (
        "Prop Ref,Address,Type,Status,Lead Tenant,Rent pw,Arrears\nH1,1 Mill Rise,House,Let,Ann Moor,101.50,0\n"
        "H2,2 Mill Rise,Flat,Let,Ben Lund,99.00,12.5\nH3,3 Mill Rise,House,Void,,95.25,0\n"
    ),
    "invoices.csv": (
        "Inv No,Supplier,Inv Date,VAT,Gross\nI1,Ashby Ltd,2031-01-02,£20.00,£120.00\n"
        "I2,Orme Bros,2031-01-03,£5.00,£30.00\nI3,Ashby Ltd,2031-02-03,£1.00,£6.00\n"
    ),
    "training.csv": (
        "Record,Employee,Course,Completed,Renewal Due\n"
        "T1,Ann Lee,First Aid,2028-01-01,2031-01-01\nT2,Cid Roe,First Aid,2030-01-01,2033-01-01\n"
        "T3,Cid Roe,Lifting,2030-02-01,2033-02-01\n"
    ),
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    names = frozenset(name.removesuffix(".csv") for name in OFFICE)
    async with open_home_of(tmp_path_factory.mktemp("office"), OFFICE, names) as opened:
        yield opened


async def test_a_value_beside_the_groups_is_a_group_as_well(home: MiningHome) -> None:
    leg = (await home.plan_question("how many staff for each branch and head office?")).plan.legs[0]

    assert isinstance(leg.answer_form, ComputeNumbers)
    assert leg.answer_form.grouping is not None
    assert leg.answer_form.grouping.field == "Branch"
    assert leg.search.clauses[0].condition == MATCH_ALL


async def test_the_company_is_not_an_unknown_word(home: MiningHome) -> None:
    planned = await home.plan_question("who's left the company this year?")

    assert planned.plan.legs[0].answer_form == ListDocuments()
    (condition,) = conjuncts_of(planned.plan.legs[0].search.clauses[0].condition)
    assert isinstance(condition, ComparisonCondition)
    assert condition.field == "Leaving Date"
    assert planned.alternatives[0].unknown_words == ()
    assert planned.plan.legs[0].search.clauses[0].required_terms == ()


async def test_what_is_overdue_is_not_asked_for(home: MiningHome) -> None:
    leg = (await home.plan_question("What kit at Quay is overdue a service?")).plan.legs[0]

    assert leg.answer_form == ListDocuments()
    fields = {getattr(condition, "field", None) for condition in conjuncts_of(leg.search.clauses[0].condition)}
    assert {"Location", "Next Service Due"} <= fields


async def test_that_before_a_noun_begins_no_clause(home: MiningHome) -> None:
    planned = await home.plan_question("How much did that robot at Quay set us back?")

    assert planned.alternatives[0].unknown_words == ("robot",)  # a total without it would be wrong


@pytest.mark.parametrize(
    ("question", "op"),
    [
        ("Is Ann Lee's first aid still in date?", ComparisonOperator.GTE),
        ("Has Ann Lee's first aid run out?", ComparisonOperator.LT),
    ],
)
async def test_what_is_in_date_is_due_later_whatever_was_completed(
    home: MiningHome, question: str, op: ComparisonOperator
) -> None:
    clause = (await home.plan_question(question)).plan.legs[0].search.clauses[0]

    due = [c for c in conjuncts_of(clause.condition) if getattr(c, "field", None) == "Renewal Due"]
    assert [condition.op for condition in due if isinstance(condition, ComparisonCondition)] == [op]
    assert "Completed" not in {getattr(condition, "field", None) for condition in conjuncts_of(clause.condition)}


async def test_a_compound_is_a_word_that_restricts(home: MiningHome) -> None:
    planned = await home.plan_question("how many staff at Quay had a no-show?")

    words = (*planned.alternatives[0].unknown_words, *planned.plan.legs[0].search.clauses[0].required_terms)
    assert "no-show" in words


async def test_what_was_called_off_is_not_open(home: MiningHome) -> None:
    clause = (await home.plan_question("which jobs are not finished yet?")).plan.legs[0].search.clauses[0]

    status = next(c for c in conjuncts_of(clause.condition) if isinstance(c, NotCondition))
    assert isinstance(status.condition, ComparisonCondition)
    assert (status.condition.field, status.condition.value) == ("Status", "Cancelled")
    assert any(isinstance(c, MissingCondition) and c.field == "Completed" for c in conjuncts_of(clause.condition))


async def test_a_column_without_an_entry_may_be_of_what_was_called_off(home: MiningHome) -> None:
    clause = (await home.plan_question("jobs without a completion date")).plan.legs[0].search.clauses[0]

    assert not any(isinstance(c, NotCondition) for c in conjuncts_of(clause.condition))


@pytest.mark.parametrize("question", ["what's the weekly rent on 1 Mill Rise", "how much is the rent at 1 Mill Rise"])
async def test_a_word_of_a_label_is_rather_the_column_than_a_status(home: MiningHome, question: str) -> None:
    leg = (await home.plan_question(question)).plan.legs[0]

    assert leg.answer_form == ReadFields(fields=((BucketId("homes"), FieldName("Rent pw")),))
    assert [getattr(c, "field", None) for c in conjuncts_of(leg.search.clauses[0].condition)] == ["Address"]


async def test_the_biggest_invoice_has_the_largest_amount_and_not_the_largest_tax(home: MiningHome) -> None:
    planned = await home.plan_question("what's the biggest invoice this year")

    form = planned.plan.legs[0].answer_form
    assert form.list_order is not None
    assert form.list_order.field == "Gross"
    assert not planned.alternatives[0].equal_forms

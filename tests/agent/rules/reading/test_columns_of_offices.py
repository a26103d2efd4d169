"""Columns as offices write them: days such as 09-May-31, model years, invoice numbers, approvals until a day."""

from pathlib import Path

import pytest

from agent.decomposition import PlannedQuestion
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.ids import FieldName
from storage.search.plan import AnswerForm, CheckClaims, Leg, ListDocuments
from tests.agent.rules.nested.mining import open_home_of

COACHES = [f"C{n:02},{2008 + n},{40 + n},{n + 1:02}-Apr-{8 + n:02}" for n in range(14)]
BILLS = [
    f"P{n:03},{7600 + n},{('Kest Marine', 'Oban Fuel')[n % 2]},{n % 28 + 1:02}/02/2026,{90 + n}.50" for n in range(24)
]
FIRMS = [
    f"{name},Leeds,{day}.11.27" for name, day in (("Pell Castings", 17), ("Haldan Bolts", 18), ("Oxley Tools", 19))
]
LOTS = [f"I-{n:03},B26-{290 + n},{('Marta Szabo', 'Bo Marsh')[n % 2]},{('Pass', 'Fail')[n % 2]}" for n in range(20)]
FILES = {
    "coaches.csv": "\n".join(["fleet no,yr,seats,in svc from", *COACHES]),
    "bills.csv": "\n".join(["our ref,their inv,supplier,dated,net_gbp", *BILLS]),
    "firms.csv": "\n".join(["firm,town,appr until", *FIRMS]),
    "inspections.csv": "\n".join(["insp no,lot,checker,res", *LOTS]),
}


async def plan_question(folder: Path, question: str) -> PlannedQuestion:
    async with open_home_of(folder, FILES, frozenset({"coaches", "bills", "firms", "inspections"})) as home:
        return await home.plan_question(question)


async def plan_leg(folder: Path, question: str) -> Leg:
    [leg] = (await plan_question(folder, question)).plan.legs
    return leg


@pytest.mark.parametrize(
    "question", ["which coach has been with us longest?", "which coach has been in service longest?"]
)
async def test_a_day_with_a_short_year_orders_documents(tmp_path: Path, question: str) -> None:
    form = (await plan_leg(tmp_path, question)).answer_form

    assert isinstance(form, ListDocuments)
    assert form.order is not None
    assert (form.order.field, form.order.descending, form.limit) == ("in svc from", False, 1)


async def test_a_model_year_is_no_amount_to_have_most_of(tmp_path: Path) -> None:
    form = (await plan_leg(tmp_path, "which coach cost us the most time")).answer_form

    assert form.list_order is None or form.list_order.field != "yr"


async def test_invoice_numbers_are_counted_and_not_added(tmp_path: Path) -> None:
    form: AnswerForm = (await plan_leg(tmp_path, "how many invoices from Kest Marine in 2026")).answer_form

    assert form.computed_field is None


@pytest.mark.parametrize(
    ("question", "op"),
    [
        ("is Pell Castings still approved today?", ComparisonOperator.GTE),
        ("which firms' approval expires today?", ComparisonOperator.EQ),
    ],
)
async def test_what_is_approved_until_a_day_is_approved_today(
    tmp_path: Path, question: str, op: ComparisonOperator
) -> None:
    leg = await plan_leg(tmp_path, question)

    search = leg.answer_form.scope if isinstance(leg.answer_form, CheckClaims) else None
    conditions = [leg.search.clauses[0].condition, *([search.clauses[0].condition] if search else [])]
    until = [
        part
        for condition in conditions
        for part in getattr(condition, "members", (condition,))
        if isinstance(part, ComparisonCondition) and part.field == FieldName("appr until")
    ]
    assert {part.op for part in until} == {op}


async def test_what_the_question_says_is_no_answer_to_it(tmp_path: Path) -> None:
    form = (await plan_leg(tmp_path, "who checked lot B26-0298")).answer_form
    other_form = (await plan_leg(tmp_path, "who checked lot B26-298")).answer_form

    assert ("inspections", "lot") not in (*form.requested_fields, *other_form.requested_fields)


async def test_whether_something_got_through_is_answered_by_no_value(tmp_path: Path) -> None:
    form = (await plan_leg(tmp_path, "did B26-298 get through its last inspection ok?")).answer_form

    assert not form.reads_values

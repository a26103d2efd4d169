"""Tables of the same kind, of two years, are counted and listed together; a number says which it is of."""

from pathlib import Path

import pytest

from agent.assumptions import SiblingsLeftOut
from agent.decomposition import PlannedQuestion
from storage.search.ids import BucketId
from tests.agent.rules.nested.mining import open_home_of

FIRMS = ("Brack Steel", "Truline Oils", "Calibra Labs")
OLD_ROWS = [f"25-{n:03},{n % 28 + 1:02}/03/2025,{FIRMS[n % 3]},{n + 1},{100 + n}.00" for n in range(24)]
NEW_ROWS = [f"26-{n:03},{n % 28 + 1:02}/04/2026,{FIRMS[n % 3]},{n + 2},{200 + n}.00" for n in range(30)]
FILES = {
    "buying/orders_2025.csv": "\n".join(["order,ordered,supplier,qty,value_eur", *OLD_ROWS]),
    "buying/orders_2026.csv": "\n".join(["order no,date placed,vendor,pieces,total_eur", *NEW_ROWS]),
    "buying/suppliers.csv": "firm,town,their inv\n"
    + "\n".join(f"{firm},Leeds,{n + 4711}" for n, firm in enumerate(FIRMS)),
}
OLD, NEW = BucketId("buying/orders_2025"), BucketId("buying/orders_2026")


async def plan_question(folder: Path, question: str) -> PlannedQuestion:
    async with open_home_of(folder, FILES, frozenset({"buying"})) as home:
        return await home.plan_question(question)


@pytest.mark.parametrize("question", ["how many orders to Brack Steel?", "which orders went to Brack Steel?"])
async def test_both_years_are_counted_and_listed(tmp_path: Path, question: str) -> None:
    [leg] = (await plan_question(tmp_path, question)).plan.legs

    assert leg.search.read_buckets == {OLD, NEW}


async def test_a_sum_of_one_year_names_the_other(tmp_path: Path) -> None:
    planned = await plan_question(tmp_path, "total value of the orders to Brack Steel")

    [leg] = planned.plan.legs
    [left_out] = [assumption for assumption in planned.assumptions if isinstance(assumption, SiblingsLeftOut)]
    assert leg.search.read_buckets == {left_out.bucket}
    assert {left_out.bucket, *left_out.others} == {OLD, NEW}

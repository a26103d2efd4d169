"""A set within a question is left alone if words of the question would be lost by it."""

from pathlib import Path

from storage.search.ids import BucketId
from tests.agent.rules.nested.mining import open_home_of

RESULTS = ("Passed", "Failed", "Advisory", "Passed")
SITES = ("Cedar Tower", "Elm Court", "Rowan House")
FILES = {
    "checks.csv": "\n".join(
        ["check_id,door,site,result"]
        + [f"C-{n},{'lobby' if n % 2 else 'stairs'},{SITES[n % 3]},{RESULTS[n % 4]}" for n in range(24)]
    ),
    "firms.csv": "firm,service,phone\nSentinel,Fire doors,100\nHarlow,Roofing,101\nSparrow,Electrical,102\n",
    "projects.csv": (
        "project,site,contractor\n"
        "Door renewal,Cedar Tower,Sentinel\nRoof,Elm Court,Harlow\nRewire,Rowan House,Sparrow\n"
    ),
}
BUCKETS = frozenset({"checks", "firms", "projects"})


async def test_a_value_of_the_plain_reading_is_no_relation_to_another_set(tmp_path: Path) -> None:
    async with open_home_of(tmp_path, FILES, BUCKETS) as home:
        planned = await home.plan_question("which fire doors failed at Cedar Tower")

    (leg,) = planned.plan.legs
    assert leg.search.read_buckets == {BucketId("checks")}
    assert "failed" in str(leg.search.clauses[0].condition)


TENANTS = ("Ida Berg", "Nils Roth", "Eva Lund", "Ole Dahl")
RENTED_FILES = {
    "repairs.csv": "\n".join(
        ["repair_no,scheme,reported_by,logged"]
        + [f"R-{n},{SITES[n % 3]},{TENANTS[n % 4]},2031-0{1 + n % 5}-1{n % 7}" for n in range(24)]
    ),
    "tenancies.csv": "\n".join(
        ["address,lead_tenant,tenancy_start,rent"]
        + [f"{n} Mill Rise,{tenant},202{n}-0{n + 1}-01,{80 + n}" for n, tenant in enumerate(TENANTS)]
    ),
}


async def test_a_day_after_since_is_a_day_of_the_documents_and_not_of_those_they_refer_to(tmp_path: Path) -> None:
    async with open_home_of(tmp_path, RENTED_FILES, frozenset({"repairs", "tenancies"})) as home:
        planned = await home.plan_question("which scheme has had the most repairs reported since 1st March?")

    (leg,) = planned.plan.legs
    (clause,) = leg.search.clauses
    assert clause.bucket == BucketId("repairs")
    assert "logged" in str(clause.condition)
    assert "tenancy_start" not in str(clause.condition)

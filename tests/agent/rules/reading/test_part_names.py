"""A word in the name of one part of a bucket says that this part is meant."""

from pathlib import Path

import pytest

from storage.search.ids import BucketId
from tests.agent.rules.nested.mining import open_home_of

TRADES = ("Painting", "Glazing", "Roofing")
EAST_ROWS = [f"E-{n},{TRADES[n % 3]},2026-01-{n + 1:02},{40 + n}" for n in range(20)]
JOB_ROWS = [f"R-{n},{TRADES[n % 2]},{'high' if n % 5 else 'low'},2026-02-{n + 1:02}" for n in range(18)]
FILES = {
    "works/east_area.csv": "\n".join(["ref,trade,reported,cost_eur", *EAST_ROWS]),
    "works/site_jobs.csv": "\n".join(["id,kind,urgency,finished", *JOB_ROWS]),
    "works/crews.csv": "crew,leader,phone\nBlue,Ada Finch,100\nRed,Bo Marsh,101\n",
}


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("how many painting jobs are there in the east?", "works/east_area"),
        ("how many painting jobs are there?", "works/site_jobs"),
        ("list the painting jobs for east", "works/east_area"),
    ],
)
async def test_a_question_is_read_in_the_part_that_it_names(tmp_path: Path, question: str, part: str) -> None:
    async with open_home_of(tmp_path, FILES, frozenset({"works"})) as home:
        planned = await home.plan_question(question)

    assert [leg.search.read_buckets for leg in planned.plan.legs] == [{BucketId(part)}]

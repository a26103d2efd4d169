"""Every turn of the six cases has the expected result, and stays within its budget of model calls."""

from pathlib import Path

import pytest

from agent.model.options import ModelUse
from bot.demo.corpus import DemoCorpus
from tests.scenarios.seed_cases.cases import CASES, play_case
from tests.scenarios.seed_cases.model_stage import open_stage

pytestmark = pytest.mark.xdist_group("seed-cases")


@pytest.mark.parametrize("use", list(ModelUse))
@pytest.mark.parametrize("case", list(CASES))
async def test_a_case_is_played_within_its_budget(
    demo_home: Path, demo_corpus: DemoCorpus, case: str, use: ModelUse
) -> None:
    async with open_stage(demo_home, use) as stage:
        await play_case(stage, case, demo_corpus)

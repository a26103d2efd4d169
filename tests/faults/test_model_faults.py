"""Whatever becomes of a model's calls, the person gets one reply, and the turn says which stage fell back."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.gateway.litellm_client import LiteLlmClient
from tests.faults.model_faults import FaultyStage, ModelFault, find_problems, run_fault


@pytest.fixture
async def client() -> AsyncIterator[LiteLlmClient]:
    client = LiteLlmClient()
    await client.load()
    yield client
    await client.close()


@pytest.mark.parametrize("fault", ModelFault, ids=lambda fault: fault.name.lower())
@pytest.mark.parametrize("stage", FaultyStage, ids=lambda stage: stage.name.lower())
async def test_a_stage_without_its_model_leaves_one_reply(
    stage: FaultyStage, fault: ModelFault, client: LiteLlmClient, tmp_path: Path
) -> None:
    turn = await run_fault(tmp_path, stage, fault, client)

    assert find_problems(stage, fault, turn) == []

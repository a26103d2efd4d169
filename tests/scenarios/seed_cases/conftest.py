"""The demo documents in one home, and a bot on it that asks a scripted model."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.model.options import ModelUse
from bot.demo.corpus import DemoCorpus, generate_corpus
from tests.scenarios.seed_cases.model_stage import ModelStage, load_home_at, open_stage


@pytest.fixture(scope="package")
def demo_corpus() -> DemoCorpus:
    return generate_corpus()


@pytest.fixture(scope="package")
def loaded_home(demo_corpus: DemoCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return load_home_at(demo_corpus, tmp_path_factory.mktemp("seed-cases"))


@pytest.fixture
def demo_home(loaded_home: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(loaded_home, tmp_path / "home")


@pytest.fixture
async def stage(demo_home: Path) -> AsyncIterator[ModelStage]:
    """Asks the model whenever it may be asked."""
    async with open_stage(demo_home, ModelUse.ALWAYS) as opened:
        yield opened

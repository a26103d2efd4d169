"""A model that obeys hostile text reaches nothing: no more calls, no other bucket, no link, and the turn ends."""

from pathlib import Path

import pytest

from tests.agent.model.injections.corpus import HostileText, InjectionPlace, load_corpus
from tests.agent.model.injections.injection_run import run_injection
from tests.agent.model.injections.obedient_model import Obedience


def test_the_corpus_holds_hostile_text_of_each_place() -> None:
    corpus = load_corpus()

    assert len({hostile.id for hostile in corpus}) == len(corpus) >= 60
    assert {hostile.place for hostile in corpus} == set(InjectionPlace)


@pytest.mark.parametrize("obedience", Obedience, ids=lambda obedience: obedience.name.lower())
@pytest.mark.parametrize("hostile", load_corpus(), ids=str)
async def test_an_obedient_model_reaches_nothing(hostile: HostileText, obedience: Obedience, tmp_path: Path) -> None:
    run = await run_injection(hostile, obedience, tmp_path)

    assert run.violations == []
    assert run.ending in ("Answer", "Clarify")
    assert run.model_calls > 0

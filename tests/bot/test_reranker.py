"""The reranker of the settings: FlashRank with a model from the home, its use, and what is said where it is missing."""

import inspect
import subprocess
import sys
from collections.abc import Generator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agent.errors import RerankerUnavailable
from bot.bootstrap import build_bot, unanswered
from bot.reranker import FlashrankReranker, Translated
from bot.settings import load_settings
from tests.bot.conftest import Talk
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.cross_encoder import FILE, MODEL, write_model
from tests.stand_ins.overlap import OverlapReranker

WEIGHTS = {"frost": 1.0, "boiler": 1.5}
SETTING = {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none", "PARLEY_RERANKER": f"flashrank:{MODEL}"}

with_extra = pytest.mark.skipif(
    find_spec("flashrank") is None, reason="flashrank (the extra `rerank`) is not installed"
)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def reranker(models: Path) -> Generator[FlashrankReranker]:
    opened = FlashrankReranker(MODEL, models)
    yield opened
    opened.close()


async def fails(reranker: FlashrankReranker, said: str) -> None:
    with pytest.raises(RerankerUnavailable, match=said):
        await reranker.scores("boiler", ["a boiler", "a roof"])


def files_in(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


@with_extra
async def test_a_model_that_is_not_there_is_named_with_its_address_and_never_fetched(
    reranker: FlashrankReranker, models: Path
) -> None:
    await fails(reranker, rf"lacks {FILE}, config\.json.*fetch https://.*{MODEL}\.zip and unpack it into {models}")

    assert files_in(models.parent) == []


@with_extra
async def test_a_model_that_comes_later_is_taken(reranker: FlashrankReranker, models: Path) -> None:
    await fails(reranker, "lacks")
    write_model(models, WEIGHTS)

    roof, boiler = await reranker.scores("boiler", ["a roof", "a boiler"])

    assert boiler > roof


@with_extra
@pytest.mark.parametrize("model", ["best-model", "rank_zephyr_7b_v1_full"])
async def test_a_model_that_scores_no_passages_is_refused_with_those_that_do(model: str, models: Path) -> None:
    other = FlashrankReranker(model, models)
    await fails(other, rf"no model '{model}' that scores passages, only .*{MODEL}")
    other.close()


@with_extra
@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff\x00 nothing"])
@pytest.mark.parametrize("name", [FILE, "config.json", "tokenizer_config.json", "tokenizer.json"])
async def test_a_broken_file_of_a_model_is_no_crash(
    reranker: FlashrankReranker, models: Path, name: str, content: bytes
) -> None:
    (write_model(models, WEIGHTS) / name).write_bytes(content)

    await fails(reranker, rf"the model {MODEL} cannot be used")


@with_extra
async def test_what_is_no_number_is_no_score(reranker: FlashrankReranker, models: Path) -> None:
    write_model(models, {"boiler": float("nan")})

    await fails(reranker, "something else than numbers")


@with_extra
async def test_scores_beyond_what_a_float_holds_are_the_least_and_the_best(
    reranker: FlashrankReranker, models: Path
) -> None:
    write_model(models, {"boiler": 1e6, "roof": -1e6})

    assert await reranker.scores("boiler", ["a boiler", "a roof"]) == [1.0, 0.0]


@with_extra
def test_every_exception_of_the_library_is_translated() -> None:
    library = vars(import_module("onnxruntime.capi.onnxruntime_pybind11_state")).values()
    errors = [one for one in library if inspect.isclass(one) and issubclass(one, BaseException)]

    assert len(errors) > 5
    for error in [*errors, Exception]:  # tokenizers raises the latter itself
        with pytest.raises(RerankerUnavailable), Translated(MODEL):
            raise error("said the library")


def test_what_is_nobody_s_business_passes_through() -> None:
    with pytest.raises(ZeroDivisionError), Translated(MODEL):
        raise ZeroDivisionError


def test_without_the_extra_it_says_what_to_install(models: Path) -> None:
    script = f"""
import asyncio, sys
from pathlib import Path
sys.modules["flashrank"] = None  # as if it were not installed
from agent.errors import RerankerUnavailable
from bot.reranker import FlashrankReranker
try:
    asyncio.run(FlashrankReranker({MODEL!r}, Path({str(models)!r})).scores("a", ["b"]))
except RerankerUnavailable as exc:
    print(exc)
"""
    assert "pip install 'parley[rerank]'" in output(script)


@with_extra
def test_logging_stays_as_the_process_has_it(models: Path) -> None:
    write_model(models, WEIGHTS)
    script = f"""
import asyncio, logging
from pathlib import Path
from bot.reranker import FlashrankReranker
asyncio.run(FlashrankReranker({MODEL!r}, Path({str(models)!r})).scores("a", ["b"]))
print(logging.root.handlers, logging.root.level)
"""
    assert output(script) == "[] 30\n"


def output(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


# -- in the bot

QUESTION = "What does the text say about the boiler in a hard frost?"
NOTES = {
    "cold": "About the boiler and the frost: what the text does say about a hard boiler is said in the text.",
    "warm": "Boiler: in a frost the caretaker feeds the boiler at dawn.",
    "roof": "The roof is made of slate and hard.",
}


async def asked(home: Path, reranker: OverlapReranker | None = None, **setting: str) -> Mapping[str, Any]:
    """The result. With a reranker of the settings, unless one is handed in."""
    settings = load_settings(home, SETTING | setting).settings
    async with build_bot(settings, reranker=reranker) as bot:
        await bot.index.set_schema(a_receipt_schema())
        await bot.index.put(RECEIPTS, [a_document(name, text) for name, text in NOTES.items()])
        return (await Talk(bot).say(QUESTION)).result


def rerankings(result: Mapping[str, Any]) -> list[str | None]:
    return [one["fallback"] for one in result["stages"] if one["name"] == "rerank"]


async def test_one_that_is_handed_in_is_asked(tmp_path: Path) -> None:
    reranker = OverlapReranker()

    result = await asked(tmp_path, reranker, PARLEY_RERANKER="")

    assert reranker.asked[0][0] == QUESTION
    assert rerankings(result) == [None]


async def test_without_the_setting_there_is_none(tmp_path: Path) -> None:
    assert rerankings(await asked(tmp_path, PARLEY_RERANKER="")) == []


@with_extra
async def test_the_model_of_the_settings_changes_what_is_found_first(tmp_path: Path) -> None:
    write_model(tmp_path / "judged" / "models", {"caretaker": 5.0, "about": -5.0})

    without = await asked(tmp_path / "plain", PARLEY_RERANKER="")
    judged = await asked(tmp_path / "judged")

    assert without["hits"][0]["doc_id"] == "cold"
    assert judged["hits"][0]["doc_id"] == "warm"
    assert rerankings(judged) == [None]


async def test_a_question_is_answered_as_ever_where_the_model_is_missing(tmp_path: Path) -> None:
    without = await asked(tmp_path / "plain", PARLEY_RERANKER="")
    fallen_back = await asked(tmp_path / "missing")

    assert (fallen_back["text"], fallen_back["hits"]) == (without["text"], without["hits"])
    assert rerankings(fallen_back) == ["rule: the reranker is unavailable"]


async def test_the_doctor_asks_it(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, SETTING).settings

    (missing,) = await unanswered(settings)

    assert missing.startswith("PARLEY_RERANKER: ")
    assert "fetch https://" in missing or "pip install" in missing


@with_extra
async def test_the_doctor_is_content_where_it_answers(tmp_path: Path) -> None:
    write_model(tmp_path / "models", WEIGHTS)

    assert await unanswered(load_settings(tmp_path, SETTING).settings) == []

"""The reranker of the settings: FlashRank with a model from the home, its use, and the error where it is missing."""

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
from bot.bootstrap import list_unreachable_backends, open_application
from bot.reranker import FlashrankReranker, RerankerErrorTranslation
from bot.settings import load_settings
from tests.bot.conftest import ConversationDriver
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.cross_encoder import MODEL, MODEL_FILE, write_model
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


async def assert_unavailable(reranker: FlashrankReranker, message: str) -> None:
    with pytest.raises(RerankerUnavailable, match=message):
        await reranker.score_passages("boiler", ["a boiler", "a roof"])


def list_files(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


@with_extra
async def test_the_error_names_a_missing_model_and_its_address_and_nothing_is_downloaded(
    reranker: FlashrankReranker, models: Path
) -> None:
    await assert_unavailable(
        reranker, rf"lacks {MODEL_FILE}, config\.json.*fetch https://.*{MODEL}\.zip and unpack it into {models}"
    )

    assert list_files(models.parent) == []


@with_extra
async def test_a_model_that_is_added_later_is_used(reranker: FlashrankReranker, models: Path) -> None:
    await assert_unavailable(reranker, "lacks")
    write_model(models, WEIGHTS)

    roof, boiler = await reranker.score_passages("boiler", ["a roof", "a boiler"])

    assert boiler > roof


@with_extra
@pytest.mark.parametrize("model", ["best-model", "rank_zephyr_7b_v1_full"])
async def test_a_model_that_cannot_score_passages_is_refused_and_the_error_lists_models_that_can(
    model: str, models: Path
) -> None:
    other = FlashrankReranker(model, models)
    await assert_unavailable(other, rf"no model '{model}' that scores passages, only .*{MODEL}")
    other.close()


@with_extra
@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff\x00 nothing"])
@pytest.mark.parametrize("name", [MODEL_FILE, "config.json", "tokenizer_config.json", "tokenizer.json"])
async def test_a_broken_model_file_makes_the_reranker_unavailable(
    reranker: FlashrankReranker, models: Path, name: str, content: bytes
) -> None:
    (write_model(models, WEIGHTS) / name).write_bytes(content)

    await assert_unavailable(reranker, rf"the model {MODEL} cannot be used")


@with_extra
async def test_a_score_that_is_not_a_number_makes_the_reranker_unavailable(
    reranker: FlashrankReranker, models: Path
) -> None:
    write_model(models, {"boiler": float("nan")})

    await assert_unavailable(reranker, "something else than numbers")


@with_extra
async def test_scores_that_overflow_a_float_become_the_lowest_and_the_highest(
    reranker: FlashrankReranker, models: Path
) -> None:
    write_model(models, {"boiler": 1e6, "roof": -1e6})

    assert await reranker.score_passages("boiler", ["a boiler", "a roof"]) == [1.0, 0.0]


@with_extra
def test_every_exception_of_the_library_is_translated() -> None:
    library_members = vars(import_module("onnxruntime.capi.onnxruntime_pybind11_state")).values()
    errors = [member for member in library_members if inspect.isclass(member) and issubclass(member, BaseException)]

    assert len(errors) > 5
    for error in [*errors, Exception]:  # tokenizers raises plain `Exception`
        with pytest.raises(RerankerUnavailable), RerankerErrorTranslation(MODEL):
            raise error("said the library")


def test_errors_of_other_code_pass_unchanged() -> None:
    with pytest.raises(ZeroDivisionError), RerankerErrorTranslation(MODEL):
        raise ZeroDivisionError


def test_without_the_extra_the_error_says_what_to_install(models: Path) -> None:
    script = f"""
import asyncio, sys
from pathlib import Path
sys.modules["flashrank"] = None  # as if it were not installed
from agent.errors import RerankerUnavailable
from bot.reranker import FlashrankReranker
try:
    asyncio.run(FlashrankReranker({MODEL!r}, Path({str(models)!r})).score_passages("a", ["b"]))
except RerankerUnavailable as exc:
    print(exc)
"""
    assert "pip install 'parley[rerank]'" in output_of(script)


@with_extra
def test_loading_a_model_leaves_the_logging_of_the_process_unchanged(models: Path) -> None:
    write_model(models, WEIGHTS)
    script = f"""
import asyncio, logging
from pathlib import Path
from bot.reranker import FlashrankReranker
asyncio.run(FlashrankReranker({MODEL!r}, Path({str(models)!r})).score_passages("a", ["b"]))
print(logging.root.handlers, logging.root.level)
"""
    assert output_of(script) == "[] 30\n"


def output_of(script: str) -> str:
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert process.stderr == ""
    return process.stdout


# -- in the bot

QUESTION = "What does the text say about the boiler in a hard frost?"
NOTES = {
    "cold": "About the boiler and the frost: hard to say what the text does.",
    "warm": "Boiler: in a frost the caretaker feeds the boiler at dawn.",
    "roof": "The roof is made of slate and hard.",
}


async def ask_question(home: Path, reranker: OverlapReranker | None = None, **setting: str) -> Mapping[str, Any]:
    """The result of the question. Uses the reranker of the settings, unless one is passed."""
    settings = load_settings(home, SETTING | setting).settings
    async with open_application(settings, reranker=reranker) as bot:
        await bot.index.set_schema(a_receipt_schema())
        await bot.index.put(RECEIPTS, [a_document(name, text) for name, text in NOTES.items()])
        return (await ConversationDriver(bot).ask_question(QUESTION)).result


def rerank_fallbacks(result: Mapping[str, Any]) -> list[str | None]:
    return [stage["fallback"] for stage in result["stages"] if stage["name"] == "rerank"]


async def test_a_reranker_passed_as_an_argument_is_used(tmp_path: Path) -> None:
    reranker = OverlapReranker()

    result = await ask_question(tmp_path, reranker, PARLEY_RERANKER="")

    assert reranker.calls[0][0] == QUESTION
    assert rerank_fallbacks(result) == [None]


async def test_without_the_setting_nothing_is_reranked(tmp_path: Path) -> None:
    assert rerank_fallbacks(await ask_question(tmp_path, PARLEY_RERANKER="")) == []


@with_extra
async def test_the_model_of_the_settings_changes_the_first_hit(tmp_path: Path) -> None:
    write_model(tmp_path / "judged" / "models", {"caretaker": 5.0, "about": -5.0})

    plain = await ask_question(tmp_path / "plain", PARLEY_RERANKER="")
    reranked = await ask_question(tmp_path / "judged")

    assert plain["hits"][0]["doc_id"] == "cold"
    assert reranked["hits"][0]["doc_id"] == "warm"
    assert rerank_fallbacks(reranked) == [None]


async def test_a_missing_model_does_not_change_the_answer(tmp_path: Path) -> None:
    plain = await ask_question(tmp_path / "plain", PARLEY_RERANKER="")
    fallen_back = await ask_question(tmp_path / "missing")

    assert (fallen_back["text"], fallen_back["hits"]) == (plain["text"], plain["hits"])
    assert rerank_fallbacks(fallen_back) == ["rule: the reranker is unavailable"]


async def test_the_doctor_reports_a_missing_model(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, SETTING).settings

    (missing,) = await list_unreachable_backends(settings)

    assert missing.startswith("PARLEY_RERANKER: ")
    assert "fetch https://" in missing or "pip install" in missing


@with_extra
async def test_the_doctor_reports_nothing_where_the_model_works(tmp_path: Path) -> None:
    write_model(tmp_path / "models", WEIGHTS)

    assert await list_unreachable_backends(load_settings(tmp_path, SETTING).settings) == []

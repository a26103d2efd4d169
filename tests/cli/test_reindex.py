"""`parley bucket reindex`, against a server of embeddings: consent to the cost, continuing after a kill, failures."""

import asyncio
import json
import re
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.cli.conftest import ProcessResult, environment_for, run_parley
from tests.stand_ins.model.server import API_KEY, ScriptedModelServer


@pytest_asyncio.fixture
async def server() -> AsyncIterator[ScriptedModelServer]:
    async with ScriptedModelServer() as running:
        yield running


def model_settings(server: ScriptedModelServer, **more: str) -> dict[str, str]:
    return {
        "PARLEY_EMBEDDER": "openai/embedding-model",
        "PARLEY_EMBEDDER_API_BASE": server.url,
        "PARLEY_EMBEDDER_API_KEY": API_KEY,
    } | more


async def run_with_model(home: Path, server: ScriptedModelServer, *words: str, **more: str) -> ProcessResult:
    return await asyncio.to_thread(run_parley, home, *words, **model_settings(server, **more))


def a_home_without_vectors(folder: Path, documents: int) -> Path:
    source = folder / "notes.jsonl"
    notes = [{"doc_id": f"n{number}", "text": f"Note {number} on pumps."} for number in range(documents)]
    source.write_text("\n".join(map(json.dumps, notes)), encoding="utf-8")
    assert run_parley(folder / "home", "ingest", str(source), "--bucket", "notes").status == 0
    return folder / "home"


def embedded_texts(server: ScriptedModelServer) -> list[str]:
    texts = [text for body in server.embedding_requests for text in body.texts]
    return [text for text in texts if text.endswith("pumps.")]


async def test_the_cost_is_told_and_nothing_is_embedded_without_consent(
    tmp_path: Path, server: ScriptedModelServer
) -> None:
    home = a_home_without_vectors(tmp_path, 3)

    unpriced = await run_with_model(home, server, "bucket", "reindex", "notes")
    prices = "openai/embedding-model=1000"
    priced = await run_with_model(home, server, "bucket", "reindex", "--all", PARLEY_MODEL_PRICES=prices)

    assert (unpriced.status, priced.status) == (1, 1)
    assert "some 1 call of openai/embedding-model with" in unpriced.stderr
    assert "at an unknown price" in unpriced.stderr
    assert "about $0.0" in priced.stderr
    assert "--yes" in priced.stderr
    assert embedded_texts(server) == []


async def test_with_consent_every_passage_is_embedded_once(tmp_path: Path, server: ScriptedModelServer) -> None:
    home = a_home_without_vectors(tmp_path, 70)

    first = await run_with_model(home, server, "bucket", "reindex", "--all", "--yes")
    second = await run_with_model(home, server, "bucket", "reindex", "--all")
    by_name = await run_with_model(home, server, "bucket", "reindex", "notes")
    doctor = await run_with_model(home, server, "doctor")

    assert (first.status, first.stdout) == (0, "notes: embedded 70 passages\n")
    assert (second.status, second.stdout) == (0, "notes: every passage has its vector\n")
    assert (by_name.status, by_name.stdout.startswith("notes: re-indexed 70 documents, ")) == (0, True)
    assert len(embedded_texts(server)) == 70
    assert doctor.status == 0


async def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path: Path, server: ScriptedModelServer) -> None:
    home = a_home_without_vectors(tmp_path, 600)
    environ = environment_for(home, **model_settings(server, PARLEY_MODEL_CONCURRENCY="1"))
    command = [sys.executable, "-m", "bot.cli", "bucket", "reindex", "notes", "--yes"]
    process = await asyncio.create_subprocess_exec(*command, env=environ, stdin=DEVNULL, stderr=DEVNULL)
    async with asyncio.timeout(120):
        while len(embedded_texts(server)) < 100:  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.005)
    process.kill()
    await process.wait()
    count_before = len(embedded_texts(server))

    ended = await run_with_model(home, server, "bucket", "reindex", "notes", "--yes")

    assert count_before < 600
    assert ended.status == 0
    assert len(set(embedded_texts(server))) == 600
    assert len(embedded_texts(server)) <= 600 + 64  # the call under way at the kill may be repeated


async def test_a_model_that_does_not_answer_ends_the_run_with_one_sentence(
    tmp_path: Path, server: ScriptedModelServer
) -> None:
    home = a_home_without_vectors(tmp_path, 3)

    ended = await run_with_model(
        home, server, "bucket", "reindex", "notes", "--yes", PARLEY_EMBEDDER_API_BASE="http://127.0.0.1:9/v1"
    )

    assert ended.status == 1
    assert "the embedding model openai/embedding-model does not answer" in ended.stderr


def test_vectors_made_in_this_process_need_no_consent(tmp_path: Path) -> None:
    home = a_home_without_vectors(tmp_path, 3)

    ended = run_parley(home, "bucket", "reindex", "notes", PARLEY_EMBEDDER="wordllama")

    embedded, indexed = ended.stdout.splitlines()
    assert (ended.status, embedded) == (0, "notes: embedded 3 passages")
    assert re.fullmatch(r"notes: re-indexed 3 documents, [\d,]+ a second", indexed)
    assert re.search(r"notes: to re-index 3 documents takes some [\d.]+ MB of disk; [\d,.]+ MB are free", ended.stderr)


def test_a_bucket_is_indexed_anew_from_its_stored_texts_without_its_files(tmp_path: Path) -> None:
    home = a_home_without_vectors(tmp_path, 3)
    (tmp_path / "notes.jsonl").unlink()

    rebuilt = run_parley(home, "bucket", "reindex", "notes")
    asked = run_parley(home, "ask", "how many notes are there?", "--json")

    assert (rebuilt.status, rebuilt.stdout.startswith("notes: re-indexed 3 documents")) == (0, True)
    assert "3" in asked.json["text"]


def test_the_embedded_index_has_nothing_to_clean_up(tmp_path: Path) -> None:
    home = a_home_without_vectors(tmp_path, 3)

    ended = run_parley(home, "bucket", "cleanup", "--all")

    assert (ended.status, ended.stdout) == (0, "notes: nothing to clean up\n")
    assert run_parley(home, "bucket", "cleanup").status == 2
    assert run_parley(home, "bucket", "cleanup", "none").status == 1


def test_reindex_wants_names_or_all(tmp_path: Path) -> None:
    assert run_parley(tmp_path, "bucket", "reindex").status == 2
    assert run_parley(tmp_path, "bucket", "reindex", "notes", "--all").status == 2
    assert run_parley(tmp_path, "bucket", "reindex", "notes").status == 1
    assert run_parley(tmp_path, "bucket", "reindex", "--all", "--shards", "3").status == 2

"""`parley ingest --extract-with model` and `--chunk-context`: estimate, consent, repeated runs, a model that fails."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.cli.conftest import ProcessResult, run_parley
from tests.stand_ins.model.request_bodies import ChatBody
from tests.stand_ins.model.server import API_KEY, ScriptedModelServer

SCHEMA = """
bucket: checks
fields:
  - name: inspector
    type: category
    description: who checked it
"""


def reply_with_inspectors(body: ChatBody) -> str:
    pattern = r'<document number=\\"(\d+)\\"[^>]*>\\n(.*?)\\n</document>'
    documents = [
        {
            "document": int(number),
            "values": [
                {"field": "inspector", "value": name, "cells": list[str](), "words": f"{name} checked it"}
                for name in re.findall(r"(\w+) checked it", text)
            ],
        }
        for number, text in re.findall(pattern, body.model_dump_json())
    ]
    return json.dumps({"documents": documents})


@pytest_asyncio.fixture
async def server() -> AsyncIterator[ScriptedModelServer]:
    async with ScriptedModelServer(answer_chat=reply_with_inspectors) as running:
        yield running


def write_papers(folder: Path) -> list[str]:
    papers, schema = folder / "papers", folder / "checks.schema.yaml"
    papers.mkdir()
    for number, name in enumerate(["Kestrel", "Harbor", "Northline"]):
        (papers / f"p{number}.txt").write_text(f"The valve leaked, so {name} checked it.", encoding="utf-8")
    schema.write_text(SCHEMA, encoding="utf-8")
    return ["ingest", str(papers), "--schema", str(schema), "--extract-with", "model"]


async def run_with_model(home: Path, server: ScriptedModelServer, *words: str, **more: str) -> ProcessResult:
    settings = {
        "PARLEY_MODEL": "openai/main-model",
        "PARLEY_MODEL_API_BASE": server.url,
        "PARLEY_MODEL_API_KEY": API_KEY,
        "PARLEY_MODEL_PRICES": "openai/main-model=1/2",
    }
    return await asyncio.to_thread(run_parley, home, *words, **(settings | more))


async def test_values_are_read_after_consent_and_a_second_run_asks_nothing(
    tmp_path: Path, server: ScriptedModelServer
) -> None:
    home, command = tmp_path / "home", write_papers(tmp_path)
    refused = await run_with_model(home, server, *command)
    requests_before = len(server.chat_requests)
    first = await run_with_model(home, server, *command, "--yes")
    second = await run_with_model(home, server, *command)
    review = await run_with_model(home, server, "bucket", "review", "checks", "--below", "0.9", "--json")

    assert (refused.status, requests_before) == (1, 0)
    assert "to read the documents: some 1 call of openai/main-model" in refused.stderr
    assert "less than $0.01" in refused.stderr
    assert (first.status, first.stdout.splitlines()[-1]) == (0, "added 3, replaced 0, skipped 0, failed 0")
    assert (second.status, second.stdout.splitlines()[-1]) == (0, "added 0, replaced 0, skipped 3, failed 0")
    assert len(server.chat_requests) == 1
    assert {value["value"] for value in review.json["values"]} == {"Kestrel", "Harbor", "Northline"}


async def test_a_model_that_fails_leaves_the_documents_to_the_rules_and_says_so(
    tmp_path: Path, server: ScriptedModelServer
) -> None:
    command = write_papers(tmp_path)
    more = {"PARLEY_MODEL_API_BASE": "http://127.0.0.1:9/v1"}

    ended = await run_with_model(tmp_path / "home", server, *command, "--yes", **more)

    assert ended.status == 0
    assert ended.stdout.splitlines()[-1] == ("added 3, replaced 0, skipped 0, failed 0; read by the rules alone: 3")


def test_without_a_model_the_option_is_refused(tmp_path: Path) -> None:
    ended = run_parley(tmp_path / "home", *write_papers(tmp_path))

    assert (ended.status, "PARLEY_MODEL" in ended.stderr) == (2, True)


def reply_with_contexts(body: ChatBody) -> str:
    numbers = re.findall(r'<passage number=\\"(\d+)\\"', body.model_dump_json())
    return json.dumps(
        {"passages": [{"number": int(n), "context": f"Of the Kestrel dossier, part {n}."} for n in numbers]}
    )


async def test_passages_get_contexts_after_consent_and_a_second_run_asks_nothing(
    tmp_path: Path, server: ScriptedModelServer
) -> None:
    server.answer_chat = reply_with_contexts
    folder, home = tmp_path / "papers", tmp_path / "home"
    folder.mkdir()
    (folder / "long.md").write_text("\n\n".join(f"# Part {n}\n\n{'The valve leaks. ' * 60}" for n in range(4)))
    command = ["ingest", str(folder), "--bucket", "papers", "--chunk-context"]

    estimate = await run_with_model(home, server, *command, "--dry-run")
    requests_before = len(server.chat_requests)
    first = await run_with_model(home, server, *command, "--yes")
    second = await run_with_model(home, server, *command)

    assert "to read the documents: some 1 call of openai/main-model" in estimate.stderr
    assert requests_before == 0
    assert (first.stdout.splitlines()[-1], second.stdout.splitlines()[-1]) == (
        "added 1, replaced 0, skipped 0, failed 0",
        "added 0, replaced 0, skipped 1, failed 0",
    )
    assert len(server.chat_requests) == 1


async def test_documents_of_sources_get_contexts_where_the_setting_says_so(
    tmp_path: Path, server: ScriptedModelServer
) -> None:
    server.answer_chat = reply_with_contexts
    folder, home = tmp_path / "papers", tmp_path / "home"
    folder.mkdir()
    (folder / "long.md").write_text("\n\n".join(f"# Part {n}\n\n{'The valve leaks. ' * 60}" for n in range(4)))
    await run_with_model(home, server, "source", "add", "folder", str(folder), "--bucket", "papers")

    without = await run_with_model(home, server, "source", "sync", "--json")
    requests_before = len(server.chat_requests)
    (folder / "long.md").write_text("\n\n".join(f"# Part {n}\n\n{'The pump leaks. ' * 60}" for n in range(4)))
    synced = await run_with_model(home, server, "source", "sync", "--json", PARLEY_MODEL_CHUNK_CONTEXT="on")

    assert (without.status, requests_before) == (0, 0)
    assert (synced.status, len(server.chat_requests)) == (0, 1)

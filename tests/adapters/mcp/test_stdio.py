"""`parley mcp` as a client starts it."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any as Json

import pytest

from tests.adapters.mcp.clients import (
    LEGACY,
    MODERN,
    ask,
    choice_of,
    stdio_client_of,
    text_of,
)
from tests.cli.conftest import environment_for, run_parley

OVERLOAD = "List every receipt"
each_protocol = pytest.mark.parametrize("mode", [MODERN, LEGACY])


def read_lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


@each_protocol
async def test_a_question_is_narrowed_by_a_choice_and_its_documents_are_exported(home: Path, mode: str) -> None:
    async with stdio_client_of(home, mode=mode) as client:
        asked_back = await ask(client, OVERLOAD)
        answer = await client.call_tool("agentic_search", choice_of(asked_back, "2020"))
        conversation = answer.structured_content["conversation"]
        export = await client.call_tool("export", {"conversation": conversation})

    assert asked_back.structured_content["outcome"] == "overload"
    assert [(choice["label"], choice["count"]) for choice in asked_back.structured_content["choices"]][:2] == [
        ("2020", 30),
        ("2021", 30),
    ]
    assert (answer.is_error, answer.structured_content["outcome"], answer.structured_content["count"]) == (
        False,
        "answer",
        30,
    )
    [file] = export.structured_content["files"]
    rows = await asyncio.to_thread(read_lines, file["path"])
    assert (file["rows"], len(rows)) == (30, 31)


async def test_a_person_without_a_grant_learns_nothing_and_a_grant_counts_from_the_next_call(home: Path) -> None:
    async with stdio_client_of(home, "--as", "cleo") as client:
        before = await ask(client, "How many receipts are there?")
        assert run_parley(home, "grant", "receipts", "user:local:cleo").status == 0
        granted = await ask(client, "How many receipts are there?")
        assert run_parley(home, "revoke", "receipts", "user:local:cleo").status == 0
        after = await ask(client, "How many receipts are there?")

    assert [result.structured_content["outcome"] for result in (before, granted, after)] == [
        "refused",
        "answer",
        "refused",
    ]
    assert "receipt" not in text_of(before) + text_of(after)


def test_standard_output_has_messages_of_the_protocol_alone(home: Path) -> None:
    meta: dict[str, Json] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call: dict[str, Json] = {"name": "agentic_search", "arguments": {"question": "How many receipts?"}, "_meta": meta}
    lines = ["this is not JSON", json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call})]

    ended = subprocess.run(
        [sys.executable, "-m", "bot.cli", "mcp"],
        env=environment_for(home),
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    messages = [json.loads(line) for line in ended.stdout.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    assert "answering an MCP client as operator" in ended.stderr
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False)

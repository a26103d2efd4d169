"""A model that is played by hand, served as a program of its own."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

ROOT = Path(__file__).parents[3]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"count": {"type": "integer"}},
    "required": ["count"],
    "additionalProperties": False,
}
STRUCTURED = {
    "model": "any-model",
    "messages": [
        {"role": "system", "content": "Count «contracts»."},
        {"role": "user", "content": 'How many?\nOf "Acme".'},
    ],
    "response_format": {"type": "json_schema", "json_schema": {"name": "count", "schema": SCHEMA, "strict": True}},
    "max_tokens": 100,
}
PLAIN = {"model": "any-model", "messages": [{"role": "user", "content": "Say hello."}]}
WITH_TOOLS = PLAIN | {
    "tools": [{"type": "function", "function": {"name": "count_documents", "parameters": SCHEMA}}],
}


@asynccontextmanager
async def serve_by_hand(folder: Path, *options: str) -> AsyncGenerator[str]:
    """Starts the program and yields the address of its API."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.stand_ins.model", "--by-hand", str(folder), *options, cwd=ROOT
    )
    try:
        port = await read_file(folder / "port")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        await process.wait()
        (folder / "port").unlink()


async def read_file(path: Path) -> str:
    """Waits until there is such a file."""
    async with asyncio.timeout(60):
        while not path.exists():  # noqa: ASYNC110, ASYNC240 - another process writes it
            await asyncio.sleep(0.05)
    return path.read_text(encoding="utf-8")  # noqa: ASYNC240


def write_answer(folder: Path, name: str, text: str) -> None:
    unfinished = folder / "answers" / f".{name}"
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(folder / "answers" / name)


async def post_chat(url: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    async with aiohttp.ClientSession() as session, session.post(f"{url}/chat/completions", json=body) as response:
        return response.status, await response.json()


async def test_requests_become_readable_files_and_the_answers_in_files_become_replies(tmp_path: Path) -> None:
    async with serve_by_hand(tmp_path) as url, asyncio.TaskGroup() as group:
        structured = group.create_task(post_chat(url, STRUCTURED))
        text = await read_file(tmp_path / "requests" / "0001.md")
        plain = group.create_task(post_chat(url, PLAIN))
        await read_file(tmp_path / "requests" / "0002.md")
        request = json.loads(await read_file(tmp_path / "requests" / "0001.json"))
        write_answer(tmp_path, "0002.txt", "Hello!\n")
        write_answer(tmp_path, "0001.json", '{"count": 42}')

    assert '## System\n\nCount «contracts».\n\n## User\n\nHow many?\nOf "Acme".\n' in text
    assert json.dumps(SCHEMA, indent=2) in text
    assert request == STRUCTURED
    assert json.loads(structured.result()[1]["choices"][0]["message"]["content"]) == {"count": 42}
    assert plain.result()[1]["choices"][0]["message"]["content"] == "Hello!"


async def test_an_answer_that_breaks_the_schema_is_refused_with_the_reason_until_it_is_corrected(
    tmp_path: Path,
) -> None:
    async with serve_by_hand(tmp_path) as url, asyncio.TaskGroup() as group:
        reply = group.create_task(post_chat(url, STRUCTURED))
        await read_file(tmp_path / "requests" / "0001.md")
        write_answer(tmp_path, "0001.json", '{"count": "many"}')
        reason = await read_file(tmp_path / "answers" / "0001.error.md")
        assert not reply.done()
        write_answer(tmp_path, "0001.json", '{"count": 3}')

    assert "`$.count`: 'many' is not of type 'integer'" in reason
    assert json.loads(reply.result()[1]["choices"][0]["message"]["content"]) == {"count": 3}
    assert not (tmp_path / "answers" / "0001.error.md").exists()


async def test_a_request_that_was_made_before_gets_its_answer_also_after_a_restart(tmp_path: Path) -> None:
    async with serve_by_hand(tmp_path) as url, asyncio.TaskGroup() as group:
        group.create_task(post_chat(url, PLAIN))
        await read_file(tmp_path / "requests" / "0001.md")
        write_answer(tmp_path, "0001.txt", "Hello!")
    async with serve_by_hand(tmp_path) as url:
        _, reply = await post_chat(url, PLAIN | {"model": "another-model"})

    assert reply["choices"][0]["message"]["content"] == "Hello!"
    assert [path.name for path in sorted((tmp_path / "requests").glob("*.md"))] == ["0001.md"]


async def test_tools_are_called_by_an_answer_that_names_them(tmp_path: Path) -> None:
    async with serve_by_hand(tmp_path) as url, asyncio.TaskGroup() as group:
        reply = group.create_task(post_chat(url, WITH_TOOLS))
        text = await read_file(tmp_path / "requests" / "0001.md")
        write_answer(tmp_path, "0001.json", '{"tool_calls": [{"name": "drop_table", "arguments": {}}]}')
        reason = await read_file(tmp_path / "answers" / "0001.error.md")
        write_answer(tmp_path, "0001.json", '{"tool_calls": [{"name": "count_documents", "arguments": {"count": 1}}]}')

    assert "`count_documents`" in text
    assert "no tool `drop_table`" in reason
    [call] = reply.result()[1]["choices"][0]["message"]["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("count_documents", {"count": 1})


async def test_a_request_that_nobody_answers_ends_after_the_wait(tmp_path: Path) -> None:
    async with serve_by_hand(tmp_path, "--wait", "0.3") as url:
        status, _ = await post_chat(url, PLAIN)

    assert status == 504

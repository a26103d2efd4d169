"""The transcript in docs/mcp.md is what a client gets."""

import json
import re
from pathlib import Path
from typing import Any as Json

from mcp import Client
from mcp.client import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult

from bot.application import Application
from tests.adapters.mcp.clients import FormFiller, choice_of, server_client_of, text_of, titles_of

PAGE = Path(__file__).parents[3] / "docs" / "mcp.md"
BLOCK = re.compile(r"<!-- transcript -->\n```text\n(.*?)```", re.DOTALL)
IDS = re.compile(r"mcp:[\w-]{16}|(?<=choice )[\w-]{22}|(?<=\"choice\": \")[\w-]{22}")

FILE_PATH = re.compile(r"^(receipts-10\.csv: )\S+$", re.MULTILINE)


class RecordingFiller(FormFiller):
    """Writes each form into the lines, and what the person takes."""

    def __init__(self, lines: list[str], label: str) -> None:
        super().__init__(label=label)
        self._lines = lines

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self._lines += ["[form]", *params.message.splitlines(), *(f"( ) {title}" for title in titles_of(params))]
        self._lines += [f"[taken: {self.label}]", ""]
        return await super().__call__(context, params)


async def record_call(client: Client, lines: list[str], tool: str, arguments: dict[str, Json]) -> Json:
    lines += [f"> {tool} {json.dumps(arguments)}"]
    result = await client.call_tool(tool, arguments)
    lines += [text_of(result), ""]
    return result


async def record_progress_of_call(client: Client, lines: list[str], tool: str, arguments: dict[str, Json]) -> None:
    async def note_progress(progress: float, total: float | None, message: str | None) -> None:
        lines.append(f"[progress {progress:.0f}: {message}]")

    lines += [f"> {tool} {json.dumps(arguments)}"]
    result = await client.call_tool(tool, arguments, progress_callback=note_progress)
    lines += ["", text_of(result), ""]


async def test_the_transcript_on_the_page_is_what_a_client_gets(bot: Application) -> None:
    lines = list[str]()
    async with server_client_of(bot, "local:ann") as client:
        asked_back = await record_call(client, lines, "agentic_search", {"question": "List every receipt"})
        taken = choice_of(asked_back, "2020")
        await record_call(client, lines, "agentic_search", taken)
        conversation = taken["conversation"]
        await record_call(
            client, lines, "agentic_search", {"question": "How many of them by vendor?", "conversation": conversation}
        )
        await record_progress_of_call(client, lines, "export", {"question": "Receipts from Harbor of 2020"})
        await record_call(client, lines, "agentic_search", {"question": "What was paid on receipt 80?"})
        aggregate = {"bucket": "receipts", "function": "count", "group_by": "vendor"}
        await record_call(client, lines, "annotations_aggregate", aggregate)
    lines += ["# A client that shows forms", ""]
    async with server_client_of(bot, "local:ann", filler=RecordingFiller(lines, "2020 · 30")) as client:
        await record_call(client, lines, "agentic_search", {"question": "List every receipt"})

    numbers = dict[str, str]()
    told = IDS.sub(lambda match: numbers.setdefault(match[0], f"<id {len(numbers) + 1}>"), "\n".join(lines))
    told = FILE_PATH.sub(r"\1/home/ann/parley/exports/…", told)
    [shown] = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert told == shown

"""The transcript in docs/mcp.md is what a client gets."""

import json
import re
from pathlib import Path
from typing import Any as Json

from mcp import Client

from bot.application import Application
from tests.adapters.mcp.clients import choice_of, server_client_of, text_of

PAGE = Path(__file__).parents[3] / "docs" / "mcp.md"
BLOCK = re.compile(r"<!-- transcript -->\n```text\n(.*?)```", re.DOTALL)
IDS = re.compile(r"mcp:[\w-]{16}|(?<=choice )[\w-]{22}|(?<=\"choice\": \")[\w-]{22}")

FILE_PATH = re.compile(r"^(receipts-10\.csv: )\S+$", re.MULTILINE)


async def record_call(client: Client, lines: list[str], tool: str, arguments: dict[str, Json]) -> Json:
    result = await client.call_tool(tool, arguments)
    lines += [f"> {tool} {json.dumps(arguments)}", text_of(result), ""]
    return result


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
        await record_call(client, lines, "export", {"question": "Receipts from Harbor of 2020"})
        aggregate = {"bucket": "receipts", "function": "count", "group_by": "vendor"}
        await record_call(client, lines, "annotations_aggregate", aggregate)

    numbers = dict[str, str]()
    told = IDS.sub(lambda match: numbers.setdefault(match[0], f"<id {len(numbers) + 1}>"), "\n".join(lines))
    told = FILE_PATH.sub(r"\1/home/ann/parley/exports/…", told)
    [shown] = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert told == shown

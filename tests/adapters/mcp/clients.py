"""Clients of the official SDK: over the standard streams of a real `parley mcp`, and the forms that they answer."""

import contextlib
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any as Json
from typing import Literal

from mcp import Client
from mcp.client import ClientRequestContext
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent

from adapters.mcp.server import McpServer
from bot.application import Application
from bot.ids import OPERATOR, PersonId
from bot.programs.callers import ProgramCaller
from tests.cli.conftest import environment_for

MODERN, LEGACY = "auto", "legacy"  # the newest protocol, and one with a handshake


@dataclass
class FormFiller:
    """A person who answers each form in the same way: takes the choice of this label, or declines."""

    label: str = ""
    action: Literal["accept", "decline", "cancel"] = "accept"
    forms: list[ElicitRequestParams] = field(default_factory=list[ElicitRequestParams])

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self.forms.append(params)
        if self.action != "accept":
            return ElicitResult(action=self.action)
        return ElicitResult(action="accept", content={"choice": titles_of(params)[self.label]})


def titles_of(params: ElicitRequestParams) -> dict[str, str]:
    """The ids of the choices of a form, by the text that a person sees."""
    assert params.mode == "form"
    return {choice["title"]: choice["const"] for choice in params.requested_schema["properties"]["choice"]["oneOf"]}


@contextlib.asynccontextmanager
async def stdio_client_of(
    home: Path, *words: str, mode: str = MODERN, filler: FormFiller | None = None
) -> AsyncGenerator[Client]:
    """A client that has started `parley mcp` with these words."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "bot.cli", "mcp", *words], env=environment_for(home)
    )
    with (home / "stderr.txt").open("w", encoding="utf-8") as errors:
        async with Client(stdio_client(parameters, errors), mode=mode, elicitation_callback=filler) as client:
            yield client


@contextlib.asynccontextmanager
async def server_client_of(
    bot: Application,
    person: str = OPERATOR,
    *,
    mode: str = MODERN,
    filler: FormFiller | None = None,
    shows_paths: bool = True,
) -> AsyncGenerator[Client]:
    """A client of a server in this process, in which `person` asks."""
    caller = ProgramCaller(surface="mcp", person=PersonId(person))
    server = McpServer(bot, lambda context: caller, shows_paths=shows_paths).build_server()
    async with Client(server, mode=mode, elicitation_callback=filler) as client:
        yield client


async def ask(client: Client, question: str, **arguments: Json) -> CallToolResult:
    return await client.call_tool("agentic_search", {"question": question, **arguments})


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def choice_of(result: CallToolResult, label: str) -> dict[str, Json]:
    """The arguments that take the choice."""
    [choice] = [choice for choice in result.structured_content["choices"] if choice["label"] == label]
    return {"choice": choice["id"], "conversation": result.structured_content["conversation"]}

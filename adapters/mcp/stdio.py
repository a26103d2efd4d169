"""`parley mcp`: serves one client over standard input and output."""

from mcp.server.stdio import stdio_server

from adapters.mcp.server import SURFACE_NAME, McpServer
from bot.application import Application
from bot.ids import PersonId
from bot.programs.callers import ProgramCaller


async def serve_stdio(bot: Application, person: PersonId, time_zone: str) -> None:
    """Answers in the name of `person` until the client closes its end. Implements `bot.cli.programs.mcp.StdioServer`.

    Standard output has messages of the protocol only: the SDK moves everything else that is printed to standard error.
    """
    caller = ProgramCaller(surface=SURFACE_NAME, person=person, time_zone=time_zone)
    server = McpServer(bot, lambda context: caller).build_server()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

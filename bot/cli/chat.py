"""`parley chat`: a conversation at the terminal."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Protocol, cast

import typer

from bot.cli.failures import complain
from bot.cli.options import As, Buckets, Debug, Home
from bot.cli.running import on_terminal, surface_named, with_bot
from bot.cli.speaker import SURFACE, Speaker, new_conversation, speaker

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.bootstrap import Bot
    from bot.inbound import Body, Inbound


class Conversing(Protocol):
    """What the terminal's surface can do beside being one."""

    async def converse(self, inbound_of: "Callable[[Body], Inbound]") -> None: ...


def chat(
    as_: As = None,
    bucket: Buckets = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Go on with this conversation.")] = None,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Talk with Parley here; Ctrl-D ends."""

    async def work(bot: "Bot") -> None:
        await converse(bot, speaker(as_), tuple(bucket or ()), conversation)

    with_bot(work, home=home, debug=debug)


async def converse(bot: "Bot", who: Speaker, buckets: tuple[str, ...] = (), conversation: str | None = None) -> None:
    """Until the person ends it."""
    from bot.ids import ConversationId

    terminal = surface_named(SURFACE, bot)
    if terminal is None:
        return
    bot.register(terminal)
    here = new_conversation() if conversation is None else ConversationId(conversation)
    if on_terminal():
        complain("ask anything; Ctrl-D ends. You speak as " + (who.person if who.person != "operator" else "the owner"))
    try:
        await cast(Conversing, terminal).converse(partial(who.says, conversation=here, buckets=buckets))
    finally:
        await terminal.close()

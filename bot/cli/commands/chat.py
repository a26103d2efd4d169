"""`parley chat`: a conversation at the terminal."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Protocol, cast

import typer

from bot.cli.failures import print_to_stderr
from bot.cli.options import BucketsOption, DebugOption, HomeOption, SpeakerOption
from bot.cli.runtime import build_surface, is_on_terminal, run_with_bot
from bot.cli.speaker import TERMINAL_SURFACE, CliSpeaker, new_conversation_id, speaker_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.application import Application
    from bot.surface.inbound import Inbound, InboundBody


class ConversingSurface(Protocol):
    """What the terminal's surface offers in addition to `Surface`."""

    async def run_conversation(self, inbound_of: "Callable[[InboundBody], Inbound]") -> None: ...


def chat(
    as_: SpeakerOption = None,
    bucket: BucketsOption = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Go on with this conversation.")] = None,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Talk with Parley here; Ctrl-D ends."""

    async def run_chat(bot: "Application") -> None:
        await run_terminal_chat(bot, speaker_for(as_), tuple(bucket or ()), conversation)

    run_with_bot(run_chat, home=home, debug=debug, answers_questions=True)


async def run_terminal_chat(
    bot: "Application", speaker: CliSpeaker, buckets: tuple[str, ...] = (), conversation: str | None = None
) -> None:
    """Chat on the terminal until the person ends it."""
    from bot.ids import ConversationId

    terminal = build_surface(TERMINAL_SURFACE, bot)
    if terminal is None:
        return
    bot.register_surface(terminal)
    conversation_id = new_conversation_id() if conversation is None else ConversationId(conversation)
    if is_on_terminal():
        print_to_stderr(
            "ask anything; Ctrl-D ends. You speak as "
            + (speaker.person if speaker.person != "operator" else "the owner")
        )
    try:
        await cast(ConversingSurface, terminal).run_conversation(
            partial(speaker.inbound_for, conversation=conversation_id, buckets=buckets)
        )
    finally:
        await terminal.close()

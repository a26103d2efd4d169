"""Ask questions from a Python program: `from bot.scripting import ask_question`. See docs/reference/python.md."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any as Json

if TYPE_CHECKING:
    from bot.application import Application


def ask_question(
    question: str,
    *,
    limit: int = 10,
    validate: bool = True,
    decompose: bool = True,
    debug: bool = False,
    buckets: Sequence[str] = (),
    speaker: str | None = None,
    home: Path | None = None,
) -> dict[str, Json]:
    """Returns the result of a question in a conversation of its own, in the format of `parley ask --json`.

    `limit`: ranked passages to report. `validate` drops passages that are far from the question. `decompose` searches
    the topics of a question too. `debug` prints the search to stderr. `speaker` and `home` are the options `--as` and
    `--home`. Opens and closes the home for each call. Raises `BotError`; `RuntimeError` in an event loop, where
    `ask_application` is used instead.
    """
    from bot.bootstrap import open_application
    from bot.settings import load_settings

    async def open_and_ask() -> dict[str, Json]:
        async with open_application(load_settings(home).settings) as bot:
            return await ask_application(
                bot,
                question,
                limit=limit,
                validate=validate,
                decompose=decompose,
                debug=debug,
                buckets=buckets,
                speaker=speaker,
            )

    return asyncio.run(open_and_ask())


async def ask_application(
    bot: "Application",
    question: str,
    *,
    limit: int = 10,
    validate: bool = True,
    decompose: bool = True,
    debug: bool = False,
    buckets: Sequence[str] = (),
    speaker: str | None = None,
) -> dict[str, Json]:
    """Returns the result of a question, asked of an application that is open. Parameters as in `ask_question`."""
    from bot.cli.search_description import describe_search
    from bot.cli.speaker import new_conversation_id, speaker_for
    from bot.dialogue.questions import validate_question
    from bot.surface.inbound import TextMessage

    body = TextMessage(validate_question(question))
    turn = await bot.accept_inbound(speaker_for(speaker).inbound_for(body, new_conversation_id(), tuple(buckets)))
    if turn is None:
        raise RuntimeError("a new conversation holds the message already")
    limits = replace(bot.limits, reported_hits=limit, validate_hits=validate, decompose_searches=decompose)
    result = dict((await bot.run_turn(turn, limits=limits)).result)
    if debug:
        for line in describe_search(result):
            print(line, file=sys.stderr)  # noqa: T201
    return result

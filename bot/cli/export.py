"""`parley export`: the whole set of a question as a CSV file."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.ask import Asking, asked
from bot.cli.failures import Failed
from bot.cli.options import As, Buckets, Debug, Home, Json
from bot.cli.running import is_debug, say, with_bot
from bot.cli.speaker import new_conversation, speaker

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from bot.turns import TurnDone

_IN_WORDS = "export"


def export(
    question: Annotated[str | None, typer.Argument(help="What to list.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the file goes; else it stays in the home.")
    ] = None,
    bucket: Buckets = None,
    as_: As = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Export what was last found there.")] = None,
    json_: Json = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Write every document that a question finds into a CSV file."""
    if (question is None) == (conversation is None):
        raise typer.BadParameter("give a question, or the --conversation whose last list is wanted")

    async def work(bot: "Bot") -> None:
        how = Asking(speaker=speaker(as_), buckets=tuple(bucket or ()), hits=0, limit=0, debug=is_debug(debug))
        done = await _exported(bot, how, question, conversation)
        file = dict(done.result["files"][0])
        result = {**done.result, "question": question or done.result["question"], "files": [file]}
        if out is not None:
            await asyncio.to_thread(shutil.copyfile, file["path"], out)
            file["path"] = str(out)
        say(json.dumps(result, ensure_ascii=False) if json_ else f"{file['path']}  {file['rows']:,} rows")

    with_bot(work, home=home, debug=debug)


async def _exported(bot: "Bot", how: Asking, question: str | None, conversation: str | None) -> "TurnDone":
    """The turn that has the file: the first, a click on its export, or the word for it. Raises `Failed`."""
    from bot.dialogue import checked_question
    from bot.ids import ChoiceId, ConversationId
    from bot.inbound import Clicked, Said

    here = new_conversation() if conversation is None else ConversationId(conversation)
    done = await asked(bot, how, Said(checked_question(question or _IN_WORDS)), here)
    if not done.result["files"] and done.error is None and question is not None:
        offered = _export_of(done.result)
        body = Said(_IN_WORDS) if offered is None else Clicked(ChoiceId(offered))
        if done.result["outcome"] in ("answer", "overload") and done.result["count"]:
            done = await asked(bot, how, body, here)
    if done.error is not None or not done.result["files"]:
        raise Failed(done.error or f"there is nothing to export: {_first_sentence(done.result['text'])}")
    return done


def _first_sentence(text: str) -> str:
    """Of what a person reads, without its markup."""
    from bot.markdown import plain

    return plain(text).split("\n")[0]


def _export_of(result: "Any") -> str | None:
    return next((choice["id"] for choice in result["choices"] if choice["kind"] == "export"), None)

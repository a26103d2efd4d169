"""`parley export`: writes all documents that a question finds to a CSV file."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.commands.ask import AskOptions, run_turn
from bot.cli.failures import CommandFailed
from bot.cli.options import BucketsOption, DebugOption, HomeOption, JsonOption, SpeakerOption
from bot.cli.runtime import is_debug_on, print_line, run_with_bot
from bot.cli.speaker import new_conversation_id, speaker_for

if TYPE_CHECKING:
    from bot.application import Application
    from bot.turns.turn_processor import FinishedTurn

_EXPORT_COMMAND = "export"


def export(
    question: Annotated[str | None, typer.Argument(help="What to list.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the file goes; else it stays in the home.")
    ] = None,
    bucket: BucketsOption = None,
    as_: SpeakerOption = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Export what was last found there.")] = None,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Write every document that a question finds into a CSV file."""
    if (question is None) == (conversation is None):
        raise typer.BadParameter("give a question, or the --conversation whose last list is wanted")

    async def write_export(bot: "Application") -> None:
        options = AskOptions(
            speaker=speaker_for(as_), buckets=tuple(bucket or ()), max_hits=0, max_documents=0, debug=is_debug_on(debug)
        )
        turn = await _run_export(bot, options, question, conversation)
        file = dict(turn.result["files"][0])
        result = {**turn.result, "question": question or turn.result["question"], "files": [file]}
        if out is not None:
            await asyncio.to_thread(shutil.copyfile, file["path"], out)
            file["path"] = str(out)
        print_line(json.dumps(result, ensure_ascii=False) if json_ else f"{file['path']}  {file['rows']:,} rows")

    run_with_bot(write_export, home=home, debug=debug, answers_questions=True)


async def _run_export(
    bot: "Application", options: AskOptions, question: str | None, conversation: str | None
) -> "FinishedTurn":
    """The turn with the export file: the question, a click on its export choice, or the message "export".

    Raises `CommandFailed`.
    """
    from bot.dialogue.questions import validate_question
    from bot.ids import ChoiceId, ConversationId
    from bot.surface.inbound import ButtonClick, TextMessage

    conversation_id = new_conversation_id() if conversation is None else ConversationId(conversation)
    turn = await run_turn(bot, options, TextMessage(validate_question(question or _EXPORT_COMMAND)), conversation_id)
    if not turn.result["files"] and turn.error is None and question is not None:
        choice_id = _find_export_choice(turn.result)
        body = TextMessage(_EXPORT_COMMAND) if choice_id is None else ButtonClick(ChoiceId(choice_id))
        if turn.result["outcome"] in ("answer", "overload") and turn.result["count"]:
            turn = await run_turn(bot, options, body, conversation_id)
    if turn.error is not None or not turn.result["files"]:
        raise CommandFailed(turn.error or f"there is nothing to export: {_first_line_of(turn.result['text'])}")
    return turn


def _first_line_of(text: str) -> str:
    """The first line of a reply's text, without its markup."""
    from bot.surface.markdown import strip_markup

    return strip_markup(text).split("\n")[0]


def _find_export_choice(result: "Any") -> str | None:
    return next((choice["id"] for choice in result["choices"] if choice["kind"] == "export"), None)

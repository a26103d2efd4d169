"""`parley ask`: one question, one click, or a file of questions."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from bot.cli.failures import CommandFailed, print_to_stderr
from bot.cli.options import BucketsOption, DebugOption, DecomposeOption, HomeOption, JsonOption, SpeakerOption
from bot.cli.runtime import build_surface, is_debug_on, print_line, run_with_bot
from bot.cli.search_description import describe_search
from bot.cli.speaker import TERMINAL_SURFACE, CliSpeaker, new_conversation_id, speaker_for
from bot.cli.terminal_text import escape_controls

if TYPE_CHECKING:
    from bot.application import Application
    from bot.ids import ConversationId
    from bot.surface.inbound import InboundBody
    from bot.turns.turn_processor import FinishedTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """Options of `parley ask` that apply to every question."""

    speaker: CliSpeaker
    buckets: tuple[str, ...]
    max_hits: int
    max_documents: int
    debug: bool
    validate: bool = True
    decompose: bool = True


def ask(
    question: Annotated[str | None, typer.Argument(help="What you want to know.")] = None,
    bucket: BucketsOption = None,
    as_: SpeakerOption = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Go on with this conversation.")] = None,
    choose: Annotated[str | None, typer.Option(metavar="CHOICE_ID", help="Click a choice instead of asking.")] = None,
    hits: Annotated[int, typer.Option(min=0, help="Ranked passages to report.")] = 10,
    limit: Annotated[int, typer.Option(min=0, help="Document ids to report.")] = 1000,
    batch: Annotated[Path | None, typer.Option(metavar="FILE", help="Questions, one JSON object a line.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where the results of --batch go.")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Questions of --batch at once.")] = 1,
    validate: Annotated[bool, typer.Option(help="Leave out passages that are far from the question.")] = True,
    decompose: DecomposeOption = True,
    code: Annotated[
        bool, typer.Option("--code", help="Find blocks of code: give identifiers or words of them.")
    ] = False,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """Ask a question, or click a choice of an earlier answer."""

    async def ask_with_bot(bot: "Application") -> None:
        options = AskOptions(
            speaker=speaker_for(as_),
            buckets=tuple(bucket or ()),
            max_hits=hits,
            max_documents=limit,
            debug=is_debug_on(debug),
            validate=validate,
            decompose=decompose,
        )
        if code:
            await _search_code(bot, options, question or "", json_=json_)
        elif batch is not None and out is not None:
            await _run_batch(bot, options, batch, out, jobs)
        else:
            await _ask_one_question(bot, options, _body_for(question, choose, conversation), conversation, json_=json_)

    _check_options(question, choose, conversation, batch, out)
    if code and (question is None or conversation is not None):
        raise typer.BadParameter(
            "--code searches once: it takes a question, and no --conversation, --choose or --batch"
        )
    run_with_bot(ask_with_bot, home=home, debug=debug, answers_questions=True)


def _check_options(
    question: str | None, choose: str | None, conversation: str | None, batch: Path | None, out: Path | None
) -> None:
    """Raises `typer.BadParameter` (exit status 2) for options that contradict each other."""
    if batch is not None and (question is not None or choose is not None or conversation is not None):
        raise typer.BadParameter("--batch takes its questions from the file: no question, --conversation or --choose")
    if (batch is None) != (out is None):
        raise typer.BadParameter("--batch FILE and --out FILE go together")
    if batch is None and (question is None) == (choose is None):
        raise typer.BadParameter("give a question, or --choose with --conversation")
    if choose is not None and conversation is None:
        raise typer.BadParameter("--choose needs the --conversation that offered the choice")


def _body_for(question: str | None, choose: str | None, conversation: str | None) -> "InboundBody":
    """Raises `InvalidQuestion`."""
    from bot.dialogue.questions import validate_question
    from bot.ids import ChoiceId
    from bot.surface.inbound import ButtonClick, TextMessage

    return ButtonClick(ChoiceId(choose)) if choose is not None else TextMessage(validate_question(question or ""))


# -- one question


async def _search_code(bot: "Application", options: AskOptions, query: str, *, json_: bool) -> None:
    from bot.dialogue.questions import validate_question
    from bot.programs.callers import ProgramCaller

    report = await bot.open_document_tools().search_code(
        validate_question(query),
        buckets=options.buckets,
        limit=options.max_hits,
        caller=ProgramCaller(surface=TERMINAL_SURFACE, person=options.speaker.person),
    )
    print_line(json.dumps(report.to_tool_report().fields, ensure_ascii=False) if json_ else report.to_text())


async def _ask_one_question(
    bot: "Application", options: AskOptions, body: "InboundBody", conversation: str | None, *, json_: bool
) -> None:
    turn = await run_turn(bot, options, body, _conversation_id_of(conversation))
    if json_:
        print_line(json.dumps(result_of(turn, debug=options.debug), ensure_ascii=False))
    elif turn.error is None:
        await _print_reply(bot, turn)
    if turn.reasoning.get("unavailable") is not None:
        has_answered = any(not call["error"] for call in turn.reasoning.get("calls", ()))
        verb = "stopped answering" if has_answered else "was not used"
        print_to_stderr(f"the language model {verb} ({turn.reasoning['unavailable']}); parley doctor says more")
    if options.debug:
        _print_steps(turn.result, turn.reasoning, has_model=bot.settings.model.is_used)
    if turn.error is not None:
        raise CommandFailed(turn.error) from turn.cause


async def _print_reply(bot: "Application", turn_done: "FinishedTurn") -> None:
    """Print the reply for a person, and a hint how to choose."""
    terminal = build_surface(TERMINAL_SURFACE, bot)
    if terminal is not None:
        await terminal.outbox.thread_for(turn_done.conversation, {}).post_message(turn_done.reply)
    if turn_done.result["choices"]:
        print_to_stderr(f'to choose, type it: parley ask --conversation {turn_done.conversation} "1"')


def _conversation_id_of(text: str | None) -> "ConversationId":
    from bot.ids import ConversationId

    return new_conversation_id() if text is None else ConversationId(text)


async def run_turn(
    bot: "Application", options: AskOptions, body: "InboundBody", conversation: "ConversationId"
) -> "FinishedTurn":
    """Accept the message or click and run its turn to the end."""
    turn = await bot.accept_inbound(options.speaker.inbound_for(body, conversation, options.buckets))
    if turn is None:
        raise CommandFailed("this message was sent before; send it again")
    limits = replace(
        bot.limits,
        reported_hits=options.max_hits,
        reported_documents=options.max_documents,
        validate_hits=options.validate,
        decompose_searches=options.decompose,
    )
    return await bot.run_turn(turn, limits=limits)


def result_of(turn: "FinishedTurn", *, debug: bool) -> dict[str, Any]:
    """The turn's result; with `debug` also what its reasoner did."""
    from bot.conversation.reasoning_record import debug_fields_of

    return {**turn.result, **(debug_fields_of(turn.reasoning) if debug else {})}


def _print_steps(result: Mapping[str, Any], reasoning: Mapping[str, Any], *, has_model: bool) -> None:
    """Print the turn's stages, model calls, searches, passages and choices to stderr."""
    from bot.conversation.reasoning_record import (
        describe_plans,
        describe_reasoning,
        describe_reviews,
        describe_stages,
        format_ms,
    )
    from bot.turns.turn_actions import describe_search_arguments

    lines = [
        f"turn {result['turn']} in {result['conversation']}",
        f"route {result['route'] or 'none'}, reasoner {result['reasoner']}, {format_ms(result['ms'])}",
        *describe_stages(result, reasoning),
        *([] if reasoning or not has_model else ["no language model was asked: the rules needed none"]),
        *describe_reasoning(result, reasoning),
        *describe_reviews(reasoning),
        *describe_plans(reasoning),
    ]
    for attempt in result["attempts"]:
        criteria = describe_search_arguments(attempt["arguments"], {})
        lines.append(f"{attempt['tool']} {criteria}: {attempt['documents']:,} documents, {format_ms(attempt['ms'])}")
    lines += describe_search(result)
    for choice in result["choices"]:
        lines.append(f"choice {choice['id']}: {choice['label']}")
    print(escape_controls("\n".join(lines)), file=sys.stderr)  # noqa: T201


# -- a file of questions


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLine:
    """A line of a batch and its question. `fault`: why the line has no valid question."""

    number: int
    query_id: object = None
    query: str = ""
    buckets: tuple[str, ...] = ()
    fault: str | None = None


async def _run_batch(
    bot: "Application", options: AskOptions, questions_path: Path, results_path: Path, jobs: int
) -> None:
    lines = await asyncio.to_thread(_read_batch_lines, questions_path)
    failed = 0
    with results_path.open("w", encoding="utf-8") as file:
        async for result in run_batch_lines(bot, options, lines, jobs):
            failed += result["outcome"] == "failed"
            file.write(json.dumps(result, ensure_ascii=False) + "\n")
            file.flush()
    faults = [line for line in lines if line.fault is not None]
    if faults:
        raise CommandFailed(
            f"{questions_path}, line {faults[0].number}: {faults[0].fault} "
            f"({len(faults)} of {len(lines)} lines are bad)"
        )
    if failed:
        print_to_stderr(f"{failed:,} of {len(lines):,} questions failed; each has its reason in {results_path}")


async def run_batch_lines(
    bot: "Application", options: AskOptions, lines: "Sequence[BatchLine]", jobs: int
) -> AsyncGenerator[dict[str, Any]]:
    """The result of each line as `--batch` writes it, in the order of the lines. At most `jobs` lines run at once."""
    semaphore = asyncio.Semaphore(jobs)

    async def run_within_limit(line: BatchLine) -> dict[str, Any]:
        async with semaphore:
            return await _run_batch_line(bot, options, line)

    async with asyncio.TaskGroup() as group:
        for task in [group.create_task(run_within_limit(line)) for line in lines]:
            yield await task


async def _run_batch_line(bot: "Application", options: AskOptions, line: BatchLine) -> dict[str, Any]:
    from bot.conversation.json_result import ResultRequest, failure_to_json
    from bot.dialogue.questions import validate_question
    from bot.errors import BotError
    from bot.ids import TurnId
    from bot.surface.inbound import TextMessage

    conversation = new_conversation_id()
    try:
        if line.fault is not None:
            raise CommandFailed(line.fault)
        body = TextMessage(validate_question(line.query))
        turn = await run_turn(bot, replace(options, buckets=line.buckets or options.buckets), body, conversation)
    except (BotError, CommandFailed) as exc:
        request = ResultRequest(question=line.query, conversation=conversation, turn=TurnId(""))
        return failure_to_json(request, str(exc)) | {"query_id": line.query_id}
    return {**result_of(turn, debug=options.debug), "query_id": line.query_id}


def _read_batch_lines(path: Path) -> list[BatchLine]:
    """Raises `CommandFailed` for a file that is not UTF-8 text, `OSError` for one that cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as exc:
        raise CommandFailed(f"{path} is not UTF-8 text; save it as UTF-8, one JSON object a line") from exc
    return [_parse_batch_line(number, raw) for number, raw in enumerate(text.split("\n"), start=1) if raw.strip()]


def _parse_batch_line(number: int, raw_line: str) -> BatchLine:
    try:
        data = cast(object, json.loads(raw_line))
    except ValueError as exc:
        return BatchLine(number=number, fault=f"it is not JSON ({exc})")
    if not isinstance(data, dict):
        return BatchLine(number=number, fault="it is not a JSON object")
    fields = cast(dict[str, object], data)
    query, buckets, query_id = fields.get("query"), fields.get("buckets"), fields.get("query_id")
    if not isinstance(query, str):
        return BatchLine(number=number, query_id=query_id, fault='it has no text under "query"')
    names = cast(list[object], buckets or []) if isinstance(buckets, list | None) else [None]
    if not all(isinstance(name, str) for name in names):
        return BatchLine(number=number, query_id=query_id, query=query, fault='"buckets" is not a list of names')
    return BatchLine(number=number, query_id=query_id, query=query, buckets=tuple(map(str, names)))

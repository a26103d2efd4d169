"""`parley ask`: one question, one click, or a file of questions."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from bot.cli.failures import Failed, complain
from bot.cli.options import As, Buckets, Debug, Home, Json
from bot.cli.running import is_debug, say, surface_named, with_bot
from bot.cli.speaker import SURFACE, Speaker, new_conversation, speaker

if TYPE_CHECKING:
    from bot.bootstrap import Bot
    from bot.ids import ConversationId
    from bot.inbound import Body
    from bot.turns import TurnDone


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How to ask, whatever is asked."""

    speaker: Speaker
    buckets: tuple[str, ...]
    hits: int
    limit: int
    debug: bool


def ask(
    question: Annotated[str | None, typer.Argument(help="What you want to know.")] = None,
    bucket: Buckets = None,
    as_: As = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Go on with this conversation.")] = None,
    choose: Annotated[str | None, typer.Option(metavar="CHOICE_ID", help="Click a choice instead of asking.")] = None,
    hits: Annotated[int, typer.Option(min=0, help="Ranked passages to report.")] = 10,
    limit: Annotated[int, typer.Option(min=0, help="Document ids to report.")] = 1000,
    batch: Annotated[Path | None, typer.Option(metavar="FILE", help="Questions, one JSON object a line.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where the results of --batch go.")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Questions of --batch at once.")] = 1,
    json_: Json = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Ask a question, or click a choice of an earlier answer."""

    async def work(bot: "Bot") -> None:
        how = Asking(speaker=speaker(as_), buckets=tuple(bucket or ()), hits=hits, limit=limit, debug=is_debug(debug))
        if batch is not None and out is not None:
            await _batch(bot, how, batch, out, jobs)
        else:
            await _one(bot, how, _body(question, choose, conversation), conversation, json_=json_)

    _check(question, choose, conversation, batch, out)
    with_bot(work, home=home, debug=debug)


def _check(
    question: str | None, choose: str | None, conversation: str | None, batch: Path | None, out: Path | None
) -> None:
    """Raises `typer.BadParameter` (exit 2) for what does not go together."""
    if batch is not None and (question is not None or choose is not None or conversation is not None):
        raise typer.BadParameter("--batch takes its questions from the file: no question, --conversation or --choose")
    if (batch is None) != (out is None):
        raise typer.BadParameter("--batch FILE and --out FILE go together")
    if batch is None and (question is None) == (choose is None):
        raise typer.BadParameter("give a question, or --choose with --conversation")
    if choose is not None and conversation is None:
        raise typer.BadParameter("--choose needs the --conversation that offered the choice")


def _body(question: str | None, choose: str | None, conversation: str | None) -> "Body":
    """Raises `InvalidQuestion`."""
    from bot.dialogue import checked_question
    from bot.ids import ChoiceId
    from bot.inbound import Clicked, Said

    return Clicked(ChoiceId(choose)) if choose is not None else Said(checked_question(question or ""))


# -- one question


async def _one(bot: "Bot", how: Asking, body: "Body", conversation: str | None, *, json_: bool) -> None:
    done = await asked(bot, how, body, _conversation(conversation))
    if json_:
        say(json.dumps(done.result, ensure_ascii=False))
    elif done.error is None:
        await _print(bot, done)
    if how.debug:
        _show_steps(done.result)
    if done.error is not None:
        raise Failed(done.error) from done.cause


async def _print(bot: "Bot", done: "TurnDone") -> None:
    """As a person reads it, and how to go on."""
    terminal = surface_named(SURFACE, bot)
    if terminal is not None:
        await terminal.outbox.post(done.conversation, {}, done.reply)
    if done.result["choices"]:
        complain(f'to choose, type it: parley ask --conversation {done.conversation} "1"')


def _conversation(text: str | None) -> "ConversationId":
    from bot.ids import ConversationId

    return new_conversation() if text is None else ConversationId(text)


async def asked(bot: "Bot", how: Asking, body: "Body", conversation: "ConversationId") -> "TurnDone":
    """The turn, from its message to its end."""
    turn = await bot.accept(how.speaker.says(body, conversation, how.buckets))
    if turn is None:
        raise Failed("this message was sent before; send it again")
    return await bot.run(turn, limits=replace(bot.limits, hits=how.hits, documents=how.limit))


def _show_steps(result: Mapping[str, Any]) -> None:
    """How it came about, on stderr."""
    steps = [f"{stage['name']} {stage['ms']} ms" for stage in result["stages"]]
    lines = [f"turn {result['turn']} in {result['conversation']}", f"route {result['route']}: {', '.join(steps)}"]
    for attempt in result["attempts"]:
        arguments = json.dumps(attempt["arguments"], ensure_ascii=False)
        lines.append(f"{attempt['tool']} {arguments}: {attempt['documents']} documents, {attempt['ms']} ms")
    for choice in result["choices"]:
        lines.append(f"choice {choice['id']}: {choice['label']}")
    print("\n".join(lines), file=sys.stderr)  # noqa: T201


# -- a file of questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A question of a batch, and its line. `fault`: why it is no question."""

    number: int
    query_id: object = None
    query: str = ""
    buckets: tuple[str, ...] = ()
    fault: str | None = None


async def _batch(bot: "Bot", how: Asking, source: Path, out: Path, jobs: int) -> None:
    lines = await asyncio.to_thread(_lines, source)
    failed = 0
    with out.open("w", encoding="utf-8") as file:
        async for result in results(bot, how, lines, jobs):
            failed += result["outcome"] == "failed"
            file.write(json.dumps(result, ensure_ascii=False) + "\n")
            file.flush()
    faults = [line for line in lines if line.fault is not None]
    if faults:
        raise Failed(
            f"{source}, line {faults[0].number}: {faults[0].fault} ({len(faults)} of {len(lines)} lines are bad)"
        )
    if failed:
        complain(f"{failed:,} of {len(lines):,} questions failed; each has its reason in {out}")


async def results(bot: "Bot", how: Asking, lines: "Sequence[Line]", jobs: int) -> AsyncGenerator[dict[str, Any]]:
    """What each line came to, as `--batch` writes it: in the order of the lines, `jobs` at once."""
    gate = asyncio.Semaphore(jobs)

    async def one(line: Line) -> dict[str, Any]:
        async with gate:
            return await _result(bot, how, line)

    async with asyncio.TaskGroup() as group:
        for task in [group.create_task(one(line)) for line in lines]:
            yield await task


async def _result(bot: "Bot", how: Asking, line: Line) -> dict[str, Any]:
    from bot.dialogue import checked_question
    from bot.errors import BotError
    from bot.ids import TurnId
    from bot.inbound import Said
    from bot.result import Asked, failed_json

    conversation = new_conversation()
    try:
        if line.fault is not None:
            raise Failed(line.fault)
        body = Said(checked_question(line.query))
        done = await asked(bot, replace(how, buckets=line.buckets or how.buckets), body, conversation)
    except (BotError, Failed) as exc:
        nothing = Asked(question=line.query, conversation=conversation, turn=TurnId(""))
        return failed_json(nothing, str(exc)) | {"query_id": line.query_id}
    return {**done.result, "query_id": line.query_id}


def _lines(source: Path) -> list[Line]:
    """Raises `Failed` for a file that is no text, `OSError` for one that cannot be read."""
    try:
        text = source.read_text(encoding="utf-8")
    except UnicodeDecodeError as exc:
        raise Failed(f"{source} is not UTF-8 text; save it as UTF-8, one JSON object a line") from exc
    return [_line(number, raw) for number, raw in enumerate(text.split("\n"), start=1) if raw.strip()]


def _line(number: int, raw: str) -> Line:
    try:
        data = cast(object, json.loads(raw))
    except ValueError as exc:
        return Line(number=number, fault=f"it is not JSON ({exc})")
    if not isinstance(data, dict):
        return Line(number=number, fault="it is no JSON object")
    known = cast(dict[str, object], data)
    query, buckets, query_id = known.get("query"), known.get("buckets"), known.get("query_id")
    if not isinstance(query, str):
        return Line(number=number, query_id=query_id, fault='it has no text under "query"')
    names = cast(list[object], buckets or []) if isinstance(buckets, list | None) else [None]
    if not all(isinstance(name, str) for name in names):
        return Line(number=number, query_id=query_id, query=query, fault='"buckets" is no list of names')
    return Line(number=number, query_id=query_id, query=query, buckets=tuple(map(str, names)))

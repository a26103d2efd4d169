"""`parley eval`: how good the answers are, on documents and questions whose answers are known."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.ask import Asking, Line, results
from bot.cli.failures import Failed, complain, plainly
from bot.cli.ingest import progress_bar
from bot.cli.options import Debug, Json
from bot.cli.running import given, is_debug, on_terminal, say, settings_of
from bot.cli.speaker import speaker

if TYPE_CHECKING:
    from agent.rerank import Reranker
    from bot.bootstrap import Bot
    from bot.eval.load import EvalSet, Suite
    from bot.eval.report import Column, Earlier, Judged
    from bot.eval.tables import Row

_WHOLE_SETS = 1_000_000  # document ids of a result: all
_EXTRACTED = "extracted"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How the documents are loaded, in which home, and how the questions are asked."""

    name: str
    home: Path
    ignore_metadata: bool
    alone: bool
    jobs: int


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="NAME_docs.jsonl.gz, NAME_queries.jsonl.gz.")],
    sets: Annotated[str | None, typer.Option(metavar="A,B", help="Only these sets.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as JSON.")] = None,
    against: Annotated[Path | None, typer.Option(metavar="FILE", help="An earlier report to compare with.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show categories and the 20 worst questions.")] = False,
    metadata: Annotated[bool, typer.Option("--metadata", help="Only with the metadata loaded.")] = False,
    extracted: Annotated[bool, typer.Option("--extracted", help="Only with fields filled from the text.")] = False,
    alone: Annotated[bool, typer.Option(help="Ask each set's own buckets alone, too.")] = True,
    limit: Annotated[int | None, typer.Option(min=1, help="Questions of a set, evenly picked.")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Questions at once; CPU is told for one.")] = 1,
    home: Annotated[
        Path | None, typer.Option("--home", help="Keep the documents here for the next time. [default: nowhere]")
    ] = None,
    json_: Json = False,
    debug: Debug = False,
) -> None:
    """Measure how good the answers are."""
    from bot.eval.load import read_suite
    from bot.eval.report import read_report

    with plainly(debug=is_debug(debug)), ExitStack() as stack:
        earlier = None if against is None else read_report(against)
        suite = read_suite(folder, _names(sets), limit)
        kept = home or given.get().home or Path(stack.enter_context(TemporaryDirectory(prefix="parley-eval-")))
        ways = _ways(kept, metadata=metadata, extracted=extracted, alone=alone, jobs=jobs) if suite.sets else []
        columns = [column for same_home in ways for column in asyncio.run(_columns(same_home, suite))]
        columns += _read(suite)
        _tell(columns, suite, earlier, out, explain=explain, json_=json_)


def _names(sets: str | None) -> list[str] | None:
    return None if sets is None else [name for one in sets.split(",") if (name := one.strip())]


def _ways(home: Path, *, metadata: bool, extracted: bool, alone: bool, jobs: int) -> list[list[_Way]]:
    """Those of one home together. Without a choice, both."""
    names = [name for name, wanted in (("metadata", metadata), (_EXTRACTED, extracted)) if wanted]
    return [
        [
            _Way(
                name=f"{name} alone" if by_set else name,
                home=home / name if name == _EXTRACTED else home,
                ignore_metadata=name == _EXTRACTED,
                alone=by_set,
                jobs=jobs,
            )
            for by_set in ((False, True) if alone else (False,))
        ]
        for name in names or ["metadata", _EXTRACTED]
    ]


async def _columns(ways: Sequence[_Way], suite: "Suite") -> "list[Column]":
    """The documents loaded once, the questions asked in each way."""
    from bot.bootstrap import build_bot, opened_reranker
    from bot.eval.ingest import Loading, load_documents
    from bot.eval.report import Column
    from bot.settings import home_of

    way = ways[0]
    # Never the person's own index or database: what is measured with would stand among what they ask.
    own = settings_of(way.home).settings
    settings = own.model_copy(update={"index_url": "embedded:", "database_url": None})
    models = own.model_copy(update={"home": home_of()})  # the scratch home has none
    with opened_reranker(models) as reranker:
        await _ready(reranker)
        async with build_bot(settings, reranker=reranker) as bot:
            with progress_bar("Loading") as progress:
                how = Loading(ignore_metadata=way.ignore_metadata, progress=progress)
                remarks = await load_documents(bot.index, suite, how)
            return [
                Column(name=one.name, judged=tuple([done async for done in _asked(bot, one, suite)]), remarks=remarks)
                for one in ways
            ]


def _read(suite: "Suite") -> "list[Column]":
    """Of the questions that bring no documents; none where there are none."""
    if not suite.read:
        return []
    from bot.eval.readings import read_column

    return [read_column(suite.read)]


async def _ready(reranker: "Reranker | None") -> None:
    """Loaded, so that no question waits for it. Raises `Failed`: figures of another order would pass for its own."""
    from agent.errors import RerankerUnavailable

    try:
        if reranker is not None:
            await reranker.scores("question", ["passage"])
    except RerankerUnavailable as exc:
        raise Failed(f"PARLEY_RERANKER: {exc}") from exc


async def _asked(bot: "Bot", way: _Way, suite: "Suite") -> "AsyncGenerator[Judged]":
    from bot.eval.report import judged

    for one in suite.sets:
        if on_terminal():
            complain(f"asking {len(one.questions):,} questions of {one.name}, {way.name} …")
        answers = _answers(bot, way, one)
        for question, (result, cpu_ms) in zip(one.questions, [answer async for answer in answers], strict=True):
            yield judged(one.name, question, result, cpu_ms)


async def _answers(bot: "Bot", way: _Way, one: "EvalSet") -> AsyncGenerator[tuple[dict[str, Any], float | None]]:
    """Each result as `parley ask --batch` has it, with its milliseconds of processor time."""
    how = Asking(speaker=speaker(None), buckets=(), hits=one.hits, limit=_WHOLE_SETS, debug=False)
    buckets = tuple(one.buckets) if way.alone else ()
    lines = [
        Line(number=number, query_id=question.query_id, query=question.query, buckets=buckets)
        for number, question in enumerate(one.questions, start=1)
    ]
    started = time.process_time()
    async for result in results(bot, how, lines, way.jobs):
        now = time.process_time()
        yield result, (now - started) * 1000 if way.jobs == 1 else None
        started = now


# -- what is told


def _tell(
    columns: "list[Column]",
    suite: "Suite",
    earlier: "Earlier | None",
    out: Path | None,
    *,
    explain: bool,
    json_: bool,
) -> None:
    from bot.eval.report import report_json

    report = report_json(columns, suite.unscored)
    if out is not None:
        out.write_text(json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")
    if json_:
        say(json.dumps(report, ensure_ascii=False))
    else:
        _print(columns, suite, earlier, explain=explain)


def _print(columns: "list[Column]", suite: "Suite", earlier: "Earlier | None", *, explain: bool) -> None:
    from bot.eval import tables

    for remark in dict.fromkeys(remark for column in columns for remark in column.remarks):
        say(remark)
    _table(tables.measure_rows(columns, earlier, categories=explain))
    for column in columns:
        say(f"\n{column.name}: behaviours")
        _table(tables.confusion_rows(column))
    say("")
    for column in columns:
        say(tables.time_sentence(column))
    for name, count in suite.unscored.items():
        say(f"{name}: {count:,} questions without documents are not scored: what is right there, counts decide")
    for sentence in tables.changed_sentences(earlier, columns) if earlier else ():
        say(sentence)
    for column in columns if explain else ():
        for text in tables.explanations(column):
            say(f"\n{text}")


def _table(rows: "Sequence[Row]") -> None:
    """With lines on a terminal, else aligned by blanks."""
    if not on_terminal():
        from bot.eval.tables import plain

        say(plain(rows))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for at, name in enumerate(rows[0]):
        table.add_column(name, justify="right" if at > 2 else "left")
    for row in rows[1:]:
        table.add_row(*row)
    Console().print(table)

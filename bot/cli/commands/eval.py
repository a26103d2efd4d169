"""`parley eval`: measures the quality of answers on documents and questions with known answers."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.commands.ask import AskOptions, BatchLine, run_batch_lines
from bot.cli.commands.ingest import open_progress_bar
from bot.cli.failures import CommandFailed, exit_on_failure, print_to_stderr
from bot.cli.options import DebugOption, DecomposeOption, JsonOption
from bot.cli.runtime import global_options, is_debug_on, is_on_terminal, print_line, settings_for_home
from bot.cli.speaker import speaker_for

if TYPE_CHECKING:
    from agent.retrieval.relevance import Reranker
    from bot.application import Application
    from bot.eval.eval_sets import EvalSet, EvalSuite
    from bot.eval.report import EarlierReport, JudgedQuestion, ReportColumn
    from bot.eval.tables import ReportRow
    from bot.settings import Settings

_MAX_DOCUMENT_IDS = 1_000_000  # in practice: all document ids of a result
_EXTRACTED_MODE = "extracted"


class ReasonerName(StrEnum):
    RULE = "rule"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class _EvalMode:
    """A way to load the documents and to ask the questions, and the home to load them into."""

    name: str
    home: Path
    ignore_metadata: bool
    own_buckets_only: bool
    jobs: int
    decompose: bool = True
    reasoner: ReasonerName | None = None


def run_evaluation(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="NAME_docs.jsonl.gz, NAME_queries.jsonl.gz.")],
    sets: Annotated[str | None, typer.Option(metavar="A,B", help="Only these sets.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as JSON.")] = None,
    against: Annotated[Path | None, typer.Option(metavar="FILE", help="An earlier report to compare with.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show categories and the 20 worst questions.")] = False,
    metadata: Annotated[bool, typer.Option("--metadata", help="Only with the metadata loaded.")] = False,
    extracted: Annotated[bool, typer.Option("--extracted", help="Only with fields filled from the text.")] = False,
    alone: Annotated[bool, typer.Option(help="Ask each set's own buckets alone, too.")] = True,
    limit: Annotated[int | None, typer.Option(min=1, help="Questions of a set, evenly picked.")] = None,
    decompose: DecomposeOption = True,
    reasoner: Annotated[
        ReasonerName | None,
        typer.Option(help="Who understands the questions; `model` needs PARLEY_MODEL. [default: as set]"),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Questions at once; CPU is told for one.")] = 1,
    home: Annotated[
        Path | None, typer.Option("--home", help="Keep the documents here for the next time. [default: nowhere]")
    ] = None,
    json_: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Measure how good the answers are."""
    from bot.eval.eval_sets import read_suite
    from bot.eval.report import read_report

    with exit_on_failure(debug=is_debug_on(debug)), ExitStack() as stack:
        earlier = None if against is None else read_report(against)
        suite = read_suite(folder, _parse_set_names(sets), limit)
        eval_home = (
            home or global_options.get().home or Path(stack.enter_context(TemporaryDirectory(prefix="parley-eval-")))
        )
        mode_groups = (
            [
                [replace(mode, decompose=decompose, reasoner=reasoner) for mode in modes]
                for modes in _eval_modes_for(
                    eval_home, metadata=metadata, extracted=extracted, with_own_buckets=alone, jobs=jobs
                )
            ]
            if suite.selected_sets
            else []
        )
        columns = [column for modes in mode_groups for column in asyncio.run(_measure_columns(modes, suite))]
        columns += asyncio.run(_measure_reading(suite))
        _output_report(columns, suite, earlier, out, explain=explain, json_=json_)


def _parse_set_names(sets: str | None) -> list[str] | None:
    return None if sets is None else [name for part in sets.split(",") if (name := part.strip())]


def _eval_modes_for(
    home: Path, *, metadata: bool, extracted: bool, with_own_buckets: bool, jobs: int
) -> list[list[_EvalMode]]:
    """The modes, grouped by home. Without a selection: metadata and extracted."""
    names = [name for name, is_selected in (("metadata", metadata), (_EXTRACTED_MODE, extracted)) if is_selected]
    return [
        [
            _EvalMode(
                name=f"{name} alone" if by_set else name,
                home=home / name if name == _EXTRACTED_MODE else home,
                ignore_metadata=name == _EXTRACTED_MODE,
                own_buckets_only=by_set,
                jobs=jobs,
            )
            for by_set in ((False, True) if with_own_buckets else (False,))
        ]
        for name in names or ["metadata", _EXTRACTED_MODE]
    ]


async def _measure_columns(modes: Sequence[_EvalMode], suite: "EvalSuite") -> "list[ReportColumn]":
    """Load the documents once and ask the questions in each mode."""
    from bot.bootstrap import open_application
    from bot.eval.ingest import EvalLoadOptions, load_documents
    from bot.eval.report import ReportColumn
    from bot.models.model_sources import open_flashrank_reranker
    from bot.settings import resolve_home

    first_mode = modes[0]
    # Never use the person's own index or database: the test documents would mix with their documents.
    base_settings = settings_for_home(first_mode.home).settings
    settings = _with_reasoner(base_settings, first_mode.reasoner)
    settings = settings.model_copy(update={"index_url": "embedded:", "database_url": None})
    model_settings = base_settings.model_copy(update={"home": resolve_home()})  # the scratch home has none
    with open_flashrank_reranker(model_settings) as reranker:
        await _warm_up_reranker(reranker)
        async with open_application(settings, reranker=reranker) as bot:
            with open_progress_bar("Loading") as progress:
                load_options = EvalLoadOptions(
                    extractor=bot.extractor, ignore_metadata=first_mode.ignore_metadata, progress=progress
                )
                remarks = await load_documents(bot.index, suite, load_options)
            return [
                ReportColumn(
                    name=mode.name,
                    judged_questions=tuple(
                        [judged_question async for judged_question in _judge_answers(bot, mode, suite)]
                    ),
                    remarks=remarks,
                )
                for mode in modes
            ]


def _with_reasoner(settings: "Settings", reasoner: ReasonerName | None) -> "Settings":
    """Raises `CommandFailed` if a model is asked for and none is set."""
    match reasoner:
        case ReasonerName.RULE:
            return settings.without_model()
        case ReasonerName.MODEL if not settings.model.is_used:
            raise CommandFailed("--reasoner model needs PARLEY_MODEL in the environment")
        case _:
            return settings


async def _measure_reading(suite: "EvalSuite") -> "list[ReportColumn]":
    """A column for the questions without documents; empty if there are no such questions."""
    if not suite.reading_questions:
        return []
    from bot.eval.reading_evaluation import build_reading_column

    return [await build_reading_column(suite.reading_questions)]


async def _warm_up_reranker(reranker: "Reranker | None") -> None:
    """Load the reranker, so that no question waits for it.

    Raises `CommandFailed` if it is unavailable: figures measured without it would look like figures with it.
    """
    from agent.errors import RerankerUnavailable

    try:
        if reranker is not None:
            await reranker.score_passages("question", ["passage"])
    except RerankerUnavailable as exc:
        raise CommandFailed(f"PARLEY_RERANKER: {exc}") from exc


async def _judge_answers(bot: "Application", mode: _EvalMode, suite: "EvalSuite") -> "AsyncGenerator[JudgedQuestion]":
    from bot.eval.report import judge_question

    for eval_set in suite.selected_sets:
        if is_on_terminal():
            print_to_stderr(f"asking {len(eval_set.questions):,} questions of {eval_set.name}, {mode.name} …")
        answers = _ask_questions(bot, mode, eval_set)
        for question, (result, cpu_ms) in zip(eval_set.questions, [answer async for answer in answers], strict=True):
            yield judge_question(eval_set.name, question, result, cpu_ms)


async def _ask_questions(
    bot: "Application", mode: _EvalMode, eval_set: "EvalSet"
) -> AsyncGenerator[tuple[dict[str, Any], float | None]]:
    """Each result as `parley ask --batch` writes it, with its CPU time in milliseconds."""
    options = AskOptions(
        speaker=speaker_for(None),
        buckets=(),
        max_hits=eval_set.max_hits,
        max_documents=_MAX_DOCUMENT_IDS,
        debug=True,  # the report tells what the reasoner did
        decompose=mode.decompose,
    )
    buckets = tuple(eval_set.buckets) if mode.own_buckets_only else ()
    lines = [
        BatchLine(number=number, query_id=question.query_id, query=question.query, buckets=buckets)
        for number, question in enumerate(eval_set.questions, start=1)
    ]
    started = time.process_time()
    async for result in run_batch_lines(bot, options, lines, mode.jobs):
        finished = time.process_time()
        yield result, (finished - started) * 1000 if mode.jobs == 1 else None
        started = finished


# -- output


def _output_report(
    columns: "list[ReportColumn]",
    suite: "EvalSuite",
    earlier: "EarlierReport | None",
    out: Path | None,
    *,
    explain: bool,
    json_: bool,
) -> None:
    from bot.eval.report_json import report_to_json

    report = report_to_json(columns, suite.unscored_counts)
    if out is not None:
        out.write_text(json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")
    if json_:
        print_line(json.dumps(report, ensure_ascii=False))
    else:
        _print_report(columns, suite, earlier, explain=explain)


def _print_report(
    columns: "list[ReportColumn]", suite: "EvalSuite", earlier: "EarlierReport | None", *, explain: bool
) -> None:
    from bot.eval import tables

    for remark in dict.fromkeys(remark for column in columns for remark in column.remarks):
        print_line(remark)
    _print_table(tables.measure_rows(columns, earlier, categories=explain))
    for column in columns:
        print_line(f"\n{column.name}: behaviours")
        _print_table(tables.confusion_rows(column))
        _print_model_usage(column)
    print_line("")
    for column in columns:
        print_line(tables.time_sentence_for(column))
    for name, count in suite.unscored_counts.items():
        print_line(f"{name}: {count:,} questions without documents are not scored: what is right there, counts decide")
    for sentence in tables.change_sentences(earlier, columns) if earlier else ():
        print_line(sentence)
    for column in columns if explain else ():
        for text in tables.explain_worst_questions(column):
            print_line(f"\n{text}")


def _print_model_usage(column: "ReportColumn") -> None:
    from bot.eval import tables

    for heading, rows in (
        ("language model", tables.usage_rows(column)),
        ("plans of the model and of the rules", tables.difference_rows(column)),
    ):
        if rows:
            print_line(f"\n{column.name}: {heading}")
            _print_table(rows)


def _print_table(rows: "Sequence[ReportRow]") -> None:
    """Print a rich table on a terminal, else columns aligned by blanks."""
    if not is_on_terminal():
        from bot.eval.tables import align_rows

        print_line(align_rows(rows))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for index, name in enumerate(rows[0]):
        table.add_column(name, justify="right" if index > 2 else "left")
    for row in rows[1:]:
        table.add_row(*row)
    Console().print(table)

"""`python -m bench`: measures and prints figures. It asserts nothing. Note what else ran on the machine meanwhile."""

import argparse
import asyncio
import tempfile
from pathlib import Path

from rich.console import Console

from bench import startup
from bench.acknowledgement import measure_acknowledgement
from bench.demo_index import open_demo_index, settings_in
from bench.export import measure_exports
from bench.extraction import measure_reading
from bench.figures import BenchmarkFigure, build_figure_table
from bench.index_searches import build_search_table, measure_index_searches
from bench.ingest import measure_ingestion
from bench.model_questions import measure_model_questions
from bench.overhead import measure_overhead
from bench.questions_at_once import measure_questions_at_once
from bench.scale import measure_scale
from bench.slack import measure_acknowledgements_on_postgres, measure_slack
from bench.teams import measure_teams
from bot.demo.corpus import generate_corpus
from tests.scenarios.questions import questions
from tests.servers.missing import ServerMissing


async def measure_all(folder: Path, runs: int) -> list[BenchmarkFigure]:
    """All measurements that need an index."""
    corpus, settings = generate_corpus(), settings_in(folder)
    question_texts = [question.text for question in questions(corpus)]
    async with open_demo_index(settings, corpus, folder / "corpus") as index:
        figures = [
            *await measure_overhead(index, settings, question_texts, runs),
            *await measure_questions_at_once(index, settings, question_texts, runs),
            *await measure_model_questions(index, settings, question_texts, folder, runs),
            *await measure_acknowledgement(index, settings, folder, runs),
        ]
    figures += [
        *await measure_ingestion(settings, folder, runs),
        *await asyncio.to_thread(measure_reading, folder, runs),
    ]
    figures += [*await measure_slack(folder, runs), *await measure_teams(folder, runs)]
    return [*figures, *await measure_scale(settings, folder, runs)]


async def measure_overhead_only(folder: Path, runs: int) -> list[BenchmarkFigure]:
    corpus, settings = generate_corpus(), settings_in(folder)
    async with open_demo_index(settings, corpus, folder / "corpus") as index:
        return await measure_overhead(index, settings, [question.text for question in questions(corpus)], runs)


def print_search_table(console: Console, folder: Path, runs: int) -> None:
    """Prints what a question costs an OpenSearch node, or the reason why there is no such node."""
    try:
        costs = asyncio.run(measure_index_searches(generate_corpus(), settings_in(folder), folder / "corpus", runs))
    except ServerMissing as exc:
        console.print(f"No table of searches: {exc}")
    else:
        console.print(build_search_table(costs))


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="how often each is measured [5]")
    parser.add_argument("--demo", action="store_true", help="time `make demo` from a clean clone too; takes minutes")
    parser.add_argument("--exports", type=int, metavar="ROWS", help="export so many rows too; 100,000 take 3 minutes")
    parser.add_argument("--searches", action="store_true", help="only the searches of a question over OpenSearch")
    parser.add_argument("--overhead", action="store_true", help="only the processor time of a question")
    parser.add_argument("--acknowledgements", action="store_true", help="only messages of Slack on PostgreSQL")
    options, console = parser.parse_args(), Console(width=160)
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        folder = Path(name)
        if options.searches:
            print_search_table(console, folder, options.runs)
            return
        if options.overhead:
            console.print(build_figure_table(asyncio.run(measure_overhead_only(folder, options.runs))))
            return
        if options.acknowledgements:
            figures = asyncio.run(measure_acknowledgements_on_postgres(folder / "slack", options.runs))
            console.print(build_figure_table(figures))
            return
        figures = [*asyncio.run(measure_all(folder, options.runs)), *startup.measure_startup(options.runs)]
        if options.exports:
            figures += asyncio.run(measure_exports(folder / "exports", options.exports))
        if options.demo:
            figures += startup.measure_demo(folder)
        console.print(build_figure_table(figures))
        print_search_table(console, folder / "searches", options.runs)


main()

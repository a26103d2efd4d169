"""`python -m bench`: measures and prints; asserts nothing. Say beside what else ran, or the figures mean little."""

import argparse
import asyncio
import tempfile
from pathlib import Path

from rich.console import Console

from bench import startup
from bench.acknowledge import acknowledge
from bench.exporting import exporting
from bench.figures import Figure, table
from bench.home import loaded_index, settings_in
from bench.ingest import ingesting
from bench.overhead import overhead
from bench.reading import reading
from bench.scale import scale
from bench.slack import slack
from bot.demo.corpus import generate
from tests.scenarios.questions import questions


async def measured(folder: Path, runs: int) -> list[Figure]:
    """Everything that needs an index."""
    corpus, settings = generate(), settings_in(folder)
    asked = [question.text for question in questions(corpus)]
    async with loaded_index(settings, corpus, folder / "corpus") as index:
        figures = [
            *await overhead(index, settings, asked, runs),
            *await acknowledge(index, settings, folder, runs),
        ]
    figures += [*await ingesting(settings, folder, runs), *await asyncio.to_thread(reading, folder, runs)]
    return [*figures, *await slack(folder, runs), *await scale(settings, folder, runs)]


def main() -> None:
    options = argparse.ArgumentParser(prog="bench", description=__doc__)
    options.add_argument("--runs", type=int, default=5, help="how often each is measured [5]")
    options.add_argument("--demo", action="store_true", help="time `make demo` from a clean clone too; takes minutes")
    options.add_argument("--exports", type=int, metavar="ROWS", help="export so many rows too; 100,000 take 3 minutes")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        folder = Path(name)
        figures = [*asyncio.run(measured(folder, given.runs)), *startup.startup(given.runs)]
        if given.exports:
            figures += asyncio.run(exporting(folder / "exports", given.exports))
        if given.demo:
            figures += startup.demo(folder)
    Console(width=160).print(table(figures))


main()

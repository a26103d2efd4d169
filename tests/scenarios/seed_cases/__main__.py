"""`python -m tests.scenarios.seed_cases`: plays the six cases and prints the model calls of every turn."""

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agent.model.options import ModelUse
from bot.demo.corpus import DemoCorpus, generate_corpus
from tests.scenarios.seed_cases.cases import CASES, play_case
from tests.scenarios.seed_cases.model_stage import PlayedTurn, load_demo_home, open_stage

_EARLIER_CALLS = "6 to 11"  # of a question in the earlier design, by its own account


async def play_all(corpus: DemoCorpus, home: Path, use: ModelUse) -> list[PlayedTurn]:
    async with open_stage(home, use) as stage:
        for case in CASES:
            await play_case(stage, case, corpus)
        return stage.turns


def build_call_table(needed: Sequence[PlayedTurn], always: Sequence[PlayedTurn]) -> Table:
    table = Table(title="Model calls of each turn", title_justify="left")
    for heading in ("case", "message, or click in brackets", "outcome"):
        table.add_column(heading, overflow="fold")
    for heading in (*(f"when {use.value}" for use in ModelUse), "earlier design"):
        table.add_column(heading, justify="right")
    for turn, same_turn in zip(needed, always, strict=True):
        earlier = "" if turn.message.startswith("[") else _EARLIER_CALLS
        table.add_row(turn.case, escape(turn.message), turn.outcome, str(turn.calls), str(same_turn.calls), earlier)
    table.add_section()
    sums = [sum(turn.calls for turn in turns) for turns in (needed, always)]
    table.add_row("all", f"{len(needed)} turns", "", *map(str, sums), "")
    return table


async def measure_calls(folder: Path) -> Table:
    corpus = generate_corpus()
    home = await load_demo_home(corpus, folder)
    other_home = await asyncio.to_thread(shutil.copytree, home, folder / "other-home")
    needed = await play_all(corpus, home, ModelUse.NEEDED)
    return build_call_table(needed, await play_all(corpus, other_home, ModelUse.ALWAYS))


def main() -> None:
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="parley-seed-cases-") as name:
        table = asyncio.run(measure_calls(Path(name)))
    Console(width=140).print(table)


main()

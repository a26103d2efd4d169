"""`python -m tests.faults`: so many faults in one run, and what became of every message."""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.faults.home import a_home
from tests.faults.storm import Outcome, Storm
from tests.stand_ins.slack.server import SlackServer

SETTLING_S = 300.0  # three attempts of a turn, a lease of a killed worker before each


async def blown(home: Path, seed: int, faults: int) -> Outcome:
    async with SlackServer() as slack:
        return await Storm(home=home, seed=seed, faults=faults, slack=slack).run(SETTLING_S)


def table(outcome: Outcome, seconds: float, seed: int) -> Table:
    shown = Table(
        title=f"{sum(outcome.faults.values()):,} faults in {seconds:,.0f} s, seed {seed}", title_justify="left"
    )
    shown.add_column("fault")
    shown.add_column("times", justify="right")
    for kind, count in sorted(outcome.faults.items()):
        shown.add_row(kind, f"{count:,}")
    shown.add_section()
    for name in ("accepted", "answered", "apologies"):
        shown.add_row(f"messages {name}", f"{getattr(outcome, name):,}")
    shown.add_row("streams", f"{outcome.streamed:,}")
    for name in ("lost", "doubled", "unfinished"):
        shown.add_row(name, f"{len(getattr(outcome, name)):,}")
    return shown


def main() -> None:
    options = argparse.ArgumentParser(prog="tests.faults", description=__doc__)
    options.add_argument("--faults", type=int, default=1_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="parley-faults-") as name:
        outcome = asyncio.run(blown(a_home(Path(name)), given.seed, given.faults))
    Console(width=120).print(table(outcome, time.monotonic() - began, given.seed))
    wrong = (*outcome.lost, *outcome.doubled, *outcome.unfinished)
    Console(width=200, stderr=True).print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

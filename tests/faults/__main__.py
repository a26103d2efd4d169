"""`python -m tests.faults`: many faults in one run, and a report of what became of every message."""

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from tests.faults.home import build_home
from tests.faults.products import STORM_PRODUCTS, open_storm_product
from tests.faults.servers.report_table import report_server_storm
from tests.faults.servers.server_storm import StormSize
from tests.faults.storm import FaultStorm, StormOutcome

SERVERS: Final = "servers"  # OpenSearch, PostgreSQL and two replicas
SETTLING_TIMEOUT_S = 300.0  # three attempts of a turn, each after the lease of a killed worker


async def run_storm(surface: str, home: Path, seed: int, faults: int) -> StormOutcome:
    async with open_storm_product(surface) as product:
        return await FaultStorm(home=home, seed=seed, fault_target=faults, product=product).run(SETTLING_TIMEOUT_S)


def build_table(outcome: StormOutcome, surface: str, seconds: float, seed: int) -> Table:
    report = Table(
        title=f"{surface}: {sum(outcome.faults.values()):,} faults in {seconds:,.0f} s, seed {seed}",
        title_justify="left",
    )
    report.add_column("fault")
    report.add_column("times", justify="right")
    for kind, count in sorted(outcome.faults.items()):
        report.add_row(kind, f"{count:,}")
    report.add_section()
    for name in ("accepted", "answered", "apologies"):
        report.add_row(f"messages {name}", f"{getattr(outcome, name):,}")
    report.add_row("streams", f"{outcome.streamed:,}")
    for name in ("lost", "doubled", "unfinished", "explained"):
        report.add_row(name, f"{len(getattr(outcome, name)):,}")
    return report


def exit_on_signal(number: int, _: object) -> None:
    """Servers, programs and folders go as with Ctrl-C."""
    sys.exit(128 + number)


def main() -> None:
    options = argparse.ArgumentParser(prog="tests.faults", description=__doc__)
    options.add_argument("--faults", type=int, default=1_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--surface", choices=(*STORM_PRODUCTS, SERVERS), action="append", help="all of them if none is named"
    )
    options.add_argument("--nodes", type=int, choices=(1, 3), default=1, help="of OpenSearch, in the storm on servers")
    arguments = options.parse_args()
    signal.signal(signal.SIGTERM, exit_on_signal)
    size = StormSize(fault_target=arguments.faults, node_count=arguments.nodes)
    problems = [
        problem
        for surface in arguments.surface or (*STORM_PRODUCTS, SERVERS)
        for problem in (
            report_server_storm(arguments.seed, size)
            if surface == SERVERS
            else report_storm(surface, arguments.seed, arguments.faults)
        )
    ]
    Console(width=200, stderr=True).print("\n".join(problems))
    sys.exit(1 if problems else 0)


def report_storm(surface: str, seed: int, faults: int) -> list[str]:
    """Prints what became of every message. Returns what went wrong."""
    started_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="parley-faults-") as name:
        outcome = asyncio.run(run_storm(surface, build_home(Path(name)), seed, faults))
    Console(width=120).print(build_table(outcome, surface, time.monotonic() - started_s, seed))
    return [*outcome.lost, *outcome.doubled, *outcome.unfinished]


if __name__ == "__main__":
    main()

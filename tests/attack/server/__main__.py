"""`python -m tests.attack.server`: attacks a server that runs, or one that it starts, and prints what became of it."""

import argparse
import asyncio
import contextlib
import resource
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table

from tests.attack.server.attacks import ATTACKS, AttackReport, run_attack
from tests.attack.server.target import AttackTarget, start_target
from tests.stand_ins.slack.server import SIGNING_SECRET

ROOT = Path(__file__).parents[3]


def parse_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="tests.attack.server", description=__doc__)
    options.add_argument(
        "attacks", nargs="*", metavar="ATTACK", help=f"all of them if none is named: {', '.join(ATTACKS)}"
    )
    options.add_argument("--url", help="a server that runs, as http://HOST:PORT; else one is started")
    options.add_argument("--slack-secret", default=SIGNING_SECRET, help="the signing secret of that server")
    options.add_argument("--pid", type=int, help="the process of that server, for its memory and processor time")
    options.add_argument("--home", type=Path, help="the home folder of that server, for the size of its log")
    options.add_argument("--code", type=Path, default=ROOT, help="the code of the server that is started")
    options.add_argument("--max-files", type=int, default=1_024, help="the open files that the started server may have")
    options.add_argument("--seed", type=int, default=1)
    return options.parse_args()


@contextlib.asynccontextmanager
async def open_target(options: argparse.Namespace, **environ: str) -> AsyncGenerator[AttackTarget]:
    if not options.url:
        async with start_target(options.code, max_files=options.max_files, **environ) as target:
            yield target
        return
    address = urlsplit(str(options.url))
    yield AttackTarget(
        host=address.hostname or "127.0.0.1",
        port=address.port or 80,
        slack_secret=options.slack_secret,
        process_id=options.pid,
        home=options.home,
    )


async def run_attacks(options: argparse.Namespace) -> list[AttackReport]:
    """Each attack on a server of its own, so that none finds what another has left."""
    reports: list[AttackReport] = []
    for name in options.attacks or ATTACKS:
        environ = {"PARLEY_WEB_TOKEN": "a-long-secret"} if name == "tokens" else {}
        async with open_target(options, **environ) as target:
            reports.append(await run_attack(name, ATTACKS[name], target, options.seed))
    return reports


def build_table(reports: list[AttackReport]) -> Table:
    table = Table(title="Attacks on the server", title_justify="left")
    for column in (
        "attack",
        "tried",
        "answers",
        "slowest s",
        "beside: missed",
        "slowest s",
        "peak MB",
        "CPU s",
        "log bytes",
    ):
        table.add_column(column, justify="left" if column in ("attack", "answers") else "right")
    for report in reports:
        answers = ", ".join(f"{answer}: {count:,}" for answer, count in sorted(report.answers.items()))
        beside = report.beside
        table.add_row(
            report.name,
            f"{report.tried:,}",
            answers,
            f"{report.slowest_s:.1f}",
            f"{beside.missed} of {beside.sent}",
            f"{beside.slowest_s:.2f}",
            f"{report.peak_mb:,.0f}",
            f"{report.cpu_s:.1f}",
            f"{report.log_bytes:,}",
        )
    return table


def main() -> None:
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    reports = asyncio.run(run_attacks(parse_options()))
    Console(width=180).print(build_table(reports))
    sys.exit(1 if any(report.errors or report.beside.missed for report in reports) else 0)


if __name__ == "__main__":
    main()

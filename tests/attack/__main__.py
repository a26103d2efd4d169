"""`python -m tests.attack`: the attacks on files, questions and the server, and a table of what became of each.

Each kind has a driver of its own with more options: `tests.attack.file_attack`, `tests.attack.server`, and
`tests.attack.test_question_work`, which counts calls, not time. `tests.attack.test_further_attacks` holds attacks that
need no driver, and `tests.attack.fuzz_run` fuzzes the parsers of files.
"""

import argparse
import asyncio
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agent.rules.reasoner import RuleReasoner
from bot.surface.inbound import MAX_QUESTION_CHARS
from tests.agent.rules.reading.test_bucket_reading import QUESTION_CONTEXT
from tests.attack.file_attack import LONG_RUNS, WRITERS, ResourceCaps, attack_with
from tests.attack.question_shapes import QUESTION_SHAPES, make_question
from tests.attack.server.__main__ import run_attacks
from tests.attack.server.attacks import ATTACKS
from tests.stand_ins.slack.server import SIGNING_SECRET

ROOT = Path(__file__).parents[2]
CAPS = ResourceCaps(cpu_s=60, wall_s=300, memory_mb=1_500)
LONG_CAPS = ResourceCaps(cpu_s=3_000, wall_s=6_000, memory_mb=3_000)
MAX_QUESTION_CPU_S = 3.0  # on a quiet machine; `test_question_work` has the bound that no load changes
MAX_OPEN_FILES = 1_024


@dataclass(frozen=True, kw_only=True)
class AttackRow:
    """A line of the table. `held`: whether the bound was kept."""

    shape: str
    bound: str
    cpu_s: float
    memory_mb: float
    outcome: str
    held: bool


def attack_with_files(part: str) -> Iterator[AttackRow]:
    """Each file whose name holds `part`, beside an ordinary one that must be loaded all the same.

    Those that take minutes within their bounds, such as large ordinary files, are for names that are given.
    """
    for name in WRITERS:
        if part in name and (part or name not in LONG_RUNS):
            caps = LONG_CAPS if name in LONG_RUNS else CAPS
            result = attack_with(name, caps)
            yield AttackRow(
                shape=f"file {name}, {result.file_mb:.1f} MB",
                bound=f"{caps.cpu_s} s of CPU, {caps.memory_mb:,} MB, the rest loaded",
                cpu_s=result.cpu_s,
                memory_mb=result.peak_mb,
                outcome=result.outcome,
                held=result.is_held,
            )


def attack_with_questions(part: str) -> Iterator[AttackRow]:
    """Each shape of question whose name holds `part`, as long as a message may be."""
    asyncio.run(RuleReasoner().decompose_question("parcels by Blue Van", QUESTION_CONTEXT))  # builds what is cached
    for name, piece in QUESTION_SHAPES.items():
        if part in name:
            question, started_s = make_question(piece, MAX_QUESTION_CHARS), time.process_time()
            decomposition = asyncio.run(RuleReasoner().decompose_question(question, QUESTION_CONTEXT))
            cpu_s = time.process_time() - started_s
            yield AttackRow(
                shape=f"question of {name}",
                bound=f"{MAX_QUESTION_CPU_S:g} s of CPU",
                cpu_s=cpu_s,
                memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                outcome=type(decomposition).__name__,
                held=cpu_s <= MAX_QUESTION_CPU_S,
            )


def attack_server(part: str) -> Iterator[AttackRow]:
    """Each attack on a server of its own whose name holds `part`, with deliveries beside it."""
    for name in ATTACKS:
        if part in name:
            options = argparse.Namespace(
                attacks=[name], url=None, slack_secret=SIGNING_SECRET, pid=None, home=None, code=ROOT, seed=1
            )
            options.max_files = MAX_OPEN_FILES
            (report,) = asyncio.run(run_attacks(options))
            answers = ", ".join(f"{answer}: {count:,}" for answer, count in sorted(report.answers.items()))
            yield AttackRow(
                shape=f"server {name}, {report.tried:,} times",
                bound="no 5xx, no delivery beside it missed",
                cpu_s=report.cpu_s,
                memory_mb=report.peak_mb,
                outcome=f"{report.beside.missed} of {report.beside.sent} missed; {answers}",
                held=not (report.errors or report.beside.missed),
            )


KINDS = {"files": attack_with_files, "questions": attack_with_questions, "server": attack_server}


def build_table(rows: list[AttackRow]) -> Table:
    table = Table(title=f"{len(rows)} attacks, {sum(not row.held for row in rows)} beyond their bound")
    for column in ("shape", "bound", "CPU s", "MB", "held", "outcome"):
        table.add_column(column, justify="right" if column in ("CPU s", "MB") else "left")
    for row in rows:
        held = "yes" if row.held else "NO"
        table.add_row(row.shape, row.bound, f"{row.cpu_s:.1f}", f"{row.memory_mb:,.0f}", held, row.outcome[:90])
    return table


def main() -> None:
    options = argparse.ArgumentParser(prog="tests.attack", description=__doc__)
    options.add_argument("kinds", nargs="*", metavar="KIND", help=f"all without: {', '.join(KINDS)}")
    options.add_argument("--only", default="", metavar="PART", help="attacks whose names hold this")
    arguments = options.parse_args()
    console, rows = Console(width=200), list[AttackRow]()
    for kind in arguments.kinds or KINDS:
        for row in KINDS[kind](arguments.only):
            rows.append(row)
            console.print(f"{row.shape}: {'held' if row.held else 'BEYOND ITS BOUND'}", markup=False, highlight=False)
    console.print(build_table(rows))
    sys.exit(0 if all(row.held for row in rows) else 1)


if __name__ == "__main__":
    main()

"""`python -m tests.agent.model.injections`: runs the corpus against obedient models, and prints what they reached."""

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.agent.model.injections.corpus import InjectionPlace, load_corpus
from tests.agent.model.injections.hostile_index import open_hostile_index
from tests.agent.model.injections.injection_run import InjectionRun, run_injection
from tests.agent.model.injections.obedient_model import Obedience

_COUNTED = ("excess_calls", "leaks", "links", "forgeries")


async def run_corpus(folder: Path) -> list[InjectionRun]:
    runs = list[InjectionRun]()
    for hostile in load_corpus():
        async with open_hostile_index(folder / hostile.id, hostile) as index:
            runs += [await run_injection(hostile, obedience, index) for obedience in Obedience]
    return runs


def build_table(runs: Sequence[InjectionRun]) -> Table:
    report = Table(title=f"{len(load_corpus())} hostile texts, {len(runs)} turns", title_justify="left")
    report.add_column("where the text stands")
    for column in (
        "turns",
        "model calls",
        "tool calls",
        "beyond the budget",
        "other bucket",
        "links",
        "forged prompts",
    ):
        report.add_column(column, justify="right")
    for place in InjectionPlace:
        _add_row(report, place.value.replace("_", " "), [run for run in runs if run.hostile.place is place])
    report.add_section()
    for obedience in Obedience:
        _add_row(report, f"model {obedience.value}", [run for run in runs if run.obedience is obedience])
    report.add_section()
    _add_row(report, "all", runs)
    return report


def _add_row(report: Table, name: str, runs: Sequence[InjectionRun]) -> None:
    sums = [sum(run.model_calls for run in runs), sum(run.tool_calls for run in runs)]
    sums += [sum(len(getattr(run, counted)) for run in runs) for counted in _COUNTED]
    report.add_row(name, *(f"{number:,}" for number in (len(runs), *sums)))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="parley-injections-") as name:
        runs = asyncio.run(run_corpus(Path(name)))
    Console(width=140).print(build_table(runs))
    violations = [f"{run.hostile.id}, {run.obedience.value}: {fault}" for run in runs for fault in run.violations]
    Console(width=200, stderr=True).print("\n".join(violations), markup=False)
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()

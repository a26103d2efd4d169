"""Measures startup: the command line's help, and the demo from a clean clone."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import BenchmarkFigure

REPOSITORY_ROOT = Path(__file__).parents[1]
_HELP_TARGET_S = 0.5
_DEMO_TARGET_S = 120.0
_HEAVY_MODULES = (
    "litellm",
    "botbuilder",
    "numpy",
    "sqlalchemy",
    "aiohttp",
    "pydantic",
    "slack_bolt",
    "rich",
    "wordllama",
)
_IMPORT_CHECK_SCRIPT = f"import sys, bot.cli.app; print([name for name in {_HEAVY_MODULES!r} if name in sys.modules])"


def measure_startup(runs: int) -> list[BenchmarkFigure]:
    help_command, baseline_command = [sys.executable, "-m", "bot.cli", "--help"], [sys.executable, "-c", "pass"]
    _time_command(help_command)  # the first run writes the bytecode
    help_runs, baseline_runs = zip(
        *((_time_command(help_command), _time_command(baseline_command)) for _ in range(runs)), strict=True
    )
    imported = subprocess.run(
        [sys.executable, "-c", _IMPORT_CHECK_SCRIPT], cwd=REPOSITORY_ROOT, capture_output=True, text=True, check=True
    )
    note = f"bare: python -c pass; of the heavy modules it imports {imported.stdout.strip()}"
    return [
        BenchmarkFigure(
            name="parley --help",
            unit="s",
            run_values=tuple(run.wall_s for run in help_runs),
            target=_HELP_TARGET_S,
            baseline=statistics.median(run.wall_s for run in baseline_runs),
            note=note,
        ),
        BenchmarkFigure(
            name="parley --help, CPU",
            unit="s",
            run_values=tuple(run.cpu_s for run in help_runs),
            baseline=statistics.median(run.cpu_s for run in baseline_runs),
        ),
    ]


def measure_demo(folder: Path) -> list[BenchmarkFigure]:
    """Time `make demo` once. It creates an environment and loads the corpus."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY_ROOT), str(clone)], check=True)
    demo_times = _time_command(["make", "demo"], folder=clone)
    return [
        BenchmarkFigure(
            name="make demo from a clean clone", unit="s", run_values=(demo_times.wall_s,), target=_DEMO_TARGET_S
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandTimes:
    wall_s: float
    cpu_s: float


def _time_command(command: Sequence[str], *, folder: Path = REPOSITORY_ROOT) -> CommandTimes:
    started_s, cpu_before_s = time.perf_counter(), _children_cpu_s()
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return CommandTimes(wall_s=time.perf_counter() - started_s, cpu_s=_children_cpu_s() - cpu_before_s)


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
